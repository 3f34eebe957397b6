"""Trees for readers: numbers as Weka prints them, and Python source that decides as the tree does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rt_gym.errors import InputError
from training.j48 import J48Classifier, Tree
from training.j48.export import java_double, python_source, six_decimals, two_decimals

pytestmark = pytest.mark.plain

RANDOM = np.random.default_rng(3)
ROWS = RANDOM.integers(-9, 9, (200, 3)) / 4
LABELS = np.where(ROWS[:, 0] > ROWS[:, 1], "it's", np.where(ROWS[:, 2] > 0, 'a "b"', "c\n"))


def right_chain(levels: int) -> Tree:
    """Return a tree of so many tests, each the right child of the one before; node 2 i is the i-th test."""
    size = 2 * levels + 1
    inner = np.arange(size) % 2 == 0
    inner[-1] = False
    numbers = np.arange(size, dtype=np.int32)
    return Tree(
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, numbers / 2.0, 0.0),
        left=np.where(inner, numbers + 1, -1).astype(np.int32),
        right=np.where(inner, numbers + 2, -1).astype(np.int32),
        share=np.where(inner, 0.5, 0.0),
        counts=np.column_stack([numbers % 4 + 1.0, np.full(size, 2.5)]),
    )


def compiled(source: str, name: str) -> Callable[..., Any]:
    place: dict[str, Any] = {}
    exec(source, place)
    return place[name]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2.0, "2"),
        (0.6, "0.6"),
        (-2.5, "-2.5"),
        (100.0, "100"),
        (0.1234564, "0.123456"),
        (0.1234568, "0.123457"),
        (-0.1234568, "-0.123457"),
        (1e-7, "0"),
        (-1e-7, "0"),
        (0.0000015, "0.000002"),
        (9007199254.5, "9007199254.5"),
        (1e13, "1.0E13"),
        (-1.25e300, "-1.25E300"),
    ],
)
def test_thresholds_have_at_most_six_decimals(value: float, shown: str) -> None:
    assert six_decimals(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (37.0, "37.0"),
        (994.4499, "994.45"),
        (0.005, "0.01"),
        (0.001, "0.0"),
        (1234567.0, "1234567.0"),
        (12345678.0, "1.2345678E7"),
        (20000000.0, "2.0E7"),
    ],
)
def test_weights_have_at_most_two_decimals(value: float, shown: str) -> None:
    assert two_decimals(value) == shown


def test_small_numbers_have_the_form_of_java() -> None:
    assert [java_double(value) for value in (0.0, 0.001, 0.00012, -1e-10)] == ["0.0", "0.001", "1.2E-4", "-1.0E-10"]


def test_the_text_names_the_features_and_says_whether_the_tree_was_pruned() -> None:
    tree = J48Classifier(unpruned=True).fit([[1, 7]] * 2 + [[2, 7]] * 2, [0, 0, 1, 1])
    assert tree.export_text(["cost", "time"]) == (
        "J48 unpruned tree\n------------------\n\ncost <= 1: 0 (2.0)\ncost > 1: 1 (2.0)\n\n"
        "Number of Leaves  : \t2\n\nSize of the tree : \t3\n"
    )
    assert "f0 <= 1: 0 (2.0)" in tree.export_text()


@pytest.mark.parametrize("names", [["one"], ["one", "two", "three", "four"], ["one", "two", 3]])
def test_names_that_do_not_fit_are_refused(names: list[Any]) -> None:
    tree = J48Classifier().fit(ROWS, LABELS)
    with pytest.raises(InputError, match="feature names must be 3 texts"):
        tree.export_text(names)


def test_the_source_decides_as_the_tree_does() -> None:
    tree = J48Classifier().fit(ROWS, LABELS)
    decide = compiled(tree.export_python(["u", "v", "w"], "decide"), "decide")
    rows = RANDOM.random((300, 3)) * 6 - 3
    assert tree.get_depth() > 3
    assert [decide(*row) for row in rows.tolist()] == tree.predict(rows).tolist()


def test_the_source_is_an_ordinary_function() -> None:
    tree = J48Classifier().fit([[1], [1], [2], [2]], [False, False, True, True])
    assert tree.export_python() == (
        "def classify(f0):\n    if f0 <= 1.0:\n        return False\n    else:\n        return True\n"
    )
    assert J48Classifier().fit([[1]], [5]).export_python() == "def classify(f0):\n    return 5\n"


@pytest.mark.parametrize("name", ["", "two words", "x); import os; (y", "lambda", "a\nb"])
def test_names_that_are_no_names_in_python_are_refused(name: str) -> None:
    tree = J48Classifier().fit([[1]], [5])
    with pytest.raises(InputError, match="cannot be a name in Python source"):
        tree.export_python([name])
    with pytest.raises(InputError, match="cannot be a name in Python source"):
        tree.export_python(function_name=name)


def test_equal_names_are_refused_as_arguments() -> None:
    with pytest.raises(InputError, match="two features have the same name"):
        J48Classifier().fit([[1, 2]], [5]).export_python(["a", "a"])


def test_the_deepest_source_compiles_and_deeper_trees_are_refused() -> None:
    decide = compiled(python_source(right_chain(98), ["x"], ["a", "b"], "decide"), "decide")
    assert [decide(value) for value in (-1, 1, 97, 98)] == ["b", "a", "a", "b"]
    with pytest.raises(InputError, match="the tree has 99 levels"):
        python_source(right_chain(99), ["x"], ["a", "b"], "decide")
