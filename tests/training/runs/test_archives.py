"""The rows behind results in one archive."""

import hashlib
import re
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rt_gym
from training.cli import app
from training.runs.tables import SUMS, find_tables, pack_rows

ROWS = b"agent,cost\nlrta,3.0\n" * 1000


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work folder in which two experiments have left tables."""
    for name, table in (("dl-t1", "results.csv"), ("dl-t1", "settings.json"), ("ls-v6", "trials.csv")):
        home = tmp_path / "work" / name / "smoke"
        home.mkdir(parents=True, exist_ok=True)
        (home / table).write_bytes(ROWS)
        (home / "policies").mkdir(exist_ok=True)
    return tmp_path / "work"


def test_an_archive_holds_the_tables_and_the_digest_of_each(work: Path, tmp_path: Path) -> None:
    archive = tmp_path / "rows.zip"
    digest = pack_rows(work, find_tables(work, ["dl-t1", "ls-v6"], "smoke"), archive)
    assert digest == hashlib.sha256(archive.read_bytes()).hexdigest()
    names = ["dl-t1/smoke/results.csv", "dl-t1/smoke/settings.json", "ls-v6/smoke/trials.csv"]
    with zipfile.ZipFile(archive) as packed:
        assert packed.testzip() is None
        assert packed.namelist() == [*names, SUMS]
        assert {packed.read(name) for name in names} == {ROWS}
        lines = packed.read(SUMS).decode().splitlines()
    assert lines == [f"{hashlib.sha256(ROWS).hexdigest()}  {name}" for name in names]


def test_the_same_rows_make_the_same_archive(work: Path, tmp_path: Path) -> None:
    one, other = (pack_rows(work, find_tables(work, ["dl-t1"], "smoke"), tmp_path / name) for name in ("1", "2"))
    assert one == other


def test_a_folder_without_rows_is_refused(work: Path) -> None:
    with pytest.raises(rt_gym.InputError, match="no rows of the size record; run the experiments"):
        find_tables(work, ["dl-t1"], "record")


def test_the_command_packs_what_is_there_and_runs_nothing(work: Path, tmp_path: Path) -> None:
    archive = tmp_path / "rows.zip"
    result = CliRunner().invoke(app, ["reproduce", "all", "--out", str(work), "--archive", str(archive)])
    assert result.exit_code == 0, result.output
    assert "3 tables of 2 experiments" in result.output
    digest = re.search(r"^SHA-256 ([0-9a-f]{64})$", result.output, re.MULTILINE)
    assert digest is not None
    assert digest[1] == hashlib.sha256(archive.read_bytes()).hexdigest()
