"""The next region on the way: from where the agent is in one region, the first other that a shortest path enters."""

import numpy as np
from numpy.typing import NDArray

from rt_gym.abstraction.merging import NONE
from rt_gym.abstraction.regions import Abstraction
from rt_gym.cost import INF
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.search.distance import fill_distances


@kernel(inline=True)
def next_cell(terrain, distance, u):
    """Return the cell after ``u`` on the shortest path that takes the first optimal moves."""
    d = 0
    while terrain.mask[u] >> d & 1 == 0 or terrain.cost[d] + distance[u + terrain.offset[d]] != distance[u]:
        d += 1
    return u + terrain.offset[d]


@kernel(inline=True)
def next_region(terrain, region, distance, s):
    """Return the first other region on the shortest path from ``s``, the one of the first optimal moves.

    ``distance`` is that of every cell to where the path ends, which must be in another region and within reach.
    """
    u = s
    while region[u] == region[s]:
        u = next_cell(terrain, distance, u)
    return np.int64(region[u])


@kernel
def fill_subgoals(terrain, region, representatives, goal, distance, lists, ahead):
    """Write for every region the representative of the next one towards region ``goal``, NONE where there is none.

    ``distance``, int64 per cell, and ``lists``, int32[3, cells], are the buffers of a distance field.
    """
    fill_distances(terrain, np.int64(representatives[goal]), distance, lists)
    for r in range(ahead.size):
        a = np.int64(representatives[r])
        if r == goal or distance[a] == INF:
            ahead[r] = NONE
        else:
            ahead[r] = representatives[next_region(terrain, region, distance, a)]


def subgoals_towards(grid: Grid, abstraction: Abstraction, goal: int) -> NDArray[np.int32]:
    """Return for every region the cell to head for on the way to region ``goal``: a representative, or -1 for none.

    It is the representative of the region that a shortest path enters first, from representative to representative. In
    the goal's own region there is none, nor where no path leads on, nor anywhere if ``goal`` is -1.
    """
    ahead = np.full(abstraction.regions, NONE, np.int32)
    if goal != NONE:
        cells = grid.terrain.mask.size
        room = np.empty(cells, np.int64), np.empty((3, cells), np.int32)
        fill_subgoals(grid.terrain, abstraction.region, abstraction.representatives, goal, *room, ahead)
    return ahead
