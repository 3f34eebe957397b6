"""What a move of an episode is worth, and whether it ends the episode; for all environments alike."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import STRAIGHT
from rt_gym.grid import h0
from rt_gym.jit import kernel
from rt_gym.meter import OVERRUN, STUCK
from rt_gym.trip import STAY
from rt_gym.world import walk

# Bits of what a step reports.
TERMINATED, TRUNCATED, BLOCKED, OVERRAN, LOST, MOVED, FULL = 1, 2, 4, 8, 16, 32, 64


class Terms(NamedTuple):
    """The settings of an environment, as kernels take them.

    Attributes:
        size: int64, the largest number of moves, then what the environment's own kernels need.
        scale: float64, what their numbers are multiplied by.
        reward: float64[4], price per count, discount of the shaping (0 is none), cost of a straight and of a diagonal
            step.
    """

    size: NDArray[np.int64]
    scale: NDArray[np.float64]
    reward: NDArray[np.float64]


MAX_MOVES = 0
PRICE, DISCOUNT, STEP_COST = range(3)  # STEP_COST + 1 is the diagonal's


@kernel(inline=True)
def make_move(truth, terrain, trip, terms, t, d):
    """Make one move, unless the agent has overrun its budget and may not idle.

    Returns:
        The reward before any price and unit, and the bits TERMINATED, TRUNCATED, BLOCKED, OVERRAN, LOST (the agent
        knows no way to the goal), MOVED.
    """
    meter, tally = trip.meter, trip.tally
    s = meter[AT]
    flags = np.int64(MOVED)
    if meter[VERDICT] == STUCK:
        flags |= LOST | TRUNCATED
    if meter[meter[COUNT]] > meter[LIMIT] or meter[VERDICT] == OVERRUN:
        flags |= OVERRAN
        tally[OVERRUNS] += 1
        d = np.int64(STAY)
        if meter[IDLE] == 0:
            flags = flags & ~MOVED | TRUNCATED
    meter[VERDICT] = 0
    if flags & MOVED:
        meter[AT] = walk(truth, terrain, trip, s, d)
    reward, more = judge(terrain, terms, s, meter[AT], t, d, tally[MOVES])
    return reward, flags | more


@kernel(inline=True)
def judge(terrain, terms, s, u, t, d, moves):
    """Return what a move in direction ``d`` is worth that led from ``s`` to ``u``, and which of the first bits it sets.

    ``moves`` counts it and those before it.
    """
    flags = np.int64(0)
    if d >= 0 and u == s:
        flags |= BLOCKED
    if u == t:
        flags |= TERMINATED
    elif moves >= terms.size[MAX_MOVES]:
        flags |= TRUNCATED
    diagonal = np.int64((u != s) & (d >= 4))
    return gained(terrain, terms, s, u, t) - terms.reward[STEP_COST + diagonal], flags


@kernel(inline=True)
def gained(terrain, terms, s, u, t):
    """Return what the shaping gives for getting from ``s`` to ``u``."""
    discount = terms.reward[DISCOUNT]
    return (h0(terrain, s, t) - discount * h0(terrain, u, t)) / STRAIGHT if discount > 0 else 0.0
