"""The tree learner of the depth-control paper: J48, exactly as Weka grows and prunes it.

Here are the rows of a node and the nodes of a tree, as flat arrays, and what is computed from them. They are of use
without scikit-learn, so the estimator is imported when it is asked for.

First rows: how a test sends them to its children, and how real numbers are compared. A row without a value of the
tested feature goes down both branches, in parts, so that a row has a weight of its own in every node. Growing keeps the
rows of a node sorted by each feature. Sorting is done once: dividing keeps the order. Weights are compared with a slack
nearly everywhere, as Weka does, so that rounding does not decide between equals.

Then trees: probabilities, depth, importances. Nodes are numbered from the root in depth-first order, left branches
first. A row goes left when its value is not above the threshold. The last part sends rows down a grown tree anew: what
a subtree becomes with other rows than its own.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel

if TYPE_CHECKING:
    from training.j48.estimator import J48Classifier

__all__ = ["J48Classifier"]


def __getattr__(name: str) -> Any:
    if name != "J48Classifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from training.j48.estimator import J48Classifier

    return J48Classifier


EPS = 1e-6  # the slack of comparisons
LEFT, RIGHT, UNKNOWN = 1, 2, 4  # bits: a row whose value is not known may go both ways


class TrainingSet(NamedTuple):
    """The training set.

    Attributes:
        values: float64[features, rows], NaN where a value is missing.
        label: int32[rows], the class of every row.
        weight: float64[rows].
        classes: how many classes there are.
    """

    values: NDArray[np.float64]
    label: NDArray[np.int32]
    weight: NDArray[np.float64]
    classes: int


class NodeRows(NamedTuple):
    """The rows of one node.

    Attributes:
        order: int32[features, rows here], the rows sorted by each feature, those without a value last.
        weight: float64[rows here], the weights here of the rows in ``order[0]``.
    """

    order: NDArray[np.int32]
    weight: NDArray[np.float64]


def all_rows(table: TrainingSet) -> NodeRows:
    """Return all rows of the training set."""
    order = np.argsort(table.values, axis=1, kind="stable").astype(np.int32)
    return NodeRows(order, table.weight[order[0]])


def divided(
    sample: NodeRows, column: NDArray[np.float64], threshold: float, side: NDArray[np.uint8]
) -> tuple[NodeRows, NodeRows, float]:
    """Return the rows that go left, those that go right, and the share of the known weight that goes left.

    ``side`` is a buffer, a byte per row of the training set.
    """
    lefts, rights, share = choose_sides(column, sample.order[0], sample.weight, threshold, side)
    features = len(sample.order)
    left = NodeRows(np.empty((features, lefts), np.int32), np.empty(lefts))
    right = NodeRows(np.empty((features, rights), np.int32), np.empty(rights))
    copy_side(sample, side, LEFT, share, left)
    copy_side(sample, side, RIGHT, 1.0 - share, right)
    return left, right, share


@kernel
def choose_sides(column, rows, weight, threshold, side):
    """Write to which sides the rows go; return how many go left, how many right, and the left share of the known."""
    left, right = 0.0, 0.0
    for i in range(rows.size):
        value = column[rows[i]]
        if value <= threshold:
            left += weight[i]
        elif value > threshold:
            right += weight[i]
    share = left / (left + right)
    unknown = UNKNOWN | (LEFT if share > EPS else 0) | (RIGHT if 1.0 - share > EPS else 0)
    lefts, rights = 0, 0
    for i in range(rows.size):
        value = column[rows[i]]
        bits = LEFT if value <= threshold else RIGHT if value > threshold else unknown
        side[rows[i]] = bits
        lefts += bits & LEFT
        rights += (bits & RIGHT) >> 1
    return lefts, rights, share


@kernel
def copy_side(sample, side, bit, share, out):
    """Copy the rows of one side in every order; those without a value carry a share of their weight."""
    for a in range(sample.order.shape[0]):
        rows, copied = sample.order[a], out.order[a]
        n = 0
        for i in range(rows.size):
            bits = side[rows[i]]
            if bits & bit:
                copied[n] = rows[i]
                if a == 0:
                    out.weight[n] = sample.weight[i] * share if bits & UNKNOWN else sample.weight[i]
                n += 1


@kernel(inline=True)
def greater(a, b):
    """Return whether ``a`` is clearly greater than ``b``."""
    return a - b > EPS


@kernel(inline=True)
def at_least(a, b):
    """Return whether ``a`` is greater than ``b`` or not clearly smaller."""
    return a > b - EPS or a >= b


@kernel(inline=True)
def equal(a, b):
    """Return whether two numbers differ by less than the slack."""
    return abs(a - b) < EPS


@kernel
def first_maximum(values):
    """Return the index of the first of the largest values, 0 if none is clearly above zero.

    A holder is replaced by what is clearly greater only: of near equals the first one wins.
    """
    best, held = np.int64(0), 0.0
    for i in range(values.size):
        if greater(values[i], held):
            best, held = np.int64(i), values[i]
    return best


@kernel
def total(values):
    """Return the sum of an array, added up from its beginning."""
    result = 0.0
    for i in range(values.size):
        result += values[i]
    return result


@kernel
def training_errors(counts):
    """Return the weight of all classes but the one that a leaf with these class weights stands for."""
    return total(counts) - counts[first_maximum(counts)]


NONE = -1  # in place of a feature at leaves, and of the children they do not have


class Tree(NamedTuple):
    """The nodes of a tree, ready for kernels.

    Attributes:
        feature: int32[n], the column that a node tests; -1 at leaves.
        threshold: float64[n], the largest value that goes left; 0 at leaves.
        left: int32[n], the child for smaller values; -1 at leaves.
        right: int32[n], the child for larger values; -1 at leaves.
        share: float64[n], the part of a row without a value that goes left; 0 at leaves.
        counts: float64[n, classes], the weight of the training rows of each class.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    share: NDArray[np.float64]
    counts: NDArray[np.float64]


def depth(tree: Tree) -> int:
    """Return the largest number of tests that a row may meet."""
    levels = np.zeros(tree.feature.size, np.int64)
    for node in np.flatnonzero(tree.feature != NONE):  # parents come before their children
        levels[[tree.left[node], tree.right[node]]] = levels[node] + 1
    return int(levels.max())


def renumbered(tree: Tree) -> Tree:
    """Return the nodes that are reached from the root, numbered in depth-first order."""
    order, todo = [], [0]
    while todo:
        node = todo.pop()
        order.append(node)
        if tree.feature[node] != NONE:
            todo += [tree.right[node], tree.left[node]]
    number = np.full(tree.feature.size + 1, NONE, np.int32)  # the last entry keeps "no child" as it is
    number[order] = np.arange(len(order))
    kept = Tree._make(array[order] for array in tree)
    return kept._replace(left=number[kept.left], right=number[kept.right])


def probabilities(tree: Tree, laplace: bool) -> NDArray[np.float64]:
    """Return the class probabilities of every node, with one more row of each class if ``laplace``."""
    return _parts(tree.counts + laplace)


def importances(tree: Tree, features: int) -> NDArray[np.float64]:
    """Return how much of the class entropy that the tree takes away is taken away by tests of each feature.

    A test takes away the entropy of its node minus those of its children, each times its weight. All together sum up to
    1; of a tree without tests all are 0.
    """
    inner = np.flatnonzero(tree.feature != NONE)
    bits = _entropies(tree.counts)
    gains = bits[inner] - bits[tree.left[inner]] - bits[tree.right[inner]]
    sums = np.bincount(tree.feature[inner], np.maximum(gains, 0.0), features)
    return sums / (sums.sum() or 1.0)


def _parts(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts / counts.sum(axis=1, keepdims=True)


def _entropies(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    parts = _parts(counts)
    logs = np.log2(parts, where=parts > 0, out=np.zeros_like(parts))
    return -(counts * logs).sum(axis=1)


@kernel
def add_probabilities(tree, leaves, values, node, weight, out):
    """Add the class probabilities of every row of ``values`` to ``out``, float64[rows, classes].

    Where the tested value is missing a row goes both ways, in parts. ``leaves`` has the probabilities of every node;
    ``node`` and ``weight`` are buffers for the branches that wait, an entry per node.
    """
    for i in range(values.shape[0]):
        node[0], weight[0] = 0, 1.0
        waiting = 1
        while waiting > 0:
            waiting -= 1
            at, part = node[waiting], weight[waiting]
            while tree.feature[at] != NONE:
                value = values[i, tree.feature[at]]
                if value <= tree.threshold[at]:
                    at = tree.left[at]
                elif value > tree.threshold[at]:
                    at = tree.right[at]
                else:
                    node[waiting], weight[waiting] = tree.right[at], part * (1.0 - tree.share[at])
                    waiting += 1
                    part *= tree.share[at]
                    at = tree.left[at]
            for c in range(leaves.shape[1]):
                out[i, c] += part * leaves[at, c]


@kernel
def fill_classes(probability, out):
    """Write the most probable class of every row of ``probability``, float64[n, classes]; of near equals the first."""
    for i in range(out.size):
        out[i] = first_maximum(probability[i])


class Group(NamedTuple):
    """The rows of a node in any order, and their weights there."""

    rows: NDArray[np.int32]
    weight: NDArray[np.float64]


class Trial(NamedTuple):
    """What a subtree would be with other rows.

    Attributes:
        counts: float64[nodes, classes], as in ``Tree``; of leaves only.
        share: float64[nodes], as in ``Tree``.
        visited: int64[nodes], the nodes of the subtree, parents before their children.
        stack: int64[nodes + 1, 3], branches that wait: node, begin and end of their rows.
    """

    counts: NDArray[np.float64]
    share: NDArray[np.float64]
    visited: NDArray[np.int64]
    stack: NDArray[np.int64]


def make_trial(tree: Tree) -> Trial:
    """Return the buffers for trials with any subtree of a tree."""
    nodes = tree.feature.size
    return Trial(
        counts=np.empty_like(tree.counts),
        share=np.empty(nodes),
        visited=np.empty(nodes, np.int64),
        stack=np.empty((nodes + 1, 3), np.int64),
    )


@kernel
def arrange(column, threshold, group, begin, end):
    """Order a range of rows: first those that go right, then those without a value, then those that go left.

    Returns:
        How many go right, and how many have no value.
    """
    rows, weight = group.rows, group.weight
    right, i, left = begin, begin, end
    while i < left:
        value = column[rows[i]]
        if value <= threshold:
            left -= 1
            rows[i], rows[left] = rows[left], rows[i]
            weight[i], weight[left] = weight[left], weight[i]
        else:
            if value > threshold:
                rows[i], rows[right] = rows[right], rows[i]
                weight[i], weight[right] = weight[right], weight[i]
                right += 1
            i += 1
    return right - begin, left - right


@kernel
def send_down(tree, table, top, buffer, size, trial):
    """Send the first ``size`` rows of ``buffer`` down a subtree and note in ``trial`` what that makes of it.

    A row that goes both ways is copied to the end of ``buffer``.

    Returns:
        How many nodes were visited, or NONE if the buffer is too short.
    """
    rows, weight, stack = buffer.rows, buffer.weight, trial.stack
    stack[0, 0], stack[0, 1], stack[0, 2] = top, 0, size
    waiting, visited = 1, 0
    while waiting > 0:
        waiting -= 1
        node, begin, end = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        trial.visited[visited] = node
        visited += 1
        feature = tree.feature[node]
        if feature == NONE:
            trial.counts[node] = 0.0
            trial.share[node] = 0.0
            for i in range(begin, end):
                trial.counts[node, table.label[rows[i]]] += weight[i]
            continue
        rights, unknown = arrange(table.values[feature], tree.threshold[node], buffer, begin, end)
        middle = begin + rights + unknown
        if end + unknown > rows.size:
            return NONE
        share = left_share(weight, begin, rights, middle, end)
        trial.share[node] = share
        for i in range(unknown):
            rows[end + i] = rows[middle - unknown + i]
            weight[end + i] = weight[middle - unknown + i] * share
            weight[middle - unknown + i] *= 1.0 - share
        # The left branch is next: its rows lie at the end, where copies can be added.
        stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = tree.right[node], begin, middle
        stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = tree.left[node], middle, end + unknown
        waiting += 2
    return visited


@kernel
def left_share(weight, begin, rights, middle, end):
    """Return the part of the known weight that goes left, of rows as ``arrange`` leaves them."""
    right, left = total(weight[begin : begin + rights]), total(weight[middle:end])
    return left / (left + right)


@kernel
def adopt(tree, trial, visited, node):
    """Put a tried subtree in the place of a node."""
    for i in range(visited - 1, -1, -1):  # children before their parents
        v = trial.visited[i]
        tree.share[v] = trial.share[v]
        left, right = tree.left[v], tree.right[v]
        for c in range(tree.counts.shape[1]):
            tree.counts[v, c] = trial.counts[v, c] if left == NONE else tree.counts[left, c] + tree.counts[right, c]
    top = trial.visited[0]
    tree.feature[node], tree.threshold[node], tree.share[node] = tree.feature[top], tree.threshold[top], tree.share[top]
    tree.left[node], tree.right[node] = tree.left[top], tree.right[top]
