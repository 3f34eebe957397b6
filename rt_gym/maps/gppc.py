"""Scenarios on maps that change: version 2 of the ``.scen`` format, and the ``.patch`` files beside them.

The format is that of the dynamic track of the Grid-based Path Planning Competition (GPPC, from 2023 on,
https://gppc.search-conference.org). A file begins with a map of free cells. A command ``P`` lays a patch over it, a
small map whose cells replace those below; a command ``Q`` asks for a path on the map as it is then, with the length of
a shortest one. The map stands still while a path is walked.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted
from rt_gym.files import PathLike, read_bytes, shown
from rt_gym.grid import Grid
from rt_gym.maps.movingai import free_cells
from rt_gym.problem import Problem
from rt_gym.sizes import size_problem
from rt_gym.terrain import Position

Cells = NDArray[np.bool_]

_PER_CELL = 6  # bytes, while a map is made
_MOST_PATCHED = 1 << 30  # cells that all patches of a file may replace together, the same ones again and again counted
_MOST_FIELDS = 32  # of a line
_WHOLE = re.compile(r"[0-9]{1,9}")
_LENGTH = re.compile(r"[0-9]{1,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,3})?")


class Query(NamedTuple):
    """A problem on a map at some time.

    Attributes:
        bucket: what the file calls the state of the map.
        start, goal: ``(x, y)``.
        optimal: the length of a shortest path on that map.
        patched: how many patches lie over the map then.
    """

    bucket: int
    start: Position
    goal: Position
    optimal: float
    patched: int

    def fits(self, grid: Grid) -> bool:
        """Whether start and goal are free."""
        return all(bool(grid.passable[y, x]) for x, y in (self.start, self.goal))

    def on(self, grid: Grid, vision: int | None = None) -> Problem:
        """Return the problem on the map that ``snapshots`` yields with it."""
        return Problem(grid, self.start, self.goal, vision)


class Placed(NamedTuple):
    """A patch and where its upper left cell goes."""

    patch: int
    x: int
    y: int


@dataclass(frozen=True, eq=False)
class DynamicScenarios:
    """The content of a scenario file of version 2.

    Attributes:
        name: the name of the file without its ending.
        width, height: of the map.
        patches: the free cells of every patch.
        placed: the patches in the order in which they are laid.
        queries: the problems in the order of the file.
    """

    name: str
    width: int
    height: int
    patches: tuple[Cells, ...]
    placed: tuple[Placed, ...]
    queries: tuple[Query, ...]

    def snapshots(self, **grid_options: Any) -> Iterator[tuple[Grid, list[Query]]]:
        """Yield every map that is asked about, with the problems on it; the options are those of ``Grid``."""
        cells, laid = np.ones((self.height, self.width), bool), 0
        for patched, queries in groupby(self.queries, lambda query: query.patched):
            for number, x, y in self.placed[laid:patched]:
                patch = self.patches[number]
                cells[y : y + patch.shape[0], x : x + patch.shape[1]] = patch
            laid = patched
            yield Grid(cells.copy(), name=f"{self.name}-{patched}", **grid_options), list(queries)


def is_dynamic(path: PathLike) -> bool:
    """Whether a scenario file says that it is of version 2."""
    return read_bytes(path).lstrip()[:12].split()[:2] == [b"version", b"2"]


def load_dynamic_scenarios(path: PathLike) -> DynamicScenarios:
    """Return the content of a ``.scen`` file of version 2; its ``.patch`` file must lie beside it."""
    lines = _Lines(path)
    lines.expect("version", "2")
    height, width = lines.number("height"), lines.number("width")
    if problem := size_problem(width, height, _PER_CELL):
        lines.refuse(problem)
    costs = lines.words("cost")
    if len(costs) < 2 or "octile" not in costs[1:]:
        lines.refuse("one of its costs must be octile")
    (named,) = lines.words("patch", 1)
    beside = Path(path).parent / Path(named).name
    if not beside.is_file():
        lines.refuse(f"there is no file {quoted(named)} beside it")
    lines.expect("commands")
    patches = read_patches(beside)
    placed, queries = _commands(lines, width, height, patches, costs[1:])
    return DynamicScenarios(Path(path).stem, width, height, patches, placed, queries)


def _commands(
    lines: "_Lines", width: int, height: int, patches: tuple[Cells, ...], costs: list[str]
) -> tuple[tuple[Placed, ...], tuple[Query, ...]]:
    placed, queries, cells = list[Placed](), list[Query](), 0
    for fields in lines:
        if fields[0] == "P" and len(fields) == 5:
            placed.append(_placed(lines, fields[2:], width, height, patches))
            cells += patches[placed[-1].patch].size
            if cells > _MOST_PATCHED:
                lines.refuse(f"all patches together replace more than {_MOST_PATCHED} cells")
        elif fields[0] == "Q" and len(fields) == 6 + len(costs):
            queries.append(_query(lines, fields[1:], width, height, costs, len(placed)))
        else:
            lines.refuse(f"expected P with 4 numbers or Q with {5 + len(costs)}, not {quoted(' '.join(fields))}")
    return tuple(placed), tuple(queries)


def _placed(lines: "_Lines", fields: list[str], width: int, height: int, patches: tuple[Cells, ...]) -> Placed:
    number, x, y = map(lines.whole, fields)
    if number >= len(patches):
        lines.refuse(f"there is no patch {number}, the last is {len(patches) - 1}")
    down, across = patches[number].shape
    if x + across > width or y + down > height:
        lines.refuse(f"patch {number} at ({x}, {y}) reaches beyond the {width} x {height} map")
    return Placed(number, x, y)


def _query(lines: "_Lines", fields: list[str], width: int, height: int, costs: list[str], patched: int) -> Query:
    bucket, *ends = map(lines.whole, fields[:5])
    start, goal = (ends[0], ends[1]), (ends[2], ends[3])
    for x, y in (start, goal):
        if x >= width or y >= height:
            lines.refuse(f"({x}, {y}) lies outside the {width} x {height} map")
    length = fields[5 + costs.index("octile")]
    if not _LENGTH.fullmatch(length) or float(length) == float("inf"):
        lines.refuse(f"expected a length, not {quoted(length)}")
    return Query(bucket, start, goal, float(length), patched)


def read_patches(path: PathLike) -> tuple[Cells, ...]:
    """Return the free cells of every patch of a ``.patch`` file."""
    lines, patches = _Lines(path), list[Cells]()
    lines.expect("type", "patch")
    count = lines.number("patches")
    while len(patches) < count:
        lines.expect("patch", str(len(patches)))
        height, width = lines.number("height"), lines.number("width")
        if problem := size_problem(width, height, _PER_CELL):
            lines.refuse(problem)
        lines.expect("map")
        patches.append(lines.rows(width, height))
    for fields in lines:
        lines.refuse(f"there is more after the last patch: {quoted(' '.join(fields))}")
    return tuple(patches)


class _Lines:
    """The lines of a file that are not empty, as fields, with their numbers for refusals."""

    def __init__(self, path: PathLike) -> None:
        self._file, self._rest, self._number = shown(path), BytesIO(read_bytes(path)), 0

    def __iter__(self) -> Iterator[list[str]]:
        for line in self._rest:
            self._number += 1
            if fields := line.decode("ascii", "replace").split(maxsplit=_MOST_FIELDS):
                yield fields

    def refuse(self, reason: str) -> None:
        raise InputError(f"{self._file}, line {self._number}: {reason}")

    def expect(self, *wanted: str) -> None:
        """Read a line of just these words."""
        self.words(wanted[0], len(wanted) - 1, " ".join(wanted))

    def number(self, key: str) -> int:
        """Read a line of a word and a whole number."""
        return self.whole(self.words(key, 1, f"{key} N")[0])

    def words(self, key: str, count: int | None = None, wanted: str = "") -> list[str]:
        """Read a line that begins with a word, and return the others, so many of them if that is said."""
        fields = next(iter(self), [""])
        right = fields[0] == key and count in (None, len(fields) - 1)
        if not right or (wanted and not wanted.endswith(" N") and " ".join(fields) != wanted):
            self.refuse(f"expected {quoted(wanted or key)}, not {quoted(' '.join(fields))}")
        return fields[1:]

    def whole(self, text: str) -> int:
        """Return a field that must be a whole number."""
        if not _WHOLE.fullmatch(text):
            self.refuse(f"expected a whole number below {10**9}, not {quoted(text)}")
        return int(text)

    def rows(self, width: int, height: int) -> Cells:
        """Read the rows of a map."""
        letters, first = bytearray(), self._number + 1
        for _ in range(height):
            row = self._rest.readline().strip()
            self._number += 1
            if len(row) != width:
                self.refuse(f"the row has {len(row)} letters, but the width is {width}")
            letters += row
        return free_cells(bytes(letters), width, self._file, first)
