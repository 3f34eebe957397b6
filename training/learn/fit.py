"""From samples to policies, and how well they predict.

A learner for every kind of target; cross-validation, confusion, what matters, and what more samples would bring.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policies.trees import Forest, Policy, add_scores, join_trees, largest
from rt_gym import InputError
from rt_gym.jit import kernel
from training.j48 import J48Classifier
from training.judge.stats import Floats
from training.learn.convert import flatten, merged, one_of, with_means
from training.learn.log import Samples
from training.learn.targets import Recipe, by_layers, costs, inputs, label_by, moves

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


FOLDS = 10


@kernel
def choose_rows(forest, rows, depths, scores, out):
    """Write the depth that a policy chooses for every row of inputs."""
    for i in range(rows.shape[0]):
        add_scores(forest, rows[i], forest.feature.size, scores)
        out[i] = depths[largest(scores)]


@kernel
def deepen_rows(forest, rows, layers, threshold, scores, out):
    """Write the layer at which a policy acts; every sample has ``layers`` rows, and after the last one it must act."""
    for i in range(out.size):
        out[i] = layers + 1
        for k in range(layers):
            add_scores(forest, rows[i * layers + k], forest.feature.size, scores)
            if scores[0] >= threshold:
                out[i] = k + 1
                break


def predict_depths(policy: Policy, samples: Samples, recipe: Recipe) -> NDArray[np.int64]:
    """Return the depth that a policy reaches in every sample."""
    out, forest = np.empty(len(samples), np.int64), policy.forest
    scores = np.zeros(forest.scores.shape[1])
    if policy.decide == "depth":
        rows = np.ascontiguousarray(inputs(samples, recipe))
        choose_rows(forest, rows, np.array(policy.depths), scores, out)
    else:
        rows, _, _ = by_layers(samples, recipe)
        deepen_rows(forest, rows, samples.d_max - 1, policy.threshold, scores, out)
    return out


@dataclass(frozen=True)
class PredictionQuality:
    """What a policy predicts of samples that it has not learned from.

    Attributes:
        accuracy: the share of depths that equal the label.
        same_move: the share of depths whose lookahead makes the move of the largest depth.
        majority: the accuracy of always saying the most frequent label.
        depth_error: the mean distance of the depth from the label.
        cost: the mean cost of the recipe, moves and work, in steps.
        confusion: int64[d_max, d_max], how often a label (row) was predicted as a depth (column).
        nodes, branch: the mean size of the trees, and the longest branch.
        folds: the accuracy of every fold.
        hits, states: how many labels of every problem were predicted, and how many it has.
    """

    accuracy: float
    same_move: float
    majority: float
    depth_error: float
    cost: float
    confusion: NDArray[np.int64]
    nodes: float
    branch: int
    folds: tuple[float, ...]
    hits: Floats
    states: Floats


def cross_validate(samples: Samples, recipe: Recipe, folds: int = FOLDS, by_problem: bool = True) -> PredictionQuality:
    """Learn on all folds but one and predict that one, in turn.

    Args:
        samples: the log.
        recipe: how to learn.
        folds: how many.
        by_problem: whether the states of a problem stay together; neighbours on a path are nearly the same state, so
            shuffled rows flatter a learner. The paper's folds were presumably shuffled.
    """
    predicted, label = np.empty(len(samples), np.int64), label_by(samples, recipe.ties)
    nodes, branch, scores = [], 0, []
    for learn, test in _folds(samples, folds, by_problem, recipe.seed):
        policy = fit_policy(samples.take(learn), recipe)
        predicted[test] = predict_depths(policy, samples.take(test), recipe)
        nodes.append(policy.forest.feature.size)
        branch = max(branch, policy.branch)
        scores.append(float((predicted[test] == label[test]).mean()))
    return _quality(samples, recipe, predicted, nodes, branch, scores)


def _quality(
    samples: Samples, recipe: Recipe, depth: NDArray[np.int64], nodes: list[int], branch: int, folds: list[float]
) -> PredictionQuality:
    rows, d_max = np.arange(len(samples)), samples.d_max
    label, made = label_by(samples, recipe.ties), moves(samples, recipe.ties)
    problems = int(samples.problem.max()) + 1
    confusion = np.zeros((d_max, d_max), np.int64)
    np.add.at(confusion, (label - 1, depth - 1), 1)
    return PredictionQuality(
        accuracy=float((depth == label).mean()),
        same_move=float((made[rows, depth - 1] == made[:, -1]).mean()),
        majority=float(np.bincount(label).max() / len(samples)),
        depth_error=float(np.abs(depth - label).mean()),
        cost=float(costs(samples, recipe)[rows, depth - 1].mean()),
        confusion=confusion,
        nodes=float(np.mean(nodes)),
        branch=branch,
        folds=tuple(folds),
        hits=np.bincount(samples.problem[depth == label], minlength=problems).astype(np.float64),
        states=np.bincount(samples.problem, minlength=problems).astype(np.float64),
    )


def _folds(
    samples: Samples, folds: int, by_problem: bool, seed: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    groups = samples.problem if by_problem else np.arange(len(samples))
    return group_folds(groups, folds, seed, "problems" if by_problem else "samples")


def group_folds(
    groups: NDArray[Any], folds: int, seed: int, what: str
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the rows to learn from and those to predict; rows of one group stay together. ``what`` names the groups."""
    kinds = np.unique(groups)
    if len(kinds) < folds:
        raise InputError(f"{folds}-fold cross-validation needs at least {folds} {what}, not {len(kinds)}")
    place = np.empty(int(kinds.max()) + 1, np.int64)
    place[np.random.default_rng(seed).permutation(kinds)] = np.arange(len(kinds)) * folds // len(kinds)
    fold = place[groups]
    for k in range(folds):
        yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def learning_curve(samples: Samples, recipe: Recipe, parts: Sequence[float] = (0.05, 0.1, 0.2, 0.5, 1.0)) -> Floats:
    """Return rows of the number of samples, then the recipe's measure on them and on samples held back.

    A fifth of the problems is held back; the learner gets growing parts of the others.
    """
    learn, test = next(_folds(samples, 5, True, recipe.seed))
    order = np.random.default_rng(recipe.seed).permutation(learn)
    held = samples.take(test)
    rows = []
    for part in parts:
        known = samples.take(order[: max(1, round(part * len(order)))])
        policy = fit_policy(known, recipe)
        rows.append([len(known), *(measure(policy, part, recipe) for part in (known, held))])
    return np.array(rows)


def measure(policy: Policy, samples: Samples, recipe: Recipe) -> float:
    """Return what a recipe tries to better: the accuracy for classes, the mean cost for costs."""
    depth = predict_depths(policy, samples, recipe)
    if recipe.labels == "class":
        return float((depth == label_by(samples, recipe.ties)).mean())
    return float(costs(samples, recipe)[np.arange(len(samples)), depth - 1].mean())


def importances(samples: Samples, recipe: Recipe) -> dict[str, float]:
    """Return by how much the mean cost rises when a feature is shuffled, for every input of the policy.

    It is measured on a fifth of the problems, of which the policy has learned nothing.
    """
    learn, test = next(_folds(samples, 5, True, recipe.seed))
    policy, held = fit_policy(samples.take(learn), recipe), samples.take(test)
    price, rows = costs(held, recipe), np.arange(len(held))

    def cost(changed: Samples) -> float:
        return float(price[rows, predict_depths(policy, changed, recipe) - 1].mean())

    usual, random = cost(held), np.random.default_rng(recipe.seed)
    found = {}
    for k, name in enumerate(policy.features[: inputs(held, recipe).shape[1]]):  # layers follow from the search itself
        situation = held.situation.copy()
        situation[:, k] = random.permutation(situation[:, k])
        found[name] = cost(replace(held, situation=situation)) - usual
    return found


def describe_quality(quality: PredictionQuality) -> dict[str, Any]:
    """Return the numbers of a cross-validation as JSON takes them."""
    plain = {name: getattr(quality, name) for name in ("accuracy", "same_move", "majority", "depth_error", "cost")}
    sizes = {"nodes": quality.nodes, "branch": quality.branch, "folds": list(quality.folds)}
    return plain | sizes | {"confusion": quality.confusion.tolist()}


def beside_majority(accuracy: float, majority: float, saying: str) -> str:
    """Return what an accuracy means, in one sentence: how much of it is due to what was learned.

    Example:
        >>> beside_majority(0.47, 0.41, "always saying no")
        'An accuracy of 47.0 %, where always saying no has 41.0 %: 6.0 points of it are learned.'
    """
    gained = 100 * (accuracy - majority)
    learned = (
        f"{gained:.1f} points of it are learned"
        if gained > 0
        else "its predictions are no better, so judge it by its runs"
    )
    return f"An accuracy of {100 * accuracy:.1f} %, where {saying} has {100 * majority:.1f} %: {learned}."
