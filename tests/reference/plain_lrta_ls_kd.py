"""LRTA*_LS(k, d): told beside LRTA*_LS(k), whose learning space it shares."""

from reference import plain_lrta_ls

RAISES_AGAIN = True  # the agent may raise a value several times in one plan, noted here once

run = plain_lrta_ls.run_kd
