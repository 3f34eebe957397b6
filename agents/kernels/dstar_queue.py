"""The vertices of D* Lite and its priority queue, in three orders.

M. Likhachev, S. Koenig, "Incremental Heuristic Search in Games: The Quest for Speed", AIIDE 2006.

- BUCKETS: smaller f, then the underconsistent; the paper's key 2 f + [g >= rhs]. Last in, first out within a bucket,
  which is a doubly linked list through its vertices. For costs that are whole steps.
- LARGER_G: a binary heap; smaller f, then the underconsistent by smaller g before the others by larger g.
- SMALLER_G: a binary heap; smaller f, then smaller g. What is then still equal comes in the order of the map.

All that is known of a vertex lies in one record of 32 bytes, half a line of the cache, because a search mostly waits
for memory: it takes a fifth longer when values, links and coordinates have arrays of their own. On a large map these
records lie in pages, and a vertex without a page has infinite values.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.kernels.dstar_vertices import FEW, SMALL, at, cell_mask, make_infinite, make_vertices, own
from rt_gym.cost import INF
from rt_gym.jit import kernel, record
from rt_gym.pages import Paged, arrays_for, is_large, reserve
from rt_gym.terrain import Terrain

BUCKETS, LARGER_G, SMALLER_G = range(3)

NO_VERTEX = 0  # as a cell: the corner of the border, which is never in a queue

# The order, the lowest bucket that may be filled, how many vertices there are, how many were touched, and what decides
# the last ties: 0 for the order of the map, or a seed.
WAITING = record(order=int, lowest=int, vertices=int, touched=int, salt=int)

_HALF_STEP = 39  # bits of a cost below half a step
_NEVER = 2 * INF - 1

ENTRY = np.dtype((np.record, [("key", "i8"), ("tie", "i8")]))


class Queue(NamedTuple):
    """Vertices and the order in which they wait.

    Attributes:
        vertex: VERTEX per cell, which stands where ``at`` says. In a bucket ``after`` is the next vertex and ``ahead``
            the previous one or, for the first, the complement of the bucket's place; in a heap ``after`` is the place
            in it.
        heap: ENTRY, key and tie of the vertices in heap order, with space for one more; the cell is part of the tie.
        head: uint32, the first vertex of every bucket, NO_VERTEX if it is empty; a ring, a power of two in size.
        touched: uint32, vertices whose g or rhs has been finite, up to the length of the array.
        state: WAITING[1].
        pages: on a large map, the pages whose entries are the vertices; else None.
    """

    vertex: NDArray[np.record]
    heap: NDArray[np.record]
    head: NDArray[np.uint32]
    touched: NDArray[np.uint32]
    state: NDArray[np.record]
    pages: Paged | None

    @property
    def held(self) -> int:
        """How many bytes vertices take that are not in pages, and the queue if all that were touched waited in it."""
        touched = int(self.state[0].touched)
        vertices = self.vertex.nbytes if self.pages is None else 0
        heads = self.head.nbytes if self.pages is None else min(touched, self.head.size) * self.head.itemsize
        return vertices + touched * (self.heap.itemsize + self.touched.itemsize) + heads


def make_queue(cells: int, order: int) -> Queue:
    """Return a queue for the vertices of a map with this many cells; to be reset before use.

    The ring has a place for every key that can be in the queue at once. They begin at twice the k_m of the last search,
    k_m grows by no more than the map is long until the next, and no g or rhs is longer than a path through all cells,
    unless it is infinite and not in the queue.
    """
    ring, large = 6 * cells if order == BUCKETS else 0, is_large(cells)
    vertex, pages = make_vertices(cells)
    heads = 1 << ring.bit_length()
    return Queue(
        vertex=vertex,
        heap=arrays_for(cells, 1 if order == BUCKETS else cells + 1, ENTRY)[0],
        head=reserve(heads, np.uint32)[0] if large else np.zeros(heads, np.uint32),
        touched=np.empty(0 if large else cells // FEW, np.uint32),
        state=np.array([(order, 0, 0, 0, 0)], WAITING),
        pages=pages,
    )


def reset_queue(queue: Queue, terrain: Terrain, seed: int) -> None:
    """Forget all values and take the cells of a map; seed 0 leaves the last ties to the order of the map."""
    clear(queue)
    queue.state[0].salt = seed & SMALL
    vertex, xy = queue.vertex, None if queue.pages is not None else terrain.xy
    if xy is not None and vertex["x"][-1] != xy[-2]:  # the last map had another width, or there was none
        vertex["x"], vertex["y"] = xy[::2], xy[1::2]


@kernel(inline=True)
def priority(queue, u, m, f, over):
    """Return the key and the tie of a vertex with min(g, rhs) = m; ``over`` unless it is underconsistent.

    The cell replaces the lowest bits of m, less than 1e-4 of a step: then two comparisons decide everything.
    """
    order = queue.state[0].order
    if order == BUCKETS:
        return f >> _HALF_STEP | np.int64(over), np.int64(0)
    if order == LARGER_G:
        m = INF - m if over else m - INF
    cell = cell_mask(queue)
    chance = 15 * (cell + 1)
    return f, m & ~(chance | cell) | u * queue.state[0].salt & chance | u


@kernel(inline=True)
def sooner(key, tie, other_key, other_tie):
    """Whether one priority comes before another. Without a branch, which would often be mispredicted."""
    return key < other_key + np.int64(tie < other_tie)


@kernel(inline=True)
def first(queue):
    """Return the first vertex, its key and its tie; NO_VERTEX if there is none."""
    state, ring = queue.state[0], queue.head.size - 1
    if state.vertices == 0:
        return np.int64(NO_VERTEX), np.int64(_NEVER), np.int64(0)
    if state.order != BUCKETS:
        return queue.heap[0].tie & cell_mask(queue), queue.heap[0].key, queue.heap[0].tie
    lowest = state.lowest
    while queue.head[lowest & ring] == NO_VERTEX:
        lowest += 1
    state.lowest = lowest
    return np.int64(queue.head[lowest & ring]), lowest, np.int64(0)


@kernel(inline=True)
def insert(queue, u, key, tie):
    """Put a vertex into the queue."""
    queue.state[0].vertices += 1
    if queue.state[0].order == BUCKETS:
        link(queue, u, key)
    else:
        rise(queue, queue.state[0].vertices - 1, key, tie)


@kernel(inline=True)
def remove(queue, u):
    """Take a vertex out of the queue."""
    queue.state[0].vertices -= 1
    if queue.state[0].order == BUCKETS:
        unlink(queue, u)
    else:
        last, hole = queue.state[0].vertices, np.int64(queue.vertex[at(queue, u)].after)
        if hole != last:
            sift(queue, hole, queue.heap[last].key, queue.heap[last].tie)


@kernel(inline=True)
def change(queue, u, key, tie):
    """Take a vertex out of the queue and put it back with another priority."""
    if queue.state[0].order == BUCKETS:
        unlink(queue, u)
        link(queue, u, key)
    else:
        sift(queue, np.int64(queue.vertex[at(queue, u)].after), key, tie)


@kernel(inline=True)
def touch(queue, u):
    """Take note that a vertex gets its first value. One that loses all values and gets new ones is listed again."""
    own(queue, u)
    if queue.state[0].touched < queue.touched.size:
        queue.touched[queue.state[0].touched] = u
    queue.state[0].touched += 1


@kernel
def clear(queue):
    """Take all vertices out of the queue and make all values infinite."""
    state, vertex = queue.state[0], queue.vertex
    while state.order == BUCKETS and state.vertices > 0:
        u, lowest, _ = first(queue)
        queue.head[lowest & (queue.head.size - 1)] = NO_VERTEX
        while u != NO_VERTEX:
            u = np.int64(vertex[at(queue, u)].after)
            state.vertices -= 1
    make_infinite(queue)
    state.vertices = 0
    state.touched = 0
    state.lowest = _NEVER


@kernel(inline=True)
def link(queue, u, key):
    """Make a vertex the first of its bucket."""
    place = key & (queue.head.size - 1)
    second = np.int64(queue.head[place])
    queue.vertex[at(queue, u)].after = second
    queue.vertex[at(queue, u)].ahead = ~place
    queue.vertex[at(queue, second)].ahead = u  # for NO_VERTEX, a record that is never read
    queue.head[place] = u
    queue.state[0].lowest = min(queue.state[0].lowest, key)


@kernel(inline=True)
def unlink(queue, u):
    """Take a vertex out of its bucket."""
    after, ahead = np.int64(queue.vertex[at(queue, u)].after), np.int64(queue.vertex[at(queue, u)].ahead)
    queue.vertex[at(queue, after)].ahead = ahead
    if ahead < 0:
        queue.head[~ahead] = after
    else:
        queue.vertex[at(queue, ahead)].after = after


@kernel(inline=True)
def put(queue, hole, key, tie):
    """Enter a priority at a place of the heap."""
    queue.heap[hole].key = key
    queue.heap[hole].tie = tie
    queue.vertex[at(queue, tie & cell_mask(queue))].after = hole


@kernel(inline=True)
def rise(queue, hole, key, tie):
    """Let a priority rise from ``hole`` to where it belongs."""
    while hole > 0:
        above = (hole - 1) >> 1
        other_key, other_tie = queue.heap[above].key, queue.heap[above].tie
        if not sooner(key, tie, other_key, other_tie):
            break
        put(queue, hole, other_key, other_tie)
        hole = above
    put(queue, hole, key, tie)


@kernel(inline=True)
def sink(queue, hole, key, tie):
    """Let a priority sink from ``hole`` to where it belongs. A sentinel behind the last one is never chosen."""
    heap, size = queue.heap, queue.state[0].vertices
    heap[size].key = _NEVER
    while True:
        below = 2 * hole + 1
        if below >= size:
            break
        below += np.int64(sooner(heap[below + 1].key, heap[below + 1].tie, heap[below].key, heap[below].tie))
        other_key, other_tie = heap[below].key, heap[below].tie
        if not sooner(other_key, other_tie, key, tie):
            break
        put(queue, hole, other_key, other_tie)
        hole = below
    put(queue, hole, key, tie)


@kernel(inline=True)
def sift(queue, hole, key, tie):
    """Put a priority at ``hole`` and move it up or down to where it belongs."""
    above = (hole - 1) >> 1
    if hole > 0 and sooner(key, tie, queue.heap[above].key, queue.heap[above].tie):
        rise(queue, hole, key, tie)
    else:
        sink(queue, hole, key, tie)
