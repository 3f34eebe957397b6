"""Hill-climbing: whether a cell is reached from another by following the heuristic alone.

V. Bulitko, Y. Björnsson, "kNN LRTA*: Simple Subgoaling for Real-Time Search", AIIDE 2009, calls such a cell
hill-climbing reachable.

Reading: a climb takes the steps of LRTA* that has not learned anything yet, the smallest c + h first, and ends where
the heuristic does not fall. Hence LRTA* with a fresh table walks exactly this way: what it has learned behind it only
makes it more averse to turning back. By the smallest h alone a climb could lead where LRTA* does not go.
"""

import numpy as np

from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.meter import scan
from rt_gym.search.space import NONE
from rt_gym.terrain import h0


@kernel(inline=True)
def steepest(terrain, s, moves, b):
    """Return the one of ``moves`` with the smallest c + h towards ``b``, NONE if there are none, and that c + h.

    Of equal ones the dearest step comes first, then the order of directions.
    """
    y, f = np.int64(NONE), np.int64(INF)
    for d in range(8):
        if moves >> d & 1:
            value = terrain.cost[d] + h0(terrain, s + terrain.offset[d], b)
            if value < f or (value == f and terrain.cost[d] > terrain.cost[y]):
                y, f = np.int64(d), value
    return y, f


@kernel
def climb(terrain, trip, a, b, cutoff):
    """Climb from ``a`` to ``b`` in at most ``cutoff`` steps, each of which is a scan.

    Returns:
        The cost of the way, NONE if it does not lead to ``b``.
    """
    s, left, spent = a, h0(terrain, a, b), np.int64(0)
    for _ in range(cutoff):
        if s == b:
            break
        scan(trip)
        y, f = steepest(terrain, s, terrain.mask[s], b)
        if y == NONE or f - terrain.cost[y] >= left:
            return np.int64(NONE)
        s += terrain.offset[y]
        left = f - terrain.cost[y]
        spent += terrain.cost[y]
    return spent if s == b else np.int64(NONE)
