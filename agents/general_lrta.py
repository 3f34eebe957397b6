"""General LRTA* with any choice of the depth and any choice of the goal: the twelve designs of D LRTA*.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007: General LRTA* (Figure 1). The paper tests four designs and leaves the others to the
future. Their goals are the global one (G), an intermediate one (I), or either (GI):

=====  ==========  ====  ==========================================================================
1, 2   fixed       G     LRTA* with a lookahead
3, 4   fixed       GI I  the goals of a pattern database, its depths ignored
5, 6   fixed       GI I  a goal classifier
7-9    database    G-I   ``pdb-lrta`` in its three modes
10     classifier  G     ``classifier-lrta``
11 12  classifier  GI I  a goal classifier, then a depth classifier that sees the goal chosen
=====  ==========  ====  ==========================================================================

Readings and deviations:
- The goal classifier scores the regions next to the agent's own. It heads for the best, of equal scores the one over
  which the goal is nearer by the heuristic; in GI for the goal itself if no score reaches a half. In the goal's own
  region, and where no candidate is free, the goal is the goal.
- All that a depth classifier, a network or an oracle sees is towards the goal chosen; values are learned for every goal
  apart. What a database knows of the depth is likewise towards the goal chosen: a hop between neighbours, or the entry.
- One network may choose both, as in RTDepthGoal-v0, whose decisions it then makes: see
  ``agents.policies.depth_and_goal``. It is no design of the paper, and has no guard.
- The guard, blocked and unreachable subgoals are those of ``pdb-lrta``, and so is keeping the subgoals of a database.
  A classifier chooses anew at every move, as its subgoals change with the agent's visits.

The algorithm in plain Python: tests/reference/plain_general_lrta.py
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.classifier_lrta import ClassifierLRTA
from agents.knowledge.guided import Guided
from agents.knowledge.pdb import Database
from agents.knowledge.region_guide import (
    RegionGuide,
    admit,
    cell_of,
    count_guarded,
    depth_towards,
    enter_region,
    follow,
    give_up,
    is_guided,
)
from agents.oracle_lrta import OracleLRTA
from agents.policies.candidates import begin_visits, note_visit
from agents.policies.depth_and_goal import DepthAndGoal, network_for_both, with_subgoals
from agents.policies.depth_control import HISTORY, MAX_DEPTH, NOT_YET, DepthControl, control_of, with_control
from agents.policies.designs import DESIGNS, GOALS, LOOKED_UP, SCORED, axes, checked_depth, checked_goal, modes
from agents.policies.goal_scorer import GoalScorer, best_candidate, make_scorer
from agents.policies.goals import GoalPolicy, load_goal_policy
from agents.policies.networks import Network
from agents.policies.stored_depth import CHOICE, StoredDepth, StoredMemory
from agents.policies.trees import Policy
from agents.policy_lrta import PolicyLRTA
from agents.runner.loop import plan
from rt_gym.errors import InputError, whole
from rt_gym.files import PathLike
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.search.space import NONE, Space
from rt_gym.search.tables import GoalValues, enlarged, is_full, make_goal_values
from rt_gym.templates import bind
from rt_gym.trip import FULL, NO_PATH
from rt_gym.views import KernelView


class GeneralMemory(NamedTuple):
    """What the plan works on.

    Attributes:
        values: the learned values.
        chooser: the memory of the agent that chooses the depth; it works on the same values.
        guide: the regions and the entries of a database.
        scorer: the goal classifier.
        goal_choice: how the goal is chosen: GLOBAL (it never changes, or the chooser sees to it), LOOKED_UP or SCORED.
        looks_up: 1 if the depth is the database's.
        state: CHOICE[1].
    """

    values: GoalValues
    chooser: Any
    guide: RegionGuide
    scorer: GoalScorer
    goal_choice: int
    looks_up: int
    state: NDArray[np.record]


@kernel
def choose_goal(terrain, trip, memory, s, t):
    """Choose the goal to head for, and return the depth that a database says."""
    guide, scorer, choice = memory.guide, memory.scorer, memory.goal_choice
    if choice == LOOKED_UP:
        n, depth = follow(terrain, guide, s, t)
    else:
        r, n, depth = enter_region(guide, s), np.int64(NONE), np.int64(0)
        if choice == SCORED:
            note_visit(scorer.candidates, r, trip.tally[0].moves)
            if is_guided(guide, r) and guide.region[t] != r:
                n = admit(terrain, guide, s, r, best_candidate(terrain, guide, scorer, s, t, r))
        if memory.looks_up != 0:
            depth = depth_towards(guide, r, n)
    memory.state[0].pursued = cell_of(guide, n, t)
    return depth


def plan_towards(terrain, trip, memory, s, t):
    """Choose a goal, then let the chooser's plan choose a depth and move towards that goal."""
    if is_full(memory.values):
        return np.int64(FULL)
    state, before = memory.state[0], trip.meter[0].expansions
    depth = choose_goal(terrain, trip, memory, s, t)  # Figure 1, line 3: the goal
    if memory.looks_up != 0:
        state.depth = depth
    result = plan(terrain, trip, memory.chooser, s, state.pursued)  # line 3: the depth; lines 4 to 7
    count_guarded(memory.guide, trip, s, before)
    if result == NO_PATH and state.pursued != t:
        return give_up(terrain, trip, memory, s, t)
    return result


@cache
def plan_of(chooser_plan: Any) -> Any:
    """Return the plan of the agent whose depth this plan chooses."""
    return bind(plan_towards, plan=chooser_plan)


def make_chooser(depth: int | str, policy: Any, d_max: int | None, tie: str) -> DepthControl:
    """Return the agent that chooses the depth, of which the plan and the memory are used."""
    if depth == "classifier":
        return ClassifierLRTA("tree" if policy is None else policy, d_max, None, tie)
    if depth == "policy":
        return PolicyLRTA("deepen" if policy is None else policy, d_max, tie)
    if depth == "oracle":
        return OracleLRTA(tie=tie) if d_max is None else OracleLRTA(d_max, tie)
    return StoredDepth(1, HISTORY, tie)


class GeneralLRTA(Guided):
    """LRTA* with any choice of depth and goal.

    Args:
        depth: a whole number; ``"pdb"``; ``"classifier"``, if not said; ``"oracle"``; or ``"policy"``, a network.
        goal: ``"global"``; ``"pdb"``; or ``"classifier"``, if not said.
        mode: ``"GI"`` if the goal may be the global or an intermediate one, ``"I"`` if always an intermediate one,
            ``"G"`` for the global one alone. If not said, ``"I"`` with a database, ``"GI"`` with a goal classifier.
        design: 1 to 12 instead of these; 1 to 6 with a whole number as depth.
        level: how coarse the regions are: with a database its own, else the goal policy's, else 4, if not said.
        cap: the largest depth of a database, 16 if not said; with a database, at most its own.
        abstraction: ``"clique"`` or ``"tiles"``; if not said, as the level.
        database: a file that ``rt-gym precompute pdb`` has written, or a database; else what is needed is built.
        policy: a file or the name of a ready-made depth policy or network; ``"tree"`` or ``"deepen"`` if not said. With
            a network for depth and goal, depth and goal are left out, and the regions are its own if not said.
        goal_policy: a file that ``rt-gym train goal`` has written, or the name of a ready-made goal policy.
        d_max: the largest depth of a classifier, an oracle or a network; None leaves it to them.
        subgoal, keep: those of ``pdb-lrta``, for the goals of a database.
        patience, guard: those of ``pdb-lrta``; subgoals of a classifier are not kept.
        tie: ``"first"`` or ``"random"``.
    """

    def __init__(
        self,
        depth: int | str | None = None,
        goal: str | None = None,
        mode: str | None = None,
        design: int | None = None,
        level: int | None = None,
        cap: int | None = None,
        abstraction: str | None = None,
        database: PathLike | Database | None = None,
        policy: PathLike | Policy | Network | None = None,
        goal_policy: PathLike | GoalPolicy = "goal",
        d_max: int | None = None,
        subgoal: str | None = None,
        keep: bool = True,
        patience: int | None = None,
        guard: bool = True,
        tie: str = "first",
    ) -> None:
        if design is not None:
            depth, goal, mode = axes(whole("design", design, 1, len(DESIGNS)), depth, goal, mode)
        self.network = network_for_both(policy) if depth is None and goal is None else None
        if self.network is not None:  # subgoals are the network's own affair: nothing else changes the goal
            depth, goal = "policy", "global"
        self.depth = checked_depth("classifier" if depth is None else depth)
        self.goal = checked_goal("classifier" if goal is None else goal)
        self.scorer = load_goal_policy(goal_policy) if self.goal == "classifier" else None
        self.either, stored = modes(self.depth, self.goal, mode, database is not None)
        self.looks_up = "pdb" in (self.depth, self.goal)
        if database is not None and not self.looks_up:
            raise InputError('database must be left out where neither depth nor goal is "pdb"')
        trained = self.scorer or self.network
        if trained is not None and database is None:
            level = trained.level if level is None else level
            abstraction = trained.abstraction if abstraction is None else abstraction
        self.heads_by_entries = self.goal == "pdb"
        asked = {"level": level, "mode": stored, "abstraction": abstraction, "subgoal": subgoal}
        super().__init__(database, asked, cap, keep, patience, guard, tie)
        if self.network is not None:
            self.chooser: DepthControl = DepthAndGoal(self.network, d_max, tie)
            self.plan = self.chooser.plan
        else:
            self.chooser = make_chooser(self.depth, policy, d_max, tie)
            self.plan = plan_of(self.chooser.plan)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest depths whose bounds fit."""
        depth = cls.deepest(limit, count)
        return {"cap": depth, "d_max": min(depth, MAX_DEPTH)}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        depth = self.cap if self.depth == "pdb" else self.depth
        return (2 * depth - 1) ** 2 if isinstance(depth, int) else self.chooser.bound

    @property
    def complete(self) -> bool:  # type: ignore[override]  # of the settings, not of the class
        """Whether it reaches every goal that can be reached: nothing but a guard ends cycles of subgoals."""
        return self.network is None and (self.guard or self.goal == "global" or self.mode == "G")

    @property
    def by_waypoints(self) -> bool:
        """Whether it heads for subgoals or regions that may lie off every shortest path, even on open ground."""
        return bool(self.goal == "classifier" or self.network or (self.goal == "pdb" and self.mode == "I"))

    @property
    def space(self) -> Space:
        """The states of the lookahead."""
        return control_of(self.memory.chooser).space

    def make_memory(self, view: KernelView) -> GeneralMemory:
        """Return the memory for maps of this size; ``clear_memory`` adds the knowledge of the map."""
        values = make_goal_values()
        chooser = with_control(self.chooser.make_memory(view), h=values)
        state = chooser.state if isinstance(chooser, StoredMemory) else np.zeros(1, CHOICE)
        state[0].depth = self.depth if isinstance(self.depth, int) else 0
        return GeneralMemory(
            values=values,
            chooser=chooser,
            guide=self.make_guide(view.terrain.mask.size),
            scorer=make_scorer(self.scorer, self.regions, self.either),
            goal_choice=GOALS.index(self.goal),
            looks_up=int(self.depth == "pdb"),
            state=state,
        )

    def enlarge_memory(self) -> None:
        """Double the capacity for values."""
        values = enlarged(self.memory.values)
        self.memory = self.memory._replace(values=values, chooser=with_control(self.memory.chooser, h=values))

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget all values, prepare for this goal, and seed the ties."""
        super().clear_memory(view, seed)
        regions, scorer = self.regions, self.memory.scorer
        if self.scorer is not None and regions is not None and scorer.candidates.sizes is not regions.sizes:
            self.memory = self.memory._replace(scorer=make_scorer(self.scorer, regions, self.either))

    def begin_trial(self) -> None:
        """Count visits anew, and begin the history with where the agent stands."""
        super().begin_trial()
        control_of(self.memory.chooser).state[0].moves = NOT_YET
        begin_visits(self.memory.scorer.candidates)

    def _informed(self, guide: RegionGuide, view: KernelView) -> RegionGuide:
        """Return the guide with what is known about the way to this goal; only what is needed is prepared."""
        if self.network is not None:
            return with_subgoals(super()._informed(guide, view), self._map_of(view), self.regions, view.goal_cell)
        return guide if self.goal == "global" and self.depth != "pdb" else super()._informed(guide, view)

    def _map_of(self, view: KernelView) -> Grid:
        """Return the map that is cut into regions; a network's are those of its environment, in fog of open ground."""
        grid = super()._map_of(view)
        return grid.replace(passable=np.ones_like(grid.passable)) if self.network and view.vision is not None else grid
