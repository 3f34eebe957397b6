"""From samples to policies: what is to be predicted, by which learner, and its trees as flat arrays."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policies.trees import LEAF, Forest, Policy, join_trees
from rt_gym import InputError
from rt_gym.cost import STRAIGHT
from rt_gym.errors import quoted
from rt_gym.features.decision import LAYERS, SITUATION, write_layers
from rt_gym.features.history import FEATURES
from rt_gym.jit import kernel
from rt_gym.search.deepening import enter_layer, make_depth_results
from training.learn.labels import TIES, agreement, label_by
from training.learn.log import Samples

LEARNERS = ("j48", "cart", "forest", "boosting")
LABELS = ("class", "cost")
DECISIONS = ("depth", "deepen")
FEATURE_SETS = {"paper": FEATURES, "rich": SITUATION}

Floats = NDArray[np.float64]
_DIGITS = 7  # of scores, which keeps files small


@dataclass(frozen=True)
class Recipe:
    """How to learn a policy.

    Attributes:
        learner: ``"j48"`` (Weka's C4.5), ``"cart"``, ``"forest"`` (random) or ``"boosting"`` (gradient).
        labels: ``"class"``, the smallest depth that decides as the largest; or ``"cost"``, what every depth costs. J48
            learns classes only: with costs, its tree is that of the classes and its leaves know the mean costs.
        decide: ``"depth"`` before the search, or after every layer whether to ``"deepen"``.
        features: ``"paper"``, the four of the history; or ``"rich"``, all of ``rt_gym.features.decision``.
        ties: which moves count as that of the largest depth: ``"search"``, ``"ordered"`` or ``"tolerant"``, see
            ``training.learn.labels``.
        price: steps that one expansion is worth, for ``"cost"``.
        regret: whether the cost of a move is how much longer it is than the best; otherwise 1 if it does not count as
            the move of the largest depth.
        threshold: from which score on a policy that deepens acts: a probability for ``"class"``, an advantage in
            steps for ``"cost"``.
        min_leaf: the smallest number of samples in a leaf.
        confidence: J48's pruning confidence.
        trees: how many, for ``"forest"`` and ``"boosting"``.
        seed: for learners that draw.
    """

    learner: str = "j48"
    labels: str = "class"
    decide: str = "depth"
    features: str = "paper"
    ties: str = "search"
    price: float = 0.001
    regret: bool = False
    threshold: float = 0.5
    min_leaf: int = 200
    confidence: float = 0.05
    trees: int = 30
    seed: int = 0

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, not {quoted(getattr(self, name))}")
        if self.labels == "class" and not 0.0 < self.threshold < 1.0:
            raise InputError(f"threshold must be a probability between 0 and 1, not {quoted(self.threshold)}")
        if not 0.0 < self.confidence < 1.0:
            raise InputError(f"confidence must be above 0 and below 1, not {quoted(self.confidence)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs of the policy."""
        return FEATURE_SETS[self.features] + (LAYERS if self.decide == "deepen" else ())


_CHOICES = {
    "learner": LEARNERS,
    "labels": LABELS,
    "decide": DECISIONS,
    "features": tuple(FEATURE_SETS),
    "ties": TIES,
}


def fit_policy(samples: Samples, recipe: Recipe) -> Policy:
    """Learn a policy from samples.

    Raises:
        InputError: if there is nothing to learn from.
    """
    if len(samples) == 0:
        raise InputError("there are no samples to learn from")
    forest, depths = _FITS[recipe.decide, recipe.labels](samples, recipe)
    if recipe.decide == "depth" and forest.root.size == 1:
        forest = merged(forest)
    forest = forest._replace(scores=np.round(forest.scores, _DIGITS))
    about = {"recipe": asdict(recipe), "samples": len(samples), "log": samples.about}
    history, d_max = samples.about["history"], samples.d_max
    return Policy(recipe.decide, recipe.names, history, d_max, depths, act_from(recipe), forest, about)


def act_from(recipe: Recipe) -> float:
    """Return the score from which on a policy acts; boosting adds up logarithms of odds instead of probabilities."""
    if recipe.learner != "boosting" or recipe.labels != "class":
        return recipe.threshold
    return float(np.log(recipe.threshold / (1.0 - recipe.threshold)))


# What is predicted


def costs(samples: Samples, recipe: Recipe) -> Floats:
    """Return what every depth costs in every sample, in steps: a bad move, and the work."""
    bad = samples.regret if recipe.regret else ~agreement(samples, recipe.ties)
    return bad.astype(np.float64) + recipe.price * samples.work


def inputs(samples: Samples, recipe: Recipe) -> NDArray[np.float32]:
    """Return the features of the situation, as the recipe wants them."""
    return samples.situation[:, : len(FEATURE_SETS[recipe.features])]


def by_layers(samples: Samples, recipe: Recipe) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Return a row for every layer of every sample but the last: its inputs, its sample, its depth."""
    rows, layers = len(samples), samples.d_max - 1
    found = np.empty((rows, samples.d_max, len(LAYERS)), np.float32)
    fill_layers(make_depth_results(samples.d_max), samples.action, samples.rise, samples.work, found)
    own = np.repeat(inputs(samples, recipe), layers, axis=0)
    joined = np.concatenate([own, found[:, :layers].reshape(-1, len(LAYERS))], axis=1)
    return joined, np.repeat(np.arange(rows), layers), np.tile(np.arange(1, layers + 1), rows)


@kernel
def fill_layers(by_depth, action, rise, work, out):
    """Deepen all samples again, layer by layer, and write what a controller would have seen after each layer."""
    for i in range(action.shape[0]):
        state = by_depth.state[0]
        state.depth = state.flat_layers = state.steady_layers = 0
        by_depth.value[0] = 0
        by_depth.work[0] = 0
        for d in range(action.shape[1]):
            before = work[i, d - 1] if d > 0 else 0
            enter_layer(by_depth, action[i, d], np.int64(np.rint(rise[i, d] * STRAIGHT)), work[i, d] - before)
            write_layers(by_depth, out[i, d])


# Learners


def fit_depth_class(samples: Samples, recipe: Recipe) -> tuple[Forest, tuple[int, ...]]:
    """Learn the label itself."""
    return classify(inputs(samples, recipe), label_by(samples, recipe.ties), recipe)


def fit_depth_cost(samples: Samples, recipe: Recipe) -> tuple[Forest, tuple[int, ...]]:
    """Learn what every depth costs."""
    rows, cost, depths = inputs(samples, recipe), costs(samples, recipe), tuple(range(1, samples.d_max + 1))
    if recipe.learner == "j48":  # it predicts classes: the tree is that of the labels, its nodes know what depths cost
        forest, _ = classify(rows, label_by(samples, recipe.ties), recipe)
        return _valued(forest, rows, -cost), depths
    return _regress(rows, -cost, recipe), depths


def fit_deepen_class(samples: Samples, recipe: Recipe) -> tuple[Forest, tuple[int, ...]]:
    """Learn whether a layer is deep enough."""
    rows, sample, depth = by_layers(samples, recipe)
    forest, _ = classify(rows, (depth >= label_by(samples, recipe.ties)[sample]).astype(np.int64), recipe)
    return forest._replace(scores=np.ascontiguousarray(forest.scores[:, 1:])), ()


def fit_deepen_cost(samples: Samples, recipe: Recipe) -> tuple[Forest, tuple[int, ...]]:
    """Learn what acting in a layer gains over deepening."""
    rows, sample, depth = by_layers(samples, recipe)
    cost = costs(samples, recipe)
    later = np.minimum.accumulate(cost[:, ::-1], axis=1)[:, ::-1]  # the cheapest from a depth on
    advantage = (later[sample, depth] - cost[sample, depth - 1])[:, None]  # of acting now
    if recipe.learner == "j48":
        forest, _ = classify(rows, (depth >= label_by(samples, recipe.ties)[sample]).astype(np.int64), recipe)
        return _valued(forest, rows, advantage), ()
    return _regress(rows, advantage, recipe), ()


_Fit = Callable[[Samples, Recipe], tuple[Forest, tuple[int, ...]]]
_FITS: dict[tuple[str, str], _Fit] = {
    ("depth", "class"): fit_depth_class,
    ("depth", "cost"): fit_depth_cost,
    ("deepen", "class"): fit_deepen_class,
    ("deepen", "cost"): fit_deepen_cost,
}


def make_classifier(recipe: Recipe) -> Any:
    """Return an untrained classifier."""
    if recipe.learner == "j48":
        from training.j48 import J48Classifier

        return J48Classifier(confidence_factor=recipe.confidence, min_num_obj=recipe.min_leaf)
    if recipe.learner == "cart":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=recipe.min_leaf, random_state=recipe.seed)
    if recipe.learner == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(
            recipe.trees, criterion="entropy", min_samples_leaf=recipe.min_leaf, random_state=recipe.seed
        )
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=recipe.trees, min_samples_leaf=recipe.min_leaf, early_stopping=False, random_state=recipe.seed
    )


def make_regressor(recipe: Recipe) -> Any:
    """Return an untrained regressor of one output."""
    if recipe.learner == "cart":
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor(min_samples_leaf=recipe.min_leaf, random_state=recipe.seed)
    if recipe.learner == "forest":
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(recipe.trees, min_samples_leaf=recipe.min_leaf, random_state=recipe.seed)
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=recipe.trees, min_samples_leaf=recipe.min_leaf, early_stopping=False, random_state=recipe.seed
    )


def classify(rows: NDArray[np.float32], classes: NDArray[np.int64], recipe: Recipe) -> tuple[Forest, tuple[int, ...]]:
    """Return trees that tell classes apart, with a score for each, and the classes."""
    if (classes == classes[0]).all():
        raise InputError(f"every sample has the label {classes[0]}: there is nothing to learn")
    model = make_classifier(recipe).fit(rows, classes)
    return flatten(model), tuple(int(label) for label in model.classes_)


def _valued(forest: Forest, rows: NDArray[np.float32], values: Floats) -> Forest:
    """Return a tree whose nodes say the mean of the values of the rows that come by."""
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


def _regress(rows: NDArray[np.float32], targets: Floats, recipe: Recipe) -> Forest:
    if recipe.learner != "boosting":
        return flatten(make_regressor(recipe).fit(rows, targets if targets.shape[1] > 1 else targets[:, 0]))
    outputs = targets.shape[1]
    models = [make_regressor(recipe).fit(rows, targets[:, k]) for k in range(outputs)]
    return join_trees([_placed(flatten(model), k, outputs) for k, model in enumerate(models)])


# Trees as flat arrays


def merged(forest: Forest) -> Forest:
    """Return a single tree with equal decisions and fewer nodes: branches that agree become a leaf, scores 0 or 1."""
    best = np.argmax(forest.scores, axis=1)
    uniform, said = forest.feature == LEAF, best.copy()
    for node in np.flatnonzero(forest.feature != LEAF)[::-1]:  # children stand after their parents
        left, right = forest.left[node], forest.right[node]
        if uniform[left] and uniform[right] and said[left] == said[right]:
            uniform[node], said[node] = True, said[left]
    kept: list[int] = []
    todo = [0]
    while todo:
        node = todo.pop()
        kept.append(node)
        if not uniform[node]:
            todo += [int(forest.right[node]), int(forest.left[node])]
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


def flatten(model: Any) -> Forest:
    """Return the trees of a fitted model whose summed scores it decides by."""
    if hasattr(model, "tree_") and hasattr(model.tree_, "counts"):
        return _from_j48(model)
    if hasattr(model, "_predictors"):
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
    base = np.atleast_1d(np.ravel(model._baseline_prediction))
    two_classes = hasattr(model, "classes_") and len(model.classes_) == 2
    outputs = 2 if two_classes else len(base)
    parts = []
    for k, tree in enumerate(_boosted(model)):
        column = 1 if two_classes else k % len(base)
        parts.append(_placed(tree, column, outputs))
    start = np.zeros((1, outputs))
    start[0, -len(base) :] = base
    none = np.zeros(1, np.int32)
    return join_trees([Forest(none, none + LEAF, np.zeros(1), none + LEAF, none + LEAF, start), *parts])


def _boosted(model: Any) -> Iterator[Forest]:
    for iteration in model._predictors:
        for predictor in iteration:
            nodes = predictor.nodes
            leaf = nodes["is_leaf"].astype(bool)
            yield Forest(
                root=np.zeros(1, np.int32),
                feature=np.where(leaf, LEAF, nodes["feature_idx"]).astype(np.int32),
                threshold=np.where(leaf, 0.0, nodes["num_threshold"]),
                left=np.where(leaf, LEAF, nodes["left"].astype(np.int64)).astype(np.int32),
                right=np.where(leaf, LEAF, nodes["right"].astype(np.int64)).astype(np.int32),
                scores=nodes["value"].reshape(-1, 1).copy(),
            )


def _placed(forest: Forest, column: int, outputs: int) -> Forest:
    """Return a forest of one score whose score is one of several."""
    scores = np.zeros((len(forest.scores), outputs))
    scores[:, column] = forest.scores[:, 0]
    return forest._replace(scores=scores)
