"""Policies for other programs: ONNX files and C headers, and what both must agree with, the decisions of our kernels.

The inputs are the features of a policy as they are, in steps and counts, in float32; networks scale them inside. For
those that decide the move the features are the observation of their path environment. The outputs are named by what is
decided: the ``depth``; whether to ``deepen`` or to ``think`` on, 1 or 0; whether to head for the ``subgoal``; and the
``move``, an action, whether or not it leads somewhere: who knows that takes the largest score of those that do.

- Thresholds of trees are float64 in our files and float32 here, rounded down, which sends every float32 the same way.
- Scores are float64. Those of trees are added in our order, so that they are equal to the last bit.
- Sums of networks may come out in another order, and logarithms and tanh of another library: outputs are equal but for
  rounding, and so are decisions unless two outputs are as good as equal.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policies import goals, networks, trees
from agents.policies.genes import KIND as GENES
from agents.policies.networks import BOTH, MOVE, Network, load_network
from agents.policies.trees import LEAF, Forest, Policy, add_scores, load_policy
from rt_gym import InputError
from rt_gym.features.scaling import squashed
from rt_gym.files import PathLike, read_json, require_path, shown
from rt_gym.jit import kernel
from training.judge.stats import Floats

Rows = NDArray[np.float32]
Decisions = dict[str, NDArray[np.int64]]

_REFUSED = {
    GENES: "genes are settings of building-block-lrta, and no function that could be exported",
    goals.KIND: "a goal policy scores regions of an abstraction, which other programs do not have",
}
_LARGE = 7.0  # the logarithm of the largest feature that is drawn
_TRIED = 1 << 12  # rows that are drawn to choose from
SURE = 1e-4  # by how much the best output of a network must be ahead where its decision is to be the same everywhere


def load_exportable(source: PathLike) -> Policy | Network:
    """Return a tree or a network, from a file or by the name of one that comes with the package.

    Raises:
        InputError: if it is neither, or cannot be read.
    """
    require_path("policy", source, "a file or a name")
    if source in networks.ready_made() or str(source).endswith(".npz"):
        return load_network(source)
    if source in trees.ready_made(goals.KIND):
        raise InputError(f"{shown(source)}: {_REFUSED[goals.KIND]}")
    if str(source).endswith(".json"):
        content = read_json(source, "a policy")
        kind = content.get("kind") if isinstance(content, dict) else None
        if isinstance(kind, str) and kind in _REFUSED:
            raise InputError(f"{shown(source)}: {_REFUSED[kind]}")
    return load_policy(source)


def words(policy: Policy | Network) -> tuple[str, ...]:
    """Return the names of what a policy decides."""
    return ("depth", "subgoal") if policy.decide == BOTH else (policy.decide,)


@kernel
def score_all(forest, rows, out):
    """Write the scores of every row, float64[n, outputs]."""
    for i in range(len(rows)):
        add_scores(forest, rows[i], forest.feature.size, out[i])


def first_count(policy: Policy | Network) -> int:
    """Return between how many outputs the first decision is."""
    return len(policy.depths) or (policy.outputs if isinstance(policy, Network) else 2)


def scores_of(policy: Policy | Network, rows: Rows) -> Floats:
    """Return the scores that our kernels find for rows of features as they are."""
    if isinstance(policy, Network):
        return policy.scores(rows if policy.decide == MOVE else squashed(rows))
    out = np.empty((len(rows), policy.forest.scores.shape[1]))
    score_all(policy.forest, np.ascontiguousarray(rows, np.float32), out)
    return out


def decisions_of(policy: Policy | Network, scores: Floats) -> Decisions:
    """Return what scores decide, by the names of ``words``."""
    first, *others = words(policy)
    if isinstance(policy, Policy) and policy.decide == "deepen":
        return {first: (scores[:, 0] < policy.threshold).astype(np.int64)}
    count = first_count(policy)
    best = scores[:, :count].argmax(axis=1)
    said = {first: np.array(policy.depths)[best] if policy.depths else best}
    return said | {name: scores[:, count:].argmax(axis=1) for name in others}


def float32_thresholds(forest: Forest) -> Rows:
    """Return the largest float32 that each threshold lets go left."""
    with np.errstate(over="ignore"):
        nearest = forest.threshold.astype(np.float32)
    return np.where(nearest > forest.threshold, np.nextafter(nearest, np.float32(-np.inf)), nearest)


def sample_rows(policy: Policy | Network, count: int, seed: int = 0) -> Rows:
    """Return random features; for trees many are thresholds, or the next numbers beside them."""
    random = np.random.default_rng(seed)
    shape = count, len(policy.features)
    rows = np.expm1(random.uniform(0, _LARGE, shape)) * random.choice([-1, 1], shape, p=[0.1, 0.9])
    rows = np.where(random.random(shape) < 0.5, rows, np.rint(rows)).astype(np.float32)
    return rows if isinstance(policy, Network) else _with_thresholds(policy.forest, rows, random)


def _with_thresholds(forest: Forest, rows: Rows, random: np.random.Generator) -> Rows:
    limits = float32_thresholds(forest)
    for feature in np.unique(forest.feature[forest.feature != LEAF]):
        drawn = random.choice(limits[forest.feature == feature], len(rows))
        beside = np.nextafter(drawn, random.choice([-np.inf, np.inf], len(rows)).astype(np.float32))
        taken = random.random(len(rows))
        rows[:, feature] = np.where(taken < 0.3, drawn, np.where(taken < 0.6, beside, rows[:, feature]))
    return rows


def clear_rows(policy: Policy | Network, count: int, seed: int = 0) -> tuple[Rows, Decisions]:
    """Return rows with what is decided there, in turn one for every decision, none of them a matter of rounding."""
    rows = sample_rows(policy, _TRIED, seed)
    scores = scores_of(policy, rows)
    sure = _sure(policy, scores)
    rows, said = rows[sure], decisions_of(policy, scores[sure])
    taken = _in_turn(np.stack(list(said.values()), axis=1))[:count]
    return rows[taken], {name: values[taken] for name, values in said.items()}


def _sure(policy: Policy | Network, scores: Floats) -> NDArray[np.bool_]:
    """Return of which rows the decision of a network is clear; trees are always sure."""
    sure = np.ones(len(scores), np.bool_)
    if isinstance(policy, Network):
        for head in np.split(scores, [len(policy.depths)] if policy.decide == BOTH else [], axis=1):
            best = np.sort(head, axis=1)
            sure &= head.shape[1] == 1 or best[:, -1] - best[:, -2] > SURE * (1 + np.abs(best[:, -1]))
    return sure


def _in_turn(said: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows so that those which decide differently take turns."""
    _, kind = np.unique(said, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    turn = np.empty(len(kind), np.int64)
    for one in range(kind.max(initial=-1) + 1):
        turn[kind == one] = np.arange((kind == one).sum())
    return np.lexsort((kind, turn))


def summary(policy: Policy | Network) -> dict[str, Any]:
    """Return what a user of an exported policy must know, as texts."""
    regions = {"level": policy.level, "abstraction": policy.abstraction} if policy.decide == BOTH else {}  # type: ignore[union-attr]
    facts = {"decide": policy.decide, "features": ",".join(policy.features), "history": policy.history} | regions
    return {name: str(value) for name, value in (facts | {"d_max": policy.d_max}).items()}
