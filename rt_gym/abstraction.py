"""Regions of a map: the clique hierarchy of partial-refinement search, and rectangular tiles.

N. Sturtevant, M. Buro, "Partial Pathfinding Using Map Abstraction and Refinement", AAAI 2005, in the form of the
authors' program HOG without its uniform mode. One level merges the nodes of a graph: scanned in order, a node without a
parent forms one with three free neighbours that are all adjacent, else with two; what is left over is taken last in,
first out, and pairs up with a free neighbour, or joins its only neighbour's parent, or stays alone. Parents are
adjacent where children of theirs are. Level 0 is the map itself, its free cells numbered row by row.

A. Botea, M. Müller, J. Schaeffer, "Near Optimal Hierarchical Path-Finding", Journal of Game Development 1, 2004, cut
the map into squares instead. The regions of level l are the connected parts of squares 2**l cells wide; those of one
level merge into those of the next, so that both kinds are hierarchies.

Readings:
- Neighbours are read in the order in which their edges are made, and parents are numbered in the order in which they
  are formed. As in HOG, an edge of the map is made at the later of its two cells, and one between parents together with
  the first edge of their children. The order matters: read by number, neighbours give a third more regions on level 7.
- A node without neighbours is a region of its own on all levels; so is a component once it has become one node.
- A region is represented by the member nearest to its centroid, which itself may lie in a wall.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted, whole
from rt_gym.grid import Grid, span
from rt_gym.jit import kernel

KINDS = ("clique", "tiles")
MAX_LEVEL = 11  # a tile of this level is as wide as the largest square map
NONE = -1

_BACK = [2, 3, 5, 7]  # the directions that lead to earlier cells: W, N, NE, NW


@kernel(inline=True)
def adjacent(begin, near, u, v):
    """Whether two nodes are neighbours."""
    for k in range(begin[u], begin[u + 1]):
        if near[k] == v:
            return True
    return False


@kernel
def find_clique(begin, near, parent, u, mates):
    """Write the first three, else two, neighbours without a parent that form a clique with ``u``; return how many."""
    free = 0
    for k in range(begin[u], begin[u + 1]):
        if parent[near[k]] == NONE:
            mates[free] = near[k]
            free += 1
    pair = np.int64(0)
    for i in range(free):
        for j in range(i + 1, free):
            if adjacent(begin, near, mates[i], mates[j]):
                for k in range(j + 1, free):
                    if adjacent(begin, near, mates[i], mates[k]) and adjacent(begin, near, mates[j], mates[k]):
                        mates[0], mates[1], mates[2] = mates[i], mates[j], mates[k]
                        return np.int64(3)
                if pair == 0:
                    pair = np.int64(i << 32 | j)
    if pair == 0:
        return np.int64(0)
    mates[0], mates[1] = mates[pair >> 32], mates[pair & 0xFFFFFFFF]
    return np.int64(2)


@kernel
def group_cliques(begin, near, parent, rest, mates):
    """Give every node a parent, in place of the NONE in ``parent``, and return how many parents there are.

    ``rest`` is room for a stack of all nodes, ``mates`` for all neighbours of one.
    """
    count, top = np.int64(0), np.int64(0)
    for u in range(parent.size):
        if parent[u] != NONE:
            continue
        size = np.int64(0) if begin[u + 1] - begin[u] < 2 else find_clique(begin, near, parent, u, mates)
        if size == 0:
            rest[top] = u
            top += 1
        else:
            parent[u] = count
            for k in range(size):
                parent[mates[k]] = count
            count += 1
    for k in range(top - 1, -1, -1):
        count = settle_rest(begin, near, parent, np.int64(rest[k]), count)
    return count


@kernel(inline=True)
def settle_rest(begin, near, parent, u, count):
    """Give a node that is in no clique a parent; return how many parents there are then."""
    if parent[u] != NONE:
        return count
    for k in range(begin[u], begin[u + 1]):
        if parent[near[k]] == NONE:
            parent[u] = parent[near[k]] = count
            return count + 1
    if begin[u + 1] - begin[u] == 1:
        parent[u] = parent[near[begin[u]]]
        return count
    parent[u] = count
    return count + 1


@kernel
def group_tiles(begin, near, tile, parent, stack):
    """Give all nodes that are connected inside one tile the same parent, and return how many parents there are."""
    count = np.int64(0)
    for u in range(parent.size):
        if parent[u] != NONE:
            continue
        parent[u] = count
        stack[0] = u
        top = np.int64(1)
        while top > 0:
            top -= 1
            v = stack[top]
            for k in range(begin[v], begin[v + 1]):
                w = near[k]
                if parent[w] == NONE and tile[w] == tile[u]:
                    parent[w] = count
                    stack[top] = w
                    top += 1
        count += 1
    return count


@kernel
def find_representatives(cells, xy, node, sizes, sums, nearest, cell):
    """Write for every region the first of its cells that are nearest to the centroid, exactly.

    The squared distance times the size, but for a constant, is a whole number when counted from a cell near by.
    ``nearest`` is room for one number per region, filled with the largest there is.
    """
    for k in range(cells.size):
        r = node[k]
        middle_x, middle_y = sums[r, 0] // sizes[r], sums[r, 1] // sizes[r]
        x, y = xy[2 * cells[k]] - middle_x, xy[2 * cells[k] + 1] - middle_y
        lean = x * (sums[r, 0] - sizes[r] * middle_x) + y * (sums[r, 1] - sizes[r] * middle_y)
        far = sizes[r] * (x * x + y * y) - 2 * lean
        if far < nearest[r]:
            nearest[r] = far
            cell[r] = cells[k]


@kernel
def centroid_gap(centroids, metric, a, b):
    """Return the heuristic between the centroids of two regions as a cost, rounded to the nearest one there is.

    Between regions of one cell each it is exact.
    """
    return np.int64(np.rint(span(metric, centroids[a, 0] - centroids[b, 0], centroids[a, 1] - centroids[b, 1])))


@kernel
def fill_weights(begin, near, centroids, metric, weights):
    """Write how far apart the centroids of neighbours are."""
    for r in range(begin.size - 1):
        for k in range(begin[r], begin[r + 1]):
            weights[k] = centroid_gap(centroids, metric, r, near[k])


@kernel
def fill_colours(begin, near, colours, taken):
    """Write for every region the smallest number that no neighbour before it has; ``taken`` is room for them."""
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

    @property
    def regions(self) -> int:
        """How many regions there are."""
        return self.sizes.size

    @cached_property
    def colours(self) -> NDArray[np.int32]:
        """A small number for every region that none of its neighbours has."""
        colours = np.empty(self.regions, np.int32)
        fill_colours(self.begin, self.near, colours, np.full(_widest(self.begin) + 1, NONE, np.int32))
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
    edges, count = _ground(grid, cells), cells.size
    node, parents = np.arange(count, dtype=np.int32), []
    for step in range(1, level + 1):
        begin, near = _neighbours(edges, count)
        parent = np.full(count, NONE, np.int32)
        if kind == "clique":
            count = group_cliques(begin, near, parent, np.empty_like(parent), np.empty(_widest(begin), np.int64))
        else:
            count = group_tiles(begin, near, _tiles(grid, cells, node, 1 << step), parent, np.empty_like(parent))
        edges = _between(parent[edges], count)
        node = parent[node]
        parents.append(parent)
    return _described(grid, kind, cells, node, tuple(parents), edges[np.lexsort(edges.T)], count)


def _widest(begin: NDArray[np.int32]) -> int:
    """Return the largest number of neighbours."""
    return int(np.diff(begin).max(initial=0))


def _ground(grid: Grid, cells: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the moves between free cells, each once, as pairs of their numbers in the order in which they are made."""
    number = np.full(grid.terrain.free.size, NONE, np.int32)
    number[cells] = np.arange(cells.size)
    moves = np.unpackbits(grid.terrain.mask[cells, None], axis=1, bitorder="little")[:, _BACK]
    node, column = np.nonzero(moves)
    return np.stack([number[cells[node] + grid.terrain.offset[_BACK][column]], node.astype(np.int32)], axis=1)


def _between(pairs: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """Return the edges between parents, each once, in the order in which they first occur; the smaller number first."""
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    _, first = np.unique(pairs[:, 0].astype(np.int64) * count + pairs[:, 1], return_index=True)
    return pairs[np.sort(first)]


def _neighbours(edges: NDArray[np.int32], count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where the neighbours of each node begin, and the neighbours, in the order of the edges."""
    nodes, others = edges.ravel(), edges[:, ::-1].ravel()
    begin = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=count))])
    return begin.astype(np.int32), others[np.argsort(nodes, kind="stable")]


def _tiles(grid: Grid, cells: NDArray[np.int64], node: NDArray[np.int32], width: int) -> NDArray[np.int64]:
    """Return the tile that each node lies in."""
    x, y = grid.positions(cells).T.astype(np.int64)
    tile = np.empty(int(node.max(initial=NONE)) + 1, np.int64)
    tile[node] = y // width * grid.stride + x // width
    return tile


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
    begin, near = _neighbours(edges, count)
    region = np.full(terrain.free.size, NONE, np.int32)
    region[cells] = node
    sizes = np.bincount(node, minlength=count)
    sums = np.stack([np.bincount(node, axis, count).astype(np.int64) for axis in grid.positions(cells).T], axis=1)
    representatives = np.empty(count, np.int32)
    nearest = np.full(count, np.iinfo(np.int64).max)
    find_representatives(cells, terrain.xy, node, sizes, sums, nearest, representatives)
    centroids, weights = sums / sizes[:, None], np.empty(near.size, np.int64)
    fill_weights(begin, near, centroids, terrain.metric, weights)
    return Abstraction(kind, len(parents), region, representatives, sizes, centroids, parents, begin, near, weights)
