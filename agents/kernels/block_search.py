"""A lookahead of the building blocks: a bounded A* over what is left of the map, what is learned of it and deleted.

``memory`` is that of ``agents.building_block_lrta``.
"""

import numpy as np

from agents.kernels.blocks import CAP, can_pay, delete_if_joined, left, weighted
from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.meter import charge, scan
from rt_gym.search.border import least_raised
from rt_gym.search.local import begin_search, expand, frontier_update, nth_closed
from rt_gym.search.space import NONE
from rt_gym.search.tree import trace
from rt_gym.search.values import raise_value, value_at
from rt_gym.terrain import Terrain
from rt_gym.trip import CUT, NO_PATH

ON_PATH = 3  # the role of states that the agent is going to stand on


@kernel(inline=True)
def search_left(terrain, trip, memory, s, t):
    """Do what ``rt_gym.search.local.bounded_astar`` does, over the states that are not deleted."""
    local, h = memory.local, memory.h
    space, open_list = local.space, local.open
    base = begin_search(terrain, local, s, value_at(h, terrain, s, t))
    size, closed, best = np.int64(1), np.int64(0), np.int64(NONE)
    while open_list.size[0] > 0:
        u = np.int64(open_list.item[0])
        cell = np.int64(space.cell[u])
        if cell == t or closed == memory.lookahead or not charge(trip, cell):
            best = u
            break
        moves = np.int64(terrain.mask[cell])
        if closed == 0:
            memory.state[0].moves = moves
        size = expand(terrain, local, h, base, left(terrain, memory, cell, moves), size, closed, t)
        closed += 1
    space.state[0].slots = size
    space.state[0].closed = closed
    space.state[0].best = best
    return best


@kernel(inline=True)
def learn_from_frontier(terrain, trip, memory, best, t):
    """Learn with weighted costs, with plain ones where a value could pass CAP."""
    longest = memory.space.state[0].closed + 1
    fits = (CAP - memory.space.h[best]) // longest >= max(memory.price[0], memory.price[4])
    price = memory.price if fits else terrain.cost
    dear = Terrain(
        terrain.mask, terrain.free, terrain.known, terrain.xy, terrain.offset, price, terrain.metric, terrain.rule
    )
    frontier_update(dear, trip, memory.local, memory.h, t)


@kernel(inline=True)
def learn_from_best(terrain, trip, memory, best, t):
    """Learn from the best state of the open list, at a weighted distance, at the plain one where it could pass CAP."""
    space = memory.space
    for k in range(space.state[0].closed):
        u = nth_closed(space, k)
        ahead = space.g[best] - space.g[u]
        dear = weighted(memory, ahead) if ahead > 0 else ahead
        if dear > CAP - space.h[best]:
            dear = ahead
        raise_value(trip, memory.h, terrain, np.int64(space.cell[u]), t, min(space.h[best] + dear, np.int64(INF)))


@kernel
def delete_closed(terrain, trip, memory, target, t):
    """Delete what is expendable of the closed states whose value rose and which are not on the path to ``target``.

    The root comes first. What was read when it was expanded still holds; the others have to be read again.
    """
    space = memory.space
    u = target
    while space.parent[u] != NONE:
        space.role[u] = ON_PATH
        u = np.int64(space.parent[u])
    for k in range(space.state[0].closed):
        u = nth_closed(space, k)
        cell = np.int64(space.cell[u])
        rose = value_at(memory.h, terrain, cell, t) > space.h[u]
        if not rose or space.role[u] == ON_PATH or not can_pay(terrain, trip, min(k, 1)):
            continue
        moves = memory.state[0].moves
        if k > 0:
            scan(trip)
            moves = np.int64(terrain.mask[cell])
        delete_if_joined(terrain, trip, memory, cell, moves)


@kernel(inline=True)
def search(terrain, trip, memory, s, t):
    """Search, learn, delete, and commit to the path to the border of the depression, or to the best state."""
    best = search_left(terrain, trip, memory, s, t)
    if best == NONE or memory.space.f[best] >= INF:
        return np.int64(NO_PATH)
    if memory.space.state[0].closed == 0:
        return np.int64(CUT)
    target = least_raised(terrain, memory.local, t) if memory.da != 0 else best
    if memory.adapts != 0:
        learn_from_best(terrain, trip, memory, best, t)
    else:
        learn_from_frontier(terrain, trip, memory, best, t)
    if memory.expendable != 0:
        delete_closed(terrain, trip, memory, target, t)
    return min(trace(memory.space, target, trip.plan), memory.commit)
