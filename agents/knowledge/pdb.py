"""Pattern databases: for every pair of regions, how deep to look from the one and where to head for the other.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007, Figures 3 and 4. The optimal depth from a to b is the smallest lookahead that, with
nothing learned, moves from a towards b on a shortest path. Entries are made between the representatives of regions and
may hold the optimal depth towards the goal (mode G), that and, where it is beyond the cap, a subgoal with the depth
towards it (GI), or always a subgoal (I).

Readings and deviations:
- "Global goal" in an entry means the agent's own goal, not the representative of its region.
- Any first move of a shortest path is optimal; insisting on one of them would make depths larger.
- The subgoal is a representative of a region on a shortest path, the one that takes the first optimal move in the order
  of directions. ``subgoal="first"``, the text, takes the first other region. Its representative may be farther from the
  goal than the agent is, and that of the next entry may lead back: such chains of subgoals never end. ``"nearer"``, the
  second reading, takes the first region whose representative is nearer to the goal than that of the agent's region, so
  that no chain has a cycle and each of them ends in the goal's region. It is the default, by the evidence on ten maps
  that no experiment has so large (500 problems, level 4, mode I, subgoals kept): suboptimality 1.25 on average and 7.6
  at worst, with 3.0 expansions for a move, against 1.38, 37 and 13.6.
- The first other region is a neighbour, and the nearer one mostly is. So an entry is one byte, a depth or the number of
  a neighbour, and the depth towards a neighbour is kept once, not with every pair. The others are listed with their
  depth, at sixteen bytes each: one entry in 50 to 85 on Warcraft maps at level 4, one in 25 among random obstacles.
- Of a region with itself: the depth from its representative to the farthest member, capped, and the global goal.
- Regions without a way between them: the cap and the global goal, for maps that change.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.pdb_entries import (
    FAR,
    MODES,
    SUBGOALS,
    EntryBuffers,
    depth_between,
    depth_within,
    fill_column,
    fill_hops,
    make_buffers,
    make_region_arrays,
)
from rt_gym.abstraction import Abstraction
from rt_gym.archive import save_archive
from rt_gym.errors import InputError, choice, whole
from rt_gym.files import PathLike
from rt_gym.grid import Grid
from rt_gym.search.space import NONE

KIND, VERSION = "pattern database", 1
MAX_CAP = 1000
SUBGOAL = "nearer"  # where nothing else is said

NO_FAR = np.empty((0, 4), np.int32)  # all subgoals are neighbours

_PIECES = 8  # of the work per thread, so that none waits long for the last


@dataclass(frozen=True, eq=False)
class Database:
    """The entries of all regions towards some goal regions. A value; its arrays are read-only.

    Attributes:
        digest: of the map.
        mode, cap, subgoal: see above.
        abstraction: the regions.
        goals: int32, the goal regions, in ascending order.
        table: goals x regions, the entries: below ``half`` a depth, from there on the number of a neighbour; the last
            number is for entries in ``far``. Bytes, or uint16 where the cap or a region with many neighbours needs it.
        hops: uint16, the depth towards every neighbour, as ``abstraction.near`` lists them; empty in mode G.
        far: int32, n x 4, the entries with subgoals that are no neighbours, in ascending order: goal region, region,
            region of the subgoal, depth.
    """

    digest: str
    mode: str
    cap: int
    subgoal: str
    abstraction: Abstraction
    goals: NDArray[np.int32]
    table: NDArray[Any]
    hops: NDArray[np.uint16]
    far: NDArray[np.int32]

    def __post_init__(self) -> None:
        for array in (self.goals, self.table, self.hops, self.far):
            array.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    @property
    def kind(self) -> str:
        """The kind of the regions."""
        return self.abstraction.kind

    @property
    def level(self) -> int:
        """The level of the regions."""
        return self.abstraction.level

    @property
    def half(self) -> int:
        """The first entry that is the number of a neighbour."""
        return 1 << (8 * self.table.itemsize - 1)

    def holds(self, goal: int) -> bool:
        """Whether there are entries towards a goal region."""
        return bool(np.isin(goal, self.goals))

    def entries(self, goal: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Return for every region the one to head for on the way to a goal's, -1 for the goal itself, and the depth."""
        row = self.table[np.searchsorted(self.goals, goal)].astype(np.int64)
        ahead, depths = np.full(row.size, NONE, np.int32), row.astype(np.uint16)
        near = np.flatnonzero((row >= self.half) & (row < 2 * self.half - 1))
        places = self.abstraction.begin[near] + row[near] - self.half
        ahead[near], depths[near] = self.abstraction.near[places], self.hops[places]
        begin, end = np.searchsorted(self.far[:, 0], [goal, goal + 1])
        _, starts, ahead_of_them, their_depths = self.far[begin:end].T
        ahead[starts], depths[starts] = ahead_of_them, their_depths
        return ahead, depths

    def for_map(self, grid: Grid) -> "Database":
        """Return itself if it is of this map."""
        if self.digest != grid.digest:
            raise InputError("the pattern database is of another map")
        return self

    def save(self, path: PathLike) -> None:
        """Write the database to a file."""
        head = {"map": self.digest, "mode": self.mode, "cap": self.cap, "subgoal": self.subgoal}
        head |= {"abstraction": self.kind, "level": self.level}
        arrays = {"goals": self.goals, "table": self.table.view(np.uint8), "hops": self.hops}
        if self.subgoal == "nearer":
            arrays["far"] = self.far
        save_archive(path, KIND, VERSION, head, arrays)


def entry_type(abstraction: Abstraction, cap: int) -> type[np.uint8 | np.uint16]:
    """Return the type of the entries: half of its numbers must be enough for depths, half for neighbours."""
    return np.uint8 if max(cap, np.diff(abstraction.begin).max(initial=0)) < 128 else np.uint16


def checked_mode(mode: Any) -> str:
    """Return a mode that must be one of the three."""
    return choice("mode", mode, MODES)


def checked_subgoal(subgoal: Any) -> str:
    """Return a reading of the subgoal that must be one of the two."""
    return choice("subgoal", subgoal, SUBGOALS)


def build_hops(
    grid: Grid, abstraction: Abstraction, mode: str, cap: int, towards: Sequence[int] | None = None
) -> NDArray[np.uint16]:
    """Return the depths between the representatives of neighbours, towards all regions or some, 0 for the others."""
    if mode == "G":
        return np.empty(0, np.uint16)
    hops = np.zeros(abstraction.near.size, np.uint16)
    regions, buffers = make_region_arrays(abstraction), make_buffers(grid.terrain.mask.size, cap)
    for region in range(abstraction.regions) if towards is None else towards:
        fill_hops(grid.terrain, regions, buffers, region, cap, hops)
    return hops


def build_columns(
    grid: Grid,
    abstraction: Abstraction,
    mode: str,
    cap: int,
    goals: Sequence[int],
    hops: NDArray[np.uint16] | None = None,
    subgoal: str = SUBGOAL,
) -> Database:
    """Return the database of some goal regions, on one core.

    Args:
        grid: the map.
        abstraction: its regions.
        mode: ``"G"``, ``"GI"`` or ``"I"``.
        cap: the largest depth.
        goals: the goal regions, in ascending order.
        hops: what ``build_hops`` returns for this map, if it is known already.
        subgoal: ``"first"`` or ``"nearer"``.
    """
    mode, cap, subgoal = checked_mode(mode), whole("cap", cap, 1, MAX_CAP), checked_subgoal(subgoal)
    regions, buffers = make_region_arrays(abstraction), make_buffers(grid.terrain.mask.size, cap)
    everywhere, column = np.arange(abstraction.regions, dtype=np.int32), np.empty(abstraction.regions, np.int32)
    table, far = np.empty((len(goals), abstraction.regions), entry_type(abstraction, cap)), [NO_FAR]
    half, readings = 1 << (8 * table.itemsize - 1), (MODES.index(mode), SUBGOALS.index(subgoal))
    for row, goal in zip(table, goals, strict=True):
        fill_column(grid.terrain, regions, buffers, goal, *readings, cap, everywhere, column)
        column[goal] = depth_within(grid.terrain, regions, buffers, goal, cap)
        row[:] = np.where(column > 0, column, half - 1 - np.maximum(column, -half))
        starts = np.flatnonzero(column <= FAR)
        far.append(np.stack([np.full(starts.size, goal), starts, FAR - column[starts], starts], axis=1))
    listed = _with_depths(grid, abstraction, buffers, cap, np.concatenate(far).astype(np.int32))
    hops = build_hops(grid, abstraction, mode, cap) if hops is None else hops
    return Database(grid.digest, mode, cap, subgoal, abstraction, np.array(goals, np.int32), table, hops, listed)


def _with_depths(
    grid: Grid, abstraction: Abstraction, buffers: EntryBuffers, cap: int, far: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Write the depths into the entries with subgoals that are no neighbours, and return them."""
    pairs, which = np.unique(far[:, 1:3], axis=0, return_inverse=True)
    cells = abstraction.representatives.astype(np.int64)[pairs]
    depths = [depth_between(grid.terrain, buffers, a, b, cap) for a, b in cells]
    far[:, 3] = np.array(depths, np.int32)[which.reshape(-1)]
    return far


def join(parts: Sequence[Database]) -> Database:
    """Return one database of the entries of several that differ in nothing but their goal regions."""
    first, kinds = parts[0], {(p.digest, p.mode, p.cap, p.subgoal, p.kind, p.level) for p in parts}
    goals = np.concatenate([part.goals for part in parts])
    if len(kinds) > 1 or np.unique(goals).size < goals.size:
        raise InputError("parts of a pattern database must be of the same map and kind, and of different goals")
    order, far = np.argsort(goals), np.concatenate([part.far for part in parts])
    table = np.concatenate([part.table for part in parts])[order]
    return replace(first, goals=goals[order], table=table, far=far[np.argsort(far[:, 0], kind="stable")])


def build(
    grid: Grid,
    abstraction: Abstraction,
    mode: str,
    cap: int,
    goals: Sequence[int] | None = None,
    threads: int = 0,
    subgoal: str = SUBGOAL,
) -> Database:
    """Return the database of all goal regions, or of some, on several cores: all there are unless ``threads`` says."""
    wanted = range(abstraction.regions) if goals is None else sorted(set(goals))
    threads = threads or cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        hop = partial(build_hops, grid, abstraction, mode, cap)
        hops = np.max(list(pool.map(hop, _pieces(range(abstraction.regions), threads))), axis=0)
        work = partial(build_columns, grid, abstraction, mode, cap, hops=hops, subgoal=subgoal)
        return join(list(pool.map(work, _pieces(wanted, threads))))


def _pieces(goals: Sequence[int], threads: int) -> list[Sequence[int]]:
    size = max(1, -(-len(goals) // (threads * _PIECES)))
    return [goals[k : k + size] for k in range(0, len(goals), size)] or [goals]
