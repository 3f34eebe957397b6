"""A grown tree as flat arrays, and what is computed from them: probabilities, depth, importances.

Nodes are numbered from the root in depth-first order, left branches first. A row goes left when its value is not above
the threshold. The last part sends rows down a grown tree anew: what a subtree becomes with other rows than its own.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel
from training.j48.samples import first_maximum, total

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
