"""LRTA*(k) as first published: LRTA*(k) that looks again at states of its own path only."""

from functools import partial

from reference import plain_lrta_k

RAISES_AGAIN = True  # the agent may raise a value several times in one plan, noted here once

run = partial(plain_lrta_k.run, visited_only=True)
