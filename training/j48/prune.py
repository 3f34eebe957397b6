"""Making a grown tree smaller: collapsing, and pruning by expected errors.

Pruning works from the leaves up. An inner node becomes a leaf, or is replaced by its heavier branch (subtree raising),
or stays, whichever lets expect the fewest errors; smaller trees get a bonus. What is to be expected is a pessimistic
estimate, the upper limit of a confidence interval.
"""

import numpy as np
from scipy.special import ndtri

from rt_gym.jit import kernel
from training.j48.samples import TrainingSet, at_least, equal, total, training_errors
from training.j48.tree import NONE, Group, Tree, adopt, arrange, make_trial, renumbered, send_down

FEW_TRAINING_ERRORS = 1e-3  # that a subtree must save, or it collapses
FEW_EXPECTED_ERRORS = 0.1  # that a smaller tree may have more


def collapse(tree: Tree) -> Tree:
    """Return the tree with leaves in the place of subtrees that save no training errors; its arrays are changed."""
    own = np.array([training_errors(counts) for counts in tree.counts])
    below = own.copy()
    inner = np.flatnonzero(tree.feature != NONE)
    for node in inner[::-1]:  # children come after their parents
        below[node] = below[tree.left[node]] + below[tree.right[node]]
    for node in inner[below[inner] >= own[inner] - FEW_TRAINING_ERRORS]:
        make_leaf(tree, node)
    return renumbered(tree)


def prune(tree: Tree, table: TrainingSet, confidence_factor: float, raising: bool) -> Tree:
    """Return the tree pruned by the errors that are to be expected of it.

    Args:
        tree: a grown tree; its arrays are changed.
        table: the training set it was grown from.
        confidence_factor: the smaller, the more is pruned.
        raising: whether a branch may take the place of its parent.
    """
    _Pruner(tree, table, confidence_factor, raising).run()
    return renumbered(tree)


def make_leaf(tree: Tree, node: int) -> None:
    """Take the test of a node away."""
    tree.feature[node], tree.left[node], tree.right[node] = NONE, NONE, NONE
    tree.threshold[node], tree.share[node] = 0.0, 0.0


class _Pruner:
    """One pruning of one tree."""

    def __init__(self, tree: Tree, table: TrainingSet, confidence_factor: float, raising: bool) -> None:
        self._tree, self._table, self._raising = tree, table, raising
        self._limits = confidence_limits(confidence_factor)
        self._below = np.empty(tree.feature.size)  # expected errors of the leaves below a node
        self._trial = make_trial(tree)
        self._buffer = _buffer(table.label.size)

    def run(self) -> None:
        tree = self._tree
        everything = Group(np.arange(self._table.label.size, dtype=np.int32), self._table.weight.copy())
        todo = [(0, everything, False)]
        while todo:
            node, group, children_done = todo.pop()
            if tree.feature[node] == NONE:
                self._below[node] = expected_errors(tree.counts[node], *self._limits)
            elif not children_done:
                left, right = self._children(node, group)
                todo += [(node, group, True), (tree.right[node], right, False), (tree.left[node], left, False)]
            elif self._decide(node, group):
                todo.append((node, group, False))

    def _children(self, node: int, group: Group) -> tuple[Group, Group]:
        """Return the rows of both children; where no row goes both ways they are parts of the parent's arrays."""
        tree = self._tree
        column = self._table.values[tree.feature[node]]
        rights, unknown = arrange(column, tree.threshold[node], group, 0, group.rows.size)
        left = Group._make(array[rights:] for array in group)
        right = Group._make(array[: rights + unknown] for array in group)
        if unknown == 0:
            return left, right
        left, right = (Group._make(array.copy() for array in child) for child in (left, right))
        left.weight[:unknown] *= tree.share[node]
        right.weight[rights:] *= 1.0 - tree.share[node]
        return left, right

    def _decide(self, node: int, group: Group) -> bool:
        """Leave a node, make it a leaf, or replace it by its heavier branch; return whether the last was done."""
        tree = self._tree
        as_tree = self._below[tree.left[node]] + self._below[tree.right[node]]
        as_leaf = expected_errors(tree.counts[node], *self._limits)
        as_branch, visited = self._try_branch(node, group) if self._raising else (np.inf, 0)
        self._below[node] = as_tree
        if at_least(as_tree + FEW_EXPECTED_ERRORS, as_leaf) and at_least(as_branch + FEW_EXPECTED_ERRORS, as_leaf):
            make_leaf(tree, node)
            self._below[node] = as_leaf
        elif at_least(as_tree + FEW_EXPECTED_ERRORS, as_branch):
            adopt(tree, self._trial, visited, node)
            return True
        return False

    def _try_branch(self, node: int, group: Group) -> tuple[float, int]:
        """Return the expected errors of the heavier branch if it had all rows of its parent, and the branch's size."""
        tree, branch = self._tree, heavier_branch(self._tree, node)
        while True:
            self._buffer.rows[: group.rows.size] = group.rows
            self._buffer.weight[: group.rows.size] = group.weight
            visited = send_down(tree, self._table, branch, self._buffer, group.rows.size, self._trial)
            if visited != NONE:
                return errors_of_leaves(tree, self._trial, visited, *self._limits), visited
            self._buffer = _buffer(2 * self._buffer.rows.size)


def _buffer(size: int) -> Group:
    return Group(np.empty(size, np.int32), np.empty(size))


@kernel
def heavier_branch(tree, node):
    """Return the child with more weight, the right one where they are nearly equal."""
    left, right = tree.left[node], tree.right[node]
    return right if at_least(total(tree.counts[right]), total(tree.counts[left])) else left


@kernel
def errors_of_leaves(tree, trial, visited, confidence, z):
    """Return the expected errors of the leaves of a tried subtree."""
    result = 0.0
    for i in range(visited):
        node = trial.visited[i]
        if tree.feature[node] == NONE:
            result += expected_errors(trial.counts[node], confidence, z)
    return result


def confidence_limits(confidence_factor: float) -> tuple[float, float]:
    """Return the confidence and its normal quantile, both computed in single precision as Weka does."""
    confidence = np.float32(confidence_factor)
    return float(confidence), float(ndtri(float(np.float32(1) - confidence)))


@kernel
def extra_errors(n, e, confidence, z):
    """Return what to add to ``e`` errors among rows of weight ``n``; ``z`` is the quantile of the confidence."""
    if confidence > 0.5:
        return 0.0
    if e < 1.0:
        base = n * (1.0 - confidence ** (1.0 / n))
        if e == 0.0:
            return base
        return base + e * (several_errors(n, 1.0, z) - base)
    return several_errors(n, e, z)


@kernel
def several_errors(n, e, z):
    """Return the extra errors where there is one error or more: the upper limit of Wilson's interval."""
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    f = (e + 0.5) / n
    upper = f + z * z / (2 * n) + z * np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return upper / (1.0 + z * z / n) * n - e


@kernel
def expected_errors(counts, confidence, z):
    """Return the errors to be expected of a leaf with these class weights."""
    n = total(counts)
    if equal(n, 0.0):
        return 0.0
    e = training_errors(counts)
    return e + extra_errors(n, e, confidence, z)
