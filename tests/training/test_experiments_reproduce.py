"""``rt-gym reproduce``: from the command to the page of results."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rt_gym import load_map
from rt_gym.maps import save_map
from training import experiments
from training.cli import app, reproduce
from training.experiments import dc, ids, load, rl
from training.experiments.dc import f5 as dc_f5
from training.experiments.frame import FAILS, HOLDS, SIZES, UNDECIDED
from training.experiments.grounds import Ground
from training.report.results_page import claims_table, render
from training.runs import read_rows

DOCS = Path(__file__).resolve().parents[2] / "docs"
PROBLEMS = 2

runner = CliRunner()


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one experiment, on one small map in ``tmp_path / "maps"``, run in an empty folder beside it."""
    experiment = load("dc-f5")
    problems = dict.fromkeys(SIZES, PROBLEMS)
    part = replace(experiment.parts[0], grounds=(Ground("ours/rooms", 64, 64),), problems=problems, optimal=(20, 40))
    small = replace(experiment, parts=(part,), changes=("one thing",))
    monkeypatch.setattr(dc_f5, "EXPERIMENT", small)
    monkeypatch.setattr(experiments, "_TABLE", {"dc-f5": "dc.f5:EXPERIMENT"})
    monkeypatch.setattr(reproduce, "_PUBLIC", tmp_path / "nowhere")
    (tmp_path / "maps" / "ours").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    save_map(load_map("rooms-64"), tmp_path / "maps" / "ours" / "rooms.map")
    monkeypatch.chdir(tmp_path / "here")


def run(*arguments: str) -> Any:
    return runner.invoke(app, ["reproduce", *arguments, "--jobs", "1"])


def test_every_claim_is_told_with_a_verdict(tmp_path: Path) -> None:
    result = run("DC-F5", "--maps", "../maps")
    assert result.exit_code == 0, result.output
    assert "ours/rooms (64 x 64" in result.stdout
    assert "Changed after the first full run: one thing" in result.stdout
    assert sum(result.stdout.count(f" {word} \n") for word in (HOLDS, FAILS, UNDECIDED)) == 4
    rows = read_rows(tmp_path / "here" / "rt-gym-reproduce" / "dc-f5" / "smoke" / "results.csv")
    assert len(rows) == PROBLEMS * len(dc.DEPTHS)


def test_without_public_maps_generated_ones_are_taken_and_the_output_says_so() -> None:
    result = run("dc-f5", "--json")
    assert result.exit_code == 0, result.output
    (document,) = json.loads(result.stdout)
    assert [found["map"] for found in document["parts"][0]["maps"]] == ["terrain-64x64-s0"]
    assert not document["public_maps"]
    assert "nothing here speaks about the paper" in run("dc-f5").stdout


def test_a_second_run_reads_the_jobs_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("all", "--maps", "../maps", "--json")
    monkeypatch.setattr("training.runs.workers.run_job", None)
    second = run("all", "--maps", "../maps", "--json", "--size", "record")
    assert first.exit_code == second.exit_code == 0
    assert json.loads(first.stdout)[0]["tables"] == json.loads(second.stdout)[0]["tables"]


def test_the_pages_are_written_from_the_documents_and_again_without_running_anything(tmp_path: Path) -> None:
    result = run("dc-f5", "--maps", "../maps", "--size", "record", "--write-docs", "docs")
    assert result.exit_code == 0, result.output
    pages = render(Path("docs"))
    page = pages[Path("docs/results/dc-f5.md")]
    assert "\nrt-gym reproduce dc-f5 --size record --maps DIR\n" in page
    assert str(tmp_path) not in page
    files = [Path("docs/results/dc-f5.png"), *pages]
    for path in files:
        path.unlink()
    result = run("all", "--pages", "docs")
    assert result.exit_code == 0, result.output
    assert sorted(result.stdout.splitlines()) == sorted(map(str, files))
    assert {path: path.read_text(encoding="utf-8") for path in pages} == pages
    assert files[0].exists()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["dc-f6"], "unknown experiment 'dc-f6', known are dc-f5"),
        (["dc-f5", "--size", "huge"], "unknown size 'huge', known are smoke, record, full"),
        (["dc-f5", "--maps", "missing"], "missing: is not a folder"),
        (["dc-f5", "--maps", "."], "ours/rooms.map: cannot be read"),
        (["dc-f5", "--write-docs", "docs"], "--write-docs needs the public maps"),
        (["dc-f5", "--jobs", "0"], "must be at least 1"),
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
    result = run("dc-f5", "--maps", "../maps")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is 48 x 48, but the experiment takes a map of 64 x 64" in result.stderr


def test_a_scaled_map_has_the_size_of_the_experiment(tmp_path: Path) -> None:
    grid = Ground("ours/rooms", 32, 20, scaled=True).load(tmp_path / "maps")
    assert (grid.width, grid.height) == (32, 20)


def test_ctrl_c_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("training.runs.run_plan", interrupted)
    result = run("dc-f5", "--maps", "../maps")
    assert result.exit_code == 130
    assert "the same command goes on from there" in result.stderr


class TestWithoutTheExtraRL:
    @pytest.fixture(autouse=True)
    def missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A second experiment, before the other one, that needs a library which is not there."""
        experiment, (ground,) = rl.PPO, dc_f5.EXPERIMENT.parts[0].grounds
        part = replace(
            experiment.parts[0], grounds=(ground,), taught_on=(ground,), chosen_on=(ground,), optimal=(20, 40)
        )
        monkeypatch.setattr(rl, "PPO", replace(experiment, parts=(part,)))
        monkeypatch.setattr(experiments, "_TABLE", {"rl-ppo": "rl:PPO", "dc-f5": "dc.f5:EXPERIMENT"})
        monkeypatch.setitem(sys.modules, "stable_baselines3", None)

    def test_all_means_all_others_and_the_extra_is_named(self) -> None:
        result = run("all", "--maps", "../maps", "--json")
        assert result.exit_code == 0, result.output
        assert [document["id"] for document in json.loads(result.stdout)] == ["dc-f5"]
        says = "rl-ppo is left out: reinforcement learning needs Stable-Baselines3: pip install 'rt_gym[rl]'\n"
        assert result.stderr == says

    def test_the_experiment_itself_is_refused(self) -> None:
        result = run("rl-ppo", "--maps", "../maps")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.endswith("needs Stable-Baselines3: pip install 'rt_gym[rl]'\n")
        assert result.stderr.count("\n") == 1


class TestTheRealOnes:
    """What is fixed in the modules, and what was found with it."""

    @pytest.fixture(autouse=True)
    def tiny(self) -> None:
        """Leave the experiments as they are."""

    @pytest.mark.parametrize("experiment_id", ids())
    def test_the_settings_of_an_experiment_are_complete(self, experiment_id: str) -> None:
        experiment = load(experiment_id)
        assert experiment.id == experiment_id
        for part in experiment.parts:
            assert tuple(part.problems) == SIZES
            counts = list(part.problems.values())
            assert counts == sorted(counts)
            contenders = [contender.entry for contender in part.contenders()]
            assert len(contenders) == len(set(contenders)) > 0

    @pytest.mark.parametrize("experiment_id", ids())
    def test_a_stored_document_is_of_the_experiment_as_it_stands(self, experiment_id: str) -> None:
        experiment = load(experiment_id)
        document = json.loads((DOCS / "results" / f"{experiment_id}.json").read_bytes())
        assert document["public_maps"]
        assert document["seed"] == experiment.seed
        for found, part in zip(document["parts"], experiment.parts, strict=True):
            assert found["name"] == part.name
            assert [place["map"] for place in found["maps"]] == [ground.name for ground in part.grounds]
            assert found["problems_per_map"] == part.problems[document["size"]]
        assert document["notes"] == list(experiment.notes)
        assert document["changes"] == list(experiment.changes)
        verdicts = [row[-1] for row in claims_table(document).rows]
        assert verdicts == [claim["verdict"] for claim in document["claims"]]
