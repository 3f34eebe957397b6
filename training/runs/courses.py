"""Where the contenders run: maps, each with the problems on it.

A course comes from the name of a bundled map, a map file, a folder of map files, or a scenario file. The name of a
split (``rt_gym.splits``) stands for its maps and the problems that it fixes.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rt_gym import Change, Grid, InputError, Problem, load_map, load_scenarios, sample_problems, splits
from rt_gym.files import shown
from rt_gym.maps import Scenario, names
from rt_gym.terrain import Position
from training.runs.changes import Changes, changes_for

_ENDINGS = (".map",), (".png", ".npy", ".npz", ".csv")


class Task(NamedTuple):
    """A start, a goal, and the exact cost of a shortest path (``Problem.optimal_cost``)."""

    start: Position
    goal: Position
    optimal_cost: int


@dataclass(frozen=True)
class Course:
    """A map with the problems on it.

    Attributes:
        name: the name of the map in tables.
        grid: the map.
        tasks: the problems; every contender gets all of them.
        vision, changes: see ``rt_gym.Problem``.
    """

    name: str
    grid: Grid
    tasks: tuple[Task, ...]
    vision: int | None = None
    changes: tuple[Change, ...] = ()

    @cached_property
    def digest(self) -> str:
        """A hash of the map, its rules and its changes."""
        return sha256(f"{self.grid.digest} {self.changes}".encode()).hexdigest()[:12]

    def problem(self, task: Task) -> Problem:
        """Return the problem of a task, whose optimal cost is known already."""
        return make_problem(self.grid, task, self.vision, self.changes)


def make_problem(grid: Grid, task: Task, vision: int | None, changes: Sequence[Change]) -> Problem:
    """Return the problem of a task, whose optimal cost is known already."""
    problem = Problem(grid, task.start, task.goal, vision, tuple(changes) or None)
    problem.__dict__["optimal_cost"] = task.optimal_cost
    return problem


@dataclass(frozen=True)
class Draw:
    """Which problems are taken from a map.

    Attributes:
        count: how many problems; from a scenario file at most this many.
        low, high: the range of optimal costs.
        seed: for sampling, for choosing from a scenario file, and for changes by name.
        vision: see ``rt_gym.Problem``.
        changes: one schedule for all problems, see ``rt_gym.Problem``; or a name of ``rt_gym.changes``, drawn for each.
        rules: options of ``rt_gym.Grid``: connectivity, cost and corner.
    """

    count: int = 100
    low: float = 1.0
    high: float = inf
    seed: int = 0
    vision: int | None = None
    changes: Changes = ()
    rules: tuple[tuple[str, Any], ...] = ()

    def course(self, name: str, source: str) -> Course:
        """Return a map with problems on it."""
        if self.count < 1:
            raise InputError("a comparison needs at least one problem per map")
        grid, tasks = self._from_scenarios(Path(source)) if _is_scenario(source) else self._sampled(source)
        fixed = () if isinstance(self.changes, str) else self.changes
        course = Course(name, grid, tuple(tasks), self.vision, fixed)
        course.problem(course.tasks[0])  # refuses changes that do not fit the map
        return course

    def scripted(self, course: Course) -> Iterator[Course]:
        """Yield a course as it is or, where changes go by name, one for every problem that they fit.

        Raises:
            InputError: if they fit none of its problems.
        """
        if not isinstance(self.changes, str):
            yield course
            return
        refusals = 0
        for number, task in enumerate(course.tasks):
            try:
                changes = changes_for(course.problem(task), self.changes, self.seed + number)
            except InputError:
                refusals += 1
                if refusals == len(course.tasks):
                    raise
                continue
            yield replace(course, tasks=(task,), changes=changes)

    def _sampled(self, source: str) -> tuple[Grid, Iterator[Task]]:
        grid = load_map(source, **dict(self.rules))
        try:
            problems = sample_problems(grid, self.count, self.low, self.high, self.seed)
        except InputError as error:
            raise InputError(f"{shown(source)}: {error}") from None
        return grid, (Task(problem.start, problem.goal, problem.optimal_cost) for problem in problems)

    def _from_scenarios(self, path: Path) -> tuple[Grid, Iterator[Task]]:
        numbered = list(enumerate(load_scenarios(path), start=1))
        fitting = [(number, scenario) for number, scenario in numbered if self.low <= scenario.optimal <= self.high]
        if not fitting:
            span = f" with an optimal cost from {self.low:g} to {self.high:g}" if numbered else ""
            raise InputError(f"{shown(path)}: holds no problem{span}")
        grid = load_map(_map_beside(path, numbered[0][1]), **dict(self.rules))
        chosen = np.random.default_rng(self.seed).permutation(len(fitting))[: self.count]
        return grid, (self._task(path, grid, *fitting[k]) for k in sorted(chosen))

    def _task(self, path: Path, grid: Grid, number: int, scenario: Scenario) -> Task:
        try:
            problem = scenario.on(grid)
        except InputError as error:
            raise InputError(f"{shown(path)}, problem {number}: {error}") from None
        optimal = problem.optimal or 0.0
        if not self.rules and abs(optimal - scenario.optimal) > tolerance(scenario.optimal):
            says = f"the optimal length should be {scenario.optimal:g}, but on the map it is {optimal:.5f}"
            raise InputError(f"{shown(path)}, problem {number}: {says}")
        return Task(problem.start, problem.goal, problem.optimal_cost)


def find_courses(sources: Iterable[str], draw: Draw) -> Iterator[Course]:
    """Yield the courses of maps given by name, file, folder or scenario file, in the order given.

    Where changes go by name every problem is a course of its own, and those that they do not fit are left out.

    Raises:
        InputError: for a map that is unknown, given twice or cannot be read, a folder without maps, a scenario that
            does not fit its map, or when there are no problems.
    """
    places = [place for source in sources for place in expand(source)]
    real, stems = Counter(map(os.path.realpath, places)), Counter(map(_stem, places))
    for place in places:
        if real[os.path.realpath(place)] > 1:
            raise InputError(f"map {shown(place)} is given twice")
    for place in places:
        if place in splits.names():
            courses = _split_courses(place, draw)
        else:
            stem = _stem(place)
            courses = iter([draw.course(shown(stem if stems[stem] == 1 else Path(place).as_posix()), place)])
        for course in courses:
            yield from draw.scripted(course)


def _split_courses(name: str, draw: Draw) -> Iterator[Course]:
    """Yield the maps of a split with the problems that it fixes: no more per map than are drawn, within the range."""
    if draw.rules:
        raise InputError(f"the split {name} has fixed maps: connectivity, cost and corner cannot be chosen")
    split = splits.load(name)
    for grid in split.grids:
        own = [one for one in split.problems if one.grid is grid and draw.low <= (one.optimal or 0.0) <= draw.high]
        tasks = tuple(Task(one.start, one.goal, one.optimal_cost) for one in own[: draw.count])
        if tasks:
            yield Course(grid.name, grid, tasks, draw.vision, () if isinstance(draw.changes, str) else draw.changes)


def expand(source: str) -> list[str]:
    """Return what a source stands for: itself, or the maps of a folder and of the folders in it."""
    if source in names() or source in splits.names() or not Path(source).is_dir():
        return [source]
    files = [Path(folder, name) for folder, _, found in os.walk(source, onerror=_refuse) for name in found]
    for endings in _ENDINGS:
        maps = sorted(str(path) for path in files if path.suffix.lower() in endings)
        if maps:
            return maps
    raise InputError(f"{shown(source)}: the folder holds no map, no file that ends in {', '.join(sum(_ENDINGS, ()))}")


def _refuse(error: OSError) -> None:
    raise InputError(f"{shown(error.filename)}: the folder cannot be read ({error.strerror})")


def tolerance(length: float) -> float:
    """Return how far off a published length may be: rounded to a few digits, and summed in single precision."""
    return 0.01 + 6e-6 * length


def _is_scenario(source: str) -> bool:
    return Path(source).suffix.lower() == ".scen"


def _stem(place: str) -> str:
    """Return a file's name without its ending, and without ``.map`` before ``.scen``."""
    name = Path(place).name
    for ending in (".map.scen", ".scen", *sum(_ENDINGS, ())):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def _map_beside(path: Path, scenario: Scenario) -> Path:
    """Return the map of a scenario file: ``x.map`` for ``x.map.scen``, otherwise the one that it names."""
    inner = path.with_suffix("")
    return inner if inner.suffix.lower() == ".map" else path.with_name(Path(scenario.map_name).name)
