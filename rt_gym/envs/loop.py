"""The loops over the episodes of a batch, bound to the kernels of each environment by ``rt_gym.templates.bind``.

``batch`` and ``extra`` are the two parts of a batch's handle. ``extra`` is what only some batches have, None for the
others: kernels are compiled for either case, so that a test for it costs nothing.

Indices of episodes are unsigned: a signed one is tested at every look at an array.
"""

from typing import Any

import numpy as np

from rt_gym.envs.batch import NEXT_STEP, close_step


def make_step_info(kind: Any, count: int) -> Any:
    """Return what a step of ``count`` episodes tells beside its results, a NamedTuple of int64[count], all zeros."""
    return kind(*np.zeros((len(kind._fields), count), np.int64))


def start(batch, extra, i, out, info):
    """Stand in for a kernel that begins a new episode ``i`` and writes its first observation into ``out[i]``."""


def show(batch, extra, i, out, info):
    """Stand in for a kernel that writes the observation of episode ``i`` once more."""


def advance(batch, extra, actions, i, end, out, info):
    """Stand in for a kernel that makes one step of episode ``i`` and writes its observation and its ``info``.

    The episodes up to ``end - 1`` come next. It returns the reward and the bits of ``make_move``.
    """
    return 0.0, np.int64(0)


def start_all(handle, chosen, out, info):
    """Begin new episodes where ``chosen``, bool[n], is true; write all observations into ``out``, float32[n, size]."""
    batch, extra = handle.batch, handle.extra
    for k in range(chosen.size):
        i = np.uint64(k)
        if chosen[i]:
            start(batch, extra, i, out, info)
        else:
            show(batch, extra, i, out, info)


def step_range(handle, actions, results, info, begin, end):
    """Make one step of the episodes from ``begin`` to ``end - 1``; ``actions`` is int64[n], of all episodes.

    ``info`` holds zeros: the step with which an episode begins leaves them.
    """
    batch, extra, out = handle.batch, handle.extra, results.observation
    over, mode, stop = batch.episodes.common.over, batch.mode, np.uint64(end)
    for k in range(begin, end):
        i = np.uint64(k)
        reward, flags = 0.0, np.int64(0)
        if mode == NEXT_STEP and over[i]:
            start(batch, extra, i, out, info)
        else:
            reward, flags = advance(batch, extra, actions, i, stop, out, info)
        if close_step(results, over, mode, i, reward, flags):
            start(batch, extra, i, out, info)
