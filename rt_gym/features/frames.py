"""Stacked observations: the last few of every episode, the oldest first."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


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

    def follow(
        self, latest: NDArray[Any], last: NDArray[Any], begun: NDArray[np.bool_] | None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return what is kept after a step of a batch, and what it was where an episode ended in this step.

        Args:
            latest: the observations after the step, of episodes that have begun their first.
            last: the same, but of episodes that have ended their last.
            begun: which have begun, None if none has.
        """
        kept = self.push(latest)
        if begun is None:
            return kept, last
        kept[:, -1] = last
        return self.begin(begun, latest), kept
