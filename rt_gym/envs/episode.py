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
from rt_gym.features import FEATURES, begin_track, follow, write_features
from rt_gym.grid import Grid, h0, locate
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


class Wall(NamedTuple):
    """The blocked plane of a map that never changes, prepared by ``make_wall``; empty for others."""

    plane: NDArray[np.float32]


RADIUS, PLANES, MAX_MOVES = range(3)
PER_SIDE, PER_STEP = range(2)
PRICE, DISCOUNT, STEP_COST = range(3)  # STEP_COST + 1 is the diagonal's


def make_wall(grid: Grid, radius: int) -> NDArray[np.float32]:
    """Return a map as a plane of ones where it is blocked, with a blocked margin as wide as a window reaches."""
    return np.pad(1 - grid.passable.astype(np.float32), radius, constant_values=1).ravel()


@kernel(inline=True)
def write_window(terrain, wall, s, x, y, radius, planes, out):
    """Write what is blocked, and with two planes what is unknown, in the square around ``s``; outside is blocked."""
    stride, side = terrain.offset[1], 2 * radius + 1
    if wall.plane.size > 0:
        wide = stride - 2 + 2 * radius
        copy_plane(wall.plane, y * wide + x, side, wide, out)
        return
    begin, end = s - radius * (stride + 1), s + radius * (stride + 1)
    if begin < stride or end >= terrain.free.size - stride or x < radius or x + radius >= stride - 2:
        write_edge(terrain, s, radius, planes, out)
        return
    if planes == 1:
        copy_square(terrain.free, begin, side, stride, out)
    else:
        copy_seen(terrain.free, terrain.known, begin, side, stride, out)


@kernel(inline=True)
def copy_plane(plane, begin, side, stride, out):
    """Write the square at ``begin`` of a plane of floats.

    Eight cells are read before eight are written, so that they compile to one vector instruction each; the last eight
    of a row overlap with those before them.
    """
    width, cell, k = np.uint64(side), np.uint64(begin), np.uint64(WINDOW)
    for _ in range(side):
        done = np.uint64(0)
        while done + np.uint64(8) < width:
            copy_eight(plane, cell + done, out, k + done)
            done += np.uint64(8)
        if width >= np.uint64(8):
            copy_eight(plane, cell + width - np.uint64(8), out, k + width - np.uint64(8))
        else:
            for j in range(width):
                out[k + j] = plane[cell + j]
        cell += np.uint64(stride)
        k += width


@kernel(inline=True)
def copy_eight(source, a, target, b):
    """Copy eight numbers."""
    one = np.uint64(1)
    v0, v1, v2, v3 = source[a], source[a + one], source[a + np.uint64(2)], source[a + np.uint64(3)]
    v4, v5 = source[a + np.uint64(4)], source[a + np.uint64(5)]
    v6, v7 = source[a + np.uint64(6)], source[a + np.uint64(7)]
    target[b], target[b + one], target[b + np.uint64(2)], target[b + np.uint64(3)] = v0, v1, v2, v3
    target[b + np.uint64(4)], target[b + np.uint64(5)] = v4, v5
    target[b + np.uint64(6)], target[b + np.uint64(7)] = v6, v7


@kernel(inline=True)
def copy_square(free, begin, side, stride, out):
    """Write 1 where a cell is blocked. Unsigned indices need no test for counting from the end, which costs a third."""
    width, cell, k = np.uint64(side), np.uint64(begin), np.uint64(WINDOW)
    for _ in range(side):
        for j in range(width):
            out[k + j] = np.float32(1) - np.float32(free[cell + j])
        cell += np.uint64(stride)
        k += width


@kernel(inline=True)
def copy_seen(free, known, begin, side, stride, out):
    """Write 1 where a cell is known to be blocked, and into a second plane where it is unknown."""
    width, cell, k = np.uint64(side), np.uint64(begin), np.uint64(WINDOW)
    second = width * width
    for _ in range(side):
        for j in range(width):
            seen = np.float32(known[cell + j])
            out[k + j] = seen * (np.float32(1) - np.float32(free[cell + j]))
            out[k + j + second] = np.float32(1) - seen
        cell += np.uint64(stride)
        k += width


@kernel
def write_edge(terrain, s, radius, planes, out):
    """Write a window that reaches beyond the map: there it is blocked, and known to be."""
    stride = terrain.offset[1]
    x, y = locate(terrain, s)
    width, height = stride - 2, terrain.free.size // stride - 2
    k = WINDOW
    for plane in range(planes):
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                if 0 <= x + dx < width and 0 <= y + dy < height:
                    cell = s + dy * stride + dx
                    seen = np.float32(terrain.known[cell])
                    wall = seen * np.float32(1 - terrain.free[cell])
                    out[k] = wall if plane == 0 else np.float32(1) - seen
                else:
                    out[k] = np.float32(1 - plane)
                k += 1


@kernel(inline=True)
def write_observation(terrain, wall, trip, track, terms, t, left, out):
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
    write_window(terrain, wall, s, x, y, terms.size[RADIUS], terms.size[PLANES], out)


@kernel(inline=True)
def begin_episode(terrain, wall, trip, track, terms, t, out):
    """Write the first observation of an episode whose world has just been set up."""
    begin_track(track, trip.meter[AT])
    write_observation(terrain, wall, trip, track, terms, t, np.float32(1), out)


@kernel(inline=True)
def step_episode(truth, terrain, wall, trip, track, terms, t, d, unit, out):
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
    write_observation(terrain, wall, trip, track, terms, t, left, out)
    return reward * unit, flags
