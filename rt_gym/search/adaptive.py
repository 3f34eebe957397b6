"""A* with learned values, which can be interrupted after any expansion, and what is learned from it.

S. Koenig, M. Likhachev, "Adaptive A*", AAMAS 2005. The search is that of ``rt_gym.search.astar``, a kernel of its own
so that A* with the given heuristic need not ask for values.

What is learned stays consistent while cells only close. A cell that opens may leave values that differ by more than a
step costs. A state is then taken to be no farther from the goal than its parent and the step between them: the ring of
buckets is as long as that.
"""

import numpy as np

from rt_gym.cost import INF
from rt_gym.intrinsics import lowest
from rt_gym.jit import kernel
from rt_gym.meter import charge
from rt_gym.search.astar import CLOSED, EXHAUSTED, FOUND, INTERRUPTED
from rt_gym.search.buckets import any_left, clear, first_slot, insert, pop, push, take_out
from rt_gym.search.nodes import begin_path, extend_path, open_node
from rt_gym.search.space import OPEN, forget, no_detour_pays, seat_of
from rt_gym.search.values import raise_value, value_at


@kernel
def begin_adaptive(terrain, buckets, h, s, t):
    """Start a new search from ``s`` to ``t``."""
    space, root = buckets.space, np.int64(0)
    base = forget(space)
    open_node(space, base, root, s, value_at(h, terrain, s, t))
    begin_path(space, root)
    space.state[0].slots = 1
    clear(buckets, space.node[root].f)
    push(buckets, root)


@kernel(inline=True)
def expand_first(terrain, buckets, h, base, size, t):
    """Close the first state of the open list, and return the number of slots after its neighbours were opened."""
    space, skip = buckets.space, 255 if no_detour_pays(terrain.cost) else 0
    u = first_slot(buckets)
    here = space.node[u]
    cell = np.int64(here.cell)
    pop(buckets)
    here.role = CLOSED
    moves = np.int64(terrain.mask[cell])
    ahead = moves & ~(here.behind & skip)
    while ahead != 0:
        d = lowest(ahead)
        ahead &= ahead - 1
        v = cell + terrain.offset[d]
        w = seat_of(space, base, v)
        g = here.g + terrain.cost[d]
        if w < 0:
            w = size
            size += 1
            open_node(space, base, w, v, min(value_at(h, terrain, v, t), here.h + terrain.cost[d]))
            extend_path(space, u, d, w, g, moves)
            insert(buckets, w)
        elif g < space.node[w].g and space.node[w].role == OPEN:
            take_out(buckets, w)
            extend_path(space, u, d, w, g, moves)
            insert(buckets, w)
    return size


@kernel
def resume_adaptive(terrain, trip, buckets, h, t, limit):
    """Expand at most ``limit`` states, as long as the meter allows; return what ``resume_astar`` does."""
    space = buckets.space
    base, size, closed = space.state[0].stamp << 32, space.state[0].slots, space.state[0].closed
    last, end = closed + limit, EXHAUSTED
    while any_left(buckets):
        u = first_slot(buckets)
        here = space.node[u]
        if here.g >= INF:
            break
        cell = np.int64(here.cell)
        if cell == t:
            end = FOUND
            space.state[0].best = u
            break
        if closed >= last or not charge(trip, cell):
            end = INTERRUPTED
            break
        size = expand_first(terrain, buckets, h, base, size, t)
        closed += 1
    space.state[0].slots = size
    space.state[0].closed = closed
    return end


@kernel
def learn_from_search(terrain, trip, buckets, h, t):
    """Raise h(u) to f(first of the open list) - g(u) for every closed state u; nothing if the list is empty."""
    if not any_left(buckets):
        return
    raise_closed(terrain, trip, buckets.space, h, buckets.space.node[first_slot(buckets)].f, t)


@kernel
def raise_closed(terrain, trip, space, h, f, t):
    """Raise h(u) to f - g(u) for every closed state u."""
    for u in range(space.state[0].slots):
        node = space.node[u]
        if node.role == CLOSED:
            raise_value(trip, h, terrain, np.int64(node.cell), t, min(f - node.g, np.int64(INF)))
