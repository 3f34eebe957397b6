"""The state of a batch of path episodes, and its kernels.

Maps that do not change are shared by all episodes, and in fog each has a sheet of bits of what it has seen; where the
map changes, or the sight is very far, every episode has a map of its own. Kernels are compiled for either case: ``own``
is None where maps are shared, so that a test for it costs nothing. The same seeds give the same trajectories as those
of the single environment.

Indices of episodes, problems and maps are unsigned: a signed one is tested at every look at an array.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.episode import PLANES, RADIUS, WINDOW, step_episode, write_numbers
from rt_gym.envs.move import BLOCKED, TERMINATED, TRUNCATED, Terms, judge
from rt_gym.envs.own_maps import Ground, lay_out, own_terrain, own_truth
from rt_gym.envs.settings import PathSettings
from rt_gym.envs.stack import NEXT_STEP, SAME_STEP, Maps, Problems, Results, choose, close_step
from rt_gym.envs.window import Sheets, make_sheet, write_window
from rt_gym.features.history import Track, begin_track, follow
from rt_gym.grid import Terrain, target
from rt_gym.jit import kernel
from rt_gym.meter import UNLIMITED
from rt_gym.trip import STAY, Trip
from rt_gym.world import observe, sight


class Cover(NamedTuple):
    """What the maps of a batch are to the eyes of its episodes, in the order of ``Maps``.

    ``blocked`` and ``unseen`` are sheets of bits: the map, and what an episode in fog has seen before it begins; both
    are empty where episodes have maps of their own, the second also without fog. Those of a map begin at byte
    ``sheet``, which has one entry more than there are maps; their ``margin`` is one for all.
    """

    blocked: NDArray[np.uint8]
    unseen: NDArray[np.uint8]
    sheet: NDArray[np.int64]
    margin: NDArray[np.int64]


class Episodes(NamedTuple):
    """The state of all episodes, one row each.

    Where maps are shared, cells are counted through all of them, and ``seen`` holds the sheets of episodes in fog.
    ``over`` says which episodes have ended.
    """

    problem: NDArray[np.int64]
    random: NDArray[np.uint64]
    at: NDArray[np.int64]
    moves: NDArray[np.int64]
    cells: NDArray[np.int32]
    raised: NDArray[np.uint8]
    steps: NDArray[np.int64]
    seen: NDArray[np.uint8]
    over: NDArray[np.bool_]


class Desk(NamedTuple):
    """The Trip of whichever episode a thread is at, one row per thread; for episodes with maps of their own.

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
def terrain_of(maps, own, m, i):
    """Return what episode ``i`` believes of map ``m``.

    On a map that does not change that is the true one, shared by all, even in fog: every move out of the agent's own
    cell is in sight, and what else it has seen stands on its sheet.
    """
    if own is None:
        return Terrain(
            maps.mask, maps.free, maps.known, maps.xy, maps.offset[m], maps.cost[m], maps.metric[m], maps.rule[m]
        )
    return own_terrain(maps, own, np.int64(m), i)


@kernel(inline=True)
def home_of(maps, own, m):
    """Return the first cell of map ``m``."""
    if own is None:
        return maps.begin[m]
    return np.int64(0)


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
    episodes.at[i] = trip.state[0].at
    episodes.moves[i] = trip.tally[0].moves


@kernel(inline=True)
def track_of(episodes, i):
    """Return the history of episode ``i``."""
    return Track(episodes.cells[i], episodes.raised[i], episodes.steps[i])


@kernel
def start(maps, ground, cover, problems, own, episodes, desk, lane, i):
    """Begin a new episode ``i`` with a random problem of the pool."""
    p = choose(problems, episodes, np.int64(i))
    m = problems.map[p]
    episodes.at[i] = problems.start[p]
    episodes.moves[i] = 0
    clear = problems.vision[p] <= 0
    if episodes.seen.shape[1] > 0:
        begin = cover.sheet[m]
        for k in range(cover.sheet[m + 1] - begin):
            episodes.seen[i, k] = np.uint8(255) if clear else cover.unseen[begin + k]
    if own is not None:
        lay_out(maps, ground, problems, own, p, i)
        terrain, trip = own_terrain(maps, own, m, i), take_up(episodes, desk, lane, i)
        observe(own_truth(maps, problems, own, p, i), terrain, trip, trip.state[0].at, trip.state[0].at)
    begin_track(track_of(episodes, i), problems.start[p])


@kernel(inline=True)
def move(maps, problems, own, episodes, desk, terms, lane, i, d):
    """Make one move of episode ``i`` in direction ``d`` and return its reward and bits, see ``make_move``.

    On a map that does not change, a move is no more than a look at its bit: nobody else has anything to note.
    """
    p = np.uint64(episodes.problem[i])
    m, t, unit, track = np.uint64(problems.map[p]), problems.goal[p], problems.unit[p], track_of(episodes, i)
    terrain = terrain_of(maps, own, m, i)
    if own is None:
        s = episodes.at[i]
        u, moves = target(terrain, s, d), episodes.moves[i] + 1
        episodes.at[i], episodes.moves[i] = u, moves
        follow(track, u, np.int64(0))
        reward, flags = judge(terrain, terms, s, u, t, d, moves)
        return reward * unit, flags
    trip = take_up(episodes, desk, lane, i)
    truth = own_truth(maps, problems, own, np.int64(p), i)
    reward, flags, _ = step_episode(truth, terrain, trip, track, terms, t, d, unit)
    put_back(episodes, trip, i)
    return reward, flags


@kernel(inline=True)
def show(maps, cover, problems, own, episodes, terms, i, out, bits):
    """Write the observation of episode ``i`` and its move bits. There is no meter, so all of the budget is left."""
    p = np.uint64(episodes.problem[i])
    m, s, t = np.uint64(problems.map[p]), episodes.at[i], problems.goal[p]
    terrain, home, track = terrain_of(maps, own, m, i), home_of(maps, own, m), track_of(episodes, i)
    sheets = Sheets(cover.blocked, cover.sheet[m], episodes.seen[i], cover.margin[0], problems.vision[p])
    radius, planes = terms.size[RADIUS], terms.size[PLANES]
    bits[i] = terrain.mask[s]
    x, y = write_numbers(terrain, home, track, terms, s, t, np.float32(1), out[i])
    write_window(terrain, sheets, x, y, radius, planes, out[i, WINDOW:])


@kernel
def start_all(maps, ground, cover, problems, own, episodes, desk, terms, chosen, out, bits):
    """Begin new episodes where ``chosen`` says so, and write the observations of all."""
    for k in range(chosen.size):
        i = np.uint64(k)
        if chosen[i]:
            start(maps, ground, cover, problems, own, episodes, desk, 0, i)
        show(maps, cover, problems, own, episodes, terms, i, out, bits)


@kernel
def step_range(
    starts, mask, free, known, xy, offset, cost, metric, rule,
    open_mask, open_free, blocked_bits, unseen, sheet, margin,
    number, start_at, goal, unit, vision, change, when, where, opens,
    own, problem, random, at, moves, cells, raised, steps, seen, over,
    meter, tally, no_plan, no_cells, no_clock, size, scale, prices,
    observation, last, reward, terminated, truncated, blocked, bits,
    actions, still, mode, lane, begin, end,
):  # fmt: skip
    """Make one step of some episodes. Arrays are passed one by one: as tuples the call would cost far more."""
    maps, ground = Maps(starts, mask, free, known, xy, offset, cost, metric, rule), Ground(open_mask, open_free)
    cover = Cover(blocked_bits, unseen, sheet, margin)
    problems = Problems(number, start_at, goal, unit, vision, change, when, where, opens)
    episodes = Episodes(problem, random, at, moves, cells, raised, steps, seen, over)
    desk, terms = Desk(meter, tally, no_plan, no_cells, no_clock), Terms(size, scale, prices)
    results = Results(observation, last, reward, terminated, truncated)
    step_episodes(
        maps, ground, cover, problems, own, episodes, desk, terms, results, blocked, bits, actions, still, mode, lane,
        begin, end,
    )  # fmt: skip
    show_episodes(maps, cover, problems, own, episodes, terms, observation, bits, begin, end)


@kernel(inline=True)
def step_episodes(
    maps, ground, cover, problems, own, episodes, desk, terms, results, blocked, bits, actions, still, mode,
    lane, begin, end,
):  # fmt: skip
    """Make one step of the episodes from ``begin`` to ``end - 1``; their observations are written by ``show_episodes``.

    ``lane`` is the thread's row of the desk, ``still`` the action that stands still, -1 if there is none.
    """
    out = results.observation
    for k in range(begin, end):
        i = np.uint64(k)
        reward, flags = 0.0, np.int64(0)
        if mode == NEXT_STEP and episodes.over[i]:
            start(maps, ground, cover, problems, own, episodes, desk, lane, i)
        else:
            d = np.int64(STAY) if actions[i] == still else np.int64(actions[i])
            reward, flags = move(maps, problems, own, episodes, desk, terms, lane, i, d)
        if mode == SAME_STEP and flags & (TERMINATED | TRUNCATED):
            show(maps, cover, problems, own, episodes, terms, i, out, bits)
        if close_step(results, episodes.over, mode, i, reward, flags):
            start(maps, ground, cover, problems, own, episodes, desk, lane, i)
        blocked[i] = flags & BLOCKED != 0


@kernel
def show_episodes(maps, cover, problems, own, episodes, terms, out, bits, begin, end):
    """Write the observations and the move bits of the episodes from ``begin`` to ``end - 1``."""
    for k in range(begin, end):
        show(maps, cover, problems, own, episodes, terms, np.uint64(k), out, bits)


def make_cover(settings: PathSettings) -> Cover:
    """Return what there is to see of the maps of an environment."""
    grids = settings.grids
    margin = max(settings.window // 2, *(0 if settings.private else sight(problem) for problem in settings.pool), 0)
    sheets = [] if settings.private else [make_sheet(~grid.passable, margin) for grid in grids]
    unseen = [make_sheet(np.zeros_like(grid.passable), margin) for grid in grids] if sheets and settings.fog else []
    no_bits = np.empty(0, np.uint8)
    return Cover(
        blocked=np.concatenate([no_bits, *sheets]),
        unseen=np.concatenate([no_bits, *unseen]),
        sheet=np.cumsum([0, *(sheet.size for sheet in sheets or [no_bits] * len(grids))]),
        margin=np.array([margin]),
    )


def make_episodes(count: int, history: int, sheet: int) -> Episodes:
    """Return room for so many episodes; what an episode has seen takes up to ``sheet`` bytes."""
    return Episodes(
        problem=np.zeros(count, np.int64),
        random=np.zeros(count, np.uint64),
        at=np.zeros(count, np.int64),
        moves=np.zeros(count, np.int64),
        cells=np.zeros((count, history), np.int32),
        raised=np.zeros((count, history), np.uint8),
        steps=np.zeros((count, RAISED + 1), np.int64),
        seen=np.empty((count, sheet), np.uint8),
        over=np.zeros(count, np.bool_),
    )
