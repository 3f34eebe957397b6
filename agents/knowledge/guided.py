"""What agents have in common that head for a region on their way: the regions of the map and a pattern database."""

from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.goal_seeker import GoalSeeker
from agents.knowledge.pdb import MAX_CAP, SUBGOAL, Database, build_columns, checked_subgoal, join
from agents.knowledge.pdb_estimate import estimate
from agents.knowledge.pdb_file import open_database
from agents.knowledge.region_guide import NEVER, RegionGuide, begin_guide, make_guide
from rt_gym.abstraction import KINDS, MAX_LEVEL, Abstraction, abstract
from rt_gym.errors import InputError, choice, flag, quoted, whole
from rt_gym.files import PathLike
from rt_gym.grid import Grid
from rt_gym.handles import with_parts
from rt_gym.search.lookahead import largest_depth
from rt_gym.search.space import NONE
from rt_gym.views import KernelView

LEVEL, CAP, ABSTRACTION = 4, 16, "clique"  # where nothing else is said; this cap keeps a budget of 1000

# Visits to a place before the guard acts. At every move: on the validation splits 10 and 50 gave worse paths, 1 in half
# of the cases. With subgoals that are kept: 4, 10, 20 and 50 did, on ten maps that no experiment has so large.
VISITS, VISITS_KEPT = 3, 6

_LONGEST = 60.0  # seconds that are spent on preparing for a map without being asked to


@lru_cache(maxsize=4)
def begin_database(grid: Grid, kind: str, level: int, mode: str | None, cap: int, subgoal: str) -> Database:
    """Return a database without any goals yet, or without entries if the mode is None; it is kept for all agents.

    Raises:
        InputError: if preparing for a goal would take too long.
    """
    abstraction = abstract(grid, kind, level)
    if mode is None:
        return build_columns(grid, abstraction, "G", cap, [])
    seconds, _ = estimate(grid, abstraction, mode, cap, 1, subgoal)
    if seconds > _LONGEST:
        raise InputError(
            f"preparing for this map takes some {seconds:.0f} seconds: "
            "do it once with rt-gym precompute pdb and give the file as database"
        )
    return build_columns(grid, abstraction, mode, cap, [], subgoal=subgoal)


class Guided(GoalSeeker):
    """An agent with a memory that also has ``guide``, a RegionGuide.

    Args:
        database: a file or a database to look entries up in; None to build what is needed.
        asked: the level, mode, abstraction and subgoal that were asked for, None for those that were not.
        cap: the largest depth that an entry may say.
        keep: whether it keeps a subgoal until it enters its region.
        patience: how often it may be in the same place on its way to subgoals; None for what suits ``keep``.
        guard: whether there is a guard.
        tie: ``"first"`` or ``"random"``.
    """

    precomputes = True
    looks_up = True  # whether it needs the entries of a database, or only the regions
    heads_by_entries = True  # whether its goals are those of the entries

    def __init__(
        self,
        database: PathLike | Database | None,
        asked: dict[str, Any],
        cap: int | None,
        keep: bool,
        patience: int | None,
        guard: bool,
        tie: str,
    ) -> None:
        super().__init__(tie)
        self.level = LEVEL if asked["level"] is None else whole("level", asked["level"], 0, MAX_LEVEL)
        self.cap = CAP if cap is None else whole("cap", cap, 1, MAX_CAP)
        self.mode = asked["mode"]
        abstraction = ABSTRACTION if asked["abstraction"] is None else asked["abstraction"]
        self.abstraction = choice("abstraction", abstraction, KINDS)
        self.subgoal = checked_subgoal(SUBGOAL if asked["subgoal"] is None else asked["subgoal"])
        self.keep, self.guard = flag("keep", keep), flag("guard", guard)
        self.precompute_seconds = 0.0
        self._source = None if database is None else open_database(database)
        self._database: Database | None = None
        if self._source is not None:
            self._follow(self._source, asked, cap)
        visits = VISITS_KEPT if self.keeps else VISITS
        self.patience = visits if patience is None else whole("patience", patience, 1, 1_000_000)

    def _follow(self, source: Any, asked: dict[str, Any], cap: int | None) -> None:
        """Take over what the database was built with; what was asked for besides must not contradict it."""
        kept = {"level": source.level, "mode": source.mode, "abstraction": source.kind, "subgoal": source.subgoal}
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
    def keeps(self) -> bool:
        """Whether there are subgoals that it keeps."""
        return self.keep and self.heads_by_entries and self.mode != "G"

    @property
    def guarded(self) -> int:
        """How often the guard has sent the agent to its goal instead of a subgoal, in all trials of this problem."""
        return int(self.memory.guide.state[0].guarded)

    @property
    def guarded_expansions(self) -> int:
        """The expansions of all moves meanwhile."""
        return int(self.memory.guide.state[0].expansions)

    @property
    def regions(self) -> Abstraction | None:
        """The regions of the map, None for an agent that does without."""
        return None if self._database is None else self._database.abstraction

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget all values, look up or build what is known about the way to this goal, and seed the ties."""
        super().clear_memory(view, seed)
        self.memory = with_parts(self.memory, guide=self._informed(self.memory.guide, view))
        self.memory.guide.state["guarded"] = self.memory.guide.state["expansions"] = 0
        self.begin_trial()

    def begin_trial(self) -> None:
        """Count visits anew, and keep no subgoal."""
        begin_guide(self.memory.guide)

    def make_guide(self, cells: int) -> RegionGuide:
        """Return the guide for maps of this size; ``clear_memory`` adds the knowledge of the map."""
        return make_guide(cells, self.cap, self.keeps, self.patience if self.guard else NEVER)

    def _informed(self, guide: RegionGuide, view: KernelView) -> RegionGuide:
        """Return the guide with what is known about the way to this goal."""
        database = self._prepare(self._map_of(view), view.goal_cell)
        abstraction = database.abstraction
        goal = int(abstraction.region[view.goal_cell])
        known = goal != NONE and database.holds(goal)
        fits = guide.ahead.size == abstraction.regions
        guide = with_parts(
            guide,
            region=abstraction.region,
            representatives=abstraction.representatives,
            begin=abstraction.begin,
            near=abstraction.near,
            ahead=guide.ahead if fits else np.empty(abstraction.regions, np.int32),
            depths=guide.depths if fits else np.empty(abstraction.regions, np.uint16),
            hops=database.hops,
        )
        guide.ahead[:], guide.depths[:] = database.entries(goal) if known else (NONE, database.cap)
        return guide

    def _map_of(self, view: KernelView) -> Grid:
        """Return the map that is cut into regions, as it is believed now."""
        return view.as_grid()

    def _prepare(self, grid: Grid, goal_cell: int) -> Database:
        """Return a database of this map that holds the goal's region; build it if there is none, and time that."""
        began = perf_counter()
        given = self.midway and self._source is not None  # of a map that may have been edited since
        if self._database is None or (self._database.digest != grid.digest and not given):
            asked = self.abstraction, self.level, self.mode if self.looks_up else None, self.cap, self.subgoal
            self._database = begin_database(grid, *asked) if self._source is None else self._source.for_map(grid)
        database = self._database
        goal = int(database.abstraction.region[goal_cell])
        if self.looks_up and goal != NONE and not database.holds(goal):
            if self._source is not None:
                raise InputError("the pattern database has no entries for the region of this goal")
            regions, hops = database.abstraction, database.hops
            self._database = join(
                [database, build_columns(grid, regions, self.mode, self.cap, [goal], hops, self.subgoal)]
            )
        self.precompute_seconds = perf_counter() - began if self._source is None else 0.0
        return self._database

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: ``regions`` beside the rest, as numbers that differ between neighbours."""
        if self.regions is None:
            return super().layers()
        colours = np.append(self.regions.colours, NONE)  # the last for what is in no region
        return super().layers() | {"regions": self.view.inner(colours[self.regions.region])}
