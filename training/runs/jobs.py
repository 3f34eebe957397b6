"""The smallest piece of work that is kept on disk: one contender on some problems of one map.

A job travels to its worker as plain values: ids, settings, cells of the map. Kernels and agents are made where they
are needed.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import agents
from agents import Run
from rt_gym import Budget, Change, Grid, InputError
from rt_gym.files import read_bytes
from training.runs.contenders import make_agent
from training.runs.courses import Task, make_problem
from training.runs.rows import Result, Timing
from training.runs.sources import source_stamp

Outcome = tuple[Result, Timing]
_DIRECT = frozenset(Result._fields) - {"trials_run"}


@dataclass(frozen=True)
class Job:
    """One contender on some problems of one map; ``stamp`` is that of the sources it was planned with."""

    agent: str
    settings: dict[str, Any]
    budget: Budget
    grid: Grid
    tasks: tuple[Task, ...]
    vision: int | None
    changes: tuple[Change, ...]
    trials: int | str
    max_moves: int
    seed: int
    stamp: str

    @cached_property
    def key(self) -> str:
        """A hash of everything that the results depend on, the content of files that settings name included."""
        parts: list[Any] = [
            self.agent,
            self.settings,
            [sha256(read_bytes(path)).hexdigest() for path in self.settings.values() if _names_file(path)],
            self.budget.limit,
            self.budget.count,
            self.grid.digest,
            self.tasks,
        ]
        parts += [self.vision, self.changes, self.trials, self.max_moves, self.seed, self.stamp]
        return sha256(json.dumps(parts, default=repr).encode()).hexdigest()[:32]


def _names_file(value: Any) -> bool:
    return isinstance(value, (str, Path)) and Path(value).is_file()


def run_job(job: Job) -> list[Outcome]:
    """Run one agent on every problem of a job, with the same arrays.

    Raises:
        InputError: if this process has other sources than the one that made the job.
    """
    if source_stamp(job.agent) != job.stamp:
        raise InputError("a worker runs other sources than this command: install the same version everywhere")
    return list(_outcomes(job))


def _outcomes(job: Job) -> Iterator[Outcome]:
    agent, grid = make_agent(job.agent, job.settings), _known(job.grid)
    for task in job.tasks:
        problem = make_problem(grid, task, job.vision, job.changes)
        try:
            run = agents.run(
                agent, problem, budget=job.budget, trials=job.trials, max_moves=job.max_moves, seed=job.seed
            )
        except Exception as error:  # a class of one's own may fail in any way
            if "." not in job.agent:
                raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            where = f"on {grid.name} from {task.start} to {task.goal}"
            raise InputError(f"agent {job.agent} broke down {where} ({reason})") from None
        yield _result(run), _timing(run)


@lru_cache(maxsize=4)
def _known(grid: Grid) -> Grid:
    """Return the equal grid that was seen first: its tables are made already."""
    return grid


def _result(run: Run) -> Result:
    taken = {name: getattr(run, name) for name in _DIRECT}
    return Result(trials_run=max(1, len(run.trials)), **taken)


def _timing(run: Run) -> Timing:
    assert run.move_seconds is not None, "runs are timed"
    return Timing(run.seconds, run.precompute_seconds, *run.move_seconds)
