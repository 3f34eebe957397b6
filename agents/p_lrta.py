"""P LRTA*: LRTA* that carries its updates on to other states, the largest first.

D. C. Rayner, K. Davison, V. Bulitko, K. Anderson, J. Lu, "Real-Time Heuristic Search with a Priority Queue", IJCAI
2007.

There are no numbered lines to refer to. The algorithm in plain Python: ``tests/reference/plain_p_lrta.py``.

Readings:
- ``queue`` is both how many states may wait and how many of them are updated per move.
- The priority of a state is the largest change among its neighbours since it began to wait. Of equal priority, the
  first to come is the first to be updated and the last to be dropped.
- A full queue drops its last state for a new one of larger priority. The goal never waits.
- The queue survives a move, but not a trial.
- Every update is an expansion. Where the meter refuses one, the queue waits for the next move.
- Where ``queue`` is the square of the number of cells or more, a value that proves that there is no way is infinite at
  once: see ``rt_gym.cost.ceiling``.
- The successors of the current state are read to update it, and once more to choose the move if others were updated
  in between.
- An expansion takes several times as long as those of LRTA*(k), whose queue is a plain list: every update may let eight
  states enter two heaps, one to find the first and one to drop the last.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Learner
from rt_gym.cost import INF, ceiling
from rt_gym.errors import whole
from rt_gym.jit import is_array, kernel, record, type_of_part, typed
from rt_gym.meter import charge, scan
from rt_gym.pages import Paged, arrays_for, is_large
from rt_gym.search.heap import Heap, before, lower, pop, push, sift_down, sift_up
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.space import NONE, Space, give_slot, slot_of
from rt_gym.search.step import best_step, commit
from rt_gym.search.values import raise_value, value_at
from rt_gym.terrain import MAX_CELLS
from rt_gym.trip import CUT
from rt_gym.views import KernelView

# How many states have come in this trial.
PROGRESS = record(arrivals=int)


class PLRTAMemory(NamedTuple):
    """Learned values and the queue.

    Attributes:
        h: int64 per cell, the values.
        space: without a search; the random ties are its own and, on a large map, the places of the waiting cells.
        first, last: the queue, once by the first and once by the last in order; both heaps are indexed by place.
        state: PROGRESS[1].
        queue: how many states may wait.
        ceiling: the largest finite value.
    """

    h: NDArray[np.int64] | PagedValues
    space: Space
    first: Heap
    last: Heap
    state: NDArray[np.record]
    queue: int
    ceiling: int


def place_of(memory: Any, cell: int) -> Any:
    """Return the place of a cell in the heaps: the cell itself or, on a large map, the slot that it gets."""
    return given_place(memory, cell) if isinstance(memory.space.seat, Paged) else cell


def cell_at(memory: Any, place: int) -> Any:
    """Return the cell that has a place in the heaps."""
    return np.int64(memory.space.cell[place]) if isinstance(memory.space.seat, Paged) else place


@kernel
def given_place(memory, cell):
    """Return the slot of a cell; the next one, which is in no heap, if it has none."""
    space, slot = memory.space, slot_of(memory.space, cell)
    if slot < 0:
        slot = space.state[0].slots
        space.state[0].slots += 1
        give_slot(space, space.state[0].stamp << 32, slot, cell)
        memory.first.at[slot] = NONE
        memory.last.at[slot] = NONE
    return slot


def _is_paged(memory: Any) -> bool:
    return not is_array(type_of_part(type_of_part(memory, "space"), "seat"))


@typed(place_of)
def _place_of(memory, cell):
    if _is_paged(memory):
        return lambda memory, cell: given_place(memory, cell)
    return lambda memory, cell: cell


@typed(cell_at)
def _cell_at(memory, place):
    if _is_paged(memory):
        return lambda memory, place: np.int64(memory.space.cell[place])
    return lambda memory, place: place


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
    first, last, state, place = memory.first, memory.last, memory.state[0], place_of(memory, cell)
    if first.at[place] != NONE:
        if change > last.key[place]:
            first.key[place], last.key[place] = -change, change
            lower(first, place)
            sift_down(last, place, np.int64(last.at[place]))
        return
    if first.size[0] == memory.queue:
        if change <= last.key[last.item[0]]:
            return
        remove(first, pop(last))
    state.arrivals += 1
    first.key[place], last.key[place] = -change, change
    first.tie[place], last.tie[place] = state.arrivals, -state.arrivals
    push(first, place)
    push(last, place)


@kernel(inline=True)
def update(terrain, trip, memory, cell, t):
    """Raise the value of a cell to what its best successor implies; return the step there, NONE if there is none."""
    h, moves = memory.h, np.int64(terrain.mask[cell])
    y, f = best_step(terrain, h, cell, moves)
    f = f if f <= memory.ceiling else INF
    change = f - value_at(h, terrain, cell, t)
    if y == NONE or change <= 0:
        return y
    raise_value(trip, h, terrain, cell, t, f)
    if memory.queue > 0:
        for d in range(8):
            near = cell + terrain.offset[d]
            if moves >> d & 1 and near != t:
                add(memory, near, change)
    return y


@kernel
def plan(terrain, trip, memory, s, t):
    """Update the current state, then those that wait, and commit to the step to the best successor."""
    h, first = memory.h, memory.first
    if not charge(trip, s):
        return np.int64(CUT)
    cell, left = s, memory.queue
    while True:
        y = update(terrain, trip, memory, cell, t)
        if left == 0 or first.size[0] == 0 or not charge(trip, cell_at(memory, np.int64(first.item[0]))):
            break
        place = pop(first)
        remove(memory.last, place)
        cell = cell_at(memory, place)
        left -= 1
    if left < memory.queue:
        scan(trip)
        y, _ = best_step(terrain, h, s, np.int64(terrain.mask[s]))
    return commit(terrain, trip, h, memory.space.random, s, y)


class PLRTA(Learner):
    """P LRTA*.

    Built after an outline, section 4.2 of Y. Björnsson, V. Bulitko, N. Sturtevant, "TBA*: Time-Bounded A*", IJCAI 2009.
    It pins down the lookahead of one, that all neighbours of a state enter a queue when its value is updated, that the
    queue is ordered by the size of the update, and that its own size is the parameter. The readings above are ours: how
    many states are updated per move, their priority and ties, what a full queue drops, and how long the queue lives.

    Args:
        queue: how many states may wait, and how many of them are updated per move; 0 is LRTA*.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    after_outline = True
    memory_type: ClassVar[Any] = PLRTAMemory

    def __init__(self, queue: int = 40, tie: str = "first") -> None:
        super().__init__(tie)
        self.queue = whole("queue", queue, 0, MAX_CELLS)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest queue whose bound fits; of scans one is kept to choose the move."""
        return {"queue": min(MAX_CELLS, max(0, limit - (1 if count == "expansions" else 2)))}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return 1 + self.queue

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return the queue."""
        cells = view.terrain.mask.size
        return {
            "first": _heap(cells),
            "last": _heap(cells),
            "state": np.zeros(1, PROGRESS),
            "queue": self.queue,
            "ceiling": ceiling(view.width * view.height, self.queue),
        }

    def count_bytes(self) -> int:
        """Return how many bytes its memory takes; on a large map, the queue as far as places were given."""
        memory = self.memory
        places = int(memory.space.state[0].slots) if isinstance(memory.space.seat, Paged) else 0
        return super().count_bytes() + places * 2 * sum(array.itemsize for array in memory.first[:5])

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Let the values start at the heuristic."""
        super().clear_memory(view, seed)
        self.begin_trial()

    def begin_trial(self) -> None:
        """Empty the queue."""
        self.memory.state[:] = 0
        for heap in (self.memory.first, self.memory.last):
            heap.at[heap.item[: heap.size[0]]] = NONE
            heap.size[0] = 0


def _heap(cells: int) -> Heap:
    """Return an empty heap of cells without a rank of their own."""
    item, at, rank, key, tie = arrays_for(cells, cells, np.int32, np.int32, np.int32, np.int64, np.int64)
    if not is_large(cells):  # on a large map places are prepared when they are given
        at[:], rank[:] = NONE, 0
    return Heap(
        item=item,
        at=at,
        key=key,
        tie=tie,
        rank=rank,
        size=np.zeros(1, np.int64),
    )
