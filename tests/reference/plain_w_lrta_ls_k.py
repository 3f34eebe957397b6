"""wLRTA*_LS(k) in plain Python (Rivera, Baier & Hernández 2015): LRTA*_LS(k) with weighted costs in its learning."""

from reference import plain_lrta_ls

run = plain_lrta_ls.run
