"""How features are scaled for networks: every number x as sign(x) log(1 + abs(x)), in float32.

Trees test the features as they are, in steps and counts. Environments show them scaled, and networks read what
environments show. Distances, counts and values then have one scale, 0 stays 0, and the order of numbers is kept.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rt_gym.features.decision import squash


def squashed(rows: ArrayLike) -> NDArray[np.float32]:
    """Return features as environments show them; a table of pandas will do as well.

    Example:
        >>> squashed([[0, 1, -99.0]]).round(3).tolist()
        [[0.0, 0.6930000185966492, -4.605000019073486]]
    """
    shown = np.array(rows, np.float32, order="C")
    squash(shown.reshape(-1))
    return shown


def unsquashed(rows: ArrayLike) -> NDArray[np.float32]:
    """Return features in steps and counts, from those that environments show; equal but for rounding.

    Example:
        >>> unsquashed(squashed([[0, 1, -99.0]])).round(3).tolist()
        [[0.0, 1.0, -99.0]]
    """
    shown = np.asarray(rows, np.float64)
    return np.copysign(np.expm1(np.abs(shown)), shown).astype(np.float32)
