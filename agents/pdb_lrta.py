"""LRTA* with a pattern database (D LRTA*): depth and goal of every lookahead are looked up.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007: General LRTA* (Figure 1) with the entries of a pattern database (Figures 3 and 4).

Deviations and readings:
- The entry is that of the region in which the agent stands now. On reaching a subgoal it stands in another region, so
  the entry changes by itself.
- Values are learned for every goal and subgoal apart.
- With changing goals the paper proves nothing, and two regions can send the agent back and forth. A guard makes it
  complete: where it has been ``patience`` times on its way to the same subgoal, it heads for its goal, with the cap as
  depth, until it enters another region. It counts how often.
- The map may turn out to be another than the one prepared for. A subgoal that is blocked is left out; one that cannot
  be reached is given up: all of the component has then been expanded, and the move is that of a lookahead of one
  towards the goal, which reads the nearest of those states again. Wherever there is no entry, the cap is the depth.

The algorithm in plain Python: tests/reference/plain_pdb_lrta.py
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.goal_seeker import PURSUIT
from agents.knowledge.guided import (
    VISITS,
    Guided,
    RegionGuide,
    admit,
    cell_of,
    depth_towards,
    enter_region,
    give_up,
    is_guided,
    look_up,
    make_guide,
)
from agents.knowledge.pdb import Database, checked_mode
from rt_gym.files import PathLike
from rt_gym.jit import kernel
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import NONE, Space, make_space
from rt_gym.search.tables import GoalValues, is_full, make_goal_values
from rt_gym.trip import FULL, NO_PATH
from rt_gym.views import KernelView

MODE = "I"  # without a database


class PDBMemory(NamedTuple):
    """What the plan works on: learned values, the lookahead, the regions, and the cell it heads for."""

    values: GoalValues
    space: Space
    guide: RegionGuide
    state: NDArray[np.record]


@kernel(inline=True)
def select(terrain, guide, s, t):
    """Return the depth and the goal of the next lookahead (Figure 1, line 3)."""
    r, k = enter_region(guide, s), np.int64(NONE)
    if is_guided(guide, r):
        k = admit(terrain, guide, s, r, look_up(guide, r))
    return depth_towards(guide, r, k), cell_of(guide, k, t)


@kernel
def plan(terrain, trip, memory, s, t):
    """Look the depth and the goal up, then make General LRTA*'s decision with them."""
    if is_full(memory.values):
        return np.int64(FULL)
    depth, goal = select(terrain, memory.guide, s, t)  # Figure 1, line 3
    memory.state[0].pursued = goal
    result = general_lrta(terrain, trip, memory.space, memory.values, s, goal, depth)  # lines 4 to 7
    if result == NO_PATH and goal != t:
        result = give_up(terrain, trip, memory, s, t)
    return result


class PDBLRTA(Guided):
    """LRTA* with a pattern database.

    Args:
        database: a file that ``rt-gym precompute pdb`` has written, or a database. Without one, the agent builds at
            ``reset`` what its goal needs, and keeps it for later problems on the same map.
        level: how coarse the regions are, 4 if not said; with a database, its own.
        cap: the largest depth, 16 if not said; with a database, at most its own.
        mode: ``"G"``: depths towards the goal; ``"GI"``: where that is beyond the cap, a subgoal; ``"I"``, if not
            said: always a subgoal. With a database, its own.
        abstraction: ``"clique"``, if not said, or ``"tiles"``; with a database, its own.
        patience: how often it may be in the same place on its way to the same subgoal.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    def __init__(
        self,
        database: PathLike | Database | None = None,
        level: int | None = None,
        cap: int | None = None,
        mode: str | None = None,
        abstraction: str | None = None,
        patience: int = VISITS,
        tie: str = "first",
    ) -> None:
        if mode is not None or database is None:
            mode = checked_mode(MODE if mode is None else mode)
        super().__init__(database, {"level": level, "mode": mode, "abstraction": abstraction}, cap, patience, tie)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest cap whose bound fits."""
        return {"cap": cls.deepest(limit, count)}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return (2 * self.cap - 1) ** 2

    @property
    def by_waypoints(self) -> bool:
        """Whether it heads for subgoals or regions that may lie off every shortest path, even on open ground."""
        return self.mode == "I"

    def make_memory(self, view: KernelView) -> PDBMemory:
        """Return the memory for maps of this size; ``clear_memory`` adds the knowledge of the map."""
        cells = view.terrain.mask.size
        return PDBMemory(
            values=make_goal_values(),
            space=make_space(cells),
            guide=make_guide(cells, self.cap, self.patience),
            state=np.zeros(1, PURSUIT),
        )
