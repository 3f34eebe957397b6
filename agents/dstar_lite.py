"""D* Lite: search backward from the goal, then mend the search wherever the map turns out to be different.

M. Likhachev, S. Koenig, "Incremental Heuristic Search in Games: The Quest for Speed", AIIDE 2006, Figure 3, whose line
numbers stand in braces below, with its two heaps and its buckets; S. Koenig, M. Likhachev, "Fast Replanning for
Navigation in Unknown Terrain", IEEE Transactions on Robotics 21(3), 2005, for the algorithm and its optimisations.

The algorithm in plain Python: ``tests/reference/plain_dstar_lite.py``.

Deviations and readings:
- {01} The buckets are printed for a start that does not move. k_m is added to their keys as to the others: a key in the
  queue then is a lower bound, and its last bit is never stale, because a vertex whose g or rhs changes is put back.
- {08} A vertex whose g and rhs stay as they are keeps its place in the queue.
- {10} While the start is consistent, underconsistent vertices of equal f are still expanded, as the keys demand.
- {17} An rhs is lowered by the new g alone; {20} it is computed anew only if it came from the old one; {34} likewise.
- {26} The successors are those of s_start; printed are those of s_last, which only changes with the map. Of equally
  good ones the dearest step is taken: the larger g first, as everywhere.
- {32} A cell that opens or closes changes edges of all cells around it, by the corner rule also among these.
- Expansions are the pops of {16} and {19}; those of {14} are counted apart, as ``reinsertions``.
- With a budget too small for a search the agent stands still and searches on at the next move.
- {21} also begins a trial, and comes again before k_m overflows or if the agent is moved during a search.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from agents.kernels.dstar_queue import (
    BUCKETS,
    LARGER_G,
    NO_VERTEX,
    SMALLER_G,
    Queue,
    change,
    clear,
    first,
    insert,
    make_queue,
    priority,
    remove,
    reset_queue,
    sooner,
    touch,
)
from agents.kernels.dstar_vertices import at, coordinates, cost_from
from rt_gym.cost import INF, to_float
from rt_gym.errors import InputError, quoted
from rt_gym.jit import kernel, record
from rt_gym.meter import charge, scan
from rt_gym.terrain import CELL_BITS, h0, span
from rt_gym.trip import NO_PATH, WAIT
from rt_gym.views import KernelView

QUEUES = {"buckets": BUCKETS, "heap-larger-g": LARGER_G, "heap-smaller-g": SMALLER_G}

# k_m, s_last, where the last move leads, what the search has to do, and how many vertices were put back into the queue.
VARIABLES = record(k_m=int, s_last=int, next=int, search=int, reinserted=int)
BEGIN, GO_ON, DONE = range(3)


class DStarMemory(NamedTuple):
    """The vertices in their queue, and what else survives a move, VARIABLES[1]."""

    queue: Queue
    state: NDArray[np.record]


@kernel(inline=True)
def near(terrain, u, d):
    """Return the cell in a direction. The mask changes no bit, but tells the compiler that no index is negative."""
    return u + terrain.offset[d] & (1 << CELL_BITS) - 1


@kernel(inline=True)
def calc_key(terrain, memory, s, u):
    """{01}: return the priority of a vertex."""
    queue = memory.queue
    v, (x, y), (to_x, to_y) = queue.vertex[at(queue, u)], coordinates(queue, terrain, u), coordinates(queue, terrain, s)
    m, h = min(v.g, v.rhs), span(terrain.metric, x - to_x, y - to_y)
    return priority(queue, u, m, m + h + memory.state[0].k_m, v.g >= v.rhs)


@kernel
def initialize(terrain, memory, s, t):
    """{02}-{06} and {21}."""
    queue, state = memory.queue, memory.state[0]
    clear(queue)  # {02}, {04}
    state.k_m = 0  # {03}
    state.s_last = s  # {21}
    touch(queue, t)
    queue.vertex[at(queue, t)].rhs = 0  # {05}
    key, tie = calc_key(terrain, memory, s, t)
    insert(queue, t, key, tie)  # {06}


@kernel(inline=True)
def least(terrain, trip, memory, u):
    """{07}: return the least cost over a successor."""
    scan(trip)
    moves, rhs, queue = np.int64(terrain.mask[u]), np.int64(INF), memory.queue
    for d in range(terrain.rule[0].connectivity):
        if moves >> d & 1:
            rhs = min(rhs, terrain.cost[d] + queue.vertex[at(queue, near(terrain, u, d))].g)
    return rhs


@kernel(inline=True)
def requeue(terrain, memory, s, u, queued):
    """{08}-{09} after a change of g or rhs; ``queued`` tells whether the vertex was inconsistent before."""
    queue = memory.queue
    v = queue.vertex[at(queue, u)]
    if v.g != v.rhs:  # {09}
        key, tie = calc_key(terrain, memory, s, u)
        if queued:
            change(queue, u, key, tie)
        else:
            insert(queue, u, key, tie)
    elif queued:  # {08}
        remove(queue, u)


@kernel(inline=True)
def set_rhs(terrain, memory, s, u, rhs):
    """{07}-{09} with the value found."""
    queue = memory.queue
    v = queue.vertex[at(queue, u)]
    if rhs != v.rhs:
        queued = v.g != v.rhs
        if v.g == INF and v.rhs == INF:
            touch(queue, u)
        queue.vertex[at(queue, u)].rhs = rhs
        requeue(terrain, memory, s, u, queued)


@kernel(inline=True)
def compute_shortest_path(terrain, trip, memory, s, t):
    """{10}-{20}; False when the meter stops it, and the queue knows what is left to do."""
    queue, vertex, state = memory.queue, memory.queue.vertex, memory.state[0]
    while True:
        u, old_key, old_tie = first(queue)  # {11}-{12}
        start = vertex[at(queue, s)]
        g = start.g
        key, tie = priority(queue, NO_VERTEX, g, g + state.k_m, True)  # of the start, where it is consistent
        if u == NO_VERTEX or (g == start.rhs and not sooner(old_key, old_tie, key, tie)):  # {10}
            return True
        key, tie = calc_key(terrain, memory, s, u)
        if sooner(old_key, old_tie, key, tie):  # {13}
            change(queue, u, key, tie)  # {14}
            state.reinserted += 1
            continue
        if not charge(trip, u):
            return False
        v = vertex[at(queue, u)]
        old_g, rhs = v.g, v.rhs
        over = old_g > rhs  # {15}, {18}
        v.g = rhs if over else INF  # {16}, {19}
        requeue(terrain, memory, s, u, old_g != rhs)
        moves, flip = np.int64(terrain.mask[u]), queue.state[0].salt & (terrain.rule[0].connectivity - 1)
        for k in range(terrain.rule[0].connectivity):
            d = k ^ flip
            if moves >> d & 1:
                p = near(terrain, u, d)
                value = vertex[at(queue, p)].rhs
                if over:  # {17}
                    value = min(value, terrain.cost[d] + rhs)
                elif value == terrain.cost[d] + old_g and p != t:  # {20}
                    value = least(terrain, trip, memory, p)
                set_rhs(terrain, memory, s, p, value)


@kernel(inline=True)
def scan_changes(terrain, trip, memory, s, t):
    """{30}-{34}: update the cells that have changed, and the free cells around them.

    Where a cell has closed, a neighbour has lost nothing unless its rhs came from there; but of eight neighbours the
    straight ones have also lost the diagonal steps past that corner.
    """
    queue, vertex, state = memory.queue, memory.queue.vertex, memory.state[0]
    state.k_m += h0(terrain, state.s_last, s)  # {30}
    state.s_last = s  # {31}
    for k in range(trip.state[0].changed):  # {32}-{33}
        cell = np.int64(trip.changed[k])
        for d in range(-1, terrain.rule[0].connectivity):
            u = cell if d < 0 else near(terrain, cell, d)
            if u == t or (d >= 0 and terrain.free[u] == 0):
                continue
            one_edge = d >= 4 or (d >= 0 and terrain.rule[0].connectivity == 4)
            if one_edge and terrain.free[cell] == 0:
                if vertex[at(queue, u)].rhs != terrain.cost[d] + vertex[at(queue, cell)].g:
                    continue
            set_rhs(terrain, memory, s, u, least(terrain, trip, memory, u))  # {34}


@kernel(inline=True)
def best_move(terrain, trip, memory, s):
    """{26}: return the direction of a successor of least cost."""
    scan(trip)
    queue = memory.queue
    moves, flip = np.int64(terrain.mask[s]), queue.state[0].salt & (terrain.rule[0].connectivity - 1)
    best, cost = np.int64(0), np.int64(INF)
    for k in range(terrain.rule[0].connectivity):
        d = k ^ flip
        if moves >> d & 1:
            value = terrain.cost[d] + queue.vertex[at(queue, near(terrain, s, d))].g
            if value < cost or (value == cost and terrain.cost[d] > terrain.cost[best]):
                best, cost = d, value
    return best


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """{21}-{35}: search where something has changed, and commit to one move; the trial loop is {24} and {28}."""
    state = memory.state[0]
    if state.search == BEGIN or (state.search == GO_ON and s != state.s_last) or state.k_m >= INF >> 1:
        initialize(terrain, memory, s, t)  # {21}-{22}
        state.search = GO_ON
    elif trip.state[0].changed > 0 or s != state.next:  # {29}
        scan_changes(terrain, trip, memory, s, t)  # {30}-{34}
        state.search = GO_ON
    if state.search == GO_ON:
        if not compute_shortest_path(terrain, trip, memory, s, t):  # {23}, {35}
            return np.int64(WAIT)
        state.search = DONE
    state.next = s
    if memory.queue.vertex[at(memory.queue, s)].g >= INF:  # {25}
        return np.int64(NO_PATH)
    d = best_move(terrain, trip, memory, s)  # {26}
    state.next = near(terrain, s, d)
    trip.plan[0] = d  # {27}
    return np.int64(1)


class DStarLite(KernelAgent):
    """D* Lite.

    Args:
        queue: ``"buckets"``, for maps where every step costs the same; ``"heap-larger-g"`` or ``"heap-smaller-g"``, a
            binary heap that prefers the one or the other among equal f. None takes buckets wherever they are possible
            and the larger g elsewhere.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    backward = True

    def __init__(self, queue: str | None = None, tie: str = "first") -> None:
        super().__init__(tie)
        if queue is not None and (not isinstance(queue, str) or queue not in QUEUES):
            raise InputError(f"queue must be {', '.join(QUEUES)} or None, not {quoted(queue)}")
        self.queue = queue

    @property
    def reinsertions(self) -> int:
        """How many vertices of this trial came out of the queue with a priority of an earlier start, and went back."""
        return int(self.memory.state[0].reinserted)

    def make_memory(self, view: KernelView) -> DStarMemory:
        """Return the memory of a search of the whole map.

        Raises:
            InputError: for buckets on a map with steps of unequal cost.
        """
        unit = view.connectivity == 4 or view.cost == "unit"
        if self.queue == "buckets" and not unit:
            raise InputError(
                'queue "buckets" needs a map where every step costs the same, not octile costs with eight neighbours'
            )
        order = QUEUES[self.queue or ("buckets" if unit else "heap-larger-g")]
        return DStarMemory(make_queue(view.terrain.mask.size, order), np.zeros(1, VARIABLES))

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget the search."""
        reset_queue(self.memory.queue, view.terrain, seed)
        self.begin_trial()

    def begin_trial(self) -> None:
        """Let the next plan search from scratch."""
        self.memory.state[:] = 0

    def change_place(self) -> None:
        """Keep the search, which k_m mends {30}; one that was cut off starts anew."""
        if self.memory.state[0].search == GO_ON:
            self.restarts["place"] += 1

    def _target(self, cell: int, action: int) -> tuple[int | None, float | None, float | None]:
        """Return the goal and what it costs to get there, once that is known."""
        g = cost_from(self.memory.queue, cell)
        if self.memory.state[0].search != DONE or g >= INF:
            return None, None, None
        return self.view.goal_cell, to_float(g), to_float(g)

    def count_states(self) -> int:
        """Return how many vertices have had a value."""
        return int(self.memory.queue.state[0].touched)
