"""What commands share: how a table fits its terminal, and the report left by one that was stopped or has ended."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from training.cli import app
from training.cli.terminal import interruptible, print_table, unfinished_report

NAME = "pr-lrts level=4 depth=5 gamma=1 refine=corridor dynamic=True"
ROW = [NAME, *["1,234,567.890"] * 9]


@pytest.mark.parametrize("columns", ["", "no number"])
def test_names_are_never_cut_in_a_file(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    print_table("Wide", ["agent", *"abcdefghi"], [ROW])
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if NAME in line)
    assert line.split()[-9:] == ROW[1:]


def test_the_width_is_that_of_the_environment_where_it_says_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    print_table("Narrow", ["agent", *"abcd"], [ROW[:5]])
    out = capsys.readouterr().out
    assert NAME not in out
    assert max(map(len, out.splitlines())) <= 90


def test_sentences_are_wrapped_in_a_file(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    print_table("Claims", ["claim", "paper", "ours"], [["word " * 60, "above 1", "1.5"]], left=2)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 120


@pytest.mark.parametrize("columns", ["1", "20", "60"])
def test_nothing_is_cut_in_a_file_however_narrow_it_should_be(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    print_table("Narrow", ["agent", *"abcdefghi"], [ROW])
    out = capsys.readouterr().out
    assert "\u2026" not in out
    assert all(word in out for word in NAME.split())
    assert out.count("1,234,567.890") == 9


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
