"""What the batched environments share: maps behind each other, problems in columns, what a step returns.

All maps stand behind each other in one set of arrays; an episode knows where its own begins. Maps that do not change
are shared by all episodes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.move import TERMINATED, TRUNCATED
from rt_gym.envs.settings import Settings
from rt_gym.grid import Grid, Terrain
from rt_gym.jit import kernel
from rt_gym.search.space import draw
from rt_gym.world import sight

NEXT_STEP, SAME_STEP, DISABLED = range(3)


class Maps(NamedTuple):
    """All maps of a batch, behind each other; ``begin`` has one entry more than there are maps.

    The arrays from ``mask`` to ``xy`` are those of ``Terrain``; the last four have one row per map.
    """

    begin: NDArray[np.int64]
    mask: NDArray[np.uint8]
    free: NDArray[np.uint8]
    known: NDArray[np.uint8]
    xy: NDArray[np.int32]
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


class Results(NamedTuple):
    """What a step returns, fresh for every call, one row per episode; ``last`` has none unless it is needed."""

    observation: NDArray[np.float32]
    last: NDArray[np.float32]
    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


def stack_maps(grids: list[Grid]) -> Maps:
    """Put maps behind each other."""
    terrains = [grid.terrain for grid in grids]

    def join(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(terrain, name) for terrain in terrains])

    def rows(name: str) -> NDArray[np.int64]:
        return np.stack([getattr(terrain, name) for terrain in terrains])

    return Maps(
        begin=np.cumsum([0, *(terrain.mask.size for terrain in terrains)]),
        mask=join("mask"),
        free=join("free"),
        known=join("known"),
        xy=join("xy"),
        offset=rows("offset"),
        cost=rows("cost"),
        metric=rows("metric"),
        rule=rows("rule"),
    )


def tabulate_problems(settings: Settings) -> Problems:
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


def make_results(count: int, size: int, last: bool) -> Results:
    """Return fresh arrays for what a step of so many episodes returns; an observation is ``size`` long."""
    return Results(
        observation=np.empty((count, size), np.float32),
        last=np.empty((count if last else 0, size), np.float32),
        reward=np.empty(count),
        terminated=np.empty(count, np.bool_),
        truncated=np.empty(count, np.bool_),
    )


@kernel(inline=True)
def cut_out(maps, m):
    """Return map ``m`` as it is known to all."""
    a, b = maps.begin[m], maps.begin[m + 1]
    offset, cost, metric, rule = maps.offset[m], maps.cost[m], maps.metric[m], maps.rule[m]
    if maps.begin.size == 2:  # one map: no need to cut anything out
        return Terrain(maps.mask, maps.free, maps.known, maps.xy, offset, cost, metric, rule)
    return Terrain(maps.mask[a:b], maps.free[a:b], maps.known[a:b], maps.xy[2 * a : 2 * b], offset, cost, metric, rule)


@kernel(inline=True)
def choose(problems, episodes, i):
    """Give episode ``i`` a random problem of the pool and return its number."""
    p = draw(episodes.random[i : i + 1]) % problems.map.size
    episodes.problem[i] = p
    episodes.over[i] = False
    return p


@kernel(inline=True)
def close_step(results, over, mode, i, reward, flags):
    """Enter what a step of episode ``i`` returned; True if the next episode is to begin at once.

    ``mode`` is NEXT_STEP (a new episode begins with the step after the end), SAME_STEP (at the end itself;
    ``results.last`` then holds the old one's last observation) or DISABLED (the caller sees to it).
    """
    results.reward[i] = reward
    results.terminated[i] = flags & TERMINATED != 0
    results.truncated[i] = flags & TRUNCATED != 0
    over[i] = flags & (TERMINATED | TRUNCATED) != 0
    if not over[i] or mode != SAME_STEP:
        return False
    for k in range(results.last.shape[1]):
        results.last[i, k] = results.observation[i, k]
    return True


@kernel
def first_wrong(actions, high):
    """Return the number of the first action that is not from 0 to ``high - 1``, -1 if there is none."""
    for i in range(actions.size):
        if actions[i] < 0 or actions[i] >= high:
            return i
    return -1
