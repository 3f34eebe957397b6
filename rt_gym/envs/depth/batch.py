"""Batches of RTDepth-v0, RTDepthGoal-v0 and RTDeepen-v0: their state, and one step of many.

The episodes share known maps. Each has its own table of learned values, which is small while it is fresh. A lookahead
that ends with the step belongs to the thread. Where the search goes on layer by layer, every episode keeps its states,
and the thread has only what is as large as a map, ``Space.seat``, and the list of slots: when an episode goes on, its
states get their slots there again.

Thousands of episodes that stand anywhere find little of what they need in the cache, and a search that follows its
frontier waits for one cache line after the other. So what the next episode's search will read is prefetched.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import NEXT_STEP, Maps, Problems, choose, close_step, map_of
from rt_gym.envs.depth.deepen import DEEPEN, Deepening, begin_deepening, step_layer, write_layered
from rt_gym.envs.depth.episode import Control, ControlTerms, asked, begin_control, step_decision, write_inputs
from rt_gym.envs.depth.subgoals import subgoals_of
from rt_gym.intrinsics import prefetch
from rt_gym.jit import kernel, merge, row
from rt_gym.search.space import forget
from rt_gym.search.values import entry_of, first_place
from rt_gym.trip import Trip, make_trip, restart_trip
from rt_gym.world import Truth


class DepthEpisodes(NamedTuple):
    """All episodes, one row each.

    Attributes:
        problem, random, over: the problem, the state of the generator, and whether the episode has ended.
        trip: their records, without path and log.
        control: a ``Control`` or a ``Deepening``; None where the part belongs to the thread.
    """

    problem: NDArray[np.int64]
    random: NDArray[np.uint64]
    over: NDArray[np.bool_]
    trip: Trip
    control: Control | Deepening


class DepthBatch(NamedTuple):
    """All that a step of the batch works on.

    Attributes:
        maps, problems: shared by all episodes.
        truth: of maps to which nothing happens.
        meter: METER[1], as it is before the first move.
        episodes: their state.
        thread: the parts of a ``Control`` or a ``Deepening`` that belong to the thread.
        stamp: int64[1], the last stamp in the thread's ``Space.seat``.
        terms: the settings.
        mode: NEXT_STEP, SAME_STEP or DISABLED.
    """

    maps: Maps
    problems: Problems
    truth: Truth
    meter: NDArray[np.record]
    episodes: DepthEpisodes
    thread: Control | Deepening
    stamp: NDArray[np.int64]
    terms: ControlTerms
    mode: int


class DepthStepInfo(NamedTuple):
    """What a step tells beside its results, one entry per episode."""

    flags: NDArray[np.int64]
    depth: NDArray[np.int64]
    expansions: NDArray[np.int64]
    scans: NDArray[np.int64]


def make_step_info(count: int) -> DepthStepInfo:
    """Return fresh arrays for ``count`` episodes."""
    return DepthStepInfo(*(np.empty(count, np.int64) for _ in DepthStepInfo._fields))


def make_depth_episodes(count: int, control: Control | Deepening) -> DepthEpisodes:
    """Return the state of ``count`` episodes, whose own parts of the control are given."""
    return DepthEpisodes(
        problem=np.zeros(count, np.int64),
        random=np.zeros(count, np.uint64),
        over=np.zeros(count, np.bool_),
        trip=make_trip(1, rows=(count,)),
        control=control,
    )


@kernel(inline=True)
def restore_slots(space):
    """Go on with a search after others have used ``space.seat``."""
    state = space.state[0]
    slots, closed, best = state.slots, state.closed, state.best
    base = forget(space)
    for u in range(slots):
        space.seat[space.cell[u]] = base + u
    state.slots, state.closed, state.best = slots, closed, best


@kernel
def prefetch_ball(mask, seat, learned, stride, s, entry, depth):
    """Prefetch what a lookahead from ``s`` will read: the moves, the slots and the values of its cells.

    ``entry`` is that of ``s`` in the table of values; those of other cells are as far from it as the cells are.
    """
    last = learned.state[0].places - 1
    for dy in range(-depth, depth + 1):
        first = s + dy * stride - depth
        prefetch(mask, first)
        prefetch(mask, first + 2 * depth)
        for k in range(0, 2 * depth + 8, 8):
            prefetch(seat, first + k)
        for k in range(0, 2 * depth + 4, 4):
            place = first_place(last, entry - s + first + k)
            prefetch(learned.cells, place)
            prefetch(learned.values, place)


@kernel(inline=True)
def ask_for(batch, i, action):
    """Prefetch what the search of episode ``i`` will read, while another episode is stepped."""
    episodes, problems = batch.episodes, batch.problems
    p, control = episodes.problem[i], merge(row(episodes.control, i), batch.thread)
    terrain, s = map_of(batch.maps, problems.map[p]), episodes.trip.state[i, 0].at
    depth, goal = asked(control, batch.terms, problems.goal[p], action)
    entry = entry_of(control.learned, s, goal)
    prefetch_ball(terrain.mask, control.space.seat, control.learned, terrain.offset[1], s, entry, depth)


@kernel(inline=True)
def choose_problem(batch, i):
    """Put episode ``i`` to the start of a random problem of the pool and return its number."""
    p = choose(batch.problems, batch.episodes, i)
    restart_trip(row(batch.episodes.trip, i), batch.meter, batch.problems.start[p])
    return p


@kernel(inline=True)
def enter_step(info, i, flags, depth, expansions, scans):
    """Enter what a step tells of episode ``i`` beside its results."""
    info.flags[i], info.depth[i], info.expansions[i], info.scans[i] = flags, depth, expansions, scans


# Decisions: RTDepth-v0, and RTDepthGoal-v0, where ``tables`` holds the subgoals; it is None otherwise.


@kernel(inline=True)
def subgoals_for(tables, p):
    """Return the subgoals of problem ``p``, None where there are none."""
    if tables is None:
        return None
    return subgoals_of(tables, p)


@kernel
def start_decisions(batch, tables, i, out):
    """Begin a new episode ``i`` and write its first observation."""
    p, episodes, problems = choose_problem(batch, i), batch.episodes, batch.problems
    control, terrain = merge(row(episodes.control, i), batch.thread), map_of(batch.maps, problems.map[p])
    subgoals, goal = subgoals_for(tables, p), problems.goal[p]
    begin_control(terrain, row(episodes.trip, i), control, subgoals, batch.terms, goal)
    write_inputs(control, out[i])


@kernel
def start_all_decisions(handle, chosen, out):
    """Begin new episodes where ``chosen``, bool[n], is true; write all observations into ``out``, float32[n, size]."""
    batch, tables = handle.batch, handle.tables
    for i in range(chosen.size):
        if chosen[i]:
            start_decisions(batch, tables, i, out)
        else:
            write_inputs(row(batch.episodes.control, i), out[i])


@kernel
def step_decisions(handle, actions, results, info, begin, end):
    """Make one step of the episodes from ``begin`` to ``end - 1``; ``actions`` is int64[n], of all episodes."""
    batch, tables, out = handle.batch, handle.tables, results.observation
    episodes, problems = batch.episodes, batch.problems
    for i in range(begin, end):
        if i + 1 < end:
            ask_for(batch, i + 1, actions[i + 1])
        reward, flags, depth, expansions, scans = 0.0, np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        if batch.mode == NEXT_STEP and episodes.over[i]:
            start_decisions(batch, tables, i, out)
        else:
            p, control = episodes.problem[i], merge(row(episodes.control, i), batch.thread)
            reward, flags, depth, expansions, scans = step_decision(
                batch.truth, map_of(batch.maps, problems.map[p]), row(episodes.trip, i), control,
                subgoals_for(tables, p), batch.terms, problems.goal[p], actions[i], problems.unit[p], out[i],
            )  # fmt: skip
        enter_step(info, i, flags, depth, expansions, scans)
        if close_step(results, episodes.over, batch.mode, i, reward, flags):
            start_decisions(batch, tables, i, out)


# Layers: RTDeepen-v0


@kernel(inline=True)
def deepening_of(batch, i):
    """Return the state of episode ``i``; its search goes on with the thread's stamp, or begins with the next one."""
    deepening = merge(row(batch.episodes.control, i), batch.thread)
    deepening.control.space.state[0].stamp = batch.stamp[0]
    return deepening


@kernel
def start_layers(batch, i, out):
    """Begin a new episode ``i`` and write its first observation."""
    p, episodes, problems = choose_problem(batch, i), batch.episodes, batch.problems
    deepening, terrain = deepening_of(batch, i), map_of(batch.maps, problems.map[p])
    begin_deepening(terrain, row(episodes.trip, i), deepening, batch.terms, problems.goal[p], out[i])
    batch.stamp[0] = deepening.control.space.state[0].stamp


@kernel
def start_all_layers(handle, chosen, out):
    """Begin new episodes where ``chosen``, bool[n], is true; write all observations into ``out``, float32[n, size]."""
    batch = handle.batch
    for i in range(chosen.size):
        if chosen[i]:
            start_layers(batch, i, out)
        else:
            write_layered(row(batch.episodes.control, i), out[i])


@kernel
def step_layers(handle, actions, results, info, begin, end):
    """Make one step of the episodes from ``begin`` to ``end - 1``; ``actions`` is int64[n], of all episodes."""
    batch, out = handle.batch, results.observation
    episodes, problems = batch.episodes, batch.problems
    for i in range(begin, end):
        reward, flags, depth, expansions, scans = 0.0, np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        if batch.mode == NEXT_STEP and episodes.over[i]:
            start_layers(batch, i, out)
        else:
            p, deepening = episodes.problem[i], deepening_of(batch, i)
            space = deepening.control.space
            if actions[i] == DEEPEN:
                restore_slots(space)
            reward, flags, depth, expansions, scans = step_layer(
                batch.truth, map_of(batch.maps, problems.map[p]), row(episodes.trip, i), deepening, batch.terms,
                problems.goal[p], actions[i], problems.unit[p], out[i],
            )  # fmt: skip
            batch.stamp[0] = space.state[0].stamp
        enter_step(info, i, flags, depth, expansions, scans)
        if close_step(results, episodes.over, batch.mode, i, reward, flags):
            start_layers(batch, i, out)
