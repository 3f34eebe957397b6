"""Measures agents on this processor, and A* against published optimal lengths.

Agents go to other processes by their id and maps by their path, never as compiled kernels.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import joblib

import agents
from agents import Run
from rt_gym import Grid, InputError, Problem, load_map, load_scenarios
from rt_gym.files import shown
from rt_gym.maps import Scenario
from training.runs.contenders import Allowance, enlist, make_agent
from training.runs.courses import tolerance

_SCEN = ".map.scen"


@dataclass(frozen=True)
class Throughput:
    """How fast an agent is on this processor, in moves and expansions per second of planning and walking."""

    agent: str
    settings: dict[str, Any]
    label: str
    moves_per_second: float
    expansions_per_second: float


def throughput(agent_id: str, problems: Sequence[Problem], budget: int, seconds: float = 1.0) -> Throughput:
    """Run an agent, with the largest setting that fits the budget, over and over for some time after one warm-up."""
    contender = enlist(agent_id, {}, Allowance.of(budget))
    agent = make_agent(agent_id, contender.settings)
    agents.run(agent, problems[0], clock=False)
    runs: list[Run] = []
    end = time.perf_counter() + seconds
    for problem in cycle(problems):
        runs.append(agents.run(agent, problem, clock=False))
        if time.perf_counter() > end:
            break
    spent = sum(run.seconds for run in runs)
    moves, expansions = sum(run.moves for run in runs), sum(run.expansions for run in runs)
    return Throughput(agent_id, contender.settings, contender.entry.label, moves / spent, expansions / spent)


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
