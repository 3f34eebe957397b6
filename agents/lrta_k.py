"""LRTA*(k): LRTA* that looks again at up to k - 1 states that a risen value may concern.

C. Hernández, P. Meseguer, "LRTA*(k)", IJCAI 2005; in the form that the same authors summarise in "Combining Lookahead
and Propagation in Real-Time Heuristic Search", SoCS 2008, where any state may be looked at.

There are no numbered lines to refer to. The algorithm in plain Python: ``tests/reference/plain_lrta_k.py``.

Readings:
- ``k`` bounds how many states enter the queue per move, the current one included. A state may enter again once it has
  left; the goal never enters.
- The form of 2005, in which only states of the trial's own path enter, is ``agents.lrta_k_visited``.
- ``supports``: a state enters only if the risen one was its best successor when it was last looked at, so one that was
  never looked at does not enter. Supports are remembered over trials.
- Where k is the square of the number of cells or more, a value that proves that there is no way is infinite at once:
  see ``rt_gym.cost.ceiling``.
- The successors of the current state are read once to update it, which is the expansion, and once more to choose the
  move if other values have risen since.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Learner
from rt_gym.cost import INF, ceiling
from rt_gym.errors import flag, whole
from rt_gym.jit import kernel, record
from rt_gym.meter import charge, learn, scan
from rt_gym.pages import Paged, make_cells, read, reset_cells, write
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.space import NONE, Space
from rt_gym.search.step import best_step, commit
from rt_gym.search.values import raise_value, value_at
from rt_gym.terrain import OPPOSITE
from rt_gym.trip import CUT
from rt_gym.views import KernelView

# The number of the trial.
PROGRESS = record(trial=int)


class LRTAKMemory(NamedTuple):
    """Learned values, the queue and the parameters.

    Attributes:
        h: int64 per cell, the values.
        space: without a search; its ``item`` is a ring that holds the queue.
        waiting: uint8 per cell, 1 while it is in the queue.
        support: int8 per cell, the direction of its best successor when it was last looked at, or NONE.
        visited: int64 per cell, the last trial that came here, or NONE.
        state: PROGRESS[1].
        k: how many states may enter the queue per move.
        supports, visited_only: 1 or 0, which states may enter.
        ceiling: the largest finite value.
    """

    h: NDArray[np.int64] | PagedValues
    space: Space
    waiting: NDArray[np.uint8] | Paged
    support: NDArray[np.int8] | Paged
    visited: NDArray[np.int64] | Paged
    state: NDArray[np.record]
    k: int
    supports: int
    visited_only: int
    ceiling: int


@kernel(inline=True)
def enqueue(terrain, memory, v, moves, t, tail, left):
    """Let the successors of ``v``, which has risen, wait; return the end of the queue and how many may still enter."""
    queue = memory.space.item
    for d in range(8):
        if moves >> d & 1 and left > 0:
            w = v + terrain.offset[d]
            if read(memory.waiting, w) != 0 or w == t:
                continue
            if memory.supports != 0 and read(memory.support, w) != OPPOSITE[d]:
                continue
            if memory.visited_only != 0 and read(memory.visited, w) != memory.state[0].trial:
                continue
            write(memory.waiting, w, 1)
            queue[tail] = w
            tail = tail + 1 if tail + 1 < queue.size else np.int64(0)
            left -= 1
    return tail, left


@kernel(inline=True)
def propagate(terrain, trip, memory, x, moves, t):
    """Update states that the rise of ``x`` may concern, in the order they came; return whether any has risen."""
    h, queue = memory.h, memory.space.item
    head, rose = np.int64(0), False
    tail, left = enqueue(terrain, memory, x, moves, t, head, memory.k - 1)
    while head != tail:
        v = np.int64(queue[head])
        head = head + 1 if head + 1 < queue.size else np.int64(0)
        write(memory.waiting, v, 0)
        learn(trip)
        around = np.int64(terrain.mask[v])
        y, f = best_step(terrain, h, v, around, t)
        f = f if f <= memory.ceiling else INF
        write(memory.support, v, y)
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
    write(memory.visited, s, memory.state[0].trial)
    moves = np.int64(terrain.mask[s])
    y, f = best_step(terrain, h, s, moves, t)
    f = f if f <= memory.ceiling else INF
    write(memory.support, s, y)
    if y != NONE and value_at(h, terrain, s, t) < f:
        raise_value(trip, h, terrain, s, t, f)
        if propagate(terrain, trip, memory, s, moves, t):
            scan(trip)
            y, _ = best_step(terrain, h, s, np.int64(terrain.mask[s]), t)
    return commit(terrain, trip, h, memory.space.random, s, y, t)


class LRTAK(Learner):
    """LRTA*(k).

    Args:
        k: how many states it may update per move, at least 1.
        supports: whether a risen value concerns only those states whose best successor it belonged to.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    memory_type: ClassVar[Any] = LRTAKMemory
    visited_only: ClassVar[bool] = False

    def __init__(self, k: int = 40, supports: bool = False, tie: str = "first") -> None:
        super().__init__(tie)
        self.k, self.supports = whole("k", k, 1), flag("supports", supports)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest k whose scans fit: two for the move are kept. Of expansions a move takes one anyway."""
        return {} if count == "expansions" else {"k": max(1, limit - 2)}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return 1

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return what is kept of every cell beside its value, the number of the trial, and the parameters."""
        cells = view.terrain.mask.size
        return {
            "waiting": make_cells(cells, np.uint8),
            "support": make_cells(cells, np.int8, NONE),
            "visited": make_cells(cells, np.int64, NONE),
            "state": np.zeros(1, PROGRESS),
            "k": self.k,
            "supports": int(self.supports),
            "visited_only": int(self.visited_only),
            "ceiling": ceiling(view.width * view.height, self.k),
        }

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Let the values start at the heuristic, without supports or visits."""
        super().clear_memory(view, seed)
        reset_cells(self.memory.support, NONE)
        reset_cells(self.memory.visited, NONE)

    def begin_trial(self) -> None:
        """Forget which states were visited."""
        self.memory.state[0].trial += 1
