"""The problems of an environment: where they come from, and which one every episode of a batch has and gets next.

Most environments have a pool of prepared problems: from maps, generators, scenario files, splits, or ready-made. There
is none where a map is made for every episode (see ``rt_gym.maps.fresh``): in a batch the next problem of an episode is
then made as soon as the last one has begun.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym import splits
from rt_gym.errors import InputError, quoted, whole
from rt_gym.grid import Grid
from rt_gym.maps import load_map, load_scenarios
from rt_gym.maps.fresh import Fresh, Maker, maker_of
from rt_gym.maps.generate import generate
from rt_gym.problem import Problem
from rt_gym.sample import sample_problems

if TYPE_CHECKING:
    from rt_gym.envs.batch import Common
    from rt_gym.envs.settings import Settings

NOT_IN_POOL = -1  # the number of a problem that is none of the pool
_TOLD = ("_index", "_map", "_optimal")  # by these names a batch tells which episodes have just begun

Mask = NDArray[np.bool_]
Source = str | Path | Grid | Mapping[str, Any] | Maker


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
    if callable(source):
        raise InputError("map: a function that makes maps goes alone, not in a list")
    raise InputError(f"map must be a name, a path, a Grid, a generator or a list of these, not {quoted(source)}")


def _generated(parameters: dict[str, Any]) -> list[Grid]:
    if "fresh" in parameters:
        raise InputError("map: a generator of fresh maps goes alone, not in a list")
    if not all(isinstance(name, str) for name in parameters):
        raise InputError(f"the parameters of a map generator must have names, not {quoted(list(parameters))}")
    family = parameters.pop("family", None)
    count = whole("count", parameters.pop("count", 1), 1, 100_000)
    seed = whole("seed", parameters.pop("seed", 0), 0)
    if not isinstance(family, str):
        raise InputError(f'a map generator needs a "family", not {quoted(family)}')
    return [generate(family, **parameters, seed=seed + k) for k in range(count)]


class Sources(NamedTuple):
    """Where the problems of an environment come from; what stands here is what they come from by default.

    Attributes:
        map: see ``make_grids``.
        problems: a list of problems, or the path of a scenario file for the one map; sampled when None.
        split: the name of a split of ``rt_gym.splits``, whose problems are taken.
        optimal: the range of optimal costs to sample from.
        pool: how many to sample, over all maps together and at least one for each.
        pool_seed: for sampling.
    """

    map: Source | Sequence[Source] = "rooms-64"
    problems: str | Path | Sequence[Problem] | None = None
    split: str | None = None
    optimal: tuple[float, float] = (1.0, float("inf"))
    pool: int = 128
    pool_seed: int = 0

    def refuse_beside(self, chosen: str, *ignored: str) -> None:
        """Refuse what would be ignored beside the source that was chosen."""
        for name in ignored:
            if not _same(getattr(self, name), Sources._field_defaults[name]):
                raise InputError(f"{name} cannot go with {chosen}, which says what the problems are: leave one out")


DEFAULTS = Sources()


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and value == default)


def make_pool(sources: Sources, vision: int | None, changes: Any) -> list[Problem]:
    """Return the problems that an environment chooses from.

    Args:
        sources: where they come from.
        vision: radius of sight, also for ready-made problems that have none of their own.
        changes: scheduled edits of the map, likewise.

    Raises:
        InputError: if two sources are given, or something that the one does not use.
    """
    given, complete = _ready_made(sources), partial(_completed, vision=vision, changes=changes)
    if given is not None:
        return [complete(problem) for problem in given]
    grids = make_grids(sources.map)
    if sources.problems is not None:
        return _from_scenarios(sources, grids, vision, changes)
    low, high = sources.optimal
    each = -(-whole("pool", sources.pool, 1, 1_000_000) // len(grids))
    first = whole("pool_seed", sources.pool_seed, 0)
    pool = [
        problem for k, grid in enumerate(grids) for problem in sample_problems(grid, each, low, high, first + k, vision)
    ]
    return _checked([complete(problem) for problem in pool])


def _from_scenarios(sources: Sources, grids: list[Grid], vision: int | None, changes: Any) -> list[Problem]:
    if len(grids) != 1:
        raise InputError(f"a scenario file goes with one map, not with {len(grids)}")
    entries = load_scenarios(sources.problems)  # type: ignore[arg-type]  # whatever is no path was refused before
    found = _checked([entry.on(grids[0], vision, changes) for entry in entries])
    sources.refuse_beside("a scenario file", "optimal", "pool", "pool_seed")
    return found


def _ready_made(sources: Sources) -> list[Problem] | None:
    """Return the problems that need no map: a list of them, or those of a split."""
    problems = sources.problems
    if sources.split is not None:
        found = splits.load(sources.split).problems
        sources.refuse_beside("split", "map", "problems", "optimal", "pool", "pool_seed")
        return list(found)
    if isinstance(problems, Sequence) and not isinstance(problems, str):
        checked = _checked(list(problems))
        sources.refuse_beside("a list of problems", "map", "optimal", "pool", "pool_seed")
        return checked
    if problems is not None and not isinstance(problems, (str, Path)):
        raise InputError(f"problems must be a list of Problem or the path of a scenario file, not {quoted(problems)}")
    return None


def make_fresh(sources: Sources, vision: int | None, changes: Any) -> Fresh | None:
    """Return where the problems of an environment come from that makes a map for every episode; None elsewhere."""
    maker = maker_of(sources.map)
    if maker is None:
        return None
    sources.refuse_beside("a map that is made for every episode", "problems", "split", "pool", "pool_seed")
    return Fresh(maker, sources.optimal, partial(_completed, vision=vision, changes=changes))


def _completed(problem: Problem, vision: int | None, changes: Any) -> Problem:
    sight = vision if problem.vision is None else problem.vision
    edits = problem.changes or changes
    if (sight, edits or ()) == (problem.vision, problem.changes):
        return problem
    twin = replace(problem, vision=sight, changes=edits)
    if "optimal_cost" in vars(problem):  # that of the map as it is at the start
        twin.__dict__["optimal_cost"] = problem.optimal_cost
    return twin


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


class Assignment:
    """The problems of the episodes of a batch.

    Args:
        settings: of the environment; those with fresh maps have two places for every episode, see
            ``rt_gym.maps.fresh``.
        common: the episodes.
        replace: puts a problem into a place, where maps are fresh.
    """

    def __init__(self, settings: "Settings", common: "Common", replace: Callable[[int, Problem], None]) -> None:
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
        return told | dict.fromkeys(_TOLD, begun)

    def _ask(self, numbers: NDArray[np.int64]) -> None:
        """Look up what is told of these problems, where that has not been done."""
        for k in set(numbers[self._unasked[numbers]].tolist()):
            problem = self._settings.pool[k]
            self._names[k], self._optimal[k] = problem.grid.name, self._settings.shown_optimal(problem)
            self._unasked[k] = False
