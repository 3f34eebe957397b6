"""The arguments of the environments in which the depth of the lookahead is controlled."""

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.move import Terms
from rt_gym.envs.settings import Settings, one_of
from rt_gym.errors import whole
from rt_gym.features import FEATURES
from rt_gym.situation import LAYERS, SITUATION

MAX_DEPTH = 100
LARGEST = 22.0  # the logarithm of what a billion moves can cost is below this

# The named parts of an observation and the feature with which each begins.
GROUPS = {
    "history": FEATURES[0],
    "learned": "surplus",
    "around": "exits",
    "decision": "last_depth",
    "trail": "since_update",
}


class DepthSettings(Settings):
    """What an environment with one decision per step is made of; an action is a depth.

    Args:
        d_max: the largest depth of a lookahead.
        features: ``"rich"``, those of ``rt_gym.situation``, or ``"paper"``, the four of ``rt_gym.features``.
        settings: those of every environment.
    """

    layered: ClassVar[bool] = False

    def __init__(self, d_max: int = 16, features: str = "rich", **settings: Any) -> None:
        self.d_max = whole("d_max", d_max, 1, MAX_DEPTH)
        self.rich = one_of("features", features, "rich", "paper") == "rich"
        super().__init__(**settings)
        self.actions = 2 if self.layered else self.d_max

    @property
    def inputs(self) -> int:
        """How many features say where the agent stands."""
        return len(SITUATION if self.rich else FEATURES)

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector."""
        begins = [SITUATION.index(first) for first in GROUPS.values()] + [len(SITUATION)]
        parts = dict(zip(GROUPS, map(slice, begins, begins[1:]), strict=True))
        if not self.rich:
            parts = {"history": parts["history"]}
        return parts | ({"layers": slice(self.inputs, self.inputs + len(LAYERS))} if self.layered else {})

    @property
    def room(self) -> int:
        """How many states a lookahead can have."""
        return min((2 * self.d_max + 1) ** 2, self.cells)

    @property
    def cells(self) -> int:
        """How many cells, border included, the largest map can have."""
        return (self.side + 2) ** 2

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the least and the largest that an observation can hold."""
        high = np.full(self.size, LARGEST, np.float32)
        return -high, high

    def terms(self) -> Terms:
        """Return the settings as kernels take them."""
        size = np.array([self.max_moves, self.rich, self.layered, self.d_max], np.int64)
        return Terms(size=size, scale=np.empty(0), reward=self.prices())


class DeepenSettings(DepthSettings):
    """What an environment with one layer per step is made of; an action is to act or to deepen."""

    layered = True
