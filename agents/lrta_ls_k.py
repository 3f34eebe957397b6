"""LRTA*_LS(k): LRTA* that also learns in a space of up to k states around the current one.

C. Hernández, P. Meseguer, "Improving LRTA*(k)", IJCAI 2007; summarised in Figure 2 of the same authors' "Combining
Lookahead and Propagation in Real-Time Heuristic Search", SoCS 2008.

The numbers in braces are the lines of LRTA*_LS(k, d)-trial in Figure 3 of that paper, with the current state in the
place of z and without {8}-{12}; those of SelectLS stand in ``rt_gym.search.propagation``. The algorithm in plain
Python: ``tests/reference/plain_lrta_ls.py``.

Readings:
- Those of the selection of the learning space are listed in ``rt_gym.search.propagation``.
- The successors of the current state are read once to test it, which is the expansion, and once more to choose the move
  if something was learned in between.
- A learning operation takes about four times as long as in LRTA*(k), whose queue is a list: this one is a heap, and
  every state has been tested before it enters.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Learner
from rt_gym.errors import whole
from rt_gym.jit import kernel
from rt_gym.meter import charge, scan
from rt_gym.search.local import Local, make_local
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.propagation import learn_around
from rt_gym.search.space import NONE, Space
from rt_gym.search.step import best_step, commit
from rt_gym.search.values import value_at
from rt_gym.terrain import MAX_CELLS
from rt_gym.trip import CUT, NO_PATH
from rt_gym.views import KernelView


class LSKMemory(NamedTuple):
    """Learned values, the learning space, and how many interior states it may have."""

    h: NDArray[np.int64] | PagedValues
    space: Space
    local: Local
    k: int


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Learn around the current state if its value has to change, and commit to the step to its best successor."""
    h = memory.h
    if not charge(trip, s):
        return np.int64(CUT)
    moves = np.int64(terrain.mask[s])
    y, f = best_step(terrain, h, s, moves)
    if y != NONE and value_at(h, terrain, s, t) < f:  # {4}
        if learn_around(terrain, trip, memory.local, h, s, t, memory.k) == NONE:  # {5}
            return np.int64(NO_PATH)
        scan(trip)
        y, _ = best_step(terrain, h, s, np.int64(terrain.mask[s]))  # {6}
    return commit(terrain, trip, h, memory.space.random, s, y)  # {7}


class LRTALSK(Learner):
    """LRTA*_LS(k).

    Args:
        k: how many values it may raise per move, at least 1.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    memory_type: ClassVar[Any] = LSKMemory

    def __init__(self, k: int = 40, tie: str = "first") -> None:
        super().__init__(tie)
        self.k = whole("k", k, 1, MAX_CELLS)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest k whose scans fit; of expansions a move takes one anyway.

        Selection tests the current state and 8 successors each of at most k - 1 others. Learning scans the k interior
        states and their frontier, which has at most 4 k + 4. Three more scans are for the move.
        """
        return {} if count == "expansions" else {"k": min(MAX_CELLS, max(1, limit // 13))}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return 1

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return the queues of the learning space and how many interior states it may have."""
        return {"local": make_local(space), "k": self.k}
