"""Thinking in slices of time: an A* that goes on while the agent stands, and the commitment that ends it.

Thinking is A* from where the agent stands, with the learned values, some expansions at a time. Acting commits to its
path to the best open state. That is LSS-LRTA* (S. Koenig, X. Sun, "Comparing real-time and incremental heuristic search
for real-time situated agents", AAMAS 18(3), 2009), whose lookahead is how long somebody chose to think: the values of
what was expanded rise to what the frontier implies, then the search is forgotten. Thinking until the goal is found
makes it A* in slices, and on a known map the walk that follows is a shortest path.

A search whose expanded cells, or those beside them, change in the believed map is void. In fog that takes scheduled
changes: standing still, the agent sees nothing new. When a cell opens, a committed path that leads to the goal may no
longer be the shortest: it is kept, and there is something to think about again.

``memory`` is a NamedTuple with the learned values ``h``; ``space``, ``no_tie`` and ``size``, the search; and ``state``,
PROGRESS[1]. The committed path is the plan of the trip.
"""

import numpy as np

from rt_gym.jit import kernel, record
from rt_gym.search.heap import Heap
from rt_gym.search.local import Local, begin_search, frontier_update, resume_search
from rt_gym.search.space import NONE
from rt_gym.search.tree import outdated, trace
from rt_gym.search.values import value_at

ACT, THINK = range(2)

# Whether a search is open, whether the goal has been found, the slices of the search and of the episode, best f before
# the last slice, for how many closed states the first step is known, and how many moves there were before the episode.
PROGRESS = record(searching=int, found=int, slices=int, thought=int, best_before=int, traced=int, began=int)


@kernel(inline=True)
def local_of(memory):
    """Return the search as ``rt_gym.search.local`` takes it."""
    space = memory.space
    return Local(
        space,
        Heap(space.item, space.at, space.f, space.minus_g, space.rank, memory.size),
        Heap(space.item, space.at, space.f, memory.no_tie, space.rank, memory.size),
    )


@kernel(inline=True)
def begin_slices(memory, moves):
    """Begin an episode after so many moves of the trip: nothing is known of the way."""
    state = memory.state[0]
    state.searching = state.found = state.slices = state.thought = state.best_before = state.traced = 0
    state.began = moves


@kernel(inline=True)
def may_act(trip, memory):
    """Whether there is a way to go: a search has begun to expand, or committed moves are left."""
    searched = memory.state[0].searching != 0 and memory.space.state[0].closed > 0
    return searched or trip.state[0].next < trip.state[0].planned


@kernel(inline=True)
def may_think(memory):
    """Whether there is anything left to think about."""
    return memory.state[0].found == 0


@kernel
def think(terrain, trip, memory, s, t, most):
    """Begin a search if none is open, and expand up to ``most`` states.

    Returns:
        The slot of the best open state, NONE where no state is left.
    """
    local, state = local_of(memory), memory.state[0]
    space = local.space
    if state.searching == 0:
        begin_search(terrain, local, s, value_at(memory.h, terrain, s, t))
        space.state[0].best = 0
        state.searching = 1
        state.slices = state.traced = 0
        trip.state[0].next = trip.state[0].planned = 0
    state.best_before = space.f[space.state[0].best]
    best = resume_search(terrain, trip, local, memory.h, t, most)
    state.slices += 1
    state.thought += 1
    if best == NONE:
        state.searching = 0
    else:
        state.found = np.int64(space.cell[best] == t)
    return best


@kernel
def commit(terrain, trip, memory, t, learns):
    """End the open search: learn from it, write its path as the plan and return how many moves it has."""
    local = local_of(memory)
    if learns:
        frontier_update(terrain, trip, local, memory.h, t)
    memory.state[0].searching = 0
    return trace(local.space, local.space.state[0].best, trip.plan)


@kernel
def drop_outdated(terrain, trip, memory, legal):
    """Give up a search that the listed changes in the believed map have made void, or a path that is not ``legal``."""
    place, state = trip.state[0], memory.state[0]
    if state.searching != 0:
        if outdated(terrain, trip, memory.space):
            state.searching = state.found = 0
    elif not legal:
        place.next = place.planned = state.found = 0
    else:
        for k in range(place.changed):
            if terrain.free[trip.changed[k]] != 0:
                state.found = 0
