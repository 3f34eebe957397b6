"""The state of a batch of path episodes, and its kernels.

Maps that do not change are shared by all episodes, and in fog each has a sheet of bits of what it has seen; where the
map changes, or the sight is very far, every episode has arrays of its own. The step itself is the single environment's,
so that the same seeds give the same trajectories.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.budget import AT, LIMIT, MOVES, OVERRUNS, STAY, UNLIMITED, Trip
from rt_gym.envs.episode import PLANES, RADIUS, WINDOW, step_episode, write_numbers
from rt_gym.envs.move import BLOCKED, TERMINATED, TRUNCATED, Terms
from rt_gym.envs.settings import PathSettings
from rt_gym.envs.stack import NEXT_STEP, SAME_STEP, Maps, Problems, Results, choose, close_step, cut_out
from rt_gym.envs.window import Sheets, make_sheet, write_window
from rt_gym.features import RAISED, Track, begin_track
from rt_gym.grid import Terrain, locate
from rt_gym.jit import kernel
from rt_gym.world import VISION, Truth, observe, sight

AT_ONCE = 64  # episodes that make their moves before the first of them is observed


class Cover(NamedTuple):
    """What the maps of a batch are to the eyes of its episodes, in the order of ``Maps``.

    ``open_mask`` and ``open_free`` are the maps without obstacles, empty where no episode needs them. ``blocked`` and
    ``unseen`` are sheets of bits: the map, and what an episode in fog has seen before it begins; both are empty where
    episodes have maps of their own, the second also without fog. Those of a map begin at byte ``sheet``, which has one
    entry more than there are maps; their ``margin`` is one for all.
    """

    open_mask: NDArray[np.uint8]
    open_free: NDArray[np.uint8]
    blocked: NDArray[np.uint8]
    unseen: NDArray[np.uint8]
    sheet: NDArray[np.int64]
    margin: NDArray[np.int64]


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


@kernel(inline=True)
def terrain_of(maps, problems, episodes, i):
    """Return what episode ``i`` believes of its map.

    On a map that does not change that is the true one, shared by all, even in fog: every move out of the agent's own
    cell is in sight, and what else it has seen stands on its sheet.
    """
    terrain = cut_out(maps, problems.map[episodes.problem[i]])
    if episodes.own_mask.shape[1] == 0:
        return terrain
    n = terrain.mask.size
    own_mask, own_free, own_known = episodes.own_mask[i], episodes.own_free[i], episodes.own_known[i]
    return Terrain(
        own_mask[:n], own_free[:n], own_known[:n],
        terrain.xy, terrain.offset, terrain.cost, terrain.metric, terrain.rule,
    )  # fmt: skip


@kernel(inline=True)
def sheets_of(cover, problems, episodes, i):
    """Return the sheets of episode ``i``."""
    p = episodes.problem[i]
    begin = cover.sheet[problems.map[p]]
    return Sheets(cover.blocked, begin, episodes.seen[i], cover.margin[0], problems.vision[p])


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
def lay_out(maps, cover, problems, episodes, i):
    """Give episode ``i`` its own copy of the map, true and as it is believed before anything has been seen."""
    p = episodes.problem[i]
    m = problems.map[p]
    a, n, clear = maps.begin[m], maps.begin[m + 1] - maps.begin[m], problems.vision[p] <= 0
    episodes.state[i] = 0
    episodes.state[i, VISION] = problems.vision[p]
    episodes.own_known[i] = clear
    for k in range(n):
        episodes.own_mask[i, k] = maps.mask[a + k] if clear else cover.open_mask[a + k]
        episodes.own_free[i, k] = maps.free[a + k] if clear else cover.open_free[a + k]
        episodes.own_real[i, k] = maps.free[a + k]


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
def start(maps, cover, problems, episodes, desk, lane, i):
    """Begin a new episode ``i`` with a random problem of the pool."""
    p = choose(problems, episodes, i)
    m = problems.map[p]
    episodes.at[i] = problems.start[p]
    episodes.moves[i] = 0
    clear = problems.vision[p] <= 0
    if episodes.seen.shape[1] > 0:
        begin = cover.sheet[m]
        for k in range(cover.sheet[m + 1] - begin):
            episodes.seen[i, k] = np.uint8(255) if clear else cover.unseen[begin + k]
    if episodes.own_mask.shape[1] > 0:
        lay_out(maps, cover, problems, episodes, i)
        terrain, trip = terrain_of(maps, problems, episodes, i), take_up(episodes, desk, lane, i)
        observe(truth_of(maps, problems, episodes, i), terrain, trip, trip.meter[AT], trip.meter[AT])
    begin_track(track_of(episodes, i), problems.start[p])


@kernel(inline=True)
def show(maps, cover, problems, episodes, terms, i, out):
    """Write the observation of episode ``i``. There is no meter, so all of the budget is left."""
    terrain, sheets = terrain_of(maps, problems, episodes, i), sheets_of(cover, problems, episodes, i)
    x, y = locate(terrain, episodes.at[i])
    radius, planes = terms.size[RADIUS], terms.size[PLANES]
    write_numbers(
        terrain, track_of(episodes, i), terms, x, y, problems.goal[episodes.problem[i]], np.float32(1), out[i]
    )
    write_window(terrain, sheets, x, y, radius, planes, out[i, WINDOW:])


@kernel
def start_all(maps, cover, problems, episodes, desk, terms, chosen, out, bits):
    """Begin new episodes where ``chosen`` says so, and write the observations of all."""
    for i in range(chosen.size):
        if chosen[i]:
            start(maps, cover, problems, episodes, desk, 0, i)
        show(maps, cover, problems, episodes, terms, i, out)
        bits[i] = moves_of(maps, problems, episodes, i)


@kernel
def step_range(
    starts, mask, free, known, xy, offset, cost, metric, rule,
    open_mask, open_free, blocked_bits, unseen, sheet, margin,
    number, start_at, goal, unit, vision, change, when, where, opens,
    problem, random, at, moves, state, cells, raised, steps, own_mask, own_free, own_known, own_real, seen, over,
    meter, tally, no_plan, no_cells, no_clock, size, scale, prices,
    observation, last, reward, terminated, truncated, blocked, bits,
    actions, still, mode, lane, begin, end,
):  # fmt: skip
    """Make one step of some episodes. Arrays are passed one by one: as tuples the call would cost far more."""
    maps = Maps(starts, mask, free, known, xy, offset, cost, metric, rule)
    cover = Cover(open_mask, open_free, blocked_bits, unseen, sheet, margin)
    problems = Problems(number, start_at, goal, unit, vision, change, when, where, opens)
    episodes = Episodes(
        problem, random, at, moves, state, cells, raised, steps, own_mask, own_free, own_known, own_real, seen, over
    )
    desk, terms = Desk(meter, tally, no_plan, no_cells, no_clock), Terms(size, scale, prices)
    results = Results(observation, last, reward, terminated, truncated)
    for first in range(begin, end, AT_ONCE):
        stop = min(first + AT_ONCE, end)
        step_episodes(
            maps, cover, problems, episodes, desk, terms, results, blocked, bits, actions, still, mode, lane,
            first, stop,
        )  # fmt: skip
        show_episodes(maps, cover, problems, episodes, terms, observation, first, stop)


@kernel(inline=True)
def step_episodes(
    maps, cover, problems, episodes, desk, terms, results, blocked, bits, actions, still, mode, lane, begin, end
):
    """Make one step of the episodes from ``begin`` to ``end - 1``; their observations are written by ``show_episodes``.

    ``lane`` is the thread's row of the desk, ``still`` the action that stands still, -1 if there is none.
    """
    out = results.observation
    for i in range(begin, end):
        reward, flags = 0.0, np.int64(0)
        if mode == NEXT_STEP and episodes.over[i]:
            start(maps, cover, problems, episodes, desk, lane, i)
        else:
            p = episodes.problem[i]
            d = np.int64(STAY) if actions[i] == still else np.int64(actions[i])
            trip = take_up(episodes, desk, lane, i)
            reward, flags, _ = step_episode(
                truth_of(maps, problems, episodes, i), terrain_of(maps, problems, episodes, i),
                trip, track_of(episodes, i), terms, problems.goal[p], d, problems.unit[p],
            )  # fmt: skip
            put_back(episodes, trip, i)
        if mode == SAME_STEP and flags & (TERMINATED | TRUNCATED):
            show(maps, cover, problems, episodes, terms, i, out)
        if close_step(results, episodes.over, mode, i, reward, flags):
            start(maps, cover, problems, episodes, desk, lane, i)
        blocked[i] = flags & BLOCKED != 0
        bits[i] = moves_of(maps, problems, episodes, i)


@kernel
def show_episodes(maps, cover, problems, episodes, terms, out, begin, end):
    """Write the observations of the episodes from ``begin`` to ``end - 1``."""
    for i in range(begin, end):
        show(maps, cover, problems, episodes, terms, i, out)


def make_cover(settings: PathSettings) -> Cover:
    """Return what there is to see of the maps of an environment."""
    grids, hidden = settings.grids, settings.fog and settings.private
    margin = max(settings.window // 2, *(0 if settings.private else sight(problem) for problem in settings.pool), 0)
    sheets = [] if settings.private else [make_sheet(~grid.passable, margin) for grid in grids]
    unseen = [make_sheet(np.zeros_like(grid.passable), margin) for grid in grids] if sheets and settings.fog else []
    ground = [grid.open_ground for grid in grids] if hidden else []
    no_bits = np.empty(0, np.uint8)
    return Cover(
        open_mask=np.concatenate([no_bits, *(terrain.mask for terrain in ground)]),
        open_free=np.concatenate([no_bits, *(terrain.free for terrain in ground)]),
        blocked=np.concatenate([no_bits, *sheets]),
        unseen=np.concatenate([no_bits, *unseen]),
        sheet=np.cumsum([0, *(sheet.size for sheet in sheets or [no_bits] * len(grids))]),
        margin=np.array([margin]),
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
        seen=np.empty((count, sheet), np.uint8),
        over=np.zeros(count, np.bool_),
    )
