"""The depth of General LRTA* where no policy chooses it: fixed, or looked up in a database together with the goal."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policies.depth_control import Control, DepthControl
from rt_gym.jit import kernel, record
from rt_gym.search.lookahead import general_lrta
from rt_gym.views import KernelView

CHOICE = record(pursued=int, depth=int)  # the cell that the agent heads for, and the depth


class StoredMemory(NamedTuple):
    """What depth control shares, and CHOICE[1], of which the depth is read."""

    control: Control
    state: NDArray[np.record]


@kernel
def plan(terrain, trip, memory, s, t):
    """Look as far ahead as the memory says."""
    return general_lrta(terrain, trip, memory.control.space, memory.control.h, s, t, memory.state[0].depth)


class StoredDepth(DepthControl):
    """A chooser that reads the depth from its memory; the caller writes it there."""

    plan = staticmethod(plan)

    def make_memory(self, view: KernelView) -> StoredMemory:
        """Return the memory for maps of this size and kind."""
        return StoredMemory(super().make_memory(view), np.zeros(1, CHOICE))
