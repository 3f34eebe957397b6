"""Does what is not on disk yet and puts all results into their order, the same however the work was cut.

Finished jobs are shards of columns, ``jobs/<key of the series>/<hash of the items>.npz``, each there as a whole or not
at all. One format serves rows, samples, databases and trees. Parquet would serve the rows alone, at the price of a
dependency of more than a hundred megabytes for a table of some forty columns, whose public form is ``results.csv``.
"""

import io
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.archive import MAX_ARCHIVE_BYTES
from rt_gym.files import atomic_write, make_folder, read_bytes, remove_stale, seal, shown, unseal
from training.runs.jobs import Done, Job, Series, digest_items
from training.runs.plan import Plan, TimedAgain, trials_of
from training.runs.rows import RESULTS, TIMES, Arrays, Batch, Entry, Places, Runs
from training.runs.workers import Workers

MOST_BYTES = 1 << 28  # that a shard may unpack to: jobs of a second or two leave a hundredth of that
_ITEMS = "items"  # the hashes of a shard's items, beside its columns
_COLUMN = "column."
_NAME = "[0-9a-f]" * 32  # of a series, and of a shard without its ending


def say_damaged(path: Path, again: str) -> None:
    """Tell the user that a work file, or some in a folder, count for nothing, and what is done ``again``."""
    print(f"{shown(path)}: damaged, {again} again", file=sys.stderr)


class Stretch(NamedTuple):
    """A finished part of a series: what came of the items from ``begin`` to before ``end``."""

    begin: int
    end: int
    result: Any


class Store:
    """The finished jobs of a folder.

    The key of a series depends on all that its results depend on, and a shard knows its items, so a folder may serve
    any number of commands, whatever pieces they were cut into. What a command that was killed has left half written is
    removed by the next one.

    Args:
        folder: where to keep them; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "jobs"
        self._digests: dict[int, tuple[Any, NDArray[np.uint64]]] = {}
        for place in () if folder is None else (folder, *(folder / "jobs").glob("*/")):
            remove_stale(place)

    def find(self, series: Series) -> list[Stretch]:
        """Return what is there of a series, in the order of its items; damaged files are named and passed over."""
        if self._folder is None or not (folder := self._folder / series.key).is_dir():
            return []
        wanted, found, covered, damaged = self._digests_of(series), [], 0, set()
        shards = []
        for path in folder.glob("*.npz"):
            try:
                shards += [(begin, -size, path) for begin, size in _fits(path, wanted)]
            except Exception:  # not ours, or not whole
                damaged.add(path)
        for begin, length, path in sorted(shards):
            if begin < covered:
                continue
            try:
                found.append(Stretch(begin, begin - length, _read(series, path)))
                covered = begin - length
            except Exception:  # a damaged shard fails in any way
                damaged.add(path)
        if damaged:
            say_damaged(folder, f"the work of {len(damaged)} file{'s' * (len(damaged) > 1)} is done")
        return found

    def keep(self, series: Series, done: Done) -> None:
        """Write what a finished job has left."""
        if self._folder is None:
            return
        items = self._digests_of(series)[done.begin : done.end]
        folder = self._folder / series.key
        make_folder(folder)
        columns = {f"{_COLUMN}{name}": array for name, array in series.work.pack(done.result).items()}
        stream = io.BytesIO()
        np.savez_compressed(stream, allow_pickle=False, **{_ITEMS: items}, **columns)
        atomic_write(folder / f"{sha256(items.tobytes()).hexdigest()[:32]}.npz", seal(stream.getvalue()))

    def clear(self) -> None:
        """Remove all finished jobs, and the folders that are empty then; what is not ours stays."""
        if self._folder is None:
            return
        for path in self._folder.glob(f"{_NAME}/{_NAME}.npz"):
            path.unlink(missing_ok=True)
        for folder in (*self._folder.glob(_NAME), self._folder, self._folder.parent):
            with suppress(OSError):  # it is not empty, or not there
                folder.rmdir()

    def _digests_of(self, series: Series) -> NDArray[np.uint64]:
        """Return the hashes of a series' items, which all contenders on a map share."""
        known = self._digests.get(id(series.items))
        if known is None or known[0] is not series.items:
            known = self._digests[id(series.items)] = series.items, digest_items(series.items)
        return known[1]


def _fits(path: Path, wanted: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Yield where the items of a shard are found, one after the other, among those wanted, and how many they are."""
    items = _load(path, _ITEMS)[_ITEMS]
    size = int(items.size)
    begins = np.flatnonzero(wanted[: len(wanted) - size + 1] == items[0]).tolist() if size <= len(wanted) else []
    for begin in begins:
        if np.array_equal(wanted[begin : begin + size], items):
            yield begin, size


def _read(series: Series, path: Path) -> Any:
    columns = {name.removeprefix(_COLUMN): array for name, array in _load(path).items() if name != _ITEMS}
    return series.work.unpack(columns)


def _load(path: Path, only: str | None = None) -> Mapping[str, NDArray[Any]]:
    content = unseal(read_bytes(path, MAX_ARCHIVE_BYTES))
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        if sum(member.file_size for member in archive.zip.infolist()) > MOST_BYTES:
            raise ValueError("a checksum is no reason to unpack whatever comes")
        return {name: archive[name] for name in archive.files if only in (None, name)}


_ATTEMPTS = 4  # to time a slow run again
_SECONDS = 1.5  # that a job should take: long beside its way, short beside a patience
_GROWTH = 10  # a job is at most this many times as large as the largest finished one of its series
_TAIL = 8  # towards the end jobs shrink down to this part of a full one, so that no worker waits long for the last

Advance = Callable[[int], Any]
Gaps = list[list[tuple[int, int]]]


def run_all(
    series: Sequence[Series],
    store: Store | None = None,
    workers: Workers | None = None,
    advance: Advance | None = None,
) -> list[list[Any]]:
    """Do what is not stored yet and return, for every series, the results of its parts in the order of its items.

    Args:
        series: what to do.
        store: where finished jobs are kept and looked for; nothing is kept without one.
        workers: what does the jobs; all cores of this machine by default.
        advance: called with how many items have become available, those that were stored included.
    """
    report, kept = advance or (lambda items: None), store or Store(None)
    found = [kept.find(one) for one in series]
    report(sum(part.end - part.begin for parts in found for part in parts))
    gaps = [list(_missing(parts, len(one.items))) for one, parts in zip(series, found, strict=True)]
    # Written beside the loop: jobs grow by what it notes, and must not wait for a disk.
    with ThreadPoolExecutor(1) as writer:
        writing: deque[Future[None]] = deque()
        for done in _do(series, gaps, workers or Workers()):
            writing.append(writer.submit(kept.keep, series[done.series], done))
            found[done.series].append(Stretch(done.begin, done.end, done.result))
            while writing and writing[0].done():
                writing.popleft().result()
            report(done.end - done.begin)
        for last in writing:
            last.result()
    return [[part.result for part in sorted(parts, key=lambda part: part.begin)] for parts in found]


def _missing(parts: Sequence[Stretch], count: int) -> Iterator[tuple[int, int]]:
    """Yield the gaps between parts that are in order."""
    at = 0
    for part in parts:
        if at < part.begin:
            yield at, part.begin
        at = part.end
    if at < count:
        yield at, count


def _do(series: Sequence[Series], gaps: Gaps, workers: Workers) -> Iterator[Done]:
    """Fill the gaps, in any order."""
    items = sum(end - begin for gap in gaps for begin, end in gap)
    if not items:
        return
    grids = {one.grid.digest: one.grid for one, gap in zip(series, gaps, strict=True) if gap and one.grid is not None}
    with workers.open(grids, items) as pool:
        cutter = Cutter(series, gaps, pool.size)
        with closing(pool.run(cutter.jobs())) as finished:
            for done in finished:
                cutter.note(done)
                yield done


class Cutter:
    """Cuts gaps into jobs: first one item of every series, then as many as take a second or two.

    Args:
        series: what is to be done.
        gaps: of every series, which items are missing.
        workers: how many jobs are done at a time.
    """

    def __init__(self, series: Sequence[Series], gaps: Gaps, workers: int) -> None:
        self._series, self._gaps = series, [list(reversed(gap)) for gap in gaps]
        self._left = sum(end - begin for gap in gaps for begin, end in gap)
        self._workers = workers
        self._speed: dict[int, float] = {}  # items per second of the last job of a series; the first may have compiled
        self._largest: dict[int, int] = {}

    def jobs(self) -> Iterator[Job]:
        """Yield the jobs; each is as large as what is known by then allows."""
        numbers = [number for number, gap in enumerate(self._gaps) if gap]
        for number in numbers:
            yield self._cut(number, 1)
        for number in numbers:
            while self._gaps[number]:
                yield self._cut(number, self._size(number))

    def note(self, done: Done) -> None:
        """Learn from a finished job how long its series takes."""
        count = done.end - done.begin
        self._speed[done.series] = count / max(done.seconds, 1e-6)
        self._largest[done.series] = max(count, self._largest.get(done.series, 1))

    def _size(self, number: int) -> int:
        if number not in self._speed:
            return 1
        in_time = self._speed[number] * _SECONDS
        share = max(self._left / self._workers, in_time / _TAIL)
        return max(1, int(min(in_time, share, _GROWTH * self._largest[number])))

    def _cut(self, number: int, size: int) -> Job:
        begin, end = self._gaps[number].pop()
        cut = min(begin + size, end)
        if cut < end:
            self._gaps[number].append((cut, end))
        self._left -= cut - begin
        return self._series[number].job(number, begin, cut)


def run_plan(
    plan: Plan, folder: Path | None = None, workers: Workers | None = None, advance: Advance | None = None
) -> Runs:
    """Run what is not yet on disk and return all runs, contender by contender.

    Args:
        plan: what to run.
        folder: where finished jobs are kept and looked for; nothing is kept without one.
        workers: what runs the jobs; all cores of this machine by default.
        advance: called with how many runs have become available, those that were on disk included.
    """
    found = run_all(plan.series(), Store(folder), workers, advance)
    each = len(found) // len(plan.contenders)
    parts = ([part for parts in found[k : k + each] for part in parts] for k in range(0, len(found), each))
    return Runs(tuple(_batch(c.entry, plan.places, part) for c, part in zip(plan.contenders, parts, strict=True)))


def time_again(plan: Plan, runs: Runs, slow: Callable[[Batch], NDArray[np.intp]], folder: Path | None = None) -> Runs:
    """Return runs with the least times of several attempts: slow ones are made again, one by one in this process.

    A run does the same every time, and only what else the machine does makes it slower.

    Args:
        plan: what was run.
        runs: what came of it.
        slow: which runs of a contender to time again; it is asked after every attempt.
        folder: where finished jobs are kept and looked for; nothing is kept without one.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        chosen = [slow(batch) for batch in runs.batches]
        if not any(part.size for part in chosen):
            break
        runs = _timed_again(plan, runs, chosen, attempt, Store(folder))
    return runs


def _timed_again(plan: Plan, runs: Runs, chosen: Sequence[NDArray[np.intp]], attempt: int, store: Store) -> Runs:
    whole = plan.series()
    each = len(whole) // len(plan.contenders)
    todo = []
    for number, indices in enumerate(chosen):
        begin = 0
        for one in whole[number * each : number * each + each]:
            own = [one.items[k - begin] for k in indices.tolist() if begin <= k < begin + len(one.items)]
            todo.append(Series(TimedAgain(**vars(one.work), attempt=attempt), one.grid, own))
            begin += len(one.items)
    found = run_all([one for one in todo if one.items], store, Workers(jobs=1))
    results = iter(found)
    parts = [next(results) if one.items else [] for one in todo]
    grouped = ([part for own in parts[k : k + each] for part in own] for k in range(0, len(parts), each))
    return Runs(tuple(map(_with_times, runs.batches, chosen, grouped)))


def _with_times(batch: Batch, indices: NDArray[np.intp], parts: Sequence[Arrays]) -> Batch:
    """Return a batch in which runs count with the less of their times then and now."""
    columns = dict(batch.columns)
    for name in TIMES if parts else ():
        columns[name] = columns[name].copy()
        now = np.concatenate([part[name] for part in parts])
        columns[name][indices] = np.minimum(columns[name][indices], now)
    return replace(batch, columns=columns)


def _batch(entry: Entry, places: Places, parts: Sequence[Arrays]) -> Batch:
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Batch(entry, places, {name: columns[name] for name in RESULTS | TIMES}, trials_of(columns))
