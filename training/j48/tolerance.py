"""How J48 compares real numbers: nearly always with a slack, so that rounding does not decide between equals."""

import numpy as np

from rt_gym.jit import kernel

EPS = 1e-6


@kernel(inline=True)
def greater(a, b):
    """Return whether ``a`` is clearly greater than ``b``."""
    return a - b > EPS


@kernel(inline=True)
def at_least(a, b):
    """Return whether ``a`` is greater than ``b`` or not clearly smaller."""
    return a > b - EPS or a >= b


@kernel(inline=True)
def equal(a, b):
    """Return whether two numbers differ by less than the slack."""
    return abs(a - b) < EPS


@kernel
def first_maximum(values):
    """Return the index of the first of the largest values, 0 if none is clearly above zero.

    A holder is replaced by what is clearly greater only: of near equals the first one wins.
    """
    best, held = np.int64(0), 0.0
    for i in range(values.size):
        if greater(values[i], held):
            best, held = np.int64(i), values[i]
    return best


@kernel
def total(values):
    """Return the sum of an array, added up from its beginning."""
    result = 0.0
    for i in range(values.size):
        result += values[i]
    return result


@kernel
def training_errors(counts):
    """Return the weight of all classes but the one that a leaf with these class weights stands for."""
    return total(counts) - counts[first_maximum(counts)]
