"""Stacked observations: the last few of every episode, the oldest first."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import Results


class Frames:
    """The last observations of episodes; one that begins has its first in every place.

    Args:
        episodes: how many run side by side.
        stack: how many observations are kept.
        size: the length of one.
        dtype: the type of its numbers.
    """

    def __init__(self, episodes: int, stack: int, size: int, dtype: np.dtype[Any]) -> None:
        self._kept = np.zeros((episodes, stack, size), dtype)

    def begin(self, chosen: NDArray[np.bool_], first: NDArray[Any]) -> NDArray[Any]:
        """Begin the chosen episodes with these observations, and return those that are kept of all."""
        self._kept[chosen] = first[chosen, None]
        return self._kept.copy()

    def push(self, latest: NDArray[Any]) -> NDArray[Any]:
        """Let observations follow those that are kept, and return them all."""
        self._kept[:, :-1] = self._kept[:, 1:]
        self._kept[:, -1] = latest
        return self._kept.copy()

    def follow(self, results: Results, begun: NDArray[np.bool_] | None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return what is kept after a step of a batch, and what it was where an episode ended in this step.

        Args:
            results: what the step returned; observations of episodes that have begun are their first.
            begun: which have, None if none has.
        """
        kept, last = self.push(results.observation), results.last
        if begun is None:
            return kept, last
        kept[:, -1] = last
        return self.begin(begun, results.observation), kept
