"""One run, one row: what was run where, and what came of it; and all runs of a comparison as columns.

Everything in a ``Row`` depends on the sources and the seed alone. Times are kept apart, in a ``Timing``: the table of
rows is the same, byte for byte, on any machine and however often it was interrupted. A million runs are arrays, and a
``Row`` is made where one is looked at.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from math import isnan, nan
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

OUTCOMES = ("goal", "out of moves", "no path", "overrun")  # of ``agents.Run``, in columns by their number

Arrays = dict[str, NDArray[Any]]  # columns by their names


class Entry(NamedTuple):
    """A contender as tables name it: ``limit`` is the largest count per move of what is ``counted``."""

    agent: str
    setting: str
    budget: str
    limit: int | None
    counted: str

    @property
    def milliseconds(self) -> float | None:
        """The time for one move, where the budget is one."""
        return float(self.budget.removesuffix(" ms")) if self.budget.endswith(" ms") else None

    @property
    def label(self) -> str:
        """The agent with its settings, for people."""
        return f"{self.agent} {self.setting.replace(':', ' ')}".rstrip()


class Place(NamedTuple):
    """A problem, and what bounds every run on it.

    ``digest`` is that of ``Course``; ``repeat`` counts the runs of a problem with other seeds.
    """

    map: str
    digest: str
    problem: int
    start_x: int
    start_y: int
    goal_x: int
    goal_y: int
    optimal: float | None
    vision: int | None
    trials: str
    max_moves: int
    repeat: int = 0

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for comparable runs, whatever the path of the map and the number of the problem."""
        return self.digest, self.start_x, self.start_y, self.goal_x, self.goal_y, *self[8:]


class Result(NamedTuple):
    """What a run left behind, see ``agents.Run``; of several trials the totals."""

    outcome: str
    trials_run: int
    converged: bool
    cost: float
    straights: int
    diagonals: int
    moves: int
    stays: int
    expansions: int
    max_expansions: int
    scans: int
    max_scans: int
    learning_ops: int
    trace_steps: int
    first_move_expansions: int
    plans: int
    h_updates: int
    memory: int
    memory_bytes: int
    guarded: int
    guarded_expansions: int


class Trial(NamedTuple):
    """What one trial of a run left behind, see ``agents.Run``."""

    outcome: str
    cost: float
    straights: int
    diagonals: int
    moves: int
    stays: int
    expansions: int
    max_expansions: int
    scans: int
    max_scans: int
    learning_ops: int
    trace_steps: int
    plans: int
    h_updates: int


class Timing(NamedTuple):
    """How long a run took, in seconds: planning and walking, planning alone; the last three are per move."""

    seconds: float
    planning_seconds: float
    precompute_seconds: float
    p50: float
    p99: float
    max: float


class Row(NamedTuple):
    """One run of a contender on a problem."""

    entry: Entry
    place: Place
    result: Result

    @property
    def solved(self) -> bool:
        """Whether the goal was reached in every trial."""
        return self.result.outcome == "goal"

    @property
    def suboptimality(self) -> float | None:
        """The cost of a trial divided by the optimal cost; None for a run that failed or a map that changes.

        A run that was cut has no suboptimality: what it cost so far would look cheap.
        """
        optimal = self.place.optimal
        if not self.solved or optimal is None:
            return None
        return self.result.cost / (optimal * self.result.trials_run) if optimal else 1.0

    @property
    def expansions_per_move(self) -> float | None:
        """Expansions per move; None for a run that failed."""
        if not self.solved:
            return None
        return self.result.expansions / self.result.moves if self.result.moves else 0.0


_TYPES = {int: np.int64, float: np.float64, bool: np.bool_, str: np.uint8}  # the only text, an outcome, is a number


def _layout(*parts: Any) -> dict[str, Any]:
    return {name: _TYPES[kind] for part in parts for name, kind in get_type_hints(part).items()}


RESULTS, TIMES, TRIALS = _layout(Result), _layout(Timing), _layout(Trial)


def as_columns(rows: Sequence[Sequence[Any]], layout: Mapping[str, Any]) -> Arrays:
    """Return rows as columns of the types of a layout; an outcome becomes its number."""
    values = zip(*rows, strict=True) if rows else [()] * len(layout)
    named = dict(zip(layout, values, strict=True))
    if "outcome" in named:
        named["outcome"] = tuple(map(OUTCOMES.index, named["outcome"]))
    return {name: np.array(named[name], kind) for name, kind in layout.items()}


def checked_columns(arrays: Mapping[str, NDArray[Any]], layout: Mapping[str, Any]) -> Arrays:
    """Return the columns of a layout.

    Raises:
        KeyError, ValueError: if one is missing, of another type or of another length than the first.
    """
    found = {name: arrays[name] for name in layout}
    if any(found[name].dtype != kind for name, kind in layout.items()) or len({len(a) for a in found.values()}) > 1:
        raise ValueError("columns of other types or of different lengths")
    return found


class Ground(NamedTuple):
    """What the problems of a course have in common, see ``Place``."""

    map: str
    digest: str
    vision: int | None
    trials: str
    max_moves: int


@dataclass(frozen=True, eq=False)
class Places:
    """Problems as columns.

    Attributes:
        grounds: what problems have in common; ground: the number of every problem's.
        problem, start_x, start_y, goal_x, goal_y, repeat: see ``Place``.
        optimal: the optimal cost, nan where the map changes.
    """

    grounds: tuple[Ground, ...]
    ground: NDArray[np.int64]
    problem: NDArray[np.int64]
    start_x: NDArray[np.int64]
    start_y: NDArray[np.int64]
    goal_x: NDArray[np.int64]
    goal_y: NDArray[np.int64]
    optimal: NDArray[np.float64]
    repeat: NDArray[np.int64]

    @classmethod
    def of(cls, places: Iterable[Place]) -> "Places":
        """Return places as columns."""
        grounds: dict[Ground, int] = {}
        lines = []
        for place in places:
            ground = Ground(place.map, place.digest, place.vision, place.trials, place.max_moves)
            number = grounds.setdefault(ground, len(grounds))
            lines.append((number, *place[2:7], nan if place.optimal is None else place.optimal, place.repeat))
        columns = [np.array(column) for column in zip(*lines, strict=True)]
        return cls(tuple(grounds), *columns)

    def __len__(self) -> int:
        return len(self.ground)

    @cached_property
    def repeats(self) -> int:
        """How often every problem was run, with different seeds."""
        return int(self.repeat.max(initial=0)) + 1

    @cached_property
    def maps(self) -> NDArray[np.int64]:
        """The number of every problem's map, maps of one name being one."""
        names = {ground.map: 0 for ground in self.grounds}
        numbers = {name: number for number, name in enumerate(names)}
        return np.array([numbers[ground.map] for ground in self.grounds], np.int64)[self.ground]

    def same_as(self, other: "Places") -> bool:
        """Whether these are the same problems, in the same order."""
        if self is other:
            return True
        same = len(self) == len(other) and list(self.rows()) == list(other.rows())
        return same

    def repeated(self, repeats: int) -> "Places":
        """Return all places once for every repeat."""
        tiled = {name: np.tile(getattr(self, name), repeats) for name in _NUMBERS}
        return Places(self.grounds, **tiled, repeat=np.repeat(np.arange(repeats), len(self)))

    def take(self, chosen: slice) -> "Places":
        """Return some of them."""
        return Places(self.grounds, *(getattr(self, name)[chosen] for name in (*_NUMBERS, "repeat")))

    def rows(self, chosen: slice = slice(None)) -> Iterator[Place]:
        """Yield the places one by one."""
        optimal = [None if isnan(value) else value for value in self.optimal[chosen].tolist()]
        columns = [getattr(self, name)[chosen].tolist() for name in (*_NUMBERS[:-1], "repeat")]
        for ground, *numbers, repeat, best in zip(*columns, optimal, strict=True):
            name, digest, vision, trials, max_moves = self.grounds[ground]
            yield Place._make((name, digest, *numbers, best, vision, trials, max_moves, repeat))


_NUMBERS = ("ground", "problem", "start_x", "start_y", "goal_x", "goal_y", "optimal")


@dataclass(frozen=True, eq=False)
class Batch:
    """All runs of one contender.

    Attributes:
        entry: which contender.
        places: where it ran.
        columns: of every run the fields of ``Result`` and, where they are known, of ``Timing``.
        trials: of every trial of every run, one after the other, the fields of ``Trial``; empty where there is one.
    """

    entry: Entry
    places: Places
    columns: Arrays
    trials: Arrays = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def solved(self) -> NDArray[np.bool_]:
        """Whether the goal was reached in every trial of a run."""
        return self.columns["outcome"] == OUTCOMES.index("goal")

    @cached_property
    def suboptimality(self) -> NDArray[np.float64]:
        """See ``Row.suboptimality``; nan where there is none."""
        optimal = self.places.optimal
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(optimal == 0, 1.0, self.columns["cost"] / (optimal * self.columns["trials_run"]))
        return np.where(self.solved, found, nan)

    def numbers(self, name: str) -> NDArray[Any]:
        """Return what a field of ``Result``, ``Timing`` or ``Place``, or a property of ``Row``, is in every run."""
        if name in self.columns:
            return self.columns[name]
        if name == "expansions_per_move":
            return self.columns["expansions"] / np.maximum(self.columns["moves"], 1)
        return self.suboptimality if name == "suboptimality" else getattr(self.places, name)

    def results(self, chosen: slice = slice(None)) -> Iterator[Result]:
        """Yield what the runs left behind, one by one."""
        columns = {name: self.columns[name][chosen].tolist() for name in RESULTS}
        columns["outcome"] = [OUTCOMES[number] for number in columns["outcome"]]
        return map(Result, *columns.values())

    def timings(self, chosen: slice = slice(None)) -> Iterator[Timing]:
        """Yield the times of the runs, one by one."""
        return map(Timing, *(self.columns[name][chosen].tolist() for name in TIMES))


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of all contenders. Iterating yields a ``Row`` for each, contender by contender."""

    batches: tuple[Batch, ...]

    @classmethod
    def of(cls, rows: "Runs | Iterable[Row]") -> "Runs":
        """Return rows as columns, contenders in the order of their first rows; what are columns already stays so."""
        if isinstance(rows, Runs):
            return rows
        grouped: dict[Entry, list[Row]] = {}
        for row in rows:
            grouped.setdefault(row.entry, []).append(row)
        return cls(tuple(_batch(entry, found) for entry, found in grouped.items()))

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    def __iter__(self) -> Iterator[Row]:
        for batch in self.batches:
            yield from (Row(batch.entry, *pair) for pair in zip(batch.places.rows(), batch.results(), strict=True))

    def on(self, chosen: NDArray[np.bool_]) -> "Runs":
        """Return the runs on some problems, without their trials; all contenders must have met the same ones."""
        some = Places.of(compress(self.batches[0].places.rows(), chosen))
        return Runs(tuple(Batch(b.entry, some, {n: c[chosen] for n, c in b.columns.items()}) for b in self.batches))

    def timings(self) -> Iterator[Timing]:
        """Yield the times of all runs, in the order of the rows."""
        for batch in self.batches:
            yield from batch.timings()

    @property
    def repeats(self) -> int:
        """How often every problem was run, with different seeds."""
        return max((batch.places.repeats for batch in self.batches), default=1)


def _batch(entry: Entry, rows: Sequence[Row]) -> Batch:
    return Batch(entry, Places.of(row.place for row in rows), as_columns([row.result for row in rows], RESULTS))
