"""LRTA*_LS(k): LRTA* that also learns in a space of up to k states around the current one.

C. Hernández, P. Meseguer, "Improving LRTA*(k)", IJCAI 2007; summarised in Figure 2 of the same authors' "Combining
Lookahead and Propagation in Real-Time Heuristic Search", SoCS 2008.

Readings:
- Those of the selection of the learning space are listed in ``rt_gym.search.propagation``.
- The successors of the current state are read once to test it, which is the expansion, and once more to choose the move
  if something was learned in between.
- A learning operation takes about four times as long as in LRTA*(k), whose queue is a list: this one is a heap, and
  every state has been tested before it enters.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from rt_gym.errors import whole
from rt_gym.grid import MAX_CELLS, fill_h0
from rt_gym.jit import kernel
from rt_gym.meter import charge, scan
from rt_gym.search.local import Local, make_local
from rt_gym.search.propagation import best_step, commit, learn_around
from rt_gym.search.space import NONE, Space, make_space
from rt_gym.trip import CUT, NO_PATH
from rt_gym.world import View


class LSKMemory(NamedTuple):
    """Learned values, the learning space, and how many interior states it may have."""

    h: NDArray[np.int64]
    local: Local
    k: NDArray[np.int64]


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Learn around the current state if its value has to change, and commit to the step to its best successor."""
    h = memory.h
    if not charge(trip, s):
        return np.int64(CUT)
    moves = np.int64(terrain.mask[s])
    y, f = best_step(terrain, h, s, moves)
    if y != NONE and h[s] < f:
        if learn_around(terrain, trip, memory.local, h, s, t, memory.k[0]) == NONE:
            return np.int64(NO_PATH)
        scan(trip)
        y, _ = best_step(terrain, h, s, np.int64(terrain.mask[s]))
    return commit(terrain, trip, h, memory.local.space.random, s, y)


class LRTALSK(KernelAgent):
    """LRTA*_LS(k).

    Args:
        k: how many values it may raise per move, at least 1.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

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
    def bound(self) -> int:
        """The most expansions that a move can take."""
        return 1

    @property
    def space(self) -> Space:
        """The states of the learning space; none of them is where a search ended."""
        return self.memory.local.space

    def make_memory(self, view: View) -> LSKMemory:
        """Return room for the values of every cell and for the learning space."""
        cells = view.terrain.mask.size
        return LSKMemory(np.empty(cells, np.int64), make_local(make_space(cells)), np.array([self.k]))

    def clear_memory(self, view: View, seed: int) -> None:
        """Let the values start at the heuristic."""
        fill_h0(view.terrain, view.goal_cell, self.memory.h)
        self.memory.local.space.random[0] = seed
