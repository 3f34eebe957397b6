"""Random actions that depend on the seed, the problem and how many were drawn for it, and on nothing else.

The generator is splitmix64 of G. L. Steele Jr., D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators",
OOPSLA 2014: a counter, mixed.
"""

import numpy as np

from rt_gym.jit import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@kernel(inline=True)
def mixed(counter):
    """Return the number that belongs to a counter."""
    x = (counter ^ (counter >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@kernel(inline=True)
def uniform(counters, i):
    """Return the next number of episode ``i``, from 0 up to 1."""
    counters[i] += _STEP
    return np.float64(mixed(counters[i]) >> np.uint64(11)) * 2.0**-53


@kernel
def begin_counters(counters, begun, numbers, seed):
    """Begin with the numbers of other problems in the episodes where ``begun``, bool[n], is true."""
    for i in range(begun.size):
        if begun[i]:
            counters[i] = mixed(mixed(seed[0]) + np.uint64(numbers[i]))


@kernel
def draw_actions(counters, masks, begin, end, out):
    """Write one of the actions from ``begin`` to ``end - 1`` that a mask allows into ``out``, int64[n]; 0 for none."""
    for i in range(counters.size):
        count = 0
        for k in range(begin, end):
            count += masks[i, k]
        skip = np.int64(uniform(counters, i) * count)
        out[i] = 0
        for k in range(begin, end):
            if masks[i, k] != 0:
                if skip == 0:
                    out[i] = k - begin
                    break
                skip -= 1


@kernel
def draw_numbers(counters, out):
    """Write random numbers into ``out``, float64[n, k]."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = uniform(counters, i)
