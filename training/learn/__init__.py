"""Log -> labels -> fit -> validate -> policy file; evolution; reinforcement.

Here is what every training starts from: maps to learn on, to choose on and to be judged on; and progress to report.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rt_gym import InputError, Problem, sample_problems
from rt_gym.cost import STRAIGHT
from rt_gym.terrain import h0
from training.runs import Course, Draw, Task, Workers, find_courses

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
