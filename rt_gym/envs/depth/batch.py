"""Batches of RTDepth-v0, RTDepthGoal-v0 and RTDeepen-v0: their state, and one step of many.

The episodes share known maps. Each has its own table of learned values, which is small while it is fresh. A lookahead
that ends with the step belongs to the thread. Where the search goes on layer by layer, every episode keeps its states,
and the thread has only what is as large as a map, ``Space.seat``, and the list of slots: when an episode goes on, its
states get their slots there again.

Thousands of episodes that stand anywhere find little of what they need in the cache, and a search that follows its
frontier waits for one cache line after the other. So what the next episode's search will read is prefetched.

Subgoals belong to a problem, as its goal does. Problems on the same map share its regions, and those with goals in the
same region share all of them.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs import step
from rt_gym.envs.batch import Common, Maps, Problems, choose, make_common, map_of
from rt_gym.envs.depth.deepen import DEEPEN, Deepening, begin_deepening, step_layer, write_layered
from rt_gym.envs.depth.episode import Control, ControlTerms, Subgoals, asked, begin_control, step_decision, write_inputs
from rt_gym.intrinsics import prefetch
from rt_gym.jit import kernel, merge, row
from rt_gym.search.space import NONE, forget
from rt_gym.search.tables import entry_of, first_place
from rt_gym.templates import bind
from rt_gym.trip import Trip, make_trip, restart_trip
from rt_gym.truth import Truth


class DepthEpisodes(NamedTuple):
    """All episodes, one row each.

    Attributes:
        common: what every kind of episode has.
        trip: their records, without path and log.
        control: a ``Control`` or a ``Deepening``; None where the part belongs to the thread.
    """

    common: Common
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


class SubgoalTables(NamedTuple):
    """The subgoals of a pool, concatenated; ``regions_at`` and ``aheads_at`` say where those of a problem begin."""

    region: NDArray[np.int32]
    ahead: NDArray[np.int32]
    regions_at: NDArray[np.int64]
    aheads_at: NDArray[np.int64]


class DepthStepInfo(NamedTuple):
    """What a step tells beside its results, one entry per episode."""

    flags: NDArray[np.int64]
    depth: NDArray[np.int64]
    expansions: NDArray[np.int64]
    scans: NDArray[np.int64]


def make_depth_episodes(count: int, control: Control | Deepening) -> DepthEpisodes:
    """Return the state of ``count`` episodes, whose own parts of the control are given."""
    return DepthEpisodes(
        common=make_common(count),
        trip=make_trip(1, rows=(count,)),
        control=control,
    )


def concatenate_subgoals(pool: list[Subgoals]) -> SubgoalTables:
    """Return the subgoals of all problems; what several of them share, once."""
    region, regions_at = _joined(subgoals.region for subgoals in pool)
    ahead, aheads_at = _joined(subgoals.ahead for subgoals in pool)
    return SubgoalTables(region, ahead, regions_at, aheads_at)


def room_for_subgoals(problems: int, cells: int) -> SubgoalTables:
    """Return tables for so many problems on maps of so many cells, which have no more regions than that."""
    begins = cells * np.arange(problems, dtype=np.int64)
    region, ahead = (np.full(problems * cells, NONE, np.int32) for _ in range(2))
    return SubgoalTables(region, ahead, begins, begins)


def replace_subgoals(tables: SubgoalTables, k: int, subgoals: Subgoals) -> None:
    """Put other subgoals in the place of those of problem ``k``."""
    region, ahead = int(tables.regions_at[k]), int(tables.aheads_at[k])
    tables.region[region : region + subgoals.region.size] = subgoals.region
    tables.ahead[ahead : ahead + subgoals.ahead.size] = subgoals.ahead


def _joined(arrays: Iterable[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return arrays concatenated, and where each begins."""
    listed = list(arrays)
    each = {id(array): array for array in listed}
    begins = dict(zip(each, np.cumsum([0, *(array.size for array in each.values())]), strict=False))
    return np.concatenate(list(each.values())), np.array([begins[id(array)] for array in listed], np.int64)


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
    p, control = episodes.common.problem[i], merge(row(episodes.control, i), batch.thread)
    terrain, s = map_of(batch.maps, problems.map[p]), episodes.trip.state[i, 0].at
    depth, goal = asked(control, batch.terms, problems.goal[p], action)
    entry = entry_of(control.learned, s, goal)
    prefetch_ball(terrain.mask, control.space.seat, control.learned, terrain.offset[1], s, entry, depth)


@kernel(inline=True)
def choose_problem(batch, i):
    """Put episode ``i`` to the start of a random problem of the pool and return its number."""
    p = choose(batch.problems, batch.episodes.common, i)
    restart_trip(row(batch.episodes.trip, i), batch.meter, batch.problems.start[p])
    return p


# Decisions: RTDepth-v0, and RTDepthGoal-v0, where ``tables`` holds the subgoals; it is None otherwise.


@kernel(inline=True)
def subgoals_of(tables, p):
    """Return the subgoals of problem ``p``, None where there are none."""
    if tables is None:
        return None
    return Subgoals(tables.region[tables.regions_at[p] :], tables.ahead[tables.aheads_at[p] :])


@kernel
def start_decisions(batch, tables, i, out, info):
    """Begin a new episode ``i`` and write its first observation."""
    p, episodes, problems = choose_problem(batch, i), batch.episodes, batch.problems
    control, terrain = merge(row(episodes.control, i), batch.thread), map_of(batch.maps, problems.map[p])
    subgoals, goal = subgoals_of(tables, p), problems.goal[p]
    begin_control(terrain, row(episodes.trip, i), control, subgoals, batch.terms, goal)
    write_inputs(control, out[i])


@kernel(inline=True)
def show_decisions(batch, tables, i, out, info):
    """Write the observation of episode ``i`` once more."""
    write_inputs(row(batch.episodes.control, i), out[i])


@kernel(inline=True)
def advance_decisions(batch, tables, actions, i, end, out, info):
    """Make one step of episode ``i``; return its reward and the bits of ``step_decision``."""
    episodes, problems, after = batch.episodes, batch.problems, i + np.uint64(1)
    if after < end:
        ask_for(batch, after, actions[after])
    p, control = episodes.common.problem[i], merge(row(episodes.control, i), batch.thread)
    reward, flags, info.depth[i], info.expansions[i], info.scans[i] = step_decision(
        batch.truth, map_of(batch.maps, problems.map[p]), row(episodes.trip, i), control,
        subgoals_of(tables, p), batch.terms, problems.goal[p], actions[i], problems.unit[p], out[i],
    )  # fmt: skip
    info.flags[i] = flags
    return reward, flags


start_all_decisions = bind(step.start_all, start=start_decisions, show=show_decisions)
step_decisions = bind(step.step_range, start=start_decisions, advance=advance_decisions)


# Layers: RTDeepen-v0


@kernel(inline=True)
def deepening_of(batch, i):
    """Return the state of episode ``i``; its search goes on with the thread's stamp, or begins with the next one."""
    deepening = merge(row(batch.episodes.control, i), batch.thread)
    deepening.control.space.state[0].stamp = batch.stamp[0]
    return deepening


@kernel
def start_layers(batch, tables, i, out, info):
    """Begin a new episode ``i`` and write its first observation."""
    p, episodes, problems = choose_problem(batch, i), batch.episodes, batch.problems
    deepening, terrain = deepening_of(batch, i), map_of(batch.maps, problems.map[p])
    begin_deepening(terrain, row(episodes.trip, i), deepening, batch.terms, problems.goal[p], out[i])
    batch.stamp[0] = deepening.control.space.state[0].stamp


@kernel(inline=True)
def show_layers(batch, tables, i, out, info):
    """Write the observation of episode ``i`` once more."""
    write_layered(row(batch.episodes.control, i), out[i])


@kernel(inline=True)
def advance_layers(batch, tables, actions, i, end, out, info):
    """Make one step of episode ``i``; return its reward and the bits of ``step_layer``."""
    episodes, problems = batch.episodes, batch.problems
    p, deepening = episodes.common.problem[i], deepening_of(batch, i)
    space = deepening.control.space
    if actions[i] == DEEPEN:
        restore_slots(space)
    reward, flags, info.depth[i], info.expansions[i], info.scans[i] = step_layer(
        batch.truth, map_of(batch.maps, problems.map[p]), row(episodes.trip, i), deepening, batch.terms,
        problems.goal[p], actions[i], problems.unit[p], out[i],
    )  # fmt: skip
    batch.stamp[0] = space.state[0].stamp
    info.flags[i] = flags
    return reward, flags


start_all_layers = bind(step.start_all, start=start_layers, show=show_layers)
step_layers = bind(step.step_range, start=start_layers, advance=advance_layers)
