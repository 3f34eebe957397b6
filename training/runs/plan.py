"""What is compared: contenders, courses, and what binds all runs alike. A value; ``runs`` runs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from rt_gym import InputError
from rt_gym.cost import to_float
from rt_gym.errors import whole
from training.runs.agent_runs import AgentRuns, Assignment
from training.runs.contenders import Contender
from training.runs.courses import Course
from training.runs.jobs import Series, provenance, source_stamp, versions
from training.runs.rows import Place, Places


@dataclass(frozen=True)
class Plan:
    """Every contender on every problem of every course.

    Attributes:
        contenders: the agents with their settings.
        courses: on which maps and problems.
        trials: how many times each problem is solved, or ``"converge"``.
        max_moves: the move cap of every trial; a run that reaches it has failed.
        seed: for random ties and for agents of one's own; problems have a seed of their own, in ``Draw``.
        repeats: how often every problem is run, with the seeds ``seed``, ``seed + 1`` and so on.
    """

    contenders: tuple[Contender, ...]
    courses: tuple[Course, ...]
    trials: int | str = 1
    max_moves: int = 1_000_000
    seed: int = 0
    repeats: int = 1

    def __post_init__(self) -> None:
        if not self.contenders or not any(course.tasks for course in self.courses):
            raise InputError("a comparison needs at least one agent and one problem")
        if self.trials != "converge":
            whole("trials", self.trials, 1)
        whole("max_moves", self.max_moves, 1, 10**9)
        whole("repeats", self.repeats, 1, 10**6)

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.contenders) * self.repeats * sum(len(course.tasks) for course in self.courses)

    def series(self) -> list[Series]:
        """Return the work in the order of the table: contender by contender, courses of one map together."""
        groups = [(courses[0], _assignments(courses)) for courses in self._groups()]
        return [
            Series(self._work(contender, course, repeat), course.grid, items)
            for contender in self.contenders
            for repeat in range(self.repeats)
            for course, items in groups
        ]

    def _groups(self) -> list[list[Course]]:
        """Return the courses, neighbours that differ in nothing but problems and changes together."""
        return [list(group) for _, group in groupby(self.courses, lambda course: (course.grid, course.vision))]

    def _work(self, contender: Contender, course: Course, repeat: int) -> AgentRuns:
        return AgentRuns(
            agent=contender.agent,
            settings=contender.settings,
            budget=contender.budget,
            vision=course.vision,
            trials=self.trials,
            max_moves=self.max_moves,
            seed=self.seed + repeat,
        )

    @cached_property
    def places(self) -> Places:
        """The problems of every contender in the order of the table, all of them once for every repeat."""
        places = (self._place(course, number) for course in self.courses for number in range(len(course.tasks)))
        return Places.of(places).repeated(self.repeats)

    def _place(self, course: Course, number: int) -> Place:
        task = course.tasks[number]
        return Place(
            course.name,
            course.digest,
            number,
            *task.start,
            *task.goal,
            optimal=None if course.changes else to_float(task.optimal_cost),
            vision=course.vision,
            trials=str(self.trials),
            max_moves=self.max_moves,
        )

    def document(self) -> dict[str, Any]:
        """Return all settings, the seed and the versions, as JSON takes them."""
        return {
            "seed": self.seed,
            **({"repeats": self.repeats} if self.repeats > 1 else {}),
            "trials": self.trials,
            "max_moves": self.max_moves,
            "contenders": [c.entry._asdict() | {"settings": c.settings} for c in self.contenders],
            "maps": [_describe(course) for course in self.courses],
            **provenance(),
            "versions": versions(),
            "sources": {agent: source_stamp(agent) for agent in dict.fromkeys(c.agent for c in self.contenders)},
        }


def _assignments(courses: Sequence[Course]) -> tuple[Assignment, ...]:
    return tuple(Assignment(task, course.changes) for course in courses for task in course.tasks)


def _describe(course: Course) -> dict[str, Any]:
    grid = course.grid
    return {
        "map": course.name,
        "digest": course.digest,
        "width": grid.width,
        "height": grid.height,
        "connectivity": grid.connectivity,
        "cost": grid.cost,
        "corner": grid.corner,
        "vision": course.vision,
        "changes": [[change.time, *change.position, change.free] for change in course.changes],
        "problems": len(course.tasks),
    }
