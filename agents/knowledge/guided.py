"""What agents have in common that head for a neighbouring region on their way: the regions, the entries, the guard.

A region's entry (``agents.knowledge.pdb``) is a depth towards the goal, or a neighbour with a depth towards it. The
guard keeps an agent with changing goals from going back and forth: where it has been ``patience`` times on its way to
subgoals, it heads for its goal until it enters another region.
"""

from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.goal_seeker import GoalSeeker
from agents.knowledge.pdb import MAX_CAP, Database, build_columns, join, open_database
from agents.knowledge.pdb_estimate import estimate
from rt_gym.abstraction import KINDS, MAX_LEVEL, Abstraction, abstract
from rt_gym.cost import INF
from rt_gym.errors import InputError, choice, quoted, whole
from rt_gym.files import PathLike
from rt_gym.grid import Grid
from rt_gym.handles import with_parts
from rt_gym.jit import kernel, record
from rt_gym.meter import scan
from rt_gym.search.lookahead import largest_depth
from rt_gym.search.space import NONE
from rt_gym.search.values import raise_value, value_at
from rt_gym.trip import NO_PATH
from rt_gym.views import KernelView

LEVEL, CAP, ABSTRACTION = 4, 16, "clique"  # where nothing else is said; this cap keeps a budget of 1000
NOWHERE = -2
# Visits to a place before the guard acts; on the validation splits 10 and 50 gave worse paths, 1 in half of the cases.
VISITS = 3

_LONGEST = 60.0  # seconds that are spent on preparing for a map without being asked to

# In which region the guard leaves subgoals out (NOWHERE: in none), and how often it has begun to.
GUARD = record(unguided=int, guarded=int)


class RegionGuide(NamedTuple):
    """What an agent knows of the regions, and how often it was where.

    Attributes:
        region, representatives, begin, near: the abstraction.
        entries: int32, of every region towards the goal's: a depth, or -1 less the number of a neighbour.
        hops: uint16, the depths towards neighbours.
        cap: the largest depth.
        patience: how often the agent may be in the same place on its way to subgoals.
        visits: int32 per cell, how often the agent was there on its way to subgoals.
        state: GUARD[1].
    """

    region: NDArray[np.int32]
    representatives: NDArray[np.int32]
    begin: NDArray[np.int32]
    near: NDArray[np.int32]
    entries: NDArray[np.int32]
    hops: NDArray[np.uint16]
    cap: int
    patience: int
    visits: NDArray[np.int32]
    state: NDArray[np.record]


def make_guide(cells: int, cap: int, patience: int) -> RegionGuide:
    """Return the guide for maps of this size, without any regions."""
    nowhere, nothing, hops = np.full(cells, NONE, np.int32), np.empty(0, np.int32), np.empty(0, np.uint16)
    for array in (nowhere, nothing, hops):
        array.flags.writeable = False  # as those of an abstraction, or kernels would be compiled twice
    return RegionGuide(
        region=nowhere,
        representatives=nothing,
        begin=nothing,
        near=nothing,
        entries=np.empty(0, np.int32),
        hops=hops,
        cap=cap,
        patience=patience,
        visits=np.zeros(cells, np.int32),
        state=np.zeros(1, GUARD),
    )


@kernel(inline=True)
def enter_region(guide, s):
    """Return the region of a cell; in any but the one where the guard acted, subgoals count again."""
    r = np.int64(guide.region[s])
    if guide.state[0].unguided != r:
        guide.state[0].unguided = NOWHERE
    return r


@kernel(inline=True)
def is_guided(guide, r):
    """Whether subgoals count in a region, which may be NONE."""
    return r != NONE and guide.state[0].unguided != r


@kernel(inline=True)
def leave_out_subgoals(guide, r):
    """Head for the goal for as long as the agent is in this region."""
    guide.state[0].unguided = r
    guide.state[0].guarded += 1


@kernel(inline=True)
def look_up(guide, r):
    """Return the subgoal of a region's entry, as a place in ``near``; NONE where the entry means the goal itself."""
    entry = np.int64(guide.entries[r])
    return np.int64(NONE) if entry > 0 else guide.begin[r] - 1 - entry


@kernel(inline=True)
def admit(terrain, guide, s, r, k):
    """Return the subgoal, unless it is blocked or the agent has been here too often; NONE then."""
    if k == NONE or terrain.free[guide.representatives[guide.near[k]]] == 0:
        return np.int64(NONE)
    if guide.visits[s] >= guide.patience:
        leave_out_subgoals(guide, r)
        return np.int64(NONE)
    guide.visits[s] += 1
    return np.int64(k)


@kernel(inline=True)
def depth_towards(guide, r, k):
    """Return the depth towards a subgoal, or with NONE towards the goal; the cap where there is no entry."""
    cap = np.int64(guide.cap)
    if k != NONE:
        return min(np.int64(guide.hops[k]), cap)
    entry = np.int64(NONE) if r == NONE else np.int64(guide.entries[r])
    return min(entry, cap) if entry > 0 else cap


@kernel(inline=True)
def cell_of(guide, k, t):
    """Return the cell of a subgoal, or with NONE the goal."""
    return t if k == NONE else np.int64(guide.representatives[guide.near[k]])


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


@kernel(inline=True)
def give_up(terrain, trip, memory, s, t):
    """Give up a subgoal that cannot be reached: the component has been expanded, so a step towards the goal is left."""
    leave_out_subgoals(memory.guide, np.int64(memory.guide.region[s]))
    memory.state[0].pursued = t
    return step(terrain, trip, memory.values, s, t)


@lru_cache(maxsize=4)
def begin_database(grid: Grid, kind: str, level: int, mode: str | None, cap: int) -> Database:
    """Return a database without any goals yet, or without entries if the mode is None; it is kept for all agents.

    Raises:
        InputError: if preparing for a goal would take too long.
    """
    abstraction = abstract(grid, kind, level)
    if mode is None:
        return build_columns(grid, abstraction, "G", cap, [])
    seconds, _ = estimate(grid, abstraction, mode, cap, 1)
    if seconds > _LONGEST:
        raise InputError(
            f"preparing for this map takes some {seconds:.0f} seconds: "
            "do it once with rt-gym precompute pdb and give the file as database"
        )
    return build_columns(grid, abstraction, mode, cap, [])


class Guided(GoalSeeker):
    """An agent with a memory that also has ``guide``, a RegionGuide.

    Args:
        database: a file or a database to look entries up in; None to build what is needed.
        asked: the level, mode and abstraction that were asked for, None for those that were not.
        cap: the largest depth that an entry may say.
        patience: how often it may be in the same place on its way to subgoals.
        tie: ``"first"`` or ``"random"``.
    """

    precomputes = True
    looks_up = True  # whether it needs the entries of a database, or only the regions

    def __init__(
        self,
        database: PathLike | Database | None,
        asked: dict[str, Any],
        cap: int | None,
        patience: int,
        tie: str,
    ) -> None:
        super().__init__(tie)
        self.level = LEVEL if asked["level"] is None else whole("level", asked["level"], 0, MAX_LEVEL)
        self.cap = CAP if cap is None else whole("cap", cap, 1, MAX_CAP)
        self.mode = asked["mode"]
        abstraction = ABSTRACTION if asked["abstraction"] is None else asked["abstraction"]
        self.abstraction = choice("abstraction", abstraction, KINDS)
        self.patience = whole("patience", patience, 1, 1_000_000)
        self.precompute_seconds = 0.0
        self._source = None if database is None else open_database(database)
        self._database: Database | None = None
        if self._source is not None:
            self._follow(self._source, asked, cap)

    def _follow(self, source: Any, asked: dict[str, Any], cap: int | None) -> None:
        """Take over what the database was built with; what was asked for besides must not contradict it."""
        kept = {"level": source.level, "mode": source.mode, "abstraction": source.kind}
        for name, value in asked.items():
            if value is not None and value != kept[name]:
                raise InputError(f"{name} is {quoted(kept[name])} in the database, not {quoted(value)}")
            setattr(self, name, kept[name])
        self.cap = source.cap if cap is None else min(self.cap, source.cap)

    @staticmethod
    def deepest(limit: int, count: str) -> int:
        """Return the largest depth whose bound fits; of scans half are kept for states that are read again."""
        return min(MAX_CAP, largest_depth(limit, count))

    @property
    def guarded(self) -> int:
        """How often the guard has sent the agent to its goal instead of a subgoal, in all trials of this problem."""
        return int(self.memory.guide.state[0].guarded)

    @property
    def regions(self) -> Abstraction | None:
        """The regions of the map, None for an agent that does without."""
        return None if self._database is None else self._database.abstraction

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget all values, look up or build what is known about the way to this goal, and seed the ties."""
        super().clear_memory(view, seed)
        self.memory = with_parts(self.memory, guide=self._informed(self.memory.guide, view))
        self.memory.guide.state[0].guarded = 0
        self.begin_trial()

    def begin_trial(self) -> None:
        """Count visits anew."""
        self.memory.guide.visits[:] = 0
        self.memory.guide.state[0].unguided = NOWHERE

    def _informed(self, guide: RegionGuide, view: KernelView) -> RegionGuide:
        """Return the guide with what is known about the way to this goal."""
        database = self._prepare(view.as_grid(), view.goal_cell)
        abstraction = database.abstraction
        goal = int(abstraction.region[view.goal_cell])
        known = goal != NONE and database.holds(goal)
        fits = guide.entries.size == abstraction.regions
        guide = with_parts(
            guide,
            region=abstraction.region,
            representatives=abstraction.representatives,
            begin=abstraction.begin,
            near=abstraction.near,
            entries=guide.entries if fits else np.empty(abstraction.regions, np.int32),
            hops=database.hops,
        )
        guide.entries[:] = database.entries(goal) if known else database.cap
        return guide

    def _prepare(self, grid: Grid, goal_cell: int) -> Database:
        """Return a database of this map that holds the goal's region; build it if there is none, and time that."""
        began = perf_counter()
        given = self.midway and self._source is not None  # of a map that may have been edited since
        if self._database is None or (self._database.digest != grid.digest and not given):
            asked = self.abstraction, self.level, self.mode if self.looks_up else None, self.cap
            self._database = begin_database(grid, *asked) if self._source is None else self._source.for_map(grid)
        database = self._database
        goal = int(database.abstraction.region[goal_cell])
        if self.looks_up and goal != NONE and not database.holds(goal):
            if self._source is not None:
                raise InputError("the pattern database has no entries for the region of this goal")
            column = build_columns(grid, database.abstraction, self.mode, self.cap, [goal], database.hops)
            self._database = join([database, column])
        self.precompute_seconds = perf_counter() - began if self._source is None else 0.0
        return self._database

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: ``regions`` beside the rest, as numbers that differ between neighbours."""
        if self.regions is None:
            return super().layers()
        colours = np.append(self.regions.colours, NONE)  # the last for what is in no region
        return super().layers() | {"regions": self.view.inner(colours[self.regions.region])}
