"""LSS-LRTA*, also known as Koenig's LRTA*: a bounded A*, then learning in the whole local search space.

S. Koenig, X. Sun, "Comparing real-time and incremental heuristic search for real-time situated agents", Autonomous
Agents and Multi-Agent Systems 18(3), 2009; first in S. Koenig, "A Comparison of Fast Search Methods for Real-Time
Situated Agents", AAMAS 2004.

C. Hernández, P. Meseguer, "Combining Lookahead and Propagation in Real-Time Heuristic Search", SoCS 2008, describe it
as LRTA* (Koenig) in the four columns of Figure 2; comments name the column. There are no numbered lines to refer to.
The algorithm in plain Python: ``tests/reference/plain_lss_lrta.py``.

Readings:
- ``commit="all"`` walks the whole path to the best frontier state, as in the original; ``"one"`` replans after every
  move, which is how the figures that count expansions per action are read.
- Where the meter refuses an expansion the local search space is as large as it got; learning works on any size.
- A state takes two to three times as long as in RTAA*: it passes two priority queues instead of one.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Learner
from rt_gym.cost import INF
from rt_gym.errors import choice, whole
from rt_gym.jit import kernel
from rt_gym.search.local import Local, bounded_astar, frontier_update, make_local
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.space import NONE, Space
from rt_gym.search.tree import trace
from rt_gym.terrain import MAX_CELLS
from rt_gym.trip import CUT, NO_PATH
from rt_gym.views import KernelView


class LSSMemory(NamedTuple):
    """Learned values, the local search space, and how many states it may close and how many moves are committed."""

    h: NDArray[np.int64] | PagedValues
    space: Space
    local: Local
    lookahead: int
    commit: int


@kernel(inline=True)
def look_ahead(terrain, trip, memory, s, t):
    """Local search space: return the first state of the open list, or what to return instead of a plan, at most 0.

    The state is never the root, which slot 0 belongs to: that is closed, or nothing is.
    """
    best = bounded_astar(terrain, trip, memory.local, memory.h, s, t, memory.lookahead)
    if best == NONE or memory.space.f[best] >= INF:
        return np.int64(NO_PATH)
    return np.int64(CUT) if memory.space.state[0].closed == 0 else best


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Search, learn, and commit to the path to the best frontier state or to its first step."""
    best = look_ahead(terrain, trip, memory, s, t)  # local search space
    if best <= 0:
        return best
    frontier_update(terrain, trip, memory.local, memory.h, t)  # local learning space, learning rule
    return min(trace(memory.space, best, trip.plan), memory.commit)  # control strategy


class LSSLRTA(Learner):
    """LSS-LRTA*.

    Args:
        lookahead: how many states its A* expands.
        commit: ``"all"`` the moves to the best frontier state, or only ``"one"``.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    memory_type: ClassVar[Any] = LSSMemory

    def __init__(self, lookahead: int = 50, commit: str = "all", tie: str = "first") -> None:
        super().__init__(tie)
        self.lookahead = whole("lookahead", lookahead, 1, MAX_CELLS)
        self.commit = choice("commit", commit, ("all", "one"))

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest lookahead n whose bound fits.

        A move expands n states. Learning scans at most these and their frontier, which has at most 5 n + 3 states.
        """
        return {"lookahead": min(MAX_CELLS, limit if count == "expansions" else max(1, (limit - 3) // 7))}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return self.lookahead

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return the queues of the local search, how many states it may close and how many moves are committed."""
        commit = 1 if self.commit == "one" else view.terrain.mask.size
        return {"local": make_local(space), "lookahead": self.lookahead, "commit": commit}
