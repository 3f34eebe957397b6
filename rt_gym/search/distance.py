"""Distance fields: the exact distance of every cell to one goal, by Dijkstra's algorithm on buckets.

A bucket is as wide as the cheapest step, so no state of the current bucket can improve another one in it: its states
may be expanded in any order. No step reaches further than two buckets, so three rotating lists are enough.
"""

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF, MOST_STEPS, TOO_LONG, decode_all
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.pages import is_large
from rt_gym.sizes import require_memory
from rt_gym.terrain import Position

_PER_CELL = 9  # bytes: the distance, and what the lists take of the room that they have


@kernel(inline=True)
def begin_field(distance, lists, goal):
    """Forget all distances but that of the goal, which is the first bucket."""
    distance[:] = INF
    distance[goal] = 0
    lists[0, 0] = goal


@kernel(inline=True)
def expand_bucket(terrain, distance, lists, bucket, here, size0, size1):
    """Expand the ``size0`` cells of the current bucket, listed ``here``; return how many are in the next two.

    A cell enters a list at most once, because it is only appended when it comes from another bucket.
    """
    mask, offset, cost = terrain.mask, terrain.offset, terrain.cost
    size2 = np.int64(0)
    for k in range(size0):
        u = np.int64(lists[here, k])
        g = distance[u]
        if g >> 40 != bucket:
            continue  # improved since it was listed: it was expanded from an earlier bucket
        moves = mask[u]
        for d in range(8):
            if moves >> d & 1:
                v = u + offset[d]
                new = g + cost[d]
                old = distance[v]
                if new < old:
                    distance[v] = new
                    ahead = (new >> 40) - bucket
                    if old >> 40 != new >> 40:
                        if ahead == 1:
                            lists[(here + 1) % 3, size1] = v
                            size1 += 1
                        else:
                            lists[(here + 2) % 3, size2] = v
                            size2 += 1
    return size1, size2


@kernel
def fill_distances(terrain, goal, distance, lists):
    """Write exact distances to ``goal`` into ``distance``, int64 per cell, INF where there is no path below that.

    ``lists`` is int32[3, cells]: the cells of the current bucket and of the next two. Returns the number of buckets.
    """
    begin_field(distance, lists, goal)
    bucket, here = np.int64(0), np.int64(0)
    size0, size1 = np.int64(1), np.int64(0)
    while size0 + size1 > 0:
        size0, size1 = expand_bucket(terrain, distance, lists, bucket, here, size0, size1)
        bucket += 1
        here = (here + 1) % 3
    return bucket


@kernel
def fill_distances_to(terrain, goal, distance, lists, wanted, left):
    """Write distances like ``fill_distances``, but go no further than to the first ``left`` cells in ``wanted``.

    What is at least as near as one of them is exact; what is further may still be too large, never too small.
    ``wanted`` is int64, cells; the other arrays are as in ``fill_distances``.
    """
    begin_field(distance, lists, goal)
    bucket, here = np.int64(0), np.int64(0)
    size0, size1 = np.int64(1), np.int64(0)
    while size0 + size1 > 0 and left > 0:
        size0, size1 = expand_bucket(terrain, distance, lists, bucket, here, size0, size1)
        bucket += 1
        here = (here + 1) % 3
        while left > 0 and distance[wanted[left - 1]] >> 40 < bucket:
            left -= 1


def exact_distances(grid: Grid, goal: Position) -> NDArray[np.int64]:
    """Return the exact distance to ``goal`` for every cell of the flat, bordered map.

    Raises:
        InputError: if the goal is no free cell, a cell is too far away, or the machine has not enough memory.
    """
    if not grid.contains(goal) or not grid.passable[goal[1], goal[0]]:
        raise InputError(f"goal {goal} is no free cell of the map")
    require_memory("distances to every cell", grid.terrain.mask.size, _PER_CELL)
    distance = np.empty(grid.terrain.mask.size, np.int64)
    buckets = fill_distances(grid.terrain, grid.cell(goal), distance, np.empty((3, distance.size), np.int32))
    # A step crosses two buckets at most: what is nearer than this was not cut off.
    if buckets >= MOST_STEPS - 1:
        raise InputError(f"some cells are {TOO_LONG} away from {goal}")
    return distance


def distance_field(grid: Grid, goal: Position) -> NDArray[np.float64]:
    """Return the distance to ``goal`` for every cell as an H x W array, infinite where there is no path.

    Example:
        >>> distance_field(Grid([[1, 1, 1], [1, 0, 1]]), (0, 1))
        array([[ 1.,  2.,  3.],
               [ 0., inf,  4.]])
    """
    distance = exact_distances(grid, goal)
    # On a large map there is no room for both, so each is written where it was read, which takes longer.
    floats = distance.view(np.float64) if is_large(distance.size) else np.empty(distance.size)
    decode_all(distance, floats)
    return grid.inner(floats)
