"""``rt-gym demo``, on small maps."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from training.cli import agents, app

runner = CliRunner()
FILES = ["suboptimality.png", "suboptimality.svg", "run.png", "report.html"]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "_DEMO_MAPS", {"rooms-64": (20, 60), "terrain-96": (20, 80)})
    monkeypatch.setattr(agents, "_PICTURED", ("rooms-64", "lss-lrta", 10))
    monkeypatch.setattr(agents, "_DEMO_BUDGETS", (10, 100))
    monkeypatch.setattr(agents, "_DEMO_PROBLEMS", 3)


def document(folder: Path, *options: str) -> dict[str, Any]:
    result = runner.invoke(app, ["demo", "--out", str(folder), "--json", *options])
    assert result.exit_code == 0
    return json.loads(result.stdout)


def untimed(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all that must not differ between two runs."""
    rows = [row for part in content["maps"] for row in part["settings"]]
    return [{key: value for key, value in row.items() if "seconds" not in key} for row in rows]


def test_the_table_has_every_agent_with_its_setting_and_the_files_are_named(tmp_path: Path) -> None:
    result = runner.invoke(app, ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 0
    for text in ("rooms-64", "terrain-96", "budget 100", "astar", "weight=1.5", "lrta depth=5", "lookahead=100", "3/3"):
        assert text in result.stdout
    for controller in ("rule-lrta", "classifier-lrta", "policy-lrta", "oracle-lrta"):
        assert f"{controller} d_max=5" in result.stdout
    assert result.stdout.splitlines()[-4:] == [str(tmp_path / name) for name in FILES]


def test_the_plot_and_the_picture_are_written_and_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert document(folder)["files"] == [str(folder / name) for name in FILES]
    for name in ("suboptimality.png", "run.png"):
        with Image.open(folder / name) as picture:
            assert min(picture.size) > 500
    assert (folder / "suboptimality.svg").read_text(encoding="utf-8").rstrip().endswith("</svg>")
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)


def test_the_same_seed_gives_the_same_numbers_and_files_and_another_seed_others(tmp_path: Path) -> None:
    first, second, other = (document(tmp_path / str(k), "--seed", str(k // 2)) for k in range(3))
    assert untimed(first) == untimed(second)
    assert untimed(first) != untimed(other)
    for name in FILES[:-1]:  # the report tells times
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "1" / name).read_bytes()


def test_budgets_bind_every_agent(tmp_path: Path) -> None:
    rows = untimed(document(tmp_path))
    assert len(rows) == 2 * 2 * len(agents._DEMO_AGENTS)
    assert all(row["worst_move"] <= row["budget"] for row in rows)
    assert all(row["suboptimality_mean"] >= 1 and row["failures"] == {} for row in rows)


def test_failures_are_shown_and_not_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "_MAX_MOVES", 5)
    result = runner.invoke(app, ["demo", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert "3 failed" in result.stdout
    assert "0/3" in result.stdout
    rows = untimed(document(tmp_path))
    assert all(row["failures"] == {"out of moves": 3} and row["suboptimality_mean"] is None for row in rows)


def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    for folder in (file, file / "inner"):
        result = runner.invoke(app, ["demo", "--out", str(folder)])
        assert (result.exit_code, result.stdout) == (2, "")
        assert "the folder cannot be made" in result.stderr
        assert result.stderr.count("\n") == 1
    assert file.read_text() == "kept"


def test_a_name_that_is_taken_by_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.png").mkdir()
    result = runner.invoke(app, ["demo", "--out", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "run.png: is not a regular file" in result.stderr


@pytest.mark.parametrize("seed", ["-1", "1.5", "many"])
def test_a_bad_seed_is_wrong_usage(seed: str, tmp_path: Path) -> None:
    result = runner.invoke(app, ["demo", "--seed", seed, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "--seed" in result.stderr
    assert not (tmp_path / "out").exists()
