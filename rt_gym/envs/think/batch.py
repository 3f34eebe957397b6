"""A batch of episodes that think or act: their state, and one step of many.

Known maps that do not change are shared by all episodes; otherwise each has its own, true and believed. Kernels are
compiled for either case: ``own``, an ``OwnMaps``, is None where maps are shared, so that a test for it costs nothing.
Each episode has a search of its own that may come to cover the whole map. Its arrays are as long as the largest map and
filled from the front, so that only what a search has generated takes memory.

Indices of episodes are unsigned: a signed one is tested at every look at an array.
"""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import (
    NEXT_STEP,
    Maps,
    OwnMaps,
    Problems,
    choose,
    close_step,
    map_of,
    own_terrain,
    own_truth,
    set_up_map,
)
from rt_gym.envs.settings import Settings
from rt_gym.envs.think.episode import ThinkTerms, begin_thinking, possible, step_thinking, write_observation
from rt_gym.features.thinking import ThinkMemory, make_think_memory
from rt_gym.jit import kernel, merge, row
from rt_gym.search.space import NO_SPACE
from rt_gym.trip import Trip, make_trip, restart_trip
from rt_gym.world import Truth, observe, sight


class EpisodeArrays(NamedTuple):
    """What an episode works on beside its map. Whatever it need not keep from step to step belongs to its thread.

    Episode and thread each have such a tuple, with None for what the other one holds; ``merge`` combines the two.

    Attributes:
        trip: its record; path, log, clock and the list of changed cells are the thread's.
        memory: the search and what was learned; what is the same in every search (ranks, ties) and the comparison of
            first steps are the thread's.
    """

    trip: Trip
    memory: ThinkMemory


class ThinkEpisodes(NamedTuple):
    """The state of all episodes, one row each.

    Attributes:
        problem, random, over: the problem, the state of the generator, and whether the episode has ended.
        arrays: the rest.
    """

    problem: NDArray[np.int64]
    random: NDArray[np.uint64]
    over: NDArray[np.bool_]
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
    )


def make_think_episodes(count: int, settings: Settings, thread: EpisodeArrays) -> ThinkEpisodes:
    """Return the state of ``count`` episodes, without what belongs to their thread."""
    cells = _largest(settings)
    trip, memory = make_trip(cells, rows=(count,)), make_think_memory(cells, settings.history, (count,))
    return ThinkEpisodes(
        problem=np.zeros(count, np.int64),
        random=np.zeros(count, np.uint64),
        over=np.zeros(count, np.bool_),
        arrays=_without(EpisodeArrays(trip, memory), thread),
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


def bytes_of(arrays: Any) -> int:
    """Return the memory of all arrays in nested tuples."""
    if isinstance(arrays, tuple):
        return sum(map(bytes_of, arrays))
    return 0 if arrays is None else int(arrays.nbytes)


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
def start(batch, own, i, out):
    """Begin a new episode ``i`` with a random problem of the pool and write its first observation."""
    problems, arrays = batch.problems, arrays_of(batch, i)
    p = choose(problems, batch.episodes, np.int64(i))
    trip, s = arrays.trip, problems.start[p]
    restart_trip(trip, batch.meter, s)
    if own is not None:
        set_up_map(batch.maps, problems, own, p, i)
        observe(truth_of(batch, own, p, i), terrain_of(batch, own, p, i), trip, s, s)
    begin_thinking(terrain_of(batch, own, p, i), trip, arrays.memory, problems.goal[p], out[i])


@kernel(inline=True)
def advance(batch, own, i, action, out):
    """Make one step of episode ``i``; see ``step_thinking``."""
    problems, arrays, p = batch.problems, arrays_of(batch, i), batch.episodes.problem[i]
    truth, terrain, t = truth_of(batch, own, p, i), terrain_of(batch, own, p, i), problems.goal[p]
    return step_thinking(truth, terrain, arrays.trip, arrays.memory, batch.terms, t, action, problems.unit[p], out[i])


@kernel
def start_all(handle, chosen, out, bits):
    """Begin new episodes where ``chosen``, bool[n], is true; write what all of them return.

    ``out``, float32[n, size], gets the observations, ``bits``, int64[n], the possible actions, a bit for each.
    """
    batch, own = handle.batch, handle.own
    for k in range(chosen.size):
        i = np.uint64(k)
        arrays = arrays_of(batch, i)
        if chosen[i]:
            start(batch, own, i, out)
        else:
            p = batch.episodes.problem[i]
            terrain, t = terrain_of(batch, own, p, i), batch.problems.goal[p]
            write_observation(terrain, arrays.trip, arrays.memory, t, out[i])
        bits[i] = possible(arrays.trip, arrays.memory)


@kernel
def step_range(handle, actions, results, info, begin, end):
    """Make one step of the episodes from ``begin`` to ``end - 1``; ``actions`` is int64[n], of all episodes."""
    batch, own = handle.batch, handle.own
    over, mode, out = batch.episodes.over, batch.mode, results.observation
    for k in range(begin, end):
        i = np.uint64(k)
        reward, flags, expansions, scans = 0.0, np.int64(0), np.int64(0), np.int64(0)
        if mode == NEXT_STEP and over[i]:
            start(batch, own, i, out)
        else:
            reward, flags, expansions, scans = advance(batch, own, i, actions[i], out)
        info.flags[i], info.expansions[i], info.scans[i] = flags, expansions, scans
        if close_step(results, over, mode, i, reward, flags):
            start(batch, own, i, out)
        arrays = arrays_of(batch, i)
        info.possible[i] = possible(arrays.trip, arrays.memory)
