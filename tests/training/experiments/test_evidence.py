"""Estimates of means over problems, and the runs that they are made from."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from training.experiments.evidence import Evidence, bootstrap, exactly, mean, ratio, spearman
from training.experiments.frame import Entrant, entrant, sweep
from training.judge.tables import map_tables, score_table
from training.runs import Draw, Plan, Row, Runs, Workers, find_courses, run_plan

SHALLOW, DEEP = sweep("lrta", depth=(1, 20))


def test_a_mean_and_a_ratio_of_means_lie_within_their_intervals() -> None:
    rng = np.random.default_rng(0)
    small, large = rng.uniform(1, 2, 200), rng.uniform(10, 20, 200)
    found = mean(small)
    assert found is not None
    assert found.value == pytest.approx(small.mean())
    assert found.low < found.value < found.high
    times = ratio(large, small)
    assert times is not None
    assert times.value == pytest.approx(large.mean() / small.mean())
    assert 1 < times.low < times.value < times.high < 20


def test_numbers_that_belong_together_are_resampled_together() -> None:
    column = np.random.default_rng(0).uniform(1, 100, 50)
    assert ratio(3 * column, column) == pytest.approx((3, 3, 3))


@pytest.mark.parametrize(("factors", "value"), [((3, 2, 1), -1), ((1, 2, 3), 1), ((1, 3, 2), 0.5), ((1, 1, 1), 0)])
def test_a_trend_is_the_rank_correlation_with_the_order_of_the_columns(factors: tuple[int, ...], value: float) -> None:
    column = np.random.default_rng(0).uniform(1, 2, 50)
    assert bootstrap(spearman, *(factor * column for factor in factors)) == pytest.approx((value, value, value))


def test_one_failed_run_leaves_no_estimate() -> None:
    column = np.array([1.0, inf, 2.0])
    assert bootstrap(lambda m: m, column) is None
    assert exactly(column.max()) is None
    assert exactly(3.0) == (3, 3, 3)


def test_one_problem_alone_leaves_the_interval_unknown() -> None:
    found = mean(np.array([2.0]))
    assert found is not None
    assert found.value == 2
    assert np.isnan(found[1:]).all()


@pytest.fixture(scope="module")
def cut() -> Evidence:
    """LRTA* at two depths on five problems, of which a cap on moves cuts some at depth 1."""
    courses = find_courses(["rooms-64"], Draw(5, 50, 60))
    plan = Plan((SHALLOW.contender, DEEP.contender), tuple(courses), max_moves=100)
    return Evidence(run_plan(plan, workers=Workers(jobs=1)))


def of(evidence: Evidence, agent: Entrant) -> list[Row]:
    return [row for row in evidence.rows if row.entry == agent.entry]


def test_evidence_finds_the_numbers_of_a_contender(cut: Evidence) -> None:
    rows = of(cut, DEEP)
    for name, values in {
        "cost": [row.result.cost for row in rows],
        "optimal": [row.place.optimal for row in rows],
        "suboptimality": [row.suboptimality for row in rows],
    }.items():
        assert cut.numbers(DEEP, name).tolist() == values
    assert (cut.numbers(DEEP, "seconds") > 0).all()


def test_a_run_that_was_cut_is_never_a_cheap_one(cut: Evidence) -> None:
    solved = [row.solved for row in of(cut, SHALLOW)]
    assert 0 < sum(solved) < 5
    assert np.isfinite(cut.numbers(SHALLOW, "cost")).tolist() == solved
    assert mean(cut.numbers(SHALLOW, "cost")) is None


def test_evidence_takes_the_totals_of_all_trials() -> None:
    agent = entrant("lrta")
    courses = tuple(find_courses(["rooms-64"], Draw(2, 20, 40)))
    plans = (Plan((agent.contender,), courses, trials) for trials in (1, "converge"))
    first, convergence = (Evidence(run_plan(plan, workers=Workers(1))).numbers(agent, "cost") for plan in plans)
    assert (first < convergence).all()


def test_the_table_of_scores_counts_failures_and_gives_no_mean_for_them(cut: Evidence) -> None:
    table = score_table("Depths", cut.rows)
    one, twenty = table.rows
    solved = sum(row.solved for row in of(cut, SHALLOW))
    assert (one[0], one[1], one[-1]) == ("lrta depth=1", "-", f"{solved}/5")
    assert (twenty[0], twenty[-1]) == ("lrta depth=20", "5/5")
    assert float(twenty[1]) >= 1
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_table_of_scores_has_the_tail_beside_the_mean(cut: Evidence) -> None:
    table = score_table("Depths", cut.rows)
    names = [" ".join(column.split()) for column in table.columns]
    line = dict(zip(names, table.rows[1], strict=True))
    worst = max(row.suboptimality or inf for row in of(cut, DEEP))
    assert line["subopt. 95th"] == line["subopt. worst"] == f"{worst:.3f}"
    assert "guard" not in names


def test_the_table_of_scores_tells_of_guards_and_outlines() -> None:
    guided, refined = entrant("pdb-lrta", level=1, patience=1), entrant("pr-lrts")
    courses = find_courses(["rooms-64"], Draw(3, 40, 60))
    runs = run_plan(Plan((DEEP.contender, guided.contender, refined.contender), tuple(courses)), workers=Workers(1))
    plain, guided_runs, refined_runs = runs.batches
    told = {"guarded": [0, 2, 3], "guarded_expansions": [0, 5, 5], "expansions": [10, 45, 45]}
    columns = guided_runs.columns | {name: np.array(values) for name, values in told.items()}
    acted = Runs((plain, replace(guided_runs, columns=columns), refined_runs))
    unguarded, guarded, outlined = score_table("Guards", acted).rows
    assert unguarded[-1] == ""
    assert guarded[-1] == "2 problems, 5 times, 10.0 %"
    assert outlined[0].endswith(" †")


def test_every_map_has_a_table_of_its_own() -> None:
    courses = tuple(find_courses(["rooms-64", "random-48"], Draw(3, 20, 40)))
    runs = run_plan(Plan((DEEP.contender, SHALLOW.contender), courses), workers=Workers(1))
    tables = map_tables("first, ", runs)
    assert [table.title for table in tables] == ["first, rooms-64", "first, random-48"]
    assert [row[-1] for table in tables for row in table.rows] == ["3/3"] * 4
    assert map_tables("", Runs.of(row for row in runs if row.place.map == "rooms-64")) == []
