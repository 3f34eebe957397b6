"""The arguments of the environment in which a policy decides when to think and when to act."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.depth_settings import LARGEST
from rt_gym.envs.move import Terms
from rt_gym.envs.settings import Settings
from rt_gym.errors import whole
from rt_gym.features.thinking import GROUPS, THOUGHTS
from rt_gym.grid import MAX_CELLS


class ThinkSettings(Settings):
    """What an environment with one slice of time per step is made of; an action is to act or to think.

    Args:
        slice: how many states are expanded in a slice of thinking.
        settings: those of every environment.
    """

    def __init__(self, slice: int = 20, **settings: Any) -> None:
        self.slice = whole("slice", slice, 1, MAX_CELLS)
        super().__init__(**settings)
        self.actions = 2
        # Whether the episodes of a batch need maps of their own.
        self.private = self.fog or any(problem.changes for problem in self.pool)

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector."""
        begins = [THOUGHTS.index(first) for first in GROUPS.values()] + [len(THOUGHTS)]
        return dict(zip(GROUPS, map(slice, begins, begins[1:]), strict=True))

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the least and the largest that an observation can hold."""
        high = np.full(self.size, LARGEST, np.float32)
        return -high, high

    def terms(self) -> Terms:
        """Return the settings as kernels take them."""
        size = np.array([self.max_moves, self.slice], np.int64)
        return Terms(size=size, scale=np.empty(0), reward=self.prices())
