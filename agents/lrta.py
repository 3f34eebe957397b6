"""LRTA*: look ahead, learn the value of the current state, move one step.

R. Korf, "Real-Time Heuristic Search", Artificial Intelligence 42, 1990, for a lookahead of one; V. Bulitko,
Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time Heuristic
Search", ICAPS 2007, Figure 1 with a fixed depth and the global goal for more.

Deviations and readings:
- A value is never lowered (``max``), as in later texts; Korf's does not say so.
- Depth one is written out, for speed; it is the general step's special case, move for move.
- The readings of the general step are listed in ``rt_gym.search.lookahead``.
"""

from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent, bind, decision, trial_loop
from rt_gym.budget import CUT, NO_PATH, charge, raise_h, scan
from rt_gym.cost import INF
from rt_gym.errors import whole
from rt_gym.grid import fill_h0
from rt_gym.jit import kernel
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import Space, draw, make_space
from rt_gym.world import View

MAX_DEPTH = 1000


class LRTAMemory(NamedTuple):
    """Learned values, the room for a lookahead, and the depth."""

    h: NDArray[np.int64]
    space: Space
    depth: NDArray[np.int64]


@kernel(inline=True)
def korf(terrain, trip, memory, s):
    """One step with a lookahead of one.

    The best straight and the best diagonal step are found apart and compared last. That is the order of the ties, as
    larger g comes first: on equal values the diagonal wins if it costs more. It also halves the chain of comparisons,
    which is where the time of a move goes.
    """
    h, cost, offset = memory.h, terrain.cost, terrain.offset
    if not charge(trip, s):
        return np.int64(CUT)
    moves = np.int64(terrain.mask[s])
    y, f = np.int64(-1), np.int64(INF)
    for d in range(4):
        value = cost[d] + h[s + offset[d]]
        if (moves >> d & 1 != 0) & (value < f):
            y, f = np.int64(d), value
    y2, f2 = np.int64(-1), np.int64(INF)
    for d in range(4, 8):
        value = cost[d] + h[s + offset[d]]
        if (moves >> d & 1 != 0) & (value < f2):
            y2, f2 = np.int64(d), value
    if f2 < f or (f2 == f and cost[4] > cost[0]):
        y, f = y2, f2
    if y < 0:
        return np.int64(NO_PATH)
    if memory.space.random[0] != 0:
        y = any_of(terrain, trip, memory, s, f, cost[y])
    raise_h(trip, h, s, f)
    trip.plan[0] = y
    return np.int64(1)


@kernel
def any_of(terrain, trip, memory, s, f, g):
    """Return one of the steps of cost ``g`` and value ``f`` at random; the neighbours are read once more."""
    scan(trip)
    y, ties = np.int64(-1), np.int64(0)
    for d in range(8):
        legal = terrain.mask[s] >> d & 1 != 0
        if legal and terrain.cost[d] == g and g + memory.h[s + terrain.offset[d]] == f:
            ties += 1
            if draw(memory.space.random) % ties == 0:
                y = np.int64(d)
    return y


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Commit to one move."""
    if memory.depth[0] == 1:
        return korf(terrain, trip, memory, s)
    return general_lrta(terrain, trip, memory.space, memory.h, s, t, memory.depth[0])


run, decide = bind(trial_loop, plan), bind(decision, plan)


class LRTA(KernelAgent):
    """LRTA* with a fixed lookahead.

    Args:
        depth: how many actions ahead it looks; it expands at most (2 depth - 1)**2 states per move.
        tie: ``"first"`` or ``"random"``.
    """

    run_kernel, decide_kernel = staticmethod(run), staticmethod(decide)

    def __init__(self, depth: int = 1, tie: str = "first") -> None:
        super().__init__(tie)
        self.depth = whole("depth", depth, 1, MAX_DEPTH)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest depth whose bound fits; of scans half are kept for states that are read again."""
        room = limit if count == "expansions" else max(1, limit // 2)
        return {"depth": min(MAX_DEPTH, (1 + isqrt(room)) // 2)}

    @property
    def bound(self) -> int:
        """The most expansions that a move can take."""
        return (2 * self.depth - 1) ** 2

    @property
    def space(self) -> Space:
        """The states of the lookahead; a lookahead of one has none."""
        return self.memory.space

    def make_memory(self, view: View) -> LRTAMemory:
        """Return room for the values of every cell and for the lookahead."""
        cells = view.terrain.mask.size
        return LRTAMemory(np.empty(cells, np.int64), make_space(cells), np.array([self.depth]))

    def clear_memory(self, view: View, seed: int) -> None:
        """Let the values start at the heuristic."""
        fill_h0(view.terrain, view.goal_cell, self.memory.h)
        self.memory.space.random[0] = seed
