"""Where to go after a bounded A*: out of the depression, rather than to the state with the smallest f.

C. Hernández, J. A. Baier, "Avoiding and Escaping Depressions in Real-Time Heuristic Search", Journal of Artificial
Intelligence Research 43, 2012. A value that has been raised tells of a depression, and how much it was raised, how deep
the agent is in it. Both rules look through the open list, whose states are read anyway, so that no scan is charged.
"""

import numpy as np

from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.search.heap import before
from rt_gym.search.space import NONE
from rt_gym.terrain import h0


@kernel(inline=True)
def raised_by(terrain, space, u, t):
    """Return by how much the value of a state is above the heuristic that was given."""
    return space.h[u] - h0(terrain, np.int64(space.cell[u]), t)


@kernel
def least_raised(terrain, local, t):
    """Return the state of the open list whose value was raised least, of these the first in its order."""
    space, heap = local.space, local.open
    best, least = np.int64(NONE), np.int64(INF)
    for k in range(heap.size[0]):
        u = np.int64(heap.item[k])
        rise = raised_by(terrain, space, u, t)
        if best == NONE or rise < least or (rise == least and before(heap, u, best)):
            best, least = u, rise
    return best


@kernel
def first_unraised(terrain, local, t):
    """Return the first state of the open list whose value was never raised; the first of all if there is none."""
    space, heap = local.space, local.open
    best = np.int64(NONE)
    for k in range(heap.size[0]):
        u = np.int64(heap.item[k])
        if raised_by(terrain, space, u, t) == 0 and (best == NONE or before(heap, u, best)):
            best = u
    return np.int64(heap.item[0]) if best == NONE else best
