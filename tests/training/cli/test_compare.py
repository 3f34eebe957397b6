"""``rt-gym compare``: from a map to a table, a plot and a recommendation."""

import csv
import json
from dataclasses import replace
from itertools import cycle, repeat
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import agents
from rt_gym import load_map
from rt_gym.maps import save_map
from training.cli import app
from training.cli.compare import _tell_of_maps
from training.judge import speed, squads
from training.runs import Course

runner = CliRunner()
FILES = ["settings.json", "results.csv", "times.csv", "tradeoff.png", "tradeoff.svg", "report.html"]
FEW = ("--problems", "5", "--optimal", "10..40", "--jobs", "1")


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def compare(*arguments: str):
    return runner.invoke(app, ["compare", *arguments])


def document(*arguments: str):
    result = compare(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_map_alone_gives_all_agents_at_three_budgets_and_a_recommendation_for_each(tmp_path: Path) -> None:
    result = compare("rooms-64", *FEW)
    assert result.exit_code == 0, result.stderr
    assert all((agent_id in result.stdout) == (agent_id != "oracle-lrta") for agent_id in agents.ids())
    assert all(f"budget {n} expansions" in result.stdout for n in (10, 100, 1000))
    lines = result.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines if line.startswith("At ")] == [
        f"At {n} expansions per move" for n in (10, 100, 1000)
    ]
    assert lines[-6:] == [f"rt-gym-compare/{name}" for name in FILES]
    assert sorted(path.name for path in (tmp_path / "rt-gym-compare").iterdir()) == sorted([*FILES, "jobs"])


def test_the_csv_has_a_row_per_setting_and_problem_and_the_json_says_how_it_was_made() -> None:
    found = document("rooms-64", "-a", "lrta:depth=1,3..4", "--budget", "60", "--seed", "3", "--vision", "2", *FEW)
    with open("rt-gym-compare/results.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["agent"], row["setting"]) for row in rows[::5]] == [("lrta", f"depth={n}") for n in (1, 3, 4)]
    assert {(row["vision"], row["limit"], row["map"]) for row in rows} == {("2", "60", "rooms-64")}
    settings = json.loads(Path("rt-gym-compare/settings.json").read_text())
    assert (settings["seed"], settings["optimal_from"], settings["optimal_to"]) == (3, 10, 40)
    assert settings["versions"]["rt_gym"]
    assert found["settings"]["contenders"] == settings["contenders"]
    assert [score["entry"]["setting"] for score in found["scores"]] == ["depth=1", "depth=3", "depth=4"]
    assert found["scores"][0]["ratio_mean"]["value"] == 1.0


def test_the_same_seed_gives_the_same_files_and_another_seed_others() -> None:
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        document("random-48", "-a", "lrta:depth=1,2", *FEW, "--seed", seed, "--out", folder)
    for name in ("results.csv", "settings.json", "tradeoff.svg"):
        assert Path("a", name).read_bytes() == Path("b", name).read_bytes()
        assert Path("a", name).read_bytes() != Path("c", name).read_bytes()


def test_differences_to_the_baseline_and_ratios_to_the_curve_have_tables() -> None:
    result = compare("rooms-64", "-a", "lrta:depth=1..3", "--baseline", "lrta:depth=1", *FEW)
    assert "Paired differences to lrta depth=1" in result.stdout
    assert "Ratios to the curve of fixed depths" in result.stdout
    assert "0.000   [0.000, 0.000]" in result.stdout
    assert "1.00" in result.stdout


def test_failures_and_disqualification_are_shown() -> None:
    result = compare("rooms-64", "-a", "lrta:depth=1,9", "--budget", "50", "--max-moves", "20", *FEW)
    assert result.exit_code == 0
    assert "over budget" in result.stdout
    assert " failed " in result.stdout
    assert "no agent solved all 5 problems within the budget" in result.stdout


def test_trials_are_run_until_nothing_more_is_learned() -> None:
    document("open-16", "-a", "lrta", "--trials", "converge", "--problems", "3", "--jobs", "1")
    with open("rt-gym-compare/results.csv", encoding="utf-8", newline="") as file:
        assert {row["converged"] for row in csv.DictReader(file)} == {"True"}


def test_changes_are_played_and_measured_by_cost() -> None:
    Path("doors.csv").write_text("time,x,y,free\n2,30,30,0\n")
    found = document("rooms-64", "-a", "lrta", "-a", "astar", "--changes", "doors.csv", *FEW)
    assert {score["measure"] for score in found["scores"]} == {"cost"}
    assert found["settings"]["maps"][0]["changes"] == [[2, 30, 30, False]]


STEADY = speed.Pass(1000, np.full(2, 0.5001e-3), np.full(2, 1e-9))  # a little less than a million per second


def test_a_budget_in_milliseconds_is_converted_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "time_runs", lambda *_: repeat(STEADY._replace(seconds=np.full(2, 0.49999e-3))))
    result = compare("rooms-64", "-a", "lrta", "-a", "lss-lrta", "--budget-ms", "0.05,0.1", *FEW)
    assert result.exit_code == 0, result.stderr
    assert "0.05 ms per move were calibrated on this processor: lrta 50, lss-lrta 50 expansions." in result.stdout
    assert "At 0.1 ms per move: lss-lrta lookahead=100" in result.stdout
    assert "slow runs: those whose p99 move took longer" in result.stdout


def test_a_speed_that_is_not_well_known_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    wild = [STEADY._replace(seconds=np.full(2, 0.5e-3 * factor)) for factor in range(1, 21)]
    monkeypatch.setattr(speed, "time_runs", lambda *_: cycle(wild))
    found = document("rooms-64", "-a", "lrta", "--budget-ms", "0.1", *FEW)
    (remark,) = (text for text in found["remarks"] if text.startswith("The machine is busy"))
    (pace,) = found["calibration"]
    assert f"lrta ±{100 * pace['width']:.0f} %" in remark
    assert pace["width"] > speed.BAR


def test_units_share_a_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "time_squads", lambda *_: repeat(STEADY._replace(seconds=np.full(2, 0.49999e-3))))
    arguments = "rooms-64", "-a", "lss-lrta", "--units", "8", "--tick-ms", "0.32", *FEW
    result = compare(*arguments)
    assert result.exit_code == 0, result.stderr
    assert "0.04 ms per move were calibrated on this processor: lss-lrta 40 expansions." in result.stdout
    assert "Squads: 8 units in ticks of 0.32 ms" in result.stdout
    assert "late ticks: those that took longer than a tick may" in result.stdout
    assert "For 8 units in ticks of 0.32 ms: " in result.stdout


def test_squads_that_have_run_are_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "time_squads", lambda *_: repeat(STEADY))
    arguments = "rooms-64", "-a", "rtaa", "--units", "6", "--tick-ms", "1000", *FEW
    first = document(*arguments)["squads"]
    monkeypatch.setattr(squads, "run_squad", None)
    assert document(*arguments)["squads"] == first
    assert (first[0]["arrivals"], first[0]["late"]["value"]) == (first[0]["units"], 0.0)


def test_against_an_earlier_table_the_exit_code_tells_whether_anything_is_worse() -> None:
    arguments = ("rooms-64", "-a", "lrta:depth=2", *FEW, "--against", "old.csv")
    document("rooms-64", "-a", "lrta:depth=2", *FEW)
    table = Path("rt-gym-compare/results.csv").read_text()
    Path("old.csv").write_text(table)
    same = compare(*arguments)
    assert (same.exit_code, "Now against old.csv" in same.stdout, " same " in same.stdout) == (0, True, True)
    header = table.splitlines()[0].split(",")
    lines = [dict(zip(header, line.split(","), strict=True)) for line in table.splitlines()[1:]]
    for line in lines:
        line["cost"] = str(float(line["cost"]) / 2)
    Path("old.csv").write_text("\n".join([",".join(header), *(",".join(line.values()) for line in lines), ""]))
    worse = compare(*arguments)
    assert (worse.exit_code, " worse " in worse.stdout) == (1, True)
    assert json.loads(compare(*arguments, "--json").stdout)["verdicts"][0]["word"] == "worse"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nowhere"], "no bundled map or split is called nowhere"),
        (["missing.map"], "missing.map: cannot be read"),
        (["empty"], "the folder holds no map"),
        (["missing.map.scen"], "missing.map.scen: cannot be read"),
        (["open-16", "open-16"], "given twice"),
        (["open-16", "-a", "lss-lrt"], "did you mean lss-lrta?"),
        (["open-16", "-a", "lrta:size=3"], "no parameter 'size'"),
        (["open-16", "-a", "lrta:depth=3..1"], "must rise"),
        (["open-16", "--problems", "0"], "at least one problem"),
        (["open-16", "--optimal", "many"], "--optimal must be a range"),
        (["open-16", "--optimal", "900..901"], "no two cells"),
        (["open-16", "--budget", "ten"], "--budget must be whole numbers"),
        (["open-16", "--budget", "0"], "budget must be a whole number of at least 1"),
        (["open-16", "--budget", "9", "--count", "moves"], 'count must be "expansions" or "scans"'),
        (["open-16", "--budget", "9", "--budget-ms", "1"], "only one of"),
        (["open-16", "--budget-ms", "-1"], "must be from 1e-6"),
        (["open-16", "--budget-ms", "nan"], "must be from 1e-6"),
        (["open-16", "--budget-ms", "1", "--count", "scans"], "--count scans cannot be had"),
        (["open-16", "--units", "5"], "go together"),
        (["open-16", "--trials", "often"], "--trials must be a whole number or converge"),
        (["open-16", "--trials", "0"], "trials must be a whole number of at least 1"),
        (["open-16", "--changes", "missing.csv"], "missing.csv: cannot be read"),
        (["open-16", "-a", "lrta", "--baseline", "tba"], "none is 'tba'"),
        (["open-16", "--against", "missing.csv"], "missing.csv: cannot be read"),
        (["open-16", "--jobs", "0"], "at least 1"),
        (["open-16", "--backend", "threads"], "must be loky or dask"),
        (["open-16", "--backend", "dask"], "go together"),
        (["open-16", "--out", "taken"], "the folder cannot be made"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing_behind(arguments: list[str], part: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "taken").write_text("kept")
    result = compare(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert part in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "taken"]


def test_ctrl_c_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    save_map(load_map("open-16"), "own.map")
    monkeypatch.setattr("training.runs.workers.run_job", stop)
    result = compare("own.map", "-a", "lrta", *FEW[:2], "--jobs", "1")
    assert result.exit_code == 130
    assert result.stderr == ("stopped: 0 of 5 runs are kept in rt-gym-compare; the same command goes on from there\n")


def test_what_is_left_out_and_read_otherwise_is_told_before_the_runs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bog.map").write_text("type octile\nheight 1\nwidth 3\nmap\n.S.\n")
    course = Course("bog", load_map("bog.map"), (), skipped=4)
    _tell_of_maps(["bog.map", "open-16"], (course, replace(course, name="other", skipped=0)))
    assert capsys.readouterr().err.splitlines() == [
        "note: bog: 4 problems on blocked cells are left out",
        "note: bog.map has 1 cell of swamp (S), which is read as plain ground",
    ]
