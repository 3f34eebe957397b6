"""Claims and their verdicts, and the estimates behind them."""

from math import inf, nan

import numpy as np
import pytest

from training.experiments.evidence import Evidence, bootstrap, exactly, mean, ratio, score_table, trend
from training.experiments.frame import FAILS, HOLDS, UNDECIDED, Claim
from training.judge import Estimate
from training.runs import Allowance, Draw, Plan, Row, Workers, enlist_all, find_courses, run_plan

AT_LEAST, AT_MOST, BAND, EXACT = (50, inf), (-inf, -0.9), (0.85, 1.15), (1, 1)


@pytest.mark.parametrize(
    ("bar", "interval", "verdict"),
    [
        (AT_LEAST, (60, 90), HOLDS),
        (AT_LEAST, (50, 90), HOLDS),
        (AT_LEAST, (40, 90), UNDECIDED),
        (AT_LEAST, (40, 50), UNDECIDED),
        (AT_LEAST, (40, 49), FAILS),
        (AT_MOST, (-1, -0.95), HOLDS),
        (AT_MOST, (-1, -0.9), HOLDS),
        (AT_MOST, (-1, -0.8), UNDECIDED),
        (AT_MOST, (-0.89, -0.8), FAILS),
        (BAND, (0.9, 1.1), HOLDS),
        (BAND, (0.85, 1.15), HOLDS),
        (BAND, (0.8, 0.9), UNDECIDED),
        (BAND, (1.1, 1.2), UNDECIDED),
        (BAND, (0.5, 2), UNDECIDED),
        (BAND, (0.5, 0.8), FAILS),
        (BAND, (1.2, 2), FAILS),
        (EXACT, (1, 1), HOLDS),
        (EXACT, (0, 0), FAILS),
        (EXACT, (0.9, 1.1), UNDECIDED),
        (AT_LEAST, (nan, nan), UNDECIDED),
    ],
)
def test_a_claim_holds_if_the_whole_interval_is_within_the_bar_and_fails_if_none_of_it_is(
    bar: tuple[float, float], interval: tuple[float, float], verdict: str
) -> None:
    middle = sum(interval) / 2
    assert Claim("", "", Estimate(middle, *interval), *bar).verdict == verdict


@pytest.mark.parametrize("bar", [AT_LEAST, AT_MOST, BAND, EXACT])
def test_a_claim_about_runs_that_failed_is_undecided(bar: tuple[float, float]) -> None:
    assert Claim("", "", None, *bar).verdict == UNDECIDED


@pytest.mark.parametrize(
    ("bar", "text"),
    [(AT_LEAST, "at least 50"), (AT_MOST, "at most -0.9"), (BAND, "0.85 to 1.15"), (EXACT, "exactly 1")],
)
def test_a_bar_is_told_in_words(bar: tuple[float, float], text: str) -> None:
    assert Claim("", "", None, *bar).bar == text


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
    assert trend(factor * column for factor in factors) == pytest.approx((value, value, value))


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
    contenders = enlist_all(["lrta:depth=1,20"], [Allowance.of(None)])
    courses = find_courses(["rooms-64"], Draw(5, 50, 60))
    return Evidence(*run_plan(Plan(tuple(contenders), tuple(courses), max_moves=100), workers=Workers(jobs=1)))


def of(evidence: Evidence, label: str) -> list[Row]:
    return [row for row in evidence.rows if row.entry.label == label]


def test_evidence_finds_the_numbers_of_a_contender(cut: Evidence) -> None:
    rows = of(cut, "lrta depth=20")
    for name, values in {
        "cost": [row.result.cost for row in rows],
        "optimal": [row.place.optimal for row in rows],
        "suboptimality": [row.suboptimality for row in rows],
    }.items():
        assert cut.numbers("lrta depth=20", name).tolist() == values
    assert (cut.numbers("lrta depth=20", "seconds") > 0).all()


def test_a_run_that_was_cut_is_never_a_cheap_one(cut: Evidence) -> None:
    solved = [row.solved for row in of(cut, "lrta depth=1")]
    assert 0 < sum(solved) < 5
    assert np.isfinite(cut.numbers("lrta depth=1", "cost")).tolist() == solved
    assert mean(cut.numbers("lrta depth=1", "cost")) is None


def test_the_table_of_scores_counts_failures_and_gives_no_mean_for_them(cut: Evidence) -> None:
    table = score_table("Depths", cut.rows)
    one, twenty = table.rows
    solved = sum(row.solved for row in of(cut, "lrta depth=1"))
    assert (one[0], one[1], one[-1]) == ("lrta depth=1", "-", f"{solved}/5")
    assert (twenty[0], twenty[-1]) == ("lrta depth=20", "5/5")
    assert float(twenty[1]) >= 1
    assert all(len(row) == len(table.columns) for row in table.rows)
