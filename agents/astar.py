"""A*: the whole path first, then the moves.

P. Hart, N. Nilsson, B. Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths", IEEE
Transactions on Systems Science and Cybernetics 4(2), 1968; I. Pohl, "Heuristic Search Viewed as Path Finding in a
Graph", Artificial Intelligence 1, 1970, for the weighted form.

The search itself is ``rt_gym.search.astar``. The algorithm in plain Python: ``tests/reference/plain_astar.py``.

Readings:
- With a budget too small for the search the agent stands still and thinks on at the next move.
- In unknown or changing terrain it plans on what it believes and starts anew when the next step is blocked.
- Weighted A* does not reopen closed states; the path costs at most ``weight`` times the optimum.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Searcher, exact_weight
from rt_gym.jit import kernel, record
from rt_gym.meter import UNLIMITED
from rt_gym.search.astar import FOUND, INTERRUPTED, begin_astar, resume_astar
from rt_gym.search.buckets import Buckets
from rt_gym.search.nodes import Nodes
from rt_gym.search.tree import trace
from rt_gym.trip import NO_PATH, WAIT

# Whether a search is under way.
PROGRESS = record(searching=int)


class AStarMemory(NamedTuple):
    """The search and its states, and PROGRESS[1]."""

    space: Nodes
    buckets: Buckets
    state: NDArray[np.record]


@kernel
def plan(terrain, trip, memory, s, t):
    """Search on, and commit to the whole path once it is found. A map that changed meanwhile is searched anew."""
    buckets, space, state = memory.buckets, memory.space, memory.state[0]
    if state.searching == 0 or trip.state[0].changed > 0:
        begin_astar(terrain, buckets, s, t)
    end = resume_astar(terrain, trip, buckets, t, UNLIMITED)
    state.searching = np.int64(end == INTERRUPTED)
    if end == INTERRUPTED:
        return np.int64(WAIT)
    if end != FOUND:
        return np.int64(NO_PATH)
    return trace(space, space.state[0].best, trip.plan)


class WeightedAStar(Searcher):
    """A* with the heuristic times a weight.

    Args:
        weight: at least 1; taken as the nearest fraction with a denominator of at most 1000.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    memory_type: ClassVar[Any] = AStarMemory
    state_type = PROGRESS

    def __init__(self, weight: float = 1.5, tie: str = "first") -> None:
        super().__init__(tie)
        self.weight = exact_weight(weight)

    @property
    def bound(self) -> int | None:
        """There is none: the first move pays for the whole search."""
        return None


class AStar(WeightedAStar):
    """A* as published: optimal paths.

    Args:
        tie: ``"first"`` or ``"random"``.
    """

    def __init__(self, tie: str = "first") -> None:
        super().__init__(1, tie)
