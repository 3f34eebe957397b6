"""One run, one row: what was run where, and what came of it.

Everything in a ``Row`` depends on the sources and the seed alone. Times are kept apart, in a ``Timing``: the table of
rows is the same, byte for byte, on any machine and however often it was interrupted.
"""

import csv
import io
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, NamedTuple, get_type_hints

from rt_gym import InputError
from rt_gym.files import PathLike, read_bytes, shown

_MOST_BYTES = 1 << 28
OUTCOMES = ("goal", "out of moves", "no path", "overrun")  # of ``agents.Run``, in columns by their number


class Entry(NamedTuple):
    """A contender as tables name it: ``limit`` is the largest count per move of what is ``counted``."""

    agent: str
    setting: str
    budget: str
    limit: int | None
    counted: str

    @property
    def label(self) -> str:
        """The agent with its settings, for people."""
        return f"{self.agent} {self.setting.replace(':', ' ')}".rstrip()


class Place(NamedTuple):
    """A problem, and what bounds every run on it; ``digest`` is that of the map, its rules and its changes."""

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


class Timing(NamedTuple):
    """How long a run took, in seconds; the last three are per move."""

    seconds: float
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


_DERIVED = ("suboptimality", "expansions_per_move")
COLUMNS = (*Entry._fields, *Place._fields, *Result._fields, *_DERIVED)
_TIME_COLUMNS = ("agent", "setting", "budget", "map", "problem", *Timing._fields)


def format_rows(rows: Iterable[Row]) -> bytes:
    """Return rows as a CSV file, one line per run."""
    lines = ([*row.entry, *row.place, *row.result, row.suboptimality, row.expansions_per_move] for row in rows)
    return _csv(COLUMNS, lines)


def format_times(rows: Iterable[Row], timings: Iterable[Timing]) -> bytes:
    """Return the times of runs as a CSV file, in the order of their rows."""
    pairs = zip(rows, timings, strict=True)
    return _csv(_TIME_COLUMNS, ([*row.entry[:3], row.place.map, row.place.problem, *timing] for row, timing in pairs))


def _csv(columns: Iterable[str], lines: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(lines)
    return text.getvalue().encode()


def read_rows(path: PathLike) -> list[Row]:
    """Return the rows of a file that ``format_rows`` made.

    Raises:
        InputError: if it is no such file; the message names the line.
    """
    try:
        lines = csv.reader(io.StringIO(read_bytes(path, _MOST_BYTES).decode(), newline=""), strict=True)
        if next(lines, None) != list(COLUMNS):
            raise InputError(f"{shown(path)}: is not a table of results, whose first line would name their columns")
        return [_row(path, number, line) for number, line in enumerate(lines, start=2)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{shown(path)}: is not a table of results ({error})") from None


def _row(path: PathLike, number: int, line: list[str]) -> Row:
    try:
        if len(line) != len(COLUMNS):
            raise ValueError
        values = [read(text) for read, text in zip(_READERS, line, strict=False)]
    except ValueError:
        raise InputError(f"{shown(path)}, line {number}: is not a row of results") from None
    first, second, end = len(Entry._fields), len(Entry._fields) + len(Place._fields), len(_READERS)
    return Row(Entry(*values[:first]), Place(*values[first:second]), Result(*values[second:end]))


def _truth(text: str) -> bool:
    if text not in ("True", "False"):
        raise ValueError
    return text == "True"


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError
    return number


def _reader(kind: Any) -> Callable[[str], Any]:
    """Return what turns the text of a column back into its value."""
    plain: dict[Any, Callable[[str], Any]] = {str: str, int: int, float: _finite, bool: _truth}
    if kind in plain:
        return plain[kind]
    inner = int if kind == int | None else _finite
    return lambda text: inner(text) if text else None


_READERS = [_reader(kind) for part in (Entry, Place, Result) for kind in get_type_hints(part).values()]
