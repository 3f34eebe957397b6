"""P LRTA*: LRTA* that carries its updates on to other states, the largest first.

D. C. Rayner, K. Davison, V. Bulitko, K. Anderson, J. Lu, "Real-Time Heuristic Search with a Priority Queue", IJCAI
2007.

Readings:
- ``queue`` is both how many states may wait and how many of them are updated per move.
- The priority of a state is the largest change among its neighbours since it began to wait. Of equal priority, the
  first to come is the first to be updated and the last to be dropped.
- A full queue drops its last state for a new one of larger priority. The goal never waits.
- The queue survives a move, but not a trial.
- Every update is an expansion. Where the meter refuses one, the queue waits for the next move.
- The successors of the current state are read to update it, and once more to choose the move if others were updated
  in between.
- An expansion takes several times as long as those of LRTA*(k), whose queue is a plain list: every update may let eight
  states enter two heaps, one to find the first and one to drop the last.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from rt_gym.errors import whole
from rt_gym.grid import MAX_CELLS, fill_h0
from rt_gym.jit import kernel
from rt_gym.meter import charge, raise_h, scan
from rt_gym.search.heap import Heap, before, lower, pop, push, sift_down, sift_up
from rt_gym.search.propagation import any_as_good, best_step
from rt_gym.search.space import NONE, Space, make_space
from rt_gym.trip import CUT, NO_PATH
from rt_gym.world import View


class PLRTAMemory(NamedTuple):
    """Learned values and the queue, once by the first and once by the last in order; both heaps are indexed by cell.

    ``arrivals`` counts the states that ever came; ``space`` has no states, only the random ties.
    """

    h: NDArray[np.int64]
    first: Heap
    last: Heap
    arrivals: NDArray[np.int64]
    queue: NDArray[np.int64]
    space: Space


@kernel(inline=True)
def remove(heap, slot):
    """Take any slot out of a heap."""
    hole = np.int64(heap.at[slot])
    heap.at[slot] = NONE
    heap.size[0] -= 1
    if hole < heap.size[0]:
        other = np.int64(heap.item[heap.size[0]])
        if before(heap, other, slot):
            sift_up(heap, other, hole)
        else:
            sift_down(heap, other, hole)


@kernel(inline=True)
def add(memory, cell, change):
    """Let a cell wait with this priority, or with a larger one that it has already."""
    first, last = memory.first, memory.last
    if first.at[cell] != NONE:
        if change > last.key[cell]:
            first.key[cell], last.key[cell] = -change, change
            lower(first, cell)
            sift_down(last, cell, np.int64(last.at[cell]))
        return
    if first.size[0] == memory.queue[0]:
        if change <= last.key[last.item[0]]:
            return
        remove(first, pop(last))
    memory.arrivals[0] += 1
    first.key[cell], last.key[cell] = -change, change
    first.tie[cell], last.tie[cell] = memory.arrivals[0], -memory.arrivals[0]
    push(first, cell)
    push(last, cell)


@kernel(inline=True)
def update(terrain, trip, memory, cell, t):
    """Raise the value of a cell to what its best successor implies; return the step there, NONE if there is none."""
    h, moves = memory.h, np.int64(terrain.mask[cell])
    y, f = best_step(terrain, h, cell, moves)
    change = f - h[cell]
    if y == NONE or change <= 0:
        return y
    raise_h(trip, h, cell, f)
    if memory.queue[0] > 0:
        for d in range(8):
            near = cell + terrain.offset[d]
            if moves >> d & 1 and near != t:
                add(memory, near, change)
    return y


@kernel
def plan(terrain, trip, memory, s, t):
    """Update the current state, then those that wait, and commit to the step to the best successor."""
    h, first, random = memory.h, memory.first, memory.space.random
    if not charge(trip, s):
        return np.int64(CUT)
    cell, left = s, memory.queue[0]
    while True:
        y = update(terrain, trip, memory, cell, t)
        if left == 0 or first.size[0] == 0 or not charge(trip, np.int64(first.item[0])):
            break
        cell = pop(first)
        remove(memory.last, cell)
        left -= 1
    if left < memory.queue[0]:
        scan(trip)
        y, _ = best_step(terrain, h, s, np.int64(terrain.mask[s]))
    if y == NONE:
        return np.int64(NO_PATH)
    if random[0] != 0:
        y = any_as_good(terrain, trip, h, random, s, y)
    trip.plan[0] = y
    return np.int64(1)


class PLRTA(KernelAgent):
    """P LRTA*.

    Args:
        queue: how many states may wait, and how many of them are updated per move; 0 is LRTA*.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    def __init__(self, queue: int = 40, tie: str = "first") -> None:
        super().__init__(tie)
        self.queue = whole("queue", queue, 0, MAX_CELLS)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest queue whose bound fits; of scans one is kept to choose the move."""
        return {"queue": min(MAX_CELLS, max(0, limit - (1 if count == "expansions" else 2)))}

    @property
    def bound(self) -> int:
        """The most expansions that a move can take."""
        return 1 + self.queue

    @property
    def space(self) -> Space:
        """No states: there is no search."""
        return self.memory.space

    def make_memory(self, view: View) -> PLRTAMemory:
        """Return room for the values of every cell and for the queue."""
        cells = view.terrain.mask.size
        queue = np.array([self.queue])
        return PLRTAMemory(
            np.empty(cells, np.int64), _heap(cells), _heap(cells), np.zeros(1, np.int64), queue, make_space(1)
        )

    def clear_memory(self, view: View, seed: int) -> None:
        """Let the values start at the heuristic."""
        fill_h0(view.terrain, view.goal_cell, self.memory.h)
        self.memory.space.random[0] = seed
        self.begin_trial()

    def begin_trial(self) -> None:
        """Empty the queue."""
        self.memory.arrivals[0] = 0
        for heap in (self.memory.first, self.memory.last):
            heap.at[heap.item[: heap.size[0]]] = NONE
            heap.size[0] = 0


def _heap(cells: int) -> Heap:
    """Return an empty heap of cells without a rank of their own."""
    return Heap(
        item=np.empty(cells, np.int32),
        at=np.full(cells, NONE, np.int32),
        key=np.empty(cells, np.int64),
        tie=np.empty(cells, np.int64),
        rank=np.zeros(cells, np.int32),
        size=np.zeros(1, np.int64),
    )
