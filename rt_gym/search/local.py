"""The two halves of the local-search-space family: a bounded A*, and learning from its frontier.

S. Koenig, X. Sun, "Comparing real-time and incremental heuristic search for real-time situated agents", Autonomous
Agents and Multi-Agent Systems 18(3), 2009 (LSS-LRTA*); the same two procedures serve RTAA* and their successors.

``h`` is any store of values that ``rt_gym.search.values`` can read. Only a table of many goals needs ``t``.
"""

from typing import NamedTuple

import numpy as np

from rt_gym.cost import INF
from rt_gym.intrinsics import lowest
from rt_gym.jit import kernel
from rt_gym.meter import charge, learn
from rt_gym.pages import is_large, reserve
from rt_gym.search.heap import Heap, heapify, lower, pop, push
from rt_gym.search.space import NONE, OPEN, Space, discover, forget, no_detour_pays, seat_of, set_parent, set_root
from rt_gym.search.values import raise_value, value_at

INTERIOR, FINAL = 1, 2  # the roles of closed states; the frontier is what is still open


class Local(NamedTuple):
    """A local search space: its states and its two queues, which share their arrays.

    Attributes:
        space: the states; ``role`` tells interior from frontier.
        open: A*'s open list: smaller f, larger g, first generated.
        learning: the queue of the learning phase: smaller value, first generated.
    """

    space: Space
    open: Heap
    learning: Heap

    @property
    def held(self) -> int:
        """How many bytes the queues take beside the states, whose lists they are."""
        return self.learning.tie.itemsize * self.space.most


def make_local(space: Space) -> Local:
    """Return the queues of a local search over ``space``."""
    slots, size = space.cell.size, np.zeros(1, np.int64)
    no_tie = reserve(slots, np.int64)[0] if is_large(slots) else np.zeros(slots, np.int64)
    return Local(
        space=space,
        open=Heap(space.item, space.at, space.f, space.minus_g, space.rank, size),
        learning=Heap(space.item, space.at, space.f, no_tie, space.rank, size),
    )


@kernel(inline=True)
def begin_search(terrain, local, s, value):
    """Start a new search with the root alone, in slot 0, and return its base (see ``forget``)."""
    space, root = local.space, np.int64(0)
    base = forget(space)
    local.open.size[0] = 0
    discover(space, base, root, s, value)
    set_root(space, root, np.int64(0))
    push(local.open, root)
    space.state[0].slots = 1
    space.state[0].skip = 255 if no_detour_pays(terrain.cost) else 0
    return base


@kernel(inline=True)
def expand(terrain, local, h, base, moves, size, closed, t=NONE):
    """Close the first of the open list, out of which ``moves`` lead, and return the new number of slots.

    The closed ones are listed from the far end of ``space.item``: the open list never grows that far.
    """
    space, open_list = local.space, local.open
    u = pop(open_list)
    cell = np.int64(space.cell[u])
    space.role[u] = INTERIOR
    space.item[space.item.size - 1 - closed] = u
    ahead = moves & ~(space.behind[u] & space.state[0].skip)
    while ahead != 0:
        d = lowest(ahead)
        ahead &= ahead - 1
        v = cell + terrain.offset[d]
        w = seat_of(space, base, v)
        g = space.g[u] + terrain.cost[d]
        if w < 0:
            w = size
            size += 1
            discover(space, base, w, v, value_at(h, terrain, v, t))
            set_parent(space, u, d, w, g, moves)
            push(open_list, w)
        elif g < space.g[w] and space.role[w] == OPEN:
            set_parent(space, u, d, w, g, moves)
            lower(open_list, w)
    return size


@kernel(inline=True)
def nth_closed(space, k):
    """Return the slot of the state that was the k-th to be closed, counted from 0."""
    return np.int64(space.item[space.item.size - 1 - k])


@kernel(inline=True)
def resume_search(terrain, trip, local, h, t, n):
    """Go on with the A* that was begun with this ``h`` until ``n`` more states are closed or the goal comes next.

    Stops earlier where the meter refuses an expansion or nothing is left to expand.

    Returns:
        The slot of the open list's first state, NONE if the list is empty.
    """
    space, open_list = local.space, local.open
    base, size, closed = space.state[0].stamp << 32, space.state[0].slots, space.state[0].closed
    last = closed + n
    best = np.int64(NONE)
    while open_list.size[0] > 0:
        u = np.int64(open_list.item[0])
        cell = np.int64(space.cell[u])
        if cell == t or closed == last or not charge(trip, cell):
            best = u
            break
        size = expand(terrain, local, h, base, np.int64(terrain.mask[cell]), size, closed, t)
        closed += 1
    space.state[0].slots = size
    space.state[0].closed = closed
    space.state[0].best = best
    return best


@kernel(inline=True)
def bounded_astar(terrain, trip, local, h, s, t, n):
    """A* from ``s`` with the learned ``h`` until ``n`` states are closed; otherwise as ``resume_search``."""
    begin_search(terrain, local, s, value_at(h, terrain, s, t))
    return resume_search(terrain, trip, local, h, t, n)


@kernel(inline=True)
def frontier_update(terrain, trip, local, h, t=NONE, w=1):
    """Raise h inside the local search space to what its frontier implies, by Dijkstra's algorithm from the frontier.

    ``space.f`` now holds the values found: the frontier keeps its h, the interior starts at infinity. The search is
    over as soon as every interior state is final. Steps cost ``w`` times as much as they do.
    """
    space, queue = local.space, local.learning
    base = space.state[0].stamp << 32
    for u in range(space.state[0].slots):
        space.f[u] = INF if space.role[u] == INTERIOR else space.h[u]
    heapify(queue)
    left = space.state[0].closed
    while left > 0 and queue.size[0] > 0:
        u = pop(queue)
        learn(trip)
        if space.role[u] == INTERIOR:
            space.role[u] = FINAL
            left -= 1
            raise_value(trip, h, terrain, np.int64(space.cell[u]), t, space.f[u])
        cell, value = np.int64(space.cell[u]), space.f[u]
        moves = terrain.mask[cell]
        for d in range(8):
            if moves >> d & 1:
                p = seat_of(space, base, cell + terrain.offset[d])
                if p >= 0 and space.role[p] == INTERIOR and value + w * terrain.cost[d] < space.f[p]:
                    space.f[p] = value + w * terrain.cost[d]
                    if space.at[p] == NONE:
                        push(queue, p)
                    else:
                        lower(queue, p)
    if left > 0:
        raise_unreached(terrain, trip, space, h, t)


@kernel
def raise_unreached(terrain, trip, space, h, t):
    """Raise the values of interior states that the frontier is too far from, or has none for, to infinity."""
    for u in range(space.state[0].slots):
        if space.role[u] == INTERIOR:
            raise_value(trip, h, terrain, np.int64(space.cell[u]), t, np.int64(INF))
