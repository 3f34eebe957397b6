"""What PR LRTS prepares for a map and a goal: its regions, their prices, the heuristic and the depths among them.

For the papers and the readings see ``agents.pr_lrts``.
"""

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.region_graph import Graph, search_regions
from rt_gym.abstraction import Abstraction, abstract
from rt_gym.abstraction.regions import centroid_gap
from rt_gym.cost import INF
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.search.layers import max_of_min
from rt_gym.search.space import NONE

_DIRECTION = np.array([0, 4, 1, 6, 2, 7, 3, 5])  # of the eight points of the compass, clockwise from the east


class Regions(NamedTuple):
    """What is prepared for a map: its abstraction, the graph at prices without gamma, and the boxes."""

    abstraction: Abstraction
    graph: Graph
    boxes: NDArray[np.int32]


@lru_cache(maxsize=8)
def prepare(grid: Grid, kind: str, level: int) -> Regions:
    """Return the regions of a map; they are kept for all agents."""
    found = abstract(grid, kind, level)
    owner = np.repeat(np.arange(found.regions), np.diff(found.begin))
    dx, dy = (found.centroids[found.near] - found.centroids[owner]).T
    point = np.rint(np.arctan2(dy, dx) * (4 / np.pi)).astype(np.int64) % 8
    order = np.lexsort((found.near, _DIRECTION[point], owner))
    graph = Graph(found.begin, found.near[order], np.maximum(found.weights[order], 1), found.representatives)
    cells = np.flatnonzero(found.region != NONE)
    boxes = np.empty((found.regions, 4), np.int32)
    boxes[:, :2], boxes[:, 2:] = np.iinfo(np.int32).max, -1
    np.minimum.at(boxes[:, :2], found.region[cells], grid.positions(cells))
    np.maximum.at(boxes[:, 2:], found.region[cells], grid.positions(cells))
    return Regions(found, graph, boxes)


def priced(costs: NDArray[np.int64], gamma: float) -> NDArray[np.int64]:
    """Return gamma times every cost, exactly, rounded down but at least one unit."""
    different, which = np.unique(costs, return_inverse=True)
    prices = [max(1, int(int(cost) * Fraction(gamma))) for cost in different]
    return np.array(prices, np.int64)[which]


@kernel
def fill_values(centroids, metric, b, values):
    """Write the heuristic from every region to ``b`` into ``values``, int64 per region."""
    for r in range(values.size):
        values[r] = centroid_gap(centroids, metric, r, b)


@kernel
def fill_depths(graph, plain, trip, space, layers, values, b, distances, depths):
    """Lower the depth of every region to the smallest one whose step is on a shortest way to ``b``.

    ``plain`` is the graph at prices without gamma. ``layers`` is as in ``search_regions``, for as many layers as there
    are regions; ``values``, ``distances`` (a buffer) and ``depths`` are int64 per region.
    """
    search_regions(plain, trip, space, layers, values, np.int64(0), b, np.int64(NONE), np.int64(values.size))
    distances[:] = INF
    for u in range(space.state[0].slots):
        distances[space.cell[u]] = space.g[u]
    for a in range(values.size):
        if a == b or distances[a] == INF:
            continue
        for depth in range(1, depths[a]):
            count = search_regions(graph, trip, space, layers, values, np.int64(0), np.int64(a), b, np.int64(depth))
            max_of_min(space, layers, count)
            u = space.state[0].best
            while space.parent[u] > 0:
                u = np.int64(space.parent[u])
            if plain.prices[space.item[u]] + distances[space.cell[u]] == distances[a]:
                depths[a] = depth
                break
