"""The d-ply lookahead of General LRTA*, with path-max, and the step built on it.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007, Figure 1, whose line numbers stand in braces below.

Readings of the figure:
- The ball is explored breadth-first in actions; states ``depth`` actions away and the goal are leaves, never expanded.
  A goal nearer than ``depth`` counts as a frontier state, or the agent would walk past it.
- g is the cheapest cost inside the ball, which need not be the cost of the path with the fewest actions. The
  breadth-first pass is exact until it improves a state that it has already expanded; only then are states read again.
- The parent of a state is, among the cheapest, the one generated first; that fixes both the path taken and path-max.
- Path-max: a state's value is at least its parent's. Only the current state's value is learned, so h becomes
  inconsistent beyond depth one, and without path-max the agent may cycle for good.
- Ties of the value: larger g, then first generated.
- What a state's parent reaches itself, at no more cost, has been generated and gets no cheaper: it is not looked at
  again. On open ground that leaves three to five neighbours of eight, and changes nothing else.
"""

from math import isqrt

import numpy as np

from rt_gym.cost import INF
from rt_gym.intrinsics import lowest
from rt_gym.jit import kernel
from rt_gym.meter import charge, scan
from rt_gym.search.space import BEHIND, NONE, draw, forget, give_slot, no_detour_pays, seat_of
from rt_gym.search.values import raise_value, values_at
from rt_gym.trip import CUT, NO_PATH

NOT_QUEUED, QUEUED = 0, 1  # roles: whether a state is on the list of those to read again


@kernel(inline=True)
def set_path(space, u, d, w, g, via, moves):
    """Store that the cheapest path to slot ``w`` comes from ``u`` in direction ``d`` at cost ``g``.

    ``via`` is the first step to ``u``, and ``moves`` are the moves out of it.
    """
    space.g[w] = g
    space.parent[w] = u
    space.via[w] = d if u == 0 else via
    space.behind[w] = BEHIND[d, moves]


@kernel(inline=True)
def valued(space, w, u):
    """Return the value of ``w`` by path-max, reached from ``u``."""
    return max(space.g[w] + space.h[w], space.f[u])


@kernel(inline=True)
def begin_lookahead(space, s):
    """Start a new lookahead with the root alone, in slot 0, and return its base (see ``forget``)."""
    base = forget(space)
    give_slot(space, base, np.int64(0), s)
    space.g[0] = 0
    space.f[0] = 0
    space.parent[0] = NONE
    space.role[0] = NOT_QUEUED
    space.behind[0] = 0
    return base


@kernel(inline=True)
def expand_layer(terrain, trip, cost, space, base, h, t, begin, end, queued):
    """{4}, one layer: expand the states from slot ``begin`` up to ``end``, the last layer, but for the goal.

    ``cost`` is what the steps are priced at. The first ``queued`` entries of ``space.item`` are states that have become
    cheaper after they were expanded; more may join them. Values are read together when the layer is complete, so that
    their cache misses overlap.

    Returns:
        The new number of slots, CUT where the meter refuses, and the new number of queued states.
    """
    size = end
    skipped = 255 if no_detour_pays(cost) else 0
    for u in range(begin, end):
        cell = np.int64(space.cell[u])
        if cell == t:
            continue
        if not charge(trip, cell):
            return np.int64(CUT), queued
        moves, cost_u, via = np.int64(terrain.mask[cell]), space.g[u], space.via[u]
        ahead = moves & ~(space.behind[u] & skipped)
        while ahead != 0:
            d = lowest(ahead)
            ahead &= ahead - 1
            v = cell + terrain.offset[d]
            w = seat_of(space, base, v)
            g = cost_u + cost[d]
            if w < 0:
                w = size
                size += 1
                give_slot(space, base, w, v)
                space.role[w] = NOT_QUEUED
                set_path(space, u, d, w, g, via, moves)
            elif g < space.g[w]:
                set_path(space, u, d, w, g, via, moves)
                if w < end:
                    space.f[w] = valued(space, w, u)
                if w < u and v != t and space.role[w] == NOT_QUEUED:
                    space.role[w] = QUEUED
                    space.item[queued] = w
                    queued += 1
    values_at(h, terrain, space.cell, end, size, t, space.h)
    for w in range(end, size):
        space.f[w] = valued(space, w, np.int64(space.parent[w]))
    return size, queued


@kernel
def propagate_costs(terrain, trip, cost, space, base, t, inside, queued):
    """Propagate lower costs of states that had already been expanded, until nothing changes.

    Slots below ``inside`` have been expanded, but for the goal. The first ``queued`` entries of ``space.item`` are
    the states to read again. The list is a ring: every state is in it at most once.
    """
    head, tail = np.int64(0), np.int64(queued)
    ring = space.item.size
    while head < tail:
        u = np.int64(space.item[head % ring])
        head += 1
        space.role[u] = NOT_QUEUED
        scan(trip)
        moves = terrain.mask[space.cell[u]]
        for d in range(8):
            if moves >> d & 1:
                w = seat_of(space, base, space.cell[u] + terrain.offset[d])
                g = space.g[u] + cost[d]
                parent = np.int64(space.parent[w])
                if g < space.g[w] or (g == space.g[w] and u <= parent):
                    f, via = space.f[w], space.via[w]
                    cheaper = g < space.g[w]
                    set_path(space, u, d, w, g, space.via[u], np.int64(moves))
                    space.f[w] = valued(space, w, u)
                    news = cheaper or u != parent or f != space.f[w] or via != space.via[w]
                    if news and w < inside and space.cell[w] != t and space.role[w] == NOT_QUEUED:
                        space.role[w] = QUEUED
                        space.item[tail % ring] = w
                        tail += 1


@kernel
def look_ahead(terrain, trip, space, h, s, t, depth):
    """{4}-{5}: search ``depth`` actions deep from ``s``; return the slot of the best frontier state, NONE or CUT.

    Fills ``space`` with the ball: ``f`` holds the values, ``via`` the first move towards each state. Slots from the
    number of closed states on are the last layer.
    """
    base = begin_lookahead(space, s)
    begin, end, queued = np.int64(0), np.int64(1), np.int64(0)
    for _ in range(depth):
        size, queued = expand_layer(terrain, trip, terrain.cost, space, base, h, t, begin, end, queued)
        if size == CUT:
            return np.int64(CUT)
        begin, end = end, size
    space.state[0].slots = end
    space.state[0].closed = begin
    if queued > 0:
        propagate_costs(terrain, trip, terrain.cost, space, base, t, begin, queued)
    goal = seat_of(space, base, t)
    space.state[0].best = best_frontier(space, goal if 0 <= goal < begin else np.int64(NONE), begin, end)
    return space.state[0].best


@kernel(inline=True)
def best_frontier(space, goal, begin, end):
    """{5}: return the slot with the smallest value among the last layer and the goal, larger g on ties."""
    best = goal
    ties = np.int64(1)
    for u in range(begin, end):
        if best == NONE or space.f[u] < space.f[best] or (space.f[u] == space.f[best] and space.g[u] > space.g[best]):
            best = np.int64(u)
            ties = np.int64(1)
        elif space.random[0] != 0 and space.f[u] == space.f[best] and space.g[u] == space.g[best]:
            ties += 1
            if draw(space.random) % ties == 0:
                best = np.int64(u)
    return best


@kernel
def general_lrta(terrain, trip, space, h, s, t, depth):
    """{4}-{7}, one step towards ``t``: look ahead, learn, commit to one move.

    The trial loop is {1}-{2} and {8}; the caller has selected the depth and the goal, {3}.

    Returns:
        What a plan returns: 1, CUT, or NO_PATH when the whole component was searched without finding ``t`` or a value
        is beyond the cost of every path.
    """
    best = look_ahead(terrain, trip, space, h, s, t, depth)  # {4}-{5}
    if best == CUT:
        return np.int64(CUT)
    if best == NONE or space.f[best] >= INF:
        return np.int64(NO_PATH)
    raise_value(trip, h, terrain, s, t, space.f[best])  # {6}
    trip.plan[0] = space.via[best]  # {7}
    return np.int64(1)


def largest_depth(limit: int, count: str, reserve: int = 2) -> int:
    """Return the largest depth of a lookahead whose bound of (2 depth - 1)**2 expansions fits.

    Of scans, the room is divided by ``reserve``: the rest is kept for states that are read again.
    """
    room = limit if count == "expansions" else max(1, limit // reserve)
    return (1 + isqrt(room)) // 2
