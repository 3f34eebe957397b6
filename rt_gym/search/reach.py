"""Which of the cells that can be reached is nearest to one that cannot."""

import numpy as np

from rt_gym.cost import INF
from rt_gym.handles import handle
from rt_gym.jit import kernel
from rt_gym.search.distance import fill_distances
from rt_gym.terrain import Terrain, h0


@kernel
def find_nearest(search, start, wished):
    """Return the reachable cell of least heuristic to ``wished``: the shortest path first, then the order of cells."""
    terrain, distance = search.terrain, search.distance
    fill_distances(terrain, start, distance, search.lists)
    best, least = start, h0(terrain, start, wished)
    for cell in range(distance.size):
        if distance[cell] < INF:
            h = h0(terrain, cell, wished)
            if h < least or (h == least and distance[cell] < distance[best]):
                best, least = cell, h
    return best


def nearest_cell(terrain: Terrain, start: int, wished: int) -> int:
    """Return the cell nearest to ``wished``, by the heuristic, of those that can be reached from ``start``.

    Of several it is the one with the shortest path, then the first of the map. This takes a look at the whole map.
    """
    cells = terrain.mask.size
    distance, lists = np.empty(cells, np.int64), np.empty((3, cells), np.int32)
    return int(find_nearest(handle(terrain=terrain, distance=distance, lists=lists), start, wished))
