"""Scheduled changes of a map: by name, or read from a file with rows of time, x, y, free."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from rt_gym import Change, InputError, Problem
from rt_gym.changes import KINDS, scripted_changes
from rt_gym.errors import quoted
from rt_gym.files import read_bytes, shown

_COLUMNS = ("time", "x", "y", "free")
_FREE = {"0": False, "1": True, "false": False, "true": True}


Changes = str | tuple[Change, ...]  # a name of rt_gym.changes, or a schedule


def choose_changes(text: str | None) -> Changes:
    """Return what was asked for on a command line: a name, or else the changes in a file; none for None.

    Raises:
        InputError: if it is no name, and no file of changes either.
    """
    if text is None or text in KINDS:
        return text or ()
    path = Path(text)
    if not path.suffix and not path.exists():
        raise InputError(f"there are no changes {quoted(text)}; known are {', '.join(KINDS)}, .json and .csv files")
    return read_changes(path)


def changes_for(problem: Problem, changes: Changes, seed: int) -> tuple[Change, ...]:
    """Return the schedule for a problem: drawn for it if ``changes`` is a name, else ``changes`` as given."""
    return scripted_changes(problem, changes, seed) if isinstance(changes, str) else changes


def read_changes(path: Path) -> tuple[Change, ...]:
    """Return the changes in a ``.json`` file (a list of rows) or a ``.csv`` file (a line of column names first).

    After ``time`` moves the cell ``x``, ``y`` becomes free (1, true) or blocked (0, false).

    Raises:
        InputError: if the file cannot be read or is not of this form; the message names the row.
    """
    rows = _read_json(path) if path.suffix.lower() == ".json" else _read_csv(path)
    return tuple(_change(path, number, row) for number, row in enumerate(rows, start=1))


def _read_json(path: Path) -> list[Any]:
    try:
        rows = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{shown(path)}: is not JSON") from None
    if not isinstance(rows, list):
        raise InputError(f"{shown(path)}: must be a list of changes")
    return [[row.get(name) for name in _COLUMNS] if isinstance(row, dict) else row for row in rows]


def _read_csv(path: Path) -> list[Any]:
    try:
        lines = [line for line in csv.reader(io.StringIO(read_bytes(path).decode(), newline=""), strict=True) if line]
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{shown(path)}: is not a CSV file") from None
    if not lines or [name.strip() for name in lines[0]] != list(_COLUMNS):
        raise InputError(f"{shown(path)}: its first line must be {','.join(_COLUMNS)}")
    return lines[1:]


def _change(path: Path, number: int, row: Any) -> Change:
    try:
        time, x, y = (int(str(value)) for value in row[:3])
        (free,) = row[3:]
        return Change(time, (x, y), _FREE[str(free).strip().lower()])
    except (TypeError, ValueError, KeyError):
        says = "must be three whole numbers time, x, y and free as 0 or 1"
        raise InputError(f"{shown(path)}, change {number}: {says}, not {quoted(row)}") from None
