"""Log -> labels -> fit -> validate -> policy file; evolution; reinforcement.

Here is what every training starts from: maps to learn on, to choose on and to be judged on; and progress to report. And
what it keeps in its folder first: its settings, so that one with other settings does not replace the policy there. What
a policy depends on is compared: how it is trained, and the problems to learn and to choose on. Maps to be judged on,
workers and output may change, and how long an evolution goes on: the policy is judged again, or gone on with.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from rt_gym import InputError, Problem, sample_problems
from rt_gym.cost import STRAIGHT
from rt_gym.errors import quoted
from rt_gym.files import atomic_write, read_json, shown
from rt_gym.terrain import h0
from training.runs import Course, Draw, Task, Workers, find_courses
from training.runs.execution import say_damaged

Advance = Callable[..., Any]  # advance(amount=1, text=None)
OnProgress = Callable[[float, str], Any]
Reporting = Callable[[str, float], AbstractContextManager[Advance]]


@contextmanager
def silent(text: str, total: float) -> Iterator[Advance]:
    """Report nothing. Others, such as a progress bar, show the text and how much of the total is done."""
    yield lambda amount=1, text=None: None


@dataclass(frozen=True)
class Parts:
    """Maps with problems; no map stands in two parts.

    Attributes:
        train: to learn on.
        validation: to choose on.
        test: to be judged on, once.
    """

    train: tuple[Course, ...]
    test: tuple[Course, ...]
    validation: tuple[Course, ...] = ()


def draw_parts(given: Mapping[str, list[str] | None], draw: Draw, family: str = "mixed") -> Parts:
    """Return the maps of every part with problems on them.

    Args:
        given: the maps of the parts by their names; None stands for the family's split with the name of the part.
        draw: which problems.
        family: of splits (``rt_gym.splits``).

    Raises:
        InputError: for a map in two parts: a policy must be judged on maps that it has not seen.
    """
    owner: dict[str, str] = {}
    parts = {part: tuple(find_courses(maps or [f"{family}-{part}"], draw)) for part, maps in given.items()}
    for part, courses in parts.items():
        for course in courses:
            other = owner.setdefault(course.digest, part)
            if other != part:
                raise InputError(f"map {course.name} is given for {other} and for {part}; they must not share maps")
    return Parts(**parts)


@dataclass(frozen=True)
class TrainingSetup:
    """Where a policy is trained.

    Attributes:
        train, validation: maps with problems, disjoint.
        workers: what runs the jobs.
        folder: where jobs and candidates are kept.
    """

    train: tuple[Course, ...]
    validation: tuple[Course, ...]
    workers: Workers
    folder: Path


def problems_of(courses: Iterable[Course]) -> list[Problem]:
    """Return the problems of all maps."""
    return [course.problem(task) for course in courses for task in course.tasks]


def hardest(courses: tuple[Course, ...], problems: int) -> tuple[Course, ...]:
    """Return courses with at most ``problems`` problems in all, equally many of every map.

    The one half are the hardest of a map, by how many times the optimal cost is what the heuristic promises; the other
    half are the first of the rest. Most random problems are easy, and nothing can be learned from them.
    """
    share = max(1, problems // len(courses))
    return tuple(replace(course, tasks=tuple(_selected(course, share))) for course in courses)


def _selected(course: Course, count: int) -> list[Task]:
    grid = course.grid
    promised = [h0(grid.terrain, grid.cell(task.start), grid.cell(task.goal)) for task in course.tasks]
    misled = [task.optimal_cost / max(1, low) for task, low in zip(course.tasks, promised, strict=True)]
    hard = np.argsort(misled, kind="stable")[::-1][: count // 2].tolist()
    rest = [k for k in range(len(course.tasks)) if k not in hard]
    return [course.tasks[k] for k in sorted(hard + rest[: count - len(hard)])]


def extended(courses: tuple[Course, ...], problems: int) -> tuple[Course, ...]:
    """Return courses with at least ``problems`` problems in all, equally many of every map.

    The given ones come first. The others are drawn on the same maps, with goals as far away as the nearest given one:
    a mean that a few hard problems decide takes many of them.
    """
    share = -(-problems // len(courses))
    return tuple(replace(course, tasks=(*course.tasks, *_drawn(course, share))) for course in courses)


def _drawn(course: Course, share: int) -> list[Task]:
    count = share - len(course.tasks)
    nearest = min(task.optimal_cost for task in course.tasks) / STRAIGHT
    found = sample_problems(course.grid, count, nearest, seed=1) if count > 0 else []
    return [Task(problem.start, problem.goal, problem.optimal_cost) for problem in found]


def split_problems(courses: tuple[Course, ...], shares: int) -> list[tuple[Course, ...]]:
    """Return the courses in ``shares`` parts, the problems of every map in turn; no part is empty."""
    count = min(shares, *(len(course.tasks) for course in courses))
    return [tuple(replace(course, tasks=course.tasks[k::count]) for course in courses) for k in range(count)]


_KIND, _VERSION = "rt_gym training", 1
SETTINGS_FILE = "training.json"
POLICIES = ("policy.json", "policy.npz", "goal.json", "genes.json", "ground.json", "dealer.json")
_MOST = 160  # letters that tell of a difference
_WAY_OUT = "give another --out, or --force to replace it"


def keep_settings(folder: Path, command: str, settings: Mapping[str, Any], force: bool = False) -> Path:
    """Write into a folder what is trained there, and return the file; refuse a folder in which something else was.

    Args:
        folder: where the policy will be.
        command: what trains, such as ``"train depth"``.
        settings: all that the policy depends on, by names, as JSON takes it.
        force: whether a training with other settings may be replaced.

    Raises:
        InputError: if the folder has a policy of other or unknown settings; the message names the difference.
    """
    path = folder / SETTINGS_FILE
    new: dict[str, Any] = json.loads(json.dumps({"command": command, "settings": dict(settings)}, default=str))
    old = None if force else _read(path)
    if old is not None and old != new:
        raise InputError(f"{shown(path)}: tells of a training {_difference(old, new)}; {_WAY_OUT}")
    if old is None and not force and (found := [name for name in POLICIES if (folder / name).exists()]):
        raise InputError(
            f"{shown(folder)}: holds {found[0]}, and no {SETTINGS_FILE} says how it was trained; {_WAY_OUT}"
        )
    if old is None:
        atomic_write(path, (json.dumps({"kind": _KIND, "version": _VERSION, **new}, indent=1) + "\n").encode())
    return path


def settings_of(config: Any, parts: Parts, free: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a policy depends on: the fields of a config, except for free ones, and the problems.

    Args:
        config: a dataclass; fields of dataclasses in it count as its own, unless it has one of that name.
        parts: the maps, of which those to be judged on make no difference.
        free: names of fields that may change while the training stays the same.
    """
    found = {"vision": parts.train[0].vision} | _flat(asdict(config))
    problems = {"train": _problems(parts.train), "validation": _problems(parts.validation)}
    return {name: value for name, value in found.items() if name not in free} | problems


def _flat(fields: dict[str, Any]) -> dict[str, Any]:
    nested = [part for part in fields.values() if isinstance(part, dict)]
    inner = {name: value for part in nested for name, value in part.items()}
    return inner | {name: value for name, value in fields.items() if not isinstance(value, dict)}


def _problems(courses: tuple[Course, ...]) -> dict[str, Any]:
    """Return how many problems there are, and a hash of them."""
    content = repr([(course.digest, course.tasks) for course in courses])
    tasks = sum(len(course.tasks) for course in courses)
    return {"maps": len(courses), "problems": tasks, "digest": sha256(content.encode()).hexdigest()[:16]}


def _read(path: Path) -> dict[str, Any] | None:
    """Return what a folder holds; None if that is not known."""
    if not path.exists():
        return None
    try:
        document = read_json(path, "the settings of a training")
        if document.get("kind") != _KIND or document.get("version") != _VERSION:
            raise InputError("is of another kind or version")
        found = {name: document[name] for name in ("command", "settings")}
        if not isinstance(found["settings"], dict):
            raise InputError("has no settings")
    except (InputError, AttributeError, KeyError):  # what is no object has neither
        say_damaged(path, "it is written")
        return None
    return found


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Say in what two trainings differ, in a few words."""
    if old["command"] != new["command"]:
        return f"by {quoted(old['command'])}"
    told = ", ".join(_differences(old["settings"], new["settings"]))
    return f"with other settings: {shorten(told, _MOST, placeholder=' ...')}"


def _differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*new, *old]):
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        if isinstance(was, dict) and isinstance(now, dict):
            yield _other_problems(name, was, now)
        else:
            yield f"{name if name.isidentifier() else quoted(name)} {_text(was)} instead of {_text(now)}"


def _text(value: Any) -> str:
    return "none" if value is None else quoted(value)


def _other_problems(part: str, was: dict[str, Any], now: dict[str, Any]) -> str:
    """Say that the problems of a part are others: by their number, if that differs."""
    purpose = "to learn on" if part == "train" else "to choose on"
    sizes = [f"{_text(one.get('problems'))} problems (maps: {_text(one.get('maps'))})" for one in (was, now)]
    return f"other problems {purpose}" if sizes[0] == sizes[1] else f"{sizes[0]} {purpose} instead of {sizes[1]}"
