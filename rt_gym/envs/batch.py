"""The state of a batch of episodes, and its kernels.

All maps stand behind each other in one set of arrays; an episode knows where its own begins. Maps that do not change
are shared by all episodes, and in fog each has a sheet of bits of what it has seen; where the map changes, or the sight
is very far, every episode has arrays of its own. The step itself is the single environment's, so that the same seeds
give the same trajectories.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.budget import AT, LIMIT, MOVES, OVERRUNS, STAY, UNLIMITED, Trip
from rt_gym.envs.episode import (
    BLOCKED,
    TERMINATED,
    TRUNCATED,
    Terms,
    begin_episode,
    step_episode,
    write_observation,
)
from rt_gym.envs.settings import PathSettings
from rt_gym.envs.window import Sheets, make_sheet
from rt_gym.features import RAISED, Track
from rt_gym.grid import Terrain
from rt_gym.jit import kernel
from rt_gym.search.space import draw
from rt_gym.world import VISION, Truth, observe, sight

NEXT_STEP, SAME_STEP, DISABLED = range(3)


class Maps(NamedTuple):
    """All maps of a batch, behind each other; ``begin`` and ``sheet`` have one entry more than there are maps.

    The arrays from ``mask`` to ``xy`` are those of ``Terrain``; ``open_mask`` and ``open_free`` are the same map
    without obstacles, empty where no episode needs them. ``blocked`` and ``unseen`` are sheets of bits: the map, and
    what an episode in fog has seen before it begins; both are empty where episodes have maps of their own, the second
    also without fog. Those of a map begin at byte ``sheet``, their ``margin`` is one for all. The last four have one
    row per map.
    """

    begin: NDArray[np.int64]
    mask: NDArray[np.uint8]
    free: NDArray[np.uint8]
    known: NDArray[np.uint8]
    open_mask: NDArray[np.uint8]
    open_free: NDArray[np.uint8]
    xy: NDArray[np.int32]
    blocked: NDArray[np.uint8]
    unseen: NDArray[np.uint8]
    sheet: NDArray[np.int64]
    margin: NDArray[np.int64]
    offset: NDArray[np.int64]
    cost: NDArray[np.int64]
    metric: NDArray[np.int64]
    rule: NDArray[np.int64]


class Problems(NamedTuple):
    """The pool: one entry per problem; ``change`` has one more and says where its scheduled changes begin."""

    map: NDArray[np.int64]
    start: NDArray[np.int64]
    goal: NDArray[np.int64]
    unit: NDArray[np.float64]
    vision: NDArray[np.int64]
    change: NDArray[np.int64]
    when: NDArray[np.int64]
    where: NDArray[np.int32]
    opens: NDArray[np.uint8]


class Episodes(NamedTuple):
    """The state of all episodes, one row each.

    ``own_mask`` to ``own_real`` are the belief and the truth of an episode with a map of its own, as long as the
    largest map; they have no columns where maps are shared. There ``seen`` holds the sheets of episodes in fog.
    ``over`` says which episodes have ended.
    """

    problem: NDArray[np.int64]
    random: NDArray[np.uint64]
    at: NDArray[np.int64]
    moves: NDArray[np.int64]
    state: NDArray[np.int64]
    cells: NDArray[np.int32]
    raised: NDArray[np.uint8]
    steps: NDArray[np.int64]
    own_mask: NDArray[np.uint8]
    own_free: NDArray[np.uint8]
    own_known: NDArray[np.uint8]
    own_real: NDArray[np.uint8]
    seen: NDArray[np.uint8]
    over: NDArray[np.bool_]


class Desk(NamedTuple):
    """The Trip of whichever episode a thread is at, one row per thread.

    Batched episodes have no agents, so of all that a Trip records only where they stand and how often they have moved
    must be kept from step to step. With a Trip each, most of a step would be spent waiting for memory.
    """

    meter: NDArray[np.int64]
    tally: NDArray[np.int64]
    plan: NDArray[np.uint8]
    cells: NDArray[np.int32]
    clock: NDArray[np.int64]


def make_desk(threads: int) -> Desk:
    """Return a row for each thread, with a cache line between them."""
    meter, tally = np.zeros((threads, AT + 9), np.int64), np.zeros((threads, OVERRUNS + 9), np.int64)
    meter[:, LIMIT] = UNLIMITED
    return Desk(meter, tally, np.empty(0, np.uint8), np.empty(0, np.int32), np.empty(0, np.int64))


class Results(NamedTuple):
    """What a step returns, fresh for every call, one row per episode; ``last`` has none unless it is needed."""

    observation: NDArray[np.float32]
    last: NDArray[np.float32]
    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    blocked: NDArray[np.bool_]
    bits: NDArray[np.uint8]


@kernel(inline=True)
def terrain_of(maps, problems, episodes, i):
    """Return what episode ``i`` believes of its map.

    On a map that does not change that is the true one, shared by all, even in fog: every move out of the agent's own
    cell is in sight, and what else it has seen stands on its sheet.
    """
    m = problems.map[episodes.problem[i]]
    a, b = maps.begin[m], maps.begin[m + 1]
    offset, cost, metric, rule = maps.offset[m], maps.cost[m], maps.metric[m], maps.rule[m]
    if episodes.own_mask.shape[1] > 0:
        own_mask, own_free, own_known = episodes.own_mask[i], episodes.own_free[i], episodes.own_known[i]
        n = b - a
        return Terrain(own_mask[:n], own_free[:n], own_known[:n], maps.xy[2 * a : 2 * b], offset, cost, metric, rule)
    if maps.begin.size == 2:  # one map: no need to cut anything out
        return Terrain(maps.mask, maps.free, maps.known, maps.xy, offset, cost, metric, rule)
    return Terrain(maps.mask[a:b], maps.free[a:b], maps.known[a:b], maps.xy[2 * a : 2 * b], offset, cost, metric, rule)


@kernel(inline=True)
def sheets_of(maps, problems, episodes, i):
    """Return the sheets of episode ``i``."""
    p = episodes.problem[i]
    begin = i * (episodes.seen.size // episodes.over.size)
    margin = maps.margin[0]
    return Sheets(maps.blocked, episodes.seen, maps.sheet[problems.map[p]], begin, margin, problems.vision[p])


@kernel(inline=True)
def truth_of(maps, problems, episodes, i):
    """Return the true map of episode ``i`` and its schedule."""
    p = episodes.problem[i]
    m = problems.map[p]
    a, b = maps.begin[m], maps.begin[m + 1]
    if episodes.own_mask.shape[1] == 0:
        return Truth(maps.free, problems.when, problems.where, problems.opens, episodes.state[0])
    due = slice(problems.change[p], problems.change[p + 1])
    real = episodes.own_real[i, : b - a]
    return Truth(real, problems.when[due], problems.where[due], problems.opens[due], episodes.state[i])


@kernel(inline=True)
def take_up(episodes, desk, lane, i):
    """Lay the record of episode ``i`` on the desk of a thread and return it."""
    desk.meter[lane, AT] = episodes.at[i]
    desk.tally[lane, MOVES] = episodes.moves[i]
    none = desk.cells
    return Trip(desk.meter[lane], desk.tally[lane], desk.plan, none, none, none, desk.clock)


@kernel(inline=True)
def put_back(episodes, trip, i):
    """Keep what has changed."""
    episodes.at[i] = trip.meter[AT]
    episodes.moves[i] = trip.tally[MOVES]


@kernel(inline=True)
def track_of(episodes, i):
    """Return the history of episode ``i``."""
    return Track(episodes.cells[i], episodes.raised[i], episodes.steps[i])


@kernel(inline=True)
def moves_of(maps, problems, episodes, i):
    """Return the move bits of where episode ``i`` stands."""
    at = episodes.at[i]
    if episodes.own_mask.shape[1] == 0:
        return maps.mask[maps.begin[problems.map[episodes.problem[i]]] + at]
    return episodes.own_mask[i, at]


@kernel
def start(maps, problems, episodes, desk, terms, lane, i, out):
    """Begin a new episode ``i`` with a random problem of the pool and write its first observation."""
    p = draw(episodes.random[i : i + 1]) % problems.map.size
    m = problems.map[p]
    episodes.problem[i] = p
    a, n = maps.begin[m], maps.begin[m + 1] - maps.begin[m]
    episodes.at[i] = problems.start[p]
    episodes.moves[i] = 0
    episodes.over[i] = False
    clear = problems.vision[p] <= 0
    if episodes.seen.size > 0:
        sheets = sheets_of(maps, problems, episodes, i)
        for k in range(maps.sheet[m + 1] - maps.sheet[m]):
            episodes.seen[sheets.seen_begin + k] = np.uint8(255) if clear else maps.unseen[sheets.blocked_begin + k]
    if episodes.own_mask.shape[1] > 0:
        episodes.state[i] = 0
        episodes.state[i, VISION] = problems.vision[p]
        episodes.own_known[i] = clear
        for k in range(n):
            episodes.own_mask[i, k] = maps.mask[a + k] if clear else maps.open_mask[a + k]
            episodes.own_free[i, k] = maps.free[a + k] if clear else maps.open_free[a + k]
            episodes.own_real[i, k] = maps.free[a + k]
    terrain = terrain_of(maps, problems, episodes, i)
    trip = take_up(episodes, desk, lane, i)
    if episodes.own_mask.shape[1] > 0:
        observe(truth_of(maps, problems, episodes, i), terrain, trip, trip.meter[AT], trip.meter[AT])
    sheets = sheets_of(maps, problems, episodes, i)
    begin_episode(terrain, sheets, trip, track_of(episodes, i), terms, problems.goal[p], out[i])


@kernel
def start_all(maps, problems, episodes, desk, terms, chosen, results):
    """Begin new episodes where ``chosen`` says so; of the others write the observation again."""
    out = results.observation
    for i in range(chosen.size):
        if chosen[i]:
            start(maps, problems, episodes, desk, terms, 0, i, out)
        else:
            write_observation(
                terrain_of(maps, problems, episodes, i), sheets_of(maps, problems, episodes, i),
                take_up(episodes, desk, 0, i), track_of(episodes, i),
                terms, problems.goal[episodes.problem[i]], np.float32(1), out[i],
            )  # fmt: skip
        results.bits[i] = moves_of(maps, problems, episodes, i)


@kernel
def first_wrong(actions, high):
    """Return the number of the first action that is not from 0 to ``high - 1``, -1 if there is none."""
    for i in range(actions.size):
        if actions[i] < 0 or actions[i] >= high:
            return i
    return -1


@kernel
def step_range(
    starts, mask, free, known, open_mask, open_free, xy, blocked_bits, unseen, sheet, margin,
    offset, cost, metric, rule,
    number, start_at, goal, unit, vision, change, when, where, opens,
    problem, random, at, moves, state, cells, raised, steps, own_mask, own_free, own_known, own_real, seen, over,
    meter, tally, no_plan, no_cells, no_clock, size, scale, prices,
    observation, last, reward, terminated, truncated, blocked, bits,
    actions, still, mode, lane, begin, end,
):  # fmt: skip
    """Make one step of some episodes. Arrays are passed one by one: as tuples the call would cost far more."""
    step_episodes(
        Maps(
            starts, mask, free, known, open_mask, open_free, xy,
            blocked_bits, unseen, sheet, margin, offset, cost, metric, rule,
        ),
        Problems(number, start_at, goal, unit, vision, change, when, where, opens),
        Episodes(
            problem, random, at, moves, state, cells, raised, steps, own_mask, own_free, own_known, own_real,
            seen, over,
        ),
        Desk(meter, tally, no_plan, no_cells, no_clock),
        Terms(size, scale, prices),
        Results(observation, last, reward, terminated, truncated, blocked, bits),
        actions, still, mode, lane, begin, end,
    )  # fmt: skip


@kernel(inline=True)
def step_episodes(maps, problems, episodes, desk, terms, results, actions, still, mode, lane, begin, end):
    """Make one step of the episodes from ``begin`` to ``end - 1``.

    ``lane`` is the thread's row of the desk, ``still`` the action that stands still, -1 if there is none. ``mode`` is
    NEXT_STEP (a new episode begins with the step after the end), SAME_STEP (at the end itself; ``results.last`` then
    holds the old one's last observation) or DISABLED (the caller sees to it).
    """
    out = results.observation
    for i in range(begin, end):
        flags = np.int64(0)
        results.reward[i] = 0.0
        if mode == NEXT_STEP and episodes.over[i]:
            start(maps, problems, episodes, desk, terms, lane, i, out)
        else:
            p = episodes.problem[i]
            d = np.int64(STAY) if actions[i] == still else np.int64(actions[i])
            trip = take_up(episodes, desk, lane, i)
            results.reward[i], flags = step_episode(
                truth_of(maps, problems, episodes, i), terrain_of(maps, problems, episodes, i),
                sheets_of(maps, problems, episodes, i), trip, track_of(episodes, i),
                terms, problems.goal[p], d, problems.unit[p], out[i],
            )  # fmt: skip
            put_back(episodes, trip, i)
            if flags & (TERMINATED | TRUNCATED):
                episodes.over[i] = True
                if mode == SAME_STEP:
                    for k in range(out.shape[1]):
                        results.last[i, k] = out[i, k]
                    start(maps, problems, episodes, desk, terms, lane, i, out)
        results.terminated[i] = flags & TERMINATED != 0
        results.truncated[i] = flags & TRUNCATED != 0
        results.blocked[i] = flags & BLOCKED != 0
        results.bits[i] = moves_of(maps, problems, episodes, i)


def stack_maps(settings: PathSettings) -> Maps:
    """Put the maps of an environment behind each other."""
    grids, hidden = settings.grids, settings.fog and settings.private
    margin = max(settings.window // 2, *(0 if settings.private else sight(problem) for problem in settings.pool), 0)
    sheets = [] if settings.private else [make_sheet(~grid.passable, margin) for grid in grids]
    unseen = [make_sheet(np.zeros_like(grid.passable), margin) for grid in grids] if sheets and settings.fog else []
    terrains = [grid.terrain for grid in grids]
    ground = [grid.open_ground for grid in grids] if hidden else []
    sizes = [terrain.mask.size for terrain in terrains]
    no_bits = np.empty(0, np.uint8)

    def join(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(terrain, name) for terrain in terrains])

    def rows(name: str) -> NDArray[np.int64]:
        return np.stack([getattr(terrain, name) for terrain in terrains])

    return Maps(
        begin=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        mask=join("mask"),
        free=join("free"),
        known=join("known"),
        open_mask=np.concatenate([no_bits, *(terrain.mask for terrain in ground)]),
        open_free=np.concatenate([no_bits, *(terrain.free for terrain in ground)]),
        xy=join("xy"),
        blocked=np.concatenate([no_bits, *sheets]),
        unseen=np.concatenate([no_bits, *unseen]),
        sheet=np.cumsum([0, *(sheet.size for sheet in sheets or [no_bits] * len(grids))]),
        margin=np.array([margin]),
        offset=rows("offset"),
        cost=rows("cost"),
        metric=rows("metric"),
        rule=rows("rule"),
    )


def tabulate_problems(settings: PathSettings) -> Problems:
    """Put a pool of problems into columns."""
    pool = settings.pool
    number = {id(grid): k for k, grid in enumerate(settings.grids)}
    changes = [(problem, change) for problem in pool for change in problem.changes or ()]
    return Problems(
        map=np.array([number[id(problem.grid)] for problem in pool], np.int64),
        start=np.array([problem.grid.cell(problem.start) for problem in pool], np.int64),
        goal=np.array([problem.grid.cell(problem.goal) for problem in pool], np.int64),
        unit=np.array([settings.unit(problem) for problem in pool]),
        vision=np.array([sight(problem) for problem in pool], np.int64),
        change=np.concatenate([[0], np.cumsum([len(problem.changes or ()) for problem in pool])]).astype(np.int64),
        when=np.array([change.time for _, change in changes], np.int64),
        where=np.array([problem.grid.cell(change.position) for problem, change in changes], np.int32),
        opens=np.array([change.free for _, change in changes], np.uint8),
    )


def make_episodes(count: int, settings: PathSettings, sheet: int) -> Episodes:
    """Return room for so many episodes; what an episode has seen takes up to ``sheet`` bytes."""
    cells = max(grid.terrain.mask.size for grid in settings.grids) if settings.private else 0
    return Episodes(
        problem=np.zeros(count, np.int64),
        random=np.zeros(count, np.uint64),
        at=np.zeros(count, np.int64),
        moves=np.zeros(count, np.int64),
        state=np.zeros((count if settings.private else 1, 3), np.int64),
        cells=np.zeros((count, settings.history), np.int32),
        raised=np.zeros((count, settings.history), np.uint8),
        steps=np.zeros((count, RAISED + 1), np.int64),
        own_mask=np.empty((count, cells), np.uint8),
        own_free=np.empty((count, cells), np.uint8),
        own_known=np.empty((count, cells), np.uint8),
        own_real=np.empty((count, cells), np.uint8),
        seen=np.empty(count * sheet, np.uint8),
        over=np.zeros(count, np.bool_),
    )


def make_results(count: int, settings: PathSettings, last: bool) -> Results:
    """Return fresh arrays for what a step of so many episodes returns."""
    return Results(
        observation=np.empty((count, settings.size), np.float32),
        last=np.empty((count if last else 0, settings.size), np.float32),
        reward=np.empty(count),
        terminated=np.empty(count, np.bool_),
        truncated=np.empty(count, np.bool_),
        blocked=np.empty(count, np.bool_),
        bits=np.empty(count, np.uint8),
    )
