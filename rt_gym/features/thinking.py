"""What a policy that thinks or acts sees: the history features, and the state of the search.

Costs and values are in steps. Where no search is open the features of the search are 0. What takes more than constant
time is one pass over the open list after a slice, and one over the path.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF, STRAIGHT
from rt_gym.features.history import FEATURES, Track, make_track, write_history
from rt_gym.jit import kernel, write_fields
from rt_gym.pages import is_large, reserve
from rt_gym.search.local import nth_closed
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.slices import PROGRESS
from rt_gym.search.space import NONE, Space, make_space
from rt_gym.search.values import value_at
from rt_gym.terrain import h0


class Search(NamedTuple):
    """An open search; all 0 where there is none."""

    slices: int  # slices of the search so far
    expansions: int  # states expanded in it
    open: int  # states on its open list
    best_f: float  # f of the first of them
    best_g: float  # the cost of getting there
    best_h: float  # its value
    rise: float  # by how much best_f is above the value of where the agent stands
    gain: float  # how much of that the last slice added
    gap: float  # by how much the best f behind any other first step is above best_f; 0 if there is none
    rivals: int  # how many other first steps lead to the open list


class Way(NamedTuple):
    """The path ahead, and the trip so far."""

    found: int  # 1 if the search, or the committed path, has reached the goal
    committed: int  # moves left of the committed path
    path: int  # moves to the first of the open list; without a search, of the committed path
    seen: int  # how many of them come before the first cell that has not been seen
    surplus: float  # how far the value of where the agent stands is above the heuristic
    time: int  # moves so far, slices included
    thought: int  # slices so far, of all searches


THOUGHTS = (*FEATURES, *Search._fields, *Way._fields)
_SEARCH, _WAY = THOUGHTS.index("slices"), THOUGHTS.index("found")

# The named parts of an observation and the feature with which each begins.
GROUPS = {"history": FEATURES[0], "search": "slices", "path": "committed", "trail": "surplus"}


class ThinkMemory(NamedTuple):
    """What an episode knows beside its map.

    Attributes:
        h: int64, the learned value of every cell; an agent on a large map has pages.
        space: the states of the search.
        no_tie: int64, zeros: values are learned without a second key.
        size: int64[1], how many states are open.
        first: uint8, the first step on the way to a closed state.
        least_f: int64[8], the least f on the open list by first step, while steps are compared.
        track: the last steps.
        state: PROGRESS[1].
    """

    h: NDArray[np.int64] | PagedValues
    space: Space
    no_tie: NDArray[np.int64]
    size: NDArray[np.int64]
    first: NDArray[np.uint8]
    least_f: NDArray[np.int64]
    track: Track
    state: NDArray[np.record]


def make_think_memory(cells: int, history: int, rows: tuple[int, ...] = ()) -> ThinkMemory:
    """Return the arrays of an episode, or ``rows`` of it for a batch. Pages that are never touched cost nothing.

    Args:
        cells: size of the largest flat, bordered map.
        history: how many steps the history features look back.
        rows: how many episodes, as the first axes of every array.
    """
    seldom = not rows and is_large(cells)
    kinds = (np.int64, np.uint8)
    no_tie, first = reserve(cells, *kinds) if seldom else [np.zeros((*rows, cells), kind) for kind in kinds]
    return ThinkMemory(
        h=np.empty((*rows, cells), np.int64),
        space=make_space(cells, rows=rows),
        no_tie=no_tie,
        size=np.zeros((*rows, 1), np.int64),
        first=first,
        least_f=np.empty((*rows, 8), np.int64),
        track=make_track(history, rows),
        state=np.zeros((*rows, 1), PROGRESS),
    )


@kernel(inline=True)
def first_step(space, first, u):
    """Return the first step on the way from the root to ``u``; that of its parent must be known."""
    parent = np.int64(space.parent[u])
    return np.int64(space.via[u] if parent == 0 else first[parent])


@kernel
def compare_steps(memory):
    """Return the best f behind any other first step than that to the best state, INF if none, and how many there are.

    A state is closed after its parent, so in the order of closing every first step follows from an earlier one.
    """
    space, first, least_f, state = memory.space, memory.first, memory.least_f, memory.state[0]
    for k in range(max(state.traced, 1), space.state[0].closed):  # the first to be closed is the root
        u = nth_closed(space, k)
        first[u] = first_step(space, first, u)
    state.traced = space.state[0].closed
    least_f[:] = INF
    for k in range(memory.size[0]):
        u = np.int64(space.item[k])
        d = first_step(space, first, u)
        least_f[d] = min(least_f[d], space.f[u])
    chosen = first_step(space, first, space.state[0].best)
    second, rivals = np.int64(INF), 0
    for d in range(8):
        if d != chosen and least_f[d] < INF:
            rivals += 1
            second = min(second, least_f[d])
    return second, rivals


@kernel(inline=True)
def measure_search(terrain, space):
    """Return how long the way to the best state is, and how many of its steps come before the first unseen cell."""
    length, unseen, u = 0, -1, space.state[0].best
    while space.parent[u] != NONE:
        if terrain.known[space.cell[u]] == 0:
            unseen = length
        u = np.int64(space.parent[u])
        length += 1
    return length, length if unseen < 0 else length - 1 - unseen


@kernel(inline=True)
def measure_plan(terrain, trip, s):
    """Return how long the committed path is, and how many of its steps come before the first unseen cell."""
    state, cell = trip.state[0], s
    begin, end = state.next, state.planned
    for k in range(begin, end):
        cell += terrain.offset[trip.plan[k]]
        if terrain.known[cell] == 0:
            return end - begin, k - begin
    return end - begin, end - begin


@kernel(inline=True)
def search_features(memory, value):
    """Return what is known of the open search; ``value`` is that of where the agent stands."""
    space, state = memory.space, memory.state[0]
    best = space.state[0].best
    f = space.f[best]
    second, rivals = compare_steps(memory)
    return Search(
        slices=state.slices,
        expansions=space.state[0].closed,
        open=memory.size[0],
        best_f=f / STRAIGHT,
        best_g=space.g[best] / STRAIGHT,
        best_h=space.h[best] / STRAIGHT,
        rise=(f - value) / STRAIGHT,
        gain=(f - state.best_before) / STRAIGHT,
        gap=(second - f) / STRAIGHT if rivals > 0 else 0.0,
        rivals=rivals,
    )


@kernel
def write_thoughts(terrain, trip, memory, s, t, out):
    """Write all features in ``s``, in the order of ``THOUGHTS``."""
    state, value = memory.state[0], value_at(memory.h, terrain, s, t)
    write_history(memory.track, terrain, s, t, out)
    committed = np.int64(0)
    if state.searching != 0:
        write_fields(search_features(memory, value), out, _SEARCH)
        length, seen = measure_search(terrain, memory.space)
    else:
        out[_SEARCH:_WAY] = 0
        length, seen = measure_plan(terrain, trip, s)
        committed = length
    way = Way(
        found=state.found,
        committed=committed,
        path=length,
        seen=seen,
        surplus=(value - h0(terrain, s, t)) / STRAIGHT,
        time=trip.tally[0].moves - state.began,
        thought=state.thought,
    )
    write_fields(way, out, _WAY)
