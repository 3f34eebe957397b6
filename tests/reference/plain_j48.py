"""J48 in plain Python: a second reading of the rules, recursive and without any cleverness.

A node holds its rows as pairs of row number and weight. Values are lists of floats per row, NaN where one is missing;
labels are class numbers.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

EPS = 1e-6
Rows = list[tuple[int, float]]
Table = list[list[float]]


@dataclass(frozen=True)
class Rules:
    classes: int
    confidence_factor: float = 0.25
    min_num_obj: int = 2
    unpruned: bool = False
    subtree_raising: bool = True
    collapse: bool = True
    mdl: bool = True
    split_point_actual_value: bool = True


@dataclass
class Test:
    feature: int
    threshold: float
    share: float
    left: "Node"
    right: "Node"


@dataclass
class Node:
    rows: Rows
    counts: list[float]
    test: Test | None = None


@dataclass
class Cut:
    """The best threshold of one feature."""

    feature: int
    gain: float
    ratio: float
    threshold: float


def fit(values: Table, labels: Sequence[int], weights: Sequence[float], rules: Rules) -> Node:
    learner = Learner(values, labels, rules)
    root = learner.grow(list(enumerate(weights)))
    if rules.collapse:
        learner.collapse(root)
    if not rules.unpruned:
        learner.prune(root)
    return root


def probabilities(node: Node, row: Sequence[float], laplace: bool = False) -> list[float]:
    test = node.test
    if test is None:
        counts = [count + laplace for count in node.counts]
        return [count / sum(counts) for count in counts]
    value = row[test.feature]
    if not math.isnan(value):
        return probabilities(test.left if value <= test.threshold else test.right, row, laplace)
    left, right = probabilities(test.left, row, laplace), probabilities(test.right, row, laplace)
    return [test.share * a + (1 - test.share) * b for a, b in zip(left, right, strict=True)]


def first_maximum(values: Sequence[float]) -> int:
    best, held = 0, 0.0
    for i, value in enumerate(values):
        if value - held > EPS:
            best, held = i, value
    return best


def entropy(parts: Iterable[float]) -> float:
    """Return the entropy in bits times the weight."""
    kept = [part for part in parts if part >= 1e-6]
    return sum(-part * math.log2(part / sum(kept)) for part in kept)


def at_most(a: float, b: float) -> bool:
    return a < b + EPS or a <= b


def errors(counts: Sequence[float]) -> float:
    return sum(counts) - counts[first_maximum(counts)]


def extra_errors(n: float, e: float, confidence_factor: float) -> float:
    confidence = float(np.float32(confidence_factor))
    if confidence > 0.5:
        return 0.0
    if e < 1:
        base = n * (1 - confidence ** (1 / n))
        return base if e == 0 else base + e * (extra_errors(n, 1, confidence_factor) - base)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z = NormalDist().inv_cdf(float(np.float32(1) - np.float32(confidence_factor)))
    f = (e + 0.5) / n
    limit = (f + z**2 / (2 * n) + z * math.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))) / (1 + z**2 / n)
    return limit * n - e


class Learner:
    def __init__(self, values: Table, labels: Sequence[int], rules: Rules) -> None:
        self.values, self.labels, self.rules = values, labels, rules

    def count(self, rows: Rows) -> list[float]:
        return [sum(w for row, w in rows if self.labels[row] == c) for c in range(self.rules.classes)]

    def known(self, rows: Rows, feature: int) -> Rows:
        return [(row, w) for row, w in rows if not math.isnan(self.values[row][feature])]

    def share(self, rows: Rows, feature: int, threshold: float) -> float:
        known = self.known(rows, feature)
        return sum(w for row, w in known if self.values[row][feature] <= threshold) / sum(w for _, w in known)

    def divide(self, rows: Rows, feature: int, threshold: float) -> tuple[Rows, Rows]:
        share = self.share(rows, feature, threshold)
        left, right = [], []
        for row, w in rows:
            value = self.values[row][feature]
            if math.isnan(value):
                left += [(row, w * share)] if share > EPS else []
                right += [(row, w * (1 - share))] if 1 - share > EPS else []
            else:
                (left if value <= threshold else right).append((row, w))
        return left, right

    def grow(self, rows: Rows) -> Node:
        node = Node(rows, self.count(rows))
        cut = self.best_cut(node)
        if cut is not None:
            threshold = self.final(cut)
            left, right = self.divide(rows, cut.feature, threshold)
            share = self.share(rows, cut.feature, threshold)
            node.test = Test(cut.feature, threshold, share, self.grow(left), self.grow(right))
        return node

    def best_cut(self, node: Node) -> Cut | None:
        weight = sum(node.counts)
        if 2 * self.rules.min_num_obj - weight > EPS or abs(max(node.counts) - weight) < EPS:
            return None
        found = [self.threshold(node, feature) for feature in range(len(self.values[0]))]
        cuts = [cut for cut in found if cut is not None]
        if not cuts:
            return None
        average = sum(cut.gain for cut in cuts) / len(cuts)
        rivals = [cut for cut in cuts if cut.gain >= average - 0.001]
        best = rivals[first_maximum([cut.ratio for cut in rivals])]
        return best if best.ratio >= EPS else None

    def threshold(self, node: Node, feature: int) -> Cut | None:
        rows = sorted(self.known(node.rows, feature), key=lambda pair: self.values[pair[0]][feature])
        known, weight = sum(w for _, w in rows), sum(node.counts)
        least = self.least(known)
        if 2 * least - len(rows) > EPS:
            return None
        gain, candidates, chosen = 0.0, 0, (0, 0.0)
        for i in range(1, len(rows)):
            low, high = (self.values[rows[k][0]][feature] for k in (i - 1, i))
            left, right = self.count(rows[:i]), self.count(rows[i:])
            if low + 1e-5 < high and at_most(least, sum(left)) and at_most(least, sum(right)):
                candidates += 1
                saved = (entropy(self.count(rows)) - entropy(left) - entropy(right)) * known / weight
                new = 0.0 if abs(saved) < EPS else saved / known
                if new - gain > EPS:
                    middle = (low + high) / 2
                    gain, chosen = new, (i, low if middle == high else middle)
        if self.rules.mdl and candidates:
            gain -= math.log2(candidates) / weight
        if gain <= EPS:
            return None
        place, threshold = chosen
        left_weight = sum(w for _, w in rows[:place])
        information = entropy([left_weight, known - left_weight, weight - known])
        return Cut(feature, gain, 0.0 if information < EPS else gain / (information / weight), threshold)

    def least(self, known: float) -> float:
        """Return the least weight of a branch."""
        proposed = 0.1 * known / self.rules.classes
        if at_most(proposed, self.rules.min_num_obj):
            return self.rules.min_num_obj
        return 25.0 if proposed - 25 > EPS else proposed

    def final(self, cut: Cut) -> float:
        """Return the threshold as a value that occurs anywhere in the training set, if that is wanted."""
        if not self.rules.split_point_actual_value:
            return cut.threshold
        return max(row[cut.feature] for row in self.values if row[cut.feature] <= cut.threshold)

    def leaves(self, node: Node) -> list[Node]:
        return [node] if node.test is None else self.leaves(node.test.left) + self.leaves(node.test.right)

    def collapse(self, node: Node) -> None:
        if node.test is None:
            return
        if sum(errors(leaf.counts) for leaf in self.leaves(node)) >= errors(node.counts) - 0.001:
            node.test = None
        else:
            self.collapse(node.test.left)
            self.collapse(node.test.right)

    def estimate(self, counts: list[float]) -> float:
        n, e = sum(counts), errors(counts)
        return 0.0 if abs(n) < EPS else e + extra_errors(n, e, self.rules.confidence_factor)

    def rerouted(self, node: Node, rows: Rows) -> Node:
        """Return a subtree with all tables made anew from other rows."""
        copy = Node(rows, self.count(rows))
        if node.test is not None:
            feature, threshold = node.test.feature, node.test.threshold
            left, right = self.divide(rows, feature, threshold)
            share = self.share(rows, feature, threshold)
            children = self.rerouted(node.test.left, left), self.rerouted(node.test.right, right)
            copy.test = Test(feature, threshold, share, *children)
        return copy

    def prune(self, node: Node) -> None:
        test = node.test
        if test is None:
            return
        self.prune(test.left)
        self.prune(test.right)
        as_tree = sum(self.estimate(leaf.counts) for leaf in self.leaves(node))
        as_leaf = self.estimate(node.counts)
        heavier = test.right if at_most(sum(test.left.counts), sum(test.right.counts)) else test.left
        branch = self.rerouted(heavier, node.rows)
        as_branch = math.inf
        if self.rules.subtree_raising:
            as_branch = sum(self.estimate(leaf.counts) for leaf in self.leaves(branch))
        if at_most(as_leaf, as_tree + 0.1) and at_most(as_leaf, as_branch + 0.1):
            node.test = None
        elif at_most(as_branch, as_tree + 0.1):
            node.test = branch.test
            self.prune(node)
