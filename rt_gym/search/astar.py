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

from rt_gym.cost import INF, TOO_LONG
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.intrinsics import lowest as lowest_bit
from rt_gym.jit import kernel, record
from rt_gym.meter import UNLIMITED, charge
from rt_gym.pages import arrays_for
from rt_gym.search.heap import Heap, lower, pop, push
from rt_gym.search.space import NONE, OPEN, Space, discover, forget, make_space, seat_of, set_parent, set_root
from rt_gym.terrain import METRIC, Position, Terrain, gap
from rt_gym.trip import make_trip

FOUND, EXHAUSTED, INTERRUPTED = range(3)

CLOSED = 1  # the role of a closed state
_FEW = 1 << 20  # expansions that take less time and memory than the components of a large map
_SHIFT = 36  # of f, which is exact to 2**-40 of a step

# The lowest bucket (absolute) and how many slots wait in higher ones.
RING = record(lowest=int, waiting=int)


class Buckets(NamedTuple):
    """The open list above its lowest bucket, and the arrays of a search.

    Attributes:
        space: the states; ``role`` is OPEN or CLOSED.
        lowest: the lowest bucket as a heap.
        head: int32, first slot of every bucket, NONE if empty; a power of two in size.
        after, ahead: int32, the next and the previous slot in the same bucket.
        metric: METRIC[1], what the heuristic charges per step.
        state: RING[1].
    """

    space: Space
    lowest: Heap
    head: NDArray[np.int32]
    after: NDArray[np.int32]
    ahead: NDArray[np.int32]
    metric: NDArray[np.record]
    state: NDArray[np.record]

    @property
    def held(self) -> int:
        """How many bytes the states of the largest search take, their links and the heads of the lists."""
        return self.space.held + (self.after.itemsize + self.ahead.itemsize) * self.space.most + self.head.nbytes


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
    space, (after, ahead) = make_space(cells), arrays_for(cells, cells, np.int32, np.int32)
    reach = (1 + weight) * int(terrain.cost.max()) / (1 << _SHIFT) + 2
    return Buckets(
        space=space,
        lowest=Heap(space.item, space.at, space.f, space.minus_g, space.rank, np.zeros(1, np.int64)),
        head=np.empty(1 << int(reach).bit_length(), np.int32),
        after=after,
        ahead=ahead,
        metric=np.array(
            [tuple(int(step) * weight.numerator // weight.denominator for step in terrain.metric[0])], METRIC
        ),
        state=np.zeros(1, RING),
    )


def _check_weight(terrain: Terrain, weight: Fraction) -> None:
    """Refuse a weight with which g, along the longest path, and h from corner to corner could overflow."""
    cells, step = terrain.mask.size, int(terrain.cost.max())
    room = (1 << 63) - 1 - min(cells * step, INF + step)
    most = Fraction(room, int(gap(terrain, terrain.metric, 0, cells - 1)))
    if weight > most:
        raise InputError(f"weight must be at most {int(most)} on a map of this size, not {float(weight):g}")


@kernel(inline=True)
def insert(buckets, slot):
    """Put a slot into the bucket of its f."""
    bucket = buckets.space.f[slot] >> _SHIFT
    if bucket <= buckets.state[0].lowest:
        push(buckets.lowest, slot)
        return
    place = bucket & (buckets.head.size - 1)
    first = buckets.head[place]
    buckets.after[slot] = first
    buckets.ahead[slot] = NONE
    if first != NONE:
        buckets.ahead[first] = slot
    buckets.head[place] = slot
    buckets.state[0].waiting += 1


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
        push(buckets.lowest, slot)
        state.waiting -= 1
        slot = np.int64(buckets.after[slot])
    return True


@kernel
def begin_astar(terrain, buckets, s, t):
    """Start a new search from ``s`` to ``t``."""
    space, root = buckets.space, np.int64(0)
    base = forget(space)
    buckets.head[:] = NONE
    buckets.lowest.size[0] = 0
    discover(space, base, root, s, gap(terrain, buckets.metric, s, t))
    set_root(space, root, np.int64(0))
    space.state[0].slots = 1
    buckets.state[0].lowest = space.f[root] >> _SHIFT
    buckets.state[0].waiting = 0
    push(buckets.lowest, root)


@kernel
def resume_astar(terrain, trip, buckets, t, limit):
    """Expand at most ``limit`` states, as long as the meter allows.

    Returns:
        FOUND when the goal comes next (it stays the first of the open list), EXHAUSTED when nothing is left to expand,
        or nothing but what is too far away for an exact cost (see ``too_long``), INTERRUPTED otherwise.
    """
    space, lowest = buckets.space, buckets.lowest
    base, size, closed = space.state[0].stamp << 32, space.state[0].slots, space.state[0].closed
    last = closed + limit
    end = EXHAUSTED
    while lowest.size[0] > 0 or refill(buckets):
        u = np.int64(lowest.item[0])
        if space.g[u] >= INF:
            break
        cell = np.int64(space.cell[u])
        if cell == t:
            end = FOUND
            space.state[0].best = u
            break
        if closed >= last or not charge(trip, cell):
            end = INTERRUPTED
            break
        pop(lowest)
        space.role[u] = CLOSED
        closed += 1
        moves = np.int64(terrain.mask[cell])
        ahead = moves & ~np.int64(space.behind[u])
        while ahead != 0:
            d = lowest_bit(ahead)
            ahead &= ahead - 1
            v = cell + terrain.offset[d]
            w = seat_of(space, base, v)
            g = space.g[u] + terrain.cost[d]
            if w < 0:
                w = size
                size += 1
                discover(space, base, w, v, gap(terrain, buckets.metric, v, t))
                set_parent(space, u, d, w, g, moves)
                insert(buckets, w)
            elif g < space.g[w] and space.role[w] == OPEN:
                if space.at[w] == NONE:
                    take_out(buckets, w)
                    set_parent(space, u, d, w, g, moves)
                    insert(buckets, w)
                else:
                    set_parent(space, u, d, w, g, moves)
                    lower(lowest, w)
    space.state[0].slots = size
    space.state[0].closed = closed
    return end


def too_long(buckets: Buckets) -> bool:
    """Whether a search that is EXHAUSTED has left open what is too far away; a path to there may still exist."""
    return int(buckets.lowest.size[0]) > 0


def search_path(grid: Grid, start: Position, goal: Position, limit: int = UNLIMITED) -> tuple[int, Buckets]:
    """Search for a shortest path with at most ``limit`` expansions; return the end of the search, and its memory."""
    buckets = make_buckets(grid.terrain)
    begin_astar(grid.terrain, buckets, grid.cell(start), grid.cell(goal))
    return int(resume_astar(grid.terrain, make_trip(0), buckets, grid.cell(goal), limit)), buckets


def shortest_cost(grid: Grid, start: Position, goal: Position) -> int:
    """Return the exact cost of a shortest path, INF where there is none.

    Raises:
        InputError: if all paths are too long for an exact cost.
    """
    end, buckets = search_path(grid, start, goal)
    if end == FOUND:
        return int(buckets.space.g[buckets.space.state[0].best])
    if too_long(buckets):
        raise InputError(f"a shortest path from {start} to {goal} takes {TOO_LONG}")
    return INF


def connected(grid: Grid, start: Position, goal: Position) -> bool:
    """Whether there is a path, of any length.

    On a large map the components of all cells are only numbered if a search for the path takes too long.
    """
    if grid.terrain.xy is None and not grid.is_labelled:
        end, buckets = search_path(grid, start, goal, _FEW)
        if end == FOUND or (end == EXHAUSTED and not too_long(buckets)):
            return end == FOUND
    return bool(grid.labels[grid.cell(start)] == grid.labels[grid.cell(goal)])
