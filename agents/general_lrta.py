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
- The guard, blocked and unreachable subgoals are those of ``pdb-lrta``. A classifier's subgoals change with the agent's
  visits, so the guard counts the visits to a place on the way to whatever subgoal.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import classifier_lrta, oracle_lrta, policy_lrta
from agents.knowledge.guided import (
    ASTRAY,
    VISITS,
    Guide,
    Guided,
    admit,
    cell_of,
    depth_towards,
    enter_region,
    give_up,
    look_up,
    make_guide,
)
from agents.knowledge.pdb import MAX_CAP, Database, checked_mode
from agents.policies.candidates import Candidates, begin_visits, make_candidates, note_visit, write_candidate
from agents.policies.depth_control import HISTORY, MAX_DEPTH, NOT_YET, SEEN, Control, DepthControl
from agents.policies.goals import GoalPolicy, load_goal_policy
from agents.policies.networks import Network
from agents.policies.trees import LEAF, Forest, Policy, add_scores
from rt_gym.errors import InputError, quoted, whole
from rt_gym.files import PathLike
from rt_gym.jit import kernel
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import NONE, Space
from rt_gym.search.values import GoalValues, enlarged, is_full, make_goal_values
from rt_gym.trip import FULL, NO_PATH
from rt_gym.world import View

DEPTHS = ("pdb", "classifier", "oracle", "policy")
GOALS = ("global", "pdb", "classifier")
GLOBAL, LOOKED_UP, SCORED = range(3)
HALF = 0.5  # from which score on a candidate is better than the goal

# Depth (None for a fixed one), goal and mode of every design.
DESIGNS = {
    1: (None, "global", "G"),
    2: (None, "global", "G"),
    3: (None, "pdb", "GI"),
    4: (None, "pdb", "I"),
    5: (None, "classifier", "GI"),
    6: (None, "classifier", "I"),
    7: ("pdb", "global", "G"),
    8: ("pdb", "pdb", "GI"),
    9: ("pdb", "pdb", "I"),
    10: ("classifier", "global", "G"),
    11: ("classifier", "classifier", "GI"),
    12: ("classifier", "classifier", "I"),
}

# Entries of GeneralMemory.choice: who chooses the goal, whether it may be the global one, a fixed depth or 0.
GOAL, EITHER, FIXED = range(3)


class GeneralMemory(NamedTuple):
    """What the plan works on.

    Attributes:
        pursued: the cell that the agent heads for.
        chooser: the memory of whoever chooses the depth, in which the learned values are.
        guide: the regions and the entries of a database.
        candidates, forest, score: what a goal classifier knows of the regions next to the agent's, its trees, room.
        choice: int64[3], see above.
    """

    pursued: NDArray[np.int64]
    chooser: Any
    guide: Guide
    candidates: Candidates
    forest: Forest
    score: NDArray[np.float64]
    choice: NDArray[np.int64]

    @property
    def values(self) -> GoalValues:
        """The learned values."""
        h = control_of(self.chooser).h
        assert isinstance(h, GoalValues), "a chooser of one goal has been given the values of many"
        return h


def control_of(chooser: Any) -> Control:
    """Return the part of a chooser's memory that all of them have."""
    return chooser if isinstance(chooser, Control) else chooser.control


def with_control(chooser: Any, **changes: Any) -> Any:
    """Return the memory of a chooser with some of that part replaced."""
    control = control_of(chooser)._replace(**changes)
    return control if isinstance(chooser, Control) else chooser._replace(control=control)


@kernel
def best_candidate(terrain, memory, s, t, r):
    """Return the region to head for, as a place in ``near``; NONE for the goal itself."""
    guide, score = memory.guide, memory.score
    best, highest, nearest = np.int64(NONE), HALF if memory.choice[EITHER] != 0 else -np.inf, np.int64(0)
    for k in range(guide.begin[r], guide.begin[r + 1]):
        n = np.int64(guide.near[k])
        representative = np.int64(guide.representatives[n])
        if terrain.free[representative] == 0:
            continue
        way = write_candidate(memory.candidates, terrain, n, representative, s, t)
        add_scores(memory.forest, memory.candidates.inputs, memory.forest.feature.size, score)
        if score[0] > highest or (score[0] == highest and (best == NONE or way < nearest)):
            best, highest, nearest = np.int64(k), score[0], way
    return best


@kernel
def choose_goal(terrain, trip, memory, s, t):
    """Choose whom to head for; return the region of ``s`` and the subgoal, as a place in ``near`` or NONE."""
    guide, kind = memory.guide, memory.choice[GOAL]
    r, k = enter_region(guide, s), np.int64(NONE)
    if kind == SCORED:
        note_visit(memory.candidates, r, trip.tally[0].moves)
    if r != NONE and guide.state[ASTRAY] != r:
        if kind == LOOKED_UP:
            k = look_up(guide, r)
        elif kind == SCORED and guide.region[t] != r:
            k = best_candidate(terrain, memory, s, t, r)
        k = admit(terrain, guide, s, r, k)
    memory.pursued[0] = cell_of(guide, k, t)
    return r, k


@kernel(inline=True)
def accept(terrain, trip, memory, values, s, t, result):
    """Return the result of a plan; a subgoal that cannot be reached is given up."""
    if result == NO_PATH and memory.pursued[0] != t:
        return give_up(terrain, trip, memory.guide, memory.pursued, values, s, t)
    return result


@kernel
def plan_fixed(terrain, trip, memory, s, t):
    """Choose a goal; the depth is fixed, or the database's."""
    control = memory.chooser
    if is_full(control.h):
        return np.int64(FULL)
    r, k = choose_goal(terrain, trip, memory, s, t)
    depth = memory.choice[FIXED] if memory.choice[FIXED] > 0 else depth_towards(memory.guide, r, k)
    result = general_lrta(terrain, trip, control.space, control.h, s, memory.pursued[0], depth)
    return accept(terrain, trip, memory, control.h, s, t, result)


@kernel
def plan_classifier(terrain, trip, memory, s, t):
    """Choose a goal, then let the depth classifier plan towards it."""
    values = memory.chooser.control.h
    if is_full(values):
        return np.int64(FULL)
    choose_goal(terrain, trip, memory, s, t)
    result = classifier_lrta.plan(terrain, trip, memory.chooser, s, memory.pursued[0])
    return accept(terrain, trip, memory, values, s, t, result)


@kernel
def plan_policy(terrain, trip, memory, s, t):
    """Choose a goal, then let the network plan towards it."""
    values = memory.chooser.control.h
    if is_full(values):
        return np.int64(FULL)
    choose_goal(terrain, trip, memory, s, t)
    result = policy_lrta.plan(terrain, trip, memory.chooser, s, memory.pursued[0])
    return accept(terrain, trip, memory, values, s, t, result)


@kernel
def plan_oracle(terrain, trip, memory, s, t):
    """Choose a goal, then let the oracle plan towards it."""
    values = memory.chooser.h
    if is_full(values):
        return np.int64(FULL)
    choose_goal(terrain, trip, memory, s, t)
    result = oracle_lrta.plan(terrain, trip, memory.chooser, s, memory.pursued[0])
    return accept(terrain, trip, memory, values, s, t, result)


_PLANS = {"classifier": plan_classifier, "oracle": plan_oracle, "policy": plan_policy, "pdb": plan_fixed}


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
        policy: a file or the name of a ready-made depth policy or network; ``"tree"`` or ``"deepen"`` if not said.
        goal_policy: a file that ``rt-gym train goal`` has written, or the name of a ready-made goal policy.
        d_max: the largest depth of a classifier, an oracle or a network; None leaves it to them.
        patience: how often it may be in the same place on its way to subgoals.
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
        patience: int = VISITS,
        tie: str = "first",
    ) -> None:
        if design is not None:
            depth, goal, mode = axes(whole("design", design, 1, len(DESIGNS)), depth, goal, mode)
        self.depth = checked_depth("classifier" if depth is None else depth)
        self.goal = checked_goal("classifier" if goal is None else goal)
        self.scorer = load_goal_policy(goal_policy) if self.goal == "classifier" else None
        self.either, stored = modes(self.depth, self.goal, mode, database is not None)
        self.looks_up = "pdb" in (self.depth, self.goal)
        if database is not None and not self.looks_up:
            raise InputError('database must be left out where neither depth nor goal is "pdb"')
        if self.scorer is not None and database is None:
            level = self.scorer.level if level is None else level
            abstraction = self.scorer.abstraction if abstraction is None else abstraction
        super().__init__(database, {"level": level, "mode": stored, "abstraction": abstraction}, cap, patience, tie)
        self.chooser = make_chooser(self.depth, policy, d_max, tie)
        self.plan = _PLANS.get(str(self.depth), plan_fixed)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest depths whose bounds fit."""
        depth = cls.deepest(limit, count)
        return {"cap": depth, "d_max": min(depth, MAX_DEPTH)}

    @property
    def bound(self) -> int:
        """The most expansions that a move can take."""
        depth = self.cap if self.depth == "pdb" else self.depth
        return (2 * depth - 1) ** 2 if isinstance(depth, int) else self.chooser.bound

    @property
    def space(self) -> Space:
        """The states of the lookahead."""
        return control_of(self.memory.chooser).space

    def make_memory(self, view: View) -> GeneralMemory:
        """Return room for maps of this size; the knowledge of the map is put in by ``clear_memory``."""
        fixed = self.depth if isinstance(self.depth, int) else 0
        return GeneralMemory(
            pursued=np.empty(1, np.int64),
            chooser=with_control(self.chooser.make_memory(view), h=make_goal_values()),
            guide=make_guide(view.terrain.mask.size),
            candidates=self._candidates(),
            forest=_SILENT if self.scorer is None else self.scorer.wired(),
            score=np.zeros(1),
            choice=np.array([GOALS.index(self.goal), self.either, fixed], np.int64),
        )

    def _candidates(self) -> Candidates:
        nothing = np.empty(0, np.int64)
        nothing.flags.writeable = False  # as the sizes of regions
        sizes = nothing if self.scorer is None or self.regions is None else self.regions.sizes
        return make_candidates(sizes, 1 if self.scorer is None else self.scorer.history)

    def enlarge_memory(self) -> None:
        """Make room for twice as many values."""
        chooser = with_control(self.memory.chooser, h=enlarged(self.memory.values))
        self.memory = self.memory._replace(chooser=chooser)

    def clear_memory(self, view: View, seed: int) -> None:
        """Forget all values, prepare for this goal, and seed the ties."""
        super().clear_memory(view, seed)
        self.memory = self.memory._replace(candidates=self._candidates())
        control = control_of(self.memory.chooser)
        control.space.random[0] = seed
        control.state[SEEN] = NOT_YET

    def begin_trial(self) -> None:
        """Count visits anew."""
        super().begin_trial()
        begin_visits(self.memory.candidates)

    def _informed(self, guide: Guide, view: View) -> Guide:
        """Return the guide with what is known about the way to this goal; nothing is prepared that nobody asks for."""
        return guide if self.goal == "global" and self.depth != "pdb" else super()._informed(guide, view)


_SILENT = Forest(
    root=np.zeros(1, np.int32),
    feature=np.full(1, LEAF, np.int32),
    threshold=np.zeros(1),
    left=np.full(1, LEAF, np.int32),
    right=np.full(1, LEAF, np.int32),
    scores=np.zeros((1, 1)),
)


def axes(design: int, depth: Any, goal: Any, mode: Any) -> tuple[int | str, str, str]:
    """Return depth, goal and mode of a design; what is given besides must not contradict it."""
    own_depth, own_goal, own_mode = DESIGNS[design]
    if own_depth is None and (depth is None or isinstance(depth, str)):
        raise InputError(f"depth must be a whole number in design {design}, not {quoted(depth)}")
    for name, given, own in (("depth", depth, own_depth), ("goal", goal, own_goal), ("mode", mode, own_mode)):
        if own is not None and given is not None and given != own:
            raise InputError(f"{name} must be {quoted(own)} in design {design}, not {quoted(given)}")
    return depth if own_depth is None else own_depth, own_goal, own_mode


def checked_depth(depth: Any) -> int | str:
    """Return a depth that must be a whole number or one of the words."""
    if not isinstance(depth, str):
        return whole("depth", depth, 1, MAX_CAP)
    if depth not in DEPTHS:
        raise InputError(f"depth must be a whole number or one of {', '.join(DEPTHS)}, not {quoted(depth)}")
    return depth


def checked_goal(goal: Any) -> str:
    """Return a goal that must be one of the words."""
    if goal not in GOALS:
        raise InputError(f"goal must be one of {', '.join(GOALS)}, not {quoted(goal)}")
    return str(goal)


def modes(depth: int | str, goal: str, mode: Any, stored: bool) -> tuple[bool, str | None]:
    """Return whether the goal may be the global one where a classifier chooses it, and the mode of the database.

    The depths of a database are those towards the goal, or towards any region next to the agent's: modes G and GI.
    """
    if mode is not None:
        mode = checked_mode(mode)
    if goal == "pdb":
        return False, "I" if mode is None and not stored else mode
    wrong = ("GI", "I") if goal == "global" else ("G",)
    if mode in wrong:
        raise InputError(f"mode must not be {quoted(mode)} where the goal is {quoted(goal)}")
    return mode != "I", "G" if goal == "global" else "GI"


def make_chooser(depth: int | str, policy: Any, d_max: int | None, tie: str) -> DepthControl:
    """Return the agent whose memory holds what chooses the depth, and the learned values."""
    if depth == "classifier":
        return classifier_lrta.ClassifierLRTA("tree" if policy is None else policy, d_max, None, tie)
    if depth == "policy":
        return policy_lrta.PolicyLRTA("deepen" if policy is None else policy, d_max, tie)
    if depth == "oracle":
        return oracle_lrta.OracleLRTA(tie=tie) if d_max is None else oracle_lrta.OracleLRTA(d_max, tie)
    return DepthControl(1, HISTORY, tie)
