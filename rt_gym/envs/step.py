"""A step: what a move is worth, whether it ends the episode, and the loops over the episodes of a batch.

The loops ``start_all`` and ``step_range`` are templates: ``rt_gym.templates.bind`` makes kernels of them, with those of
an environment in the places of ``start``, ``show`` and ``advance``. ``batch`` and ``extra`` are the two parts of a
batch's handle. ``extra`` is what only some batches have, None for the others: kernels are compiled for either case, so
that a test for it costs nothing.

Indices of episodes are unsigned: a signed one is tested at every look at an array.
"""

from typing import Any, NamedTuple

import numpy as np

from rt_gym.cost import STRAIGHT
from rt_gym.jit import kernel, record
from rt_gym.meter import GO, STOP, STUCK, after_overrun
from rt_gym.terrain import h0
from rt_gym.trip import STAY
from rt_gym.world import walk

# Bits of what a step reports: the goal was reached; the episode was cut; the move led into a wall; the budget was
# overrun; the agent knows no way to the goal; a move was made; the episode's table of learned values is full.
TERMINATED, TRUNCATED, BLOCKED, OVERRAN, LOST, MOVED, TABLE_FULL = 1, 2, 4, 8, 16, 32, 64

# When the next episode of a batch begins: with the step after the end, with the end itself, or when the caller says so.
NEXT_STEP, SAME_STEP, DISABLED = range(3)

# What an episode is about: the goal's cell, and what a reward of one is worth (1, or one divided by the optimal cost).
TASK = record(goal=int, unit=float)


class Rules(NamedTuple):
    """The settings that all environments share, as kernels take them.

    Attributes:
        max_moves: after how many moves an episode is cut.
        price: what an expansion, or a scan, costs in units of a straight step.
        discount: of the shaping; 0 for none.
        straight, diagonal: the cost of a step.
    """

    max_moves: int
    price: float
    discount: float
    straight: float
    diagonal: float


@kernel(inline=True)
def make_move(truth, terrain, trip, rules, t, d):
    """Make one move, unless the agent has overrun its budget and may not idle.

    Returns:
        The reward before any price and unit, and the bits named above but for TABLE_FULL.
    """
    state, s = trip.state[0], trip.state[0].at
    flags = np.int64(MOVED)
    if state.verdict == STUCK:
        flags |= LOST | TRUNCATED
    fate = after_overrun(trip)
    if fate != GO:
        flags |= OVERRAN
        d = np.int64(STAY)
    if fate == STOP:
        flags = flags & ~MOVED | TRUNCATED
    state.verdict = 0
    if flags & MOVED:
        state.at = walk(truth, terrain, trip, s, d)
    reward, more = judge(terrain, rules, s, state.at, t, d, trip.tally[0].moves)
    return reward, flags | more


@kernel(inline=True)
def judge(terrain, rules, s, u, t, d, moves):
    """Return what a move in direction ``d`` is worth that led from ``s`` to ``u``, and which of the first bits it sets.

    ``moves`` counts it and those before it.
    """
    flags = np.int64(0)
    if d >= 0 and u == s:
        flags |= BLOCKED
    if u == t:
        flags |= TERMINATED
    elif moves >= rules.max_moves:
        flags |= TRUNCATED
    cost = rules.diagonal if (u != s) & (d >= 4) else rules.straight
    return gained(terrain, rules, s, u, t) - cost, flags


@kernel(inline=True)
def gained(terrain, rules, s, u, t):
    """Return what the shaping gives for getting from ``s`` to ``u``."""
    discount = rules.discount
    return (h0(terrain, s, t) - discount * h0(terrain, u, t)) / STRAIGHT if discount > 0 else 0.0


# The episodes of a batch


def make_step_info(kind: Any, count: int) -> Any:
    """Return what a step of ``count`` episodes tells beside its results, a NamedTuple of int64[count], all zeros."""
    return kind(*np.zeros((len(kind._fields), count), np.int64))


@kernel(inline=True)
def close_step(results, over, mode, i, reward, flags):
    """Enter what a step of episode ``i`` returned; True if the next episode is to begin at once.

    ``mode`` is NEXT_STEP, SAME_STEP (``results.last`` then holds the old one's last observation) or DISABLED.
    """
    results.reward[i] = reward
    results.terminated[i] = flags & TERMINATED != 0
    results.truncated[i] = flags & TRUNCATED != 0
    over[i] = flags & (TERMINATED | TRUNCATED) != 0
    if not over[i] or mode != SAME_STEP:
        return False
    for k in range(results.last.shape[1]):
        results.last[i, k] = results.observation[i, k]
    return True


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
