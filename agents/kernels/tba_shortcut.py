"""TBA*'s shortcut: a search for a cheaper way to the goal than stepping back to the solution.

Y. Björnsson, V. Bulitko, N. Sturtevant, "TBA*: Time-Bounded A*", IJCAI 2009, section 3.4, which has no numbered lines.

The search begins on the solution, between the goal and where the way back meets it, with the costs to the goal, and
ends at the agent.
"""

from typing import NamedTuple

import numpy as np

from agents.kernels.tba_paths import clear, place_of, put
from rt_gym.jit import kernel
from rt_gym.meter import charge
from rt_gym.search.astar import CLOSED
from rt_gym.search.heap import Heap, lower, pop, push
from rt_gym.search.space import NONE, OPEN, Space, discover, forget, make_space, seat_of, set_parent, set_root, slot_of
from rt_gym.terrain import h0


class Shortcut(NamedTuple):
    """The states of the search and its open list."""

    space: Space
    queue: Heap


def make_shortcut(cells: int) -> Shortcut:
    """Return the memory of a search on a map with this many cells."""
    space = make_space(cells)
    return Shortcut(space, Heap(space.item, space.at, space.f, space.minus_g, space.rank, np.zeros(1, np.int64)))


@kernel
def seek(terrain, trip, shortcut, loc, slots, most):
    """A* from the first ``slots`` states to ``loc``, of at most ``most`` expansions; return its slot, NONE without."""
    space, queue = shortcut.space, shortcut.queue
    base = space.state[0].stamp << 32
    for _ in range(most):
        u = np.int64(queue.item[0])
        cell = np.int64(space.cell[u])
        if cell == loc or not charge(trip, cell):
            break
        pop(queue)
        space.role[u] = CLOSED
        moves = np.int64(terrain.mask[cell])
        for d in range(8):
            if moves >> d & 1:
                v, g = cell + terrain.offset[d], space.g[u] + terrain.cost[d]
                w = seat_of(space, base, v)
                if w < 0:
                    w = slots
                    slots += 1
                    discover(space, base, w, v, h0(terrain, v, loc))
                    set_parent(space, u, d, w, g, moves)
                    push(queue, w)
                elif g < space.g[w] and space.role[w] == OPEN:
                    set_parent(space, u, d, w, g, moves)
                    lower(queue, w)
    u = np.int64(queue.item[0])
    return u if space.cell[u] == loc else np.int64(NONE)


@kernel
def begin_on_solution(terrain, shortcut, tree, paths, follow, loc, cost, meet):
    """Let the search begin with the places 0 to ``meet`` of the solution, which costs ``cost`` from start to goal."""
    space = shortcut.space
    base = forget(space)
    shortcut.queue.size[0] = 0
    for k in range(meet + 1):
        cell = np.int64(paths.cell[follow, k])
        discover(space, base, k, cell, h0(terrain, cell, loc))
        set_root(space, np.int64(k), cost - tree.node[slot_of(tree, cell)].g)
        push(shortcut.queue, k)


@kernel
def write_joined(space, paths, follow, v):
    """Write the way found, from slot ``v`` to the solution and along it to the goal, into the other path."""
    new, length, w = 1 - follow, np.int64(0), v
    while space.parent[w] != NONE:
        w = np.int64(space.parent[w])
        length += 1
    clear(paths, new)
    for k in range(w):
        put(paths, new, k, np.int64(paths.cell[follow, k]))
    for k in range(w + length, w - 1, -1):
        put(paths, new, k, np.int64(space.cell[v]))
        v = np.int64(space.parent[v])
    paths.info[new].count = w + length + 1
    paths.info[new].front = w + length


@kernel
def take_shortcut(terrain, trip, memory, loc):
    """Follow a way to the goal that is cheaper than stepping back to the solution, if one is found."""
    tree, shortcut, paths, state = memory.space, memory.shortcut, memory.paths, memory.state[0]
    here = slot_of(tree, loc)
    u = here
    while place_of(paths, state.follow, np.int64(tree.node[u].cell)) < 0:
        u = np.int64(tree.node[u].parent)
        trip.meter[0].trace_steps += 1
    cost = tree.node[slot_of(tree, np.int64(paths.cell[state.follow, 0]))].g
    meet = place_of(paths, state.follow, np.int64(tree.node[u].cell))
    begin_on_solution(terrain, shortcut, tree, paths, state.follow, loc, cost, meet)
    v = seek(terrain, trip, shortcut, loc, meet + 1, memory.limits.all - trip.meter[0].expansions)
    if v != NONE and shortcut.space.g[v] < tree.node[here].g + cost - 2 * tree.node[u].g:
        write_joined(shortcut.space, paths, state.follow, v)
        state.follow = 1 - state.follow
