"""Capped A*: stop after so many nodes, walk to the reached cell that is nearest to the goal, search again from there.

The fallback of game engines, whose navigation gives up after a number of nodes and returns a partial path. It is common
practice, not an algorithm of a paper; the search is that of P. Hart, N. Nilsson, B. Raphael, "A Formal Basis for the
Heuristic Determination of Minimum Cost Paths", IEEE Transactions on Systems Science and Cybernetics 4(2), 1968.

The search itself is ``rt_gym.search.astar``. The algorithm in plain Python: ``tests/reference/plain_capped_astar.py``.

It is not complete. While the believed map stays as it is, the h of the cell where it searches falls strictly with every
search, so that it ends at the goal or in a local minimum of what its nodes can reach, where it stands still for good.
In fog the same holds between two plans that turn out to be blocked, of which there are finitely many.

Readings:
- Reached are all cells that were generated: a path to each of them is known, whether it was expanded or not. As soon as
  the goal is generated it is the next to be expanded, so that the last path is a shortest one from where it begins.
- Nearest is the smallest h, then the smallest g, then the first generated; with ``tie="random"`` the last is drawn.
- It walks the whole path to that cell before it searches again, and nothing of a search is kept for the next.
- Where no reached cell is nearer than its own it stands still. It searches there again when the believed map changes,
  or when a move may take more expansions than that search had; until then standing still costs nothing.
- A budget smaller than ``nodes`` cuts the search of the move, and counts as that many nodes.
- A search that runs out of states has shown that there is no path: it says so and does not walk to the nearest cell.
- In unknown or changing terrain it plans on what it believes and starts anew when a step that remains is blocked.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Searcher
from rt_gym.errors import whole
from rt_gym.jit import kernel, record
from rt_gym.meter import spent
from rt_gym.search.astar import EXHAUSTED, FOUND, begin_astar, resume_astar
from rt_gym.search.buckets import Buckets
from rt_gym.search.nodes import Nodes
from rt_gym.search.space import rank_of
from rt_gym.search.tree import trace
from rt_gym.trip import NO_PATH, WAIT
from rt_gym.views import KernelView

MAX_NODES = 10**9

# How many states the last search expanded if it reached no cell nearer than the agent's own, else 0.
STANDING = record(expanded=int)


class CappedMemory(NamedTuple):
    """The search and its states, STANDING[1], and how many states a search expands at most."""

    space: Nodes
    buckets: Buckets
    state: NDArray[np.record]
    nodes: int


@kernel
def nearest(space):
    """Return the slot of the generated state with the smallest h, then the smallest g, then by rank."""
    best = np.int64(0)
    for u in range(1, space.state[0].slots):
        node, first = space.node[u], space.node[best]
        if node.h != first.h:
            better = node.h < first.h
        elif node.g != first.g:
            better = node.g < first.g
        else:
            better = rank_of(space, u) < rank_of(space, best)
        if better:
            best = np.int64(u)
    return best


@kernel(inline=True)
def stands_still(trip, memory):
    """Whether a search would end as the last one did: the same map, from the same cell, and no more expansions."""
    meter, expanded = trip.meter[0], memory.state[0].expanded
    return expanded > 0 and trip.state[0].changed == 0 and min(memory.nodes, meter.limit - spent(meter)) <= expanded


@kernel
def plan(terrain, trip, memory, s, t):
    """Search, and commit to the path to the goal or to the nearest cell that was reached."""
    buckets, space, state = memory.buckets, memory.space, memory.state[0]
    if stands_still(trip, memory):
        return np.int64(WAIT)
    state.expanded = 0
    begin_astar(terrain, buckets, s, t)
    end = resume_astar(terrain, trip, buckets, t, memory.nodes)
    if end == EXHAUSTED:
        return np.int64(NO_PATH)
    if end != FOUND:
        space.state[0].best = nearest(space)
    if space.state[0].best == 0:
        state.expanded = space.state[0].closed
        return np.int64(WAIT)
    return trace(space, space.state[0].best, trip.plan)


class CappedAStar(Searcher):
    """Capped A*, the fallback of game engines.

    Args:
        nodes: the most states that a search expands.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    complete = False
    converges = False
    memory_type: ClassVar[Any] = CappedMemory
    state_type = STANDING

    def __init__(self, nodes: int = 100, tie: str = "first") -> None:
        super().__init__(tie)
        self.nodes = whole("nodes", nodes, 1, MAX_NODES)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the limit as the nodes: an expansion is one scan, and there are no others."""
        return {"nodes": min(MAX_NODES, limit)}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return self.nodes

    def own_memory(self, view: KernelView) -> dict[str, Any]:
        """Return the nodes of a search."""
        return {"nodes": self.nodes}
