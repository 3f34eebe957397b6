"""LRTA* whose lookahead is as deep as a neural network says, or goes on for as long as it says.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007: there a decision tree chooses the depth of General LRTA*.

Deviations and readings:
- A network takes the place of the tree. It sees exactly what RTDepth-v0 or RTDeepen-v0 shows, so a network that was
  trained there makes the same decisions here. It comes from evolution or from reinforcement learning.
- It may also be asked after every layer whether to act, after the first one for the first time: that layer is opened
  in any case.

The algorithm in plain Python: tests/reference/plain_policy_lrta.py
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
from agents.policies.forward import Net, forward
from agents.policies.networks import ACT, DECISIONS, DEEPEN, Network, load_network
from agents.policies.trees import INPUTS, largest
from rt_gym.errors import InputError, whole
from rt_gym.features.decision import LAYERS, SITUATION, squash
from rt_gym.features.history import FEATURES
from rt_gym.files import PathLike
from rt_gym.jit import kernel
from rt_gym.search.deepening import LAYER_ADDED
from rt_gym.views import KernelView


class PolicyMemory(NamedTuple):
    """What depth control shares, and the network.

    Attributes:
        control: the shared part.
        net: the network.
        by_layers: 1 if it decides after every layer.
        depths: the depth that each output stands for.
        seen: float32, the features as the network sees them.
        buffer: float64[2, widest layer], for the layers of the network.
        scores: its outputs.
    """

    control: Control
    net: Net
    by_layers: int
    depths: NDArray[np.int64]
    seen: NDArray[np.float32]
    buffer: NDArray[np.float64]
    scores: NDArray[np.float64]


@kernel
def see(memory, begin, end):
    """Bring some features into the form in which the network sees them.

    The bounds are int64 in every call: constants would be a type of their own, and compiled apart.
    """
    for k in range(begin, end):
        memory.seen[k] = memory.control.inputs[k]
    squash(memory.seen[begin:end])


@kernel(inline=True)
def chosen_depth(memory):
    """Return the depth with the largest output."""
    forward(memory.net, memory.seen, memory.buffer, memory.scores)
    return min(memory.depths[largest(memory.scores)], np.int64(memory.control.d_max))


@kernel(inline=True)
def stops(memory):
    """Whether the network has seen enough layers."""
    see(memory, np.int64(len(SITUATION)), np.int64(len(SITUATION) + len(LAYERS)))
    forward(memory.net, memory.seen, memory.buffer, memory.scores)
    depth = memory.control.by_depth.state[0].depth
    return memory.scores[ACT] >= memory.scores[DEEPEN] or depth == memory.control.d_max


@kernel
def plan(terrain, trip, memory, s, t):
    """Let the network choose a depth, or let it stop the search."""
    control = memory.control
    observe(terrain, trip, control, s, t)
    see(memory, np.int64(0), np.int64(len(SITUATION)))
    if memory.by_layers == 0:
        return search(terrain, trip, control, s, t, chosen_depth(memory))
    begin_layers(terrain, control, s, t)
    while True:
        result = open_layer(terrain, trip, control, t)
        if result != LAYER_ADDED:
            return result
        if stops(memory):
            return end_layers(terrain, trip, control, s, t)


class PolicyLRTA(DepthControl):
    """LRTA* with a neural network that chooses the depth.

    Args:
        policy: a file with a network, or the name of a ready-made one.
        d_max: look no deeper than that, whatever the network says; None leaves it to the network.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    def __init__(self, policy: PathLike | Network = "deepen", d_max: int | None = None, tie: str = "first") -> None:
        self.policy = policy
        self.network = load_network(policy)
        if self.network.decide not in DECISIONS:
            others = (
                "one that decides to think is for RTThink-v0 and think-lss, one for depth and goal for general-lrta,"
                " one for the move for path environments"
            )
            raise InputError(f"policy must decide {' or '.join(DECISIONS)}; {others}")
        cap = self.network.d_max if d_max is None else whole("d_max", d_max, 1, MAX_DEPTH)
        super().__init__(min(cap, self.network.d_max), self.network.history, tie)
        beyond = set(self.network.features) & set(SITUATION) - set(FEATURES)
        self.features = ALL_FEATURES if beyond else PAPER_FEATURES

    def make_memory(self, view: KernelView) -> PolicyMemory:
        """Return the memory for maps of this size and kind."""
        network = self.network
        return PolicyMemory(
            control=super().make_memory(view),
            net=network.wired(INPUTS),
            by_layers=int(network.decide == "deepen"),
            depths=np.array(network.depths, np.int64),
            seen=np.zeros(len(INPUTS), np.float32),
            buffer=np.empty((2, network.widest)),
            scores=np.zeros(network.outputs),
        )
