"""From runs to scores: both averages, failures, disqualification, fronts, differences and ratios."""

from math import inf
from statistics import fmean

import pytest

import agents
from rt_gym import Change, InputError
from training.judge import Score, find, score_all
from training.runs import (
    Allowance,
    Draw,
    Plan,
    Row,
    Workers,
    choose_baseline,
    enlist_all,
    find_courses,
    run_plan,
)

HERE = Workers(jobs=1)
NAMES = "stays", "moves"


def make_plan(*specs: str, limits: tuple[int | None, ...] = (None,), count: str = "expansions", **options) -> Plan:
    draw = {"count": 6, "low": 15, "high": 60} | {
        name: options.pop(name) for name in ("changes", "seed") if name in options
    }
    contenders = enlist_all(specs, [Allowance.of(limit, count) for limit in limits])
    return Plan(tuple(contenders), tuple(find_courses([options.pop("map", "rooms-64")], Draw(**draw))), **options)


def run(plan: Plan) -> list[Row]:
    return list(run_plan(plan, workers=HERE))


def scores_of(*specs: str, **options) -> dict[str, Score]:
    rows = run(make_plan(*specs, **options))
    return {score.entry.label: score for score in score_all(rows)}


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> str:
    """An agent of another name that always looks one step ahead."""
    monkeypatch.setitem(agents._TABLE, "always-one", ("lrta", "LRTA"))
    return "always-one"


def test_rows_say_what_agents_run_says() -> None:
    plan = make_plan("lrta:depth=3", trials=2)
    runs = run_plan(plan, workers=HERE)
    rows = list(runs)
    problems = [plan.courses[0].problem(task) for task in plan.courses[0].tasks]
    direct = [agents.run("lrta", problem, depth=3, trials=2) for problem in problems]
    assert [row.suboptimality for row in rows] == [one.suboptimality for one in direct]
    assert [row.expansions_per_move for row in rows] == [one.expansions_per_move for one in direct]
    for name in ("outcome", "moves", "scans", "max_scans", "learning_ops", "memory", "h_updates", "converged"):
        assert [getattr(row.result, name) for row in rows] == [getattr(one, name) for one in direct]
    assert [row.result.trials_run for row in rows] == [2] * 6
    assert all(timing.max >= timing.p99 >= timing.p50 > 0 for timing in runs.timings())


def test_a_score_gives_both_averages_and_an_interval_around_each() -> None:
    rows = run(make_plan("lrta:depth=3"))
    (score,) = score_all(rows)
    assert score.expansions_mean.value == pytest.approx(fmean(row.expansions_per_move or 0 for row in rows))
    expansions, moves = (sum(getattr(row.result, name) for row in rows) for name in ("expansions", "moves"))
    assert score.expansions_pooled.value == pytest.approx(expansions / moves)
    assert score.quality is not None
    assert score.quality.value == pytest.approx(fmean(row.suboptimality or 0 for row in rows))
    for part in (score.quality, score.expansions_mean, score.expansions_pooled):
        assert part.low < part.value < part.high


def test_a_cut_run_is_a_failure_and_never_a_cheap_run() -> None:
    found = scores_of("lrta:depth=1,2", "astar", max_moves=300)
    cut = found["lrta depth=1"]
    assert 0 < cut.failed < cut.problems == 6
    assert cut.failures == {"out of moves": cut.failed}
    assert (cut.quality, cut.fronts, cut.ratio_mean, cut.ratio_pooled) == (None, (), None, None)
    assert found["astar"].quality is not None
    assert found["astar"].ratio_mean is None  # a curve with a cut run is no curve


def test_rows_of_cut_runs_have_counts_and_no_quality() -> None:
    rows = run(make_plan("lrta:depth=1", max_moves=5))
    assert all(row.result.moves == 5 and row.result.expansions == 5 for row in rows)
    assert all(row.suboptimality is None and row.expansions_per_move is None for row in rows)
    (score,) = score_all(rows)
    assert score.quality_median == inf


def test_a_move_beyond_the_budget_disqualifies() -> None:
    found = scores_of("lrta:depth=1,9", "lss-lrta", limits=(50,))
    over = found["lrta depth=9"]
    assert over.disqualified
    assert over.failures == {"overrun": 6}
    assert (over.quality, over.fronts) == (None, ())
    assert not found["lrta depth=1"].disqualified
    assert found["lss-lrta lookahead=50"].worst_move <= 50


def test_standing_still_is_counted_and_shown() -> None:
    plan = make_plan("lrta", "astar", limits=(5,))
    runs = run_plan(plan, workers=HERE)
    walker, thinker = score_all(runs)
    still, moves = (sum(getattr(row.result, name) for row in runs if row.entry.agent == "astar") for name in NAMES)
    assert (walker.stays, thinker.stays) == (0.0, still / moves)
    assert thinker.stays > 0.5
    (table,) = find(plan, runs).tables()
    assert [row[table.columns.index("\nstays")] for row in table.rows[1:]] == ["0.0 %", f"{100 * still / moves:.1f} %"]


def test_a_budget_in_scans_binds_the_scans_of_every_move() -> None:
    rows = run(make_plan("lrta", "lss-lrta", limits=(60,), count="scans"))
    assert {row.entry.counted for row in rows} == {"scans"}
    assert all(score.worst_move <= 60 and not score.disqualified for score in score_all(rows))
    assert max(row.result.max_scans for row in rows) == max(score.worst_move for score in score_all(rows))


def test_a_depth_beyond_the_budget_is_no_part_of_the_curve_and_does_not_void_it() -> None:
    found = scores_of("lrta:depth=1,2,9", limits=(50,))
    assert found["lrta depth=9"].ratio_mean is None
    assert found["lrta depth=2"].ratio_mean == pytest.approx((1.0, 1.0, 1.0))


def test_always_depth_one_scores_exactly_one_against_the_curve_of_fixed_depths(policy: str) -> None:
    found = scores_of("lrta:depth=1..5", f"{policy}:depth=1")
    for score in (found["lrta depth=1"], found["always-one depth=1"]):
        assert score.ratio_mean is not None
        assert score.ratio_pooled is not None
        assert (score.ratio_mean.value, score.ratio_pooled.value) == (1.0, 1.0)
        assert score.ratio_mean == pytest.approx((1.0, 1.0, 1.0))
        assert score.ratio_pooled == pytest.approx((1.0, 1.0, 1.0))


def test_a_policy_whose_hard_runs_are_cut_gains_nothing_by_it(policy: str) -> None:
    plan = make_plan("lrta:depth=1..3", f"{policy}:depth=1")
    rows = run(plan)
    cut = [
        row._replace(result=row.result._replace(outcome="out of moves", moves=9, expansions=9))
        if row.entry.agent == policy and row.place.problem == 0
        else row
        for row in rows
    ]
    score = score_all(cut)[-1]
    assert score.failures == {"out of moves": 1}
    assert (score.quality, score.ratio_mean, score.ratio_pooled, score.fronts) == (None, None, None, ())


def test_without_depth_one_there_is_no_curve() -> None:
    assert all(score.ratio_mean is None for score in scores_of("lrta:depth=2..4").values())


def test_better_than_every_depth_is_marked_as_beyond_the_curve() -> None:
    found = scores_of("lrta:depth=1,2", "astar")
    assert found["astar"].beyond_curve
    assert not found["lrta depth=2"].beyond_curve


def test_the_fronts_hold_the_best_and_the_cheapest() -> None:
    found = scores_of("lrta:depth=1,4", "astar")
    assert found["lrta depth=1"].fronts == ("mean", "pooled")
    assert found["astar"].fronts == ("mean", "pooled")
    assert found["lrta depth=4"].fronts == ()


def test_differences_are_paired_and_those_to_oneself_are_zero() -> None:
    plan = make_plan("lrta:depth=1,3", "astar")
    rows = run(plan)
    own, other, best = score_all(rows, choose_baseline(plan.contenders, "lrta:depth=1"))
    assert own.difference == own.expansions_difference == (0.0, 0.0, 0.0)
    for score in (other, best):
        assert score.difference is not None
        assert score.quality is not None
        assert own.quality is not None
        assert score.difference.value == pytest.approx(score.quality.value - own.quality.value)
        assert score.difference.low <= score.difference.value <= score.difference.high


def test_a_cut_run_of_the_baseline_voids_all_differences_to_it() -> None:
    plan = make_plan("lrta:depth=1", "astar", max_moves=40)
    rows = run(plan)
    scores = score_all(rows, choose_baseline(plan.contenders, "lrta"))
    assert [(score.difference, score.expansions_difference) for score in scores] == [(None, None)] * 2


def test_the_baseline_is_taken_under_the_same_budget() -> None:
    plan = make_plan("lrta", "lss-lrta", limits=(10, 100))
    chosen = choose_baseline(plan.contenders, "lrta")
    assert all(one.budget == other.budget and other.agent == "lrta" for one, other in chosen.items())


@pytest.mark.parametrize(("text", "part"), [("astar", "none is 'astar'"), ("lrta", "more than one is 'lrta'")])
def test_a_baseline_must_be_one_of_the_contenders(text: str, part: str) -> None:
    with pytest.raises(InputError, match=part):
        choose_baseline(make_plan("lrta:depth=1,2").contenders, text)


def test_where_the_map_changes_the_cost_is_the_measure() -> None:
    rows = run(make_plan("lrta:depth=1,2", "astar", changes=(Change(2, (40, 40), False),)))
    scores = score_all(rows)
    assert {score.measure for score in scores} == {"cost"}
    assert scores[0].quality is not None
    assert scores[0].quality.value == pytest.approx(fmean(row.result.cost for row in rows[:6]))
    assert all(row.suboptimality is None for row in rows)
    assert scores[0].ratio_mean is None


def test_rows_of_different_problems_are_not_compared() -> None:
    rows = run(make_plan("lrta"))
    others = run(make_plan("astar", seed=1))
    with pytest.raises(InputError, match="not run on the same problems"):
        score_all(rows + others)
    with pytest.raises(InputError, match="no runs"):
        score_all([])
