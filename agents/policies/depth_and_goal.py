"""Depth and goal of General LRTA* from one network: the decisions of RTDepthGoal-v0, made inside the trial kernel.

The network sees what the environment shows: the features of where the agent stands, all of them towards its goal, and
those of the next subgoal. One head of it chooses the depth, the other whether to head for the goal or the subgoal.
Subgoals are looked up at every move, and there is no guard: what the network was not taught can go on for good.
"""

import os
from typing import Any, NamedTuple
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.region_guide import RegionGuide, is_open
from agents.policies.depth_control import ALL_FEATURES, MAX_DEPTH, NOT_YET, Control, DepthControl, observe
from agents.policies.forward import Net, forward
from agents.policies.networks import BOTH, KNOWN, Network, load_network, ready_made
from agents.policies.trees import largest
from rt_gym.abstraction import Abstraction
from rt_gym.abstraction.routes import subgoals_towards
from rt_gym.errors import InputError, whole
from rt_gym.features.decision import SITUATION, note_decision, squash
from rt_gym.features.subgoal import write_subgoal
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import NONE
from rt_gym.search.tables import is_full
from rt_gym.search.values import value_at
from rt_gym.trip import FULL, NO_PATH
from rt_gym.views import KernelView


class BothMemory(NamedTuple):
    """What depth control shares, and the network.

    Attributes:
        control: the shared part.
        net: the network.
        depths: the depth that each output of the first head stands for.
        seen: float32, the features as the network sees them.
        buffer: float64[2, widest layer], for the layers of the network.
        scores: its outputs, those of the second head last.
    """

    control: Control
    net: Net
    depths: NDArray[np.int64]
    seen: NDArray[np.float32]
    buffer: NDArray[np.float64]
    scores: NDArray[np.float64]


@kernel(inline=True)
def next_subgoal(terrain, guide, s):
    """Return the subgoal of an agent in ``s``; NONE without one, and where it is known to be blocked."""
    r = guide.region[s]
    if r == NONE or not is_open(terrain, guide, guide.ahead[r]):
        return np.int64(NONE)
    return np.int64(guide.representatives[guide.ahead[r]])


@kernel(inline=True)
def see(terrain, trip, memory, s, t):
    """Write the features as the network sees them, and return the subgoal."""
    chooser, control = memory.chooser, memory.chooser.control
    pursued = np.int64(NONE) if control.state[0].moves == NOT_YET else memory.state[0].pursued
    observe(terrain, trip, control, s, t)
    subgoal = next_subgoal(terrain, memory.guide, s)
    for k in range(len(SITUATION)):
        chooser.seen[k] = control.inputs[k]
    write_subgoal(terrain, subgoal, pursued, s, t, chooser.seen[len(SITUATION) :])
    squash(chooser.seen)
    return subgoal


@kernel(inline=True)
def choose(memory, subgoal, t):
    """Return the depth and the goal that the network chooses."""
    chooser = memory.chooser
    forward(chooser.net, chooser.seen, chooser.buffer, chooser.scores)
    depths = chooser.depths.size
    depth = min(chooser.depths[largest(chooser.scores[:depths])], np.int64(chooser.control.d_max))
    heads_for_subgoal = largest(chooser.scores[depths:]) == 1 and subgoal != NONE
    return depth, subgoal if heads_for_subgoal else np.int64(t)


@kernel(inline=True)
def search(terrain, trip, memory, s, goal, depth):
    """Make General LRTA*'s decision towards a goal; return its result and by how much it raised the value of ``s``."""
    control, memory.state[0].pursued = memory.chooser.control, goal
    value = value_at(control.h, terrain, s, goal)
    result = general_lrta(terrain, trip, control.space, control.h, s, goal, depth)
    return result, value_at(control.h, terrain, s, goal) - value


@kernel
def plan(terrain, trip, memory, s, t):
    """Let the network choose depth and goal."""
    if is_full(memory.values):
        return np.int64(FULL)
    before, subgoal = trip.meter[0].expansions, see(terrain, trip, memory, s, t)
    depth, goal = choose(memory, subgoal, t)
    result, rise = search(terrain, trip, memory, s, goal, depth)
    if result == NO_PATH and goal != t:  # a subgoal that cannot be reached is given up, at little more expense
        result, rise = search(terrain, trip, memory, s, np.int64(t), np.int64(1))
    note_decision(memory.chooser.control.situation, depth, trip.meter[0].expansions - before, rise)
    return result


def network_for_both(policy: Any) -> Network | None:
    """Return a network that chooses depth and goal; None if the policy is a tree's file or name, or there is none.

    Raises:
        InputError: if it is a network that chooses something else, or a damaged one.
    """
    if not isinstance(policy, Network):
        if not isinstance(policy, (str, os.PathLike)) or not (policy in ready_made() or is_zipfile(policy)):
            return None
        policy = load_network(policy)
    if policy.decide != BOTH:
        raise InputError(f'policy decides the {policy.decide} alone: say depth="policy" and which goal')
    return policy


def with_subgoals(guide: RegionGuide, grid: Grid, regions: Abstraction | None, goal_cell: int) -> RegionGuide:
    """Return a guide that knows the regions and now from each of them the next one towards the goal."""
    assert regions is not None, "a guide has regions"
    cells = subgoals_towards(grid, regions, int(regions.region[goal_cell]))
    guide.ahead[:] = np.where(cells == NONE, NONE, regions.region[cells])
    return guide


class DepthAndGoal(DepthControl):
    """A chooser of depth and goal.

    Args:
        network: the policy.
        d_max: look no deeper than that, whatever the network says; None leaves it to the network.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    features = ALL_FEATURES

    def __init__(self, network: Network, d_max: int | None, tie: str) -> None:
        self.network = network
        cap = network.d_max if d_max is None else whole("d_max", d_max, 1, MAX_DEPTH)
        super().__init__(min(cap, network.d_max), network.history, tie)

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take, the one for a subgoal that is given up included."""
        return (2 * self.d_max - 1) ** 2 + 1

    def make_memory(self, view: KernelView) -> BothMemory:
        """Return the memory for maps of this size and kind."""
        network = self.network
        return BothMemory(
            control=super().make_memory(view),
            net=network.wired(KNOWN[BOTH]),
            depths=np.array(network.depths, np.int64),
            seen=np.zeros(len(KNOWN[BOTH]), np.float32),
            buffer=np.empty((2, network.widest)),
            scores=np.zeros(network.outputs),
        )
