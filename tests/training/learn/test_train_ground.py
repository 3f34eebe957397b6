"""Training of what unknown ground costs: what is logged, what prices follow from it, and what is chosen."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from agents.policies.ground import BLOCKED, FREE, UNKNOWN, load_ground_policy
from agents.policies.trees import add_scores
from rt_gym import InputError
from training.cli import app
from training.learn import Parts, TrainingSetup
from training.learn import ground as module
from training.learn.ground import (
    GroundConfig,
    GroundLogging,
    Shape,
    accuracy,
    fit_chances,
    log_ground,
    price,
    symmetries,
    train_ground,
)
from training.runs import Course, Draw, Workers, find_courses

HERE = Workers(jobs=1)
SMALL = GroundConfig(radius=1, samples=50, leaves=4, min_leaf=8)


def courses(name: str, count: int = 3, vision: int | None = 1) -> tuple[Course, ...]:
    return tuple(find_courses([name], Draw(count, 20, 60, vision=vision)))


def windows(count: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Return windows of radius 1 whose cell is blocked where the cell west of it is, and free elsewhere."""
    rows = np.random.default_rng(0).choice(np.array([UNKNOWN, FREE], np.int8), (count, 9))
    rows[::2, 3] = rows[::2, 5] = rows[::2, 1] = rows[::2, 7] = BLOCKED
    return rows, (np.arange(count) % 2 == 0).astype(np.int64)


def test_windows_are_logged_as_the_agent_sees_them() -> None:
    (course,) = courses("rooms-64")
    found = GroundLogging(radius=1, samples=20, vision=1, seed=0).do(course.grid, course.tasks)
    assert found["rows"].shape == (len(found["label"]), 9)
    assert 0 < len(found["label"]) <= 20 * len(course.tasks)
    assert (found["rows"][:, 4] == UNKNOWN).all()
    assert set(np.unique(found["rows"])) == {BLOCKED, UNKNOWN, FREE}
    assert 0 < found["label"].mean() < 1


def test_what_is_logged_does_not_depend_on_how_the_work_is_cut() -> None:
    (course,) = courses("rooms-64")
    work = GroundLogging(radius=1, samples=20, vision=1, seed=0)
    whole, parts = work.do(course.grid, course.tasks), [work.do(course.grid, [task]) for task in course.tasks]
    assert np.array_equal(whole["rows"], np.concatenate([part["rows"] for part in parts]))


def test_a_window_has_eight_symmetries() -> None:
    turned = symmetries(np.arange(9, dtype=np.int8)[None])
    assert len({tuple(row) for row in turned.tolist()}) == 8
    assert set(turned[:, 4].tolist()) == {4}
    assert {tuple(row[[0, 2, 6, 8]].tolist()) for row in turned} >= {(0, 2, 6, 8), (2, 0, 8, 6), (8, 6, 2, 0)}


def test_chances_are_learned_from_the_pattern_and_prices_rise_with_them() -> None:
    rows, label = windows()
    chances = fit_chances(rows, label, SMALL)
    assert accuracy(chances, rows, label) == 1
    policy, score = price(chances, Shape(2, 3), 1, {}), np.zeros(1)
    found = {}
    for name, row in (("blocked", rows[0]), ("free", rows[1]), ("far", np.zeros(9, np.int8))):
        add_scores(policy.forest, row, policy.forest.feature.size, score)
        found[name] = float(score[0])
    assert found["far"] == 2
    assert found["blocked"] > found["free"] >= 1


def test_a_constant_price_needs_no_tree() -> None:
    policy = price(fit_chances(*windows(), SMALL), Shape(1.5, 0), 1, {})
    assert policy.forest.scores.tolist() == [[1.5]]


def test_nothing_is_learned_where_all_cells_are_alike() -> None:
    rows, label = windows()
    with pytest.raises(InputError, match="there is nothing to learn"):
        fit_chances(rows, np.zeros_like(label), SMALL)


def test_a_known_map_has_no_unknown_ground(tmp_path: Path) -> None:
    known = courses("rooms-64", vision=None)
    with pytest.raises(InputError, match="no problems in fog"):
        log_ground(TrainingSetup(known, known, HERE, tmp_path), SMALL)


def test_a_training_ends_in_a_policy_that_agents_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHAPES", (Shape(1, 0), Shape(2, 1)))
    parts = Parts(courses("rooms-64"), courses("maze-63", 2), courses("random-48", 2))
    result = train_ground(SMALL, parts, tmp_path, HERE)
    assert result.candidates[0].quality <= result.candidates[1].quality
    assert load_ground_policy(tmp_path / "ground.json").radius == 1
    assert [name.split()[0] for name in result.ratios] == ["dstar-lite", "repeated-astar", "tba", "rtaa"]
    assert all(one.low <= one.value <= one.high for one in result.ratios.values())
    assert all(path.exists() for path in result.files)
    assert json.loads(json.dumps(result.document()))["samples"] == result.samples
    again = train_ground(SMALL, parts, tmp_path, HERE)
    assert again.ratios == result.ratios


@pytest.mark.parametrize(
    ("options", "says"),
    [(["--vision", "0"], "vision"), (["--radius", "99"], "radius"), (["--maps", "nowhere"], "nowhere")],
)
def test_bad_options_are_refused_in_a_sentence(options: list[str], says: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["train", "ground", "--out", str(tmp_path / "out"), *options])
    assert result.exit_code == 2
    assert says in result.output
