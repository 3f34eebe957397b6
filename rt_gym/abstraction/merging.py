"""One level of an abstraction: the graph of its nodes, and the two ways to merge them.

A graph is its list of edges, pairs of nodes in the order in which they were made; kernels read it as ``begin`` and
``near``: the neighbours of node ``u`` are ``near[begin[u]:begin[u + 1]]``.
"""

import numpy as np
from numpy.typing import NDArray

from rt_gym.grid import Grid
from rt_gym.jit import kernel

NONE = -1

_BACK = [2, 3, 5, 7]  # the directions that lead to earlier cells: W, N, NE, NW


@kernel(inline=True)
def adjacent(begin, near, u, v):
    """Whether two nodes are neighbours."""
    k = begin[u]
    while k < begin[u + 1] and near[k] != v:
        k += 1
    return k < begin[u + 1]


@kernel
def find_clique(begin, near, parent, u, mates):
    """Write the first three, else two, neighbours without a parent that form a clique with ``u``; return how many.

    The arrays are those of ``group_cliques``; the result is written to the beginning of ``mates``.
    """
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

    ``begin``, ``near`` and ``parent`` are int32, the last with one entry per node. Two buffers: ``rest``, int32 per
    node, and ``mates``, int64, as long as the most neighbours of a node.
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
        count = group_rest(begin, near, parent, np.int64(rest[k]), count)
    return count


@kernel(inline=True)
def group_rest(begin, near, parent, u, count):
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
    """Give all nodes that are connected inside one tile the same parent, and return how many parents there are.

    ``tile``, int64, is the tile of every node; ``stack``, int32 per node, is a buffer. The others are as in
    ``group_cliques``.
    """
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


def grid_edges(grid: Grid, cells: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the moves between free cells, each once, as pairs of their numbers in the order in which they are made."""
    number = np.full(grid.terrain.free.size, NONE, np.int32)
    number[cells] = np.arange(cells.size)
    moves = np.unpackbits(grid.terrain.mask[cells, None], axis=1, bitorder="little")[:, _BACK]
    node, column = np.nonzero(moves)
    return np.stack([number[cells[node] + grid.terrain.offset[_BACK][column]], node.astype(np.int32)], axis=1)


def between(pairs: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """Return the edges between parents, each once, in the order in which they first occur; the smaller number first."""
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    _, first = np.unique(pairs[:, 0].astype(np.int64) * count + pairs[:, 1], return_index=True)
    return pairs[np.sort(first)]


def neighbours(edges: NDArray[np.int32], count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where the neighbours of each node begin, and the neighbours, in the order of the edges."""
    nodes, others = edges.ravel(), edges[:, ::-1].ravel()
    begin = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=count))])
    return begin.astype(np.int32), others[np.argsort(nodes, kind="stable")]


def tiles(grid: Grid, cells: NDArray[np.int64], node: NDArray[np.int32], width: int) -> NDArray[np.int64]:
    """Return the tile that each node lies in."""
    x, y = grid.positions(cells).T.astype(np.int64)
    tile = np.empty(int(node.max(initial=NONE)) + 1, np.int64)
    tile[node] = y // width * grid.stride + x // width
    return tile


def widest(begin: NDArray[np.int32]) -> int:
    """Return the largest number of neighbours."""
    return int(np.diff(begin).max(initial=0))
