"""What policies learn to predict: labels and costs of the depths, by a reading of ties, and the inputs beside them.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007, labels a state with the smallest depth from which on all depths make the move of the
largest. It does not say how ties between moves are broken, which decides most labels. Readings:

- ``search``: every depth makes the move that its search finds, which is the one that agents make.
- ``ordered``: every depth makes the first of its tied moves in the order of the directions.
- ``tolerant``: a move agrees if it is one of the tied moves of the largest depth.

Agents move as their searches say, whatever they have learned from: a reading changes the labels and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from rt_gym import InputError
from rt_gym.cost import STRAIGHT
from rt_gym.errors import quoted
from rt_gym.features.decision import LAYERS, SITUATION, write_layers
from rt_gym.features.history import FEATURES
from rt_gym.jit import kernel
from rt_gym.search.deepening import enter_layer, make_depth_results
from training.judge.stats import Floats
from training.learn.log import Samples, settled

LEARNERS = ("j48", "cart", "forest", "boosting")
LABELS = ("class", "cost")
DECISIONS = ("depth", "deepen")
FEATURE_SETS = {"paper": FEATURES, "rich": SITUATION}
TIES = ("search", "ordered", "tolerant")


@dataclass(frozen=True)
class Recipe:
    """How to learn a policy.

    Attributes:
        learner: ``"j48"`` (Weka's C4.5), ``"cart"``, ``"forest"`` (random) or ``"boosting"`` (gradient).
        labels: ``"class"``, the smallest depth that decides as the largest; or ``"cost"``, what every depth costs. J48
            learns classes only: with costs, its tree is that of the classes and its leaves know the mean costs.
        decide: ``"depth"`` before the search, or after every layer whether to ``"deepen"``.
        features: ``"paper"``, the four of the history; or ``"rich"``, all of ``rt_gym.features.decision``.
        ties: which moves count as that of the largest depth: ``"search"``, ``"ordered"`` or ``"tolerant"``.
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
        for name in ("price", "threshold"):
            if not isfinite(getattr(self, name)):
                raise InputError(f"{name} must be a finite number, not {getattr(self, name)}")
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


# Labels


def moves(samples: Samples, ties: str) -> NDArray[np.uint8]:
    """Return the move of each depth, by a reading of ties."""
    return np.argmax(tied_moves(samples), axis=2).astype(np.uint8) if ties == "ordered" else samples.action


def agreement(samples: Samples, ties: str) -> NDArray[np.bool_]:
    """Return whether each depth decides as the largest, by a reading of ties."""
    if ties == "tolerant":
        return (np.uint8(1) << samples.action) & samples.ties[:, -1:] > 0
    made = moves(samples, ties)
    return made == made[:, -1:]


def label_by(samples: Samples, ties: str) -> NDArray[np.int64]:
    """Return the smallest depth from which on all depths agree, by a reading of ties."""
    return samples.label if ties == "search" else settled(agreement(samples, ties))


def tied_moves(samples: Samples) -> NDArray[np.uint8]:
    """Return the ties of each depth with a last axis that has a 1 for every direction that ties."""
    return np.unpackbits(samples.ties[:, :, None], axis=2, bitorder="little")


# Other rules for the label, which change the samples themselves


def as_logged(samples: Samples) -> Samples:
    """The paper's: the smallest depth from which on all depths make the move of the largest."""
    return samples


def shallowest(samples: Samples) -> Samples:
    """The smallest depth that makes the move of the largest, whatever those between do."""
    agrees = samples.action == samples.action[:, -1:]
    return replace(samples, label=np.argmax(agrees, axis=1) + 1)


def drawn(samples: Samples) -> Samples:
    """The paper's, where every depth draws one of its tied moves."""
    ties = tied_moves(samples)
    action = np.argmax(ties * np.random.default_rng(0).random(ties.shape), axis=2)
    return replace(samples, action=action.astype(np.uint8), label=settled(action == action[:, -1:]))


LABEL_RULES: dict[str, Callable[[Samples], Samples]] = {"paper": as_logged, "shallowest": shallowest, "drawn": drawn}


# Costs and inputs


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
