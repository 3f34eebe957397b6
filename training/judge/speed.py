"""Measures agents on this processor: their speed, A* against published optimal lengths, budgets in time.

A budget in time is converted to the expansions that an agent makes in it here. What is measured is remembered in the
folder of the comparison, so that a run that was interrupted goes on under the same limits, and an agent's result never
depends on how busy the machine was the second time.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

import agents
from agents import Run
from rt_gym import Budget, Grid, InputError, Problem, load_map, load_scenarios
from rt_gym.errors import whole
from rt_gym.files import atomic_write, read_json, shown
from rt_gym.maps import Scenario
from training.runs.contenders import Allowance, Contender, enlist, enlist_all, make_agent
from training.runs.courses import Course, tolerance
from training.runs.execution import run_all, say_damaged
from training.runs.jobs import Series, Work, source_stamp
from training.runs.rows import Entry, Runs
from training.runs.workers import Workers

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


@dataclass(frozen=True)
class Checking(Work[str, list[Check]]):
    """The check of scenario files, which workers must find by their paths."""

    @property
    def agents(self) -> tuple[str, ...]:
        """A* alone."""
        return ("astar",)

    def do(self, grid: Grid | None, items: Sequence[str]) -> list[Check]:
        """Check some files."""
        return [check(Path(item)) for item in items]


def check_all(
    files: Iterable[Path], workers: Workers | None = None, advance: Callable[[int], Any] | None = None
) -> list[Check]:
    """Check scenario files and return the results in their order; ``advance`` is called with how many are done."""
    (parts,) = run_all([Series(Checking(), None, tuple(map(str, files)))], None, workers, advance)
    return [result for part in parts for result in part]


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


_REFERENCE = 100  # expansions per move of the first measurement
_ROUNDS = 2  # the second is made at the limit that the first one found, as speed depends on it
_SECONDS = 0.2
_PROBLEMS = 10
_TICKS = 10_000
_ROOM = 10_000_000  # the most moves drawn for ticks


class Calibration:
    """How many expansions each agent makes in a given time here, on these maps.

    Args:
        courses: the maps and problems to measure on.
        folder: where measurements are looked for and, by ``keep``, remembered.
    """

    def __init__(self, courses: Sequence[Course], folder: Path) -> None:
        self._path = folder / "calibration.json"
        self._known = _remembered(self._path)
        self._courses = courses
        self._maps = " ".join(course.digest for course in courses)

    def allowance(self, agent_ids: Iterable[str], milliseconds: float) -> Allowance:
        """Return what agents may compute in this time per move; classes of one's own cannot be measured."""
        return Allowance(f"{milliseconds:g} ms", limits={name: self._limit(name, milliseconds) for name in agent_ids})

    def _limit(self, agent_id: str, milliseconds: float) -> int:
        key = f"{agent_id} {milliseconds!r} {source_stamp(agent_id)} {self._maps}"
        if key not in self._known:
            self._known[key] = _measure(agent_id, _problems(self._courses), milliseconds)
        return self._known[key]

    def keep(self) -> None:
        """Write down what was measured, if anything was."""
        if self._known:
            atomic_write(self._path, json.dumps(self._known, indent=2).encode())


@dataclass(frozen=True)
class Limits:
    """What agents may compute for one move: counts, times, or as much as they like.

    Attributes:
        counts: the largest counts, to be tried one after the other.
        count: what they count, ``"expansions"`` or ``"scans"``.
        times: milliseconds instead, which a calibration converts to expansions of each agent.
    """

    counts: Sequence[int] = ()
    count: str = "expansions"
    times: Sequence[float] = ()

    def __post_init__(self) -> None:
        for limit in self.counts or (None,):
            Budget(limit, self.count)
        if self.times and self.count != "expansions":
            raise InputError("a time is converted to expansions, so --count scans cannot be had with it")
        if not all(1e-6 <= time <= 1e6 for time in self.times):
            raise InputError(f"a time per move must be from 1e-6 to 1e6 milliseconds, not {min(self.times):g}")

    def enlist(self, specs: Sequence[str]) -> list[Contender]:
        """Return agents written as on the command line under every count; where times are to come, under none."""
        return enlist_all(specs, [Allowance.of(limit, self.count) for limit in dict.fromkeys(self.counts or (None,))])

    def enlist_calibrated(
        self, specs: Sequence[str], calibration: Calibration, advance: Callable[[], Any] = lambda: None
    ) -> list[Contender]:
        """Return agents under every count or time; ``advance`` is called after each time that was converted."""
        contenders = self.enlist(specs)
        if not self.times:
            return contenders
        names = list(dict.fromkeys(contender.agent for contender in contenders))
        allowances = []
        for milliseconds in self.times:
            allowances.append(calibration.allowance(names, milliseconds))
            advance()
        return enlist_all(specs, allowances)


def _measure(agent_id: str, problems: Sequence[Problem], milliseconds: float) -> int:
    """Return how many expansions the agent makes in this time, at the setting that just fits."""
    if agent_id not in agents.ids():
        raise InputError(f"agent {agent_id} cannot be given a time per move: only agents with an id are calibrated")
    limit = _REFERENCE
    for _ in range(_ROUNDS):
        speed = throughput(agent_id, problems, limit, _SECONDS).expansions_per_second
        limit = max(1, int(speed * milliseconds / 1e3))
    return limit


def _problems(courses: Sequence[Course]) -> list[Problem]:
    """Return a few problems, from as many maps as possible."""
    ranked = sorted((k, n) for n, course in enumerate(courses) for k in range(min(_PROBLEMS, len(course.tasks))))
    return [courses[n].problem(courses[n].tasks[k]) for k, n in ranked[:_PROBLEMS]]


def _remembered(path: Path) -> dict[str, int]:
    if not path.exists():
        return {}
    try:
        known = read_json(path, "a calibration")
        return {key: whole("a limit", value, 1) for key, value in known.items()}
    except (InputError, AttributeError):  # no JSON, no object, or a limit that is none
        say_damaged(path, "everything is measured")
        return {}


def late_ticks(runs: Runs, units: int, tick_ms: float, seed: int) -> dict[Entry, float]:
    """Return for every contender the share of ticks that are too short for all units.

    A tick is drawn: each of its units is on one of the contender's runs, and makes a move as long as the 99th
    percentile of that run's moves.
    """
    rng = np.random.default_rng(seed)
    ticks = max(1, min(_TICKS, _ROOM // units))
    shares = {}
    for batch in runs.batches:
        spent = batch.columns["p99"][rng.integers(len(batch), size=(ticks, units))].sum(axis=1)
        shares[batch.entry] = float((spent > tick_ms / 1e3).mean())
    return shares
