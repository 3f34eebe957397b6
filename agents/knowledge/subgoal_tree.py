"""The subgoal tree of one goal: Dijkstra's algorithm from the goal, which marks the exits of heuristic depressions.

C. Hernández, J. A. Baier, "Fast Subgoaling for Pathfinding via Real-Time Search", ICAPS 2011, Algorithm 2.

Readings:
- Lines 17 to 20 belong to the test of line 13: only a successor whose g has just fallen can make a state an exit. They
  do so at once, even if the successor is later reached by a better way.
- The tree gets its arc before Sub(s) is overwritten, as printed: the parent of an exit is the subgoal that it had.
- g_sub(s) is g(s) - g(Sub(s)) wherever the paper reads it, so it is not kept: lines 4, 11, 15 and 18 fall away.
- Of equal g, the state that was pushed first is popped first. One that is reached by a better way is pushed anew.
- The root of the tree is the goal itself, node 0. A tree without exits has no other node.

The open list is a ring of buckets by g, a sixty-fourth of a step wide, each a list in the order of pushing. No step is
shorter than a bucket, so one is complete when its turn comes: it is then brought into order by insertion, which leaves
alone what is in order already. A state that was pushed anew leaves its old entry behind.

The algorithm in plain Python: tests/reference/plain_subgoal_lrta.py
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.search.space import NONE
from rt_gym.terrain import h0

ROOT = 0
_SHIFT = 34  # of g, which is exact to 2**-40 of a step
_RING = 128  # buckets, a power of two: more than the longest step reaches over


class TreeBuffers(NamedTuple):
    """The arrays in which a tree grows; "entries" are those of the open list.

    Attributes:
        g: int64 per cell, the distance to the goal, INF where there is no path.
        parent: int32 per cell, the cell from which ``g`` was reached.
        sub: int32 per cell, the node that is Sub of it.
        latest: int32 per cell, its latest entry; any other is void.
        cell, after: int32 per entry, its cell and the next entry in the same bucket. A cell has one entry at most for
            each of its neighbours.
        head, tail: int32 per bucket, its first and last entry.
        line, key: int32 and int64, the cells of the current bucket in order, and their g.
        node: int32, the cells of the tree in the order of its growth; above: int32, the tree's parent of each, as the
            number of a node.
    """

    g: NDArray[np.int64]
    parent: NDArray[np.int32]
    sub: NDArray[np.int32]
    latest: NDArray[np.int32]
    cell: NDArray[np.int32]
    after: NDArray[np.int32]
    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    line: NDArray[np.int32]
    key: NDArray[np.int64]
    node: NDArray[np.int32]
    above: NDArray[np.int32]


def make_tree_buffers(cells: int) -> TreeBuffers:
    """Return the buffers for one tree at a time. Pages that are never touched cost nothing.

    Args:
        cells: size of the flat, bordered map.
    """
    return TreeBuffers(
        g=np.empty(cells, np.int64),
        parent=np.empty(cells, np.int32),
        sub=np.empty(cells, np.int32),
        latest=np.empty(cells, np.int32),
        cell=np.empty(8 * cells, np.int32),
        after=np.empty(8 * cells, np.int32),
        head=np.empty(_RING, np.int32),
        tail=np.empty(_RING, np.int32),
        line=np.empty(cells, np.int32),
        key=np.empty(cells, np.int64),
        node=np.empty(cells, np.int32),
        above=np.empty(cells, np.int32),
    )


@kernel(inline=True)
def push(buffers, entry, s):
    """Append a new entry for ``s`` to the bucket of its g."""
    place = buffers.g[s] >> _SHIFT & (_RING - 1)
    buffers.cell[entry] = s
    buffers.after[entry] = NONE
    buffers.latest[s] = entry
    if buffers.head[place] == NONE:
        buffers.head[place] = entry
    else:
        buffers.after[buffers.tail[place]] = entry
    buffers.tail[place] = entry


@kernel(inline=True)
def sort_bucket(buffers, place):
    """Bring the cells of a bucket into order and empty it; return how many cells and how many entries there were."""
    line, key = buffers.line, buffers.key
    entry, size, taken = np.int64(buffers.head[place]), np.int64(0), np.int64(0)
    buffers.head[place] = NONE
    while entry != NONE:
        s = np.int64(buffers.cell[entry])
        if buffers.latest[s] == entry:
            k, g = size, buffers.g[s]
            while k > 0 and key[k - 1] > g:
                key[k], line[k] = key[k - 1], line[k - 1]
                k -= 1
            key[k], line[k] = g, s
            size += 1
        taken += 1
        entry = np.int64(buffers.after[entry])
    return size, taken


@kernel
def grow_tree(terrain, buffers, t):
    """Grow the subgoal tree of ``t`` and return how many nodes it has, the root included.

    Fills ``node`` and ``above`` up to there, and ``g`` and ``sub`` of all cells that can reach ``t``; ``sub`` of the
    others is NONE.
    """
    g, sub, node = buffers.g, buffers.sub, buffers.node
    g[:] = INF  # line 2
    sub[:] = NONE
    buffers.head[:] = NONE
    g[t] = 0  # line 5
    sub[t] = ROOT  # line 3
    buffers.parent[t] = t
    node[ROOT] = t
    buffers.above[ROOT] = NONE
    push(buffers, np.int64(0), t)  # line 6
    nodes, entries, waiting, place = np.int64(1), np.int64(1), np.int64(1), np.int64(0)
    while waiting > 0:  # line 7
        if buffers.head[place] == NONE:
            place = place + 1 & _RING - 1
            continue
        size, taken = sort_bucket(buffers, place)
        waiting -= taken
        for k in range(size):
            s = np.int64(buffers.line[k])  # line 8
            sub[s] = sub[buffers.parent[s]]  # line 10
            goal, moves = np.int64(node[sub[s]]), terrain.mask[s]
            for d in range(8):  # line 12
                near, new = s + terrain.offset[d], buffers.key[k] + terrain.cost[d]
                if (moves >> d & 1 != 0) & (new < g[near]):  # line 13
                    g[near] = new  # line 14
                    buffers.parent[near] = s  # line 16
                    push(buffers, entries, near)  # lines 21 and 22
                    entries += 1
                    waiting += 1
                    if new - g[goal] != h0(terrain, near, goal):  # line 17
                        node[nodes] = s  # line 19
                        buffers.above[nodes] = sub[s]
                        sub[s] = nodes  # line 20
                        nodes += 1
                        goal = s
    return nodes
