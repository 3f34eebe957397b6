"""Measures agents: over many problems, on this processor, and A* against published optimal lengths.

Agents go to other processes by their id and maps by their path, never as compiled kernels.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle
from math import inf
from pathlib import Path
from statistics import fmean, median
from typing import Any

import joblib

import agents
from agents import Run
from rt_gym import Grid, InputError, Problem, load_map, load_scenarios
from rt_gym.files import shown
from rt_gym.maps import Scenario
from training.runs.courses import tolerance

_SCEN = ".map.scen"


@dataclass(frozen=True)
class Summary:
    """One agent with one setting over many problems.

    Expansions per move are given both ways: ``mean`` is per problem, then over problems; ``pooled`` divides all
    expansions by all moves. Failures are part of every number. They make the mean suboptimality infinite, and the
    median too if they are half of the runs.

    Attributes:
        agent, settings, budget: what was run; ``settings`` are all parameters of the agent.
        problems: how many problems there were; failures: outcomes other than the goal, and how often.
        suboptimality_mean, suboptimality_median: cost divided by the optimal cost.
        expansions_mean, expansions_pooled, scans_pooled: work per move.
        worst_move: the most expansions for one move of any run.
        move_seconds_p50, move_seconds_p99: the median over problems of each run's median and 99th percentile.
    """

    agent: str
    settings: dict[str, Any]
    budget: int | None
    problems: int
    failures: dict[str, int]
    suboptimality_mean: float
    suboptimality_median: float
    expansions_mean: float
    expansions_pooled: float
    scans_pooled: float
    worst_move: int
    move_seconds_p50: float
    move_seconds_p99: float

    @property
    def failed(self) -> int:
        """How many runs did not reach the goal."""
        return sum(self.failures.values())

    @property
    def label(self) -> str:
        """The agent with the settings that distinguish it: numbers, and words that are not the default."""
        return label(self.agent, self.settings)


def measure(agent_id: str, problems: Sequence[Problem], budget: int, max_moves: int, seed: int) -> Summary:
    """Run an agent, with the largest setting that fits the budget, on every problem."""
    agent = agents.make(agent_id, budget=budget)
    runs = [agents.run(agent, problem, budget=budget, max_moves=max_moves, seed=seed) for problem in problems]
    return summarise(agent_id, settings_of(agent_id, agent), budget, runs)


def summarise(agent_id: str, settings: dict[str, Any], budget: int | None, runs: Sequence[Run]) -> Summary:
    """Return the summary of runs that were timed, one per problem."""
    moves = max(1, sum(run.moves for run in runs))
    suboptimality = [(run.suboptimality or inf) if run.solved else inf for run in runs]
    times = [run.move_seconds for run in runs if run.move_seconds]
    return Summary(
        agent=agent_id,
        settings=settings,
        budget=budget,
        problems=len(runs),
        failures=dict(Counter(run.outcome for run in runs if not run.solved)),
        suboptimality_mean=fmean(suboptimality),
        suboptimality_median=median(suboptimality),
        expansions_mean=fmean(run.expansions_per_move for run in runs),
        expansions_pooled=sum(run.expansions for run in runs) / moves,
        scans_pooled=sum(run.scans for run in runs) / moves,
        worst_move=max(run.max_expansions for run in runs),
        move_seconds_p50=median(spent.p50 for spent in times),
        move_seconds_p99=median(spent.p99 for spent in times),
    )


def settings_of(agent_id: str, agent: Any) -> dict[str, Any]:
    """Return the value of every parameter of an agent, fractions as floats."""
    values = {name: getattr(agent, name) for name in agents.parameters(agent_id) if hasattr(agent, name)}
    return {name: float(value) if isinstance(value, Fraction) else value for name, value in values.items()}


def label(agent_id: str, settings: dict[str, Any]) -> str:
    """Return an id with its settings, leaving out words that are the default."""
    defaults = agents.parameters(agent_id)
    shown = (
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in settings.items()
        if isinstance(value, (int, float)) or value != defaults[name]
    )
    return " ".join([agent_id, *shown])


@dataclass(frozen=True)
class Throughput:
    """How fast an agent is on this processor, in moves and expansions per second of planning and walking."""

    agent: str
    settings: dict[str, Any]
    moves_per_second: float
    expansions_per_second: float


def throughput(agent_id: str, problems: Sequence[Problem], budget: int, seconds: float = 1.0) -> Throughput:
    """Run an agent, with the largest setting that fits the budget, over and over for some time after one warm-up."""
    agent = agents.make(agent_id, budget=budget)
    agents.run(agent, problems[0], clock=False)
    runs: list[Run] = []
    end = time.perf_counter() + seconds
    for problem in cycle(problems):
        runs.append(agents.run(agent, problem, clock=False))
        if time.perf_counter() > end:
            break
    spent = sum(run.seconds for run in runs)
    moves, expansions = sum(run.moves for run in runs), sum(run.expansions for run in runs)
    return Throughput(agent_id, settings_of(agent_id, agent), moves / spent, expansions / spent)


@dataclass(frozen=True)
class Check:
    """A* against the optimal lengths of one scenario file; ``map`` is the path of the map beside it."""

    map: str
    problems: int
    matching: int
    largest_deviation: float
    expansions_per_second: float


def scenario_files(folder: Path) -> list[Path]:
    """Return the scenario files of a folder and of the folders in it."""
    if not folder.is_dir():
        raise InputError(f"{shown(folder)}: is not a folder")
    found = sorted(path for path in folder.rglob(f"*{_SCEN}") if path.is_file())
    if not found:
        raise InputError(f"{shown(folder)}: holds no files that end in {_SCEN}")
    return found


def check_all(files: Iterable[Path]) -> Iterator[Check]:
    """Check scenario files on all cores, yielding each result in the order of the files."""
    jobs = (joblib.delayed(check)(path) for path in files)
    yield from joblib.Parallel(n_jobs=-1, return_as="generator")(jobs)


def check(path: Path) -> Check:
    """Solve every problem of a scenario file by A* on the map beside it."""
    map_path = path.with_suffix("")
    grid, scenarios = load_map(map_path), load_scenarios(path)
    agent = agents.make("astar")
    deviations, runs = [], []
    for number, scenario in enumerate(scenarios, start=1):
        run = agents.run(agent, _problem(path, grid, number, scenario), max_moves=grid.free_cells, clock=False)
        runs.append(run)
        deviations.append((abs(run.cost - scenario.optimal), tolerance(scenario.optimal)))
    return Check(
        map=str(map_path),
        problems=len(runs),
        matching=sum(deviation <= allowed for deviation, allowed in deviations),
        largest_deviation=max((deviation for deviation, _ in deviations), default=0.0),
        expansions_per_second=sum(run.expansions for run in runs) / max(1e-9, sum(run.seconds for run in runs)),
    )


def _problem(path: Path, grid: Grid, number: int, scenario: Scenario) -> Problem:
    try:
        return scenario.on(grid)
    except InputError as error:
        raise InputError(f"{shown(path)}, problem {number}: {error}") from None
