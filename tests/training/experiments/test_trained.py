"""Policies that experiments train, and cross-validation as a part of an experiment, from the log to the claims."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import agents
from training.experiments import ids, load
from training.experiments.conduct import conduct
from training.experiments.evidence import (
    CrossValidation,
    Evidence,
    TreeTraining,
    Validating,
    always,
    cross_validate_all,
    policies_folder,
    ratio,
)
from training.experiments.frame import Experiment, Ground, Part, entrant
from training.experiments.quantities import Advantage, CurveRatio, IfGrown
from training.learn.targets import Recipe
from training.report.results_page import claims_table
from training.runs import Allowance, Course, Draw, Plan, Workers, enlist_all, find_courses, run_plan
from training.runs.jobs import canonical

HERE = Workers(jobs=1)
SMALL_LEAVES = Recipe(min_leaf=10)


@pytest.fixture(scope="module")
def courses() -> tuple[Course, ...]:
    return tuple(find_courses(["caves-128"], Draw(count=12, low=30, high=90)))


def test_the_deepest_walk_is_that_of_lrta(courses: tuple[Course, ...]) -> None:
    problem = courses[0].problem(courses[0].tasks[0])
    agent = agents.make("classifier-lrta", policy=always(4, 20))
    assert agents.run(agent, problem).path.tolist() == agents.run("lrta", problem, depth=4).path.tolist()


def test_a_log_of_a_larger_depth_has_its_states(courses: tuple[Course, ...], tmp_path: Path) -> None:
    deep, one_log = CrossValidation("deep", 6), CrossValidation("one", 3, log=6)
    states, read = (validation.samples(courses, HERE, tmp_path) for validation in (deep, one_log))
    np.testing.assert_array_equal(states.situation, read.situation)
    assert read.d_max == 3
    assert read.label.max() <= 3


def test_hits_are_counted_problem_by_problem(courses: tuple[Course, ...], tmp_path: Path) -> None:
    samples = CrossValidation("small", 4, SMALL_LEAVES).samples(courses, HERE, tmp_path)
    quality, policy = Validating(SMALL_LEAVES, by_problem=True).do(None, [samples])
    assert quality.states.tolist() == np.bincount(samples.problem).tolist()
    found = ratio(quality.hits, quality.states)
    assert found is not None
    assert found.value == pytest.approx(quality.accuracy)
    assert found.low < found.value < found.high
    assert policy.d_max == 4


def test_what_was_cross_validated_takes_part_by_its_name(courses: tuple[Course, ...], tmp_path: Path) -> None:
    first = CrossValidation("first", 3, SMALL_LEAVES)
    both = (first, replace(first, name="second", by_problem=False))
    found = list(cross_validate_all(both, courses, tmp_path, HERE))
    assert sorted(one.contender.entry.label for one in found) == [
        "classifier-lrta policy=first",
        "classifier-lrta policy=second",
    ]
    assert all(one.quality is not None for one in found)


def test_what_was_cross_validated_is_kept(
    courses: tuple[Course, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [CrossValidation("kept", 3, SMALL_LEAVES)]
    (first,) = cross_validate_all(asked, courses, tmp_path, HERE)
    saved = (tmp_path / "kept").rglob("*.json")
    policies = {path: path.read_bytes() for path in saved}
    monkeypatch.setattr("training.experiments.evidence.cross_validate", None)
    (again,) = cross_validate_all(asked, courses, tmp_path, HERE)
    assert canonical(again.quality) == canonical(first.quality)
    assert {path: path.read_bytes() for path in policies} == policies != {}
    with pytest.raises(TypeError):
        list(cross_validate_all([replace(asked[0], by_problem=False)], courses, tmp_path, HERE))


def test_policies_of_other_problems_have_folders_of_their_own(courses: tuple[Course, ...], tmp_path: Path) -> None:
    fewer = tuple(replace(course, tasks=course.tasks[:3]) for course in courses)
    assert policies_folder(tmp_path, courses, ()) == policies_folder(tmp_path, courses, ())
    assert policies_folder(tmp_path, courses, ()) != policies_folder(tmp_path, fewer, ())


def trains_trees(part: Part) -> bool:
    """Whether trees take part that are trained first; for networks see ``test_trained_networks``."""
    return bool(part.policies) and all(isinstance(one, TreeTraining) for one in part.trainings)


TRAINING = [name for name in ids() if any(map(trains_trees, load(name).parts))]


def shrunk_part(part: Part) -> Part:
    """Return a part with one small map to learn on, one to choose on and one to be judged on, and small leaves."""
    grounds = tuple((Ground("", 33, 33),) if given else () for given in (part.grounds, part.train_on, part.choose_on))
    trainings = (replace(one, recipe=replace(one.recipe, min_leaf=20), dagger=0) for one in part.trainings)
    validations = (replace(one, recipe=replace(one.recipe, min_leaf=20)) for one in part.validations)
    return replace(
        part,
        grounds=grounds[0],
        train_on=grounds[1],
        choose_on=grounds[2],
        problems=dict.fromkeys(part.problems, 10),
        learn_from=None,
        optimal=(20, 300),
        trainings=tuple(trainings),
        validations=tuple(validations),
    )


def shrunk(experiment: Experiment) -> Experiment:
    return replace(experiment, parts=tuple(map(shrunk_part, experiment.parts)))


@pytest.mark.parametrize("experiment_id", TRAINING)
def test_an_experiment_that_trains_runs_without_public_maps(experiment_id: str, tmp_path: Path) -> None:
    experiment = shrunk(load(experiment_id))
    document = conduct(experiment, "smoke", None, tmp_path, HERE)
    json.dumps(document, allow_nan=False)
    pairs = zip(document["claims"], experiment.claims, strict=True)
    assert all(found["ours"] is not None or isinstance(claim.quantity, IfGrown) for found, claim in pairs)
    assert len(claims_table(document).rows) == len(document["claims"]) > 0
    for table in document["tables"]:
        assert table["rows"]
        assert all(len(row) == len(table["columns"]) for row in table["rows"])


@pytest.fixture(scope="module")
def learned() -> Evidence:
    """Fixed depths and two oracles on a few problems."""
    contenders = enlist_all(["lrta:depth=1,2,4,8", "oracle-lrta:d_max=4,6"], [Allowance.of(None)])
    found = find_courses(["caves-128"], Draw(count=8, low=30, high=60))
    return Evidence(run_plan(Plan(tuple(contenders), tuple(found)), workers=HERE))


def test_an_advantage_is_the_quotient_of_two_ratios_and_one_over_oneself(learned: Evidence) -> None:
    one, other = (entrant("oracle-lrta", d_max=d_max) for d_max in (4, 6))
    assert Advantage(one, (one,)).estimate([learned]) == (1, 1, 1)
    found = Advantage(one, (other,)).estimate([learned])
    above, below = (CurveRatio(each).estimate([learned]) for each in (one, other))
    assert found is not None
    assert above is not None
    assert below is not None
    assert found.value == pytest.approx(above.value / below.value)
    assert above.low / below.high <= found.low <= found.high <= above.high / below.low
