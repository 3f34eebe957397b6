"""What is compared, as a value, and what is done for it: one contender on the problems of one map, run by run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

import agents
from agents import Run
from rt_gym import Budget, Change, Grid, InputError
from rt_gym.cost import to_float
from rt_gym.errors import whole
from rt_gym.files import PathLike
from training.runs.contenders import Contender, blaming, make_agent
from training.runs.courses import Course, Task, by_map, make_problem
from training.runs.jobs import Series, Work, provenance, source_stamp, versions
from training.runs.rows import (
    RESULTS,
    TIMES,
    TRIALS,
    Arrays,
    Place,
    Places,
    Result,
    Timing,
    as_columns,
    checked_columns,
)

_DIRECT = frozenset(Result._fields) - {"trials_run"}
_TRIAL = "trial."  # what columns of trials are called beside those of runs


class Assignment(NamedTuple):
    """A task, and the changes of the map while it is solved."""

    task: Task
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class AgentRuns(Work[Assignment, Arrays]):
    """Runs of one agent under one budget.

    The result has a column for every field of ``Result`` and ``Timing`` and, where problems are solved more than once,
    columns of all trials, one after the other.
    """

    agent: str
    settings: dict[str, Any]
    budget: Budget
    vision: int | None
    trials: int | str
    max_moves: int
    seed: int

    @property
    def agents(self) -> tuple[str, ...]:
        """The one that runs."""
        return (self.agent,)

    @property
    def files(self) -> Iterable[PathLike]:
        """Policies and databases that the settings name."""
        return [value for value in self.settings.values() if isinstance(value, (str, Path)) and Path(value).is_file()]

    def do(self, grid: Grid | None, items: Sequence[Assignment]) -> Arrays:
        """Run the agent on every problem, with the same arrays."""
        assert grid is not None
        agent = make_agent(self.agent, self.settings)
        runs = [self._run(agent, grid, item) for item in items]
        return _columns(runs) | (_trial_columns(runs) if self.trials != 1 else {})

    def pack(self, result: Arrays) -> Arrays:
        """Return the columns as they are."""
        return result

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
        """Return the columns, all of the right type and of one length."""
        found, trials = checked_columns(arrays, RESULTS | TIMES), trials_of(arrays)
        if self.trials != 1 and len(checked_columns(trials, TRIALS)["outcome"]) != found["trials_run"].sum():
            raise ValueError("not as many trials as were run")
        return dict(arrays)

    def _run(self, agent: Any, grid: Grid, item: Assignment) -> Run:
        problem = make_problem(grid, item.task, self.vision, item.changes)
        options: dict[str, Any] = {"trials": self.trials, "max_moves": self.max_moves, "seed": self.seed}
        with blaming(self.agent, problem):
            run = agents.run(agent, problem, budget=self.budget, **options)
            run.check_cost()
        return run


@dataclass(frozen=True)
class TimedAgain(AgentRuns):
    """Runs that were made before, for their times; ``attempt`` tells them from those made before."""

    attempt: int = 1


def trials_of(columns: Mapping[str, NDArray[Any]]) -> Arrays:
    """Return the columns of trials among those of runs, none where every problem was solved once."""
    return {name.removeprefix(_TRIAL): array for name, array in columns.items() if name.startswith(_TRIAL)}


def _columns(runs: Sequence[Run]) -> Arrays:
    results = [Result(trials_run=max(1, len(run.trials)), **{n: getattr(run, n) for n in _DIRECT}) for run in runs]
    return as_columns(results, RESULTS) | as_columns([_timing(run) for run in runs], TIMES)


def _timing(run: Run) -> Timing:
    return Timing(run.seconds, run.planning_seconds or 0.0, run.precompute_seconds, *(run.move_seconds or ()))


def _trial_columns(runs: Sequence[Run]) -> Arrays:
    trials = [[getattr(trial, name) for name in TRIALS] for run in runs for trial in run.each]
    return {f"{_TRIAL}{name}": array for name, array in as_columns(trials, TRIALS).items()}


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
        groups = [(courses[0], _assignments(courses)) for courses in self.groups]
        return [
            Series(self._work(contender, course, repeat), course.grid, items)
            for contender in self.contenders
            for repeat in range(self.repeats)
            for course, items in groups
        ]

    @cached_property
    def groups(self) -> list[list[Course]]:
        """The courses, neighbours that differ in nothing but problems and changes together."""
        return by_map(self.courses)

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
