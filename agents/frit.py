"""FRIT: follow the tree of shortest ways on open ground; where a step is blocked, search only for a way back into it.

N. Rivera, L. Illanes, J. A. Baier, C. Hernández, "Reconnection with the Ideal Tree: A New Approach to Real-Time
Search", Journal of Artificial Intelligence Research 50, 2014, known to us by its abstract and its idea. The agent
follows the parents of an *ideal tree*. Where the step to its parent is blocked, that arc is cut, and a plugged search
looks for any cell from which parents still lead to the goal; the path to there joins the tree.

The tree is ``agents.kernels.ideal_tree``. The algorithm in plain Python: ``tests/reference/plain_frit.py``.

It is complete. Every cell of a path that joins the tree had been cut off, and now leads to the goal, so that parents
never form a cycle. From there the agent reaches the goal, or an arc that it did not know to be blocked, of which there
are finitely many. Breadth-first search tries all cells; RTAA* and daRTAA* reach the goal even without the tree.

Readings:
- The parent of a cell minimises cost and heuristic on open ground, the first of equal ones in the order of directions.
- An arc is cut while the believed map has no such step: one that opens again is back in the tree. What the agent is not
  told by its own cell it does not ask for: it walks on, on a known map too, until the step to the parent is blocked.
- To follow parents, or to test where they lead, reads single arcs and no neighbourhood: it takes neither expansions nor
  scans. Steps of such tests are ``trace_steps``; each cell is passed at most once per cut, which has its own colour.
- ``bfs`` tests states when they are generated, and starts anew when the believed map changes meanwhile. It expands
  ``lookahead`` states per move and stands still until it has found the tree.
- ``rtaa`` and ``da-rtaa`` are these algorithms with values towards the goal. They walk, search after search, until the
  first of the open list is in the tree. They learn from that search too: its f is a bound for the goal as well. Its
  path joins the tree, not where they walked before. A colour stays until the tree is found, or a cell opens.
- What joined the tree, and what was learned, stays for later trials.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Learner
from agents.kernels.ideal_tree import IdealTree, connect, in_tree, make_tree, open_way, restore
from agents.rtaa import adapt
from rt_gym.cost import INF
from rt_gym.errors import choice, whole
from rt_gym.jit import kernel
from rt_gym.meter import charge
from rt_gym.search.border import least_raised
from rt_gym.search.local import Local, begin_search, expand, make_local
from rt_gym.search.paged_values import PagedValues, reset_values
from rt_gym.search.space import NONE, Space, begin_problem, discover, forget, seat_of, set_parent, set_root
from rt_gym.search.tree import trace
from rt_gym.search.values import value_at
from rt_gym.terrain import MAX_CELLS, h0
from rt_gym.trip import CUT, NO_PATH, WAIT
from rt_gym.views import KernelView


class FRITMemory(NamedTuple):
    """Learned values, None for breadth-first search; the search and its queue; the tree; how much a search expands."""

    h: NDArray[np.int64] | PagedValues | None
    space: Space
    local: Local
    tree: IdealTree
    lookahead: int


@kernel(inline=True)
def follow(terrain, trip, tree, s, t):
    """Commit to the step to the parent; return 1, or 0 where it is cut."""
    d = open_way(terrain, tree, s, t)
    if d == NONE:
        return np.int64(0)
    trip.plan[0] = d
    return np.int64(1)


@kernel(inline=True)
def rejoin(terrain, trip, memory, s, t, best):
    """Let the path to ``best`` be part of the tree, and take its first step."""
    memory.space.state[0].best = best
    connect(memory.tree, memory.space, best)
    return follow(terrain, trip, memory.tree, s, t)


@kernel
def begin_breadth_first(terrain, memory, s, t):
    """Start a new search from ``s``, with a colour of its own. States wait in the order of their slots."""
    space, state = memory.space, memory.tree.state[0]
    base = forget(space)
    discover(space, base, np.int64(0), s, h0(terrain, s, t))
    set_root(space, np.int64(0), np.int64(0))
    space.state[0].slots = 1
    state.colour += 1
    state.reconnecting = 1


@kernel
def generate(terrain, trip, memory, u, t):
    """Generate what ``u`` leads to, until a state is in the tree; return it, or NONE."""
    space = memory.space
    base, size, cell = space.state[0].stamp << 32, space.state[0].slots, np.int64(space.cell[u])
    moves = np.int64(terrain.mask[cell])
    for d in range(8):
        v = cell + terrain.offset[d]
        if moves >> d & 1 and seat_of(space, base, v) < 0:
            discover(space, base, size, v, h0(terrain, v, t))
            set_parent(space, u, d, size, space.g[u] + terrain.cost[d], moves)
            size += 1
            space.state[0].slots = size
            if in_tree(terrain, trip, memory.tree, v, t):
                return size - 1
    return np.int64(NONE)


@kernel
def plan_bfs(terrain, trip, memory, s, t):
    """Follow the tree, or search on for a way into it; stand still meanwhile."""
    space, state = memory.space, memory.tree.state[0]
    if state.reconnecting == 0 and follow(terrain, trip, memory.tree, s, t):
        return np.int64(1)
    if state.reconnecting == 0 or trip.state[0].changed > 0:
        begin_breadth_first(terrain, memory, s, t)
    for _ in range(memory.lookahead):
        u = space.state[0].closed
        if u == space.state[0].slots or not charge(trip, np.int64(space.cell[u])):
            break
        space.state[0].closed += 1
        found = generate(terrain, trip, memory, u, t)
        if found != NONE:
            return rejoin(terrain, trip, memory, s, t, found)
    return np.int64(NO_PATH if space.state[0].closed == space.state[0].slots else WAIT)


@kernel
def begin_reconnection(terrain, trip, tree):
    """Begin a reconnection unless one is under way, whose colour holds until a cell opens."""
    state = tree.state[0]
    state.colour += np.int64(state.reconnecting == 0)
    state.reconnecting = 1
    for k in range(trip.state[0].changed):
        state.colour += np.int64(terrain.free[trip.changed[k]] != 0)


@kernel
def search_tree(terrain, trip, memory, s, t):
    """A* with the learned values until the first of the open list is in the tree, or ``lookahead`` states are closed.

    Returns:
        The slot of that state, NONE if the list is empty, and whether it is in the tree.
    """
    space, open_list = memory.space, memory.local.open
    base = begin_search(terrain, memory.local, s, value_at(memory.h, terrain, s, t))
    size, closed, best, found = np.int64(1), np.int64(0), np.int64(NONE), False
    while open_list.size[0] > 0:
        best = np.int64(open_list.item[0])
        cell = np.int64(space.cell[best])
        found = in_tree(terrain, trip, memory.tree, cell, t)
        if found or closed == memory.lookahead or not charge(trip, cell):
            break
        size = expand(terrain, memory.local, memory.h, base, np.int64(terrain.mask[cell]), size, closed, t)
        closed += 1
        best = np.int64(NONE)
    space.state[0].slots = size
    space.state[0].closed = closed
    return best, found


@kernel(inline=True)
def reconnect(terrain, trip, memory, s, t, avoids):
    """Search and learn; join the tree, or walk on to the best of the open list or, if it ``avoids``, to the border."""
    space = memory.space
    begin_reconnection(terrain, trip, memory.tree)
    best, found = search_tree(terrain, trip, memory, s, t)
    if best == NONE or (space.f[best] >= INF and not found):
        return np.int64(NO_PATH)
    if space.state[0].closed == 0 and not found:
        return np.int64(CUT)
    target = least_raised(terrain, memory.local, t) if avoids and not found else best
    adapt(terrain, trip, space, memory.h, best, t)
    if found:
        return rejoin(terrain, trip, memory, s, t, best)
    space.state[0].best = target
    return trace(space, target, trip.plan)


@kernel
def plan_rtaa(terrain, trip, memory, s, t):
    """Follow the tree, or go on by RTAA* until it is found."""
    if memory.tree.state[0].reconnecting == 0 and follow(terrain, trip, memory.tree, s, t):
        return np.int64(1)
    return reconnect(terrain, trip, memory, s, t, False)


@kernel
def plan_da_rtaa(terrain, trip, memory, s, t):
    """Follow the tree, or go on by daRTAA* until it is found."""
    if memory.tree.state[0].reconnecting == 0 and follow(terrain, trip, memory.tree, s, t):
        return np.int64(1)
    return reconnect(terrain, trip, memory, s, t, True)


PLANS = {"bfs": plan_bfs, "rtaa": plan_rtaa, "da-rtaa": plan_da_rtaa}


class FRIT(Learner):
    """FRIT. Built after an outline of its paper.

    Args:
        search: what looks for the tree: ``"bfs"``, breadth-first search, or ``"rtaa"`` or ``"da-rtaa"``.
        lookahead: how many states it expands for a move.
        tie: ``"first"`` or ``"random"``.
    """

    pooled = True
    converges = False
    restless = True  # along the tree it moves whatever the meter says
    after_outline = True
    memory_type: ClassVar[Any] = FRITMemory

    def __init__(self, search: str = "da-rtaa", lookahead: int = 50, tie: str = "first") -> None:
        super().__init__(tie)
        self.search = choice("search", search, tuple(PLANS))
        self.lookahead = whole("lookahead", lookahead, 1, MAX_CELLS)
        self.plan = PLANS[self.search]

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the limit as the lookahead: neither tree nor learning reads neighbours, so scans are expansions."""
        return {"lookahead": min(MAX_CELLS, limit)}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return self.lookahead

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return the queue of a search, the tree, and how many states a search expands."""
        return {"local": make_local(space), "tree": make_tree(view.terrain.mask.size), "lookahead": self.lookahead}

    def make_memory(self, view: KernelView) -> Any:
        """Return the arrays that the plan kernel works on, without values for a search that has none."""
        memory = super().make_memory(view)
        return memory._replace(h=None) if self.search == "bfs" else memory

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Let tree and values be those of open ground; seed 0 breaks ties by order of generation."""
        if self.memory.h is not None:
            reset_values(self.memory.h, view.terrain, view.goal_cell)
        begin_problem(self.memory.space, seed)
        restore(self.memory.tree, seed)

    def begin_trial(self) -> None:
        """Give up a search that was under way; tree and values stay."""
        self.memory.tree.state["reconnecting"] = 0

    def count_learned(self) -> int:
        """Return how many values differ from the heuristic or, without values, how many parents were set."""
        return int(self.memory.tree.state[0].parents) if self.memory.h is None else super().count_learned()
