"""What a policy that thinks or acts is told: the history features, and the state of the search.

Costs and values are in steps. Where no search is open the features of the search are 0. What takes more than constant
time is one pass over the open list after a slice, and one over the path.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.budget import AT, MOVES, NEXT, PLANNED
from rt_gym.cost import INF, STRAIGHT
from rt_gym.features import FEATURES, Track, write_features
from rt_gym.grid import h0, locate
from rt_gym.jit import kernel
from rt_gym.search.heap import Heap
from rt_gym.search.local import Local, nth_closed
from rt_gym.search.space import BEST, CLOSED, NONE, Space

THOUGHTS = (
    *FEATURES,
    "slices",  # slices of the search so far
    "expansions",  # states expanded in it
    "open",  # states on its open list
    "best_f",  # f of the first of them
    "best_g",  # the cost of getting there
    "best_h",  # its value
    "rise",  # by how much best_f is above the value of where the agent stands
    "gain",  # how much of that the last slice added
    "gap",  # by how much the best f behind any other first step is above best_f; 0 if there is none
    "rivals",  # how many other first steps lead to the open list
    "found",  # 1 if the search, or the committed path, has reached the goal
    "committed",  # moves left of the committed path
    "path",  # moves to the first of the open list; without a search, of the committed path
    "seen",  # how many of them come before the first cell that has not been seen
    "surplus",  # how far the value of where the agent stands is above the heuristic
    "time",  # moves so far, slices included
    "thought",  # slices so far, of all searches
)

# The named parts of an observation and the feature with which each begins.
GROUPS = {"history": FEATURES[0], "search": "slices", "path": "committed", "trail": "surplus"}

# Entries of Mind.state: whether a search is open, whether the goal has been found, the slices of the search and of the
# episode, best f before the last slice, and for how many closed states the first step is known.
SEARCHING, FOUND, SLICES, THOUGHT, BEFORE, SORTED = range(6)


class Mind(NamedTuple):
    """What an episode knows beside its map; in a batch most arrays have one row more per episode.

    Attributes:
        h: int64, the learned value of every cell.
        space: the states of the search.
        no_tie: int64, zeros: values are learned without a second key.
        size: int64[1], how many states are open.
        first: uint8, the first step on the way to a closed state.
        behind: int64[8], the least f behind every first step.
        track: the last steps.
        state: int64[6], see above.
    """

    h: NDArray[np.int64]
    space: Space
    no_tie: NDArray[np.int64]
    size: NDArray[np.int64]
    first: NDArray[np.uint8]
    behind: NDArray[np.int64]
    track: Track
    state: NDArray[np.int64]


@kernel(inline=True)
def local_of(mind):
    """Return the search as ``rt_gym.search.local`` takes it."""
    space = mind.space
    return Local(
        space,
        Heap(space.item, space.at, space.f, space.minus_g, space.rank, mind.size),
        Heap(space.item, space.at, space.f, mind.no_tie, space.rank, mind.size),
    )


@kernel(inline=True)
def first_step(space, first, u):
    """Return the first step on the way from the root to ``u``; that of its parent must be known."""
    parent = np.int64(space.parent[u])
    return np.int64(space.via[u] if parent == 0 else first[parent])


@kernel
def compare_steps(mind):
    """Return the best f behind any other first step than that to the best state, INF if none, and how many there are.

    A state is closed after its parent, so in the order of closing every first step follows from an earlier one.
    """
    space, first, behind, state = mind.space, mind.first, mind.behind, mind.state
    for k in range(max(state[SORTED], 1), space.state[CLOSED]):  # the first to be closed is the root
        u = nth_closed(space, k)
        first[u] = first_step(space, first, u)
    state[SORTED] = space.state[CLOSED]
    behind[:] = INF
    for k in range(mind.size[0]):
        u = np.int64(space.item[k])
        d = first_step(space, first, u)
        behind[d] = min(behind[d], space.f[u])
    chosen = first_step(space, first, space.state[BEST])
    second, rivals = np.int64(INF), 0
    for d in range(8):
        if d != chosen and behind[d] < INF:
            rivals += 1
            second = min(second, behind[d])
    return second, rivals


@kernel(inline=True)
def measure_search(terrain, space):
    """Return how long the way to the best state is, and how many of its steps come before the first unseen cell."""
    length, unseen, u = 0, -1, space.state[BEST]
    while space.parent[u] != NONE:
        if terrain.known[space.cell[u]] == 0:
            unseen = length
        u = np.int64(space.parent[u])
        length += 1
    return length, length if unseen < 0 else length - 1 - unseen


@kernel(inline=True)
def measure_plan(terrain, trip):
    """Return the same of the committed path."""
    meter = trip.meter
    cell, begin, end = meter[AT], meter[NEXT], meter[PLANNED]
    for k in range(begin, end):
        cell += terrain.offset[trip.plan[k]]
        if terrain.known[cell] == 0:
            return end - begin, k - begin
    return end - begin, end - begin


@kernel
def write_thoughts(terrain, trip, mind, t, out):
    """Write all features, in the order of ``THOUGHTS``."""
    space, state, s = mind.space, mind.state, trip.meter[AT]
    x, y = locate(terrain, s)
    goal_x, goal_y = locate(terrain, t)
    write_features(mind.track, terrain, x, y, goal_x, goal_y, out)
    out[len(FEATURES) :] = 0
    k = len(FEATURES)
    if state[SEARCHING] != 0:
        best = space.state[BEST]
        second, rivals = compare_steps(mind)
        out[k] = state[SLICES]
        out[k + 1] = space.state[CLOSED]
        out[k + 2] = mind.size[0]
        out[k + 3] = space.f[best] / STRAIGHT
        out[k + 4] = space.g[best] / STRAIGHT
        out[k + 5] = space.h[best] / STRAIGHT
        out[k + 6] = (space.f[best] - mind.h[s]) / STRAIGHT
        out[k + 7] = (space.f[best] - state[BEFORE]) / STRAIGHT
        out[k + 8] = (second - space.f[best]) / STRAIGHT if rivals > 0 else 0.0
        out[k + 9] = rivals
        length, seen = measure_search(terrain, space)
    else:
        length, seen = measure_plan(terrain, trip)
        out[k + 11] = length
    out[k + 10] = state[FOUND]
    out[k + 12] = length
    out[k + 13] = seen
    out[k + 14] = (mind.h[s] - h0(terrain, s, t)) / STRAIGHT
    out[k + 15] = trip.tally[MOVES]
    out[k + 16] = state[THOUGHT]
