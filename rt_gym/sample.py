"""Random problems whose optimal cost lies within a range."""

from collections.abc import Iterator
from numbers import Real

import numpy as np

from rt_gym.cost import INF, to_floats
from rt_gym.errors import InputError, checked_seed, quoted, whole
from rt_gym.grid import Grid
from rt_gym.problem import Problem
from rt_gym.search.distance import exact_distances

_MAX_FAILURES = 200  # starts in a row without any goal in range before the range is given up


def sample_problems(
    grid: Grid,
    count: int,
    low: float = 1.0,
    high: float = float("inf"),
    seed: int = 0,
    vision: int | None = None,
) -> list[Problem]:
    """Return problems with an optimal cost from ``low`` to ``high``: a random start, then a random goal in range.

    The same seed gives the same problems; a longer list begins with the shorter one.

    Raises:
        InputError: if the map has no two cells that far apart, as far as many random starts can tell.
    """
    whole("count", count, 0)
    if not (isinstance(low, Real) and isinstance(high, Real) and 0 <= low <= high):
        raise InputError(
            f"the range of optimal costs must rise from 0 or more, not from {quoted(low)} to {quoted(high)}"
        )
    stream = _problems(grid, low, high, seed, vision)
    return [next(stream) for _ in range(count)]


def _problems(grid: Grid, low: float, high: float, seed: int, vision: int | None) -> Iterator[Problem]:
    rng = np.random.default_rng(checked_seed(seed))
    cells = np.flatnonzero(grid.terrain.free)
    if not cells.size:
        raise InputError(f"map {grid.name or 'without a name'} has no free cell")
    failures = 0
    while failures < _MAX_FAILURES:
        start = grid.position(rng.choice(cells))
        distance = exact_distances(grid, start)
        cost = to_floats(distance)
        goals = np.flatnonzero((cost >= low) & (cost <= high) & (distance < INF))
        failures = 0 if goals.size else failures + 1
        if goals.size:
            cell = int(rng.choice(goals))
            problem = Problem(grid, start, grid.position(cell), vision)
            problem.__dict__["optimal_cost"] = int(distance[cell])
            yield problem
    raise InputError(f"no two cells of the map with an optimal cost from {low:g} to {high:g} were found")
