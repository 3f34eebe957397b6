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
"""

from math import isqrt
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import bind, decision, trial_loop
from agents.pdb import MAX_CAP, Database, build_columns, checked_mode, estimate, join, open_database
from agents.seeker import Seeker
from rt_gym.abstraction import KINDS, MAX_LEVEL, abstract
from rt_gym.budget import FULL, NO_PATH, scan
from rt_gym.cost import INF
from rt_gym.errors import InputError, quoted, whole
from rt_gym.files import PathLike
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import NONE, Space, make_space
from rt_gym.search.values import GoalValues, is_full, make_goal_values, raise_value, value_at
from rt_gym.world import View

LEVEL, CAP, MODE, ABSTRACTION = 4, 16, "I", "clique"  # without a database; this cap keeps a budget of 1000
NOWHERE = -2

_LONGEST = 60.0  # seconds that are spent on preparing for a map without being asked to

# Entries of PDBMemory.state: two parameters, in which region subgoals are left out, how often that began.
CAPPED, PATIENCE, ASTRAY, FIRED = range(4)


class PDBMemory(NamedTuple):
    """What the plan works on.

    Attributes:
        values, pursued, space: learned values, the cell that the agent heads for, room for the lookahead.
        region, representatives, begin, near: the abstraction.
        entries: int32, of every region towards the goal's: a depth, or -1 less the number of a neighbour.
        hops: uint16, the depths towards neighbours.
        visits: int32 per cell, how often the agent was there on its way to a subgoal, which is always the same one.
        state: int64[4], see above.
    """

    values: GoalValues
    pursued: NDArray[np.int64]
    space: Space
    region: NDArray[np.int32]
    representatives: NDArray[np.int32]
    begin: NDArray[np.int32]
    near: NDArray[np.int32]
    entries: NDArray[np.int32]
    hops: NDArray[np.uint16]
    visits: NDArray[np.int32]
    state: NDArray[np.int64]


@kernel(inline=True)
def go_astray(memory, r):
    """Leave out subgoals for as long as the agent is in this region."""
    memory.state[ASTRAY] = r
    memory.state[FIRED] += 1


@kernel(inline=True)
def select(terrain, memory, s, t):
    """Return the depth and the goal of the next lookahead."""
    cap, r = memory.state[CAPPED], np.int64(memory.region[s])
    if memory.state[ASTRAY] != r:
        memory.state[ASTRAY] = NOWHERE
    if r == NONE or memory.state[ASTRAY] == r:
        return cap, t
    entry = np.int64(memory.entries[r])
    if entry > 0:
        return min(entry, cap), t
    k = memory.begin[r] - 1 - entry
    goal = np.int64(memory.representatives[memory.near[k]])
    if terrain.free[goal] == 0:
        return cap, t
    if memory.visits[s] >= memory.state[PATIENCE]:
        go_astray(memory, r)
        return cap, t
    memory.visits[s] += 1
    return min(np.int64(memory.hops[k]), cap), goal


@kernel
def step(terrain, trip, values, s, t):
    """One step with a lookahead of one, without an expansion."""
    scan(trip)
    moves, cost = terrain.mask[s], terrain.cost
    best, f = np.int64(NONE), np.int64(INF)
    for d in range(8):
        if moves >> d & 1:
            value = cost[d] + value_at(values, terrain, s + terrain.offset[d], t)
            if value < f or (value == f and best != NONE and cost[d] > cost[best]):
                best, f = np.int64(d), value
    if best == NONE:
        return np.int64(NO_PATH)
    raise_value(trip, values, terrain, s, t, f)
    trip.plan[0] = best
    return np.int64(1)


@kernel
def plan(terrain, trip, memory, s, t):
    """Look the depth and the goal up, then make General LRTA*'s decision with them."""
    if is_full(memory.values):
        return np.int64(FULL)
    depth, goal = select(terrain, memory, s, t)
    memory.pursued[0] = goal
    result = general_lrta(terrain, trip, memory.space, memory.values, s, goal, depth)
    if result == NO_PATH and goal != t:
        go_astray(memory, np.int64(memory.region[s]))
        memory.pursued[0] = t
        result = step(terrain, trip, memory.values, s, t)
    return result


run, decide = bind(trial_loop, plan), bind(decision, plan)


class PDBLRTA(Seeker):
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

    run_kernel, decide_kernel = staticmethod(run), staticmethod(decide)

    def __init__(
        self,
        database: PathLike | Database | None = None,
        level: int | None = None,
        cap: int | None = None,
        mode: str | None = None,
        abstraction: str | None = None,
        patience: int = 50,
        tie: str = "first",
    ) -> None:
        super().__init__(tie)
        self.level = LEVEL if level is None else whole("level", level, 0, MAX_LEVEL)
        self.cap = CAP if cap is None else whole("cap", cap, 1, MAX_CAP)
        self.mode = MODE if mode is None else checked_mode(mode)
        self.abstraction = ABSTRACTION if abstraction is None else abstraction
        if self.abstraction not in KINDS:
            raise InputError(f'abstraction must be "clique" or "tiles", not {quoted(abstraction)}')
        self.patience = whole("patience", patience, 1, 1_000_000)
        self.precompute_seconds = 0.0
        self._source = None if database is None else open_database(database)
        self._database: Database | None = None
        if self._source is not None:
            self._follow(self._source, {"level": level, "mode": mode, "abstraction": abstraction}, cap)

    def _follow(self, source: Any, asked: dict[str, Any], cap: int | None) -> None:
        """Take over what the database was built with; what was asked for besides must not contradict it."""
        kept = {"level": source.level, "mode": source.mode, "abstraction": source.kind}
        for name, value in asked.items():
            if value is not None and value != kept[name]:
                raise InputError(f"{name} is {quoted(kept[name])} in the database, not {quoted(value)}")
            setattr(self, name, kept[name])
        self.cap = source.cap if cap is None else min(self.cap, source.cap)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest cap whose bound fits; of scans half are kept for states that are read again."""
        room = limit if count == "expansions" else max(1, limit // 2)
        return {"cap": min(MAX_CAP, (1 + isqrt(room)) // 2)}

    @property
    def bound(self) -> int:
        """The most expansions that a move can take."""
        return (2 * self.cap - 1) ** 2

    @property
    def space(self) -> Space:
        """The states of the lookahead."""
        return self.memory.space

    @property
    def guarded(self) -> int:
        """How often the guard has sent the agent to its goal instead of a subgoal, in all trials of this problem."""
        return int(self.memory.state[FIRED])

    def make_memory(self, view: View) -> PDBMemory:
        """Return room for maps of this size; the knowledge of the map is put in by ``clear_memory``."""
        cells, nothing = view.terrain.mask.size, np.empty(0, np.int32)
        return PDBMemory(
            values=make_goal_values(),
            pursued=np.empty(1, np.int64),
            space=make_space(cells),
            region=nothing,
            representatives=nothing,
            begin=nothing,
            near=nothing,
            entries=nothing,
            hops=np.empty(0, np.uint16),
            visits=np.empty(cells, np.int32),
            state=np.zeros(FIRED + 1, np.int64),
        )

    def clear_memory(self, view: View, seed: int) -> None:
        """Forget all values, and look up or build what is known about the way to this goal."""
        super().clear_memory(view, seed)
        database = self._prepare(view.grid, view.goal_cell)
        abstraction = database.abstraction
        goal = int(abstraction.region[view.goal_cell])
        unknown = np.full(abstraction.regions, database.cap, np.int32)
        self.memory = self.memory._replace(
            region=abstraction.region,
            representatives=abstraction.representatives,
            begin=abstraction.begin,
            near=abstraction.near,
            entries=unknown if goal == NONE else database.entries(goal),
            hops=database.hops,
        )
        self.memory.space.random[0] = seed
        self.memory.state[:] = self.cap, self.patience, NOWHERE, 0
        self.begin_trial()

    def begin_trial(self) -> None:
        """Count visits anew."""
        self.memory.visits[:] = 0
        self.memory.state[ASTRAY] = NOWHERE

    def _prepare(self, grid: Grid, goal_cell: int) -> Database:
        """Return a database of this map that holds the goal's region; build it if there is none, and time that."""
        began = perf_counter()
        if self._database is None or self._database.digest != grid.digest:
            self._database = self._begin(grid) if self._source is None else self._source.for_map(grid)
        database = self._database
        goal = int(database.abstraction.region[goal_cell])
        if goal != NONE and not database.holds(goal):
            if self._source is not None:
                raise InputError("the pattern database has no entries for the region of this goal")
            column = build_columns(grid, database.abstraction, self.mode, self.cap, [goal], database.hops)
            self._database = join([database, column])
        self.precompute_seconds = perf_counter() - began if self._source is None else 0.0
        return self._database

    def _begin(self, grid: Grid) -> Database:
        """Return a database without any goals yet; refuse if preparing for a goal would take too long."""
        abstraction = abstract(grid, self.abstraction, self.level)
        seconds, _ = estimate(grid, abstraction, self.mode, self.cap, 1)
        if seconds > _LONGEST:
            raise InputError(
                f"preparing for this map takes some {seconds:.0f} seconds: "
                "do it once with rt-gym precompute pdb and give the file as database"
            )
        return build_columns(grid, abstraction, self.mode, self.cap, [])

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: ``regions`` beside the rest, as numbers that differ between neighbours."""
        assert self._database is not None
        abstraction = self._database.abstraction
        colours = np.append(abstraction.colours, NONE)  # the last for what is in no region
        return super().layers() | {"regions": self.view.inner(colours[abstraction.region])}
