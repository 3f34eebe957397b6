"""LRTA* whose lookahead is as deep as a classifier says, or goes on for as long as it says.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007: a decision tree chooses the depth from features of the agent's history.

Deviations and readings:
- Any sum of trees over the features of ``rt_gym.situation`` will do, not only one tree over the paper's four.
- A policy may also be asked after every layer whether to act; it then pays for the layers it has opened.
- The paper's trees are bounded by a constant, as a real-time agent must be: ``max_branch`` makes that a promise. A
  longer branch is cut, and the inner node it ends in speaks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policies.depth_control import (
    D_MAX,
    MAX_DEPTH,
    Control,
    DepthControl,
    begin_layers,
    end_layers,
    look,
    open_layer,
    search,
)
from agents.policies.trees import Forest, Policy, add_scores, largest, load_policy
from rt_gym.errors import whole
from rt_gym.features.history import FEATURES
from rt_gym.files import PathLike
from rt_gym.jit import kernel
from rt_gym.search.deepening import CLIMBED
from rt_gym.world import View

# Entries of ClassifierMemory.state: whether it decides after every layer, whether it needs more than the paper's
# features, and the longest branch.
BY_LAYERS, RICH, BRANCH = range(3)


class ClassifierMemory(NamedTuple):
    """What depth control shares, and the policy.

    Attributes:
        control: the shared part.
        forest: the trees.
        depths: the depth that each score stands for.
        scores: room for the sums.
        threshold: float64[1], from which score on to act.
        state: int64[3], see above.
    """

    control: Control
    forest: Forest
    depths: NDArray[np.int64]
    scores: NDArray[np.float64]
    threshold: NDArray[np.float64]
    state: NDArray[np.int64]


@kernel
def plan(terrain, trip, memory, s, t):
    """Let the policy choose a depth, or let it stop the search."""
    control = memory.control
    look(terrain, trip, control, memory.state[RICH], s, t)
    if memory.state[BY_LAYERS] == 0:
        add_scores(memory.forest, control.inputs, memory.state[BRANCH], memory.scores)
        depth = min(memory.depths[largest(memory.scores)], control.state[D_MAX])
        return search(terrain, trip, control, s, t, depth)
    begin_layers(terrain, control, s, t)
    while True:
        result = open_layer(terrain, trip, control, t)
        if result != CLIMBED:
            return result
        add_scores(memory.forest, control.inputs, memory.state[BRANCH], memory.scores)
        if memory.scores[0] >= memory.threshold[0] or control.ladder.state[0].depth == control.state[D_MAX]:
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

    def make_memory(self, view: View) -> ClassifierMemory:
        """Return the memory for maps of this size and kind."""
        policy = self.trained
        rich = any(name not in FEATURES for name in policy.features)
        return ClassifierMemory(
            control=super().make_memory(view),
            forest=policy.wired(),
            depths=np.array(policy.depths, np.int64),
            scores=np.zeros(policy.forest.scores.shape[1]),
            threshold=np.array([policy.threshold]),
            state=np.array([policy.decide == "deepen", rich, self.branch], np.int64),
        )
