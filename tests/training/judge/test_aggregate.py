"""The interquartile mean and the probability of improvement, by hand and by their intervals."""

import numpy as np
import pytest

from training.judge.aggregate import interquartile_mean, probability_of_improvement


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
