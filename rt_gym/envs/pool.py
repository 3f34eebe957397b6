"""The prepared problems of an environment: from maps, generators, scenario files, or ready-made."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rt_gym.errors import InputError, quoted, whole
from rt_gym.grid import Grid
from rt_gym.maps import load_map, load_scenarios
from rt_gym.maps.generate import generate
from rt_gym.problem import Problem
from rt_gym.sample import sample_problems

Source = str | Path | Grid | Mapping[str, Any]


def make_grids(source: Source | Sequence[Source]) -> list[Grid]:
    """Return the maps of an environment.

    Args:
        source: a bundled name, a path, a Grid, or a generator as a mapping such as ``{"family": "caves", "width": 64,
            "height": 64, "seed": 0, "count": 16}`` (seeds 0 to 15); or a sequence of any of these.
    """
    if isinstance(source, Grid):
        return [source]
    if isinstance(source, (str, Path)):
        return [load_map(source)]
    if isinstance(source, Mapping):
        return _generated(dict(source))
    if isinstance(source, Sequence) and source:
        return [grid for part in source for grid in make_grids(part)]
    raise InputError(f"map must be a name, a path, a Grid, a generator or a list of these, not {quoted(source)}")


def _generated(parameters: dict[str, Any]) -> list[Grid]:
    if not all(isinstance(name, str) for name in parameters):
        raise InputError(f"the parameters of a map generator must have names, not {quoted(list(parameters))}")
    family = parameters.pop("family", None)
    count = whole("count", parameters.pop("count", 1), 1, 100_000)
    seed = whole("seed", parameters.pop("seed", 0), 0)
    if not isinstance(family, str):
        raise InputError(f'a map generator needs a "family", not {quoted(family)}')
    return [generate(family, **parameters, seed=seed + k) for k in range(count)]


def make_pool(
    source: Source | Sequence[Source],
    problems: str | Path | Sequence[Problem] | None,
    optimal: tuple[float, float],
    size: int,
    seed: int,
    vision: int | None,
    changes: Any,
) -> list[Problem]:
    """Return the problems that an environment chooses from.

    Args:
        source: see ``make_grids``; not looked at when ``problems`` is a list.
        problems: a list of problems, or the path of a scenario file for the one map; sampled when None.
        optimal: the range of optimal costs to sample from.
        size: how many to sample, over all maps together and at least one for each.
        seed: for sampling.
        vision: radius of sight, also for ready-made problems that have none of their own.
        changes: scheduled edits of the map, likewise.
    """
    if isinstance(problems, Sequence) and not isinstance(problems, str):
        return [_completed(problem, vision, changes) for problem in _checked(list(problems))]
    if problems is not None and not isinstance(problems, (str, Path)):
        raise InputError(f"problems must be a list of Problem or the path of a scenario file, not {quoted(problems)}")
    grids = make_grids(source)
    if problems is not None:
        if len(grids) != 1:
            raise InputError(f"a scenario file goes with one map, not with {len(grids)}")
        return _checked([entry.on(grids[0], vision, changes) for entry in load_scenarios(problems)])
    low, high = optimal
    each = -(-whole("pool", size, 1, 1_000_000) // len(grids))
    first = whole("pool_seed", seed, 0)
    pool = [
        problem for k, grid in enumerate(grids) for problem in sample_problems(grid, each, low, high, first + k, vision)
    ]
    return _checked([_completed(problem, vision, changes) for problem in pool])


def _completed(problem: Problem, vision: int | None, changes: Any) -> Problem:
    sight = vision if problem.vision is None else problem.vision
    edits = problem.changes or changes
    if (sight, edits or ()) == (problem.vision, problem.changes):
        return problem
    return replace(problem, vision=sight, changes=edits)


def _checked(pool: list[Problem]) -> list[Problem]:
    if not pool:
        raise InputError("there are no problems to choose from")
    for problem in pool:
        if not isinstance(problem, Problem):
            raise InputError(
                f"problems must be a list of Problem or the path of a scenario file, not {quoted(problem)}"
            )
    rules = {(problem.grid.connectivity, problem.grid.cost) for problem in pool}
    if len(rules) > 1:
        raise InputError("all maps of an environment must share their connectivity and their cost model")
    return pool
