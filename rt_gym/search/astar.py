"""A* that can be interrupted after any expansion and resumed later.

P. Hart, N. Nilsson, B. Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths", IEEE
Transactions on Systems Science and Cybernetics 4(2), 1968.

The open list is a ring of buckets by f, a sixteenth of a step wide. Only the lowest bucket is kept in order, as a heap
by the exact comparator (smaller f, larger g, first generated); the others are plain linked lists. The order of
expansion is that of one large heap, so with a consistent heuristic no state is expanded twice, at a fraction of the
comparisons. A slot stands in at most one bucket: a cheaper path moves it.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.budget import UNLIMITED, charge, make_trip
from rt_gym.cost import INF
from rt_gym.grid import Grid, Position, Terrain, gap
from rt_gym.jit import kernel
from rt_gym.search.heap import Heap, lower, pop, push
from rt_gym.search.space import BEST, CLOSED, NONE, OPEN, SIZE, STAMP, Space, discover, forget, make_space, reach

FOUND, EXHAUSTED, INTERRUPTED = range(3)

SHUT = 1  # the role of a closed state
_SHIFT = 36  # of f, which is exact to 2**-40 of a step

# Entries of Buckets.state: the lowest bucket (absolute) and how many slots wait in higher ones.
LOWEST, WAITING = range(2)


class Buckets(NamedTuple):
    """The open list above its lowest bucket, and the arrays of a search.

    Attributes:
        space: the states; ``role`` is OPEN or SHUT.
        lowest: the lowest bucket as a heap.
        head: int32, first slot of every bucket, NONE if empty; a power of two in size.
        after, ahead: int32, the next and the previous slot in the same bucket.
        metric: int64[2], what the heuristic charges per straight and diagonal step.
        state: int64[2], the lowest bucket and the number of slots above it.
    """

    space: Space
    lowest: Heap
    head: NDArray[np.int32]
    after: NDArray[np.int32]
    ahead: NDArray[np.int32]
    metric: NDArray[np.int64]
    state: NDArray[np.int64]


def make_buckets(terrain: Terrain, weight: Fraction = Fraction(1)) -> Buckets:
    """Return the memory of an A* over ``terrain``, with the heuristic times ``weight``.

    A step of cost c changes the weighted heuristic by at most weight * c, so f rises by at most (1 + weight) * sqrt(2)
    from a state to its successor; the ring of buckets is longer than that.
    """
    space = make_space(terrain.mask.size)
    reach = (1 + weight) * int(terrain.cost.max()) / (1 << _SHIFT) + 2
    return Buckets(
        space=space,
        lowest=Heap(space.item, space.at, space.f, space.minus_g, space.rank, np.zeros(1, np.int64)),
        head=np.empty(1 << int(reach).bit_length(), np.int32),
        after=np.empty_like(space.cell),
        ahead=np.empty_like(space.cell),
        metric=np.array([int(step) * weight.numerator // weight.denominator for step in terrain.metric], np.int64),
        state=np.zeros(2, np.int64),
    )


@kernel(inline=True)
def insert(buckets, slot):
    """Put a slot into the bucket of its f."""
    bucket = buckets.space.f[slot] >> _SHIFT
    if bucket <= buckets.state[LOWEST]:
        push(buckets.lowest, slot)
        return
    place = bucket & (buckets.head.size - 1)
    first = buckets.head[place]
    buckets.after[slot] = first
    buckets.ahead[slot] = NONE
    if first != NONE:
        buckets.ahead[first] = slot
    buckets.head[place] = slot
    buckets.state[WAITING] += 1


@kernel(inline=True)
def take_out(buckets, slot):
    """Unlink a slot from a bucket above the lowest."""
    after, ahead = buckets.after[slot], buckets.ahead[slot]
    if after != NONE:
        buckets.ahead[after] = ahead
    if ahead != NONE:
        buckets.after[ahead] = after
    else:
        buckets.head[buckets.space.f[slot] >> _SHIFT & (buckets.head.size - 1)] = after
    buckets.state[WAITING] -= 1


@kernel
def refill(buckets):
    """Bring the next bucket that is not empty into order; False if all are empty."""
    state = buckets.state
    if state[WAITING] == 0:
        return False
    state[LOWEST] += 1
    while buckets.head[state[LOWEST] & (buckets.head.size - 1)] == NONE:
        state[LOWEST] += 1
    place = state[LOWEST] & (buckets.head.size - 1)
    slot = np.int64(buckets.head[place])
    buckets.head[place] = NONE
    while slot != NONE:
        push(buckets.lowest, slot)
        state[WAITING] -= 1
        slot = np.int64(buckets.after[slot])
    return True


@kernel
def begin_astar(terrain, buckets, s, t):
    """Start a new search from ``s`` to ``t``."""
    space, root = buckets.space, np.int64(0)
    base = forget(space)
    buckets.head[:] = NONE
    buckets.lowest.size[0] = 0
    discover(space, base, root, s, gap(terrain.xy, buckets.metric, s, t))
    reach(space, np.int64(NONE), 0, root, np.int64(0))
    space.state[SIZE] = 1
    buckets.state[LOWEST] = space.f[root] >> _SHIFT
    buckets.state[WAITING] = 0
    push(buckets.lowest, root)


@kernel
def resume_astar(terrain, trip, buckets, t, limit):
    """Expand at most ``limit`` states, as long as the meter allows.

    Returns:
        FOUND when the goal comes next (it stays the first of the open list), EXHAUSTED when nothing is left to expand,
        INTERRUPTED otherwise.
    """
    space, lowest = buckets.space, buckets.lowest
    base, size, closed = space.state[STAMP] << 32, space.state[SIZE], space.state[CLOSED]
    last = closed + limit
    end = EXHAUSTED
    while lowest.size[0] > 0 or refill(buckets):
        u = np.int64(lowest.item[0])
        cell = np.int64(space.cell[u])
        if cell == t:
            end = FOUND
            space.state[BEST] = u
            break
        if closed >= last or not charge(trip, cell):
            end = INTERRUPTED
            break
        pop(lowest)
        space.role[u] = SHUT
        closed += 1
        moves = terrain.mask[cell]
        for d in range(8):
            if moves >> d & 1:
                v = cell + terrain.offset[d]
                w = space.seat[v] - base
                g = space.g[u] + terrain.cost[d]
                if w < 0:
                    w = size
                    size += 1
                    discover(space, base, w, v, gap(terrain.xy, buckets.metric, v, t))
                    reach(space, u, d, w, g)
                    insert(buckets, w)
                elif g < space.g[w] and space.role[w] == OPEN:
                    if space.at[w] == NONE:
                        take_out(buckets, w)
                        reach(space, u, d, w, g)
                        insert(buckets, w)
                    else:
                        reach(space, u, d, w, g)
                        lower(lowest, w)
    space.state[SIZE] = size
    space.state[CLOSED] = closed
    return end


def shortest_cost(grid: Grid, start: Position, goal: Position) -> int:
    """Return the exact cost of a shortest path, INF where there is none."""
    buckets = make_buckets(grid.terrain)
    begin_astar(grid.terrain, buckets, grid.cell(start), grid.cell(goal))
    if resume_astar(grid.terrain, make_trip(0), buckets, grid.cell(goal), UNLIMITED) != FOUND:
        return INF
    return int(buckets.space.g[buckets.space.state[BEST]])
