"""What a comparison does: one contender on the problems of one map, as columns of what every run left behind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

import agents
from agents import Run
from rt_gym import Budget, Change, Grid, InputError
from rt_gym.files import PathLike
from training.runs.contenders import make_agent
from training.runs.courses import Task, make_problem
from training.runs.jobs import Arrays, Work
from training.runs.rows import OUTCOMES, Result, Timing

_TYPES = {int: np.int64, float: np.float64, bool: np.bool_, str: np.uint8}  # the only text, an outcome, is a number
_LAYOUT = {name: _TYPES[kind] for part in (Result, Timing) for name, kind in get_type_hints(part).items()}
_DIRECT = frozenset(Result._fields) - {"outcome", "trials_run"}


class Assignment(NamedTuple):
    """A task, and the changes of the map while it is solved."""

    task: Task
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class AgentRuns(Work[Assignment, Arrays]):
    """Runs of one agent under one budget. The result has a column for every field of ``Result`` and ``Timing``."""

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
        return _columns([self._run(agent, grid, item) for item in items])

    def pack(self, result: Arrays) -> Arrays:
        """Return the columns as they are."""
        return result

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
        """Return the columns, all of the right type and of one length."""
        if any(arrays[name].dtype != kind for name, kind in _LAYOUT.items()):
            raise ValueError("columns of other types")
        if len({len(arrays[name]) for name in _LAYOUT}) > 1:
            raise ValueError("columns of different lengths")
        return dict(arrays)

    def _run(self, agent: Any, grid: Grid, item: Assignment) -> Run:
        problem = make_problem(grid, item.task, self.vision, item.changes)
        options: dict[str, Any] = {"trials": self.trials, "max_moves": self.max_moves, "seed": self.seed}
        try:
            return agents.run(agent, problem, budget=self.budget, **options)
        except Exception as error:  # a class of one's own may fail in any way
            if "." not in self.agent:
                raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            where = f"on {grid.name} from {item.task.start} to {item.task.goal}"
            raise InputError(f"agent {self.agent} broke down {where} ({reason})") from None


def _columns(runs: Sequence[Run]) -> Arrays:
    values: dict[str, Sequence[Any]] = {name: [getattr(run, name) for run in runs] for name in _DIRECT}
    values["outcome"] = [OUTCOMES.index(run.outcome) for run in runs]
    values["trials_run"] = [max(1, len(run.trials)) for run in runs]
    times = [(run.seconds, run.precompute_seconds, *(run.move_seconds or ())) for run in runs]
    values |= dict(zip(Timing._fields, zip(*times, strict=True), strict=True))
    return {name: np.array(values[name], kind) for name, kind in _LAYOUT.items()}
