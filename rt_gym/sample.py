"""Random problems whose optimal cost lies within a range."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF, to_floats
from rt_gym.errors import InputError, checked_seed, flag, quoted, whole
from rt_gym.grid import Grid
from rt_gym.problem import Problem
from rt_gym.search.distance import exact_distances
from rt_gym.sizes import strips
from rt_gym.terrain import Position

_MAX_FAILURES = 200  # starts in a row without any goal in range before the range is given up


def sample_problems(
    grid: Grid,
    count: int,
    low: float = 1.0,
    high: float = float("inf"),
    seed: int = 0,
    vision: int | None = None,
    distinct: bool = False,
) -> list[Problem]:
    """Return problems with an optimal cost from ``low`` to ``high``: a random start, then a random goal in range.

    The same seed gives the same problems; a longer list begins with the shorter one.

    Args:
        grid: the map.
        count: how many problems.
        low: the least optimal cost.
        high: the greatest.
        seed: which of many such lists.
        vision: that of all problems.
        distinct: whether no two problems share a start, nor a goal, as units need that block each other.

    Raises:
        InputError: if the map has no two cells that far apart, or no more of them that are not taken, as far as many
            random starts can tell.
    """
    whole("count", count, 0)
    stream = _problems(grid, *_range(low, high), seed, vision)
    if flag("distinct", distinct):
        stream = distinct_problems(stream, _MAX_FAILURES)
    return [next(stream) for _ in range(count)]


def _range(low: Any, high: Any) -> tuple[float, float]:
    """Return a range of costs as what costs are compared with."""
    with suppress(OverflowError):  # a whole number can be larger than any float
        if isinstance(low, Real) and isinstance(high, Real) and 0 <= low <= high:  # type: ignore[operator]
            return float(low), float(high)
    raise InputError(f"the range of optimal costs must rise from 0 or more, not from {quoted(low)} to {quoted(high)}")


def _problems(grid: Grid, low: float, high: float, seed: int, vision: int | None) -> Iterator[Problem]:
    rng = np.random.default_rng(checked_seed(seed))
    if not grid.free_cells:
        raise InputError(f"map {grid.name or 'without a name'} has no free cell")
    counts = np.count_nonzero(grid.passable, axis=1)
    failures = 0
    while failures < _MAX_FAILURES:
        row, k = _share(rng, counts)
        start = int(np.flatnonzero(grid.passable[row])[k]), row
        found = _choose_goal(_field(grid, start, high), low, high, rng)
        failures = 0 if found else failures + 1
        if found:
            goal, cost = found
            problem = Problem(grid, start, goal, vision)
            problem.__dict__["optimal_cost"] = cost
            yield problem
    raise InputError(f"no two cells of the map with an optimal cost from {low:g} to {high:g} were found")


def distinct_problems(problems: Iterable[Problem], patience: float = float("inf")) -> Iterator[Problem]:
    """Yield the problems whose start was not one before, nor their goal.

    Raises:
        InputError: if ``patience`` problems in a row share a start or a goal with those before.
    """
    starts: set[Position] = set()
    goals: set[Position] = set()
    failures = 0
    for problem in problems:
        taken = problem.start in starts or problem.goal in goals
        failures = failures + 1 if taken else 0
        if failures == patience:
            raise InputError(f"no more than {len(starts)} problems were found that share no start and no goal")
        if not taken:
            starts.add(problem.start)
            goals.add(problem.goal)
            yield problem


class _Field(NamedTuple):
    """The exact distances to a start from a piece of the map, H x W, whose first cell is at ``left``, ``top``."""

    distance: NDArray[np.int64]
    left: int
    top: int


def _field(grid: Grid, start: Position, high: float) -> _Field:
    """Return the distances up to ``high``: no path of that cost leads further away than so many cells."""
    reach = int(min(high, max(grid.width, grid.height)))
    left, top = (max(0, at - reach) for at in start)
    piece = grid.passable[top : start[1] + reach + 1, left : start[0] + reach + 1]
    if 2 * piece.size > grid.passable.size:
        return _Field(grid.inner(exact_distances(grid, start)), 0, 0)
    part = grid.replace(passable=piece)
    return _Field(part.inner(exact_distances(part, (start[0] - left, start[1] - top))), left, top)


def _choose_goal(field: _Field, low: float, high: float, rng: np.random.Generator) -> tuple[Position, int] | None:
    """Return a random cell whose distance is in range, and the distance; None if there is none."""
    height, width = field.distance.shape
    rows = strips(width, height)
    fitting = [_in_range(field.distance[strip], low, high) for strip in rows]
    counts = np.array([np.count_nonzero(cells) for cells in fitting])
    if not counts.any():
        return None
    strip, k = _share(rng, counts)
    y, x = divmod(int(np.flatnonzero(fitting[strip])[k]), width)
    y += rows[strip].start
    return (field.left + x, field.top + y), int(field.distance[y, x])


def _in_range(distance: NDArray[np.int64], low: float, high: float) -> NDArray[np.bool_]:
    cost = to_floats(distance)
    return (cost >= low) & (cost <= high) & (distance < INF)


def _share(rng: np.random.Generator, counts: NDArray[np.int64]) -> tuple[int, int]:
    """Draw one of things that come in parts of so many: which part, and which of its things."""
    ends = counts.cumsum()
    k = int(rng.integers(ends[-1]))
    part = int(np.searchsorted(ends, k, side="right"))
    return part, k - int(ends[part] - counts[part])
