"""Series, shards and cuts: whatever pieces the work was done in, the results are the same and nothing is done twice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rt_gym import Grid
from rt_gym.files import MAX_BYTES
from training.runs.execution import Cutter, Store, run_all
from training.runs.jobs import Done, Series, Work, canonical, run_job
from training.runs.workers import Workers

HERE = Workers(jobs=1)
done: list[int] = []


@dataclass(frozen=True)
class Doubling(Work[int, list[int]]):
    """Doubles numbers, and remembers which."""

    factor: int = 2
    table: tuple[NDArray[np.int64], ...] = ()

    @property
    def agents(self) -> tuple[str, ...]:
        return ()

    def do(self, grid: Grid | None, items: Sequence[int]) -> list[int]:
        done.extend(items)
        return [self.factor * item for item in items]

    def pack(self, result: list[int]) -> dict[str, NDArray[Any]]:
        return {"doubled": np.array(result)}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> list[int]:
        return [int(value) for value in arrays["doubled"]]


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    done.clear()


def doubled(items: Sequence[int], folder: Path | None = None) -> list[int]:
    store = None if folder is None else Store(folder)
    (parts,) = run_all([Series(Doubling(), None, tuple(items))], store, HERE)
    return [value for part in parts for value in part]


def test_results_are_in_the_order_of_the_items() -> None:
    assert doubled([5, 3, 8, 3]) == [10, 6, 16, 6]


def test_an_empty_series_has_no_parts() -> None:
    assert run_all([Series(Doubling(), None, ())], None, HERE) == [[]]


def test_what_is_stored_is_not_done_again_however_it_was_cut(tmp_path: Path) -> None:
    series, store = Series(Doubling(), None, tuple(range(40))), Store(tmp_path)
    for begin, end in ((0, 3), (10, 25), (39, 40)):
        store.keep(series, run_job(series.job(0, begin, end), None))
    done.clear()
    assert doubled(range(40), tmp_path) == [2 * item for item in range(40)]
    assert sorted(done) == [*range(3, 10), *range(25, 39)]


def test_more_problems_of_the_same_kind_take_over_what_is_there(tmp_path: Path) -> None:
    doubled(range(30), tmp_path)
    done.clear()
    assert doubled(range(50), tmp_path) == [2 * item for item in range(50)]
    assert sorted(done) == list(range(30, 50))


def test_an_item_that_occurs_twice_may_take_the_same_result(tmp_path: Path) -> None:
    items = [4, 4, 1, 4, 1]
    assert doubled(items, tmp_path) == doubled(items, tmp_path) == [8, 8, 2, 8, 2]


def test_another_work_has_another_key() -> None:
    works = [Doubling(), Doubling(3), Doubling(2, (np.arange(3),)), Doubling(2, (np.arange(3) + 1,))]
    works.append(Doubling(2, (np.arange(3, dtype=np.int64).reshape(1, 3),)))
    assert len({Series(work, None, ()).key for work in works}) == len(works)


def test_a_canonical_text_knows_the_content_and_not_the_order_of_keys() -> None:
    assert canonical({"a": 1, "b": (2.5, None)}) == canonical({"b": (2.5, None), "a": 1})
    long = np.arange(100_000)
    other = long.copy()
    other[50_000] = 0
    assert canonical([long]) != canonical([other])


def test_jobs_begin_small_and_grow_with_the_speed_that_was_seen() -> None:
    series = [Series(Doubling(), None, tuple(range(10_000)))] * 2
    cutter = Cutter(series, [[(0, 10_000)], [(0, 10_000)]], workers=2)
    sizes: list[list[int]] = [[], []]
    for job in cutter.jobs():
        size = job.end - job.begin
        sizes[job.series].append(size)
        cutter.note(Done(job.series, job.begin, job.end, size / 1000, None))
    assert sizes[0][:5] == [1, 10, 100, 1000, 1500]
    assert [sum(each) for each in sizes] == [10_000, 10_000]
    assert max(sizes[1]) == 1500
    assert max(sizes[1][-3:]) < 1500


def test_slow_items_are_never_put_together() -> None:
    cutter = Cutter([Series(Doubling(), None, tuple(range(9)))], [[(0, 9)]], workers=2)
    for job in cutter.jobs():
        assert job.end - job.begin == 1
        cutter.note(Done(0, job.begin, job.end, 60.0, None))


def test_a_shard_with_other_numbers_is_not_believed_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    series = Series(Doubling(), None, (1, 2, 3))
    Store(tmp_path).keep(series, run_job(series.job(0, 0, 3), None))
    (path,) = tmp_path.rglob("*.npz")
    with np.load(path) as archive:
        columns = dict(archive)
    columns["column.doubled"][0] = 1
    np.savez_compressed(path, **columns)
    done.clear()
    assert doubled([1, 2, 3], tmp_path) == [2, 4, 6]
    assert done == [1, 2, 3]
    assert capsys.readouterr().err == f"{path.parent}: damaged, the work of 1 file is done again\n"


def test_files_of_any_size_count_for_the_key(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class WithFile(Doubling):
        path: Path | None = None

        @property
        def files(self) -> tuple[Path, ...]:
            return (self.path,) if self.path else ()

    path, keys = tmp_path / "large.npz", set()
    for last in (b"a", b"b"):
        with path.open("wb") as file:
            file.seek(MAX_BYTES + 1)
            file.write(last)
        keys.add(Series(WithFile(path=path), None, ()).key)
    assert len(keys) == 2
