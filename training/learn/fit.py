"""From samples to policies: a learner for every kind of target."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policies.trees import Forest, Policy, join_trees
from rt_gym import InputError
from training.judge.stats import Floats
from training.learn.flatten import flatten, merged, one_of, with_means
from training.learn.log import Samples
from training.learn.targets import Recipe, by_layers, costs, inputs, label_by

_DIGITS = 7  # of scores, which keeps files small


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


def fit_depth_class(samples: Samples, recipe: Recipe) -> tuple[Forest, tuple[int, ...]]:
    """Learn the label itself."""
    return classify(inputs(samples, recipe), label_by(samples, recipe.ties), recipe)


def fit_depth_cost(samples: Samples, recipe: Recipe) -> tuple[Forest, tuple[int, ...]]:
    """Learn what every depth costs."""
    rows, cost, depths = inputs(samples, recipe), costs(samples, recipe), tuple(range(1, samples.d_max + 1))
    if recipe.learner == "j48":  # it predicts classes: the tree is that of the labels, its nodes know what depths cost
        forest, _ = classify(rows, label_by(samples, recipe.ties), recipe)
        return with_means(forest, rows, -cost), depths
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
        return with_means(forest, rows, advantage), ()
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


def _regress(rows: NDArray[np.float32], targets: Floats, recipe: Recipe) -> Forest:
    if recipe.learner != "boosting":
        return flatten(make_regressor(recipe).fit(rows, targets if targets.shape[1] > 1 else targets[:, 0]))
    outputs = targets.shape[1]
    models = [make_regressor(recipe).fit(rows, targets[:, k]) for k in range(outputs)]
    return join_trees([one_of(flatten(model), k, outputs) for k, model in enumerate(models)])
