"""A classifier as JSON: what is written is read back, and what was not written so is refused in one sentence."""

import copy
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_gym.errors import InputError
from training.j48 import J48Classifier

pytestmark = pytest.mark.plain

NAN = float("nan")
RANDOM = np.random.default_rng(7)
ROWS = RANDOM.integers(0, 9, (150, 3)).astype(float)
ROWS[RANDOM.random(ROWS.shape) < 0.1] = NAN
NUMBERS = np.where(RANDOM.random(150) < 0.2, 2, np.nan_to_num(ROWS[:, 0]) > 4).astype(int)
FITTED = J48Classifier(confidence_factor=0.4, laplace=True).fit(ROWS, NUMBERS)
# Five nodes: the root tests feature 0, its right child (node 2) feature 1.
SMALL = J48Classifier(min_num_obj=1, mdl=False).fit(
    [[0, 0]] * 4 + [[1, 0]] * 4 + [[1, 1]] * 4, [0] * 4 + [1] * 4 + [2] * 4
)


def written(**changes: Any) -> dict[str, Any]:
    """Return the small classifier with other entries; those of the tree as ``tree__name``."""
    data = copy.deepcopy(SMALL.to_json())
    for name, value in changes.items():
        if name.startswith("tree__"):
            data["tree"][name[6:]] = value
        else:
            data[name] = value
    return data


def test_the_small_tree_is_what_the_refusals_below_assume() -> None:
    tree = SMALL.to_json()["tree"]
    assert tree["feature"] == [0, -1, 1, -1, -1]
    assert (tree["left"], tree["right"]) == ([1, -1, 3, -1, -1], [2, -1, 4, -1, -1])


@pytest.mark.parametrize("labels", [NUMBERS, NUMBERS * 2.0, NUMBERS > 0, np.array(list("abc"))[NUMBERS]])
def test_what_is_written_is_read_back(labels: np.ndarray) -> None:
    fitted = J48Classifier(min_num_obj=np.int64(3), laplace=True).fit(ROWS, labels)
    read = J48Classifier.from_json(json.loads(json.dumps(fitted.to_json())))
    assert read.get_params() == fitted.get_params()
    assert read.classes_.tolist() == fitted.classes_.tolist()
    assert read.predict(ROWS).tolist() == fitted.predict(ROWS).tolist()
    assert np.array_equal(read.predict_proba(ROWS), fitted.predict_proba(ROWS))
    assert np.array_equal(read.feature_importances_, fitted.feature_importances_)
    assert read.export_text() == fitted.export_text()
    assert read.to_json() == fitted.to_json()


def test_feature_names_are_kept() -> None:
    fitted = J48Classifier().fit(ROWS, NUMBERS)
    fitted.feature_names_in_ = np.array(["cost", "time", "luck"], dtype=object)
    read = J48Classifier.from_json(fitted.to_json())
    assert read.feature_names_in_.tolist() == ["cost", "time", "luck"]
    assert "cost <= " in read.export_text()


def test_nodes_in_another_order_make_the_same_tree() -> None:
    mixed = {name: values[:] for name, values in SMALL.to_json()["tree"].items()}
    for values in mixed.values():
        values[1], values[4] = values[4], values[1]
    mixed["left"], mixed["right"] = [4, -1, 3, -1, -1], [2, -1, 1, -1, -1]
    read = J48Classifier.from_json(written(tree=mixed))
    assert read.to_json() == SMALL.to_json()


def test_labels_that_json_cannot_hold_are_not_written() -> None:
    fitted = J48Classifier().fit([[1], [2]], [1, 2])
    fitted.classes_ = np.array([b"a", b"b"])
    with pytest.raises(InputError, match="classes must be all texts"):
        fitted.to_json()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "a J48 classifier must be a mapping"),
        ([], "a J48 classifier must be a mapping"),
        ({}, "has the kind 'rt_gym.j48', not None"),
        (written(kind="sklearn"), "has the kind"),
        (written(version=2), "version 1 can be read, not 2"),
        (written(version=True), "version 1 can be read, not True"),
        (written(classes="abc"), "classes must be a list"),
        (written(classes=[]), "classes must be all"),
        (written(classes=[1, "a", 2.0]), "classes must be all"),
        (written(classes=[0, 2, 1]), "classes must be ascending and distinct"),
        (written(classes=[0, 1, 1]), "classes must be ascending and distinct"),
        (written(classes=[0, 1, 1 << 70]), "fit into 64 bits"),
        (written(classes=[0.0, 1.0, NAN]), "must be finite"),
        (written(classes=[0, 1]), "the counts of node 0 must be 2 numbers"),
        (written(features=0), "the number of features must be a whole number"),
        (written(features=1), "feature 1 is tested, but there are 1 features"),
        (written(feature_names=["a"]), "feature names must be 2 texts"),
        (written(feature_names="ab"), "feature_names must be a list"),
        (written(parameters=None), "the parameters must be a mapping"),
        (written(parameters={"min_num_obj": 2}), "the parameters must be collapse, confidence_factor, laplace"),
        (written(parameters=SMALL.get_params() | {"min_num_obj": 0}), "min_num_obj must be a whole number"),
        (written(tree=None), "the tree must be a mapping"),
        (written(tree={}), "feature must be a list, not None"),
        (written(tree__feature=[0, -1, 1, -1]), "the lists of a tree must be equally long"),
        (written(tree={name: [] for name in SMALL.tree_._fields}), "the lists of a tree must be equally long"),
        (written(tree__feature=[0.0, -1, 1, -1, -1]), "feature of node 0 must be a whole number"),
        (written(tree__feature=[0, -2, 1, -1, -1]), "feature of node 1 must be a whole number"),
        (written(tree__threshold=[0.5, 0, "1", 0, 0]), "threshold must be finite numbers, not '1'"),
        (written(tree__threshold=[0.5, 0, NAN, 0, 0]), "threshold must be finite numbers, not nan"),
        (written(tree__threshold=[0.5, 0, 10**400, 0, 0]), "threshold must be finite numbers"),
        (written(tree__share=[0.5, 0, 1.5, 0, 0]), "every share must be from 0 to 1"),
        (written(tree__counts=[[1, 1, 1], [1, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]]), "the counts of node 1"),
        (written(tree__counts=[[1, 1, 1]] * 4 + [[0, 0, 0]]), "with a positive and finite sum"),
        (written(tree__counts=[[1, 1, 1]] * 4 + [[2, -1, 0]]), "must be positive or 0"),
        (written(tree__counts=[[1e308, 1e308, 1e308]] * 5), "finite sum"),
        (written(tree__left=[1, -1, -1, -1, -1]), "node 2 has no child"),
        (written(tree__right=[2, -1, 5, -1, -1]), "node 2 has child 5, but an inner node needs two of the 5 nodes"),
        (written(tree__right=[2, -1, 0, -1, -1]), "node 0 is reached in two ways"),
        (written(tree__right=[2, -1, 2, -1, -1]), "node 2 is reached in two ways"),
        (written(tree__right=[2, -1, 1, -1, -1]), "node 1 is reached in two ways"),
        (written(tree__left=[1, 3, 3, -1, -1]), "node 1 tests no feature, so that it must have no children"),
        (written(tree__feature=[-1, -1, 1, -1, -1], tree__left=[-1, -1, 3, -1, -1], tree__right=[-1, -1, 4, -1, -1]),
         "node 1 is not reached from the root"),
    ],
)  # fmt: skip
def test_what_describes_no_tree_of_ours_is_refused(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        J48Classifier.from_json(data)
    assert "\n" not in str(caught.value)


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just([]) | st.just({})


@given(path=st.lists(st.integers(0, 10), min_size=1, max_size=4), value=values)
def test_whatever_stands_in_an_entry_is_read_or_refused(path: list[int], value: Any) -> None:
    data = written()
    place: Any = data
    for step in path:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = list(keys)[step % len(keys)]
        if not isinstance(place[key], dict | list) or not place[key] or step is path[-1]:
            break
        place = place[key]
    place[key] = value
    try:
        read = J48Classifier.from_json(data)
    except InputError:
        return
    assert np.isfinite(read.predict_proba(np.full((2, read.n_features_in_), NAN))).all()
