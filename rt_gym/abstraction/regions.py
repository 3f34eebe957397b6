"""The regions of a map as a value."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.abstraction.merging import NONE, between, grid_edges, group_cliques, group_tiles, neighbours, tiles, widest
from rt_gym.errors import InputError, quoted, whole
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.terrain import span

KINDS = ("clique", "tiles")
MAX_LEVEL = 14  # a tile of this level is as wide as the largest square map


@kernel
def find_representatives(cells, positions, node, sizes, sums, nearest, cell):
    """Write for every region the first of its cells that are nearest to the centroid, exactly.

    The squared distance times the size, but for a constant, is a whole number when counted from a cell near by.
    ``nearest``, int64, is a buffer with one entry per region, filled with the largest int64.
    """
    for k in range(cells.size):
        r = node[k]
        middle_x, middle_y = sums[r, 0] // sizes[r], sums[r, 1] // sizes[r]
        x, y = positions[k, 0] - middle_x, positions[k, 1] - middle_y
        lean = x * (sums[r, 0] - sizes[r] * middle_x) + y * (sums[r, 1] - sizes[r] * middle_y)
        far = sizes[r] * (x * x + y * y) - 2 * lean
        if far < nearest[r]:
            nearest[r] = far
            cell[r] = cells[k]


@kernel
def centroid_gap(centroids, metric, a, b):
    """Return the heuristic between the centroids of two regions as a cost, rounded to the nearest exact one.

    Between regions of one cell each it is exact. ``centroids`` is float64[regions, 2].
    """
    return np.int64(np.rint(span(metric, centroids[a, 0] - centroids[b, 0], centroids[a, 1] - centroids[b, 1])))


@kernel
def fill_weights(begin, near, centroids, metric, weights):
    """Write how far apart the centroids of neighbours are, into ``weights``, int64 per entry of ``near``."""
    for r in range(begin.size - 1):
        for k in range(begin[r], begin[r + 1]):
            weights[k] = centroid_gap(centroids, metric, r, near[k])


@kernel
def fill_colours(begin, near, colours, taken):
    """Write for every region the smallest number that no neighbour before it has.

    ``colours`` is int32 per region; ``taken``, int32, filled with NONE, is a buffer as long as the most neighbours + 1.
    """
    for r in range(colours.size):
        for k in range(begin[r], begin[r + 1]):
            if near[k] < r:
                taken[colours[near[k]]] = r
        colours[r] = 0
        while taken[colours[r]] == r:
            colours[r] += 1


@dataclass(frozen=True, eq=False)
class Abstraction:
    """The regions of a map and how they lie to each other. A value; its arrays are read-only.

    Attributes:
        kind, level: how it was made.
        region: int32, the region of every cell of the flat, bordered map, -1 where blocked.
        representatives: int32, for every region its member nearest to the centroid, the first of equally near ones.
        sizes: int64, the number of its cells.
        centroids: float64, n x 2, the mean position of its cells.
        parents: for every level below this one, the number of each node's parent on the next, int32. The nodes of
            level 0 are the free cells, row by row.
        begin, near: int32, the neighbours of region ``r`` are ``near[begin[r]:begin[r + 1]]``, in ascending order: the
            regions that a single move leads to.
        weights: int64, how far apart the centroids are, for every entry of ``near``; see ``centroid_gap``.
    """

    kind: str
    level: int
    region: NDArray[np.int32]
    representatives: NDArray[np.int32]
    sizes: NDArray[np.int64]
    centroids: NDArray[np.float64]
    parents: tuple[NDArray[np.int32], ...]
    begin: NDArray[np.int32]
    near: NDArray[np.int32]
    weights: NDArray[np.int64]

    def __post_init__(self) -> None:
        for array in (*self.parents, *(value for value in vars(self).values() if isinstance(value, np.ndarray))):
            array.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    @property
    def regions(self) -> int:
        """How many regions there are."""
        return self.sizes.size

    @cached_property
    def colours(self) -> NDArray[np.int32]:
        """A small number for every region that none of its neighbours has."""
        colours = np.empty(self.regions, np.int32)
        fill_colours(self.begin, self.near, colours, np.full(widest(self.begin) + 1, NONE, np.int32))
        return colours


def abstract(grid: Grid, kind: str = "clique", level: int = 4) -> Abstraction:
    """Return the regions of a map.

    Args:
        grid: the map.
        kind: ``"clique"`` or ``"tiles"``.
        level: how often nodes are merged; at level 0 every free cell is a region.

    Example:
        >>> two_rooms = abstract(Grid([[1, 1, 0, 1, 1], [1, 1, 1, 1, 1]]), level=1)
        >>> two_rooms.sizes, two_rooms.near
        (array([4, 4, 1]), array([2, 2, 0, 1], dtype=int32))
    """
    if kind not in KINDS:
        raise InputError(f'abstraction must be "clique" or "tiles", not {quoted(kind)}')
    level = whole("level", level, 0, MAX_LEVEL)
    cells = np.flatnonzero(grid.terrain.free)
    edges, count = grid_edges(grid, cells), cells.size
    node, parents = np.arange(count, dtype=np.int32), []
    for step in range(1, level + 1):
        begin, near = neighbours(edges, count)
        parent = np.full(count, NONE, np.int32)
        if kind == "clique":
            count = group_cliques(begin, near, parent, np.empty_like(parent), np.empty(widest(begin), np.int64))
        else:
            count = group_tiles(begin, near, tiles(grid, cells, node, 1 << step), parent, np.empty_like(parent))
        edges = between(parent[edges], count)
        node = parent[node]
        parents.append(parent)
    return _described(grid, kind, cells, node, tuple(parents), edges[np.lexsort(edges.T)], count)


def _described(
    grid: Grid,
    kind: str,
    cells: NDArray[np.int64],
    node: NDArray[np.int32],
    parents: tuple[NDArray[np.int32], ...],
    edges: NDArray[np.int32],
    count: int,
) -> Abstraction:
    """Return the regions with their shapes and distances; sorted edges give sorted neighbours."""
    terrain = grid.terrain
    begin, near = neighbours(edges, count)
    region = np.full(terrain.free.size, NONE, np.int32)
    region[cells] = node
    sizes = np.bincount(node, minlength=count)
    positions = grid.positions(cells)
    sums = np.stack([np.bincount(node, axis, count).astype(np.int64) for axis in positions.T], axis=1)
    representatives = np.empty(count, np.int32)
    nearest = np.full(count, np.iinfo(np.int64).max)
    find_representatives(cells, positions, node, sizes, sums, nearest, representatives)
    centroids, weights = sums / sizes[:, None], np.empty(near.size, np.int64)
    fill_weights(begin, near, centroids, terrain.metric, weights)
    return Abstraction(kind, len(parents), region, representatives, sizes, centroids, parents, begin, near, weights)
