"""Trees of scikit-learn and of J48 as the flat arrays that agents evaluate."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policies.trees import LEAF, Forest, join_trees
from rt_gym import InputError
from rt_gym.jit import kernel
from training.judge.stats import Floats


def flatten(model: Any) -> Forest:
    """Return the trees of a fitted model whose summed scores it decides by."""
    if hasattr(model, "tree_") and hasattr(model.tree_, "counts"):
        return _from_j48(model)
    if hasattr(model, "_predictors") or hasattr(model, "init_"):
        return _from_boosting(model)
    trees = [estimator.tree_ for estimator in getattr(model, "estimators_", [model])]
    return join_trees([_from_sklearn(tree, len(trees)) for tree in trees])


def _from_j48(model: Any) -> Forest:
    from training.j48.tree import probabilities

    tree = model.tree_
    scores = probabilities(tree, model.laplace)
    return Forest(np.zeros(1, np.int32), tree.feature, tree.threshold, tree.left, tree.right, scores)


def _from_sklearn(tree: Any, count: int) -> Forest:
    leaf = tree.children_left == LEAF
    values = tree.value[:, 0, :] if tree.value.shape[2] > 1 else tree.value[:, :, 0]  # of classes, or of outputs
    if tree.value.shape[2] > 1:
        values = values / values.sum(axis=1, keepdims=True)
    return Forest(
        root=np.zeros(1, np.int32),
        feature=np.where(leaf, LEAF, tree.feature).astype(np.int32),
        threshold=np.where(leaf, 0.0, tree.threshold),
        left=tree.children_left.astype(np.int32),
        right=tree.children_right.astype(np.int32),
        scores=np.ascontiguousarray(values / count),
    )


def _from_boosting(model: Any) -> Forest:
    base, trees = _histogram_parts(model) if hasattr(model, "_predictors") else _gradient_parts(model)
    two_classes = hasattr(model, "classes_") and len(model.classes_) == 2
    outputs = 2 if two_classes else len(base)
    parts = [one_of(tree, 1 if two_classes else k % len(base), outputs) for k, tree in enumerate(trees)]
    start = np.zeros(outputs)
    start[-len(base) :] = base
    return join_trees([constant(start), *parts])


def _histogram_parts(model: Any) -> tuple[Floats, Iterator[Forest]]:
    """Return what histogram gradient boosting begins with, and the trees that it adds."""
    return np.atleast_1d(np.ravel(model._baseline_prediction)), _boosted(model)


def _boosted(model: Any) -> Iterator[Forest]:
    for iteration in model._predictors:
        for predictor in iteration:
            nodes = predictor.nodes
            leaf = nodes["is_leaf"].astype(bool)
            if nodes["is_categorical"].any():
                raise InputError("the model has features that are categories, where numbers are wanted")
            yield Forest(
                root=np.zeros(1, np.int32),
                feature=np.where(leaf, LEAF, nodes["feature_idx"]).astype(np.int32),
                threshold=np.where(leaf, 0.0, nodes["num_threshold"]),
                left=np.where(leaf, LEAF, nodes["left"].astype(np.int64)).astype(np.int32),
                right=np.where(leaf, LEAF, nodes["right"].astype(np.int64)).astype(np.int32),
                scores=nodes["value"].reshape(-1, 1).copy(),
            )


def _gradient_parts(model: Any) -> tuple[Floats, Iterator[Forest]]:
    """Return what gradient boosting begins with, and the trees that it adds."""
    if model.init not in (None, "zero"):
        raise InputError("gradient boosting must begin with a constant, not with another model")
    base = np.ravel(model._raw_predict_init(np.zeros((1, model.n_features_in_), np.float32)))
    trees = (_from_sklearn(tree.tree_, 1) for tree in model.estimators_.ravel())
    return base, (tree._replace(scores=model.learning_rate * tree.scores) for tree in trees)


def constant(scores: Floats) -> Forest:
    """Return a tree that says the same whatever it is asked."""
    none = np.zeros(1, np.int32)
    return Forest(none, none + LEAF, np.zeros(1), none + LEAF, none + LEAF, np.atleast_2d(scores))


def one_of(forest: Forest, column: int, outputs: int) -> Forest:
    """Return a forest of one score whose score is one of several."""
    scores = np.zeros((len(forest.scores), outputs))
    scores[:, column] = forest.scores[:, 0]
    return forest._replace(scores=scores)


def with_means(forest: Forest, rows: NDArray[np.float32], values: Floats) -> Forest:
    """Return a single tree whose scores are the means of the values of the rows that pass a node."""
    sums, counts = np.zeros((forest.feature.size, values.shape[1])), np.zeros(forest.feature.size)
    add_on_the_way(forest, np.ascontiguousarray(rows), np.ascontiguousarray(values), sums, counts)
    return forest._replace(scores=sums / counts[:, None])


@kernel
def add_on_the_way(forest, rows, values, sums, counts):
    """Add the values of every row to all nodes on its way from the root of a single tree to its leaf."""
    for i in range(rows.shape[0]):
        node = np.int64(0)
        while node >= 0:
            counts[node] += 1.0
            for c in range(values.shape[1]):
                sums[node, c] += values[i, c]
            if forest.feature[node] < 0:
                break
            below = rows[i, forest.feature[node]] <= forest.threshold[node]
            node = np.int64(forest.left[node] if below else forest.right[node])


def merged(forest: Forest) -> Forest:
    """Return a single tree with equal decisions and fewer nodes: branches that agree become a leaf, scores 0 or 1."""
    best = np.argmax(forest.scores, axis=1)
    uniform, said = _uniform(forest, best)
    kept = _reached(forest, uniform)
    number = np.full(forest.feature.size, LEAF, np.int32)
    number[kept] = np.arange(len(kept))
    leaf = uniform[kept]
    scores = np.zeros((len(kept), forest.scores.shape[1]))
    scores[np.arange(len(kept)), np.where(leaf, said[kept], best[kept])] = 1.0
    return Forest(
        root=np.zeros(1, np.int32),
        feature=np.where(leaf, LEAF, forest.feature[kept]).astype(np.int32),
        threshold=np.where(leaf, 0.0, forest.threshold[kept]),
        left=np.where(leaf, LEAF, number[forest.left[kept]]).astype(np.int32),
        right=np.where(leaf, LEAF, number[forest.right[kept]]).astype(np.int32),
        scores=scores,
    )


def _uniform(forest: Forest, best: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return below which nodes all leaves decide alike, and what these decide."""
    uniform, said = forest.feature == LEAF, best.copy()
    for node in np.flatnonzero(forest.feature != LEAF)[::-1]:  # children stand after their parents
        left, right = forest.left[node], forest.right[node]
        if uniform[left] and uniform[right] and said[left] == said[right]:
            uniform[node], said[node] = True, said[left]
    return uniform, said


def _reached(forest: Forest, ends: NDArray[np.bool_]) -> list[int]:
    """Return the nodes from the root on, depth first, without those below an end."""
    kept: list[int] = []
    todo = [0]
    while todo:
        node = todo.pop()
        kept.append(node)
        if not ends[node]:
            todo += [int(forest.right[node]), int(forest.left[node])]
    return kept
