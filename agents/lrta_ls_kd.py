"""LRTA*_LS(k, d): A* looks ahead, and what it finds wrong is repaired in a learning space built around the spot.

C. Hernández, P. Meseguer, "Combining Lookahead and Propagation in Real-Time Heuristic Search", SoCS 2008, Figure 3 for
dynamic lookahead with dynamic control, the text for the other five versions.

The numbers in braces are the lines of the figure's LRTA*_LS(k, d)-trial; the trial loop is {1} and {2}. Those of
SelectLS and Changes? stand in ``rt_gym.search.propagation``. The algorithm in plain Python:
``tests/reference/plain_lrta_ls.py``.

Readings:
- {4} A state is tested when it is next to be expanded, so with d = 1 the best successor of the current state is tested
  as well. Its successors are then read once: that is an expansion if it is expanded, else a scan.
- {4} The goal never changes; the printed test would raise its value.
- {4}-{5} Static lookahead tests the closed states in the order of their expansion, then the first of the open list.
  Each has its own k, unless ``shared_k`` makes it the total of a move.
- {8} Where the lookahead ends with the current state itself, walking several moves is walking one.
- The readings of the learning space are listed in ``rt_gym.search.propagation``.
- {3} Where the meter refuses an expansion the local search space is as large as it got.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Learner
from rt_gym.errors import choice, flag, whole
from rt_gym.jit import kernel
from rt_gym.meter import charge, scan
from rt_gym.search.local import Local, begin_search, bounded_astar, expand, make_local, nth_closed
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.propagation import changes, learn_around
from rt_gym.search.space import NONE, Space, begin_problem, make_space
from rt_gym.search.step import best_step, commit
from rt_gym.search.tree import trace
from rt_gym.search.values import value_at
from rt_gym.terrain import MAX_CELLS
from rt_gym.trip import CUT, NO_PATH
from rt_gym.views import KernelView

CONTROLS = ("dynamic", "single", "several")
DYNAMIC, SINGLE, SEVERAL = range(3)
ROOT = 0  # the slot of the current state


class LSKDMemory(NamedTuple):
    """Learned values, the local search space, the local learning space, and the parameters.

    Attributes:
        h: int64 per cell, the values.
        space, search: the states of the lookahead, and with them its queues.
        learning: the learning space.
        k, d: how many values are raised around a state, and how many states are closed.
        control: DYNAMIC, SINGLE or SEVERAL.
        shared_k: 1 if k is the total of a move.
    """

    h: NDArray[np.int64] | PagedValues
    space: Space
    search: Local
    learning: Local
    k: int
    d: int
    control: int
    shared_k: int


@kernel(inline=True)
def look_until_change(terrain, trip, local, h, s, t, d):
    """{3}, dynamic: A* until the next state has to change or is the goal, or ``d`` states are closed.

    Returns:
        The slot of that next state, NONE if nothing is left to expand, and whether it has to change.
    """
    space, open_list = local.space, local.open
    base = begin_search(terrain, local, s, value_at(h, terrain, s, t))
    size, closed = np.int64(1), np.int64(0)
    z, change = np.int64(NONE), False
    while open_list.size[0] > 0:
        u = np.int64(open_list.item[0])
        cell = np.int64(space.cell[u])
        if cell == t:
            z = u
            break
        moves = np.int64(terrain.mask[cell])
        change = changes(terrain, h, cell, moves)
        if change or closed == d or not charge(trip, cell):
            scan(trip)
            z = u
            break
        size = expand(terrain, local, h, base, moves, size, closed)
        closed += 1
    space.state[0].slots = size
    space.state[0].closed = closed
    return z, change


@kernel(inline=True)
def learn_everywhere(terrain, trip, memory, t, z):
    """{4}-{5}, static: learn around every closed state that has to change, and around slot ``z``.

    Returns:
        How many states were interior, NONE if one of the learning spaces had no frontier.
    """
    h, space = memory.h, memory.space
    left, learned = memory.k, np.int64(0)
    for k in range(space.state[0].closed + 1):
        cell = np.int64(space.cell[nth_closed(space, k) if k < space.state[0].closed else z])
        if cell == t or left == 0:
            break
        scan(trip)
        if changes(terrain, h, cell, np.int64(terrain.mask[cell])):  # {4}
            inside = learn_around(terrain, trip, memory.learning, h, cell, t, left)  # {5}
            if inside == NONE:
                return inside
            learned += inside
            left -= inside * memory.shared_k
    return learned


@kernel(inline=True)
def move(terrain, trip, memory, s, z, learned):
    """{6}-{12}: commit to one move, or to the whole path to slot ``z``, as the control strategy says."""
    h, space = memory.h, memory.space
    several = memory.control == SEVERAL or (memory.control == DYNAMIC and learned == 0)
    if z != ROOT and several:  # {8}
        space.state[0].best = z
        return trace(space, z, trip.plan)  # {9}-{12}
    space.state[0].best = NONE
    scan(trip)
    y, _ = best_step(terrain, h, s, np.int64(terrain.mask[s]))  # {6}
    return commit(terrain, trip, h, space.random, s, y)  # {7}


@kernel
def plan_dynamic(terrain, trip, memory, s, t):
    """{3}-{12} with dynamic lookahead: it ends at a state that has to change, and only that one is repaired."""
    h, space, learned = memory.h, memory.space, np.int64(0)
    z, change = look_until_change(terrain, trip, memory.search, h, s, t, memory.d)  # {3}
    if z == NONE:
        return np.int64(NO_PATH)
    if z == ROOT and not change:
        return np.int64(CUT)
    if change:  # {4}
        learned = learn_around(terrain, trip, memory.learning, h, np.int64(space.cell[z]), t, memory.k)  # {5}
    if learned == NONE:
        return np.int64(NO_PATH)
    return move(terrain, trip, memory, s, z, learned)  # {6}-{12}


@kernel
def plan_static(terrain, trip, memory, s, t):
    """{3}-{12} with static lookahead: it closes ``d`` states, and all of them that have to change are repaired."""
    z = bounded_astar(terrain, trip, memory.search, memory.h, s, t, memory.d)  # {3}
    if z == NONE:
        return np.int64(NO_PATH)
    if z == ROOT:
        return np.int64(CUT)
    learned = learn_everywhere(terrain, trip, memory, t, z)  # {4}-{5}
    if learned == NONE:
        return np.int64(NO_PATH)
    return move(terrain, trip, memory, s, z, learned)  # {6}-{12}


PLANS = {"dynamic": plan_dynamic, "static": plan_static}


class LRTALSKD(Learner):
    """LRTA*_LS(k, d).

    Args:
        k: how many values it may raise around a state that has to change.
        d: how many states its A* expands.
        lookahead: ``"dynamic"`` stops at the first state that has to change, ``"static"`` does not.
        control: ``"single"`` moves, ``"several"`` up to where the lookahead ended, or ``"dynamic"``: single after
            something was learned, several otherwise.
        shared_k: whether all learning of a static lookahead shares one k.
        tie: ``"first"`` or ``"random"``.
    """

    memory_type: ClassVar[Any] = LSKDMemory
    pooled = True

    def __init__(
        self,
        k: int = 40,
        d: int = 16,
        lookahead: str = "dynamic",
        control: str = "dynamic",
        shared_k: bool = False,
        tie: str = "first",
    ) -> None:
        super().__init__(tie)
        self.k, self.d = whole("k", k, 1, MAX_CELLS), whole("d", d, 1, MAX_CELLS)
        self.lookahead, self.control = choice("lookahead", lookahead, PLANS), choice("control", control, CONTROLS)
        self.shared_k = flag("shared_k", shared_k)
        self.plan = PLANS[lookahead]

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the limit as d; of scans the largest k = d that fits a dynamic lookahead.

        That reads d + 1 states, learning 13 k - 3 as in LRTA*_LS(k), and two more scans are for the move.
        """
        if count == "expansions":
            return {"d": min(MAX_CELLS, limit)}
        size = min(MAX_CELLS, max(1, limit // 14))
        return {"k": size, "d": size}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return self.d

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return the queues of the lookahead, the learning space, and the parameters."""
        return {
            "search": make_local(space),
            "learning": make_local(make_space(view.terrain.mask.size)),
            "k": self.k,
            "d": self.d,
            "control": CONTROLS.index(self.control),
            "shared_k": int(self.shared_k),
        }

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Let the values start at the heuristic, and forget both spaces."""
        super().clear_memory(view, seed)
        begin_problem(self.memory.learning.space, 0)
