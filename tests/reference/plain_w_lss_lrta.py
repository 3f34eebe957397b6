"""wLSS-LRTA* in plain Python (Rivera, Baier & Hernández 2015): LSS-LRTA* with weighted costs in its learning."""

from reference import plain_lss_lrta

run = plain_lss_lrta.run
