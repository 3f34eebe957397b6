"""LRTA* with subgoals: a tree of exits from heuristic depressions tells which of them to head for next.

C. Hernández, J. A. Baier, "Fast Subgoaling for Pathfinding via Real-Time Search", ICAPS 2011, Algorithm 3. The trees
are those of Algorithm 2, see ``agents.knowledge.subgoal_tree``; each (goal, state) has a learned value of its own.

Readings:
- The root, which is the goal, is among the states of line 5. Of equally near ones the first that grew is taken, which
  is the one nearest to the goal.
- Line 8 is for any node of the tree that the agent plans on, be it the one that it pursues or not (``switch="any"``).
  Then a loop is conceivable, as such a node is never updated in the table of the goal pursued before.
  ``switch="progress"`` changes the goal only if the new one is nearer to the end: the pursued g then only falls.
- Lines 1 to 5 are part of the first move. Reading the tree reads no neighbours, so it is no scan: each node that is
  looked at is one of the ``trace_steps``. A run has them all in its first move, but for the steps of our guard.
- ``step`` puts the tree under LSS-LRTA* or LRTA*(k), as the paper's last sentence suggests. LSS-LRTA* then walks to the
  best state of its frontier before it looks at the tree again.

Ours:
- ``first="sub"`` begins with Sub of the start, which is known from the growth of the tree, instead of the nearest node.
- A guard, for maps that have changed since the tree grew. A subgoal that is believed to be blocked is left out: its
  parent comes next. After as many moves as the map has free cells without a subgoal nearer to the goal than all before,
  the agent heads for the goal alone until the trial ends: it is LRTA* then, and arrives where LRTA* does. So it does
  when LSS-LRTA* has seen all there is and the subgoal was not there. ``guarded`` counts all of these.
"""

import time
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.goal_seeker import Seeker
from agents.knowledge.subgoal_tree import ROOT, grow_tree, make_nursery
from agents.knowledge.subgoals import FIRSTS, Tree, Trees, grow, load_trees
from agents.lrta import LRTA, korf
from agents.lrta_k import LRTAK
from agents.lrta_k import plan as propagating_step
from agents.lss_lrta import LSSLRTA
from agents.lss_lrta import plan as searching_step
from rt_gym.cost import INF
from rt_gym.errors import InputError, quoted, whole
from rt_gym.files import PathLike
from rt_gym.grid import MAX_CELLS, Grid, h0
from rt_gym.jit import kernel
from rt_gym.search.space import NONE, Space, trace
from rt_gym.search.values import GoalValues, enlarged, is_full, make_goal_values
from rt_gym.trip import FULL, NO_PATH
from rt_gym.world import View

SWITCHES = ("any", "progress")
MOST_KEPT = 100  # trees

# Entries of SubgoalMemory.state: how many nodes the tree has, which of them to begin with (NONE: the nearest), whether
# goals change only for progress, how long to be patient, how many values a plan may raise; then where the trial is:
# the node pursued (NONE before the first move), the least g of those pursued so far, after how many moves it was
# adopted, whether only the goal is left, and how often the guard had to act.
SIZE, OPENING, PROGRESS, PATIENCE, RISES, PURSUED, LEAST, SINCE, ALONE, GUARDED = range(10)


class SubgoalMemory(NamedTuple):
    """The memory of the step, whose ``h`` is a table for all goals, and the tree.

    Attributes:
        step: of LRTA*, LSS-LRTA* or LRTA*(k).
        pursued: int64[1], the cell that the agent is heading for.
        node, parent: the tree, see ``agents.knowledge.subgoals.Tree``; g: int64, every node's distance to the goal.
        number: int32 per cell, which node it is; 0 for the root and for all cells that are none.
        state: int64, see above.
    """

    step: Any
    pursued: NDArray[np.int64]
    node: NDArray[np.int32]
    parent: NDArray[np.int32]
    g: NDArray[np.int64]
    number: NDArray[np.int32]
    state: NDArray[np.int64]

    @property
    def values(self) -> GoalValues:
        """The learned values."""
        return self.step.h


@kernel
def plant(terrain, trip, memory, s):
    """Make the tree known cell by cell and return the first node to pursue (lines 1 to 5)."""
    node, parent, g, state = memory.node, memory.parent, memory.g, memory.state
    best, least = np.int64(ROOT), np.int64(INF)
    for k in range(state[SIZE]):
        cell = np.int64(node[k])
        memory.number[cell] = k
        g[k] = 0 if k == ROOT else g[parent[k]] + h0(terrain, cell, np.int64(node[parent[k]]))
        near = h0(terrain, s, cell)
        if near < least and terrain.free[cell] != 0:
            best, least = np.int64(k), near
    trip.meter[0].trace_steps += state[SIZE]
    state[LEAST] = INF
    return best if state[OPENING] == NONE else state[OPENING]


@kernel(inline=True)
def next_goal(terrain, trip, memory, s):
    """Return the cell to pursue from ``s`` (line 8), which the guard may overrule."""
    node, parent, g, state = memory.node, memory.parent, memory.g, memory.state
    goal = state[PURSUED]
    if goal == NONE:
        goal = plant(terrain, trip, memory, s)
    here = np.int64(memory.number[s])
    if here != ROOT and state[ALONE] == 0:
        beyond = np.int64(parent[here])
        if state[PROGRESS] == 0 or g[beyond] < g[goal]:
            goal = beyond
    while goal != ROOT and terrain.free[node[goal]] == 0:
        goal = np.int64(parent[goal])
        trip.meter[0].trace_steps += 1
        state[GUARDED] += 1
    if g[goal] < state[LEAST]:
        state[LEAST] = g[goal]
        state[SINCE] = trip.tally[0].moves
    elif goal != ROOT and trip.tally[0].moves - state[SINCE] > state[PATIENCE]:
        goal = head_for_the_goal(memory)
    state[PURSUED] = goal
    memory.pursued[0] = node[goal]
    return memory.pursued[0]


@kernel(inline=True)
def head_for_the_goal(memory):
    """Pursue nothing but the goal until the trial ends."""
    memory.state[ALONE] = 1
    memory.state[GUARDED] += 1
    memory.state[PURSUED] = ROOT
    return np.int64(ROOT)


@kernel(inline=True)
def plan_lrta(terrain, trip, memory, s, t):
    """One step of LRTA* towards the goal pursued (lines 8 to 10)."""
    if is_full(memory.step.h):
        return np.int64(FULL)
    return korf(terrain, trip, memory.step, s, next_goal(terrain, trip, memory, s))


@kernel(inline=True)
def plan_lrta_k(terrain, trip, memory, s, t):
    """The same with LRTA*(k)."""
    if is_full(memory.step.h, memory.state[RISES]):
        return np.int64(FULL)
    return propagating_step(terrain, trip, memory.step, s, next_goal(terrain, trip, memory, s))


@kernel
def plan_lss_lrta(terrain, trip, memory, s, t):
    """The same with LSS-LRTA*.

    If its search has seen all there is without finding the subgoal, its states tell a shortest way to the goal.
    """
    if is_full(memory.step.h, memory.state[RISES]):
        return np.int64(FULL)
    goal = next_goal(terrain, trip, memory, s)
    moves = searching_step(terrain, trip, memory.step, s, goal)
    space = memory.step.local.space
    slot = space.seat[t] - (space.state[0].stamp << 32)
    if moves != NO_PATH or goal == t or slot < 0:
        return moves
    head_for_the_goal(memory)
    return trace(space, slot, trip.plan)


PLANS = {"lrta": plan_lrta, "lss-lrta": plan_lss_lrta, "lrta-k": plan_lrta_k}


class SubgoalLRTA(Seeker):
    """LRTA* with subgoals.

    Args:
        trees: a file of subgoal trees, or ``agents.knowledge.subgoals.Trees``; without them the tree of the goal is grown at
            reset, for the map as it is believed then, which counts as ``precompute_seconds``, and is kept.
        first: which node is pursued first, the ``"nearest"`` or ``"sub"``, the one that the start belongs to.
        switch: whether ``"any"`` node that is met changes the goal, or only one that is ``"progress"``.
        step: ``"lrta"``, ``"lss-lrta"`` or ``"lrta-k"``.
        lookahead: how many states LSS-LRTA* expands, 10 unless given; k: how many states LRTA*(k) may update per move,
            10 unless given. Other steps take neither.
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
        tie: str = "first",
    ) -> None:
        super().__init__(tie)
        if first not in FIRSTS:
            raise InputError(f'first must be "nearest" or "sub", not {quoted(first)}')
        if switch not in SWITCHES:
            raise InputError(f'switch must be "any" or "progress", not {quoted(switch)}')
        if step not in PLANS:
            raise InputError(f'step must be "lrta", "lss-lrta" or "lrta-k", not {quoted(step)}')
        self.trees, self.first, self.switch, self.step = trees, first, switch, step
        for name, value, owner in (("lookahead", lookahead, "lss-lrta"), ("k", k, "lrta-k")):
            if value is not None and step != owner:
                raise InputError(f'{name} must be None unless step is "{owner}"')
        self.lookahead = whole("lookahead", 10 if lookahead is None else lookahead, 1, MAX_CELLS)
        self.k = whole("k", 10 if k is None else k, 1)
        self.plan = PLANS[step]
        self.precompute_seconds = 0.0
        self._loaded: Trees | None = None
        self._grown: dict[tuple[str, int], Tree] = {}

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return nothing: a step of LRTA* expands one state and reads no other. The meter cuts LSS-LRTA* short."""
        return {}

    @property
    def bound(self) -> int:
        """The most expansions that a move can take."""
        return self.lookahead if self.step == "lss-lrta" else 1

    @property
    def space(self) -> Space:
        """The states of LSS-LRTA*'s search; the others have none."""
        step = self.memory.step
        found: Space = step.local.space if self.step == "lss-lrta" else step.space
        return found

    @property
    def guarded(self) -> int:
        """How often the guard had to act since the problem began."""
        return int(self.memory.state[GUARDED])

    def make_memory(self, view: View) -> SubgoalMemory:
        """Return room for the values of all goals, for the step and for a tree."""
        cells = view.terrain.mask.size
        steps: dict[str, Any] = {"lrta": LRTA(), "lss-lrta": LSSLRTA(self.lookahead), "lrta-k": LRTAK(self.k)}
        rises = {"lrta": 1, "lss-lrta": self.lookahead, "lrta-k": self.k}[self.step]
        state = np.zeros(GUARDED + 1, np.int64)
        state[PROGRESS], state[RISES] = self.switch == "progress", min(rises, cells)
        self._nursery = make_nursery(cells)
        grow_tree(view.terrain, self._nursery, view.goal_cell)  # compiles: that is no part of the trees' time
        return SubgoalMemory(
            step=steps[self.step].make_memory(view)._replace(h=make_goal_values()),
            pursued=np.zeros(1, np.int64),
            node=np.empty(cells, np.int32),
            parent=np.empty(cells, np.int32),
            g=np.empty(cells, np.int64),
            number=np.zeros(cells, np.int32),
            state=state,
        )

    def clear_memory(self, view: View, seed: int) -> None:
        """Forget all values and take the tree of the goal."""
        super().clear_memory(view, seed)
        memory, state, tree = self.memory, self.memory.state, self._find_tree(view)
        memory.number[memory.node[: state[SIZE]]] = 0
        size = state[SIZE] = tree.nodes.size
        memory.node[:size], memory.parent[:size] = tree.nodes, tree.parents
        sub = tree.sub if self.first == "sub" else None
        state[OPENING] = NONE if sub is None else sub[view.cell(view.position)]
        state[PATIENCE] = np.count_nonzero(view.terrain.free)
        state[GUARDED] = 0
        self.space.random[0] = seed
        self.begin_trial()

    def _find_tree(self, view: View) -> Tree:
        """Return the tree of the goal: one of those given, one grown before, or a new one."""
        grid, self.precompute_seconds = view.as_grid(), 0.0
        if self.trees is not None:
            return self._given_tree(self.trees, view, grid)
        key = grid.digest, view.goal_cell
        if key not in self._grown:
            began = time.perf_counter()
            tree = grow(view.terrain, self._nursery, view.goal_cell, self.first)
            self.precompute_seconds = time.perf_counter() - began
            self._grown = {**(self._grown if len(self._grown) < MOST_KEPT else {}), key: tree}
        return self._grown[key]

    def _given_tree(self, trees: Trees | PathLike, view: View, grid: Grid) -> Tree:
        if self._loaded is None or self._loaded.digest != grid.digest:
            self._loaded = load_trees(trees, grid)
        tree = self._loaded.tree(view.goal_cell, view.terrain)
        if tree is None:
            raise InputError(f"trees must have one for the goal {view.goal}, and these have none")
        if self.first == "sub" and tree.sub is None:
            raise InputError('trees must keep Sub of every state for first="sub", and these do not')
        return tree

    def begin_trial(self) -> None:
        """Forget where the last trial was in the tree."""
        state = self.memory.state
        state[PURSUED], state[SINCE], state[ALONE] = NONE, 0, 0
        self.memory.pursued[0] = self.view.goal_cell

    def enlarge_memory(self) -> None:
        """Make room for twice as many values."""
        step = self.memory.step
        self.memory = self.memory._replace(step=step._replace(h=enlarged(step.h)))

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn; ``subgoals`` are the one that is pursued and those that follow it."""
        chain, k = [], int(self.memory.state[PURSUED])
        while k > ROOT:
            chain.append(self.view.position_of(int(self.memory.node[k])))
            k = int(self.memory.parent[k])
        return super().layers() | {"subgoals": np.array(chain, np.int64).reshape(-1, 2)}
