"""Measures agents on this processor: their speed, budgets in time, and whether and how fast they find shortest paths.

A budget in time is converted to the expansions that an agent makes in it here. What is measured is remembered in the
folder of the comparison, so that a run that was interrupted goes on under the same limits, and an agent's result never
depends on how busy the machine was the second time.

The last part runs agents on all problems of scenario files: are their paths as long as the files say, and how long do
steps take? Files of version 1 lie beside their map; those of version 2 (``rt_gym.maps.gppc``) make their maps of
patches.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import cycle, islice
from math import inf, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import agents
from agents import Run
from rt_gym import Grid, InputError, Problem, load_map, load_scenarios
from rt_gym.errors import whole
from rt_gym.files import atomic_write, read_json, shown
from rt_gym.maps.gppc import is_dynamic, load_dynamic_scenarios
from rt_gym.specs import parse_agent
from training.judge.squads import make_members, make_teams, run_squad
from training.judge.stats import Estimate, Floats
from training.runs.contenders import Allowance, enlist, make_agent
from training.runs.courses import Course, by_map, tolerance
from training.runs.execution import run_all, say_damaged
from training.runs.jobs import Series, Work, source_stamp
from training.runs.workers import Workers


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


BAR = 0.05  # how wide the interval of a speed may be to either side, relative to the speed
_REFERENCE = 100  # expansions per move of the first measurement, which need not be good
_ROUNDS = 3  # of measuring at the limit that the last one found, as speed depends on it
_NEAR = 0.1  # limits as near as this are not measured again
_LEAST, _MOST = 5, 60  # passes of a measurement
_SECONDS = 4.0  # after which a measurement ends, whatever its interval
_PASS_SECONDS = 0.05
_MOVES = 20, 2000  # the fewest and the most per problem of a pass
_PROBLEMS = 10
_MAPS = 3  # of a pass with squads
_PREPARATION = 10.0  # seconds that the units of a squad may prepare themselves
_QUANTILE, _NORMAL = 0.1, 1.96
_HEADROOM = 0.9  # of a time per move: what the slow moves may take of it while nothing else is running


class Pass(NamedTuple):
    """One measurement, of parts that are the same in every pass: runs, or ticks of squads.

    Attributes:
        expansions: of all parts.
        seconds: of every part.
        slow: seconds that a move takes in every part, at its 99th percentile.
    """

    expansions: int
    seconds: Floats
    slow: Floats


@dataclass(frozen=True)
class Pace:
    """What an agent may compute in a time, and how well that is known.

    Attributes:
        limit: the expansions per move that fit.
        speed: expansions per second, with the interval of repeated measurements.
        slow: seconds that its slow moves take, the 99th percentile; of a squad that of its ticks, divided by its units.
        passes: how often it was measured.
        prepared: about how many seconds it prepares itself, or all units of a squad do.
    """

    limit: int
    speed: Estimate
    slow: float
    passes: int
    prepared: float = 0.0

    @property
    def width(self) -> float:
        """How far the interval goes to either side, relative to the speed."""
        return _width(self.speed)

    @property
    def doubt(self) -> float:
        """What an agent may lack of what it could compute, as the slow end was taken and not the fast one."""
        return 1 - self.speed.low / self.speed.high

    @classmethod
    def read(cls, stored: Any) -> "Pace":
        """Return what was stored.

        Raises:
            InputError, TypeError, ValueError: if that is no pace.
        """
        value, low, high = map(float, stored["speed"])
        slow, prepared = float(stored["slow"]), float(stored["prepared"])
        if not (0 < low <= value <= high < inf and 0 <= slow < inf and 0 <= prepared < inf):
            raise ValueError("no speed with its interval")
        limit, passes = (whole(name, stored[name], 1) for name in ("limit", "passes"))
        return cls(limit, Estimate(value, low, high), slow, passes, prepared)


class Calibration:
    """How many expansions each agent makes in a given time here, on these maps.

    An agent is measured again and again until the interval of its speed is narrow, and the slow end of the interval is
    taken. If its slow moves take longer than the time allows, it gets less.

    Args:
        courses: the maps and problems to measure on.
        folder: where measurements are looked for and, by ``keep``, remembered.
        units: how many units share the computation, which is then measured in squads; None for agents on their own.
        clock: seconds that pass while it measures.

    Attributes:
        paces: what was asked for, by agents and names of budgets.
        left_out: agents that would prepare the units of a squad for too long, and for how many seconds.
    """

    def __init__(
        self,
        courses: Sequence[Course],
        folder: Path,
        units: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._path = folder / "calibration.json"
        self._known = _remembered(self._path)
        self._courses, self._units, self._clock = courses, units, clock
        self._maps = " ".join(course.digest for course in courses)
        self.paces: dict[tuple[str, str], Pace] = {}
        self.left_out: dict[str, float] = {}

    def allowance(self, agent_ids: Iterable[str], milliseconds: float) -> Allowance:
        """Return what agents may compute in this time per move; classes of one's own cannot be measured."""
        text = f"{milliseconds:g} ms"
        found = {name: pace for name in agent_ids if (pace := self._pace(name, milliseconds)) is not None}
        self.paces |= {(name, text): pace for name, pace in found.items()}
        return Allowance(text, limits={name: pace.limit for name, pace in found.items()})

    def _pace(self, agent_id: str, milliseconds: float) -> Pace | None:
        key = f"{agent_id} {milliseconds!r} {self._units} {source_stamp(agent_id)} {self._maps}"
        if key not in self._known:
            pace = self._measure(agent_id, milliseconds / 1e3)
            if pace is None:
                return None
            self._known[key] = pace
        return self._known[key]

    def _measure(self, agent_id: str, seconds: float) -> Pace | None:
        """Return how many expansions the agent makes in this time, at the setting that just fits."""
        if agent_id not in agents.ids():
            raise InputError(f"agent {agent_id} cannot be given a time per move: only agents with an id are calibrated")
        problems = _problems(self._courses)
        prepared = preparation(agent_id, problems, self._units or 1)
        if self._units and prepared > _PREPARATION:
            self.left_out[agent_id] = prepared
            return None
        limit = fitting(_REFERENCE, [next(self._passes(agent_id, problems, _REFERENCE, seconds))], seconds).limit
        for _ in range(_ROUNDS):
            found = settle(self._passes(agent_id, problems, limit, seconds), self._clock)
            pace = fitting(limit, found, seconds)
            near, limit = abs(pace.limit - limit) <= _NEAR * limit, pace.limit
            if near:
                break
        return replace(pace, prepared=prepared)

    def _passes(self, agent_id: str, problems: Sequence[Problem], limit: int, seconds: float) -> Iterator[Pass]:
        if self._units is None:
            return time_runs(agent_id, problems, limit, seconds)
        return time_squads(agent_id, self._courses, self._units, limit, seconds)

    def keep(self) -> None:
        """Write down what was measured, if anything was."""
        if self._known:
            stored = {key: asdict(pace) for key, pace in self._known.items()}
            atomic_write(self._path, json.dumps(stored, indent=2).encode())


def time_runs(agent_id: str, problems: Sequence[Problem], limit: int, seconds: float) -> Iterator[Pass]:
    """Yield measurements of an agent under a limit, each over the first moves of all problems.

    Args:
        agent_id: which agent, with the largest setting that fits the limit.
        problems: on which problems.
        limit: expansions per move.
        seconds: about how long a move may take, so that a pass does not take too long.
    """
    agent = make_agent(agent_id, enlist(agent_id, {}, Allowance.of(limit)).settings)
    moves = int(min(max(_PASS_SECONDS / seconds / len(problems), _MOVES[0]), _MOVES[1]))
    agents.run(agent, problems[0], budget=limit, max_moves=moves)  # the first run loads the kernels
    while True:
        runs = [agents.run(agent, problem, budget=limit, max_moves=moves) for problem in problems]
        slow = np.array([run.move_seconds.p99 if run.move_seconds else 0.0 for run in runs])
        yield Pass(sum(run.expansions for run in runs), np.array([run.seconds for run in runs]), slow)


def time_squads(agent_id: str, courses: Sequence[Course], units: int, limit: int, seconds: float) -> Iterator[Pass]:
    """Yield measurements of an agent in squads, each over the first ticks of one on every map, up to a few maps.

    Args:
        agent_id: which agent, with the largest setting that fits the limit.
        courses: the maps and problems.
        units: how many units a squad has.
        limit: expansions per unit and tick.
        seconds: about how long a unit's part of a tick may take, so that a pass does not take too long.
    """
    members = make_members(agent_id, enlist(agent_id, {}, Allowance.of(limit)).settings, units)
    ticks = int(min(max(_PASS_SECONDS / seconds / units, _MOVES[0]), _MOVES[1]))
    maps = [(group[0], make_teams(group, units, 0)[0]) for group in by_map(courses)[:_MAPS]]
    # The first ticks load the kernels.
    run_squad(maps[0][0].grid, maps[0][1], members, limit * units, maps[0][0].vision, 2)
    while True:
        runs = [run_squad(one.grid, team, members, limit * units, one.vision, ticks) for one, team in maps]
        spent = np.concatenate([run.seconds for run in runs])
        yield Pass(sum(int(run.work.sum()) for run in runs), spent, spent / units)


def preparation(agent_id: str, problems: Sequence[Problem], units: int) -> float:
    """Return about how many seconds agents take to prepare themselves, one for each of so many units on a map."""
    if not agents.load(agent_id).precomputes:
        return 0.0
    _prepared(agent_id, Problem(Grid(np.ones((8, 8), bool)), (0, 0), (7, 7)))  # loads the kernels
    found = [_prepared(agent_id, problem) for problem in problems[:3]]
    return found[0] + (units - 1) * float(np.mean(found[1:] or found))


def _prepared(agent_id: str, problem: Problem) -> float:
    agent = make_agent(agent_id, enlist(agent_id, {}, Allowance.of(_REFERENCE)).settings)
    agent.reset(problem.view(), 0)
    return float(agent.precompute_seconds)


def settle(passes: Iterator[Pass], clock: Callable[[], float]) -> list[Pass]:
    """Return as many measurements as it takes for a narrow interval, or as there is time for."""
    began, found = clock(), list(islice(passes, _LEAST))
    while _width(speed_of(found)) > BAR and len(found) < _MOST and clock() - began < _SECONDS:
        found.append(next(passes))
    return found


def _width(speed: Estimate) -> float:
    return (speed.high - speed.low) / 2 / speed.value


def speed_of(passes: Sequence[Pass]) -> Estimate:
    """Return expansions per second with their 95 % interval.

    Every part counts with the tenth percentile of its times, for it does the same in every pass, and only what else the
    machine does makes it slower. The interval is that of the percentiles, by order statistics.
    """
    times = np.sort(np.stack([one.seconds for one in passes]), axis=0)
    work, last = max(1, passes[0].expansions), len(times) - 1
    middle, half = _QUANTILE * last, _NORMAL * sqrt(_QUANTILE * (1 - _QUANTILE) * len(times))
    ranks = middle, min(last, middle + half), max(0.0, middle - half)
    value, low, high = (work / max(1e-9, float(times[round(rank)].sum())) for rank in ranks)
    return Estimate(value, low, high)


def fitting(limit: int, passes: Sequence[Pass], seconds: float) -> Pace:
    """Return what fits into a time, from measurements under a limit.

    That is what the agent expands at the slow end of its speed and, where its slow moves take too long, no more than
    the part of the limit that brings them down to the time, with some room.
    """
    parts = np.quantile([one.slow for one in passes], _QUANTILE, axis=0)
    speed, slow = speed_of(passes), float(np.quantile(parts, 0.99))
    fits = speed.low * seconds
    if slow > _HEADROOM * seconds:
        fits = min(fits, limit * _HEADROOM * seconds / slow)
    return Pace(max(1, int(fits)), speed, slow, len(passes))


def _problems(courses: Sequence[Course]) -> list[Problem]:
    """Return a few problems, from as many maps as possible."""
    ranked = sorted((k, n) for n, course in enumerate(courses) for k in range(min(_PROBLEMS, len(course.tasks))))
    return [courses[n].problem(courses[n].tasks[k]) for k, n in ranked[:_PROBLEMS]]


def _remembered(path: Path) -> dict[str, Pace]:
    """Return what a file remembers; limits alone, without intervals, are of an older version and measured again."""
    if not path.exists():
        return {}
    try:
        known = read_json(path, "a calibration").items()
        return {key: Pace.read(value) for key, value in known if not isinstance(value, int)}
    except (
        InputError,
        AttributeError,
        TypeError,
        ValueError,
        KeyError,
        OverflowError,
    ):  # no JSON, no object, or a pace that is none
        say_damaged(path, "everything is measured")
        return {}


_STATIC, _ANY = ".map.scen", ".scen"
_MOST_MOVES = 10  # for every free cell
FIRST_STEPS = 20  # the steps whose time the competition counts apart

Asked = tuple[Problem, float]  # a problem and the length of a shortest path


@dataclass(frozen=True)
class Check:
    """An agent on the problems of one scenario file.

    Attributes:
        map: the path of the scenario file without ``.scen``, which is that of the map if there is one beside it.
        problems: how many were run.
        matching: how many of the paths are as long as the file says.
        skipped: how many problems were left out, because they begin or end on blocked cells.
        largest_deviation: of the length of a path.
        expansions_per_second: over all runs.
        first_steps_seconds: how long the first ``FIRST_STEPS`` moves took, on average over the problems.
        longest_step_seconds: how long the longest of all moves took.
    """

    map: str
    problems: int
    matching: int
    skipped: int
    largest_deviation: float
    expansions_per_second: float
    first_steps_seconds: float
    longest_step_seconds: float


def scenario_files(folder: Path) -> list[Path]:
    """Return the scenario files of a folder and of the folders in it: all with a map beside them, or of version 2."""
    if not folder.is_dir():
        raise InputError(f"{shown(folder)}: is not a folder")
    found = sorted(path for path in folder.rglob(f"*{_ANY}") if path.is_file() and _is_wanted(path))
    if not found:
        raise InputError(f"{shown(folder)}: holds no files that end in {_STATIC}, and no {_ANY} files of version 2")
    return found


def _is_wanted(path: Path) -> bool:
    return path.name.endswith(_STATIC) or is_dynamic(path)


@dataclass(frozen=True)
class Checking(Work[str, list[Check]]):
    """The check of scenario files, which workers must find by their paths, by an agent and its settings."""

    spec: str = "astar"

    @property
    def agents(self) -> tuple[str, ...]:
        """The one that is checked."""
        return (parse_agent(self.spec)[0],)

    def do(self, grid: Grid | None, items: Sequence[str]) -> list[Check]:
        """Check some files."""
        return [check(Path(item), self.spec) for item in items]


def check_all(
    files: Iterable[Path],
    spec: str = "astar",
    workers: Workers | None = None,
    advance: Callable[[int], Any] | None = None,
) -> list[Check]:
    """Check scenario files and return the results in their order; ``advance`` is called with how many are done."""
    (parts,) = run_all([Series(Checking(spec), None, tuple(map(str, files)))], None, workers, advance)
    return [result for part in parts for result in part]


def check(path: Path, spec: str = "astar") -> Check:
    """Solve every problem of a scenario file by an agent."""
    agent_id, given = parse_agent(spec)
    agent = make_agent(agent_id, enlist(agent_id, given, Allowance.of(None)).settings)
    runs, lengths, first, skipped = list[agents.Run](), list[float](), 0.0, 0
    for asked in _dynamic(path) if is_dynamic(path) else _static(path):
        if asked is None:
            skipped += 1
            continue
        problem, length = asked
        runs.append(agents.run(agent, problem, max_moves=_MOST_MOVES * problem.grid.free_cells))
        first += _first_steps(agent, problem, runs[-1])
        lengths.append(length)
    return _checked(path, runs, lengths, first, skipped)


def _first_steps(agent: Any, problem: Problem, run: agents.Run) -> float:
    """Return how long the first moves take: all of a short run, else of one that is stopped there."""
    if run.moves <= FIRST_STEPS:
        return run.seconds
    return agents.run(agent, problem, max_moves=FIRST_STEPS).seconds


def _checked(path: Path, runs: list[agents.Run], lengths: list[float], first: float, skipped: int) -> Check:
    off = [(abs(run.cost - length), run.solved) for run, length in zip(runs, lengths, strict=True)]
    allowed = map(tolerance, lengths)
    slowest = (run.move_seconds.max for run in runs if run.move_seconds and run.moves)
    return Check(
        map=str(path.with_suffix("")),
        problems=len(runs),
        matching=sum(solved and deviation <= most for (deviation, solved), most in zip(off, allowed, strict=True)),
        skipped=skipped,
        largest_deviation=max((deviation for deviation, _ in off), default=0.0),
        expansions_per_second=sum(run.expansions for run in runs) / max(1e-9, sum(run.seconds for run in runs)),
        first_steps_seconds=first / max(1, len(runs)),
        longest_step_seconds=max(slowest, default=0.0),
    )


def _static(path: Path) -> Iterator[Asked | None]:
    """Yield the problems of a file of version 1, None for one on blocked cells."""
    grid = load_map(path.with_suffix(""))
    for number, scenario in enumerate(load_scenarios(path), start=1):
        yield (_named(path, number, scenario.on, grid), scenario.optimal) if scenario.fits(grid) else None


def _dynamic(path: Path) -> Iterator[Asked | None]:
    """Yield the problems of a file of version 2, None for one on blocked cells."""
    number = 0
    for grid, queries in load_dynamic_scenarios(path).snapshots():
        for query in queries:
            number += 1
            yield (_named(path, number, query.on, grid), query.optimal) if query.fits(grid) else None


def _named(path: Path, number: int, make: Callable[[Grid], Problem], grid: Grid) -> Problem:
    """Return a problem; a refusal says which one it is."""
    try:
        return make(grid)
    except InputError as error:
        raise InputError(f"{shown(path)}, problem {number}: {error}") from None
