"""LRTA*_LS(k): told beside LRTA*_LS(k, d), whose learning space it shares."""

from reference import plain_lrta_ls

run = plain_lrta_ls.run
