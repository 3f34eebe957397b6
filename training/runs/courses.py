"""Where the contenders run: maps, each with the problems on it.

A course comes from the name of a bundled map, a map file, a folder of map files, or a scenario file. The name of a
split (``rt_gym.splits``) stands for its maps and the problems that it fixes.
"""

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rt_gym import Change, Grid, InputError, Problem, load_map, load_scenarios, sample_problems, splits
from rt_gym.changes import KINDS, scripted_changes
from rt_gym.errors import quoted
from rt_gym.files import read_bytes, shown
from rt_gym.maps import Scenario, names
from rt_gym.terrain import Position

_ENDINGS = (".map",), (".png", ".npy", ".npz", ".csv", ".tmx", ".tmj")
_COLUMNS = ("time", "x", "y", "free")
_FREE = {"0": False, "1": True, "false": False, "true": True}

Changes = str | tuple[Change, ...]  # a name of rt_gym.changes, or a schedule


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
        skipped: how many problems of a scenario file were left out, because their start or goal is blocked.
    """

    name: str
    grid: Grid
    tasks: tuple[Task, ...]
    vision: int | None = None
    changes: tuple[Change, ...] = ()
    skipped: int = 0

    @cached_property
    def digest(self) -> str:
        """The beginning of the grid's own digest and, where the map changes, of a hash of the changes."""
        changes = f"+{sha256(str(self.changes).encode()).hexdigest()[:6]}" if self.changes else ""
        return self.grid.digest[:12] + changes

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

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InputError("a comparison needs at least one problem per map")

    def course(self, name: str, source: str) -> Course:
        """Return a map with problems on it."""
        found = self._from_scenarios(Path(source)) if _is_scenario(source) else (*self._sampled(source), 0)
        grid, tasks, skipped = found
        fixed = () if isinstance(self.changes, str) else self.changes
        course = Course(name, grid, tuple(tasks), self.vision, fixed, skipped)
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

    @property
    def span(self) -> str:
        """The range of costs in words."""
        return f" with an optimal cost from {self.low:g} to {self.high:g}"

    def _sampled(self, source: str) -> tuple[Grid, Iterator[Task]]:
        grid = load_map(source, **dict(self.rules))
        try:
            problems = sample_problems(grid, self.count, self.low, self.high, self.seed)
        except InputError as error:
            raise InputError(f"{shown(source)}: {error}") from None
        return grid, (Task(problem.start, problem.goal, problem.optimal_cost) for problem in problems)

    def _from_scenarios(self, path: Path) -> tuple[Grid, Iterator[Task], int]:
        numbered = list(enumerate(load_scenarios(path), start=1))
        fitting = [(number, scenario) for number, scenario in numbered if self.low <= scenario.optimal <= self.high]
        if not fitting:
            raise InputError(f"{shown(path)}: holds no problem{self.span * bool(numbered)}")
        grid = load_map(_map_beside(path, numbered[0][1]), **dict(self.rules))
        possible = [(number, scenario) for number, scenario in fitting if scenario.fits(grid)]
        if not possible:
            raise InputError(f"{shown(path)}: of its {len(fitting)} problems, all begin or end on blocked cells")
        chosen = np.random.default_rng(self.seed).permutation(len(possible))[: self.count]
        return grid, (self._task(path, grid, *possible[k]) for k in sorted(chosen)), len(fitting) - len(possible)

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
        elif not Path(place).suffix and place not in names():
            raise InputError(_unknown(place))
        else:
            stem = _stem(place)
            courses = iter([draw.course(shown(stem if stems[stem] == 1 else Path(place).as_posix()), place)])
        for course in courses:
            yield from draw.scripted(course)


def _unknown(name: str) -> str:
    near = get_close_matches(name[:100], [*names(), *splits.names()])
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    maps, parts = ", ".join(names()), splits.spelled()
    return f"no bundled map or split is called {shown(name)}{hint}: give a map ({maps}), a split ({parts}), or a path"


def _split_courses(name: str, draw: Draw) -> Iterator[Course]:
    """Yield the maps of a split with the problems that it fixes: no more per map than are drawn, within the range."""
    if draw.rules:
        raise InputError(f"the split {name} has fixed maps: connectivity, cost and corner cannot be chosen")
    split = splits.load(name)
    fitting = [one for one in split.problems if draw.low <= (one.optimal or 0.0) <= draw.high]
    if not fitting:
        raise InputError(f"{name}: holds no problem{draw.span}")
    for grid in split.grids:
        own = [one for one in fitting if one.grid is grid]
        tasks = tuple(Task(one.start, one.goal, one.optimal_cost) for one in own[: draw.count])
        if tasks:
            yield Course(grid.name, grid, tasks, draw.vision, () if isinstance(draw.changes, str) else draw.changes)


def by_map(courses: Iterable[Course]) -> list[list[Course]]:
    """Return courses in groups: neighbours that differ in nothing but problems and changes."""
    return [list(group) for _, group in groupby(courses, lambda course: (course.grid, course.vision))]


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


# Scheduled changes of a map: by name, or from a file with rows of time, x, y, free


def choose_changes(text: str | None) -> Changes:
    """Return what was asked for on a command line: a name, or else the changes in a file; none for None.

    Raises:
        InputError: if it is no name, and no file of changes either.
    """
    if text is None or text in KINDS:
        return text or ()
    path = Path(text)
    if not path.suffix and not path.exists():
        raise InputError(f"there are no changes {quoted(text)}; known are {', '.join(KINDS)}, .json and .csv files")
    return read_changes(path)


def changes_for(problem: Problem, changes: Changes, seed: int) -> tuple[Change, ...]:
    """Return the schedule for a problem: drawn for it if ``changes`` is a name, else ``changes`` as given."""
    return scripted_changes(problem, changes, seed) if isinstance(changes, str) else changes


def read_changes(path: Path) -> tuple[Change, ...]:
    """Return the changes in a ``.json`` file (a list of rows) or a ``.csv`` file (a line of column names first).

    After ``time`` moves the cell ``x``, ``y`` becomes free (1, true) or blocked (0, false).

    Raises:
        InputError: if the file cannot be read or is not of this form; the message names the row.
    """
    rows = _read_json(path) if path.suffix.lower() == ".json" else _read_csv(path)
    return tuple(_change(path, number, row) for number, row in enumerate(rows, start=1))


def _read_json(path: Path) -> list[Any]:
    try:
        rows = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{shown(path)}: is not JSON") from None
    if not isinstance(rows, list):
        raise InputError(f"{shown(path)}: must be a list of changes")
    return [[row.get(name) for name in _COLUMNS] if isinstance(row, dict) else row for row in rows]


def _read_csv(path: Path) -> list[Any]:
    try:
        lines = [line for line in csv.reader(io.StringIO(read_bytes(path).decode(), newline=""), strict=True) if line]
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{shown(path)}: is not a CSV file") from None
    if not lines or [name.strip() for name in lines[0]] != list(_COLUMNS):
        raise InputError(f"{shown(path)}: its first line must be {','.join(_COLUMNS)}")
    return lines[1:]


def _change(path: Path, number: int, row: Any) -> Change:
    try:
        time, x, y = (int(str(value)) for value in row[:3])
        (free,) = row[3:]
        return Change(time, (x, y), _FREE[str(free).strip().lower()])
    except (TypeError, ValueError, KeyError):
        says = "must be three whole numbers time, x, y and free as 0 or 1"
        raise InputError(f"{shown(path)}, change {number}: {says}, not {quoted(row)}") from None
