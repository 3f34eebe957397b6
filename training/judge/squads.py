"""Squads of a comparison: every contender leads the same units, which share the time of a tick.

The units of a squad have the problems of the comparison, in turn. Squads run one after the other in this process, on
the machine that was calibrated, so that no other one disturbs their ticks. A squad with late ticks does the same again,
a few times, and every tick counts with its least time: a tick is late if it always is. What is counted of ticks is
counted while at least half of the units are under way: a last unit that still looks for its goal would make any agent
look punctual.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, nan, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import rt_gym.squad
from rt_gym import Change, Grid, Squad, SquadRun
from rt_gym.cost import to_float
from rt_gym.files import PathLike
from rt_gym.search.astar import connected
from training.judge.stats import Estimate, Floats, estimate, resampled_sums
from training.runs.contenders import Contender, make_agent
from training.runs.courses import Course, Task, make_problem
from training.runs.execution import Store, run_all
from training.runs.jobs import Series, Work
from training.runs.plan import Plan
from training.runs.rows import Arrays, Entry, checked_columns
from training.runs.workers import Workers

LATE = 0.05  # the share of late ticks above which an agent does not keep the time
_TICKS = 300  # that all squads of a contender should have together, if units went straight to their goals
_SQUADS = 3, 50  # the fewest, and the most that are made for the sake of ticks
_PATIENCE = 10  # times the longest of the shortest paths: when squads are stopped
_AGAIN = 4  # times that a squad with late ticks runs again; a tick is late that is late every time
_NORMAL = 1.96  # standard deviations that hold 95 %

_COUNTS = ("arrival", "first_move", "stays", "waits")
_UNITS: dict[str, Any] = {"cost": np.float64, "optimal": np.float64, "arrived": np.bool_}
_UNITS |= dict.fromkeys(_COUNTS, np.int64)
_OF_SQUAD: dict[str, Any] = {"ticks": np.int64, "units": np.int64, "memory_bytes": np.int64}
_OF_TICK: dict[str, Any] = {"seconds": np.float64, "work": np.int64}
_LAYOUTS = {"unit.": _UNITS, "squad.": _OF_SQUAD, "tick.": _OF_TICK}


class Team(NamedTuple):
    """The units of a squad: their problems, how the map changes for all of them, and the seed of ties."""

    tasks: tuple[Task, ...]
    changes: tuple[Change, ...]
    seed: int


def make_teams(courses: Sequence[Course], units: int, seed: int, maps: int = 1) -> list[Team]:
    """Return the teams of a map: enough for all problems, and for some hundreds of ticks on all maps together.

    Where changes were made for every problem, a team meets those of one, and has the units whose goals stay within
    reach.

    Args:
        courses: the problems, on one map and with one vision.
        units: how many units a team has; problems are given out again where there are fewer.
        seed: of the first team.
        maps: how many maps there are.
    """
    tasks = [task for course in courses for task in course.tasks]
    straight = float(np.median([to_float(task.optimal_cost) for task in tasks]))
    wanted = min(_SQUADS[1], max(_SQUADS[0], ceil(_TICKS / max(1.0, straight))))
    number = max(ceil(len(tasks) / units), ceil(wanted / maps))
    return [_team(courses[k % len(courses)], tasks, units, k, seed + k) for k in range(number)]


def _team(course: Course, tasks: Sequence[Task], units: int, number: int, seed: int) -> Team:
    fitting = _within_reach(course.grid, tasks, course.changes) or course.tasks
    chosen = (fitting[(number * units + unit) % len(fitting)] for unit in range(units))
    return Team(tuple(chosen), course.changes, seed)


def _within_reach(grid: Grid, tasks: Sequence[Task], changes: Sequence[Change]) -> Sequence[Task]:
    """Return the tasks that can be solved on the map as it is in the end."""
    if not changes:
        return tasks
    passable = grid.passable.copy()
    for change in changes:
        passable[change.position[1], change.position[0]] = change.free
    after = grid.replace(passable=passable)

    def free(position: tuple[int, int]) -> bool:
        return bool(passable[position[1], position[0]])

    return [task for task in tasks if free(task.start) and free(task.goal) and connected(after, task.start, task.goal)]


@dataclass(frozen=True)
class SquadRuns(Work[Team, Arrays]):
    """Squads of one contender.

    The result has columns of all units, of all squads and of all ticks, each squad by squad.
    """

    agent: str
    settings: dict[str, Any]
    allowance: int
    vision: int | None
    max_ticks: int
    tick_seconds: float

    @property
    def agents(self) -> tuple[str, ...]:
        """The one that all units have."""
        return (self.agent,)

    @property
    def files(self) -> Iterable[PathLike]:
        """Policies and databases that the settings name, and what squads are made of."""
        named = [value for value in self.settings.values() if isinstance(value, (str, Path)) and Path(value).is_file()]
        return [*named, *sorted(Path(rt_gym.squad.__file__).parent.glob("*.py"))]

    def do(self, grid: Grid | None, items: Sequence[Team]) -> Arrays:
        """Let every team go, after a few ticks that load the kernels."""
        assert grid is not None
        members = make_members(self.agent, self.settings, len(items[0].tasks))
        one = items[0]._replace(tasks=items[0].tasks[:1])
        run_squad(grid, one, members[:1], self.allowance, self.vision, 2)
        return _columns([self._run(grid, team, members) for team in items])

    def _run(self, grid: Grid, team: Team, members: Sequence[Any]) -> SquadRun:
        """Run a squad, and again while ticks are late: it does the same, but the machine may have been busy."""
        run = run_squad(grid, team, members, self.allowance, self.vision, self.max_ticks)
        for _ in range(_AGAIN):
            late = np.flatnonzero((run.seconds > self.tick_seconds) & busy(run.arrived, run.arrival, run.ticks))
            if not late.size:
                break
            again = run_squad(grid, team, members, self.allowance, self.vision, int(late[-1]) + 1)
            seconds = run.seconds.copy()
            seconds[: again.ticks] = np.minimum(seconds[: again.ticks], again.seconds)
            run = replace(run, seconds=seconds)
        return run

    def pack(self, result: Arrays) -> Arrays:
        """Return the columns as they are."""
        return result

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
        """Return the columns, all of the right type and of lengths that fit."""
        found = {
            prefix + name: column
            for prefix, layout in _LAYOUTS.items()
            for name, column in checked_columns(_part(arrays, prefix), layout).items()
        }
        lengths = len(found["unit.cost"]), len(found["tick.seconds"])
        if lengths != (found["squad.units"].sum(), found["squad.ticks"].sum()):
            raise ValueError("not as many units and ticks as the squads have")
        return found


def make_members(agent: str, settings: dict[str, Any], units: int) -> list[Any]:
    """Return one agent per unit, for any number of squads: what they have prepared for a map, they keep."""
    return [make_agent(agent, settings) for _ in range(units)]


def make_squad(grid: Grid, team: Team, members: Sequence[Any], allowance: int, vision: int | None) -> Squad:
    """Return a team before its first tick, with an allowance of expansions per tick that its units share equally."""
    problems = [make_problem(grid, task, vision, team.changes) for task in team.tasks]
    return Squad(problems, list(members), allowance, seed=team.seed)


def run_squad(
    grid: Grid, team: Team, members: Sequence[Any], allowance: int, vision: int | None, max_ticks: int
) -> SquadRun:
    """Let a team go to its goals."""
    return make_squad(grid, team, members, allowance, vision).run(max_ticks)


def _columns(runs: Sequence[SquadRun]) -> Arrays:
    units = {name: np.concatenate([getattr(run, name) for run in runs]).astype(kind) for name, kind in _UNITS.items()}
    squads = {name: np.array([getattr(run, name) for run in runs], kind) for name, kind in _OF_SQUAD.items()}
    ticks = {name: np.concatenate([getattr(run, name) for run in runs]).astype(kind) for name, kind in _OF_TICK.items()}
    parts = zip(_LAYOUTS, (units, squads, ticks), strict=True)
    return {prefix + name: column for prefix, part in parts for name, column in part.items()}


def _part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Arrays:
    return {name.removeprefix(prefix): column for name, column in arrays.items() if name.startswith(prefix)}


@dataclass(frozen=True)
class SquadScore:
    """One contender in all its squads.

    Attributes:
        entry: which contender.
        squads, ticks: how many squads there were, and in how many ticks at least half of their units were under way.
        late: the share of these ticks that took longer than a tick may, with its interval.
        p99_ms, worst_ms: the 99th percentile and the most of what these ticks took, in milliseconds.
        first_move: ticks before a unit's first step, on average.
        stays: ticks in which a unit under way stood still, of all in which it was under way.
        memory_bytes: the most that the agents of a squad held together.
        arrivals, units: how many units of how many reached their goals.
        quality: the mean over problems of cost / optimum, the cost of a shortest path on the map as it was at the
            start; None if a unit did not arrive.
    """

    entry: Entry
    squads: int
    ticks: int
    late: Estimate
    p99_ms: float
    worst_ms: float
    first_move: float
    stays: float
    memory_bytes: int
    arrivals: int
    units: int
    quality: Estimate | None

    @property
    def punctual(self) -> bool:
        """Whether no more of its ticks are late than may be."""
        return self.late.value <= LATE

    def document(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return asdict(self) | {"entry": self.entry._asdict(), "punctual": self.punctual}


class SquadRow(NamedTuple):
    """One squad of a contender; ticks, late ones and the longest are counted as those of ``SquadScore``.

    Attributes:
        map: the map it was on.
        ticks, late, worst_ms: how many ticks, how many of them late, and the longest in milliseconds.
        arrivals, units: how many units of how many reached their goals.
        quality: the mean over its units of cost / optimum, infinite if one did not arrive.
    """

    map: str
    ticks: int
    late: int
    worst_ms: float
    arrivals: int
    units: int
    quality: float


class SquadArena:
    """All contenders with the same squads, and the same resamplings of their problems.

    Args:
        units, tick_ms: how many units share a tick of how many milliseconds.
        records: of every contender what its squads left behind, see ``SquadRuns``.
        problems: the number of every unit's problem, in the order of the records.
        seed: for the resamplings.
        maps: the map of every squad, in the order of the records.

    Attributes:
        scores: one per contender.
    """

    def __init__(
        self,
        units: int,
        tick_ms: float,
        records: Mapping[Entry, Arrays],
        problems: NDArray[np.int64],
        seed: int,
        maps: Sequence[str],
    ) -> None:
        self.units, self.tick_ms, self.maps = units, tick_ms, maps
        self._records = records
        self._count = int(problems.max()) + 1
        qualities = np.stack([_per_problem(_quality(record), problems) for record in records.values()], axis=1)
        means = resampled_sums(np.where(np.isfinite(qualities), qualities, 0.0), seed) / self._count
        self._means = {entry: means[:, k] for k, entry in enumerate(records) if np.isfinite(qualities[:, k]).all()}
        self.scores = {entry: self._score(entry, record) for entry, record in records.items()}

    @property
    def name(self) -> str:
        """What was asked, in a few words."""
        return f"{self.units} unit{'s' * (self.units > 1)} in ticks of {self.tick_ms:g} ms"

    def document(self) -> dict[str, Any]:
        """Return what was asked and how many squads every contender led, as JSON takes it."""
        return {"units": self.units, "tick_ms": self.tick_ms, "squads": len(self.maps)}

    def rows(self, entry: Entry) -> list[SquadRow]:
        """Return the squads of a contender one by one."""
        record = self._records[entry]
        of_units = np.repeat(np.arange(len(self.maps)), record["squad.units"])
        of_ticks = np.repeat(np.arange(len(self.maps)), record["squad.ticks"])
        counted, quality = _busy(record), _quality(record)
        return [
            self._row(name, record["tick.seconds"][counted & (of_ticks == k)], quality[of_units == k])
            for k, name in enumerate(self.maps)
        ]

    def _row(self, name: str, seconds: Floats, quality: Floats) -> SquadRow:
        late, worst = int((seconds > self.tick_ms / 1e3).sum()), 1e3 * float(seconds.max(initial=0.0))
        arrived = int(np.isfinite(quality).sum())
        return SquadRow(name, len(seconds), late, worst, arrived, len(quality), float(quality.mean()))

    def difference(self, one: Entry, other: Entry) -> Estimate | None:
        """Return the quality of one minus that of the other, problem by problem; None if a unit did not arrive."""
        if one not in self._means or other not in self._means:
            return None
        return estimate(self._means[one] - self._means[other], self._count)

    def _score(self, entry: Entry, record: Arrays) -> SquadScore:
        units, squads = _part(record, "unit."), _part(record, "squad.")
        seconds = record["tick.seconds"][_busy(record)]
        under_way = np.where(units["arrived"], units["arrival"], np.repeat(squads["ticks"], squads["units"]))
        return SquadScore(
            entry=entry,
            squads=len(squads["ticks"]),
            ticks=len(seconds),
            late=share(int((seconds > self.tick_ms / 1e3).sum()), len(seconds)),
            p99_ms=1e3 * float(np.quantile(seconds, 0.99)) if len(seconds) else 0.0,
            worst_ms=1e3 * float(seconds.max(initial=0.0)),
            first_move=float(units["first_move"].mean()),
            stays=float(units["stays"].sum() / max(1, under_way.sum())),
            memory_bytes=int(squads["memory_bytes"].max()),
            arrivals=int(units["arrived"].sum()),
            units=len(units["arrived"]),
            quality=estimate(self._means[entry], self._count) if entry in self._means else None,
        )


def _quality(record: Arrays) -> Floats:
    """Return the cost of every unit in optimal costs, infinite where it did not arrive."""
    cost, optimal = record["unit.cost"], record["unit.optimal"]
    ratio = np.divide(cost, optimal, out=np.ones_like(cost), where=optimal > 0)
    return np.where(record["unit.arrived"], ratio, np.inf)


def _per_problem(values: Floats, problems: NDArray[np.int64]) -> Floats:
    """Return the mean over the units of every problem."""
    found: Floats = np.bincount(problems, values) / np.bincount(problems)
    return found


def _busy(record: Arrays) -> NDArray[np.bool_]:
    """Return in which ticks at least half of the units were under way."""
    found, unit = [], 0
    for ticks, units in zip(record["squad.ticks"].tolist(), record["squad.units"].tolist(), strict=True):
        own = slice(unit, unit + units)
        found.append(busy(record["unit.arrived"][own], record["unit.arrival"][own], ticks))
        unit += units
    return np.concatenate(found)


def busy(arrived: NDArray[np.bool_], arrival: NDArray[np.int64], ticks: int) -> NDArray[np.bool_]:
    """Return in which of a squad's ticks at least half of the units were under way."""
    ends = np.sort(np.where(arrived, arrival, ticks))
    found: NDArray[np.bool_] = np.arange(ticks) < ends[len(ends) // 2]
    return found


def share(part: int, whole: int) -> Estimate:
    """Return a share with its 95 % interval, after Wilson."""
    if not whole:
        return Estimate(0.0, nan, nan)
    value, square = part / whole, _NORMAL**2 / whole
    middle, half = value + square / 2, _NORMAL * sqrt(value * (1 - value) / whole + square / whole / 4)
    return Estimate(value, max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square)))


def run_squads(
    plan: Plan, units: int, tick_ms: float, folder: Path | None = None, advance: Callable[[int], Any] | None = None
) -> SquadArena:
    """Let every contender of a plan lead its squads; what is on disk is not done again.

    Args:
        plan: contenders, each with a limit per move, and courses.
        units: how many units share a tick.
        tick_ms: how many milliseconds it has.
        folder: where finished squads are kept and looked for; nothing is kept without one.
        advance: called with how many squads have become available.
    """
    teams = [make_teams(group, units, plan.seed, len(plan.groups)) for group in plan.groups]
    series = [
        Series(squad_work(contender, units, tick_ms, plan, group), group[0].grid, own)
        for contender in plan.contenders
        for group, own in zip(plan.groups, teams, strict=True)
    ]
    parts = run_all(series, Store(folder), Workers(jobs=1), advance)
    each = len(teams)
    records = {
        contender.entry: _joined([part for found in parts[k * each : k * each + each] for part in found])
        for k, contender in enumerate(plan.contenders)
    }
    maps = [group[0].name for group, own in zip(plan.groups, teams, strict=True) for _ in own]
    return SquadArena(units, tick_ms, records, _numbered(teams), plan.seed, maps)


def count_squads(plan: Plan, units: int) -> int:
    """Return how many squads ``run_squads`` has."""
    return len(plan.contenders) * sum(len(make_teams(group, units, 0, len(plan.groups))) for group in plan.groups)


def squad_work(contender: Contender, units: int, tick_ms: float, plan: Plan, group: Sequence[Course]) -> SquadRuns:
    """Return what a contender of a plan does with the squads of one map."""
    longest = max(to_float(task.optimal_cost) for course in group for task in course.tasks)
    return SquadRuns(
        agent=contender.agent,
        settings=contender.settings,
        allowance=units * (contender.entry.limit or 1),
        vision=group[0].vision,
        max_ticks=min(plan.max_moves, ceil(_PATIENCE * (longest + 10))),
        tick_seconds=tick_ms / 1e3,
    )


def _joined(parts: Sequence[Arrays]) -> Arrays:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _numbered(teams: Sequence[Sequence[Team]]) -> NDArray[np.int64]:
    """Return the number of every unit's problem; the same task is another problem where the map changes otherwise."""
    known: dict[Any, int] = {}
    keys = ((k, task, team.changes) for k, own in enumerate(teams) for team in own for task in team.tasks)
    return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)
