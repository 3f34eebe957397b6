"""What a move of an episode is worth, and whether it ends the episode; for all environments alike."""

from typing import NamedTuple

import numpy as np

from rt_gym.cost import STRAIGHT
from rt_gym.jit import kernel, record
from rt_gym.meter import GO, STOP, STUCK, after_overrun
from rt_gym.terrain import h0
from rt_gym.trip import STAY
from rt_gym.world import walk

# Bits of what a step reports: the goal was reached; the episode was cut; the move led into a wall; the budget was
# overrun; the agent knows no way to the goal; a move was made; the episode's table of learned values is full.
TERMINATED, TRUNCATED, BLOCKED, OVERRAN, LOST, MOVED, TABLE_FULL = 1, 2, 4, 8, 16, 32, 64

# What an episode is about: the goal's cell, and what a reward of one is worth (1, or one divided by the optimal cost).
TASK = record(goal=int, unit=float)


class Rules(NamedTuple):
    """The settings that all environments share, as kernels take them.

    Attributes:
        max_moves: after how many moves an episode is cut.
        price: what an expansion, or a scan, costs in units of a straight step.
        discount: of the shaping; 0 for none.
        straight, diagonal: the cost of a step.
    """

    max_moves: int
    price: float
    discount: float
    straight: float
    diagonal: float


@kernel(inline=True)
def make_move(truth, terrain, trip, rules, t, d):
    """Make one move, unless the agent has overrun its budget and may not idle.

    Returns:
        The reward before any price and unit, and the bits named above but for TABLE_FULL.
    """
    state, s = trip.state[0], trip.state[0].at
    flags = np.int64(MOVED)
    if state.verdict == STUCK:
        flags |= LOST | TRUNCATED
    fate = after_overrun(trip)
    if fate != GO:
        flags |= OVERRAN
        d = np.int64(STAY)
    if fate == STOP:
        flags = flags & ~MOVED | TRUNCATED
    state.verdict = 0
    if flags & MOVED:
        state.at = walk(truth, terrain, trip, s, d)
    reward, more = judge(terrain, rules, s, state.at, t, d, trip.tally[0].moves)
    return reward, flags | more


@kernel(inline=True)
def judge(terrain, rules, s, u, t, d, moves):
    """Return what a move in direction ``d`` is worth that led from ``s`` to ``u``, and which of the first bits it sets.

    ``moves`` counts it and those before it.
    """
    flags = np.int64(0)
    if d >= 0 and u == s:
        flags |= BLOCKED
    if u == t:
        flags |= TERMINATED
    elif moves >= rules.max_moves:
        flags |= TRUNCATED
    cost = rules.diagonal if (u != s) & (d >= 4) else rules.straight
    return gained(terrain, rules, s, u, t) - cost, flags


@kernel(inline=True)
def gained(terrain, rules, s, u, t):
    """Return what the shaping gives for getting from ``s`` to ``u``."""
    discount = rules.discount
    return (h0(terrain, s, t) - discount * h0(terrain, u, t)) / STRAIGHT if discount > 0 else 0.0
