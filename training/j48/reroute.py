"""Sending rows down a grown tree anew: what a subtree becomes if it gets other rows than it was grown from."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel
from training.j48.samples import total
from training.j48.tree import NONE, Tree


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
