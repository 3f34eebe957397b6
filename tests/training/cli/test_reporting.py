"""The report that commands leave behind: when they are stopped, and when they have ended."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from training.cli import app
from training.cli.reporting import unfinished_report
from training.cli.terminal import interruptible


def test_a_command_that_is_stopped_leaves_a_report_that_says_so(tmp_path: Path) -> None:
    with (
        pytest.raises(typer.Exit) as stopped,
        unfinished_report(tmp_path, "rt-gym compare rooms-64", lambda: {"command": "rt-gym compare rooms-64 --seed 3"}),
        interruptible("2 of 9 runs are kept", tmp_path),
    ):
        raise KeyboardInterrupt
    assert stopped.value.exit_code == 130
    page = (tmp_path / "report.html").read_text("ascii")
    assert "Stopped before the end: nothing is judged yet." in page
    assert "rt-gym compare rooms-64 --seed 3" in page


def test_another_mistake_leaves_the_report_of_before(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("before")
    with pytest.raises(ValueError, match="wrong"), unfinished_report(tmp_path, "", dict):
        raise ValueError("wrong")
    assert (tmp_path / "report.html").read_text() == "before"


def test_the_report_of_a_stopped_comparison_is_replaced_when_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["compare", "open-16", "-a", "lrta:depth=1", "--problems", "3", "--jobs", "1", "--out", str(tmp_path)]

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("training.runs.run_plan", stop)
        result = CliRunner().invoke(app, command)
    assert (result.exit_code, "0 of 3 runs are kept" in result.stderr) == (130, True)
    assert "nothing is judged yet" in (tmp_path / "report.html").read_text("ascii")
    result = CliRunner().invoke(app, [*command, "--replays", "1"])
    assert result.exit_code == 0, result.stderr
    page = (tmp_path / "report.html").read_text("ascii")
    assert "nothing is judged yet" not in page
    assert "1 of 1 agents on 1 of 3 problems were recorded" in page
