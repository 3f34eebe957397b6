"""Trees that were worked out on paper.

No expected value here was read off a run: the comments are the derivations. Entropies are in bits and times the weight;
E(n, e) stands for the expected errors of a leaf of weight n with e training errors, at the default confidence unless
said otherwise.
"""

from typing import Any

import numpy as np
import pytest

from training.j48 import J48Classifier

pytestmark = pytest.mark.plain

NAN = float("nan")


def rows(*groups: tuple[int, float, str]) -> tuple[list[list[float]], list[str]]:
    """Return the rows of a single feature from (how many, value, class)."""
    return (
        [[value] for count, value, _ in groups for _ in range(count)],
        [label for count, _, label in groups for _ in range(count)],
    )


def grown(X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> J48Classifier:
    return J48Classifier(**parameters).fit(X, y, sample_weight)


def lines(tree: J48Classifier, *names: str) -> list[str]:
    """Return the branches as they are printed."""
    return tree.export_text(list(names) or ["x"]).splitlines()[3:-4]


def test_a_threshold_between_two_classes_is_the_largest_value_below_the_midpoint() -> None:
    # N = 4, 2 + 2: entropy 4. Cutting at 2.5 saves all of it; 3 candidates cost log2(3) / 4 = 0.40 of a gain of 1.
    # E(2, 0) = 2 (1 - sqrt(1/4)) = 1 on both sides, against E(4, 2) = 3.07 as a leaf or with one branch for all.
    tree = grown([[1], [2], [3], [4]], list("aabb"), min_num_obj=1)
    assert lines(tree) == ["x <= 2: a (2.0)", "x > 2: b (2.0)"]
    assert lines(grown([[1], [2], [3], [4]], list("aabb"), min_num_obj=1, split_point_actual_value=False)) == [
        "x <= 2.5: a (2.0)",
        "x > 2.5: b (2.0)",
    ]


def test_the_threshold_is_a_value_of_the_whole_training_set() -> None:
    # a: 4 rows (0, 0), b: 4 rows (0, 10), c: 8 rows (1, 4); N = 16, entropy 24.
    # u saves 16: gain 1, ratio 1. v saves 24 - 12 H(1/3) = 12.98 at either cut: gain 0.81 - log2(2) / 16 = 0.75, below
    # the average of 0.87. Below u <= 0 only v is left, with the midpoint 5; the c rows on the other side have a 4.
    X = [[0, 0]] * 4 + [[0, 10]] * 4 + [[1, 4]] * 8
    y = ["a"] * 4 + ["b"] * 4 + ["c"] * 8
    assert lines(grown(X, y), "u", "v") == [
        "u <= 0",
        "|   v <= 4: a (4.0)",
        "|   v > 4: b (4.0)",
        "u > 0: c (8.0)",
    ]


def test_a_branch_takes_the_place_of_its_parent() -> None:
    # 12 rows, 7 b and 5 a: entropy 11.76. x <= 0 saves 11.76 - 8 H(3/8) = 4.12, x <= 1 saves 11.76 - 7 H(1/7) -
    # 5 H(1/5) = 4.01, so that the first one is taken. The 8 rows on its right are cut once more at 1.
    X, y = rows((4, 0, "b"), (2, 1, "b"), (1, 1, "a"), (1, 2, "b"), (4, 2, "a"))
    # At x > 0: E(3, 1) + E(5, 1) = 2.04 + 2.25 = 4.29, as a leaf E(8, 3) = 4.45 > 4.39: it stays.
    assert lines(grown(X, y, subtree_raising=False)) == [
        "x <= 0: b (4.0)",
        "x > 0",
        "|   x <= 1: b (3.0/1.0)",
        "|   x > 1: a (5.0/1.0)",
    ]
    # At the root: E(4, 0) + 4.29 = 1.17 + 4.29 = 5.47, as a leaf E(12, 5) = 6.66, but with all rows in the right branch
    # E(7, 1) + E(5, 1) = 2.34 + 2.25 = 4.59.
    assert lines(grown(X, y)) == ["x <= 1: b (7.0/1.0)", "x > 1: a (5.0/1.0)"]


NOISY = rows((5, 0, "a"), (2, 1, "a"), (3, 1, "b"))


def test_less_confidence_prunes_more() -> None:
    # At 0.25: E(5, 0) + E(5, 2) = 1.21 + 3.22 = 4.43, and a leaf with E(10, 3) = 4.56 is more than 0.1 worse.
    assert lines(grown(*NOISY)) == ["x <= 0: a (5.0)", "x > 0: b (5.0/2.0)"]
    # At 0.05: E(5, 0) + E(5, 2) = 2.25 + 3.98 = 6.23, and E(10, 3) = 6.04.
    assert grown(*NOISY, confidence_factor=0.05).export_text().splitlines()[2] == ": a (10.0/3.0)"
    # Above 0.5 nothing is added: 2 errors against 3.
    assert len(lines(grown(*NOISY, confidence_factor=0.6))) == 2


def test_collapsing_removes_what_saves_no_errors() -> None:
    # 5 a | 3 a and 2 b: 2 errors with the cut and without.
    X, y = rows((5, 0, "a"), (3, 1, "a"), (2, 1, "b"))
    assert grown(X, y, unpruned=True).get_n_leaves() == 1
    assert grown(X, y, unpruned=True, collapse=False).get_n_leaves() == 2


def test_the_correction_counts_candidates() -> None:
    # a at 0..5, b at 6, and again a: (7 a, 1 b) has the entropy 8 H(1/8) = 4.35. With one row on each side at least
    # there are 7 candidates, best the cut at 5, which saves 4.35 - 2 = 2.35: 0.29 < log2(7) / 8 = 0.35.
    X, y = [[value] for value in range(8)], list("aaaaaaba")
    assert grown(X, y, min_num_obj=1, unpruned=True, collapse=False).get_n_leaves() == 1
    # Without the correction, the right side (b, a) is then cut as well.
    assert grown(X, y, min_num_obj=1, unpruned=True, collapse=False, mdl=False).get_n_leaves() == 3


@pytest.mark.parametrize(("count", "leaves"), [(500, 1), (520, 1), (601, 2), (700, 2)])
def test_a_large_node_may_cut_off_25_rows_whatever_the_minimum(count: int, leaves: int) -> None:
    # M = 30, two classes: 0.1 * 600 / 2 = 30. Up to there the smaller branch needs 30 rows, beyond it 25.
    X, y = rows((count - 26, 0, "a"), (26, 1, "b"))
    assert grown(X, y, min_num_obj=30).get_n_leaves() == leaves


def test_of_equal_features_the_first_is_tested() -> None:
    X = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 1, 0]])
    assert lines(grown(X, [0, 0, 1, 1]), "u", "v", "w")[0].startswith("u")
    assert lines(grown(X[:, [2, 0, 1]], [0, 0, 1, 1]), "w", "u", "v")[0].startswith("w")


def test_values_that_are_nearly_equal_are_not_separated() -> None:
    X, y = [[1.0], [1.0], [1.000009], [1.000009]], [0, 0, 1, 1]
    assert grown(X, y).get_n_leaves() == 1
    assert grown(np.array(X) * 2, y).get_n_leaves() == 2


def test_rows_without_a_value_go_both_ways() -> None:
    # 3 a | 3 b and one a without a value, of which half goes to each side: 3.5 a, and 0.5 a with 3 b.
    # E(3.5, 0) = 1.14; E(3.5, 0.5) = 0.5 + 1.14 + 0.5 (1.12 - 1.14) = 1.63; a leaf has E(7, 3) = 4.36.
    X, y = rows((3, 1, "a"), (3, 5, "b"), (1, NAN, "a"))
    tree = grown(X, y)
    assert lines(tree) == ["x <= 1: a (3.5)", "x > 1: b (3.5/0.5)"]
    # Half of (1, 0) and half of (0.5 / 3.5, 3 / 3.5).
    assert tree.predict_proba([[NAN]]) == pytest.approx(np.array([[4 / 7, 3 / 7]]))
    assert tree.predict([[NAN], [1], [5]]).tolist() == ["a", "a", "b"]
    tree.set_params(laplace=True)
    assert tree.predict_proba([[1]]) == pytest.approx(np.array([[4.5 / 5.5, 1 / 5.5]]))


def test_weights_count_in_all_sums() -> None:
    # 2 + 2 rows of weight 1.5 and 3: 3 a | 6 b.
    X, y = rows((2, 1, "a"), (2, 5, "b"))
    assert lines(grown(X, y, [1.5, 1.5, 3, 3])) == ["x <= 1: a (3.0)", "x > 1: b (6.0)"]
    # A row of weight 0 is absent: its 2.5 is no threshold and its class unknown.
    tree = grown([*X, [2.5]], [*y, "c"], [1, 1, 1, 1, 0])
    assert lines(tree) == ["x <= 1: a (2.0)", "x > 1: b (2.0)"]
    assert tree.classes_.tolist() == ["a", "b"]


def test_equal_counts_go_to_the_class_that_sorts_first() -> None:
    assert grown([[1], [1], [1], [1]], list("baba")).predict([[1]]).tolist() == ["a"]


def test_one_class_makes_one_leaf() -> None:
    tree = grown([[1], [2], [3]], ["only"] * 3)
    assert tree.export_text().splitlines()[2] == ": only (3.0)"
    assert (tree.get_n_leaves(), tree.get_n_nodes(), tree.get_depth()) == (1, 1, 0)
    assert tree.predict_proba([[9]]).tolist() == [[1.0]]


def test_values_near_the_largest_number_are_cut_between() -> None:
    tree = grown([[1.5e308], [1.5e308], [1.7e308], [1.7e308]], [0, 0, 1, 1])
    assert tree.predict([[1.5e308], [1.7e308], [-1.7e308]]).tolist() == [0, 1, 0]
