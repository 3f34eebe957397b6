"""A binary heap with one comparator: smaller key, then smaller tie, then smaller rank.

A* passes f as the key and -g as the tie, so that the order is: smaller f, larger g, first generated. Items are slots
of a ``Space``; ``at`` tells where each one is, so that a key can be lowered in place.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel
from rt_gym.search.space import NONE


class Heap(NamedTuple):
    """The arrays a heap works on; all but ``size`` are indexed by slot or by place and belong to the search.

    Attributes:
        item: int32, the slots in heap order.
        at: int32, the place of each slot, NONE if it is not in the heap.
        key, tie: int64, rank: int32, what slots are compared by.
        size: int64[1], how many items there are.
    """

    item: NDArray[np.int32]
    at: NDArray[np.int32]
    key: NDArray[np.int64]
    tie: NDArray[np.int64]
    rank: NDArray[np.int32]
    size: NDArray[np.int64]


@kernel(inline=True)
def before(heap, a, b):
    """Whether slot ``a`` comes out before slot ``b``."""
    if heap.key[a] != heap.key[b]:
        return heap.key[a] < heap.key[b]
    if heap.tie[a] != heap.tie[b]:
        return heap.tie[a] < heap.tie[b]
    return heap.rank[a] < heap.rank[b]


@kernel(inline=True)
def sift_up(heap, slot, hole):
    """Let ``slot`` rise from the place ``hole`` to where it belongs."""
    while hole > 0:
        above = (hole - 1) >> 1
        other = np.int64(heap.item[above])
        if not before(heap, slot, other):
            break
        heap.item[hole] = other
        heap.at[other] = hole
        hole = above
    heap.item[hole] = slot
    heap.at[slot] = hole


@kernel(inline=True)
def sift_down(heap, slot, hole):
    """Let ``slot`` sink from the place ``hole`` to where it belongs."""
    size = heap.size[0]
    while True:
        below = 2 * hole + 1
        if below >= size:
            break
        other = np.int64(heap.item[below])
        if below + 1 < size:
            right = np.int64(heap.item[below + 1])
            if before(heap, right, other):
                other = right
                below += 1
        if not before(heap, other, slot):
            break
        heap.item[hole] = other
        heap.at[other] = hole
        hole = below
    heap.item[hole] = slot
    heap.at[slot] = hole


@kernel(inline=True)
def push(heap, slot):
    """Put a slot into the heap."""
    heap.size[0] += 1
    sift_up(heap, slot, heap.size[0] - 1)


@kernel(inline=True)
def lower(heap, slot):
    """Restore the heap order after the key of a slot in it has become smaller."""
    sift_up(heap, slot, np.int64(heap.at[slot]))


@kernel(inline=True)
def pop(heap):
    """Take the first slot out of the heap."""
    first = np.int64(heap.item[0])
    heap.at[first] = NONE
    heap.size[0] -= 1
    if heap.size[0] > 0:
        sift_down(heap, np.int64(heap.item[heap.size[0]]), np.int64(0))
    return first


@kernel
def heapify(heap):
    """Bring the first ``size`` items, in any order, into heap order."""
    for place in range(heap.size[0] // 2 - 1, -1, -1):
        sift_down(heap, np.int64(heap.item[place]), np.int64(place))
