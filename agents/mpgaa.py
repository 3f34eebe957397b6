"""MPGAA*: A* that learns from its searches, ends where an earlier path leads on, and mends values where costs fall.

C. Hernández, R. Asín, J. A. Baier, "Reusing Previously Found A* Paths for Fast Goal-Directed Navigation in Dynamic
Terrain", AAAI 2015; C. Hernández, J. A. Baier, R. Asín, "Making A* Run Faster than D*-Lite for Path-Planning in
Partially Known Terrain", ICAPS 2014, for MPAA*, which it is where costs only rise; X. Sun, S. Koenig, W. Yeoh,
"Generalized Adaptive A*", AAMAS 2008, for how values are mended.

The procedures have the names that they have in these papers; Reestablish-Consistency is in
``agents.kernels.mpgaa_mending``. The algorithm in plain Python:
``tests/reference/plain_mpgaa.py``.

Readings:
- A state has a pointer to the next one on the last path found through it. A* ends with a state from which pointers lead
  to the goal while h(s) = c(s, next(s)) + h(next(s)): h is consistent, so that path is a shortest one. Following them
  is counted as trace steps, not as scans: one neighbour is looked at, not all.
- Every change of the believed map makes the agent search again, so that its path is a shortest one after every change.
  Where the change does not matter, A* ends with its first state and expands none.
- Where a cell closes, the pointers around it are looked at, a scan each, and those of lost edges dropped. Where it
  opens, each cell around it is scanned, and h lowered to the least c + h; from there on in the order of h
  (Reestablish-Consistency). The pops of that are learning operations. Lowered states lose their pointers.
- After a search all closed states are raised at once, not when they are next generated.
- Of several states with equal f the larger g comes first, then the first generated, as everywhere.
- With a budget too small for a search the agent stands still and searches on at the next move; a map that changes
  meanwhile, or another place, is searched anew. To mend values is not cut off.
- Values and pointers serve one trial: with the next one the map may be back to what it was.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from agents.kernels.mpgaa_mending import reestablish_consistency
from rt_gym.cost import INF, to_float
from rt_gym.jit import kernel, record
from rt_gym.meter import charge
from rt_gym.pages import Paged, make_cells, read, reset_cells, write
from rt_gym.search.adaptive import expand_first, raise_closed
from rt_gym.search.astar import EXHAUSTED, FOUND, INTERRUPTED
from rt_gym.search.buckets import Buckets, any_left, clear, first_slot, make_buckets, push
from rt_gym.search.local import Local, make_local
from rt_gym.search.nodes import Nodes, begin_path, open_node
from rt_gym.search.paged_values import PagedValues, make_values, reset_values
from rt_gym.search.space import NONE, begin_problem, forget, make_space
from rt_gym.search.values import value_at
from rt_gym.trip import NO_PATH, WAIT
from rt_gym.views import KernelView

# What there is to do, where the search has begun, and where the last move leads.
TASK = record(task=int, root=int, next=int)
BEGIN, SEARCH, GO_ON, FOLLOW = range(4)  # a trial, a search, a search that was cut off; a path


class MPGAAMemory(NamedTuple):
    """What the plan works on.

    Attributes:
        h: learned values.
        space, buckets: the states of A*, and its open list.
        mending: the queue of states whose values were lowered.
        next: uint8 per cell, 1 + the direction of its pointer, 0 without one.
        state: TASK[1].
    """

    h: NDArray[np.int64] | PagedValues
    space: Nodes
    buckets: Buckets
    mending: Local
    next: NDArray[np.uint8] | Paged
    state: NDArray[np.record]


@kernel
def goal_condition(terrain, trip, memory, s, t):
    """Whether pointers lead from ``s`` to the goal, every one along a step that costs what the values differ by."""
    h = memory.h
    while s != t:
        d = np.int64(read(memory.next, s)) - 1
        if d < 0:
            return False
        trip.meter[0].trace_steps += 1
        near = s + terrain.offset[d]
        if value_at(h, terrain, s, t) != terrain.cost[d] + value_at(h, terrain, near, t):
            return False
        s = near
    return True


@kernel
def begin_search(terrain, memory, s, t):
    """Start A* in ``s``."""
    buckets, space, root = memory.buckets, memory.space, np.int64(0)
    base = forget(space)
    open_node(space, base, root, s, value_at(memory.h, terrain, s, t))
    begin_path(space, root)
    space.state[0].slots = 1
    clear(buckets, space.node[root].f)
    push(buckets, root)
    memory.state[0].root = s


@kernel
def a_star(terrain, trip, memory, t):
    """Search on as long as the meter allows; return FOUND, EXHAUSTED or INTERRUPTED as ``resume_astar`` does."""
    buckets, space, h = memory.buckets, memory.space, memory.h
    base, size, end = space.state[0].stamp << 32, space.state[0].slots, EXHAUSTED
    while any_left(buckets):
        u = first_slot(buckets)
        here = space.node[u]
        cell = np.int64(here.cell)
        if here.g >= INF:
            break
        if goal_condition(terrain, trip, memory, cell, t):
            space.state[0].best = u
            end = FOUND
            break
        if not charge(trip, cell):
            end = INTERRUPTED
            break
        size = expand_first(terrain, buckets, h, base, size, t)
        space.state[0].closed += 1
    space.state[0].slots = size
    return end


@kernel
def update_values(terrain, trip, memory, t):
    """Raise h(s) to f - g(s) for every closed state s; f is that of the state which A* ended with."""
    space = memory.space
    raise_closed(terrain, trip, space, memory.h, space.node[space.state[0].best].f, t)


@kernel
def build_path(memory):
    """Let pointers lead from the root to the state that A* ended with."""
    nodes = memory.space.node
    u = memory.space.state[0].best
    while nodes[u].parent != NONE:
        parent = np.int64(nodes[u].parent)
        write(memory.next, np.int64(nodes[parent].cell), np.uint8(nodes[u].via + 1))
        u = parent


@kernel
def plan(terrain, trip, memory, s, t):
    """Mend and search where something has changed, and commit to one move along the path."""
    state, changed = memory.state[0], trip.state[0].changed > 0
    if changed and state.task != BEGIN:  # the heuristic is consistent on any map
        reestablish_consistency(terrain, trip, memory, t)
        state.task = SEARCH
    if state.task != FOLLOW or s != state.next:
        if state.task != GO_ON or s != state.root:
            begin_search(terrain, memory, s, t)
        end = a_star(terrain, trip, memory, t)
        state.task = GO_ON if end == INTERRUPTED else SEARCH
        if end != FOUND:
            return np.int64(WAIT if end == INTERRUPTED else NO_PATH)
        update_values(terrain, trip, memory, t)
        build_path(memory)
        state.task = FOLLOW
    d = np.int64(read(memory.next, s)) - 1
    write(memory.next, s, np.uint8(0))
    state.next = s + terrain.offset[d]
    trip.plan[0] = d
    return np.int64(1)


class MPGAA(KernelAgent):
    """MPGAA*.

    Built after outlines, the abstracts of the first two papers and what later ones say of them. These pin down the
    reuse of paths and its condition, Adaptive A*'s update and that values are mended by a Dijkstra search from where
    costs fell. All else is our reading.

    Args:
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    forgets = True
    lowers = True
    after_outline = True
    carries = frozenset()

    def make_memory(self, view: KernelView) -> MPGAAMemory:
        """Return the memory of values, pointers, and a search of the whole map."""
        cells, buckets = view.terrain.mask.size, make_buckets(view.terrain)
        return MPGAAMemory(
            h=make_values(cells),
            space=buckets.space,
            buckets=buckets,
            mending=make_local(make_space(cells)),
            next=make_cells(cells, np.uint8),
            state=np.zeros(1, TASK),
        )

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget all; seed 0 breaks ties by order of generation."""
        begin_problem(self.memory.space, seed)
        begin_problem(self.memory.mending.space, 0)
        self.begin_trial()

    def begin_trial(self) -> None:
        """Forget values and pointers."""
        reset_values(self.memory.h, self.view.terrain, self.view.goal_cell)
        reset_cells(self.memory.next, 0)
        self.memory.state.fill(0)

    def _target(self, cell: int, action: int) -> tuple[int | None, float | None, float | None]:
        """Return the goal and what it costs to get there, once that is known."""
        value: Any = self.value_of(cell)
        if self.memory.state[0].task != FOLLOW:
            return None, None, None
        return self.view.goal_cell, to_float(value), to_float(value)
