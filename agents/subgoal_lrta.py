"""LRTA* with subgoals: a tree of exits from heuristic depressions tells which of them to head for next.

C. Hernández, J. A. Baier, "Fast Subgoaling for Pathfinding via Real-Time Search", ICAPS 2011, Algorithm 3. The trees
are those of Algorithm 2, see ``agents.knowledge.subgoal_tree``; each (goal, state) has a learned value of its own.

Readings:
- The goal, the root, is among the states of line 5. Of equally near ones the first that grew, nearest to it, is taken.
- Line 8 is for any node of the tree that the agent plans on, be it the one that it pursues or not (``switch="any"``).
  Then a loop is conceivable, as such a node is never updated in the table of the goal pursued before.
  ``switch="progress"`` changes the goal only if the new one is nearer to the end: the pursued g then only falls.
- Lines 1 to 5 are part of the first move. Reading the tree reads no neighbours, so it is no scan: each node that is
  looked at is one of the ``trace_steps``. A run has them all in its first move, but for the steps of our guard.
- ``step`` puts the tree under LSS-LRTA* or LRTA*(k), as the paper's last sentence suggests. LSS-LRTA* then walks to the
  best state of its frontier before it looks at the tree again.

Ours:
- ``first="sub"`` begins with Sub of the start, which is known from the growth of the tree, instead of the nearest node.
- ``least`` and ``share``, for fewer nodes of a tree and for fewer trees, see ``agents.knowledge.small_trees``.
- A guard, for maps that have changed since the tree grew. A subgoal that is believed to be blocked is left out: its
  parent comes next. After as many moves as the map has free cells without a subgoal nearer to the goal than all before,
  the agent heads for the goal alone until the trial ends: it is LRTA* then, and arrives where LRTA* does. It also does
  so when LSS-LRTA* has searched all that it can reach without finding the subgoal. ``guarded`` counts all of these.

The algorithm in plain Python: tests/reference/plain_subgoal_lrta.py
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.goal_seeker import GoalSeeker
from agents.knowledge.subgoal_tree import ROOT
from agents.knowledge.subgoals import FIRSTS, Trees
from agents.knowledge.tree_source import GoalTree, TreeSource, enter_tree, make_goal_tree
from agents.lrta import LRTA, korf
from agents.lrta_k import LRTAK
from agents.lrta_k import plan as propagating_step
from agents.lss_lrta import LSSLRTA
from agents.lss_lrta import plan as searching_step
from rt_gym.cost import INF
from rt_gym.errors import InputError, choice, whole
from rt_gym.files import PathLike
from rt_gym.jit import kernel, record
from rt_gym.search.space import NONE, Space, slot_of
from rt_gym.search.tables import GoalValues, enlarged, is_full, make_goal_values
from rt_gym.search.tree import trace
from rt_gym.terrain import MAX_CELLS, h0
from rt_gym.trip import FULL, NO_PATH
from rt_gym.views import KernelView

SWITCHES = ("any", "progress")

# The node pursued (NONE before the first move) and its cell. For the guard: the least g of the nodes pursued so far,
# after how many moves it was adopted, after how many moves without progress the guard acts, whether only the goal is
# left, and how often the guard has acted.
PURSUIT = record(node=int, pursued=int, least=int, since=int, patience=int, alone=int, guarded=int)


class SubgoalMemory(NamedTuple):
    """The memory of the step, whose ``h`` is a table for all goals, and the tree.

    Attributes:
        step: of LRTA*, LSS-LRTA* or LRTA*(k).
        tree: the tree of the goal.
        progress: 1 if the goal changes only for one that is nearer to the end.
        rises: how many values a plan may raise beyond the first.
        state: PURSUIT[1].
    """

    step: Any
    tree: GoalTree
    progress: int
    rises: int
    state: NDArray[np.record]

    @property
    def values(self) -> GoalValues:
        """The learned values."""
        return self.step.h


@kernel
def begin_pursuit(terrain, trip, memory, s):
    """Enter the tree cell by cell and return the first node to pursue (lines 1 to 5)."""
    tree, node, parent, g = memory.tree, memory.tree.node, memory.tree.parent, memory.tree.g
    nodes, opening = tree.state[0].nodes, tree.state[0].opening
    goal, least = np.int64(ROOT), np.int64(INF)
    for k in range(nodes):  # line 3
        cell = np.int64(node[k])
        tree.number[cell] = k  # line 4: nextgoal(cell) is the parent of this node
        g[k] = 0 if k == ROOT else g[parent[k]] + h0(terrain, cell, np.int64(node[parent[k]]))
        near = h0(terrain, s, cell)
        if near < least and terrain.free[cell] != 0:  # line 5
            goal, least = np.int64(k), near
    trip.meter[0].trace_steps += nodes
    memory.state[0].least = INF
    return goal if opening == NONE else opening


@kernel(inline=True)
def next_goal(memory, s, goal):
    """Return the node to pursue from ``s``: another one if ``s`` is a node itself (line 8)."""
    tree = memory.tree
    here = np.int64(tree.number[s])
    if here == ROOT or memory.state[0].alone != 0:
        return goal
    beyond = np.int64(tree.parent[here])
    return beyond if memory.progress == 0 or tree.g[beyond] < tree.g[goal] else goal


@kernel(inline=True)
def guard(terrain, trip, memory, goal):
    """Return the node to pursue on a map that may have changed: one that is not blocked, or the goal."""
    tree, state, moves = memory.tree, memory.state[0], trip.tally[0].moves
    while goal != ROOT and terrain.free[tree.node[goal]] == 0:
        goal = np.int64(tree.parent[goal])
        trip.meter[0].trace_steps += 1
        state.guarded += 1
    if tree.g[goal] < state.least:
        state.least = tree.g[goal]
        state.since = moves
    elif goal != ROOT and moves - state.since > state.patience:
        goal = head_for_the_goal(memory)
    return goal


@kernel(inline=True)
def head_for_the_goal(memory):
    """Pursue nothing but the goal until the trial ends."""
    state = memory.state[0]
    state.alone = 1
    state.guarded += 1
    state.node = ROOT
    return np.int64(ROOT)


@kernel(inline=True)
def pursue(terrain, trip, memory, s):
    """Return the cell to pursue from ``s`` (line 8; before the first move, lines 1 to 5 as well)."""
    state = memory.state[0]
    goal = state.node
    if goal == NONE:
        goal = begin_pursuit(terrain, trip, memory, s)  # lines 1 to 5
    goal = next_goal(memory, s, goal)  # line 8
    goal = guard(terrain, trip, memory, goal)  # ours
    state.node = goal
    state.pursued = memory.tree.node[goal]
    return state.pursued


@kernel(inline=True)
def plan_lrta(terrain, trip, memory, s, t):
    """One step of LRTA* towards the goal pursued."""
    if is_full(memory.step.h):
        return np.int64(FULL)
    goal = pursue(terrain, trip, memory, s)  # line 8
    return korf(terrain, trip, memory.step, s, goal)  # lines 9 to 11


@kernel(inline=True)
def plan_lrta_k(terrain, trip, memory, s, t):
    """One step of LRTA*(k) towards the goal pursued."""
    if is_full(memory.step.h, memory.rises):
        return np.int64(FULL)
    goal = pursue(terrain, trip, memory, s)
    return propagating_step(terrain, trip, memory.step, s, goal)


@kernel
def plan_lss_lrta(terrain, trip, memory, s, t):
    """One plan of LSS-LRTA* towards the goal pursued.

    If its search has closed all states it can reach without finding the subgoal, they hold a shortest path to the goal.
    """
    if is_full(memory.step.h, memory.rises):
        return np.int64(FULL)
    goal = pursue(terrain, trip, memory, s)
    moves = searching_step(terrain, trip, memory.step, s, goal)
    space = memory.step.local.space
    slot = slot_of(space, t)
    if moves != NO_PATH or goal == t or slot < 0:
        return moves
    head_for_the_goal(memory)
    return trace(space, slot, trip.plan)


PLANS = {"lrta": plan_lrta, "lss-lrta": plan_lss_lrta, "lrta-k": plan_lrta_k}


class SubgoalLRTA(GoalSeeker):
    """LRTA* with subgoals.

    Args:
        trees: a file of subgoal trees, or ``agents.knowledge.subgoals.Trees``; without them the tree of the goal is
            grown at reset, for the map as it is believed then, which counts as ``precompute_seconds``, and is kept.
        first: which node is pursued first, the ``"nearest"`` or ``"sub"``, the one that the start belongs to.
        switch: whether ``"any"`` node that is met changes the goal, or only one that is ``"progress"``.
        step: ``"lrta"``, ``"lss-lrta"`` or ``"lrta-k"``.
        lookahead, k: how many states LSS-LRTA* expands, LRTA*(k) may update per move; 10 unless given.
        least: how many states a branch of a tree must have; share: the level of the regions whose goals share one.
        tie: ``"first"`` or ``"random"``.
    """

    precomputes: ClassVar[bool] = True

    def __init__(
        self,
        trees: Trees | PathLike | None = None,
        first: str = "nearest",
        switch: str = "any",
        step: str = "lrta",
        lookahead: int | None = None,
        k: int | None = None,
        least: int | None = None,
        share: int | None = None,
        tie: str = "first",
    ) -> None:
        super().__init__(tie)
        self.trees, self.least, self.share = trees, least, share
        self.first, self.switch = choice("first", first, FIRSTS), choice("switch", switch, SWITCHES)
        self.step = choice("step", step, PLANS)
        for name, value, owner in (("lookahead", lookahead, "lss-lrta"), ("k", k, "lrta-k")):
            if value is not None and step != owner:
                raise InputError(f'{name} must be None unless step is "{owner}"')
        self.lookahead = whole("lookahead", 10 if lookahead is None else lookahead, 1, MAX_CELLS)
        self.k = whole("k", 10 if k is None else k, 1)
        self.plan = PLANS[step]
        self.precompute_seconds = 0.0
        self._source = TreeSource(trees, first, least, share)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return nothing: a step of LRTA* expands one state and reads no other. The meter cuts LSS-LRTA* short."""
        return {}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return self.lookahead if self.step == "lss-lrta" else 1

    @property
    def by_waypoints(self) -> bool:
        """Whether it may pass by the representative of the goal's region."""
        return self.share is not None

    @property
    def space(self) -> Space:
        """The states of LSS-LRTA*'s search; the others have none."""
        step = self.memory.step
        found: Space = step.local.space if self.step == "lss-lrta" else step.space
        return found

    @property
    def guarded(self) -> int:
        """How often the guard had to act since the problem began."""
        return int(self.memory.state[0].guarded)

    def make_memory(self, view: KernelView) -> SubgoalMemory:
        """Return the memory for the values of all goals, for the step and for a tree."""
        cells = view.terrain.mask.size
        steps: dict[str, Any] = {"lrta": LRTA(), "lss-lrta": LSSLRTA(self.lookahead), "lrta-k": LRTAK(self.k)}
        rises = {"lrta": 1, "lss-lrta": self.lookahead, "lrta-k": self.k}[self.step]
        self._source.allocate(view)
        return SubgoalMemory(
            step=steps[self.step].make_memory(view)._replace(h=make_goal_values()),
            tree=make_goal_tree(cells),
            progress=int(self.switch == "progress"),
            rises=min(rises, cells),
            state=np.zeros(1, PURSUIT),
        )

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget all values and take the tree of the goal."""
        super().clear_memory(view, seed)
        grid = view.as_grid()
        tree, self.precompute_seconds = self._source.find(view, grid, self.midway)
        enter_tree(self.memory.tree, tree, view.cell_now)
        state = self.memory.state[0]
        state.patience, state.guarded = grid.free_cells, 0
        self.begin_trial()

    def begin_trial(self) -> None:
        """Forget where the last trial was in the tree."""
        state = self.memory.state[0]
        state.node, state.since, state.alone = NONE, 0, 0
        state.pursued = self.view.goal_cell

    def enlarge_memory(self) -> None:
        """Double the capacity for values."""
        step = self.memory.step
        self.memory = self.memory._replace(step=step._replace(h=enlarged(step.h)))

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn; ``subgoals`` are the one that is pursued and those that follow it."""
        chain, k = [], int(self.memory.state[0].node)
        while k > ROOT:
            chain.append(self.view.position_of(int(self.memory.tree.node[k])))
            k = int(self.memory.tree.parent[k])
        return super().layers() | {"subgoals": np.array(chain, np.int64).reshape(-1, 2)}
