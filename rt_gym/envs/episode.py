"""One step of an episode as environments see it: move, reward, observation; for single and batched ones alike.

An observation is one row of float32: ``PARTS`` says what stands where. Coordinates and distances are divided by the
longest side of any map of the environment, so that several maps share one space.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.budget import (
    AT,
    COUNT,
    IDLE,
    LIMIT,
    MOVES,
    OVERRUN,
    OVERRUNS,
    RAISES,
    STAY,
    STUCK,
    UNLIMITED,
    VERDICT,
)
from rt_gym.cost import STRAIGHT
from rt_gym.envs.window import write_window
from rt_gym.features import FEATURES, begin_track, follow, write_features
from rt_gym.grid import h0, locate
from rt_gym.jit import kernel
from rt_gym.world import walk

# Where the parts of an observation begin; the window fills the rest.
GOAL, POSITION, HISTORY, BUDGET, WINDOW = 0, 2, 4, 4 + len(FEATURES), 5 + len(FEATURES)
PARTS = {
    "goal": slice(GOAL, POSITION),
    "position": slice(POSITION, HISTORY),
    "history": slice(HISTORY, BUDGET),
    "budget": slice(BUDGET, WINDOW),
}

# Bits of what a step reports.
TERMINATED, TRUNCATED, BLOCKED, OVERRAN, LOST = 1, 2, 4, 8, 16


class Terms(NamedTuple):
    """The settings of an environment, as kernels take them.

    Attributes:
        size: int64[3], radius of the window, number of its planes, the largest number of moves.
        scale: float64[2], what coordinates and what counts of steps are multiplied by.
        reward: float64[4], price per count, discount of the shaping (0 is none), cost of a straight and of a diagonal
            step.
    """

    size: NDArray[np.int64]
    scale: NDArray[np.float64]
    reward: NDArray[np.float64]


RADIUS, PLANES, MAX_MOVES = range(3)
PER_SIDE, PER_STEP = range(2)
PRICE, DISCOUNT, STEP_COST = range(3)  # STEP_COST + 1 is the diagonal's


@kernel(inline=True)
def write_observation(terrain, sheets, trip, track, terms, t, left, out):
    """Write the observation of the current state; ``left`` is the share of the budget that the last move left."""
    s = trip.meter[AT]
    x, y = locate(terrain, s)
    goal_x, goal_y = locate(terrain, t)
    scale, per_step = terms.scale[PER_SIDE], terms.scale[PER_STEP]
    out[GOAL] = (goal_x - x) * scale
    out[GOAL + 1] = (goal_y - y) * scale
    out[POSITION] = x * scale
    out[POSITION + 1] = y * scale
    history = out[HISTORY:BUDGET]
    write_features(track, terrain, x, y, goal_x, goal_y, history)
    history[0] *= scale
    history[1] *= scale
    history[2] *= per_step
    history[3] *= per_step
    out[BUDGET] = left
    write_window(terrain, sheets, s, x, y, terms.size[RADIUS], terms.size[PLANES], out[WINDOW:])


@kernel(inline=True)
def begin_episode(terrain, sheets, trip, track, terms, t, out):
    """Write the first observation of an episode whose world has just been set up."""
    begin_track(track, trip.meter[AT])
    write_observation(terrain, sheets, trip, track, terms, t, np.float32(1), out)


@kernel(inline=True)
def step_episode(truth, terrain, sheets, trip, track, terms, t, d, unit, out):
    """Make one move, unless the agent has overrun its budget and may not idle; write the next observation.

    ``unit`` is what a reward of one is worth: 1, or one divided by the optimal cost.

    Returns:
        The reward, and the bits TERMINATED, TRUNCATED, BLOCKED, OVERRAN, LOST (the agent knows no way to the goal).
    """
    meter, tally = trip.meter, trip.tally
    s = meter[AT]
    used = meter[meter[COUNT]]
    flags = np.int64(0)
    moves = True
    if meter[VERDICT] == STUCK:
        flags |= LOST | TRUNCATED
    if used > meter[LIMIT] or meter[VERDICT] == OVERRUN:
        flags |= OVERRAN
        tally[OVERRUNS] += 1
        moves = meter[IDLE] != 0
        d = np.int64(STAY)
    meter[VERDICT] = 0
    left = np.float32(1) if meter[LIMIT] == UNLIMITED else np.float32(max(1.0 - used / meter[LIMIT], 0.0))
    if moves:
        meter[AT] = walk(truth, terrain, trip, s, d)
        follow(track, meter[AT], tally[RAISES])
    else:
        flags |= TRUNCATED
    u = meter[AT]
    if moves and d >= 0 and u == s:
        flags |= BLOCKED
    if u == t:
        flags |= TERMINATED
    elif tally[MOVES] >= terms.size[MAX_MOVES]:
        flags |= TRUNCATED
    prices = terms.reward
    diagonal = np.int64((u != s) & (d >= 4))
    reward = -(prices[STEP_COST + diagonal] + prices[PRICE] * used)
    if prices[DISCOUNT] > 0:
        reward += (h0(terrain, s, t) - prices[DISCOUNT] * h0(terrain, u, t)) / STRAIGHT
    write_observation(terrain, sheets, trip, track, terms, t, left, out)
    return reward * unit, flags
