"""Korf's step: the best of a state's successors, and the move to it.

R. Korf, "Real-Time Heuristic Search", Artificial Intelligence 42, 1990. The numbers in braces are the lines of
Algorithm 1 in C. Hernández, J. Baier, "Fast Subgoaling for Pathfinding via Real-Time Search", ICAPS 2011.

``h`` is any store of values that ``rt_gym.search.values`` can read. Only a table of many goals needs ``t``.
"""

import numpy as np

from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.meter import scan
from rt_gym.search.space import NONE, draw
from rt_gym.search.values import value_at
from rt_gym.trip import NO_PATH


@kernel(inline=True)
def best_step(terrain, h, cell, moves, t=NONE, w=1):
    """{4}: return the direction and the w c + h of the best of ``moves``; NONE and INF if no value is below INF.

    Ties: larger c, then the order of directions. The best straight and the best diagonal step are found separately
    and compared last: this halves the chain of comparisons, which takes most of the time.
    """
    cost, offset = terrain.cost, terrain.offset
    y, f = np.int64(NONE), np.int64(INF)
    for d in range(4):
        value = w * cost[d] + value_at(h, terrain, cell + offset[d], t)
        if (moves >> d & 1 != 0) & (value < f):
            y, f = np.int64(d), value
    y2, f2 = np.int64(NONE), np.int64(INF)
    for d in range(4, 8):
        value = w * cost[d] + value_at(h, terrain, cell + offset[d], t)
        if (moves >> d & 1 != 0) & (value < f2):
            y2, f2 = np.int64(d), value
    if f2 < f or (f2 == f and cost[4] > cost[0]):
        y, f = y2, f2
    return y, f


@kernel
def any_as_good(terrain, trip, h, random, cell, y, t=NONE):
    """Return a step of the same cost and value as ``y`` at random; the neighbours are read once more."""
    scan(trip)
    moves, g = terrain.mask[cell], terrain.cost[y]
    f, ties = value_at(h, terrain, cell + terrain.offset[y], t), np.int64(0)
    for d in range(8):
        near = cell + terrain.offset[d]
        if moves >> d & 1 != 0 and terrain.cost[d] == g and value_at(h, terrain, near, t) == f:
            ties += 1
            if draw(random) % ties == 0:
                y = np.int64(d)
    return y


@kernel(inline=True)
def commit(terrain, trip, h, random, cell, y, t=NONE):
    """{6}: commit to the step ``y``, with random ties to any equally good one; return 1, or NO_PATH without a step."""
    if y == NONE:
        return np.int64(NO_PATH)
    if random[0] != 0:
        y = any_as_good(terrain, trip, h, random, cell, y, t)
    trip.plan[0] = y
    return np.int64(1)
