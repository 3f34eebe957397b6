"""Maps that are made anew for every episode.

A number from the episode's own generator settles map, start and goal, so the same seed gives the same episodes, alone
and in a batch. In a batch every episode has two places for problems, each with a map of its own: for the problem it has
now, and for the one that comes next. Kernels begin an episode with the one that is ready; the place it leaves is filled
from Python when the step is over.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.maps.generate import generate
from rt_gym.problem import Problem
from rt_gym.sample import sample_problems
from rt_gym.search.space import draw

Maker = Callable[[np.random.Generator], Grid | Problem]
_TRIES = 20  # maps in a row without a problem in range before the range is given up


@kernel
def pick(random, count):
    """Return a random number below ``count``."""
    return draw(random) % count


@dataclass(frozen=True)
class Generated:
    """A generator whose seed comes from the episode."""

    family: str
    parameters: Mapping[str, Any]

    def __call__(self, rng: np.random.Generator) -> Grid:
        """Return a map."""
        return generate(self.family, **self.parameters, seed=int(rng.integers(1 << 31)))


def maker_of(source: Any) -> Maker | None:
    """Return what makes the map of an episode; None where maps are made once, for all episodes.

    Raises:
        InputError: for a generator of fresh maps that is told a seed or a count.
    """
    if callable(source):
        maker: Maker = source
        return maker
    if not isinstance(source, Mapping) or "fresh" not in source:
        return None
    parameters = {name: value for name, value in source.items() if name not in ("fresh", "family")}
    if source["fresh"] is not True:
        raise InputError(f'"fresh" of a map generator must be True or left out, not {quoted(source["fresh"])}')
    for name in ("seed", "count"):
        if name in parameters:
            raise InputError(f'a generator of fresh maps has no "{name}": the seed of reset settles the maps')
    return Generated(source.get("family"), parameters)  # type: ignore[arg-type]  # generate refuses what is no family


@dataclass(frozen=True)
class Fresh:
    """Where the problems of fresh maps come from.

    Attributes:
        make: makes a map, or a problem.
        optimal: the range of optimal costs of start and goal, where only a map is made.
        complete: gives a problem the vision and the changes of the environment.
    """

    make: Maker
    optimal: tuple[float, float]
    complete: Callable[[Problem], Problem]

    def first(self, count: int = 1, distinct: bool = False) -> list[Problem]:
        """Return problems that all others must be like in size and rules."""
        return self._problems(0, count, distinct)

    def problem(self, random: NDArray[np.uint64], like: Problem) -> Problem:
        """Return the next problem of an episode with this generator, of the same size and rules as ``like``."""
        return self.problems(random, like, 1)[0]

    def problems(self, random: NDArray[np.uint64], like: Problem, count: int, distinct: bool = False) -> list[Problem]:
        """Return the problems of an episode of so many units, all on one map.

        Args:
            random: the generator of the episode.
            like: a problem of the same size and rules.
            count: how many.
            distinct: whether no two may share a start, nor a goal.
        """
        found = self._problems(int(pick(random, 1 << 31)), count, distinct)
        if _kind(found[0]) != _kind(like):
            raise InputError(
                "all fresh maps must share their size, connectivity and cost model, and their problems vision and"
                f" changes, but after {_words(like)} came {_words(found[0])}"
            )
        return found

    def _problems(self, number: int, count: int, distinct: bool) -> list[Problem]:
        rng = np.random.default_rng(number)
        refusal = InputError("no problem was found")
        for _ in range(_TRIES):
            made = self.make(rng)
            if isinstance(made, Problem) and count == 1:
                return [self.complete(made)]
            if not isinstance(made, Grid):
                raise InputError(f"map must make a Grid{' or a Problem' * (count == 1)}, not {quoted(made)}")
            try:
                found = sample_problems(made, count, *self.optimal, int(rng.integers(1 << 31)), distinct=distinct)
            except InputError as error:
                refusal = error
            else:
                return [self.complete(problem) for problem in found]
        raise InputError(f"{_TRIES} fresh maps in a row were refused, the last because {refusal}")


def _kind(problem: Problem) -> tuple[Any, ...]:
    grid = problem.grid
    return grid.width, grid.height, grid.connectivity, grid.cost, problem.vision, problem.changes


def _words(problem: Problem) -> str:
    grid = problem.grid
    return f"{grid.width} x {grid.height} ({grid.connectivity}, {grid.cost}, vision {problem.vision})"


def places_for(problem: Problem, count: int) -> list[Problem]:
    """Return ``count`` problems, each with a map of its own, to be replaced by fresh ones."""
    return [_on_own_map(problem) for _ in range(count)]


def _on_own_map(problem: Problem) -> Problem:
    twin = copy(problem)
    object.__setattr__(twin, "grid", copy(problem.grid))
    return twin
