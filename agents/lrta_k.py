"""LRTA*(k): LRTA* that looks again at up to k - 1 states that a risen value may concern.

C. Hernández, P. Meseguer, "LRTA*(k)", IJCAI 2005; in the form that the same authors summarise in "Combining Lookahead
and Propagation in Real-Time Heuristic Search", SoCS 2008, where any state may be looked at.

Readings:
- ``k`` bounds how many states enter the queue per move, the current one included. A state may enter again once it has
  left; the goal never enters.
- ``visited_only`` is the form of 2005: only states of the trial's own path enter.
- ``supports``: a state enters only if the risen one was its best successor when it was last looked at, so one that was
  never looked at does not enter. Supports are remembered over trials.
- The successors of the current state are read once to update it, which is the expansion, and once more to choose the
  move if other values have risen since.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from rt_gym.errors import flag, whole
from rt_gym.grid import OPPOSITE, fill_h0
from rt_gym.jit import kernel
from rt_gym.meter import charge, learn, scan
from rt_gym.search.propagation import best_step, commit
from rt_gym.search.space import NONE, Space, make_space
from rt_gym.search.values import raise_value, value_at
from rt_gym.trip import CUT
from rt_gym.world import View

# Entries of LRTAKMemory.settings.
K, SUPPORTS, VISITED_ONLY, TRIAL = range(4)


class LRTAKMemory(NamedTuple):
    """Learned values and, for every cell, whether it waits, its support and the last trial that visited it.

    The queue is a ring in ``space.item``; there is no search in ``space``.
    """

    h: NDArray[np.int64]
    space: Space
    waiting: NDArray[np.uint8]
    support: NDArray[np.int8]
    visited: NDArray[np.int64]
    settings: NDArray[np.int64]


@kernel(inline=True)
def enqueue(terrain, memory, v, moves, t, tail, left):
    """Let the successors of ``v``, which has risen, wait; return the end of the queue and how many may still enter."""
    queue, settings = memory.space.item, memory.settings
    for d in range(8):
        if moves >> d & 1 and left > 0:
            w = v + terrain.offset[d]
            if memory.waiting[w] != 0 or w == t:
                continue
            if settings[SUPPORTS] != 0 and memory.support[w] != OPPOSITE[d]:
                continue
            if settings[VISITED_ONLY] != 0 and memory.visited[w] != settings[TRIAL]:
                continue
            memory.waiting[w] = 1
            queue[tail] = w
            tail = tail + 1 if tail + 1 < queue.size else np.int64(0)
            left -= 1
    return tail, left


@kernel(inline=True)
def propagate(terrain, trip, memory, x, moves, t):
    """Update states that the rise of ``x`` may concern, in the order they came; return whether any has risen."""
    h, queue = memory.h, memory.space.item
    head, rose = np.int64(0), False
    tail, left = enqueue(terrain, memory, x, moves, t, head, memory.settings[K] - 1)
    while head != tail:
        v = np.int64(queue[head])
        head = head + 1 if head + 1 < queue.size else np.int64(0)
        memory.waiting[v] = 0
        learn(trip)
        around = np.int64(terrain.mask[v])
        y, f = best_step(terrain, h, v, around, t)
        memory.support[v] = y
        if value_at(h, terrain, v, t) < f:
            rose = True
            raise_value(trip, h, terrain, v, t, f)
            tail, left = enqueue(terrain, memory, v, around, t, tail, left)
    return rose


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Update the current state, propagate if its value has risen, and commit to the step to the best successor."""
    h = memory.h
    if not charge(trip, s):
        return np.int64(CUT)
    memory.visited[s] = memory.settings[TRIAL]
    moves = np.int64(terrain.mask[s])
    y, f = best_step(terrain, h, s, moves, t)
    memory.support[s] = y
    if y != NONE and value_at(h, terrain, s, t) < f:
        raise_value(trip, h, terrain, s, t, f)
        if propagate(terrain, trip, memory, s, moves, t):
            scan(trip)
            y, _ = best_step(terrain, h, s, np.int64(terrain.mask[s]), t)
    return commit(terrain, trip, h, memory.space.random, s, y, t)


class LRTAK(KernelAgent):
    """LRTA*(k).

    Args:
        k: how many states it may update per move, at least 1.
        supports: whether a risen value concerns only those states whose best successor it belonged to.
        visited_only: whether it concerns only the states that this trial has visited.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    def __init__(self, k: int = 40, supports: bool = False, visited_only: bool = False, tie: str = "first") -> None:
        super().__init__(tie)
        self.k = whole("k", k, 1)
        self.supports, self.visited_only = flag("supports", supports), flag("visited_only", visited_only)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest k whose scans fit: two for the move are kept. Of expansions a move takes one anyway."""
        return {} if count == "expansions" else {"k": max(1, limit - 2)}

    @property
    def bound(self) -> int:
        """The most expansions that a move can take."""
        return 1

    @property
    def space(self) -> Space:
        """A search of no states: there is no lookahead beyond the successors."""
        return self.memory.space

    def make_memory(self, view: View) -> LRTAKMemory:
        """Return room for the values of every cell and for the queue."""
        cells = view.terrain.mask.size
        return LRTAKMemory(
            h=np.empty(cells, np.int64),
            space=make_space(cells),
            waiting=np.zeros(cells, np.uint8),
            support=np.empty(cells, np.int8),
            visited=np.empty(cells, np.int64),
            settings=np.array([self.k, self.supports, self.visited_only, 0], np.int64),
        )

    def clear_memory(self, view: View, seed: int) -> None:
        """Let the values start at the heuristic, without supports or visits."""
        fill_h0(view.terrain, view.goal_cell, self.memory.h)
        self.memory.space.random[0] = seed
        self.memory.support[:], self.memory.visited[:] = NONE, NONE

    def begin_trial(self) -> None:
        """Forget which states were visited."""
        self.memory.settings[TRIAL] += 1
