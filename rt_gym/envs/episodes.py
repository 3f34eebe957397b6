"""Which problem every episode of a batch has and gets next, and what is told of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import Common, Maps, Problems
from rt_gym.envs.settings import Settings
from rt_gym.envs.single import NOT_IN_POOL
from rt_gym.errors import InputError, quoted
from rt_gym.problem import Problem

Mask = NDArray[np.bool_]


class Assignment:
    """The problems of the episodes of a batch.

    Args:
        settings: of the environment; those with fresh maps have two places for every episode, see
            ``rt_gym.envs.fresh``.
        common: the episodes.
        replace: puts a problem into a place, where maps are fresh.
    """

    def __init__(self, settings: Settings, common: Common, replace: Callable[[int, Problem], None]) -> None:
        self._settings, self._common, self._replace = settings, common, replace
        problems, episodes = len(settings.pool), common.over.size
        self._names, self._optimal = np.full(problems, None, object), np.full(problems, np.nan)
        self._known = np.zeros(problems, np.bool_)
        self._told: dict[str, NDArray[Any]] = {
            "index": np.full(episodes, NOT_IN_POOL),
            "map": np.full(episodes, None, object),
            "optimal": np.full(episodes, np.nan),
        }
        self._next_place = 2 * np.arange(common.over.size)

    def checked(self, index: Any) -> NDArray[np.int64]:
        """Return an option that must say which problem of the pool every episode is given."""
        count, pool = self._common.over.size, len(self._settings.pool)
        if self._settings.fresh:
            raise InputError("options['index'] needs a pool, and maps that are made for every episode have none")
        found = np.asarray(index) if isinstance(index, (np.ndarray, list, tuple)) else np.empty(0)
        if found.shape != (count,) or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= pool:
            raise InputError(
                f"options['index'] must be {count} whole numbers from 0 to {pool - 1}, not {quoted(index)}"
            )
        return found.astype(np.int64)

    def queue(self, index: NDArray[np.int64], chosen: Mask) -> None:
        """Let the next episodes of those chosen have these problems of the pool."""
        self._common.queued[chosen] = index[chosen]

    def make_next(self, chosen: Mask) -> None:
        """Make the next problems of the chosen episodes, where maps are fresh."""
        fresh = self._settings.fresh
        if not fresh:
            return
        for i in np.flatnonzero(chosen).tolist():
            place = int(self._next_place[i])
            problem = fresh.problem(self._common.random[i : i + 1], self._settings.pool[place])
            self._replace(place, problem)
            self._settings.pool[place], self._known[place] = problem, False
            self._common.queued[i] = place
            self._next_place[i] = place ^ 1

    def tell(self, begun: Mask) -> dict[str, Any]:
        """Return what ``reset`` tells of problems, of all episodes; and which of them have just begun.

        In a large batch some episode ends at nearly every step, so only those that have begun are looked at.
        """
        places = np.flatnonzero(begun)
        numbers = self._common.problem[places]
        for k in set(numbers[~self._known[numbers]].tolist()):
            problem = self._settings.pool[k]
            self._names[k], self._optimal[k] = problem.grid.name, self._settings.shown_optimal(problem)
            self._known[k] = True
        told = self._told
        told["map"][places], told["optimal"][places] = self._names[numbers], self._optimal[numbers]
        if not self._settings.fresh:
            told["index"][places] = numbers
        return {name: values.copy() for name, values in told.items()} | {f"_{name}": begun for name in told}


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
