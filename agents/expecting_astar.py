"""Expecting A*: plan with what unknown ground is expected to cost, and plan again when more of the way is seen.

An algorithm of this project. Agents that plan with the free-space assumption, such as repeated A* and D* Lite, take
unknown ground for free: S. Koenig, M. Likhachev, "Fast Replanning for Navigation in Unknown Terrain", IEEE Transactions
on Robotics 21(3), 2005. Who knows the kind of maps can expect obstacles. Here a step onto an unknown cell costs what it
costs on free ground times a factor that trees predict from what is known around that cell; a known cell costs exactly
what it costs. The trees are data, see ``agents.policies.ground``.

The algorithm in plain Python: ``tests/reference/plain_expecting_astar.py``.

Readings:
- A* from the agent to the goal, from scratch each time: smaller f, larger g, first generated. Factors are at least 1,
  so the usual heuristic stays consistent.
- A cell is predicted when a search first generates it, and anew by every search. Trees test cells of a window: that is
  a scan for every eight tests begun, as many cells as a scan of all neighbours reads. A constant price tests none.
- It commits to its path up to where the first unknown cell of it comes into sight, and then plans anew. On a known map
  it is A*, and searches once.
- It is complete: every plan ends at the goal or with a cell seen that was unknown, and there are only so many of these.
  No factor is without end, so a path is found wherever there is one on the map as it is believed. Paths whose expected
  cost is too large to be exact (see ``rt_gym.cost``) are not followed: those of 209,000 steps or more.
- With a budget too small for the search the agent stands still and thinks on at the next move.
"""

from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Searcher
from agents.policies.ground import MOST, PARTS, Ground, GroundPolicy, cost_of_unknown, load_ground_policy
from rt_gym.cost import INF
from rt_gym.files import PathLike
from rt_gym.intrinsics import lowest
from rt_gym.jit import kernel, record
from rt_gym.meter import charge
from rt_gym.pages import arrays_for
from rt_gym.search.astar import CLOSED, EXHAUSTED, FOUND, INTERRUPTED, begin_astar
from rt_gym.search.buckets import Buckets, any_left, first_slot, insert, pop, take_out
from rt_gym.search.nodes import Nodes, extend_path, open_node
from rt_gym.search.space import OPEN, seat_of
from rt_gym.search.tree import trace
from rt_gym.terrain import gap
from rt_gym.trip import NO_PATH, WAIT
from rt_gym.views import KernelView

# Whether a search is under way, and how far the agent sees.
PROGRESS = record(searching=int, vision=int)


class ExpectingMemory(NamedTuple):
    """The search and its states, PROGRESS[1], the policy, and int32 per state, its cost in PARTS of free ground."""

    space: Nodes
    buckets: Buckets
    state: NDArray[np.record]
    ground: Ground
    price: NDArray[np.int32]


@kernel
def search(terrain, trip, memory, t):
    """Run A* on expected costs until the goal comes next (FOUND), nothing is left (EXHAUSTED) or the meter stops it."""
    buckets, space, price = memory.buckets, memory.space, memory.price
    base, state = space.state[0].stamp << 32, space.state[0]
    while any_left(buckets):
        u = first_slot(buckets)
        here = space.node[u]
        cell = np.int64(here.cell)
        if here.g >= INF:
            break
        if cell == t:
            state.best = u
            return FOUND
        if not charge(trip, cell):
            return INTERRUPTED
        pop(buckets)
        here.role = CLOSED
        state.closed += 1
        moves = np.int64(terrain.mask[cell])
        ahead = moves
        while ahead != 0:
            d = lowest(ahead)
            ahead &= ahead - 1
            v = cell + terrain.offset[d]
            w = seat_of(space, base, v)
            new = w < 0
            if new:
                w = state.slots
                state.slots += 1
                open_node(space, base, w, v, gap(terrain, buckets.metric, v, t))
                price[w] = PARTS if terrain.known[v] != 0 else cost_of_unknown(terrain, trip, memory.ground, v)
            g = here.g + terrain.cost[d] * np.int64(price[w]) // PARTS
            if new or (g < space.node[w].g and space.node[w].role == OPEN):
                if not new:
                    take_out(buckets, w)
                extend_path(space, u, d, w, g, moves)
                insert(buckets, w)
    return EXHAUSTED


@kernel
def committed(terrain, trip, s, length, vision):
    """Return how many steps of the path lead to where the first unknown cell of it is in sight; all if none is."""
    cell = s
    for k in range(length):
        cell += terrain.offset[trip.plan[k]]
        if terrain.known[cell] == 0:
            return max(k + 1 - vision, np.int64(1))
    return length


@kernel
def plan(terrain, trip, memory, s, t):
    """Search on, and commit to the path as far as it is known. A map that changed meanwhile is searched anew."""
    space, state = memory.space, memory.state[0]
    if state.searching == 0 or trip.state[0].changed > 0:
        begin_astar(terrain, memory.buckets, s, t)
        memory.price[0] = PARTS
    end = search(terrain, trip, memory, t)
    state.searching = np.int64(end == INTERRUPTED)
    if end == INTERRUPTED:
        return np.int64(WAIT)
    if end != FOUND:
        return np.int64(NO_PATH)
    return committed(terrain, trip, s, trace(space, space.state[0].best, trip.plan), state.vision)


class ExpectingAStar(Searcher):
    """A* on the costs that are expected of unknown ground.

    Args:
        policy: a file that ``rt-gym train ground`` has written, or the name of a ready-made policy.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    memory_type: ClassVar[Any] = ExpectingMemory
    state_type = PROGRESS
    weight = Fraction(MOST)  # of costs, not of the heuristic: f rises as fast as with such a weight

    def __init__(self, policy: PathLike | GroundPolicy = "mixed", tie: str = "first") -> None:
        super().__init__(tie)
        self.policy = policy
        self.trained = load_ground_policy(policy)

    def make_memory(self, view: KernelView) -> ExpectingMemory:
        """Return the memory for maps of this size and kind; the heuristic has no weight."""
        memory: ExpectingMemory = super().make_memory(view)
        return memory._replace(buckets=memory.buckets._replace(metric=view.terrain.metric.copy()))

    def own_memory(self, view: KernelView) -> dict[str, Any]:
        """Return the policy, and room for what states cost."""
        cells = view.terrain.mask.size
        return {"ground": self.trained.wired(), "price": arrays_for(cells, cells, np.int32)[0]}

    def begin_trial(self) -> None:
        """Forget a search that was under way, and note how far the agent sees."""
        super().begin_trial()
        self.memory.state["vision"] = self.view.vision or 0
