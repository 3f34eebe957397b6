"""What a policy is worth: ratios to the curve of fixed depths, the merit of both, and what voids a candidate."""

from math import exp, log
from pathlib import Path

import numpy as np
import pytest

import agents
from agents.policies.networks import BOTH, Network
from rt_gym import InputError
from training.judge import score_all
from training.learn import merit as module
from training.learn import problems_of
from training.learn.evolve import Encoding, EvolutionConfig
from training.learn.merit import (
    FAILED,
    WORK,
    NetworkRuns,
    Walks,
    WalkValidation,
    average,
    compare,
    fixed_depths,
    guided_opponents,
    log_ratios,
    measure_curve,
    merit,
    opponents,
    rate_networks,
)
from training.runs import Course, Draw, Workers, find_courses

HERE = Workers(jobs=1)


def courses(name: str = "rooms-64", count: int = 6) -> tuple[Course, ...]:
    return tuple(find_courses([name], Draw(count, 20, 60)))


def always(depth: int, decide: str) -> Network:
    """Return a network that looks equally far at every move; to act after the first layer is depth 1."""
    if decide == "deepen":
        return Network("deepen", ("layer",), ((np.zeros((1, 2)), np.array([1.0, 0.0])),), 20)
    return Network("depth", ("moves",), ((np.zeros((1, 1)), np.zeros(1)),), 20, (depth,))


@pytest.mark.parametrize("decide", ["depth", "deepen"])
def test_always_depth_one_has_a_ratio_of_exactly_one(decide: str, tmp_path: Path) -> None:
    curve = measure_curve(courses(), HERE, tmp_path)
    assert rate_networks([always(1, decide)], curve, HERE) == [(0.0, 0.0)]


@pytest.mark.parametrize("depth", [2, 5, 10])
def test_a_depth_of_the_curve_has_a_ratio_of_exactly_one(depth: int, tmp_path: Path) -> None:
    curve = measure_curve(courses("caves-128"), HERE, tmp_path)
    assert rate_networks([always(depth, "depth")], curve, HERE) == [(pytest.approx(0), pytest.approx(0))]


def test_ratios_are_those_of_a_comparison(tmp_path: Path) -> None:
    from training.runs import Allowance, Plan, enlist, run_plan

    encoding = Encoding("deepen", 2, 20, 20)
    network, found = encoding.network(encoding.start()), courses("caves-128")
    network.save(tmp_path / "n.npz")
    own = enlist("policy-lrta", {"policy": str(tmp_path / "n.npz")}, Allowance.of(None))
    score = score_all(run_plan(Plan((*fixed_depths(), own), found), workers=HERE))[-1]
    ((mean, pooled),) = rate_networks([network], measure_curve(found, HERE, tmp_path), HERE)
    assert np.exp(mean) == pytest.approx(score.ratio_mean and score.ratio_mean.value)
    assert np.exp(pooled) == pytest.approx(score.ratio_pooled and score.ratio_pooled.value)


def test_no_run_of_the_curve_is_cut_and_a_cut_run_voids_a_candidate(tmp_path: Path) -> None:
    curve = measure_curve(courses(), HERE, tmp_path)
    caps = curve.max_moves, curve.max_moves - 1
    (course,) = curve.courses
    runs = [NetworkRuns(course.tasks, cap).do(course.grid, [always(1, "depth")]) for cap in caps]
    assert average(runs[0][0]) is not None
    assert average(runs[1][0]) is None
    assert curve.log_ratios(None) == (-np.inf, -np.inf)
    assert EvolutionConfig().merit(curve.log_ratios(None)) == -np.inf


def test_fixed_depths_that_are_cut_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MOVES", 30)
    with pytest.raises(InputError, match="does not reach every goal within 30 moves"):
        measure_curve(courses(), HERE, tmp_path)


def test_the_merit_is_the_weighted_mean_of_both_logarithms() -> None:
    assert merit((log(4.0), log(1.0))) == pytest.approx(log(2.0))
    assert merit((log(4.0), log(1.0)), pooled=0.0) == pytest.approx(log(4.0))
    assert merit(FAILED) == -np.inf
    assert merit((0.0, -np.inf)) == -np.inf
    assert log_ratios(None) == FAILED


def test_the_findings_of_a_comparison_have_the_merits_of_its_scores(tmp_path: Path) -> None:
    findings = compare((*fixed_depths(), *opponents(4)), courses(), tmp_path, HERE)
    scores = {score.entry.label: score for score in findings.scores}
    own = scores["oracle-lrta d_max=4"]
    assert own.ratio_mean is not None
    assert own.ratio_pooled is not None
    assert exp(2 * merit(log_ratios(own))) == pytest.approx(own.ratio_mean.value * own.ratio_pooled.value)
    assert sum(label.startswith("rule-lrta") for label in scores) == 6
    assert {"tba", "rtaa", "lss-lrta", "lrta-ls-kd"} <= {entry.agent for entry in (s.entry for s in findings.scores)}


def test_networks_are_rated_alike_however_they_are_cut_into_jobs(tmp_path: Path) -> None:
    curve = measure_curve((*courses(), *courses("random-48")), HERE, tmp_path)
    networks = [always(depth, "depth") for depth in (1, 2, 3, 5)]
    together = rate_networks(networks, curve, Workers(jobs=2))
    assert together == [rate_networks([network], curve, HERE)[0] for network in networks]


def heading(goal: int, depth: int = 3) -> Network:
    """Return a network that heads for the goal (0) or for subgoals (1) at every move."""
    layers = ((np.zeros((1, 10)), np.eye(10)[depth - 1] + np.eye(10)[8 + goal]),)
    return Network(BOTH, ("moves",), layers, 8, tuple(range(1, 9)), level=3, abstraction="clique")


def test_for_depth_and_goal_suboptimality_and_expansions_themselves_count() -> None:
    found = courses("caves-128")
    runs = [agents.run("lrta", problem, depth=3) for problem in problems_of(found)]
    quality = np.mean([run.suboptimality for run in runs])
    pooled = sum(run.expansions for run in runs) / sum(run.moves for run in runs)
    (logs,) = rate_networks([heading(0)], Walks(found), HERE)
    assert np.exp(np.negative(logs)) == pytest.approx([quality, pooled])
    validation = WalkValidation(found, HERE, rule=heading(0))
    assert validation.rate(heading(0)).figures == pytest.approx([quality, pooled])
    assert validation.rate(heading(0)).merit == pytest.approx(-(1 - WORK) * log(quality) - WORK * log(pooled))
    assert validation.level() == pytest.approx(quality)


def test_a_network_that_goes_back_and_forth_for_good_is_void() -> None:
    found = tuple(find_courses(["caves-128"], Draw(12, 100)))
    assert rate_networks([heading(1, 1)], Walks(found), HERE) == [FAILED]
    assert WalkValidation(found, HERE, heading(0)).rate(heading(1, 1)).figures == [None, None]


def test_what_chooses_depth_and_goal_meets_fixed_pairs_and_the_field() -> None:
    ids = [contender.agent for contender in guided_opponents()]
    assert set(ids) == {"lrta", "general-lrta", "pdb-lrta", "subgoal-lrta", "tba", "rtaa", "lss-lrta", "lrta-ls-kd"}
