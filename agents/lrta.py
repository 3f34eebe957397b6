"""LRTA*: look ahead, learn the value of the current state, move one step.

R. Korf, "Real-Time Heuristic Search", Artificial Intelligence 42, 1990, for a lookahead of one; V. Bulitko,
Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time Heuristic
Search", ICAPS 2007, Figure 1 with a fixed depth and the global goal for more.

The numbers in braces are the lines of Algorithm 1 in C. Hernández, J. Baier, "Fast Subgoaling for Pathfinding via
Real-Time Search", ICAPS 2011, which prints Korf's algorithm; those of Figure 1 stand in ``rt_gym.search.lookahead``.
The algorithm in plain Python: ``tests/reference/plain_lrta.py``.

Deviations and readings:
- {1}, {2} are the trial loop; {3} is the world, which keeps the believed map.
- {5} A value is never lowered, as in later texts; Korf's does not say so.
- Depth one is written out, for speed; it is the general step's special case, move for move.
- The readings of the general step are listed in ``rt_gym.search.lookahead``.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Learner
from rt_gym.errors import whole
from rt_gym.jit import kernel
from rt_gym.meter import charge
from rt_gym.search.lookahead import general_lrta, largest_depth
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.space import NONE, Space
from rt_gym.search.step import best_step, commit
from rt_gym.search.values import raise_value
from rt_gym.trip import CUT
from rt_gym.views import KernelView

MAX_DEPTH = 1000


class LRTAMemory(NamedTuple):
    """Learned values, the arrays of a lookahead, and the depth."""

    h: NDArray[np.int64] | PagedValues
    space: Space
    depth: int


@kernel(inline=True)
def korf(terrain, trip, memory, s, t):
    """{4}-{6}: one step with a lookahead of one."""
    h = memory.h
    if not charge(trip, s):
        return np.int64(CUT)
    y, f = best_step(terrain, h, s, np.int64(terrain.mask[s]), t)  # {4}
    if y != NONE:
        raise_value(trip, h, terrain, s, t, f)  # {5}
    return commit(terrain, trip, h, memory.space.random, s, y, t)  # {6}


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Commit to one move."""
    if memory.depth == 1:
        return korf(terrain, trip, memory, s, t)
    return general_lrta(terrain, trip, memory.space, memory.h, s, t, memory.depth)


class LRTA(Learner):
    """LRTA* with a fixed lookahead.

    Args:
        depth: how many actions ahead it looks; it expands at most (2 depth - 1)**2 states per move.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    memory_type: ClassVar[Any] = LRTAMemory

    def __init__(self, depth: int = 1, tie: str = "first") -> None:
        super().__init__(tie)
        self.depth = whole("depth", depth, 1, MAX_DEPTH)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest depth whose bound fits; of scans half are kept for states that are read again."""
        return {"depth": min(MAX_DEPTH, largest_depth(limit, count))}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return (2 * self.depth - 1) ** 2

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return the depth."""
        return {"depth": self.depth}
