"""The folder of a command: its finished jobs, then its tables. Every file is there as a whole or not at all.

Finished jobs are shards of columns, ``jobs/<key of the series>/<hash of the items>.npz``. One format serves rows,
samples, databases and trees, and a shard is written whole when its job is finished. Parquet would serve the rows alone,
at the price of a dependency of more than a hundred megabytes for a table of some forty columns, whose public form is
``results.csv`` anyway.
"""

import io
import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym import InputError
from rt_gym.archive import MAX_ARCHIVE_BYTES
from rt_gym.files import atomic_write, read_bytes, shown
from training.runs.jobs import Done, Series, digest_items
from training.runs.rows import Row, Timing, format_rows, format_times

_ITEMS = "items"  # the hashes of a shard's items, beside its columns
_COLUMN = "column."


class Stretch(NamedTuple):
    """A finished part of a series: what came of the items from ``begin`` to before ``end``."""

    begin: int
    end: int
    result: Any


class Store:
    """The finished jobs of a folder.

    The key of a series depends on all that its results depend on, and a shard knows its items, so a folder may serve
    any number of commands, whatever pieces they were cut into.

    Args:
        folder: where to keep them; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "jobs"
        self._digests: dict[int, tuple[Any, NDArray[np.uint64]]] = {}

    def find(self, series: Series) -> list[Stretch]:
        """Return what is there of a series, in the order of its items; damaged files are passed over."""
        if self._folder is None or not (folder := self._folder / series.key).is_dir():
            return []
        wanted, found, covered = self._digests_of(series), [], 0
        shards = [(begin, -size, path) for path in folder.glob("*.npz") for begin, size in _fits(path, wanted)]
        for begin, length, path in sorted(shards):
            if begin >= covered and (result := _read(series, path)) is not None:
                covered = begin - length
                found.append(Stretch(begin, covered, result))
        return found

    def keep(self, series: Series, done: Done) -> None:
        """Write what a finished job has left."""
        if self._folder is None:
            return
        items = self._digests_of(series)[done.begin : done.end]
        folder = self._folder / series.key
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{shown(folder)}: the folder cannot be made ({error.strerror})") from None
        columns = {f"{_COLUMN}{name}": array for name, array in series.work.pack(done.result).items()}
        stream = io.BytesIO()
        np.savez_compressed(stream, allow_pickle=False, **{_ITEMS: items}, **columns)
        atomic_write(folder / f"{sha256(items.tobytes()).hexdigest()[:32]}.npz", stream.getvalue())

    def _digests_of(self, series: Series) -> NDArray[np.uint64]:
        """Return the hashes of a series' items, which all contenders on a map share."""
        known = self._digests.get(id(series.items))
        if known is None or known[0] is not series.items:
            known = self._digests[id(series.items)] = series.items, digest_items(series.items)
        return known[1]


def _fits(path: Path, wanted: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Yield where the items of a shard are found, one after the other, among those wanted, and how many they are."""
    try:
        items = _load(path, _ITEMS)[_ITEMS]
        size = int(items.size)
        begins = np.flatnonzero(wanted[: len(wanted) - size + 1] == items[0]).tolist() if size <= len(wanted) else []
    except Exception:  # not ours, or not whole
        return
    for begin in begins:
        if np.array_equal(wanted[begin : begin + size], items):
            yield begin, size


def _read(series: Series, path: Path) -> Any:
    try:
        columns = {name.removeprefix(_COLUMN): array for name, array in _load(path).items() if name != _ITEMS}
        return series.work.unpack(columns)
    except Exception:  # a damaged shard fails in any way: it is done again
        return None


def _load(path: Path, only: str | None = None) -> Mapping[str, NDArray[Any]]:
    with np.load(io.BytesIO(read_bytes(path, MAX_ARCHIVE_BYTES)), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files if only in (None, name)}


def write_tables(folder: Path, settings: dict[str, Any], rows: list[Row], timings: list[Timing]) -> list[Path]:
    """Write the settings, the rows and the times of a comparison, and return where they are.

    ``settings.json`` and ``results.csv`` are the same for the same seed and sources; times are only in ``times.csv``.
    """
    contents = {
        "settings.json": (json.dumps(settings, indent=2, default=str) + "\n").encode(),
        "results.csv": format_rows(rows),
        "times.csv": format_times(rows, timings),
    }
    for name, content in contents.items():
        atomic_write(folder / name, content)
    return [folder / name for name in contents]
