"""One step of an episode as environments see it: move, reward, observation. Single and batched envs share these kernels.

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
from rt_gym.features import FEATURES, begin_track, follow, write_features
from rt_gym.grid import h0
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
        size: int64[4], radius of the window, number of its planes, the longest map side, the largest number of moves.
        reward: float64[4], price per count, discount of the shaping (0 is none), cost of a straight and of a diagonal
            step.
    """

    size: NDArray[np.int64]
    reward: NDArray[np.float64]


RADIUS, PLANES, SIDE, MAX_MOVES = range(4)
PRICE, DISCOUNT, STRAIGHT_COST, DIAGONAL_COST = range(4)


@kernel(inline=True)
def write_window(terrain, s, radius, planes, out):
    """Write what is blocked, and with two planes what is unknown, in the square around ``s``; outside is blocked."""
    free, known, stride = terrain.free, terrain.known, terrain.offset[1]
    x, y = np.int64(terrain.xy[2 * s]), np.int64(terrain.xy[2 * s + 1])
    last = free.size - 1
    width, height = np.int64(terrain.xy[2 * last]), np.int64(terrain.xy[2 * last + 1])
    side = 2 * radius + 1
    inside = x >= radius and y >= radius and x + radius < width and y + radius < height
    k = WINDOW
    for row in range(-radius, radius + 1):
        begin = s + row * stride - radius
        if inside:
            for j in range(side):
                out[k + j] = np.float32(1 - free[begin + j])
        else:
            for j in range(side):
                column = x - radius + j
                wall = column < 0 or column >= width or y + row < 0 or y + row >= height
                out[k + j] = np.float32(1) if wall else np.float32(1 - free[begin + j])
        k += side
    if planes == 2:
        for row in range(-radius, radius + 1):
            begin = s + row * stride - radius
            for j in range(side):
                column = x - radius + j
                wall = column < 0 or column >= width or y + row < 0 or y + row >= height
                out[k + j] = np.float32(0) if wall else np.float32(1 - known[begin + j])
            k += side


@kernel(inline=True)
def write_observation(terrain, trip, track, terms, t, left, out):
    """Write the observation of the current state; ``left`` is the share of the budget that the last move left."""
    s = trip.meter[AT]
    scale = np.float32(1.0 / terms.size[SIDE])
    xy = terrain.xy
    out[GOAL] = (xy[2 * t] - xy[2 * s]) * scale
    out[GOAL + 1] = (xy[2 * t + 1] - xy[2 * s + 1]) * scale
    out[POSITION] = xy[2 * s] * scale
    out[POSITION + 1] = xy[2 * s + 1] * scale
    history = out[HISTORY:BUDGET]
    write_features(track, terrain, s, t, history)
    history[0] *= scale
    history[1] *= scale
    history[2] /= track.cells.size - 1
    history[3] /= track.cells.size - 1
    out[BUDGET] = left
    write_window(terrain, s, terms.size[RADIUS], terms.size[PLANES], out)


@kernel(inline=True)
def begin_episode(terrain, trip, track, terms, t, out):
    """Write the first observation of an episode whose world has just been set up."""
    begin_track(track, trip.meter[AT])
    write_observation(terrain, trip, track, terms, t, np.float32(1), out)


@kernel(inline=True)
def step_episode(truth, terrain, trip, track, terms, t, d, norm, out):
    """Make one move, unless the agent has overrun its budget and may not idle; write the next observation.

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
    cost = prices[DIAGONAL_COST] if u != s and d >= 4 else prices[STRAIGHT_COST]
    reward = -(cost + prices[PRICE] * used)
    if prices[DISCOUNT] > 0:
        reward += (h0(terrain, s, t) - prices[DISCOUNT] * h0(terrain, u, t)) / STRAIGHT
    write_observation(terrain, trip, track, terms, t, left, out)
    return reward / norm, flags
