"""Time inside kernels: a histogram of how long each move took.

A whole trial runs inside one kernel, so Python's clocks cannot see its moves. The processor's own counter can, in a few
nanoseconds; a trial's ticks are turned into seconds by its wall-clock time. The histogram has 16 bins per power of
two (6 % wide), so that ten million moves need no more memory than ten.
"""

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.intrinsics import bit_length, ticks
from rt_gym.jit import kernel, record

BINS = 1024
TIMES = record(last=int, longest=int, total=int, planning=int)


class Clock(NamedTuple):
    """How long the moves of a trial took, in ticks.

    Attributes:
        bins: int64[BINS], the histogram; int64[0] switches the clock off.
        times: TIMES[1], the last reading, the longest move, the sum of all moves, and what of it was planning.
    """

    bins: NDArray[np.int64]
    times: NDArray[np.record]


def make_clock(on: bool, rows: tuple[int, ...] = ()) -> Clock:
    """Return a clock, or one that is switched off; ``rows`` of them for a batch."""
    return Clock(np.zeros((*rows, BINS if on else 0), np.int64), np.zeros((*rows, 1), TIMES))


@kernel(inline=True)
def start_clock(clock):
    """Begin to time the next move."""
    if clock.bins.size > 0:
        clock.times[0].last = ticks()


@kernel(inline=True)
def time_plan(clock):
    """Count the time since the last reading as planning; it counts as part of the move as well."""
    if clock.bins.size > 0:
        clock.times[0].planning += ticks() - clock.times[0].last


@kernel(inline=True)
def time_move(clock):
    """Enter the time since the last reading into the histogram."""
    if clock.bins.size == 0:
        return
    now, times = ticks(), clock.times[0]
    spent = max(now - times.last, np.int64(1))
    times.last = now
    shift = max(bit_length(spent) - np.int64(5), np.int64(0))
    clock.bins[16 * shift + (spent >> shift)] += 1
    times.total += spent
    if spent > times.longest:
        times.longest = spent


def quantiles(clock: Clock, *shares: float) -> list[float]:
    """Return the times in ticks below which these shares of the moves lie, to the width of a bin."""
    counts = clock.bins.cumsum()
    moves = int(counts[-1]) if counts.size else 0
    if moves == 0:
        return [0.0] * len(shares)
    longest = float(clock.times["longest"].item())
    # A float would have all counts converted.
    return [_middle(int(counts.searchsorted(ceil(share * moves))), longest) for share in shares]


def _middle(index: int, longest: float) -> float:
    """Return the middle of a bin, but no more than the longest time."""
    return float(index) if index < 32 else min((16.5 + index % 16) * 2.0 ** (index // 16 - 1), longest)
