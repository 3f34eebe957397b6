"""The summary of an evaluation and the comparison of two, by numbers worked out by hand."""

from typing import Any

import numpy as np
import pytest

from rt_gym import Evaluation, Grid, InputError, Problem
from rt_gym.bootstrap import estimate, resampled_medians, resampled_sums
from rt_gym.evaluation import COLUMNS

FIELD = Grid(np.ones((1, 30)))


def made(solved: list[bool], cost: list[float], expansions: list[int], **more: Any) -> Evaluation:
    """Return an evaluation of problems with an optimal cost of ten each."""
    n = len(solved)
    problems = tuple(Problem(FIELD, (k, 0), (k + 10, 0)) for k in range(n))
    columns = {name: np.zeros(n) for name in COLUMNS[4:]} | {
        "solved": np.array(solved),
        "cost": np.array(cost),
        "optimal": np.full(n, 10.0),
        "suboptimality": np.where(solved, np.array(cost) / 10, np.nan),
        "moves": np.array(cost, np.int64),
        "return": -np.array(cost),
        "expansions": np.array(expansions),
    }
    given: dict[str, Any] = {"max_moves": 100, "problems": problems} | more
    return Evaluation("RTPath-v0", "by hand", "", columns=columns, seconds=1.0, **given)


FIRST = made([True, True, False, True], [10, 20, 100, 30], [20, 20, 1000, 90])
SECOND = made([True, False, False, True], [20, 100, 100, 15], [20, 100, 100, 15])


def test_means_of_suboptimality_are_over_what_was_solved_and_the_rest_is_counted() -> None:
    summary = FIRST.summary
    assert (summary.problems, summary.unsolved) == (4, 1)
    assert summary.solved.value == 0.75
    assert summary.suboptimality.value == pytest.approx(2.0)
    assert summary.suboptimality_median.value == pytest.approx(2.0)
    assert summary.cost.value == pytest.approx(20.0)
    assert summary.episode_return.value == pytest.approx(-40.0)
    assert summary.suboptimality.low >= 1.0
    assert summary.suboptimality.high <= 3.0


def test_expansions_per_move_are_averaged_both_ways() -> None:
    assert FIRST.summary.expansions_mean.value == pytest.approx((2 + 1 + 10 + 3) / 4)
    assert FIRST.summary.expansions_pooled.value == pytest.approx(1130 / 160)


def test_an_unsolved_problem_voids_its_pair() -> None:
    found = FIRST.against(SECOND)
    assert (found.problems, found.both, found.only_first, found.only_second) == (4, 2, 1, 0)
    assert (found.better, found.worse) == (1, 1)
    assert found.solved.value == 0.25
    assert found.suboptimality.value == pytest.approx((-1.0 + 1.5) / 2)
    assert found.episode_return.value == pytest.approx((10 + 80 + 0 - 15) / 4)
    assert found.expansions_per_move.value == pytest.approx((1 + 0 + 9 + 2) / 4)
    assert "0.25 (-1 to 1.5) on 2 that both solved" in str(found)


def test_a_comparison_with_itself_is_zero() -> None:
    same = FIRST.against(FIRST)
    assert same.suboptimality == (0, 0, 0)
    assert (same.better, same.worse, same.both) == (0, 0, 3)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (made([True] * 3, [10] * 3, [0] * 3), "the same problems in the same order"),
        (made([True] * 4, [10] * 4, [0] * 4, problems=FIRST.problems[::-1]), "the same problems"),
        (made([True] * 4, [10] * 4, [0] * 4, max_moves=50), "the same limit of moves, not 100 and 50"),
        (None, "compared with another one"),
    ],
)
def test_pairs_that_are_none_are_refused(other: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        FIRST.against(other)


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no column 'price'; there are solved"):
        FIRST["price"]


def test_one_problem_has_no_interval() -> None:
    summary = made([True], [10], [5]).summary
    assert summary.suboptimality.value == 1.0
    assert np.isnan([summary.suboptimality.low, summary.suboptimality_median.high]).all()


def test_nothing_solved_has_no_suboptimality() -> None:
    summary = made([False] * 3, [9] * 3, [0] * 3).summary
    assert np.isnan(summary.suboptimality.value)
    assert np.isnan(summary.suboptimality_median.value)
    assert summary.solved.value == 0.0


def test_medians_are_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 8):
        values = rng.integers(4, size=n).astype(float)
        assert resampled_medians(values, 0)[0] == np.median(values)
    holes = np.array([3.0, np.nan, 1.0, np.nan])
    assert resampled_medians(holes, 0)[0] == 2.0
    assert np.nanmin(resampled_medians(holes, 0)) == 1.0


def test_an_interval_covers_what_resampled_means_do() -> None:
    values = np.random.default_rng(1).exponential(size=200)
    sums = resampled_sums(np.stack([values, np.ones(200)], axis=1), 0)
    found = estimate(sums[:, 0] / sums[:, 1], 200)
    spread = values.std() / np.sqrt(200)
    assert found.value == pytest.approx(values.mean())
    assert (found.high - found.low) / (2 * 1.96 * spread) == pytest.approx(1.0, abs=0.1)
