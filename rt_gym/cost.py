"""Exact path costs in one int64: the only place that knows the encoding.

A path of ``c`` straight and ``d`` diagonal steps costs ``c * STRAIGHT + d * DIAGONAL``. Sums and comparisons are
plain integer operations, so equal costs compare with ``==``. ``DIAGONAL`` is the odd integer next to
``sqrt(2) * STRAIGHT``, and because it is odd it can be inverted modulo ``STRAIGHT``, so that the two counts can be read
back. Up to ``INF``, which 2**22 straight steps would reach, that is exact: paths with other counts have other costs.

The order of two encoded costs is the order of the real ones as long as their diagonal counts differ by less than about
7e5. Beyond that, two whose real difference is less than two millionths of a step may change places.

A path that would cost ``INF`` or more has no cost: searches do not follow it, and what they would have found is refused
in the words ``TOO_LONG``. The totals of a trial are kept as two counters instead, which have no such limit.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel

STRAIGHT = 1 << 40
DIAGONAL = math.isqrt(2 * STRAIGHT * STRAIGHT) | 1
INF = 1 << 62
MOST_STEPS = INF // STRAIGHT
TOO_LONG = f"{MOST_STEPS} steps or more, for which there are no exact costs"
SQRT2 = math.sqrt(2.0)

_DIAGONAL_INVERSE = pow(DIAGONAL, -1, STRAIGHT)
_MOST = INF // DIAGONAL  # diagonal steps; a cost that decodes to more is a weighted one, not a sum of steps


def encode(straight: int, diagonal: int = 0) -> int:
    """Return the exact cost of a path with these numbers of straight and diagonal steps."""
    return straight * STRAIGHT + diagonal * DIAGONAL


def decode(cost: int) -> tuple[int, int]:
    """Return the numbers of straight and diagonal steps that make up an exact cost."""
    diagonal = (int(cost) % STRAIGHT) * _DIAGONAL_INVERSE % STRAIGHT
    return (int(cost) - diagonal * DIAGONAL) // STRAIGHT, diagonal


def to_float(cost: int) -> float:
    """Return an exact cost, or a weighted one, as the nearest float; ``INF`` and beyond become infinity."""
    if cost >= INF:
        return math.inf
    straight, diagonal = decode(cost)
    return straight + diagonal * SQRT2 if diagonal <= _MOST else cost / STRAIGHT


def ceiling(cells: int, updates: int) -> int:
    """Return the largest finite value on a map of so many cells, where a move may make so many updates.

    A shortest path enters no cell twice, so a value above that of a path through all cells proves that there is no way
    to the goal. It is taken as a proof only where the updates of one move suffice to climb so high: they would go on to
    ``INF``. Fewer leave the values to the moves, as the papers do.
    """
    return min(INF, encode(0, cells)) if updates >= cells * cells else INF


@kernel
def decode_all(costs, out):
    """Write ``costs``, int64[n], as floats into ``out``, float64[n]; infinity where nothing was reached."""
    for k in range(costs.size):
        cost = costs[k]
        low = np.uint64(cost & (STRAIGHT - 1))
        diagonal = np.int64(low * np.uint64(_DIAGONAL_INVERSE) & np.uint64(STRAIGHT - 1))
        straight = (cost - diagonal * DIAGONAL) >> 40
        steps = straight + diagonal * SQRT2 if diagonal <= _MOST else cost / STRAIGHT
        out[k] = np.inf if cost >= INF else steps


def to_floats(costs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return an array of exact costs as floats, infinity where nothing was reached."""
    floats = np.empty(costs.shape)
    decode_all(np.ascontiguousarray(costs).ravel(), floats.ravel())
    return floats
