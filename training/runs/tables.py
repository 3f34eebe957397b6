"""The files of a comparison that others read, line by line: settings, results, times and trials; and archives of them.

An archive is a zip file with the tables of every experiment, ``<id>/<size>/results.csv`` and those beside it, and
``SHA256SUMS``, the digest of each, as ``sha256sum --check`` reads it. Who reads it can judge the rows behind results.
"""

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import isnan
from pathlib import Path
from typing import IO, Any, get_type_hints

import numpy as np

from rt_gym import InputError
from rt_gym.files import PathLike, atomic_write, digest_file, open_regular, shown
from training.runs.rows import OUTCOMES, TRIALS, Batch, Entry, Place, Result, Row, Runs, Timing, Trial

_MOST_BYTES, _LONGEST = 1 << 31, 1 << 16  # of a table, and of one of its lines
_MOST = 1 << 62  # of anything that is counted
_CHUNK = 10_000  # rows in memory at a time
_REPEAT = "repeat"  # is a column only where there is more than one
_DERIVED = ("suboptimality", "expansions_per_move")
_PLACE = tuple(name for name in Place._fields if name != _REPEAT)
COLUMNS = (*Entry._fields, *_PLACE, *Result._fields, *_DERIVED)
_COUNTED = ("expansions", "scans")
_HEAD = ("agent", "setting", "budget", "map", "problem")
TABLES = ("settings.json", "results.csv", "times.csv")
TRIALS_TABLE = "trials.csv"


def write_tables(folder: Path, settings: dict[str, Any], *runs: Runs) -> list[Path]:
    """Write the settings, the results and the times of comparisons, and return where they are.

    ``settings.json`` and ``results.csv`` are the same for the same seed and sources; times are only in ``times.csv``.
    Where problems were solved more than once, ``trials.csv`` has a row for every trial.
    """
    files: dict[str, bytes | Iterable[bytes]] = {
        "settings.json": (json.dumps(settings, indent=2, default=str) + "\n").encode(),
        "results.csv": format_results(*runs),
        "times.csv": format_times(*runs),
    }
    if any(batch.trials for one in runs for batch in one.batches):
        files[TRIALS_TABLE] = format_trials(*runs)
    for name, content in files.items():
        atomic_write(folder / name, content)
    return [folder / name for name in files]


def format_results(*runs: Runs) -> Iterator[bytes]:
    """Yield a CSV file with one line per run."""
    more = _extra(runs)
    columns = (*COLUMNS[: len(Entry._fields) + len(_PLACE)], *more, *Result._fields, *_DERIVED)
    yield from _csv(columns, (_result_lines(batch, part, more) for batch, part in _chunks(runs)))


def _result_lines(batch: Batch, part: slice, more: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    moves, expansions = batch.columns["moves"][part], batch.columns["expansions"][part]
    per_move = np.where(batch.solved[part], expansions / np.maximum(moves, 1), np.nan)
    derived = (_or_none(values) for values in (batch.suboptimality[part].tolist(), per_move.tolist()))
    wide = len(Place._fields) - (not more)
    rows = zip(batch.places.rows(part), batch.results(part), *derived, strict=True)
    return ((*batch.entry, *place[:wide], *result, *two) for place, result, *two in rows)


def _or_none(values: list[float]) -> list[float | None]:
    return [None if isnan(value) else value for value in values]


def format_times(*runs: Runs) -> Iterator[bytes]:
    """Yield the times of runs as a CSV file, in the order of their results."""
    more = _extra(runs)

    def lines(batch: Batch, part: slice) -> Iterator[Iterable[Any]]:
        return map(chain, _heads(batch, part, more), batch.timings(part))

    yield from _csv((*_HEAD, *more, *Timing._fields), (lines(batch, part) for batch, part in _chunks(runs)))


def format_trials(*runs: Runs) -> Iterator[bytes]:
    """Yield a CSV file with one line per trial, in the order of the runs."""
    more = _extra(runs)
    parts = (_trial_lines(batch, part, more) for batch, part in _chunks(runs) if batch.trials)
    yield from _csv((*_HEAD, *more, "trial", *Trial._fields), parts)


def _trial_lines(batch: Batch, part: slice, more: tuple[str, ...]) -> Iterator[Iterable[Any]]:
    counts = batch.columns["trials_run"]
    first, counted = int(counts[: part.start].sum()), counts[part].tolist()
    chosen = slice(first, first + sum(counted))
    columns = {name: batch.trials[name][chosen].tolist() for name in TRIALS}
    columns["outcome"] = [OUTCOMES[number] for number in columns["outcome"]]
    pairs = zip(_heads(batch, part, more), counted, strict=True)
    heads = ((*head, number) for head, count in pairs for number in range(1, count + 1))
    return map(chain, heads, zip(*columns.values(), strict=True))


def _heads(batch: Batch, part: slice, more: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    wide = batch.entry[:3]
    return ((*wide, place.map, place.problem, *([place.repeat] if more else ())) for place in batch.places.rows(part))


def _extra(runs: Iterable[Runs]) -> tuple[str, ...]:
    return (_REPEAT,) if any(one.repeats > 1 for one in runs) else ()


def _chunks(runs: Iterable[Runs]) -> Iterator[tuple[Batch, slice]]:
    for batch in (batch for one in runs for batch in one.batches):
        yield from ((batch, slice(begin, begin + _CHUNK)) for begin in range(0, len(batch), _CHUNK))


def _csv(columns: Iterable[str], chunks: Iterable[Iterable[Iterable[Any]]]) -> Iterator[bytes]:
    for lines in chain([[columns]], chunks):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        yield text.getvalue().encode()


def read_runs(path: PathLike) -> Runs:
    """Return the runs of a file that ``format_results`` made; times are not in it.

    Raises:
        InputError: if it is no such file; the message names the line.
    """
    try:
        with open_regular(path, _MOST_BYTES) as raw, io.BufferedReader(raw) as file:
            return _parse(path, csv.reader(_lines(file, shown(path)), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{shown(path)}: is not a table of results ({error})") from None


def _lines(file: IO[bytes], name: str) -> Iterator[str]:
    """Yield the lines of a table one by one, so that what is none is refused before all of it is read."""
    while line := file.readline(_LONGEST + 1):
        if len(line) > _LONGEST:
            raise InputError(f"{name}: is not a table of results: it has a line of more than {_LONGEST} bytes")
        yield line.decode()


def _parse(path: PathLike, lines: Iterator[list[str]]) -> Runs:
    wide, head = len(Entry._fields) + len(_PLACE), next(lines, None)
    if head not in (list(COLUMNS), [*COLUMNS[:wide], _REPEAT, *COLUMNS[wide:]]):
        raise InputError(f"{shown(path)}: is not a table of results, whose first line would name their columns")
    repeated = len(head or ()) > len(COLUMNS)
    whole = (line if repeated else [*line[:wide], "0", *line[wide:]] for line in lines)
    return Runs.of(_row(path, number, line) for number, line in enumerate(whole, start=2))


def _row(path: PathLike, number: int, line: list[str]) -> Row:
    try:
        if len(line) != len(_READERS) + len(_DERIVED):
            raise ValueError
        values = [read(text) for read, text in zip(_READERS, line, strict=False)]
        first, second, end = len(Entry._fields), len(Entry._fields) + len(Place._fields), len(_READERS)
        row = Row(Entry(*values[:first]), Place(*values[first:second]), Result(*values[second:end]))
        if row.result.outcome not in OUTCOMES or row.result.trials_run < 1 or row.entry.counted not in _COUNTED:
            raise ValueError
    except ValueError:
        raise InputError(f"{shown(path)}, line {number}: is not a row of results") from None
    return row


def _truth(text: str) -> bool:
    if text not in ("True", "False"):
        raise ValueError
    return text == "True"


def _count(text: str) -> int:
    number = int(text)
    if not 0 <= number < _MOST:
        raise ValueError
    return number


def _length(text: str) -> float:
    number = float(text)
    if not 0 <= number < _MOST:
        raise ValueError
    return number


def _reader(kind: Any) -> Callable[[str], Any]:
    """Return what turns the text of a column back into its value."""
    plain: dict[Any, Callable[[str], Any]] = {str: str, int: _count, float: _length, bool: _truth}
    if kind in plain:
        return plain[kind]
    inner = _count if kind == int | None else _length
    return lambda text: inner(text) if text else None


_READERS = [_reader(kind) for part in (Entry, Place, Result) for kind in get_type_hints(part).values()]


SUMS = "SHA256SUMS"
_PIECE = 1 << 20
_DATE = (1980, 1, 1, 0, 0, 0)  # of all members: what an archive is depends on its rows alone


def find_tables(folder: Path, experiments: Iterable[str], size: str) -> list[Path]:
    """Return the tables that experiments of a size have left in a work folder.

    Raises:
        InputError: if there are none.
    """
    homes = [folder / name / size for name in experiments]
    found = [home / name for home in homes for name in (*TABLES, TRIALS_TABLE) if (home / name).is_file()]
    if not found:
        raise InputError(
            f"{shown(folder)}: holds no rows of the size {size}; run the experiments with this --out first"
        )
    return found


def pack_rows(folder: Path, tables: Iterable[Path], archive: Path) -> str:
    """Write tables of a work folder into an archive, and return its SHA-256."""
    atomic_write(archive, _pieces({table.relative_to(folder).as_posix(): table for table in sorted(tables)}))
    return digest_file(archive)


def _pieces(members: dict[str, Path]) -> Iterator[bytes]:
    """Yield the bytes of an archive; no table is ever in memory as a whole."""
    sink, sums = _Sink(), list[str]()
    with zipfile.ZipFile(sink, "w") as packed:
        for name, path in members.items():
            digest = hashlib.sha256()
            with path.open("rb") as table, packed.open(_member(name), "w", force_zip64=True) as member:
                while piece := table.read(_PIECE):
                    digest.update(piece)
                    member.write(piece)
                    yield sink.take()
            sums.append(f"{digest.hexdigest()}  {name}\n")
        packed.writestr(_member(SUMS), "".join(sums))
    yield sink.take()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


class _Sink(io.RawIOBase):
    """What an archive is written to: hands on what it was given, and cannot go back."""

    def __init__(self) -> None:
        self._given = bytearray()

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, data: Any, /) -> int:
        """Keep data until they are taken."""
        self._given += data
        return len(data)

    def take(self) -> bytes:
        """Return what has been given since the last time."""
        given = bytes(self._given)
        self._given.clear()
        return given
