"""A batch of path episodes: their state, and one step of many.

Maps that do not change are shared by all episodes, and in fog each has a bitmap of what it has seen; where the map
changes, or the sight is very far, every episode has a map of its own. Kernels are compiled for either case: ``own``, an
``OwnMaps``, is None where maps are shared, so that a test for it costs nothing; so is ``memory``, of where episodes
have been, where that is not observed. A seed gives the same trajectory here and in the single environment.

Indices of episodes, problems and maps are unsigned: a signed one is tested at every look at an array.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import (
    Common,
    Maps,
    Problems,
    Results,
    choose,
    make_common,
    own_terrain,
    own_truth,
    set_up_map,
)
from rt_gym.envs.path.episode import WINDOW, PathTerms, nearest_step, step_path, write_numbers, write_picture
from rt_gym.envs.step import BLOCKED, NEXT_STEP, SAME_STEP, TERMINATED, TRUNCATED, close_step, judge
from rt_gym.features.history import Track, begin_track, follow, make_track
from rt_gym.features.image import begin_visits, frame_around, memory_of, visit, write_visits
from rt_gym.features.window import Bitmaps, MapBits, write_window
from rt_gym.jit import kernel, merge, row
from rt_gym.trip import STAY, Trip
from rt_gym.truth import observe


class PathEpisodes(NamedTuple):
    """The state of all episodes, one row each.

    Attributes:
        common: what every kind of episode has.
        at, moves: where the agent stands, and how often it has moved; cells are counted through all shared maps.
        track: the last steps.
        seen: uint8, the bitmap of what an episode in fog has seen, where maps are shared.
    """

    common: Common
    at: NDArray[np.int64]
    moves: NDArray[np.int64]
    track: Track
    seen: NDArray[np.uint8]


class PathBatch(NamedTuple):
    """All that a step of the batch works on.

    Attributes:
        maps, bits, problems: shared by all episodes.
        episodes: their state.
        trip: the record of whichever episode the thread is at, for episodes with maps of their own. They have no
            agents, so of all that it records only position and moves must be kept from step to step.
        terms: the settings.
        mode: NEXT_STEP, SAME_STEP or DISABLED.
    """

    maps: Maps
    bits: MapBits
    problems: Problems
    episodes: PathEpisodes
    trip: Trip
    terms: PathTerms
    mode: int


class PathStepInfo(NamedTuple):
    """What a step reports beside its results, per episode: whether a wall was hit, and the legal moves after it."""

    blocked: NDArray[np.bool_]
    moves: NDArray[np.intp]


def make_path_episodes(count: int, history: int, bytes_seen: int) -> PathEpisodes:
    """Return the state of ``count`` episodes; the bitmap of what one has seen takes up to ``bytes_seen``."""
    return PathEpisodes(
        common=make_common(count),
        at=np.zeros(count, np.int64),
        moves=np.zeros(count, np.int64),
        track=make_track(history, (count,)),
        seen=np.empty((count, bytes_seen), np.uint8),
    )


@kernel(inline=True)
def terrain_of(batch, own, m, i):
    """Return what episode ``i`` believes of map ``m``.

    On a map that does not change that is the true one, shared by all, even in fog: every move out of the agent's own
    cell is in sight, and what else it has seen stands in its bitmap.
    """
    if own is None:
        return merge(batch.maps.cells, row(batch.maps.rules, m))
    return own_terrain(batch.maps, own, np.int64(m), i)


@kernel(inline=True)
def first_cell(batch, own, m):
    """Return the first cell of map ``m``."""
    if own is None:
        return batch.maps.begin[m]
    return np.int64(0)


@kernel(inline=True)
def take_up(batch, i):
    """Enter where episode ``i`` is into the thread's record and return it."""
    batch.trip.state[0].at = batch.episodes.at[i]
    batch.trip.tally[0].moves = batch.episodes.moves[i]
    return batch.trip


@kernel
def start(batch, own, memory, i):
    """Begin a new episode ``i`` with a random problem of the pool."""
    problems, episodes, bits = batch.problems, batch.episodes, batch.bits
    p = choose(problems, episodes.common, i)
    m, s = problems.map[p], problems.start[p]
    episodes.at[i] = s
    episodes.moves[i] = 0
    known = problems.vision[p] <= 0
    if episodes.seen.shape[1] > 0:
        begin = bits.begin[m]
        for k in range(bits.begin[m + 1] - begin):
            episodes.seen[i, k] = np.uint8(255) if known else bits.unseen[begin + k]
    if own is not None:
        set_up_map(batch.maps, problems, own, p, i)
        truth = own_truth(batch.maps, problems, own, p, i)
        observe(truth, own_terrain(batch.maps, own, m, i), take_up(batch, i), s, s)
    begin_track(row(episodes.track, i), s)
    cells = batch.maps.begin[m + 1] - batch.maps.begin[m]
    begin_visits(memory_of(memory, i), cells, s - first_cell(batch, own, m))


@kernel(inline=True)
def move(batch, own, memory, i, d):
    """Make one move of episode ``i`` in direction ``d`` and return its reward and bits, see ``make_move``.

    On a map that does not change, a move is only a look at its bit: no belief and no record must be updated.
    """
    problems, episodes, terms = batch.problems, batch.episodes, batch.terms
    p = np.uint64(episodes.common.problem[i])
    m, t, unit, track = np.uint64(problems.map[p]), problems.goal[p], problems.unit[p], row(episodes.track, i)
    terrain = terrain_of(batch, own, m, i)
    if own is None:
        s, moves = episodes.at[i], episodes.moves[i] + 1
        legal = np.int64(terrain.mask[s]) >> (d & 7) & np.int64(d >= 0)
        u = s + terrain.offset[d & 7] * legal  # as ``target``, without its branch, which is hard to predict
        episodes.at[i], episodes.moves[i] = u, moves
        follow(track, u, np.int64(0))
        visit(memory_of(memory, i), u - first_cell(batch, own, m))
        reward, flags = judge(terrain, terms.rules, s, u, t, d, moves)
        return reward * unit, flags
    trip, truth = take_up(batch, i), own_truth(batch.maps, problems, own, np.int64(p), i)
    reward, flags, _ = step_path(truth, terrain, trip, track, terms, t, d, unit)
    episodes.at[i], episodes.moves[i] = trip.state[0].at, trip.tally[0].moves
    visit(memory_of(memory, i), trip.state[0].at)
    return reward, flags


@kernel(inline=True)
def show(batch, own, memory, i, out, moves):
    """Write the observation of episode ``i`` and its legal moves."""
    p = np.uint64(batch.episodes.common.problem[i])
    m = np.uint64(batch.problems.map[p])
    terrain = terrain_of(batch, own, m, i)
    moves[i] = terrain.mask[batch.episodes.at[i]]
    if memory is None:
        show_flat(batch, own, terrain, p, m, i, out[i])
    else:
        show_remembered(batch, own, memory_of(memory, i), memory.blank, terrain, p, m, i, out[i])


@kernel(inline=True)
def show_flat(batch, own, terrain, p, m, i, out):
    """Write numbers and window, and return where the agent is. There is no meter: all of the budget is left."""
    problems, episodes, terms, bits = batch.problems, batch.episodes, batch.terms, batch.bits
    map_begin, track = first_cell(batch, own, m), row(episodes.track, i)
    bitmaps = Bitmaps(bits.blocked, bits.begin[m], episodes.seen[i], bits.margin, problems.vision[p])
    x, y = write_numbers(terrain, map_begin, track, terms, episodes.at[i], problems.goal[p], np.float32(1), out)
    write_window(terrain, bitmaps, x, y, terms.radius, terms.planes, out[WINDOW:])
    return x, y


@kernel(inline=True)
def show_remembered(batch, own, memory, blank, terrain, p, m, i, out):
    """Write an image, or a flat observation and the plane of visits."""
    begin, stride, terms = batch.maps.begin, terrain.offset[1], batch.terms
    height = (begin[m + np.uint64(1)] - begin[m]) // stride - 2
    if blank is None:
        x, y = show_flat(batch, own, terrain, p, m, i, out)
        frame = frame_around(stride, height, x, y, terms.radius)
        write_visits(memory.visits, frame, out[out.size - frame.side * frame.side :])
    else:
        s, t = batch.episodes.at[i], batch.problems.goal[p]
        write_picture(terrain, first_cell(batch, own, m), height, memory, terms, s, t, out)


@kernel
def start_all(handle, chosen, observation, moves):
    """Begin new episodes where ``chosen``, bool[n], is true; write what all of them return.

    ``observation``, float32[n, size], or uint8 for images, gets the observations, ``moves``, intp[n], the legal moves,
    a bit for each.
    """
    batch, own, memory = handle.batch, handle.own, handle.memory
    for k in range(chosen.size):
        i = np.uint64(k)
        if chosen[i]:
            start(batch, own, memory, i)
        show(batch, own, memory, i, observation, moves)


@kernel
def step_range(handle, actions, observation, last, reward, terminated, truncated, blocked, moves, begin, end):
    """Make one step of the episodes from ``begin`` to ``end - 1``; ``actions`` is int64[n], of all episodes.

    Then come the arrays of ``Results`` and of ``PathStepInfo``, one by one: a tuple takes a microsecond longer to cross
    from Python, which is a twentieth of a step of 64 episodes.
    """
    batch, own, memory = handle.batch, handle.own, handle.memory
    results, info = Results(observation, last, reward, terminated, truncated), PathStepInfo(blocked, moves)
    move_episodes(batch, own, memory, actions, results, info, begin, end)
    show_episodes(batch, own, memory, results.observation, info.moves, begin, end)


@kernel(inline=True)
def move_episodes(batch, own, memory, actions, results, info, begin, end):
    """Move; an episode that ends is shown and, in mode SAME_STEP, followed by the next."""
    over, mode, still = batch.episodes.common.over, batch.mode, batch.terms.still
    for k in range(begin, end):
        i = np.uint64(k)
        reward, flags = 0.0, np.int64(0)
        if mode == NEXT_STEP and over[i]:
            start(batch, own, memory, i)
        else:
            d = np.int64(STAY) if actions[i] == still else np.int64(actions[i])
            reward, flags = move(batch, own, memory, i, d)
        if mode == SAME_STEP and flags & (TERMINATED | TRUNCATED):
            show(batch, own, memory, i, results.observation, info.moves)
        if close_step(results, over, mode, i, reward, flags):
            start(batch, own, memory, i)
        info.blocked[i] = flags & BLOCKED != 0


@kernel
def show_episodes(batch, own, memory, observation, moves, begin, end):
    """Write the observations and the legal moves of the episodes from ``begin`` to ``end - 1``."""
    for k in range(begin, end):
        show(batch, own, memory, np.uint64(k), observation, moves)


@kernel
def greedy_steps(handle, out):
    """Write the greedy move of every episode of a batch into ``out``, int64."""
    batch, own = handle.batch, handle.own
    for k in range(out.size):
        i = np.uint64(k)
        p = np.uint64(batch.episodes.common.problem[i])
        terrain = terrain_of(batch, own, np.uint64(batch.problems.map[p]), i)
        out[i] = nearest_step(terrain, batch.episodes.at[i], batch.problems.goal[p])
