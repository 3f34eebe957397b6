"""A*'s open list: buckets by f, of which only the lowest is kept in order.

The buckets are a ring, each 1/128 of a step wide, or 1/16 with a weight. The lowest one is a heap by the exact
comparator (smaller f, larger g, first generated); the others are plain linked lists. The order of expansion is that of
one large heap, so with a consistent heuristic no state is expanded twice, at a fraction of the comparisons.

An entry of the heap holds all that it is compared by, so that nothing is looked up elsewhere while entries change
places. Without a weight a state in the heap rarely becomes cheaper: by less than the width of a bucket. It then gets
another entry, and the older one is *stale* and dropped when it comes up. With a weight that is common, and the places
of entries are kept, so that they can rise from where they are. A state in a higher bucket is moved.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF
from rt_gym.errors import InputError
from rt_gym.jit import kernel, record
from rt_gym.pages import arrays_for
from rt_gym.search.nodes import Nodes, make_nodes
from rt_gym.search.space import NONE, rank_of
from rt_gym.terrain import METRIC, Terrain, gap

# The lowest bucket (absolute), how many entries its heap has, how many slots wait in higher ones, how many bits of f
# are within a bucket, and whether the places of entries are kept.
RING = record(lowest=int, entries=int, waiting=int, bits=int, placed=int)
_NARROW, _WIDE = 33, 36  # of f, which is exact to 2**-40 of a step; wide where f is spread by a weight

ENTRY = np.dtype((np.record, [("f", "i8"), ("minus_g", "i8"), ("rank", "i4"), ("slot", "i4")]))


class Buckets(NamedTuple):
    """The open list, and the arrays of a search.

    Attributes:
        space: the states, with the links of the buckets; ``at`` is NONE for a state that is not in the heap, else its
            place if these are kept, else 0.
        lowest: ENTRY, the lowest bucket in heap order, with a place for an entry of every state and more.
        head: int32, first slot of every bucket, NONE if empty; a power of two in size.
        metric: METRIC[1], what the heuristic charges per step.
        state: RING[1].
    """

    space: Nodes
    lowest: NDArray[np.record]
    head: NDArray[np.int32]
    metric: NDArray[np.record]
    state: NDArray[np.record]

    @property
    def held(self) -> int:
        """How many bytes entries take beside the states of the largest search, and the heads of lists."""
        return ENTRY.itemsize * self.space.most + self.head.nbytes


def make_buckets(terrain: Terrain, weight: Fraction = Fraction(1)) -> Buckets:
    """Return the memory of an A* over ``terrain``, with the heuristic times ``weight``.

    A step of cost c changes the weighted heuristic by at most weight * c, so f rises by at most (1 + weight) * sqrt(2)
    from a state to its successor; the ring of buckets is longer than that.

    Raises:
        InputError: if f would not fit into 64 bits somewhere on such a map.
    """
    if weight > 1:
        _check_weight(terrain, weight)
    cells = terrain.mask.size
    bits = _NARROW if weight == 1 else _WIDE
    reach = (1 + weight) * int(terrain.cost.max()) / (1 << bits) + 2
    return Buckets(
        space=make_nodes(cells),
        lowest=arrays_for(cells, cells + 1, ENTRY)[0],
        head=np.empty(1 << int(reach).bit_length(), np.int32),
        metric=np.array(
            [tuple(int(step) * weight.numerator // weight.denominator for step in terrain.metric[0])], METRIC
        ),
        state=np.array([(0, 0, 0, bits, weight > 1)], RING),
    )


def _check_weight(terrain: Terrain, weight: Fraction) -> None:
    """Refuse a weight with which g, along the longest path, and h from corner to corner could overflow."""
    cells, step = terrain.mask.size, int(terrain.cost.max())
    room = (1 << 63) - 1 - min(cells * step, INF + step)
    most = Fraction(room, int(gap(terrain, terrain.metric, 0, cells - 1)))
    if weight > most:
        raise InputError(f"weight must be at most {int(most)} on a map of this size, not {float(weight):g}")


@kernel(inline=True)
def sooner(entry, f, minus_g, rank):
    """Whether an entry comes before one with these keys."""
    if entry.f != f:
        return entry.f < f
    if entry.minus_g != minus_g:
        return entry.minus_g < minus_g
    return entry.rank < rank


@kernel(inline=True)
def put(buckets, hole, f, minus_g, rank, slot):
    """Write the entry of a slot at a place of the heap."""
    entry = buckets.lowest[hole]
    entry.f = f
    entry.minus_g = minus_g
    entry.rank = rank
    entry.slot = slot
    if buckets.state[0].placed != 0:
        buckets.space.node[slot].at = hole


@kernel(inline=True)
def shift(buckets, hole, other):
    """Write another entry of the heap at a place of it."""
    entry = buckets.lowest[other]
    put(buckets, hole, entry.f, entry.minus_g, entry.rank, entry.slot)


@kernel(inline=True)
def push(buckets, slot):
    """Put a slot into the heap, or let it rise where its place is kept."""
    node, heap, state = buckets.space.node[slot], buckets.lowest, buckets.state[0]
    f, minus_g, rank, hole = node.f, -node.g, rank_of(buckets.space, slot), np.int64(node.at)
    if hole == NONE or state.placed == 0:
        hole = state.entries
        state.entries += 1
        node.at = 0
    while hole > 0:
        above = (hole - 1) >> 1
        if sooner(heap[above], f, minus_g, rank):
            break
        shift(buckets, hole, above)
        hole = above
    put(buckets, hole, f, minus_g, rank, slot)


@kernel(inline=True)
def pop(buckets):
    """Take the first entry out of the heap."""
    heap = buckets.lowest
    buckets.state[0].entries -= 1
    size, hole = buckets.state[0].entries, np.int64(0)
    f, minus_g, rank, slot = heap[size].f, heap[size].minus_g, heap[size].rank, heap[size].slot
    while True:
        below = 2 * hole + 1
        if below >= size:
            break
        if below + 1 < size and sooner(heap[below + 1], heap[below].f, heap[below].minus_g, heap[below].rank):
            below += 1
        if not sooner(heap[below], f, minus_g, rank):
            break
        shift(buckets, hole, below)
        hole = below
    put(buckets, hole, f, minus_g, rank, slot)


@kernel(inline=True)
def is_stale(buckets, entry):
    """Whether a cheaper path to the state of an entry was found since; no state is expanded while that is so."""
    return entry.minus_g != -buckets.space.node[entry.slot].g


@kernel
def purge(buckets):
    """Make room in a heap without any: drop all stale entries."""
    heap, size = buckets.lowest, buckets.state[0].entries
    buckets.state[0].entries = 0
    for k in range(size):
        if not is_stale(buckets, heap[k]):
            push(buckets, np.int64(heap[k].slot))


@kernel(inline=True)
def insert(buckets, slot):
    """Put a slot into the bucket of its f."""
    node = buckets.space.node[slot]
    bucket = node.f >> buckets.state[0].bits
    if bucket <= buckets.state[0].lowest:
        push(buckets, slot)
        return
    node.at = NONE
    place = bucket & (buckets.head.size - 1)
    first = buckets.head[place]
    node.after = first
    node.ahead = NONE
    if first != NONE:
        buckets.space.node[first].ahead = slot
    buckets.head[place] = slot
    buckets.state[0].waiting += 1


@kernel(inline=True)
def take_out(buckets, slot):
    """Take a slot out of its bucket before it gets another f. In the heap it rises later, or its entry is stale."""
    nodes = buckets.space.node
    if nodes[slot].at != NONE:
        if buckets.state[0].entries == buckets.lowest.size and buckets.state[0].placed == 0:
            purge(buckets)
        return
    after, ahead = nodes[slot].after, nodes[slot].ahead
    if after != NONE:
        nodes[after].ahead = ahead
    if ahead != NONE:
        nodes[ahead].after = after
    else:
        buckets.head[nodes[slot].f >> buckets.state[0].bits & (buckets.head.size - 1)] = after
    buckets.state[0].waiting -= 1


@kernel
def refill(buckets):
    """Bring the next bucket that is not empty into order; False if all are empty."""
    state = buckets.state[0]
    if state.waiting == 0:
        return False
    state.lowest += 1
    while buckets.head[state.lowest & (buckets.head.size - 1)] == NONE:
        state.lowest += 1
    place = state.lowest & (buckets.head.size - 1)
    slot = np.int64(buckets.head[place])
    buckets.head[place] = NONE
    while slot != NONE:
        push(buckets, slot)
        state.waiting -= 1
        slot = np.int64(buckets.space.node[slot].after)
    return True


@kernel(inline=True)
def clear(buckets, f):
    """Make the open list empty; the first state will come with this f."""
    buckets.head[:] = NONE
    buckets.state[0].entries = 0
    buckets.state[0].waiting = 0
    buckets.state[0].lowest = f >> buckets.state[0].bits


@kernel(inline=True)
def any_left(buckets):
    """Whether the open list has a first state, which then is the first entry of the heap."""
    while True:
        if buckets.state[0].entries == 0 and not refill(buckets):
            return False
        if not is_stale(buckets, buckets.lowest[0]):
            return True
        pop(buckets)


@kernel(inline=True)
def first_slot(buckets):
    """Return the slot of the first state, of which ``any_left`` has made sure."""
    return np.int64(buckets.lowest[0].slot)
