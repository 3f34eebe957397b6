"""``rt-gym reproduce``: from the command to the page of results."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from rt_gym import load_map
from rt_gym.maps import save_map
from training import experiments
from training.cli import app
from training.experiments import load
from training.experiments.frame import DIRECTION, FAILS, HOLDS, SIZES, UNDECIDED, Experiment, Ground, Part
from training.report.results_page import render
from training.runs import read_runs

T1, PPO = load("tb-t1"), load("rl-ppo")
ROOMS = Ground("ours/rooms", 64, 64)
PROBLEMS, CLAIMS = 2, 4

runner = CliRunner()


def small(experiment: Experiment) -> Experiment:
    """Return an experiment with few problems and claims, all on one small map."""
    (part,) = experiment.parts
    return replace(experiment, parts=(small_part(part),), claims=experiment.claims[:CLAIMS], changes=("one thing",))


def small_part(part: Part) -> Part:
    return replace(part, grounds=(ROOMS,), problems=dict.fromkeys(SIZES, PROBLEMS), optimal=(20, 40))


def table(monkeypatch: pytest.MonkeyPatch, *known: Experiment) -> None:
    """Let these be the only experiments."""
    module = ModuleType("training.experiments.tiny")
    module.__dict__.update((each.id, each) for each in known)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(experiments, "_TABLE", {each.id: f"tiny:{each.id}" for each in known})


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one experiment, on one small map in ``tmp_path / "maps"``, run in an empty folder beside it."""
    table(monkeypatch, small(T1))
    (tmp_path / "maps" / "ours").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    save_map(load_map("rooms-64"), tmp_path / "maps" / "ours" / "rooms.map")
    monkeypatch.chdir(tmp_path / "here")


def run(*arguments: str) -> Any:
    return runner.invoke(app, ["reproduce", *arguments, "--jobs", "1"])


def test_every_claim_is_told_with_a_verdict(tmp_path: Path) -> None:
    result = run("TB-T1", "--maps", "../maps")
    assert result.exit_code == 0, result.output
    assert "ours/rooms (64 x 64" in result.stdout
    assert "Changed after the first full run: one thing" in result.stdout
    assert sum(result.stdout.count(f" {word} \n") for word in (HOLDS, DIRECTION, FAILS, UNDECIDED)) == CLAIMS
    rows = read_runs(tmp_path / "here" / "rt-gym-reproduce" / "tb-t1" / "smoke" / "results.csv")
    assert len(rows) == PROBLEMS * len(T1.parts[0].entrants)


def test_without_public_maps_generated_ones_are_taken_and_the_output_says_so() -> None:
    result = run("tb-t1", "--json")
    assert result.exit_code == 0, result.output
    (document,) = json.loads(result.stdout)
    assert [found["map"] for found in document["parts"][0]["maps"]] == ["terrain-64x64-s0"]
    assert not document["public_maps"]
    assert "nothing here speaks about the paper" in run("tb-t1").stdout


def test_a_second_run_reads_the_jobs_of_the_first() -> None:
    first = run("all", "--maps", "../maps", "--json")
    second = run("all", "--maps", "../maps", "--json", "--size", "record")
    assert first.exit_code == second.exit_code == 0
    assert json.loads(first.stdout)[0]["tables"] == json.loads(second.stdout)[0]["tables"]
    times = [Path(f"rt-gym-reproduce/tb-t1/{size}/times.csv").read_bytes() for size in ("smoke", "record")]
    assert times[0] == times[1]  # to the last digit: nothing was run again


def test_the_pages_are_written_from_the_documents_and_again_without_running_anything(tmp_path: Path) -> None:
    result = run("tb-t1", "--maps", "../maps", "--size", "record", "--write-docs", "docs")
    assert result.exit_code == 0, result.output
    pages = render(Path("docs"))
    page = pages[Path("docs/results/tb-t1.md")]
    assert "\nrt-gym reproduce tb-t1 --size record --maps DIR\n" in page
    assert str(tmp_path) not in page
    files = [Path("docs/results/tb-t1.png"), *pages]
    for path in files:
        path.unlink()
    result = run("all", "--pages", "docs")
    assert result.exit_code == 0, result.output
    assert sorted(result.stdout.splitlines()) == sorted(map(str, files))
    assert {path: path.read_text(encoding="utf-8") for path in pages} == pages
    assert files[0].exists()


def test_a_document_is_checked_by_a_few_runs_and_stamped_if_these_come_out_the_same(tmp_path: Path) -> None:
    options = ("tb-t1", "--maps", "../maps")
    assert run(*options, "--size", "record", "--write-docs", "docs").exit_code == 0
    path = Path("docs/results/tb-t1.json")
    made = json.loads(path.read_bytes())
    assert (made["checked"], made["probe"]["runs"]) == (None, PROBLEMS * len(T1.parts[0].entrants))
    result = run(*options, "--check", "docs", "--out", "another")
    assert (result.exit_code, result.stdout) == (0, f"tb-t1: {made['probe']['runs']} runs, the same as before\n")
    checked = json.loads(path.read_bytes())
    assert checked["checked"]["sources"] == made["sources"]
    assert checked | {"checked": None} == made
    assert "came out the same" in path.with_suffix(".md").read_text(encoding="utf-8")
    path.write_text(json.dumps(made | {"probe": made["probe"] | {"digest": "other"}}), encoding="utf-8")
    result = run(*options, "--check", "docs", "--out", "another")
    assert result.exit_code == 2
    assert "tb-t1: the sources have changed, and its runs come out differently: run it again" in result.stderr
    assert json.loads(path.read_bytes())["checked"] is None


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["tb-t2"], "unknown experiment 'tb-t2', known are tb-t1"),
        (["tb-t1", "--size", "huge"], "unknown size 'huge', known are smoke, record, full"),
        (["tb-t1", "--maps", "missing"], "missing: is not a folder"),
        (["tb-t1", "--maps", "."], "ours/rooms.map: cannot be read"),
        (["tb-t1", "--write-docs", "docs"], "--write-docs needs the public maps"),
        (["tb-t1", "--check", "docs"], "--check needs the public maps"),
        (["tb-t1", "--check", "docs", "--maps", "../maps"], "docs/results: has no documents of experiments"),
        (["tb-t1", "--jobs", "0"], "must be at least 1"),
        (["all", "--pages", "../maps"], "maps/results: has no documents of experiments"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(arguments: list[str], part: str, tmp_path: Path) -> None:
    result = runner.invoke(app, ["reproduce", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert part in result.stderr
    assert result.stderr.count("\n") == 1
    assert list((tmp_path / "here").iterdir()) == []


def test_a_map_of_another_size_is_refused(tmp_path: Path) -> None:
    save_map(load_map("random-48"), tmp_path / "maps" / "ours" / "rooms.map")
    result = run("tb-t1", "--maps", "../maps")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is 48 x 48, but the experiment takes a map of 64 x 64" in result.stderr


def test_a_scaled_map_has_the_size_of_the_experiment(tmp_path: Path) -> None:
    grid = Ground("ours/rooms", 32, 20, scaled=True).load(tmp_path / "maps")
    assert (grid.width, grid.height) == (32, 20)


def test_ctrl_c_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("training.experiments.conduct.run_plan", interrupted)
    result = run("tb-t1", "--maps", "../maps")
    assert result.exit_code == 130
    assert "the same command goes on from there" in result.stderr


class TestWithoutTheExtraRL:
    @pytest.fixture(autouse=True)
    def missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A second experiment, before the other one, that needs a library which is not there."""
        part = replace(small_part(PPO.parts[0]), train_on=(ROOMS,), choose_on=(ROOMS,))
        table(monkeypatch, replace(PPO, parts=(part,)), small(T1))
        monkeypatch.setitem(sys.modules, "stable_baselines3", None)

    def test_all_means_all_others_and_the_extra_is_named(self) -> None:
        result = run("all", "--maps", "../maps", "--json")
        assert result.exit_code == 0, result.output
        assert [document["id"] for document in json.loads(result.stdout)] == ["tb-t1"]
        says = "rl-ppo is left out: reinforcement learning needs Stable-Baselines3: pip install 'rt_gym[rl]'\n"
        assert result.stderr == says

    def test_the_experiment_itself_is_refused(self) -> None:
        result = run("rl-ppo", "--maps", "../maps")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.endswith("needs Stable-Baselines3: pip install 'rt_gym[rl]'\n")
        assert result.stderr.count("\n") == 1
