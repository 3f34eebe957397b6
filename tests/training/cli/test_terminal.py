"""Tables on a terminal and in a file."""

import pytest

from training.cli.terminal import print_table

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
