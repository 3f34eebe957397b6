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

_MASKS = ("_index", "_map", "_optimal")


class Assignment:
    """The problems of the episodes of a batch.

    Args:
        settings: of the environment; those with fresh maps have two places for every episode, see
            ``rt_gym.maps.fresh``.
        common: the episodes.
        replace: puts a problem into a place, where maps are fresh.
    """

    def __init__(self, settings: Settings, common: Common, replace: Callable[[int, Problem], None]) -> None:
        self._settings, self._common, self._replace = settings, common, replace
        count = len(settings.pool)
        self._names, self._optimal = np.full(count, None, object), np.full(count, np.nan)
        self._unasked = np.ones(count, np.bool_)  # of which problems the two above have not been asked
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
            self._settings.pool[place], self._unasked[place] = problem, True
            self._common.queued[i] = place
            self._next_place[i] = place ^ 1

    def tell(self, begun: Mask) -> dict[str, Any]:
        """Return what ``reset`` tells of problems, of all episodes; and which of them have just begun."""
        numbers = self._common.problem
        # In a large batch episodes end at nearly every step; bytes are searched in a tenth of the time of any().
        if b"\1" in self._unasked.tobytes():
            self._ask(numbers[begun])
        index = np.full_like(numbers, NOT_IN_POOL) if self._settings.fresh else numbers.copy()
        told = {"index": index, "map": self._names.take(numbers), "optimal": self._optimal.take(numbers)}
        return told | dict.fromkeys(_MASKS, begun)

    def _ask(self, numbers: NDArray[np.int64]) -> None:
        """Look up what is told of these problems, where that has not been done."""
        for k in set(numbers[self._unasked[numbers]].tolist()):
            problem = self._settings.pool[k]
            self._names[k], self._optimal[k] = problem.grid.name, self._settings.shown_optimal(problem)
            self._unasked[k] = False


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
