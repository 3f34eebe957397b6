"""``rt-gym bench``, and the measuring behind it."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

import agents
from rt_gym import load_map, sample_problems
from rt_gym.maps import Scenario, save_map, write_scenarios
from training.cli import app
from training.judge import speed as bench

runner = CliRunner()


@pytest.fixture
def scenarios(tmp_path: Path) -> list[Scenario]:
    """Ten correct problems, stored beside their map in a folder within ``tmp_path``."""
    grid = load_map("rooms-64")
    problems = sample_problems(grid, 10, 10, 90, seed=3)
    made = [Scenario(0, "rooms.map", 64, 64, p.start, p.goal, round(p.optimal or 0, 5)) for p in problems]
    (tmp_path / "inner").mkdir()
    save_map(grid, tmp_path / "inner" / "rooms.map")
    store(made, tmp_path)
    return made


def store(scenarios: list[Scenario], folder: Path) -> None:
    write_scenarios(scenarios, folder / "inner" / "rooms.map.scen")


def run_here(folder: Path, *options: str):
    """Run the check in this process, which is quicker than in new ones."""
    return runner.invoke(app, ["bench", "--scen", str(folder), "--jobs", "1", *options])


@pytest.mark.usefixtures("scenarios")
def test_correct_lengths_match(tmp_path: Path) -> None:
    result = run_here(tmp_path)
    assert result.exit_code == 0
    assert "inner/rooms " in result.stdout
    assert result.stdout.endswith("\n10 of 10 match\n")


@pytest.mark.usefixtures("scenarios")
def test_the_check_runs_in_processes_of_its_own(tmp_path: Path) -> None:
    result = runner.invoke(app, ["bench", "--scen", str(tmp_path), "--json"])
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert (document["problems"], document["matching"]) == (10, 10)
    assert document["maps"][0]["expansions_per_second"] > 0


def test_a_wrong_length_is_counted_and_exits_with_1(tmp_path: Path, scenarios: list[Scenario]) -> None:
    store([*scenarios[:9], replace(scenarios[9], optimal=scenarios[9].optimal + 0.5)], tmp_path)
    result = run_here(tmp_path)
    assert result.exit_code == 1
    assert result.stdout.endswith("\n9 of 10 match\n")
    document = json.loads(run_here(tmp_path, "--json").stdout)
    assert document["maps"][0]["largest_deviation"] == pytest.approx(0.5, abs=1e-4)


def test_lengths_may_be_off_by_what_rounding_explains() -> None:
    assert bench.tolerance(0) == 0.01
    assert bench.tolerance(1000) == pytest.approx(0.016)


def test_problems_that_do_not_fit_the_map_are_refused(tmp_path: Path, scenarios: list[Scenario]) -> None:
    store([*scenarios[:9], replace(scenarios[9], width=65)], tmp_path)
    result = run_here(tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "problem 10: the scenario is for a map of 65 x 64, but the map is 64 x 64" in result.stderr


def test_problems_on_blocked_cells_are_left_out_and_counted(tmp_path: Path, scenarios: list[Scenario]) -> None:
    store([*scenarios[:9], replace(scenarios[9], start=(0, 0))], tmp_path)
    assert run_here(tmp_path).stdout.endswith("\n9 of 9 match, 1 on blocked cells are left out\n")
    document = json.loads(run_here(tmp_path, "--json").stdout)
    assert (document["problems"], document["skipped"], document["maps"][0]["skipped"]) == (9, 1, 1)


@pytest.fixture
def dynamic(tmp_path: Path) -> Path:
    """A folder with a scenario file of version 2: an open map, then one with a wall across it."""
    lines = ["version 2", "height 40", "width 60", "cost 1 octile", "patch wall.patch", "commands"]
    lines += ["Q 0 0 0 59 0 59", "P 1 0 30 0", "Q 1 0 0 59 0 103.61017305527", "Q 1 30 0 59 0 1"]
    (tmp_path / "wall.scen").write_text("\n".join(lines))
    wall = "\n".join(["@"] * 39)
    (tmp_path / "wall.patch").write_text(f"type patch\npatches 1\npatch 0\nheight 39\nwidth 1\nmap\n{wall}\n")
    return tmp_path


def test_maps_that_change_are_checked_with_the_times_of_the_competition(dynamic: Path) -> None:
    assert run_here(dynamic).stdout.endswith("\n2 of 2 match, 1 on blocked cells are left out\n")
    (told,) = json.loads(run_here(dynamic, "--json").stdout)["maps"]
    assert told["map"] == str(dynamic / "wall")
    assert told["first_steps_seconds"] > 0
    assert told["longest_step_seconds"] > 0


def test_an_agent_that_need_not_be_optimal_is_no_failure(dynamic: Path) -> None:
    result = run_here(dynamic, "--agent", "lrta:depth=3", "--json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["agent"]) == (0, "lrta:depth=3")
    assert document["matching"] < document["problems"] == 2
    refused = run_here(dynamic, "--agent", "nobody")
    assert (refused.exit_code, refused.stdout) == (2, "")


@pytest.mark.usefixtures("scenarios")
def test_a_missing_map_is_refused(tmp_path: Path) -> None:
    (tmp_path / "inner" / "rooms.map").unlink()
    result = run_here(tmp_path)
    assert result.exit_code == 2
    assert "rooms.map: cannot be read" in result.stderr


@pytest.mark.parametrize(("name", "part"), [("nowhere", "is not a folder"), ("empty", "holds no files")])
def test_a_folder_without_scenarios_is_refused(name: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = run_here(tmp_path / name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert part in result.stderr


def test_the_speed_of_every_agent_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "throughput", partial(bench.throughput, seconds=0.0))
    table = runner.invoke(app, ["bench"])
    assert table.exit_code == 0
    assert all(agent_id in table.stdout for agent_id in agents.ids())
    results = json.loads(runner.invoke(app, ["bench", "--json"]).stdout)["results"]
    assert [result["agent"] for result in results] == agents.ids()
    assert all(result["expansions_per_second"] > 0 and result["moves_per_second"] > 0 for result in results)


def test_a_measured_agent_is_named_with_the_setting_that_fits_the_budget() -> None:
    problems = sample_problems(load_map("rooms-64"), 2, 20, 60)
    measured = bench.throughput("lrta", problems, budget=100, seconds=0.0)
    assert (measured.agent, measured.label, measured.settings["depth"]) == ("lrta", "lrta depth=5", 5)
