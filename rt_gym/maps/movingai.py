"""The MovingAI formats: ``.map`` files and ``.scen`` files of problems with optimal lengths.

Format and public maps: Nathan Sturtevant, "Benchmarks for Grid-Based Pathfinding", IEEE Transactions on Computational
Intelligence and AI in Games, 2012. Ground (``.``, ``G``) and swamp (``S``) are free; trees (``T``), water (``W``) and
everything out of bounds (``@``, ``O``) are blocked. A grid keeps only that difference, so maps are written with ``.``
and ``@``.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted
from rt_gym.files import PathLike, atomic_write, read_bytes, shown
from rt_gym.grid import Grid
from rt_gym.problem import Problem
from rt_gym.sizes import MAP_BYTES, size_problem, strips
from rt_gym.terrain import Position

_BLOCKED, _FREE, _UNKNOWN = range(3)
_LETTERS = bytes(_BLOCKED if k in b"@OTW" else _FREE if k in b".GS" else _UNKNOWN for k in range(256))
_ENDS = (b"\n", b"\r\n")  # of a line

_PER_CELL = 6  # bytes, while a map is read

_HEADER_LINES = 4
_CLIP = 80  # bytes of a line that are looked at where only a few words can be right
_WHOLE = re.compile(r"[0-9]{1,9}")
_WHOLE_LIMIT = 10**9
_BLANKS = re.compile(r"[ \t]+")
_DECIMAL = re.compile(r"[0-9]{1,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,3})?")


def read_map(path: PathLike, **grid_options: Any) -> Grid:
    """Return the grid of a ``.map`` file, named after it; the options are those of ``Grid``."""
    return Grid(parse_map(read_bytes(path, MAP_BYTES), shown(path)), name=Path(path).stem, **grid_options)


def write_map(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid as a ``.map`` file."""
    atomic_write(path, format_map(grid))


def format_map(grid: Grid) -> Iterator[bytes]:
    """Yield the cells of a grid as the content of a ``.map`` file, piece by piece."""
    yield f"type octile\nheight {grid.height}\nwidth {grid.width}\nmap\n".encode()
    letters = np.array([ord("@"), ord(".")], np.uint8)
    for rows in strips(grid.width, grid.height):
        cells = grid.passable[rows]
        text = np.full((len(cells), grid.width + 1), ord("\n"), np.uint8)
        text[:, :-1] = letters[cells.view(np.uint8)]
        yield text.tobytes()


def parse_map(data: bytes, file: str) -> NDArray[np.bool_]:
    """Return the free cells in the content of a ``.map`` file, which messages call ``file``."""
    lines = data.split(b"\n", _HEADER_LINES)
    lines += [b""] * (_HEADER_LINES + 1 - len(lines))
    width, height = _size(lines[:_HEADER_LINES], file)
    letters = _equal_rows(lines[_HEADER_LINES], width, height) or _any_rows(lines[_HEADER_LINES], width, height, file)
    return free_cells(letters, width, file, _HEADER_LINES + 1)


def count_swamp(data: bytes) -> int:
    """Return how many cells of the content of a ``.map`` file, which was read before, are swamp."""
    return data.split(b"\n", _HEADER_LINES)[-1].count(b"S")


def _equal_rows(text: bytes, width: int, height: int) -> bytes:
    """Return the letters of all rows at once if their lines are as long and end as the first one, else nothing."""
    for end in _ENDS:
        size = width + len(end)
        last = (height - 1) * size
        if len(text) < last + width or text[last + width :] not in (b"", *_ENDS):
            continue
        lines = np.frombuffer(text[: last + width] + end, np.uint8).reshape(height, size)
        letters = lines[:, :width].tobytes()
        if (lines[:, width:] == list(end)).all() and b"\n" not in letters:
            return letters
    return b""


def _any_rows(text: bytes, width: int, height: int, file: str) -> bytes:
    """Return the letters of all rows, line by line, or refuse the first that is too short or too long."""
    letters, lines, line = bytearray(), BytesIO(text), b"\n"
    for number in range(height):
        before, line = line, lines.readline()
        if not line and not before.endswith(b"\n"):
            _refuse(file, number + 4, f"the file ends after {number} rows, but the header says height {height}")
        row = line.removesuffix(b"\n").removesuffix(b"\r")
        if len(row) != width:
            _refuse(file, number + 5, f"the row has {len(row)} letters, but the header says width {width}")
        letters += row
    if lines.read().strip():
        _refuse(file, height + 5, f"there is more text after the {height} rows of the header's height")
    return bytes(letters)


def _size(header: list[bytes], file: str) -> tuple[int, int]:
    """Return the width and height that the four lines before the first row declare."""
    lines = [_words(line) for line in header]
    if lines[0] != "type octile":
        _refuse(file, 1, f"a map starts with 'type octile', not {quoted(lines[0])}")
    sizes: dict[str, int] = {}
    for number, line in enumerate(lines[1:3], start=2):
        key, _, value = line.partition(" ")
        if key not in {"height", "width"} - sizes.keys() or not _WHOLE.fullmatch(value):
            wanted = " or ".join(f"'{key} N'" for key in ("height", "width") if key not in sizes)
            _refuse(file, number, f"expected {wanted} with a whole number N, not {quoted(line)}")
        sizes[key] = int(value)
    if problem := size_problem(sizes["width"], sizes["height"], _PER_CELL):
        _refuse(file, 3, problem)
    if lines[3] != "map":
        _refuse(file, 4, f"expected 'map', not {quoted(lines[3])}")
    return sizes["width"], sizes["height"]


def _words(line: bytes) -> str:
    """Return a line with single blanks between its words; one that is too long to be right is only cut."""
    text = line[:_CLIP].decode("utf-8", "replace")
    return " ".join(text.split()) if len(line) <= _CLIP else text


def free_cells(letters: bytes, width: int, file: str, first: int) -> NDArray[np.bool_]:
    """Return the letters of rows as an H x W array of free cells; ``first`` is the line of the first row."""
    kinds = letters.translate(_LETTERS)
    if (unknown := kinds.find(_UNKNOWN)) >= 0:
        y, x = divmod(unknown, width)
        byte = letters[unknown]
        name = repr(chr(byte)) if 32 <= byte < 127 else f"byte {byte}"
        _refuse(
            file, y + first, f"unknown terrain {name} in column {x + 1}, known are . G S (free) and @ O T W (blocked)"
        )
    return np.frombuffer(kinds, bool).reshape(-1, width)


@dataclass(frozen=True)
class Scenario:
    """One benchmark problem.

    Attributes:
        bucket: difficulty class, in the public files the integer part of ``optimal`` / 4.
        map_name: the map as the file names it, which need not be where it lies today.
        width: width of the map.
        height: height of the map.
        start: where to start, ``(x, y)``.
        goal: where to go, ``(x, y)``.
        optimal: cost of a cheapest path.
    """

    bucket: int
    map_name: str
    width: int
    height: int
    start: Position
    goal: Position
    optimal: float

    def __post_init__(self) -> None:
        name = self.map_name
        if not name or name != name.strip() or not name.isprintable():
            raise InputError(f"a map name must be printable text without blanks around it, not {quoted(name)}")
        if problem := size_problem(self.width, self.height):
            raise InputError(problem)
        for key, (x, y) in (("start", self.start), ("goal", self.goal)):
            if not (0 <= x < self.width and 0 <= y < self.height):
                raise InputError(f"the {key} ({x}, {y}) lies outside the {self.width} x {self.height} map")
        if not 0 <= self.bucket < _WHOLE_LIMIT:
            raise InputError(f"the bucket must be at least 0 and below {_WHOLE_LIMIT}")
        if not 0 <= self.optimal < math.inf:
            raise InputError(f"the optimal length must be at least 0 and finite, not {self.optimal}")

    def fits(self, grid: Grid) -> bool:
        """Whether start and goal are free; on a map of another size nothing is known of that, and nothing is said."""
        same = (self.width, self.height) == (grid.width, grid.height)
        return not same or all(bool(grid.passable[y, x]) for x, y in (self.start, self.goal))

    def on(self, grid: Grid, vision: int | None = None, changes: Any = None) -> Problem:
        """Return the problem on its map; a map of another size is refused."""
        if (self.width, self.height) != (grid.width, grid.height):
            size = f"{self.width} x {self.height}"
            raise InputError(f"the scenario is for a map of {size}, but the map is {grid.width} x {grid.height}")
        return Problem(grid, self.start, self.goal, vision, changes)


def load_scenarios(path: PathLike) -> list[Scenario]:
    """Return the problems of a ``.scen`` file in the order of the file."""
    file, scenarios = shown(path), []
    # Iterating the bytes splits at newlines only; str.splitlines would also split inside odd map names.
    for number, line in enumerate(BytesIO(read_bytes(path).rstrip() or b"\n"), start=1):
        try:
            text = line.decode().strip(" \t\r\n")
        except UnicodeDecodeError:
            _refuse(file, number, "the line is not UTF-8 text")
        if number == 1:
            if text.split() not in (["version", "1"], ["version", "1.0"]):
                _refuse(file, 1, f"scenarios start with 'version 1', not {quoted(text)}")
            continue
        try:
            scenarios.append(_parse_scenario(text))
        except InputError as error:
            _refuse(file, number, str(error))
    return scenarios


def _parse_scenario(line: str) -> Scenario:
    fields = [field.strip(" ") for field in line.split("\t", maxsplit=9)]
    if len(fields) != 9:
        fields = _BLANKS.split(line, maxsplit=9)
    if len(fields) != 9:
        raise InputError(f"a problem has 9 fields, not {quoted(line)}")
    bucket, width, height, *xy = (_number(_WHOLE, int, fields[i]) for i in (0, 2, 3, 4, 5, 6, 7))
    optimal = _number(_DECIMAL, float, fields[8])
    return Scenario(bucket, fields[1], width, height, (xy[0], xy[1]), (xy[2], xy[3]), optimal)


def _number(pattern: re.Pattern[str], convert: type, field: str) -> Any:
    if not pattern.fullmatch(field):
        kind = f"a whole number below {_WHOLE_LIMIT}" if convert is int else "a number"
        raise InputError(f"expected {kind}, not {quoted(field)}")
    return convert(field)


def write_scenarios(scenarios: Iterable[Scenario], path: PathLike) -> None:
    """Write problems as a tab-separated ``.scen`` file from which ``load_scenarios`` reads equal ones."""
    lines = ["version 1"]
    for scenario in scenarios:
        whole = (scenario.width, scenario.height, *scenario.start, *scenario.goal)
        fields = [int(scenario.bucket), scenario.map_name, *map(int, whole), float(scenario.optimal)]
        lines.append("\t".join(map(str, fields)))
    atomic_write(path, ("\n".join(lines) + "\n").encode())


def _refuse(file: str, line: int, reason: str) -> NoReturn:
    raise InputError(f"{file}, line {line}: {reason}")
