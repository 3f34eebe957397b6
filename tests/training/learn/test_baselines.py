"""``rt-gym train baselines``: cells that are kept, scores between chance and D* Lite, and the page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from rt_gym import InputError
from training.cli import app
from training.learn.rl.baselines import (
    ANCHOR,
    LEARNERS,
    POLICIES,
    RANDOM,
    RECIPE,
    BaselineConfig,
    Cell,
    run_baselines,
    summarise,
)
from training.report.measured import level_table, overall_table, write_baselines
from training.runs import Workers

LEVEL, OTHER = "RTPath-Open-16x16-v0", "RTPathFog-Random-16x16-v0"
HERE = Workers(jobs=1)
SMALL = BaselineConfig((LEVEL, OTHER), seeds=2, steps=125)


def filled(cell: Cell) -> dict[str, Any]:
    """Stand in for a training: what a learner reaches depends on its place in the table and on the seed."""
    rank = POLICIES.index(cell.policy)
    looks = [[16.0 * k, 0.1 * k, 0.05 * k] for k in range(3)] if cell.policy in LEARNERS else []
    share = rank / len(POLICIES) + 0.01 * cell.seed
    told = {"label": cell.policy, "solved": share, "weighted": share, "expansions": 0.0, "seconds": 1.5}
    return told | {"looks": looks}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Cell]:
    """Return the cells that are filled, by a stand-in."""
    cells: list[Cell] = []

    def fill(self: Cell) -> dict[str, Any]:
        cells.append(self)
        return filled(self)

    monkeypatch.setattr(Cell, "fill", fill)
    pytest.importorskip("stable_baselines3", reason="the extra rl is not installed")
    pytest.importorskip("sb3_contrib", reason="the extra rl is not installed")
    return cells


def quiet(amount: float, text: str) -> None:
    """Hear of progress and say nothing."""


class TestCells:
    def test_what_is_kept_is_not_done_again_and_what_is_damaged_is(
        self, counted: list[Cell], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = run_baselines(SMALL, tmp_path, HERE, quiet)
        assert counted == list(SMALL.cells())
        assert run_baselines(SMALL, tmp_path, HERE, quiet) == first
        assert len(counted) == SMALL.count == 2 * (2 * 5 + 5)
        shards = sorted((tmp_path / "jobs").rglob("*.npz"))
        shards[0].write_bytes(shards[0].read_bytes()[:-9])
        assert run_baselines(SMALL, tmp_path, HERE, quiet) == first
        assert 0 < len(counted[SMALL.count :]) < SMALL.count
        assert "damaged" in capsys.readouterr().err

    def test_scores_are_0_for_chance_and_1_for_the_anchor(self, counted: list[Cell], tmp_path: Path) -> None:
        for document in run_baselines(SMALL, tmp_path, HERE, quiet):
            assert np.mean(document["policies"][RANDOM]["scores"]) == pytest.approx(0)
            assert document["policies"][ANCHOR]["scores"] == [pytest.approx(1)]
            assert len(document["policies"][RECIPE]["scores"]) == 2

    def test_the_recipe_is_compared_with_every_other_policy(self, counted: list[Cell], tmp_path: Path) -> None:
        found = summarise(run_baselines(SMALL, tmp_path, HERE, quiet))
        assert found["PPO"]["beaten_by_recipe"] == [1.0, 1.0, 1.0]
        assert found[ANCHOR]["beaten_by_recipe"][0] == 0.0
        assert found[RANDOM]["interquartile_mean"][0] < found[RECIPE]["interquartile_mean"][0]

    def test_a_learner_can_be_left_out_and_what_does_not_learn_stays(self, counted: list[Cell], tmp_path: Path) -> None:
        config = BaselineConfig((LEVEL,), seeds=2, steps=125, learners=("PPO",))
        documents = run_baselines(config, tmp_path, HERE, quiet)
        (document,) = documents
        assert list(document["policies"]) == [name for name in POLICIES if name == "PPO" or name not in LEARNERS]
        assert all(row[3] == row[4] == "" for row in overall_table(documents).rows)
        write_baselines(tmp_path, documents, "rt-gym train baselines --learner PPO")
        assert "MaskablePPO`" not in (tmp_path / "baselines.md").read_text()

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"levels": ("RTPath-v0",)}, "levels must be ids such as RTPath-Random-16x16-v0, not 'RTPath-v0'"),
            ({"levels": (LEVEL, LEVEL)}, "each of them once"),
            ({"seeds": 0}, "seeds must be a whole number from 1"),
            ({"steps": 1}, "steps must be a whole number"),
            ({"learners": ("DQN",)}, 'learners must be "PPO", "MaskablePPO", "RecurrentPPO" or "recipe"'),
        ],
    )
    def test_what_cannot_be_compared_is_refused(self, given: dict[str, Any], says: str) -> None:
        with pytest.raises(InputError, match=says):
            BaselineConfig(**given)


def test_the_page_shows_every_policy_and_a_figure_per_level(counted: list[Cell], tmp_path: Path) -> None:
    documents = run_baselines(SMALL, tmp_path, HERE, quiet)
    written = write_baselines(tmp_path, documents, "rt-gym train baselines --seeds 2")
    page = (tmp_path / "baselines.md").read_text()
    assert {path.name for path in written} == {
        "baselines.md", f"{LEVEL}.json", f"{LEVEL}.png", f"{OTHER}.json", f"{OTHER}.png",
    }  # fmt: skip
    assert all(page.count(f"| `{policy}`") == 2 + len(documents) for policy in POLICIES)
    assert f"![Learning curves](baselines/{LEVEL}.png)" in page
    assert json.loads((tmp_path / "baselines" / f"{LEVEL}.json").read_text()) == documents[0]
    assert len(overall_table(documents).rows) == len(level_table(documents[0]).rows) == len(POLICIES)


@pytest.mark.usefixtures("one_thread")
def test_the_command_trains_every_learner_and_judges_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sb3_contrib", reason="the extra rl is not installed")
    monkeypatch.setattr("training.learn.rl.model.STEPS", 20)
    monkeypatch.setattr("training.learn.rl.model.EPOCHS", 1)
    monkeypatch.setattr("training.learn.rl.baselines.LOOKS", 1)
    options = ["--level", LEVEL, "--seeds", "1", "--steps", "4000", "--jobs", "1", "--out", str(tmp_path), "--json"]
    result = CliRunner().invoke(app, ["train", "baselines", *options])
    assert result.exit_code == 0, result.stderr
    (document,) = json.loads(result.stdout)
    policies = document["policies"]
    assert policies["astar"]["runs"][0]["weighted"] == pytest.approx(1.0)
    assert all(policies[name]["runs"][0]["looks"][-1][0] == 4000 for name in LEARNERS if name != RECIPE)
    assert policies["best bounded"]["runs"][0]["label"] in ("lrta", "rtaa", "lss-lrta")
    assert all(policies[name]["runs"][0]["looks"][-1][0] >= 4000 for name in LEARNERS)
