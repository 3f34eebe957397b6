"""A grown tree as flat arrays, and what is computed from them: probabilities, depth, importances.

Nodes are numbered from the root in depth-first order, left branches first. A row goes left when its value is not above
the threshold.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel
from training.j48.samples import first_maximum

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
