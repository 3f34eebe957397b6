"""``rt-gym play --html``: the page of one run, of two, of a squad, and refusals."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import agents
from rt_gym import Problem, load_map
from training import cli

runner = CliRunner()
TRIP = ["rooms-64", "--start", "5,5", "--goal", "20,20"]


def page_of(path: Path, *arguments: str) -> dict[str, Any]:
    """Return what a page holds, after a look at what the command says of it."""
    result = runner.invoke(cli.app, ["play", *arguments, "--html", str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["files"] == [str(path)]
    found = re.search(r'id="data">(.*?)</script>', path.read_text("ascii"))
    assert found is not None
    return json.loads(found[1]) | {"told": json.loads(result.stdout)}


def test_one_run_is_replayed_alone(tmp_path: Path) -> None:
    page = page_of(tmp_path / "run.html", *TRIP, "--agent", "rtaa", "--budget", "50")
    (run,) = page["replay"]["runs"]
    record = agents.run("rtaa", Problem(load_map("rooms-64"), (5, 5), (20, 20)), budget=50)
    assert (run["moves"], run["cost"], run["outcome"], run["limit"]) == (record.moves, record.cost, "goal", 50)
    assert "beside" not in page["told"]


def test_a_second_agent_is_put_beside_the_first_on_the_same_problem(tmp_path: Path) -> None:
    page = page_of(tmp_path / "run.html", "rooms-64", "--seed", "3", "--agent", "rtaa", "--beside", "astar")
    assert [run["label"].split()[0] for run in page["replay"]["runs"]] == ["rtaa", "astar"]
    assert len(page["replay"]["problems"]) == 1
    assert page["told"]["beside"]["agent"] == "astar"
    assert page["told"]["start"] == page["told"]["beside"]["start"] == page["replay"]["problems"][0]["start"]


def test_both_summaries_are_printed(tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    result = runner.invoke(cli.app, ["play", *TRIP, "--agent", "rtaa", "--beside", "astar", "--html", str(path)])
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines if " on rooms-64 " in line] == ["rtaa", "astar"]
    assert lines[-1] == f"saved {path}"


def test_a_squad_is_replayed_with_all_its_units(tmp_path: Path) -> None:
    page = page_of(tmp_path / "run.html", "rooms-64", "--units", "4", "--optimal", "10..30", "--vision", "3")
    (problem,), (run,) = page["replay"]["problems"], page["replay"]["runs"]
    assert (len(problem["units"]), problem["vision"], run["moves"]) == (4, 3, page["told"]["ticks"])


def test_fog_and_changes_are_told_to_the_page(tmp_path: Path) -> None:
    changes = tmp_path / "changes.csv"
    changes.write_text("time,x,y,free\n2,30,30,0\n")
    page = page_of(tmp_path / "run.html", *TRIP, "--vision", "2", "--changes", str(changes))
    (problem,) = page["replay"]["problems"]
    assert (problem["vision"], problem["changes"], problem["optimal"]) == (2, [[2, 30, 30, 0]], None)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--beside", "astar"], "--beside goes with --html"),
        (["--html", "run.html", "--beside", "astar", "--units", "3"], "it does not go with --units"),
        (["--html", "nowhere/run.html"], "its folder is missing or protected"),
        (["--html", "run.html", "--beside", "astr"], "did you mean astar?"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    options: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    where = ["rooms-64"] if "--units" in options else TRIP
    result = runner.invoke(cli.app, ["play", *where, *options])
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())
