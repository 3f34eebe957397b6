"""A batch of episodes that think or act: their state, and one step of many.

Known maps that do not change are shared by all episodes; otherwise each has its own, true and believed. Kernels are
compiled for either case: ``own``, an ``OwnMaps``, is None where maps are shared, so that a test for it costs nothing.
Each episode has a search of its own that may come to cover the whole map. Its arrays are as long as the largest map and
filled from the front, so that only what a search has generated takes memory.
"""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs import step
from rt_gym.envs.batch import (
    Common,
    Maps,
    OwnMaps,
    Problems,
    choose,
    make_common,
    map_of,
    own_terrain,
    own_truth,
    set_up_map,
)
from rt_gym.envs.settings import Settings
from rt_gym.envs.think.episode import (
    Goal,
    ThinkTerms,
    begin_thinking,
    make_goal,
    possible,
    step_thinking,
    write_observation,
)
from rt_gym.features.thinking import ThinkMemory, make_think_memory
from rt_gym.handles import bytes_of
from rt_gym.jit import absent, kernel, merge, row
from rt_gym.search.space import NO_SPACE
from rt_gym.templates import bind
from rt_gym.trip import Trip, make_trip, restart_trip
from rt_gym.truth import Truth, observe, sight


class EpisodeArrays(NamedTuple):
    """What an episode works on beside its map. Whatever it need not keep from step to step belongs to its thread.

    Episode and thread each have such a tuple, with None for what the other one holds; ``merge`` combines the two.

    Attributes:
        trip: its record; path, log, clock and the list of changed cells are the thread's.
        memory: the search and what was learned; what is the same in every search (ranks, ties) and the comparison of
            first steps are the thread's.
        goal: where it is.
    """

    trip: Trip
    memory: ThinkMemory
    goal: Goal


class ThinkEpisodes(NamedTuple):
    """The state of all episodes, one row each.

    Attributes:
        common: what every kind of episode has.
        arrays: the rest.
    """

    common: Common
    arrays: EpisodeArrays


class ThinkBatch(NamedTuple):
    """All that a step of the batch works on.

    Attributes:
        maps, problems: shared by all episodes.
        truth: that of shared maps. They do not change, so no more is read of it than that.
        episodes: their state.
        thread: what the episodes of a thread share.
        meter: METER[1], the meter before the first move.
        terms: the settings.
        mode: NEXT_STEP, SAME_STEP or DISABLED.
    """

    maps: Maps
    problems: Problems
    truth: Truth
    episodes: ThinkEpisodes
    thread: EpisodeArrays
    meter: NDArray[np.record]
    terms: ThinkTerms
    mode: int


class ThinkStepInfo(NamedTuple):
    """What a step tells beside its results, int64 per episode.

    Attributes:
        flags: the bits of ``step_thinking``.
        possible: the actions that are possible next, a bit for each.
        expansions, scans: those of the step.
    """

    flags: NDArray[np.int64]
    possible: NDArray[np.int64]
    expansions: NDArray[np.int64]
    scans: NDArray[np.int64]


def make_thread_arrays(settings: Settings) -> EpisodeArrays:
    """Return what the episodes of a thread share, None for what each of them has."""
    trip: Any = make_trip(0, changed=_most_changes(settings))
    memory: Any = make_think_memory(_largest(settings), settings.history)
    ties = NO_SPACE._replace(rank=memory.space.rank, random=memory.space.random)
    return EpisodeArrays(
        trip=trip._replace(meter=None, tally=None, state=None, plan=None),
        memory=memory._replace(h=None, space=ties, size=None, first=None, track=None, state=None),
        goal=absent(Goal),
    )


def make_think_episodes(count: int, settings: Settings, thread: EpisodeArrays) -> ThinkEpisodes:
    """Return the state of ``count`` episodes, without what belongs to their thread."""
    cells = _largest(settings)
    trip, memory = make_trip(cells, rows=(count,)), make_think_memory(cells, settings.history, (count,))
    return ThinkEpisodes(
        common=make_common(count),
        arrays=_without(EpisodeArrays(trip, memory, make_goal((count,))), thread),
    )


def _largest(settings: Settings) -> int:
    """Return the number of cells of the largest map."""
    return max(grid.terrain.mask.size for grid in settings.grids)


def _most_changes(settings: Settings) -> int:
    """Return how many cells can change in the belief of an episode with one step."""
    return max((2 * max(sight(problem), 0) + 1) ** 2 + len(problem.changes or ()) for problem in settings.pool)


def _without(arrays: Any, others: Any) -> Any:
    """Return a nested tuple with None wherever ``others`` holds an array."""
    if isinstance(others, tuple):
        return type(others)(*map(_without, arrays, others))
    return arrays if others is None else None


def bytes_of_episodes(episodes: ThinkEpisodes, own: OwnMaps | None, thread: EpisodeArrays) -> int:
    """Return the memory that episodes may come to take, with what their thread shares."""
    return bytes_of((episodes, own and (own.believed, own.real, own.state), thread))


def machine_memory() -> float:
    """Return the memory of this machine in bytes, infinity where the system does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


@kernel(inline=True)
def arrays_of(batch, i):
    """Return what episode ``i`` works on in its thread."""
    return merge(row(batch.episodes.arrays, i), batch.thread)


@kernel(inline=True)
def terrain_of(batch, own, p, i):
    """Return what episode ``i`` with problem ``p`` believes of its map."""
    m = batch.problems.map[p]
    if own is None:
        return map_of(batch.maps, m)
    return own_terrain(batch.maps, own, m, i)


@kernel(inline=True)
def truth_of(batch, own, p, i):
    """Return the true map of episode ``i`` with problem ``p``, and its schedule."""
    if own is None:
        return batch.truth
    return own_truth(batch.maps, batch.problems, own, p, i)


@kernel
def start(batch, own, i, out, info):
    """Begin a new episode ``i`` with a random problem of the pool and write its first observation."""
    problems, arrays = batch.problems, arrays_of(batch, i)
    p = choose(problems, batch.episodes.common, i)
    trip, s = arrays.trip, problems.start[p]
    restart_trip(trip, batch.meter, s)
    if own is not None:
        set_up_map(batch.maps, problems, own, p, i)
        observe(truth_of(batch, own, p, i), terrain_of(batch, own, p, i), trip, s, s)
    terrain, random = terrain_of(batch, own, p, i), batch.episodes.common.random[np.int64(i) : np.int64(i) + 1]
    begin_thinking(terrain, trip, arrays.memory, arrays.goal, batch.terms, problems.goal[p], random, out[i])
    info.possible[i] = possible(trip, arrays.memory, arrays.goal)


@kernel(inline=True)
def show(batch, own, i, out, info):
    """Write the observation of episode ``i`` once more."""
    arrays, p = arrays_of(batch, i), batch.episodes.common.problem[i]
    write_observation(terrain_of(batch, own, p, i), arrays.trip, arrays.memory, arrays.goal, out[i])
    info.possible[i] = possible(arrays.trip, arrays.memory, arrays.goal)


@kernel(inline=True)
def advance(batch, own, actions, i, end, out, info):
    """Make one step of episode ``i``; return its reward and the bits of ``step_thinking``."""
    problems, arrays, p = batch.problems, arrays_of(batch, i), batch.episodes.common.problem[i]
    truth, terrain, trip, goal = truth_of(batch, own, p, i), terrain_of(batch, own, p, i), arrays.trip, arrays.goal
    reward, flags, info.expansions[i], info.scans[i] = step_thinking(
        truth, terrain, trip, arrays.memory, goal, batch.terms, actions[i], problems.unit[p], out[i]
    )
    info.flags[i], info.possible[i] = flags, possible(trip, arrays.memory, goal)
    return reward, flags


start_all = bind(step.start_all, start=start, show=show)
step_range = bind(step.step_range, start=start, advance=advance)
