"""95 % percentile bootstrap intervals over problems.

All that is estimated from sums shares one resampling, which is one matrix product, and everybody who is compared meets
the same resampled problems: differences and ratios stay paired.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLINGS = 2000
_ROOM = 4_000_000  # weights in memory at a time
_TAILS = (2.5, 97.5)

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A value with the ends of its 95 % interval, which one problem alone leaves unknown (nan)."""

    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of zero."""
        return self.low > 0 or self.high < 0


def resampled_weights(n: int, seed: int | Sequence[int]) -> Iterator[NDArray[np.int64]]:
    """Yield how often each of ``n`` problems is drawn, resamplings x n at a time, ``RESAMPLINGS`` in all."""
    rng = np.random.default_rng(seed)
    block = max(1, _ROOM // n)
    for begin in range(0, RESAMPLINGS, block):
        rows = min(block, RESAMPLINGS - begin)
        picks = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n)


def resampled_sums(columns: Floats, seed: int | Sequence[int], strata: NDArray[np.int64] | None = None) -> Floats:
    """Return the sums of n x k columns over problems: first of all of them, then of each resampling.

    Args:
        columns: the numbers.
        seed: for the resamplings.
        strata: the number of every problem's stratum. Each is resampled by itself, so that the interval is one for
            these strata, and not for others of their kind.
    """
    if strata is not None and strata.any():
        parts = (resampled_sums(columns[strata == k], [int(k), *np.atleast_1d(seed)]) for k in np.unique(strata))
        return np.add.reduce(list(parts))
    drawn = (weights @ columns for weights in resampled_weights(len(columns), seed))
    return np.concatenate([columns.sum(axis=0, keepdims=True), *drawn])


def resampled_medians(values: Floats, seed: int | Sequence[int]) -> Floats:
    """Return the median of the values that are numbers: first of all of them, then of each resampling of problems.

    A resampling without any has none (nan).
    """
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    once = np.ones((1, len(values)), np.int64)
    drawn = [_medians(values[order], weights[:, order]) for weights in (once, *resampled_weights(len(values), seed))]
    return np.concatenate(drawn)


def _medians(rising: Floats, weights: NDArray[np.int64]) -> Floats:
    """Return the median of values that are each there as often as a row of weights says."""
    if not rising.size:
        return np.full(len(weights), np.nan)
    ends = weights.cumsum(axis=1)
    total = ends[:, -1:]
    lower, upper = (np.argmax(2 * ends >= total, axis=1), np.argmax(2 * ends > total, axis=1))
    return np.where(total[:, 0] > 0, (rising[lower] + rising[upper]) / 2, np.nan)


def estimate(values: Floats, problems: int) -> Estimate:
    """Return the first value with the interval of the others, which come from resamplings."""
    low, high = np.percentile(values[1:], _TAILS) if problems > 1 else (np.nan, np.nan)
    return Estimate(float(values[0]), float(low), float(high))
