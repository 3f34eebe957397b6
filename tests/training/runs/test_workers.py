"""A comparison on a Dask cluster makes the same table as one on this machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rt_gym import Grid, InputError
from training.cli import app
from training.runs import Workers, workers
from training.runs.jobs import Series, Work

runner = CliRunner()
ARGUMENTS = ["compare", "rooms-64", "-a", "lrta:depth=1,2", "--problems", "30", "--optimal", "10..50", "--out"]


@dataclass(frozen=True)
class Doubling(Work[int, list[int]]):
    """Doubles numbers."""

    @property
    def agents(self) -> tuple[str, ...]:
        return ()

    def do(self, grid: Grid | None, items: Sequence[int]) -> list[int]:
        return [2 * item for item in items]


def test_two_dask_workers_make_the_same_table(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra cluster")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        far = [str(tmp_path / "far"), "--backend", "dask", "--scheduler", cluster.scheduler_address]
        result = runner.invoke(app, [*ARGUMENTS, *far])
        assert result.exit_code == 0, result.stderr
    near = runner.invoke(app, [*ARGUMENTS, str(tmp_path / "near"), "--jobs", "1"])
    assert near.exit_code == 0
    assert (tmp_path / "far" / "results.csv").read_bytes() == (tmp_path / "near" / "results.csv").read_bytes()
    assert len(list((tmp_path / "far" / "jobs").iterdir())) == 2


def test_a_scheduler_that_does_not_answer_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="needs the extra cluster")
    monkeypatch.setattr(workers, "_PATIENCE", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        far = [str(tmp_path / "far"), "--backend", "dask", "--scheduler", address]
        result = runner.invoke(app, [*ARGUMENTS, *far])
        assert result.exit_code == 2
        assert "no Dask scheduler answers" in result.stderr
        assert result.stderr.count("\n") == 1


def test_the_backend_is_refused_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with (
        pytest.raises(InputError, match="needs the extra cluster"),
        Workers(1, "dask", "tcp://x:1").open({}, 1),
    ):
        raise AssertionError("not refused")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A scheduler without workers; tests add their own."""
    distributed = pytest.importorskip("distributed", reason="needs the extra cluster")
    options = {"n_workers": 0, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as found:
        yield found


def far(cluster: Any, folder: Path) -> list[str]:
    return [*ARGUMENTS, str(folder), "--backend", "dask", "--scheduler", cluster.scheduler_address]


def test_a_cluster_without_workers_is_one_sentence(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_WAIT", 0.5)
    result = runner.invoke(app, far(cluster, tmp_path))
    assert result.exit_code == 2
    assert "has no workers: start some with dask worker" in result.stderr


class TestCluster:
    """How the client takes what a cluster may do, without one."""

    JOB = Series(Doubling(), None, (1, 2, 3)).job(0, 0, 3)

    def pool(self, client: "FakeClient") -> Any:
        return workers._Cluster(client, "tcp://x:1", {})

    def test_a_cluster_that_has_lost_all_workers_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(workers, "_WAIT", 0.05)
        monkeypatch.setattr(workers, "_BEAT", 0.02)
        client = FakeClient(answers=False)
        with pytest.raises(ChildProcessError, match="has lost all its workers"):
            list(self.pool(client).run(iter([self.JOB])))
        assert len(client.cancelled) == 1

    def test_fewer_workers_than_before_get_no_more_jobs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(workers, "_WAIT", 0.05)
        monkeypatch.setattr(workers, "_BEAT", 0.02)
        client = FakeClient(answers=False, threads=[4, 4, 1, 0])
        with pytest.raises(ChildProcessError, match="has lost all its workers"):
            list(self.pool(client).run(repeat(self.JOB)))
        assert len(client.cancelled) == 8

    def test_what_a_job_raises_is_raised(self) -> None:
        job = replace(self.JOB, stamps=("other",))
        with pytest.raises(InputError, match="a worker runs other sources than this command"):
            list(self.pool(FakeClient()).run(iter([job])))

    def test_a_worker_that_does_not_know_our_modules_is_one_sentence(self) -> None:
        client = FakeClient(error=ModuleNotFoundError("No module named 'training.runs'"))
        with pytest.raises(InputError, match=r"cannot read its jobs: install the same .*training\.runs"):
            list(self.pool(client).run(iter([self.JOB])))

    def test_a_scheduler_that_is_gone_is_one_sentence(self) -> None:
        client = FakeClient(threads=[2, OSError()])
        pool = self.pool(client)
        assert pool.size == 2
        with pytest.raises(ChildProcessError, match="no longer answers"):
            list(pool.run(iter([self.JOB])))

    def test_jobs_come_back(self) -> None:
        (done,) = self.pool(FakeClient()).run(iter([self.JOB]))
        assert (done.begin, done.end, done.result) == (0, 3, [2, 4, 6])


@pytest.mark.filterwarnings("error")
def test_processes_that_are_stopped_with_work_to_do_end_without_a_word() -> None:
    # Warnings would stand below the command's last line, which says what is kept.
    with Workers(jobs=2).open({}, 40) as pool:
        results = pool.run(repeat(TestCluster.JOB, 40))
        assert next(results).result == [2, 4, 6]
        results.close()


class FakeClient:
    """A Dask client whose futures are finished at once, or never."""

    def __init__(self, answers: bool = True, threads: list[Any] | None = None, error: Exception | None = None) -> None:
        self.answers, self.threads, self.error = answers, threads or [0 if not answers else 1], error
        self.cancelled: list[Any] = []

    def wait_for_workers(self, count: int, timeout: float) -> None:
        pass

    def nthreads(self) -> dict[str, int]:
        found = self.threads.pop(0) if len(self.threads) > 1 else self.threads[0]
        if isinstance(found, Exception):
            raise found
        return {"worker": found} if found else {}

    def submit(self, function: Any, *arguments: Any, **options: Any) -> "FakeFuture":
        return FakeFuture(self, function, arguments)

    def cancel(self, futures: list[Any]) -> None:
        self.cancelled = futures


class FakeFuture:
    def __init__(self, client: FakeClient, function: Any, arguments: tuple[Any, ...]) -> None:
        self.client, self.function, self.arguments = client, function, arguments

    def add_done_callback(self, call: Any) -> None:
        if self.client.answers:
            call(self)

    def result(self) -> Any:
        if self.client.error:
            raise self.client.error
        return self.function(*self.arguments)
