"""From fitted models to policies: trees for ``classifier-lrta``, networks for ``policy-lrta``.

Trees test features as they are logged. Networks read them scaled, so that a model of theirs is a pipeline which begins
with ``FunctionTransformer(squashed)``, see ``rt_gym.features.scaling``; ``StandardScaler`` may follow.

What a model has learned says how it decides. Classes are depths. Several outputs are the costs of the depths from 1 on,
of which the least decides. One output is a depth, and the whole number that is nearest decides.

The second half has the trees of scikit-learn and of J48 as the flat arrays that agents evaluate.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from agents.policies.depth_control import HISTORY, MAX_DEPTH
from agents.policies.forward import ACTIVATIONS
from agents.policies.networks import Network
from agents.policies.trees import LEAF, Forest, Policy, join_trees
from rt_gym import InputError
from rt_gym.errors import quoted
from rt_gym.features.decision import SITUATION
from rt_gym.features.scaling import squashed
from rt_gym.jit import kernel
from training.j48 import J48Classifier, probabilities
from training.judge.stats import Floats
from training.learn.log import Samples
from training.learn.targets import FEATURE_SETS

_FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
_BOOSTING = (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
_TREES = (DecisionTreeClassifier, DecisionTreeRegressor, J48Classifier, *_FORESTS, *_BOOSTING)
_NETWORKS = (MLPClassifier, MLPRegressor)
_EXPONENTIAL = ("poisson", "gamma")  # losses of regressors whose sums are logarithms of what they predict


def to_policy(model: Any, samples: Samples | None = None, *, features: Sequence[str] | None = None) -> Policy | Network:
    """Return a policy that decides as a fitted model predicts, but for scores that rounding makes equal.

    Args:
        model: a decision tree, random forest, extra trees, (histogram) gradient boosting or J48, fitted on features as
            they are; or a pipeline of ``FunctionTransformer(squashed)``, perhaps ``StandardScaler()``, and an
            ``MLPClassifier`` or ``MLPRegressor`` with ``tanh`` or ``relu``.
        samples: the log that it was fitted on, for its history and largest depth; without one, features reach 20 steps
            back, and the largest depth is the largest that the model has learned.
        features: the names of its inputs; if not given, those of the DataFrame that it was fitted on, or else the
            paper's four or all 24, by their number.

    Raises:
        InputError: if it is another kind of model, not fitted, or its features, classes or outputs do not fit.
    """
    steps, last = _parted(model)
    names, depths = _features(model, last, features), _depths(last, samples)
    history, d_max = (HISTORY, max(depths)) if samples is None else (samples.about["history"], samples.d_max)
    if max(depths) > d_max:
        raise InputError(f"the model knows the depth {max(depths)}, and the samples only those up to {d_max}")
    about = {"model": type(last).__name__} | ({} if samples is None else {"log": samples.about})
    if isinstance(last, _TREES):
        return Policy("depth", names, history, d_max, depths, 0.0, _forest(last, depths), about)
    mean, scale = (steps[1].mean_, steps[1].scale_) if len(steps) > 1 else (None, None)
    layers, activation = _layers(last, depths), last.activation
    return Network("depth", names, layers, d_max, depths, history, activation, mean=mean, scale=scale, about=about)


def _parted(model: Any) -> tuple[list[Any], Any]:
    """Return the steps before a model, and the model itself, if both are what a policy can do."""
    *steps, last = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    if not isinstance(last, (*_TREES, *_NETWORKS)):
        kinds = "trees, forests, gradient boosting, J48 and MLPs"
        raise InputError(f"no policy can be made of {type(last).__name__}, only of {kinds}")
    try:
        check_is_fitted(last)
    except NotFittedError:
        raise InputError(f"the {type(last).__name__} must be fitted first") from None
    if isinstance(last, _NETWORKS):
        _check_scaled(steps, last)
    elif steps:
        raise InputError(f"trees test features as they are logged: fit {type(last).__name__} without steps before it")
    return steps, last


def _check_scaled(steps: list[Any], last: Any) -> None:
    kinds = [FunctionTransformer, StandardScaler][: max(1, len(steps))]
    if [type(step) for step in steps] != kinds or steps[0].func is not squashed:
        wanted = "FunctionTransformer(squashed), perhaps StandardScaler(), and the MLP"
        raise InputError(f"a network reads scaled features: fit a pipeline of {wanted}")
    if len(steps) > 1 and not (steps[1].with_mean and steps[1].with_std):
        raise InputError("StandardScaler must take away the mean and divide by the deviation, as it does by default")
    if last.activation not in ACTIVATIONS:
        raise InputError(f"the activation must be {' or '.join(ACTIVATIONS)}, not {quoted(last.activation)}")


def _features(model: Any, last: Any, given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the inputs."""
    count = last.n_features_in_
    by_count = {len(names): names for names in FEATURE_SETS.values()}
    found = given if given is not None else getattr(model, "feature_names_in_", by_count.get(count))
    if found is None:
        raise InputError(f"the model has {count} features without names: fit it on a DataFrame, or name its features")
    names = tuple(map(str, found))
    for name in names:
        if name not in SITUATION:
            raise InputError(f"the model has the feature {quoted(name)}, which a policy for the depth cannot know")
    if len(names) != count or len(set(names)) < count:
        raise InputError(f"the model has {count} features, which take as many different names, not {quoted(names)}")
    return names


def _depths(model: Any, samples: Samples | None) -> tuple[int, ...]:
    """Return the depths that its scores stand for."""
    if is_classifier(model):
        return tuple(map(_depth, _classes(model)))
    if getattr(model, "loss", "") in _EXPONENTIAL:
        raise InputError(f"a policy adds up scores: choose another loss than {quoted(model.loss)} for the regressor")
    count = getattr(model, "n_outputs_", 1)
    if count == 1 and samples is None:
        raise InputError("a model that predicts one number needs the samples, which know the largest depth")
    count = samples.d_max if samples is not None and count == 1 else count
    return tuple(range(1, _depth(count) + 1))


def _classes(model: Any) -> Any:
    """Return the classes of a model that says one of them."""
    several = isinstance(model.classes_, list) or np.ndim(model.classes_) != 1
    if isinstance(model, MLPClassifier):
        several = model.out_activation_ != "softmax" and (model.n_outputs_, len(model.classes_)) != (1, 2)
    if several:
        raise InputError("a policy says one depth, and the model has several labels at a time")
    return model.classes_


def _depth(label: Any) -> int:
    if not np.issubdtype(type(label), np.number) or label != int(label) or not 1 <= label <= MAX_DEPTH:
        raise InputError(f"classes must be depths, whole numbers from 1 to {MAX_DEPTH}, not {quoted(label)}")
    return int(label)


def _reading(model: Any, depths: tuple[int, ...], outputs: int) -> tuple[Floats, Floats]:
    """Return what turns outputs into scores of the depths: a matrix, and numbers to add."""
    if is_classifier(model):
        # Of two classes a network has the second's score alone.
        return np.eye(len(depths))[-outputs:], np.zeros(len(depths))
    if outputs > 1:
        return -np.eye(outputs), np.zeros(outputs)
    known = np.array(depths, np.float64)
    return 2 * known[None, :], -(known**2)  # the largest of 2 d y - d^2 is that of the depth nearest to y


def _forest(model: Any, depths: tuple[int, ...]) -> Forest:
    forest = flatten(model)
    matrix, offset = _reading(model, depths, forest.scores.shape[1])
    scored = forest._replace(scores=np.ascontiguousarray(forest.scores @ matrix))
    return join_trees([constant(offset), scored]) if offset.any() else scored


def _layers(model: Any, depths: tuple[int, ...]) -> tuple[tuple[NDArray[Any], NDArray[Any]], ...]:
    *layers, (weights, bias) = zip(model.coefs_, model.intercepts_, strict=True)
    matrix, offset = _reading(model, depths, bias.size)
    return (*layers, (weights @ matrix, bias @ matrix + offset))


def flatten(model: Any) -> Forest:
    """Return the trees of a fitted model whose summed scores it decides by."""
    if hasattr(model, "tree_") and hasattr(model.tree_, "counts"):
        return _from_j48(model)
    if hasattr(model, "_predictors") or hasattr(model, "init_"):
        return _from_boosting(model)
    trees = [estimator.tree_ for estimator in getattr(model, "estimators_", [model])]
    return join_trees([_from_sklearn(tree, len(trees)) for tree in trees])


def _from_j48(model: Any) -> Forest:
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
