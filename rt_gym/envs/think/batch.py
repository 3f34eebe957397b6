"""The state of a batch of episodes that think or act, and its kernels.

Known maps that stay as they are belong to all episodes; otherwise each has its own, true and believed. Each also has a
search of its own that may cover the whole map. Its arrays are as long as the largest map, but filled from the front, so
that only what a search has generated takes memory.
"""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rt_gym.envs.depth_batch import make_trips
from rt_gym.envs.own_maps import OwnMaps, lay_out, make_own_maps, own_terrain, own_truth
from rt_gym.envs.stack import NEXT_STEP, choose, close_step, cut_out
from rt_gym.envs.think_episode import begin_thinking, make_mind, observe_thoughts, possible, step_thinking

from rt_gym.envs.think_settings import ThinkSettings
from rt_gym.features.history import Track
from rt_gym.features.thinking import Mind
from rt_gym.jit import kernel
from rt_gym.search.space import Space
from rt_gym.trip import Trip
from rt_gym.world import Truth, observe, sight


class ThinkEpisodes(NamedTuple):
    """All episodes, one row each.

    Attributes:
        problem, random, over: the problem, the state of the generator, and whether the episode has ended.
        own: their maps, no columns where all share them.
        trips: their records, without path and log; what has changed belongs to the thread.
        minds: the rest; see ``Mind``.
        meter: int64, the meter before the first move.
    """

    problem: NDArray[np.int64]
    random: NDArray[np.uint64]
    over: NDArray[np.bool_]
    own: OwnMaps
    trips: Trip
    minds: Mind
    meter: NDArray[np.int64]


# Rows of what a step reports beside the results.
FLAGS, POSSIBLE, REACHED, EXPANDED, SCANNED = range(5)


@kernel(inline=True)
def trip_of(trips, lane, i):
    """Return the record of episode ``i`` in a thread."""
    return Trip(trips.meter[i], trips.tally[i], trips.plan[i], trips.path, trips.log, trips.changed[lane], trips.clock)


@kernel(inline=True)
def mind_of(minds, lane, i):
    """Return the mind of episode ``i`` in a thread."""
    space, track = minds.space, minds.track
    return Mind(
        minds.h[i],
        Space(
            space.seat[i], space.cell[i], space.g[i], space.h[i], space.f[i], space.minus_g[i], space.parent[i],
            space.via[i], space.role[i], space.behind, space.item[i], space.at[i], space.rank[lane], space.random,
            space.state[i],
        ),
        minds.no_tie, minds.size[i], minds.first[i], minds.behind[lane],
        Track(track.cells[i], track.raised[i], track.state[i]), minds.state[i],
    )  # fmt: skip


@kernel(inline=True)
def terrain_of(maps, problems, episodes, i):
    """Return what episode ``i`` believes of its map."""
    m = problems.map[episodes.problem[i]]
    return cut_out(maps, m) if episodes.own.mask.shape[1] == 0 else own_terrain(maps, episodes.own, m, i)


@kernel(inline=True)
def truth_of(maps, problems, episodes, i):
    """Return the true map of episode ``i`` and its schedule."""
    if episodes.own.mask.shape[1] == 0:
        return Truth(maps.free, problems.when, problems.where, problems.opens, episodes.own.state[0])
    return own_truth(maps, problems, episodes.own, episodes.problem[i], i)


@kernel
def start(maps, ground, problems, episodes, lane, i, out):
    """Begin a new episode ``i`` with a random problem of the pool and write its first observation."""
    p = choose(problems, episodes, i)
    trip, mind = trip_of(episodes.trips, lane, i), mind_of(episodes.minds, lane, i)
    for k in range(trip.meter.size):
        trip.meter[k] = episodes.meter[k]
    trip.state[0].at = problems.start[p]
    trip.tally[:] = 0
    if episodes.own.mask.shape[1] > 0:
        lay_out(maps, ground, problems, episodes.own, p, i)
    terrain = terrain_of(maps, problems, episodes, i)
    if episodes.own.mask.shape[1] > 0:
        observe(own_truth(maps, problems, episodes.own, p, i), terrain, trip, trip.state[0].at, trip.state[0].at)
    begin_thinking(terrain, trip, mind, problems.goal[p], out[i])


@kernel
def start_all(maps, ground, problems, episodes, chosen, out, bits):
    """Begin new episodes where ``chosen`` says so; of the others write the observation again."""
    lane = np.int64(0)
    for i in range(chosen.size):
        trip, mind = trip_of(episodes.trips, lane, i), mind_of(episodes.minds, lane, i)
        if chosen[i]:
            start(maps, ground, problems, episodes, lane, i, out)
        else:
            terrain, goal = terrain_of(maps, problems, episodes, i), problems.goal[episodes.problem[i]]
            observe_thoughts(terrain, trip, mind, goal, out[i])
        bits[i] = possible(trip, mind)


@kernel
def step_range(maps, ground, problems, episodes, terms, results, report, actions, mode, lane, begin, end):
    """Make one step of the episodes from ``begin`` to ``end - 1`` in a thread; ``report`` has the rows named above."""
    out = results.observation
    for i in range(begin, end):
        reward, flags, expansions, scans = 0.0, np.int64(0), np.int64(0), np.int64(0)
        trip, mind = trip_of(episodes.trips, lane, i), mind_of(episodes.minds, lane, i)
        if mode == NEXT_STEP and episodes.over[i]:
            start(maps, ground, problems, episodes, lane, i, out)
        else:
            p = episodes.problem[i]
            reward, flags, expansions, scans = step_thinking(
                truth_of(maps, problems, episodes, i), terrain_of(maps, problems, episodes, i), trip, mind,
                terms, problems.goal[p], actions[i], problems.unit[p], out[i],
            )  # fmt: skip
        report[FLAGS, i], report[REACHED, i] = flags, mind.state[FOUND]
        report[EXPANDED, i], report[SCANNED, i] = expansions, scans
        if close_step(results, episodes.over, mode, i, reward, flags):
            start(maps, ground, problems, episodes, lane, i, out)
        report[POSSIBLE, i] = possible(trip, mind)


def make_episodes(count: int, settings: ThinkSettings, meter: NDArray[np.int64], threads: int = 1) -> ThinkEpisodes:
    """Return room for so many episodes."""
    cells = max(grid.terrain.mask.size for grid in settings.grids)
    return ThinkEpisodes(
        problem=np.zeros(count, np.int64),
        random=np.zeros(count, np.uint64),
        over=np.zeros(count, np.bool_),
        own=make_own_maps(count, settings.grids if settings.private else []),
        trips=make_trips(count)._replace(
            plan=np.empty((count, cells), np.uint8),
            changed=np.empty((threads, _news(settings)), np.int32),
        ),
        minds=make_mind(settings, cells, (count,), (threads,)),
        meter=meter,
    )


def _news(settings: ThinkSettings) -> int:
    """Return how many cells can change in the belief of an episode with one step."""
    return max((2 * max(sight(problem), 0) + 1) ** 2 + len(problem.changes or ()) for problem in settings.pool)


def bytes_of(data: Any) -> int:
    """Return the memory of all arrays in nested tuples."""
    return data.nbytes if isinstance(data, np.ndarray) else sum(map(bytes_of, data))


def memory() -> float:
    """Return the memory of this machine in bytes, infinity where the system does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
