"""What a comparison does: one contender on the problems of one map, as columns of what every run left behind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

import agents
from agents import Run
from rt_gym import Budget, Change, Grid
from rt_gym.files import PathLike
from training.runs.contenders import blaming, make_agent
from training.runs.courses import Task, make_problem
from training.runs.jobs import Work
from training.runs.rows import RESULTS, TIMES, TRIALS, Arrays, Result, Timing, as_columns, checked_columns

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


def trials_of(columns: Mapping[str, NDArray[Any]]) -> Arrays:
    """Return the columns of trials among those of runs, none where every problem was solved once."""
    return {name.removeprefix(_TRIAL): array for name, array in columns.items() if name.startswith(_TRIAL)}


def _columns(runs: Sequence[Run]) -> Arrays:
    results = [Result(trials_run=max(1, len(run.trials)), **{n: getattr(run, n) for n in _DIRECT}) for run in runs]
    times = [Timing(run.seconds, run.precompute_seconds, *(run.move_seconds or ())) for run in runs]
    return as_columns(results, RESULTS) | as_columns(times, TIMES)


def _trial_columns(runs: Sequence[Run]) -> Arrays:
    trials = [[getattr(trial, name) for name in TRIALS] for run in runs for trial in run.each]
    return {f"{_TRIAL}{name}": array for name, array in as_columns(trials, TRIALS).items()}
