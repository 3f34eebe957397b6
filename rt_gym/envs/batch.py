"""What the batched environments share: concatenated maps, problems in columns, maps of an episode's own, results.

All maps are concatenated in one set of arrays; ``Maps.begin`` says where each begins. Maps that do not change are
shared by all episodes. Where they change, or where what is believed of a hidden map does not fit into bits (see
``rt_gym.features.window``), every episode has its own, true and believed.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.settings import Settings
from rt_gym.grid import Grid, coordinates
from rt_gym.jit import absent, kernel, merge, row
from rt_gym.problem import Problem
from rt_gym.search.space import draw
from rt_gym.terrain import Terrain
from rt_gym.truth import SCHEDULE, Truth, sight


class Maps(NamedTuple):
    """All maps of a batch, concatenated; ``begin`` has one entry more than there are maps.

    Attributes:
        begin: int64, the first cell of every map.
        cells: the flat arrays of ``Terrain``, concatenated; None for the others.
        rules: the others, with one row per map; None for the flat ones.
    """

    begin: NDArray[np.int64]
    cells: Terrain
    rules: Terrain


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


class Common(NamedTuple):
    """What every kind of episode has, one entry each.

    Attributes:
        problem: which problem of the pool it has.
        queued: which one it is given next, -1 for a random one.
        random: the state of its generator.
        over: whether it has ended.
    """

    problem: NDArray[np.int64]
    queued: NDArray[np.int64]
    random: NDArray[np.uint64]
    over: NDArray[np.bool_]


class OwnMaps(NamedTuple):
    """Maps that episodes do not share: one row per episode, as long as the largest map.

    Attributes:
        believed: mask, free and known of the episode's belief; None for the rest.
        real: uint8, 1 where a cell is truly free.
        state: SCHEDULE, see ``Truth``.
        unseen: the masks and the free cells of all maps without obstacles, concatenated: what an episode that has seen
            nothing believes; empty where all know their maps.
    """

    believed: Terrain
    real: NDArray[np.uint8]
    state: NDArray[np.record]
    unseen: Terrain


class Results(NamedTuple):
    """What a step returns, new arrays for every call, one row per episode.

    ``observation`` and ``last`` have one column per number of an observation; unless ``last`` is needed, they are one.
    """

    observation: NDArray[Any]
    last: NDArray[Any]
    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


_NOTHING: Any = absent(Terrain)


def concatenate_maps(grids: list[Grid]) -> Maps:
    """Return the maps of a batch."""
    terrains = [grid.terrain._replace(xy=coordinates(grid.stride, grid.height + 2)) for grid in grids]
    rows = {name: np.stack([getattr(each, name) for each in terrains]) for name in ("offset", "cost", "metric", "rule")}
    return Maps(
        begin=np.cumsum([0, *(terrain.mask.size for terrain in terrains)]),
        cells=_NOTHING._replace(**_joined(terrains, "mask", "free", "known", "xy")),
        rules=_NOTHING._replace(**rows),
    )


def locate(
    maps: Maps, problems: Problems, numbers: NDArray[np.int64] | None, cells: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the positions, n x 2, of cells: on the maps of problems of the pool or, without these, of all maps."""
    first = 0 if numbers is None else maps.begin[problems.map[numbers]]
    xy: Any = maps.cells.xy
    found: NDArray[np.int32] = xy.reshape(-1, 2)[cells + first]
    return found


def _joined(terrains: list[Terrain], *names: str) -> dict[str, NDArray[Any]]:
    kind = {"xy": np.int32}
    return {
        name: np.concatenate([np.empty(0, kind.get(name, np.uint8)), *(getattr(each, name) for each in terrains)])
        for name in names
    }


def tabulate_problems(settings: Settings) -> Problems:
    """Return the pool of an environment in columns."""
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


def replace_problem(maps: Maps, problems: Problems, k: int, problem: Problem, unit: float, first: int) -> None:
    """Put a problem and its map in the place of problem ``k``, which has map ``k`` to itself, of the same size.

    Args:
        maps: those of the batch.
        problems: those of the batch.
        k: which one.
        problem: the new one.
        unit: what a reward of one is worth in it.
        first: what its cells are counted from.
    """
    terrain, cells = problem.grid.terrain, slice(maps.begin[k], maps.begin[k + 1])
    for name in ("mask", "free", "known"):
        getattr(maps.cells, name)[cells] = getattr(terrain, name)
    for name in ("offset", "cost", "metric", "rule"):
        getattr(maps.rules, name)[k] = getattr(terrain, name)
    problems.start[k] = problem.grid.cell(problem.start) + first
    problems.goal[k] = problem.grid.cell(problem.goal) + first
    problems.unit[k] = unit


def make_common(count: int) -> Common:
    """Return what ``count`` episodes have in common with those of other environments."""
    return Common(
        problem=np.zeros(count, np.int64),
        queued=np.full(count, -1, np.int64),
        random=np.zeros(count, np.uint64),
        over=np.zeros(count, np.bool_),
    )


def make_own_maps(count: int, grids: list[Grid], hidden: bool) -> OwnMaps:
    """Return arrays for the maps of ``count`` episodes, some of which do not know theirs if ``hidden``."""
    rows = (count, max(grid.terrain.mask.size for grid in grids))
    mask, free, known, real = (np.empty(rows, np.uint8) for _ in range(4))
    return OwnMaps(
        believed=_NOTHING._replace(mask=mask, free=free, known=known),
        real=real,
        state=np.zeros((count, 1), SCHEDULE),
        unseen=_NOTHING._replace(**_joined([grid.open_ground for grid in grids if hidden], "mask", "free")),
    )


def known_truth() -> Truth:
    """Return the truth about maps that are known and do not change: nothing happens to them."""
    none = np.empty(0, np.uint8)
    return Truth(none, np.empty(0, np.int64), np.empty(0, np.int32), none, np.zeros(1, SCHEDULE))


def make_results(count: int, settings: Any, last: bool) -> Results:
    """Return fresh arrays for what a step of ``count`` episodes returns; settings know how long an observation is."""
    observation = np.empty((count, settings.size), settings.dtype)
    final = np.empty_like(observation) if last else observation
    return Results(observation, final, np.empty(count), np.empty(count, np.bool_), np.empty(count, np.bool_))


@kernel(inline=True)
def map_of(maps, m):
    """Return map ``m`` as it is known to all."""
    if maps.begin.size == 2:  # one map: no need to cut anything out
        return merge(maps.cells, row(maps.rules, m))
    a, b, cells, rules = maps.begin[m], maps.begin[m + 1], maps.cells, row(maps.rules, m)
    return Terrain(
        cells.mask[a:b],
        cells.free[a:b],
        cells.known[a:b],
        cells.xy[2 * a : 2 * b],
        rules.offset,
        rules.cost,
        rules.metric,
        rules.rule,
    )


@kernel(inline=True)
def own_terrain(maps, own, m, i):
    """Return what episode ``i`` believes of map ``m``."""
    terrain = map_of(maps, m)
    return merge(row(row(own.believed, i), slice(0, terrain.mask.size)), terrain)


@kernel(inline=True)
def own_truth(maps, problems, own, p, i):
    """Return the true map of episode ``i`` with problem ``p``, and its schedule."""
    m = problems.map[p]
    due = slice(problems.change[p], problems.change[p + 1])
    real = own.real[i, : maps.begin[m + 1] - maps.begin[m]]
    return Truth(real, problems.when[due], problems.where[due], problems.opens[due], own.state[i])


@kernel(inline=True)
def set_up_map(maps, problems, own, p, i):
    """Give episode ``i`` its own copy of the map, true and as it is believed before anything has been seen."""
    m, believed, state = problems.map[p], row(own.believed, i), own.state[i, 0]
    a, n, known = maps.begin[m], maps.begin[m + 1] - maps.begin[m], problems.vision[p] <= 0
    state.vision = problems.vision[p]
    state.due = state.held = 0
    believed.known[:] = known
    for k in range(n):
        believed.mask[k] = maps.cells.mask[a + k] if known else own.unseen.mask[a + k]
        believed.free[k] = maps.cells.free[a + k] if known else own.unseen.free[a + k]
        own.real[i, k] = maps.cells.free[a + k]


@kernel(inline=True)
def choose(problems, common, i):
    """Give episode ``i`` the queued problem, or a random one of the pool, and return its number."""
    k = np.int64(i)
    p = common.queued[i]
    if p < 0:
        p = draw(common.random[k : k + 1]) % problems.map.size
    common.queued[i] = -1
    common.problem[i] = p
    common.over[i] = False
    return p


@kernel
def first_wrong(actions, high):
    """Return the number of the first action that is not from 0 to ``high - 1``, -1 if there is none."""
    for i in range(actions.size):
        if actions[i] < 0 or actions[i] >= high:
            return i
    return -1
