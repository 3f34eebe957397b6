"""The pessimistic error estimate by which J48 prunes: the upper limit of a confidence interval."""

import numpy as np
from scipy.special import ndtri

from rt_gym.jit import kernel
from training.j48.tolerance import equal, total, training_errors


def confidence_limits(confidence_factor: float) -> tuple[float, float]:
    """Return the confidence and its normal quantile, both computed in single precision as Weka does."""
    confidence = np.float32(confidence_factor)
    return float(confidence), float(ndtri(float(np.float32(1) - confidence)))


@kernel
def extra_errors(n, e, confidence, z):
    """Return what to add to ``e`` errors among rows of weight ``n``; ``z`` is the quantile of the confidence."""
    if confidence > 0.5:
        return 0.0
    if e < 1.0:
        base = n * (1.0 - confidence ** (1.0 / n))
        if e == 0.0:
            return base
        return base + e * (several_errors(n, 1.0, z) - base)
    return several_errors(n, e, z)


@kernel
def several_errors(n, e, z):
    """Return the extra errors where there is one error or more: the upper limit of Wilson's interval."""
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    f = (e + 0.5) / n
    upper = f + z * z / (2 * n) + z * np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return upper / (1.0 + z * z / n) * n - e


@kernel
def expected_errors(counts, confidence, z):
    """Return the errors to be expected of a leaf with these class weights."""
    n = total(counts)
    if equal(n, 0.0):
        return 0.0
    e = training_errors(counts)
    return e + extra_errors(n, e, confidence, z)
