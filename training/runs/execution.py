"""Does what is not on disk yet and puts all results into their order, the same however the work was cut."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from training.runs.jobs import Done, Job, Series
from training.runs.plan import Plan
from training.runs.rows import OUTCOMES, Result, Row, Timing
from training.runs.store import Store, Stretch
from training.runs.workers import Workers

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
    for done in _do(series, gaps, workers or Workers()):
        kept.keep(series[done.series], done)
        found[done.series].append(Stretch(done.begin, done.end, done.result))
        report(done.end - done.begin)
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
) -> tuple[list[Row], list[Timing]]:
    """Run what is not yet on disk and return a row and the times of every run, contender by contender.

    Args:
        plan: what to run.
        folder: where finished jobs are kept and looked for; nothing is kept without one.
        workers: what runs the jobs; all cores of this machine by default.
        advance: called with how many runs have become available, those that were on disk included.
    """
    parts = [part for parts in run_all(plan.series(), Store(folder), workers, advance) for part in parts]
    columns = {name: [value for part in parts for value in part[name].tolist()] for name in parts[0]}
    columns["outcome"] = [OUTCOMES[number] for number in columns["outcome"]]
    heads = [(contender.entry, place) for contender in plan.contenders for place in plan.places()]
    results = map(Result, *(columns[name] for name in Result._fields))
    rows = [Row(*head, result) for head, result in zip(heads, results, strict=True)]
    return rows, list(map(Timing, *(columns[name] for name in Timing._fields)))
