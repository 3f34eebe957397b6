"""LRTA* with a pattern database (D LRTA*): depth and goal of every lookahead are looked up.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007: General LRTA* (Figure 1) with the entries of a pattern database (Figures 3 and 4).

Deviations and readings:
- A subgoal is kept until the agent enters its region, or the goal's, where the goal is kept for the rest of the trial.
  In the text the entry is that of the region in which the agent stands, at every move (``keep=False``). But the way to
  a subgoal may cross a third region, whose entry leads back, even on open ground where there is nothing to learn:
  without the guard half of the runs on game maps do not end within 10,000 moves. With kept subgoals that are nearer to
  the goal each time (``agents.knowledge.pdb``) there are finitely many of them, LRTA* reaches each, and so mode I is
  complete on a map that stays as it is. In mode GI an entry may be the goal outside of its region; that is looked up at
  every move, nothing is kept meanwhile, and the agent may come back: there the guard is needed still.
- The depth of an entry is right for a representative. Where the agent has been before on its way to subgoals that it
  keeps, or to the goal that it keeps, the depth was too small: it is doubled for every visit, up to the cap.
- Values are learned for every goal and subgoal apart.
- Other chains of subgoals can have cycles, and a map may change. A guard makes the agent complete: where it has been
  ``patience`` times on its way to subgoals, it heads for its goal, with the cap as depth, until it enters another
  region. It counts how often, and the expansions meanwhile.
- The map may turn out to be another than the one prepared for. A subgoal that is blocked is left out; one that cannot
  be reached is given up: all of the component has then been expanded, and the move is that of a lookahead of one
  towards the goal, which reads the nearest of those states again. Wherever there is no entry, the cap is the depth.

The algorithm in plain Python: tests/reference/plain_pdb_lrta.py
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.goal_seeker import PURSUIT
from agents.knowledge.guided import Guided
from agents.knowledge.pdb import Database, checked_mode
from agents.knowledge.region_guide import RegionGuide, cell_of, count_guarded, follow, give_up
from rt_gym.files import PathLike
from rt_gym.jit import kernel
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import Space, make_space
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


@kernel
def plan(terrain, trip, memory, s, t):
    """Look the depth and the goal up, then make General LRTA*'s decision with them."""
    if is_full(memory.values):
        return np.int64(FULL)
    n, depth = follow(terrain, memory.guide, s, t)  # Figure 1, line 3
    goal, before = cell_of(memory.guide, n, t), trip.meter[0].expansions
    memory.state[0].pursued = goal
    result = general_lrta(terrain, trip, memory.space, memory.values, s, goal, depth)  # lines 4 to 7
    count_guarded(memory.guide, trip, s, before)
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
        subgoal: ``"nearer"``, if not said: the first region on the way whose representative is nearer to the goal; or
            ``"first"``: the first other region. With a database, its own.
        keep: whether it keeps a subgoal until it enters its region, or looks it up at every move.
        patience: how often it may be in the same place on its way to subgoals; if not said, 6 where they are kept, else
            3.
        guard: False for an agent that may go back and forth for good.
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
        subgoal: str | None = None,
        keep: bool = True,
        patience: int | None = None,
        guard: bool = True,
        tie: str = "first",
    ) -> None:
        if mode is not None or database is None:
            mode = checked_mode(MODE if mode is None else mode)
        asked = {"level": level, "mode": mode, "abstraction": abstraction, "subgoal": subgoal}
        super().__init__(database, asked, cap, keep, patience, guard, tie)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest cap whose bound fits."""
        return {"cap": cls.deepest(limit, count)}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return (2 * self.cap - 1) ** 2

    @property
    def complete(self) -> bool:  # type: ignore[override]  # of the settings, not of the class
        """Whether it reaches every goal that can be reached: on any map, only a guard ends cycles of subgoals."""
        return self.guard or self.mode == "G"

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
            guide=self.make_guide(cells),
            state=np.zeros(1, PURSUIT),
        )
