"""The learner against a second reading of the rules in plain Python, on small random training sets."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import plain_j48
from training.j48 import NONE, J48Classifier, Tree
from training.j48.growth import confidence_limits, extra_errors

pytestmark = pytest.mark.plain

MISSING = float("nan")


class Case(NamedTuple):
    values: np.ndarray
    labels: np.ndarray
    weights: np.ndarray


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a training set with ties, near ties, mirrored columns, noise, missing values and weights."""
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    rows, columns, classes = draw(st.integers(1, 45)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    values = random.integers(0, draw(st.integers(2, 12)), (rows, columns)).astype(float)
    if draw(st.booleans()):
        values += 4e-6 * random.integers(0, 4, values.shape)
    if draw(st.booleans()):
        values = np.column_stack([values, values[:, 0], -values[:, 0]])
    rule = (values[:, 0] > values[:, -1]).astype(int) + (values[:, 0] % 2 < 1)
    noise = random.random(rows) < draw(st.sampled_from([0.1, 0.3, 0.6]))
    labels = np.where(noise, random.integers(0, classes, rows), rule % classes)
    values[random.random(values.shape) < draw(st.sampled_from([0.0, 0.05, 0.3]))] = MISSING
    weights = random.choice(draw(st.sampled_from([[1.0], [0.25, 0.5, 1.0, 2.0, 3.0]])), rows)
    return Case(values, labels, weights)


rules = st.fixed_dictionaries(
    {
        "confidence_factor": st.sampled_from([0.05, 0.25, 0.4, 0.5, 0.7]),
        "min_num_obj": st.integers(1, 3),
        "unpruned": st.sampled_from([False, False, False, True]),
        "subtree_raising": st.sampled_from([True, True, True, False]),
        "collapse": st.booleans(),
        "mdl": st.booleans(),
        "split_point_actual_value": st.booleans(),
    }
)


def fit_both(case: Case, parameters: dict[str, Any]) -> tuple[J48Classifier, plain_j48.Node]:
    ours = J48Classifier(**parameters).fit(*case)
    numbers = np.searchsorted(ours.classes_, case.labels).tolist()
    settings = plain_j48.Rules(classes=len(ours.classes_), **parameters)
    return ours, plain_j48.fit(case.values.tolist(), numbers, case.weights.tolist(), settings)


def assert_same(tree: Tree, at: int, node: plain_j48.Node) -> None:
    assert tree.counts[at] == pytest.approx(node.counts, abs=1e-9)
    test = node.test
    if test is None:
        assert (tree.feature[at], tree.left[at], tree.right[at]) == (NONE, NONE, NONE)
        return
    assert (tree.feature[at], tree.threshold[at]) == (test.feature, test.threshold)
    assert tree.share[at] == pytest.approx(test.share)
    assert_same(tree, tree.left[at], test.left)
    assert_same(tree, tree.right[at], test.right)


@given(case=cases(), parameters=rules)
def test_the_tree_is_the_same_node_by_node(case: Case, parameters: dict[str, Any]) -> None:
    ours, reference = fit_both(case, parameters)
    assert_same(ours.tree_, 0, reference)


@given(case=cases(), parameters=rules, seed=st.integers(0, 1 << 32), laplace=st.booleans())
def test_the_probabilities_of_unseen_rows_are_the_same(
    case: Case, parameters: dict[str, Any], seed: int, laplace: bool
) -> None:
    ours, reference = fit_both(case, parameters)
    random = np.random.default_rng(seed)
    unseen = random.random((10, case.values.shape[1])) * 12 - 1
    unseen[random.random(unseen.shape) < 0.3] = MISSING
    plain = [plain_j48.probabilities(reference, row) for row in unseen.tolist()]
    assert ours.predict(unseen).tolist() == [ours.classes_[plain_j48.first_maximum(parts)] for parts in plain]
    smoothed = [plain_j48.probabilities(reference, row, laplace) for row in unseen.tolist()]
    assert ours.set_params(laplace=laplace).predict_proba(unseen) == pytest.approx(np.array(smoothed))


@given(case=cases())
def test_the_order_of_the_rows_does_not_matter(case: Case) -> None:
    shuffle = np.random.default_rng(0).permutation(len(case.labels))
    ours, other = J48Classifier().fit(*case), J48Classifier().fit(*(part[shuffle] for part in case))
    assert ours.tree_.feature.tolist() == other.tree_.feature.tolist()
    assert ours.tree_.threshold.tolist() == other.tree_.threshold.tolist()
    assert ours.tree_.counts == pytest.approx(other.tree_.counts)


@given(n=st.floats(0.01, 1e6), part=st.floats(0, 1), confidence=st.sampled_from([1e-6, 0.05, 0.25, 0.5, 0.51, 0.9]))
def test_extra_errors_are_the_same(n: float, part: float, confidence: float) -> None:
    expected = plain_j48.extra_errors(n, n * part, confidence)
    assert extra_errors(n, n * part, *confidence_limits(confidence)) == pytest.approx(expected, rel=1e-6, abs=1e-6)
