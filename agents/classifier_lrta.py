"""LRTA* whose lookahead is as deep as a classifier says, or goes on for as long as it says.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007: a decision tree chooses the depth from features of the agent's history.

Deviations and readings:
- Any sum of trees over the features of ``rt_gym.features.decision`` will do, not only one tree over the paper's four.
- A policy may also be asked after every layer whether to act; it then pays for the layers it has opened.
- The paper's trees are bounded by a constant, as a real-time agent must be: ``max_branch`` makes that a promise. A
  longer branch is cut, and the scores of the inner node where it is cut are used.

The algorithm in plain Python: tests/reference/plain_depth_control.py
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policies.depth_control import (
    ALL_FEATURES,
    MAX_DEPTH,
    PAPER_FEATURES,
    Control,
    DepthControl,
    begin_layers,
    end_layers,
    observe,
    open_layer,
    search,
)
from agents.policies.trees import Forest, Policy, add_scores, largest, load_policy
from rt_gym.errors import whole
from rt_gym.features.history import FEATURES
from rt_gym.files import PathLike
from rt_gym.jit import kernel
from rt_gym.search.deepening import LAYER_ADDED
from rt_gym.views import KernelView


class ClassifierMemory(NamedTuple):
    """What depth control shares, and the policy.

    Attributes:
        control: the shared part.
        forest: the trees.
        branch: the most tests per tree.
        by_layers: 1 if it decides after every layer.
        depths: the depth that each score stands for.
        threshold: from which score on to act, where it decides after every layer.
        scores: a buffer for the sums.
    """

    control: Control
    forest: Forest
    branch: int
    by_layers: int
    depths: NDArray[np.int64]
    threshold: float
    scores: NDArray[np.float64]


@kernel(inline=True)
def chosen_depth(memory):
    """Return the depth with the largest score."""
    add_scores(memory.forest, memory.control.inputs, memory.branch, memory.scores)
    return min(memory.depths[largest(memory.scores)], np.int64(memory.control.d_max))


@kernel(inline=True)
def stops(memory):
    """Whether the policy has seen enough layers."""
    add_scores(memory.forest, memory.control.inputs, memory.branch, memory.scores)
    return memory.scores[0] >= memory.threshold or memory.control.by_depth.state[0].depth == memory.control.d_max


@kernel
def plan(terrain, trip, memory, s, t):
    """Let the policy choose a depth, or let it stop the search."""
    control = memory.control
    observe(terrain, trip, control, s, t)
    if memory.by_layers == 0:
        return search(terrain, trip, control, s, t, chosen_depth(memory))
    begin_layers(terrain, control, s, t)
    while True:
        result = open_layer(terrain, trip, control, t)
        if result != LAYER_ADDED:
            return result
        if stops(memory):
            return end_layers(terrain, trip, control, s, t)


class ClassifierLRTA(DepthControl):
    """LRTA* with a learned choice of the depth.

    Args:
        policy: a file that ``rt-gym train depth`` has written, or the name of a ready-made policy.
        d_max: look no deeper than that, whatever the policy says; None leaves it to the policy.
        max_branch: the most tests per tree and decision; None follows every branch to its leaf.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    def __init__(
        self,
        policy: PathLike | Policy = "tree",
        d_max: int | None = None,
        max_branch: int | None = None,
        tie: str = "first",
    ) -> None:
        self.policy, self.max_branch = policy, max_branch
        self.trained = load_policy(policy)
        cap = self.trained.d_max if d_max is None else whole("d_max", d_max, 1, MAX_DEPTH)
        super().__init__(min(cap, self.trained.d_max), self.trained.history, tie)
        self.branch = self.trained.branch
        if max_branch is not None:
            self.branch = min(self.branch, whole("max_branch", max_branch, 1, 10_000))
        self.features = ALL_FEATURES if set(self.trained.features) - set(FEATURES) else PAPER_FEATURES

    def make_memory(self, view: KernelView) -> ClassifierMemory:
        """Return the memory for maps of this size and kind."""
        policy = self.trained
        return ClassifierMemory(
            control=super().make_memory(view),
            forest=policy.wired(),
            branch=self.branch,
            by_layers=int(policy.decide == "deepen"),
            depths=np.array(policy.depths, np.int64),
            threshold=float(policy.threshold),
            scores=np.zeros(policy.forest.scores.shape[1]),
        )
