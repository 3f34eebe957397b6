"""wLRTA*_LS(k): LRTA*_LS(k) that learns as if steps cost more than they do.

N. Rivera, J. A. Baier, C. Hernández, "Incorporating weights into real-time heuristic search", Artificial Intelligence
225, 2015; first in "Weighted Real-Time Heuristic Search", AAMAS 2013. The test whether a value has to change and the
learning multiply the costs of steps by a weight w; the choice of the move has no weight. The algorithm in plain Python:
``tests/reference/plain_w_lrta_ls_k.py``.

Readings:
- Values overestimate by at most w. Repeated trials end with a path of at most w times the optimal cost.
- The weight is a whole number up to 32: see ``agents.w_lss_lrta``.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.lrta_ls_k import LRTALSK
from agents.w_lss_lrta import MOST_WEIGHT
from rt_gym.errors import whole
from rt_gym.jit import kernel
from rt_gym.meter import charge, scan
from rt_gym.search.local import Local
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.propagation import changes, learn_around
from rt_gym.search.space import NONE, Space
from rt_gym.search.step import best_step, commit
from rt_gym.trip import CUT, NO_PATH
from rt_gym.views import KernelView


class WeightedLSKMemory(NamedTuple):
    """The memory of LRTA*_LS(k), and the weight."""

    h: NDArray[np.int64] | PagedValues
    space: Space
    local: Local
    k: int
    weight: int


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Learn around the current state if its value has to change, and commit to the step to its best successor."""
    h, w = memory.h, memory.weight
    if not charge(trip, s):
        return np.int64(CUT)
    moves = np.int64(terrain.mask[s])
    y, _ = best_step(terrain, h, s, moves)
    if y != NONE and changes(terrain, h, s, moves, w):
        if learn_around(terrain, trip, memory.local, h, s, t, memory.k, w) == NONE:
            return np.int64(NO_PATH)
        scan(trip)
        y, _ = best_step(terrain, h, s, np.int64(terrain.mask[s]))
    return commit(terrain, trip, h, memory.space.random, s, y)


class WLRTALSK(LRTALSK):
    """wLRTA*_LS(k).

    Args:
        k: how many values it may raise per move, at least 1.
        weight: w, a whole number from 1, which is LRTA*_LS(k), to 32.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    converges = False
    overestimates = True
    memory_type: ClassVar[Any] = WeightedLSKMemory

    def __init__(self, k: int = 40, weight: int = 4, tie: str = "first") -> None:
        super().__init__(k, tie)
        self.weight = whole("weight", weight, 1, MOST_WEIGHT)

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return what LRTA*_LS(k) needs, and the weight."""
        return {**super().own_memory(space, view), "weight": self.weight}
