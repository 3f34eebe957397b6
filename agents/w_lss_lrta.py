"""wLSS-LRTA*: LSS-LRTA* that learns as if steps cost more than they do.

N. Rivera, J. A. Baier, C. Hernández, "Incorporating weights into real-time heuristic search", Artificial Intelligence
225, 2015; first in "Weighted Real-Time Heuristic Search", AAMAS 2013. The learning phase multiplies the costs of steps
by a weight w, so that values rise w times as fast and the agent leaves a depression sooner; the lookahead has no
weight. The algorithm in plain Python: ``tests/reference/plain_w_lss_lrta.py``.

Readings:
- Values overestimate by at most w. Repeated trials end with a path of at most w times the optimal cost.
- The weight is a whole number up to 32, the largest of the paper: costs are exact, and with w values reach infinity,
  which means that there is no path, on paths of more than four million steps divided by w.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.lss_lrta import LSSLRTA, look_ahead
from rt_gym.errors import whole
from rt_gym.jit import kernel
from rt_gym.search.local import Local, frontier_update
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.space import Space
from rt_gym.search.tree import trace
from rt_gym.views import KernelView

MOST_WEIGHT = 32


class WeightedMemory(NamedTuple):
    """The memory of LSS-LRTA*, and the weight."""

    h: NDArray[np.int64] | PagedValues
    space: Space
    local: Local
    lookahead: int
    commit: int
    weight: int


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Search, learn with weighted costs, and commit to the path to the best frontier state or to its first step."""
    best = look_ahead(terrain, trip, memory, s, t)
    if best <= 0:
        return best
    frontier_update(terrain, trip, memory.local, memory.h, t, memory.weight)
    return min(trace(memory.space, best, trip.plan), memory.commit)


class WLSSLRTA(LSSLRTA):
    """wLSS-LRTA*.

    Args:
        lookahead: how many states its A* expands.
        weight: w, a whole number from 1, which is LSS-LRTA*, to 32.
        commit: ``"all"`` the moves to the best frontier state, or only ``"one"``.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    converges = False
    overestimates = True
    memory_type: ClassVar[Any] = WeightedMemory

    def __init__(self, lookahead: int = 50, weight: int = 4, commit: str = "all", tie: str = "first") -> None:
        super().__init__(lookahead, commit, tie)
        self.weight = whole("weight", weight, 1, MOST_WEIGHT)

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return what LSS-LRTA* needs, and the weight."""
        return {**super().own_memory(space, view), "weight": self.weight}
