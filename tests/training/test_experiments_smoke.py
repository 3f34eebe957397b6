"""Every experiment from its problems to its page, on maps that are small and generated."""

import json
from dataclasses import replace
from math import isfinite
from pathlib import Path

import numpy as np
import pytest

from training.cli.reproduce import _conduct
from training.experiments import ids, load
from training.experiments.evidence import Evidence
from training.experiments.frame import Experiment, Part
from training.experiments.grounds import Generated, Ground
from training.experiments.ls.benchmarks import MAZE
from training.experiments.ls.curves import DS, KS, margin
from training.report.results_page import claims_table, remarks
from training.runs import Plan, Workers, run_plan

SIDE = 33
SMALL = {"size": 31, "width": SIDE, "height": SIDE, "holes": 20}
UNTAUGHT = [name for name in ids() if not any(part.taught for part in load(name).parts)]


def shrunk_ground(ground: Ground | Generated) -> Ground | Generated:
    if isinstance(ground, Ground):
        return Ground("", SIDE, SIDE)
    return Generated(ground.family, {name: SMALL.get(name, value) for name, value in ground.parameters.items()})


def shrunk_part(part: Part) -> Part:
    """Return a part with its first map, small, and two problems."""
    grounds = (shrunk_ground(part.grounds[0]),)
    return replace(part, grounds=grounds, problems={"smoke": 2, "record": 2, "full": 3}, optimal=(20, 300))


def shrunk(experiment: Experiment) -> Experiment:
    return replace(experiment, parts=tuple(map(shrunk_part, experiment.parts)))


@pytest.mark.parametrize("experiment_id", UNTAUGHT)
def test_an_experiment_runs_without_public_maps(experiment_id: str, tmp_path: Path) -> None:
    experiment = shrunk(load(experiment_id))
    document = _conduct(experiment, "smoke", None, tmp_path, Workers(1))
    json.dumps(document, allow_nan=False)
    assert len(document["parts"]) == len(experiment.parts)
    assert all(claim["ours"] is not None and isfinite(claim["ours"][0]) for claim in document["claims"])
    assert len(claims_table(document).rows) == len(document["claims"]) > 0
    for table in document["tables"]:
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
    assert len(remarks(document)) >= 2 * len(experiment.parts)
    assert (tmp_path / experiment_id / "smoke" / "results.csv").exists()


def plan_of(part: Part) -> Plan:
    return part.plan(tuple(part.courses("smoke", None, 1)), 1)


def test_a_part_hands_its_rules_vision_and_trials_to_its_runs() -> None:
    plan = plan_of(shrunk_part(MAZE.parts("lrta")[1]))
    assert plan.trials == "converge"
    assert {(course.vision, course.grid.connectivity, course.grid.cost) for course in plan.courses} == {(1, 4, "unit")}
    rows, _ = run_plan(plan, workers=Workers(1))
    assert all(row.result.converged and row.result.trials_run > 1 for row in rows)


def test_every_problem_of_a_generated_ground_has_a_map_and_a_start_of_its_own() -> None:
    part = replace(MAZE.parts("lrta")[0], problems={"smoke": 8})
    courses = list(part.courses("smoke", None, 2008))
    assert [len(course.tasks) for course in courses] == [1] * 8
    assert len({course.digest for course in courses}) == 8
    assert len({course.tasks[0].start for course in courses}) == 8
    again = list(replace(part, problems={"smoke": 2}).courses("smoke", None, 2008))
    assert [course.tasks for course in again] == [course.tasks for course in courses[:2]]


def test_a_ground_keeps_its_problems_whatever_stands_beside_it() -> None:
    part = shrunk_part(load("dc-f5").parts[0])
    one, two = (list(replace(part, grounds=part.grounds * n).courses("smoke", None, 3)) for n in (1, 2))
    assert one[0].tasks == two[0].tasks
    assert one[0].grid == two[0].grid


def test_experiments_share_the_runs_that_they_have_in_common(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = shrunk(load("tb-t1"))
    _conduct(experiment, "smoke", None, tmp_path, Workers(1))
    monkeypatch.setattr("training.runs.workers.run_job", None)
    _conduct(replace(experiment, id="another"), "smoke", None, tmp_path, Workers(1))
    assert (tmp_path / "another" / "smoke" / "results.csv").exists()


def test_the_margin_is_below_one_where_another_setting_is_both_cheaper_and_quicker() -> None:
    cost, time = np.ones((1, len(KS) + 2, len(DS))), np.full((1, len(KS) + 2, len(DS)), 2.0)
    time[0, 1, 0] = 1.0  # the quickest, with k = 40 and d = 2
    assert margin(cost, time).tolist() == [2.0]
    cost[0, -1, 3], time[0, -1, 3] = 0.5, 0.8
    assert margin(cost, time).tolist() == [0.8]


def test_evidence_takes_the_totals_of_all_trials() -> None:
    first, convergence = (plan_of(shrunk_part(part)) for part in MAZE.parts("lrta"))
    found = [Evidence(*run_plan(plan, workers=Workers(1))) for plan in (first, convergence)]
    costs = [evidence.numbers("lrta depth=1", "cost") for evidence in found]
    assert (costs[0] < costs[1]).all()
