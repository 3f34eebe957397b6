"""A comparison on a Dask cluster makes the same table as one on this machine."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from training.cli import app
from training.runs import Workers, workers

runner = CliRunner()
ARGUMENTS = ["compare", "rooms-64", "-a", "lrta:depth=1,2", "--problems", "30", "--optimal", "10..50", "--out"]


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
        pytest.raises(workers.InputError, match="needs the extra cluster"),
        Workers(1, "dask", "tcp://x:1").open({}, 1),
    ):
        raise AssertionError("not refused")
