"""How a tree becomes what it is: it is grown until nothing is worth splitting, then made smaller.

A tree grows depth first, left before right. A node is cut by the best threshold of one feature, the best feature of
all. Entropies are not divided by the weight: ``f(total) - sum(f(part))`` with ``f(x) = x log2 x``.

Collapsing comes next. Pruning by expected errors then works from the leaves up. An inner node becomes a leaf, or is
replaced by its heavier branch (subtree raising), or stays, whichever lets expect the fewest errors; smaller trees get a
bonus. What is to be expected is a pessimistic estimate, the upper limit of a confidence interval.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rt_gym.jit import kernel
from training.j48 import (
    NONE,
    Group,
    NodeRows,
    TrainingSet,
    Tree,
    adopt,
    all_rows,
    arrange,
    at_least,
    divided,
    equal,
    first_maximum,
    greater,
    make_trial,
    renumbered,
    send_down,
    total,
    training_errors,
)


def grow(table: TrainingSet, min_num_obj: int, mdl: bool, actual_value: bool) -> Tree:
    """Return the full tree of a training set.

    Args:
        table: the training set.
        min_num_obj: the least weight of a branch, but for the exception in large nodes.
        mdl: whether a gain pays for the choice among many thresholds.
        actual_value: whether thresholds are values of the training set; otherwise midpoints between two of them.
    """
    root, scratch = all_rows(table), make_scratch(table)
    columns = _sorted_columns(table, root) if actual_value else None
    side = np.empty(table.label.size, np.uint8)
    nodes = _Nodes()
    todo = [(root, NONE)]
    del root  # the rows of a node are given up as soon as its children have theirs
    while todo:
        sample, parent = todo.pop()
        counts = np.zeros(table.classes)
        count_classes(table.label, sample.order[0], sample.weight, counts)
        node = nodes.add(counts, parent)
        feature = best_feature(table, sample, counts, min_num_obj, mdl, scratch)
        if feature == NONE:
            continue
        threshold = scratch.threshold[feature]
        if columns is not None:
            threshold = _largest_up_to(columns[feature], threshold)
        left, right, share = divided(sample, table.values[feature], threshold, side)
        nodes.split(node, feature, threshold, share)
        todo += [(right, node), (left, NONE)]
    return nodes.tree()


class _Nodes:
    """The nodes so far, in the order in which they are met: a left child follows its parent at once."""

    def __init__(self) -> None:
        self._tests: list[list[Any]] = []
        self._counts: list[NDArray[np.float64]] = []

    def add(self, counts: NDArray[np.float64], parent: int) -> int:
        """Add a leaf, as the right child of a parent unless that is NONE."""
        number = len(self._tests)
        if parent != NONE:
            self._tests[parent][3] = number
        self._tests.append([NONE, 0.0, NONE, NONE, 0.0])
        self._counts.append(counts)
        return number

    def split(self, node: int, feature: int, threshold: float, share: float) -> None:
        """Make a leaf an inner node whose left child will be the next node."""
        self._tests[node] = [feature, threshold, node + 1, NONE, share]

    def tree(self) -> Tree:
        feature, threshold, left, right, share = zip(*self._tests, strict=True)
        return Tree(
            np.array(feature, np.int32), np.array(threshold), np.array(left, np.int32), np.array(right, np.int32),
            np.array(share), np.array(self._counts),
        )  # fmt: skip


def _sorted_columns(table: TrainingSet, root: NodeRows) -> list[NDArray[np.float64]]:
    """Return the sorted values of every feature, without the missing."""
    columns = np.take_along_axis(table.values, root.order, axis=1)
    return [column[: np.count_nonzero(~np.isnan(column))] for column in columns]


def _largest_up_to(column: NDArray[np.float64], limit: float) -> float:
    """Return the largest value of a sorted column that is not above a limit."""
    return float(column[np.searchsorted(column, limit, side="right") - 1])


@kernel
def count_classes(label, rows, weight, out):
    """Add the weights of ``rows``, int32[n], to ``out``, float64[classes]; ``label`` is that of the training set."""
    for i in range(rows.size):
        out[label[rows[i]]] += weight[i]


APART = 1e-5  # values that are not further apart than this are not separated
BELOW_AVERAGE = 1e-3  # a feature may compete with a gain so far below the average
LARGEST_MINIMUM = 25.0  # of the weight of a branch, in large nodes


class Scratch(NamedTuple):
    """Buffers for the search of one split.

    Attributes:
        weight: float64[rows of the training set], the weights of the node's rows.
        below: float64[classes], the class weights left of the candidate.
        seen: float64[classes], what ``below`` was when ``term`` was computed.
        known: float64[classes], the class weights of the rows with a value.
        term: float64[classes], ``f`` of the class on the left plus ``f`` of the class on the right.
        gain: float64[features], 0 where a feature has no threshold.
        ratio: float64[features], 0 where a feature has no threshold or may not compete.
        threshold: float64[features].
    """

    weight: NDArray[np.float64]
    below: NDArray[np.float64]
    seen: NDArray[np.float64]
    known: NDArray[np.float64]
    term: NDArray[np.float64]
    gain: NDArray[np.float64]
    ratio: NDArray[np.float64]
    threshold: NDArray[np.float64]


def make_scratch(table: TrainingSet) -> Scratch:
    """Return the buffers for the splits of a training set."""
    features, rows = table.values.shape
    return Scratch(np.empty(rows), *np.empty((4, table.classes)), *np.empty((3, features)))


@kernel(inline=True)
def f(x):
    """Return x log2 x, and 0 for what is as good as none."""
    return x * np.log2(x) if x >= 1e-6 else 0.0


@kernel(inline=True)
def minimum_weight(known, classes, min_num_obj):
    """Return the least weight of a branch. In large nodes it falls to 25 even if ``min_num_obj`` is greater."""
    least = 0.1 * known / classes
    if at_least(min_num_obj, least):
        return np.float64(min_num_obj)
    return LARGEST_MINIMUM if greater(least, LARGEST_MINIMUM) else least


@kernel(inline=True)
def count_known(column, label, rows, counts, scratch):
    """Write the class weights of the rows that have a value and return how many rows that are, the first ones."""
    n = rows.size
    for c in range(counts.size):
        scratch.known[c] = counts[c]
    while n > 0 and np.isnan(column[rows[n - 1]]):
        n -= 1
        scratch.known[label[rows[n]]] -= scratch.weight[rows[n]]
    return n


@kernel(inline=True)
def renew_term(scratch, c):
    """Bring the term of a class up to date and return by how much it changes."""
    old = scratch.term[c]
    scratch.seen[c] = scratch.below[c]
    scratch.term[c] = f(scratch.below[c]) + f(scratch.known[c] - scratch.below[c])
    return scratch.term[c] - old


@kernel(inline=True)
def renew_terms(label, rows, begin, end, scratch):
    """Bring the terms of all classes up to date and return by how much their sum changes.

    Since the last time the rows from ``begin`` to ``end`` have gone left: if they are few, their classes are enough.
    """
    change = 0.0
    if end - begin > scratch.term.size:
        for c in range(scratch.term.size):
            change += renew_term(scratch, c)
    else:
        for i in range(begin, end):
            c = label[rows[i]]
            if scratch.seen[c] != scratch.below[c]:
                change += renew_term(scratch, c)
    return change


@kernel(inline=True)
def midpoint(low, high):
    """Return the number halfway, the lower one if rounding would make that the upper; their sum may be too large."""
    middle = low / 2.0 + high / 2.0
    return middle if middle < high else low


@kernel
def best_threshold(column, label, rows, counts, min_num_obj, mdl, scratch):
    """Find the threshold of largest gain among rows sorted by ``column``, of near equals the smallest.

    Returns:
        Gain, ratio of gain and split information, threshold; all 0 if no threshold has a gain.
    """
    weight, below = scratch.weight, scratch.below
    n = count_known(column, label, rows, counts, scratch)
    node, known = total(counts), total(scratch.known)
    least = minimum_weight(known, counts.size, min_num_obj)
    if greater(2.0 * least, n):
        return 0.0, 0.0, 0.0
    terms = 0.0
    for c in range(counts.size):
        below[c], scratch.term[c] = 0.0, 0.0
        terms += renew_term(scratch, c)
    entropy = f(known) - terms
    left, best_left, best_gain, threshold = 0.0, 0.0, 0.0, 0.0
    candidates, begin = 0, 0
    for i in range(n - 1):
        below[label[rows[i]]] += weight[rows[i]]
        left += weight[rows[i]]
        value, following = column[rows[i]], column[rows[i + 1]]
        if value + APART < following:
            terms += renew_terms(label, rows, begin, i + 1, scratch)
            begin = i + 1
            right = known - left
            if at_least(left, least) and at_least(right, least):
                candidates += 1
                gain = (entropy - (f(left) + f(right) - terms)) * (known / node)
                gain = 0.0 if equal(gain, 0.0) else gain / known
                if greater(gain, best_gain):
                    best_gain, best_left, threshold = gain, left, midpoint(value, following)
    if mdl and candidates > 0:
        best_gain -= np.log2(np.float64(candidates)) / node
    if not greater(best_gain, 0.0):
        return 0.0, 0.0, 0.0
    information = f(node) - f(best_left) - f(known - best_left) - f(node - known)
    ratio = 0.0 if equal(information, 0.0) else best_gain / (information / node)
    return best_gain, ratio, threshold


@kernel
def best_feature(table, sample, counts, min_num_obj, mdl, scratch):
    """Return the feature to test in a node, or NONE; its threshold is in ``scratch.threshold``.

    Only features whose gain is not below the average compete, by the ratio; of near equals the first wins.
    """
    weight = total(counts)
    if greater(2.0 * min_num_obj, weight) or equal(counts[first_maximum(counts)], weight):
        return NONE
    for i in range(sample.weight.size):
        scratch.weight[sample.order[0, i]] = sample.weight[i]
    gains, yielding = 0.0, 0
    for a in range(table.values.shape[0]):
        scratch.gain[a], scratch.ratio[a], scratch.threshold[a] = best_threshold(
            table.values[a], table.label, sample.order[a], counts, min_num_obj, mdl, scratch
        )
        gains += scratch.gain[a]
        yielding += scratch.gain[a] > 0.0
    if yielding == 0:
        return NONE
    for a in range(scratch.gain.size):
        if scratch.gain[a] < gains / yielding - BELOW_AVERAGE:
            scratch.ratio[a] = 0.0
    best = first_maximum(scratch.ratio)
    return best if not equal(scratch.ratio[best], 0.0) else NONE


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
