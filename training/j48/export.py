"""A tree for others: the text that Weka prints, Python source, and data that JSON can hold, and back.

What is read is believed only after it was checked.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from keyword import iskeyword
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted, whole
from training.j48 import NONE, Tree, depth, first_maximum, greater, renumbered, total, training_errors

KIND, VERSION = "rt_gym.j48", 1
_LARGEST = (1 << 31) - 1
RULE = "-" * 18
DEEPEST = 98  # Python allows a hundred levels of indentation; the function and its last return take two


class Branch(NamedTuple):
    """One of the two ways out of a node."""

    node: int
    child: int
    level: int


def branches(tree: Tree) -> Iterator[Branch]:
    """Yield the branches of a tree as they are read: depth first, the left one of a node before the right one."""
    todo = _both(tree, 0, 0)
    while todo:
        branch = todo.pop()
        yield branch
        todo += _both(tree, branch.child, branch.level + 1)


def _both(tree: Tree, node: int, level: int) -> list[Branch]:
    children = int(tree.right[node]), int(tree.left[node])
    return [Branch(node, child, level) for child in children if child != NONE]


def weka_text(tree: Tree, names: Sequence[str], labels: Sequence[Any], pruned: bool) -> str:
    """Return a tree as Weka prints it, with title and size."""
    lines = [f"J48 {'pruned' if pruned else 'unpruned'} tree", RULE]
    if tree.feature[0] == NONE:
        lines.append(_leaf(tree, 0, labels))
    else:
        lines.append("")
        lines += [_branch_line(tree, branch, names, labels) for branch in branches(tree)]
    leaves = int((tree.feature == NONE).sum())
    lines += ["", f"Number of Leaves  : \t{leaves}", "", f"Size of the tree : \t{tree.feature.size}", ""]
    return "\n".join(lines)


def _branch_line(tree: Tree, branch: Branch, names: Sequence[str], labels: Sequence[Any]) -> str:
    node, child, level = branch
    sign = "<=" if child == tree.left[node] else ">"
    test = f"{names[tree.feature[node]]} {sign} {six_decimals(float(tree.threshold[node]))}"
    return "|   " * level + test + (_leaf(tree, child, labels) if tree.feature[child] == NONE else "")


def _leaf(tree: Tree, node: int, labels: Sequence[Any]) -> str:
    counts = tree.counts[node]
    errors = training_errors(counts)
    shown = f"/{two_decimals(errors)}" if greater(errors, 0.0) else ""
    return f": {labels[first_maximum(counts)]} ({two_decimals(total(counts))}{shown})"


def six_decimals(value: float) -> str:
    """Return a number with at most six decimals, halves rounded away from zero."""
    scaled = abs(value) * 1e6
    if scaled >= 2.0**63:
        return java_double(value)
    units, rest = divmod(math.floor(scaled + 0.5), 10**6)
    sign = "-" if value < 0 and (units or rest) else ""
    return f"{sign}{units}.{rest:06}".rstrip("0").rstrip(".")


def two_decimals(value: float) -> str:
    """Return a weight as Java shows it, rounded to two decimals."""
    return java_double(math.floor(value * 100 + 0.5) / 100)


def java_double(value: float) -> str:
    """Return a number as Java shows it: like Python, but with another form for the small and the large."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    first, *others = map(str, digits)
    return f"{'-' * sign}{first}.{''.join(others) or '0'}E{len(digits) - 1 + int(exponent)}"


def python_source(tree: Tree, names: Sequence[str], labels: Sequence[Any], function_name: str) -> str:
    """Return a Python function that takes the features one by one and returns the class; it knows no missing values."""
    for name in [function_name, *names]:
        if not name.isidentifier() or iskeyword(name):
            raise InputError(f"{quoted(name)} cannot be a name in Python source: use letters, digits and underscores")
    if len(set(names)) < len(names):
        raise InputError(f"two features have the same name in {quoted(names)}: arguments need distinct ones")
    if depth(tree) > DEEPEST:
        raise InputError(
            f"the tree has {depth(tree)} levels, and Python source can be nested {DEEPEST} levels deep only"
        )
    lines = [f"def {function_name}({', '.join(names)}):"]
    if tree.feature[0] == NONE:
        lines.append(_return(tree, 0, labels, 1))
    for node, child, level in branches(tree):
        test = f"if {names[tree.feature[node]]} <= {float(tree.threshold[node])!r}:"
        lines.append("    " * (level + 1) + (test if child == tree.left[node] else "else:"))
        if tree.feature[child] == NONE:
            lines.append(_return(tree, child, labels, level + 2))
    return "\n".join([*lines, ""])


def _return(tree: Tree, node: int, labels: Sequence[Any], level: int) -> str:
    return f"{'    ' * level}return {labels[first_maximum(tree.counts[node])]!r}"


class Stored(NamedTuple):
    """What makes a fitted classifier.

    Attributes:
        parameters: those of the estimator.
        classes: the labels, ascending.
        features: how many columns there are.
        feature_names: their names, None if they have none.
        tree: the tree.
    """

    parameters: dict[str, Any]
    classes: NDArray[Any]
    features: int
    feature_names: list[str] | None
    tree: Tree


def to_json(stored: Stored) -> dict[str, Any]:
    """Return a classifier as plain lists and numbers."""
    labels = stored.classes.tolist()
    _check_labels(labels)
    return {
        "kind": KIND,
        "version": VERSION,
        "parameters": dict(stored.parameters),
        "classes": labels,
        "features": stored.features,
        "feature_names": stored.feature_names,
        "tree": {name: array.tolist() for name, array in stored.tree._asdict().items()},
    }


def from_json(data: Any) -> Stored:
    """Return the parts of a classifier.

    Raises:
        InputError: if ``data`` was not made by ``to_json`` of this version, or describes no tree.
    """
    data = _mapping(data, "a J48 classifier")
    if data.get("kind") != KIND:
        raise InputError(f"a J48 classifier has the kind {KIND!r}, not {quoted(data.get('kind'))}")
    if type(data.get("version")) is not int or data["version"] != VERSION:
        raise InputError(f"J48 version {VERSION} can be read, not {quoted(data.get('version'))}")
    labels = _check_labels(_list(data, "classes"))
    features = whole("the number of features", data.get("features"), 1, _LARGEST)
    names = data.get("feature_names")
    if names is not None:
        check_names(_list(data, "feature_names"), features)
    tree = _tree(_mapping(data.get("tree"), "the tree"), features, len(labels))
    parameters = dict(_mapping(data.get("parameters"), "the parameters"))
    return Stored(parameters, np.array(labels), features, names, tree)


def check_names(names: list[Any], features: int) -> list[str]:
    """Return feature names that must be as many texts as there are features."""
    if len(names) != features or not all(isinstance(name, str) for name in names):
        raise InputError(f"feature names must be {features} texts, one per feature, not {quoted(names)}")
    return names


def _mapping(data: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise InputError(f"{what} must be a mapping of names to values, not {quoted(data)}")
    return data


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(data.get(name), list):
        raise InputError(f"{name} must be a list, not {quoted(data.get(name))}")
    return data[name]


def _check_labels(labels: list[Any]) -> list[Any]:
    """Return class labels that must be ascending and of one kind, such as JSON can hold."""
    kinds = {type(label) for label in labels}
    if len(kinds) != 1 or not kinds <= {bool, int, float, str}:
        raise InputError(
            f"classes must be all texts, all whole numbers, all numbers or all truths, not {quoted(labels)}"
        )
    if not all(abs(label) < 1 << 63 for label in labels if isinstance(label, int | float)):
        raise InputError(f"classes that are numbers must be finite and fit into 64 bits, not {quoted(labels)}")
    if not all(a < b for a, b in pairwise(labels)):
        raise InputError(f"classes must be ascending and distinct, not {quoted(labels)}")
    return labels


def _tree(data: Mapping[str, Any], features: int, classes: int) -> Tree:
    feature, left, right = (_whole_numbers(data, name) for name in ("feature", "left", "right"))
    threshold, share = (_numbers(_list(data, name), name) for name in ("threshold", "share"))
    rows = _list(data, "counts")
    for node, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != classes:
            raise InputError(f"the counts of node {node} must be {classes} numbers, one per class, not {quoted(row)}")
    counts = _numbers([value for row in rows for value in row], "counts").reshape(len(rows), classes)
    tree = Tree(feature, threshold, left, right, share, counts)
    sizes = {name: len(array) for name, array in tree._asdict().items()}
    if len(set(sizes.values())) != 1 or not feature.size:
        raise InputError(f"the lists of a tree must be equally long, one entry per node, not {sizes}")
    _check_values(tree, features)
    _check_shape(tree)
    return renumbered(tree)


def _whole_numbers(data: Mapping[str, Any], name: str) -> NDArray[np.int32]:
    values = _list(data, name)
    return np.array([whole(f"{name} of node {i}", value, NONE, _LARGEST) for i, value in enumerate(values)], np.int32)


def _numbers(values: list[Any], name: str) -> NDArray[np.float64]:
    for value in values:
        if type(value) not in (int, float) or not abs(value) < math.inf or abs(value) > 1.7e308:
            raise InputError(f"{name} must be finite numbers, not {quoted(value)}")
    return np.array(values, np.float64)


def _check_values(tree: Tree, features: int) -> None:
    if tree.feature.max() >= features:
        raise InputError(f"feature {tree.feature.max()} is tested, but there are {features} features, from 0")
    with np.errstate(over="ignore"):
        weights = tree.counts.sum(axis=1)
    if (tree.counts < 0).any() or not ((weights > 0) & (weights < np.inf)).all():
        raise InputError("the counts of every node must be positive or 0, with a positive and finite sum")
    if not ((tree.share >= 0) & (tree.share <= 1)).all():
        raise InputError("every share must be from 0 to 1")


def _check_shape(tree: Tree) -> None:
    """Make sure that every node is reached from the root, and in one way only."""
    nodes = tree.feature.size
    reached = np.zeros(nodes, np.bool_)
    todo = [0]
    while todo:
        node = todo.pop()
        if reached[node]:
            raise InputError(f"node {node} is reached in two ways: a tree has no cycles and no shared branches")
        reached[node] = True
        todo += _checked_children(tree, node)
    if not reached.all():
        raise InputError(f"node {int(np.argmin(reached))} is not reached from the root")


def _checked_children(tree: Tree, node: int) -> list[int]:
    children, nodes = (int(tree.left[node]), int(tree.right[node])), tree.feature.size
    if tree.feature[node] == NONE:
        if children != (NONE, NONE):
            raise InputError(f"node {node} tests no feature, so that it must have no children, not {children}")
        return []
    for child in children:
        if not 0 <= child < nodes:
            missing = "has no child" if child == NONE else f"has child {child}"
            raise InputError(f"node {node} {missing}, but an inner node needs two of the {nodes} nodes, from 0")
    return list(children)
