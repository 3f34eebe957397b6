"""Intervals, fronts, the ratio against a curve; the interquartile mean and the probability of improvement."""

import numpy as np
import pytest

from rt_gym import bootstrap
from training.judge.stats import (
    estimate,
    interquartile_mean,
    pareto_front,
    probability_of_improvement,
    ratio,
    resampled_sums,
)


def rows(*values: float) -> np.ndarray:
    return np.array([values])


def test_the_interval_of_a_mean_is_about_two_standard_errors_to_each_side() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, size=400)
    found = estimate(resampled_sums(values[:, None], seed=0)[:, 0] / 400, 400)
    error = values.std() / np.sqrt(400)
    assert found.value == pytest.approx(values.mean())
    assert (found.value - found.low, found.high - found.value) == pytest.approx((1.96 * error, 1.96 * error), rel=0.15)


def test_the_same_seed_gives_the_same_interval_whatever_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.random.default_rng(2).random((50, 3))
    whole = resampled_sums(columns, seed=7)
    assert np.array_equal(whole, resampled_sums(columns, seed=7))
    assert not np.array_equal(whole, resampled_sums(columns, seed=8))
    monkeypatch.setattr(bootstrap, "_ROOM", 500)
    assert resampled_sums(columns, seed=7) == pytest.approx(whole)


def test_pairing_takes_out_what_two_agents_have_in_common() -> None:
    hard = np.random.default_rng(3).exponential(100.0, size=200)
    sums = resampled_sums(np.stack([hard, hard + 1], axis=1), seed=0) / 200
    assert estimate(sums[:, 1] - sums[:, 0], 200) == pytest.approx((1.0, 1.0, 1.0))


def test_one_problem_leaves_the_interval_unknown() -> None:
    found = estimate(resampled_sums(np.array([[3.0]]), seed=0)[:, 0], 1)
    assert found.value == 3.0
    assert np.isnan(found.low)
    assert np.isnan(found.high)
    assert not found.excludes_zero


def test_the_front_is_what_nobody_beats() -> None:
    points = [(1.0, 9.0), (2.0, 5.0), (2.0, 6.0), (3.0, 5.0), (9.0, 1.0), (2.0, 5.0)]
    assert pareto_front(points) == [True, True, False, False, True, True]


WORK, REACHED = rows(1, 10, 100), rows(11, 3, 1.5)


@pytest.mark.parametrize(
    ("work", "reached", "expected"),
    [
        (1.0, 11.0, 1.0),  # the curve's own points score exactly 1
        (10.0, 3.0, 1.0),
        (100.0, 1.5, 1.0),
        (2.0, 3.0, 5.0),  # a fifth of the work for the same result
        (1.0, 1 + np.sqrt(10 * 2), np.sqrt(10)),  # halfway between two points, on logarithmic axes
        (2.0, 50.0, 0.5),  # worse than the cheapest point: that would have done
        (10.0, 1.2, 10.0),  # better than the best point: at least its work is saved
        (1.0, 1.0, 100.0),
    ],
)
def test_the_ratio_is_the_work_of_the_curve_over_that_of_the_policy(
    work: float, reached: float, expected: float
) -> None:
    found = ratio(WORK, REACHED, np.array([work]), np.array([reached]))
    assert found[0] == pytest.approx(expected, rel=1e-12)


def test_settings_that_another_beats_are_no_part_of_the_curve() -> None:
    work, reached = rows(20, 1, 100, 10), rows(4, 11, 1.5, 3)
    own = np.array([7.0]), np.array([2.0])
    assert ratio(work, reached, *own) == pytest.approx(ratio(WORK, REACHED, *own))


def test_many_rows_are_worked_out_as_each_alone() -> None:
    rng = np.random.default_rng(5)
    work, reached = rng.uniform(1, 100, (40, 6)), rng.uniform(1, 20, (40, 6))
    own_work, own = rng.uniform(1, 100, 40), rng.uniform(1, 25, 40)
    alone = [ratio(work[k : k + 1], reached[k : k + 1], own_work[k : k + 1], own[k : k + 1])[0] for k in range(40)]
    assert ratio(work, reached, own_work, own).tolist() == alone


def test_every_depth_of_a_monotone_curve_scores_exactly_one_against_it() -> None:
    rng = np.random.default_rng(6)
    work, reached = np.sort(rng.uniform(1, 900, (30, 8)), axis=1), -np.sort(-rng.uniform(1.01, 40, (30, 8)), axis=1)
    for depth in range(8):
        assert (ratio(work, reached, work[:, depth], reached[:, depth]) == 1.0).all()


def test_a_policy_without_any_work_has_an_infinite_ratio() -> None:
    assert ratio(WORK, REACHED, np.array([0.0]), np.array([2.0]))[0] == np.inf


def test_the_interquartile_mean_leaves_out_the_best_and_the_worst_quarter_of_all_tasks_together() -> None:
    scores = [np.array([0.0, 1.0, 2.0, 100.0]), np.array([3.0, 4.0, 5.0, -100.0])]
    found = interquartile_mean(scores)
    assert found.value == pytest.approx((1 + 2 + 3 + 4) / 4)
    assert found.low < found.value < found.high


def test_who_always_scores_higher_is_better_for_sure_and_equals_win_half() -> None:
    low, high = [np.arange(5.0), np.arange(3.0)], [np.arange(5.0) + 9, np.arange(4.0) + 9]
    assert tuple(probability_of_improvement(high, low)) == (1.0, 1.0, 1.0)
    assert probability_of_improvement(low, high).value == 0.0
    assert probability_of_improvement(low, low).value == 0.5


def test_tasks_count_alike_whatever_their_seeds() -> None:
    first, second = [np.array([1.0]), np.array([0.0] * 9)], [np.array([0.0]), np.array([1.0] * 9)]
    assert probability_of_improvement(first, second).value == 0.5


def test_the_interval_is_over_seeds_and_unknown_of_a_single_one() -> None:
    assert np.isnan(interquartile_mean([np.array([0.5])]).low)
    narrow, wide = (interquartile_mean([np.linspace(0, width, 8)]) for width in (0.1, 1.0))
    assert narrow.high - narrow.low < wide.high - wide.low
