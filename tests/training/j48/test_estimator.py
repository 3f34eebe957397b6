"""The classifier among scikit-learn's: its checks, its refusals, its arrays."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from rt_gym.errors import InputError
from training.j48 import NONE, J48Classifier

NAN, INF = float("nan"), float("inf")
ROWS, LABELS = [[1.0], [1.0], [2.0], [2.0]], [0, 0, 1, 1]


# None of the checks contradicts Weka's rules, so none is expected to fail.
@parametrize_with_checks([J48Classifier()])
def test_the_checks_of_scikit_learn(estimator: J48Classifier, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, 1e-50, NAN, "0.25", None, True])
def test_a_confidence_must_be_between_0_and_1(value: Any) -> None:
    with pytest.raises(InputError, match="confidence_factor must be a number above 0 and below 1"):
        J48Classifier(confidence_factor=value).fit(ROWS, LABELS)


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, True])
def test_a_minimum_must_be_a_whole_number_of_at_least_1(value: Any) -> None:
    with pytest.raises(InputError, match="min_num_obj must be a whole number of at least 1"):
        J48Classifier(min_num_obj=value).fit(ROWS, LABELS)


@pytest.mark.parametrize("name", sorted(set(J48Classifier().get_params()) - {"confidence_factor", "min_num_obj"}))
def test_a_switch_must_be_true_or_false(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be True or False, not 1"):
        J48Classifier(**{name: 1}).fit(ROWS, LABELS)


@pytest.mark.parametrize(
    ("rows", "labels", "weights", "message"),
    [
        ([], [], None, "Expected 2D array"),
        (np.empty((0, 2)), [], None, "0 sample"),
        (np.empty((4, 0)), LABELS, None, "0 feature"),
        ([[1.0], [2.0]], LABELS, None, "inconsistent numbers of samples"),
        ([[1.0], [INF], [2.0], [2.0]], LABELS, None, "row 1 of X is infinite in column 0"),
        ([[1.0], [-INF], [2.0], [2.0]], LABELS, None, "row 1 of X is infinite in column 0"),
        ([["a"], ["b"], ["c"], ["d"]], LABELS, None, "could not convert string"),
        (ROWS, [0, 0, 1, NAN], None, "NaN"),
        (ROWS, [0.5, 0.1, 1.7, 3.3], None, "Unknown label type"),
        (ROWS, LABELS, [1, 1, -1, 1], "Negative values"),
        (ROWS, LABELS, [1, 1, NAN, 1], "NaN"),
        (ROWS, LABELS, [1, 1], "sample_weight"),
        (ROWS, LABELS, [0, 0, 0, 0], "weight"),
        (ROWS, LABELS, [1e308] * 4, "sample_weight must have a positive and finite sum, not inf"),
    ],
)
def test_training_sets_that_make_no_sense_are_refused(rows: Any, labels: Any, weights: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        J48Classifier().fit(rows, labels, weights)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "message"), [([[1.0, 2.0]], "2 features"), ([[INF]], "infinite"), ([1.0], "Expected 2D array")]
)
def test_rows_that_do_not_fit_the_tree_are_refused(rows: Any, message: str) -> None:
    tree = J48Classifier().fit(ROWS, LABELS)
    with pytest.raises(InputError, match=message):
        tree.predict(rows)


@pytest.mark.parametrize("ask", ["get_n_leaves", "get_n_nodes", "get_depth", "export_text", "export_python", "to_json"])
def test_before_training_there_is_nothing_to_ask(ask: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(J48Classifier(), ask)()


def test_the_arrays_are_ready_for_kernels() -> None:
    tree = J48Classifier().fit(ROWS, LABELS).tree_
    assert [array.dtype.name for array in tree] == ["int32", "float64", "int32", "int32", "float64", "float64"]
    assert all(array.flags.c_contiguous for array in tree)
    assert [array.tolist() for array in tree] == [
        [0, NONE, NONE],
        [1.0, 0.0, 0.0],
        [1, NONE, NONE],
        [2, NONE, NONE],
        [0.5, 0.0, 0.0],
        [[2.0, 2.0], [2.0, 0.0], [0.0, 2.0]],
    ]


def test_importances_share_out_the_entropy_that_was_taken_away() -> None:
    # Three classes of 4 rows: entropy 12 log2(3). After the first test two of them are left together, with 8 bits that
    # the second test takes away.
    rows = [[0, 5, 0]] * 4 + [[0, 5, 1]] * 4 + [[1, 5, 1]] * 4
    tree = J48Classifier().fit(rows, [0] * 4 + [1] * 4 + [2] * 4)
    all_of_it = 12 * np.log2(3)
    first = int(tree.tree_.feature[0])
    expected = {first: (all_of_it - 8) / all_of_it, 2 - first: 8 / all_of_it, 1: 0.0}
    assert tree.feature_importances_ == pytest.approx(np.array([expected[i] for i in range(3)]))
    assert J48Classifier().fit(rows, [1] * 12).feature_importances_.tolist() == [0.0, 0.0, 0.0]


def test_a_fitted_classifier_can_be_pickled() -> None:
    tree = J48Classifier().fit(ROWS, LABELS)
    assert pickle.loads(pickle.dumps(tree)).export_text() == tree.export_text()


def test_a_tree_may_be_deeper_than_python_recurses() -> None:
    # Alternating classes: a cut saves most at an end, so that rows are split off one by one. Many more classes, each
    # with one row, keep the minimum weight of a branch at one row.
    rows = np.arange(1215)[:, None]
    labels = np.concatenate([np.arange(1100) % 2, np.arange(2, 117)])
    tree = J48Classifier(confidence_factor=0.6, min_num_obj=1, mdl=False, collapse=False).fit(rows, labels)
    assert tree.get_depth() > 1000
    assert tree.predict(rows).tolist() == labels.tolist()
    assert tree.export_text().count("\n") == tree.get_n_nodes() - 1 + 7
    assert J48Classifier.from_json(tree.to_json()).get_depth() == tree.get_depth()
