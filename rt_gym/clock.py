"""Time inside kernels: a cycle counter, and a histogram of how long each move took.

A whole trial runs inside one kernel, so Python's clocks cannot see its moves. The processor's own counter can, in a few
nanoseconds; a trial's ticks are turned into seconds by its wall-clock time. The histogram has 16 bins per power of
two (6 % wide), so that ten million moves need no more memory than ten.
"""

import platform
from time import perf_counter_ns

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from rt_gym.jit import kernel

BINS = 1024
LAST, LONGEST, TOTAL = BINS, BINS + 1, BINS + 2  # after the bins: the last reading, the longest move, their sum
SIZE = BINS + 3

_COUNTER = "llvm.readcyclecounter" if platform.machine().lower() in ("x86_64", "amd64") else "llvm.readsteadycounter"

if config.DISABLE_JIT:

    def ticks():
        """Return nanoseconds."""
        return perf_counter_ns()

    def bit_length(value):
        """Return how many bits ``value`` needs."""
        return int(value).bit_length()

else:

    @intrinsic
    def ticks(typingctx):
        """Return the processor's counter."""

        def codegen(context, builder, signature, args):
            kind = ir.FunctionType(ir.IntType(64), [])
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, _COUNTER), [])

        return types.int64(), codegen

    @intrinsic
    def bit_length(typingctx, value):
        """Return how many bits a positive int64 needs."""

        def codegen(context, builder, signature, args):
            zeros = builder.ctlz(args[0], cgutils.true_bit)
            return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)

        return types.int64(types.int64), codegen


@kernel(inline=True)
def start_clock(clock):
    """Begin to time the next move."""
    if clock.size > 0:
        clock[LAST] = ticks()


@kernel(inline=True)
def time_move(clock):
    """Enter the time since the last reading into the histogram; an empty one is switched off."""
    if clock.size == 0:
        return
    now = ticks()
    spent = max(now - clock[LAST], np.int64(1))
    clock[LAST] = now
    shift = max(bit_length(spent) - np.int64(5), np.int64(0))
    clock[16 * shift + (spent >> shift)] += 1
    clock[TOTAL] += spent
    if spent > clock[LONGEST]:
        clock[LONGEST] = spent


def quantile(clock: NDArray[np.int64], share: float) -> float:
    """Return the time in ticks below which this share of the moves lies, to the width of a bin."""
    counts = np.cumsum(clock[:BINS])
    if counts[-1] == 0:
        return 0.0
    index = int(np.searchsorted(counts, share * counts[-1]))
    if index < 32:
        return float(index)
    return min((16.5 + index % 16) * 2.0 ** (index // 16 - 1), float(clock[LONGEST]))
