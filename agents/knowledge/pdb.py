"""Pattern databases: for every pair of regions, how deep to look from the one and where to head for the other.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007, Figures 3 and 4. The optimal depth from a to b is the smallest lookahead that, with
nothing learned, moves from a towards b on a shortest path. Entries are made between the representatives of regions and
may hold the optimal depth towards the goal (mode G), that and, where it is beyond the cap, a subgoal with the depth
towards it (GI), or always a subgoal (I).

Readings and deviations:
- "Global goal" in an entry means the agent's own goal, not the representative of its region.
- Any first move of a shortest path is optimal; insisting on one of them would make depths larger.
- The subgoal is the representative of the first other region on a shortest path, the one that takes the first optimal
  move in the order of directions. That region is a neighbour. So an entry is one byte, a depth or the number of a
  neighbour, and the depth towards a neighbour is kept once, not with every pair.
- Of a region with itself: the depth from its representative to the farthest member, capped, and the global goal.
- Regions without a way between them: the cap and the global goal, for maps that change.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.pdb_entries import MODES, depth_within, fill_column, fill_hops, make_buffers, make_region_arrays
from rt_gym.abstraction import KINDS, MAX_LEVEL, Abstraction, abstract
from rt_gym.archive import Shapes, load_archive, save_archive
from rt_gym.errors import InputError, choice, whole
from rt_gym.file_cache import FILES
from rt_gym.files import PathLike, require_path, shown
from rt_gym.grid import Grid

KIND, VERSION = "pattern database", 1
LAYOUT = {"goals": (np.int32, 1), "table": (np.uint8, 2), "hops": (np.uint16, 1)}
MAX_CAP = 1000

_PIECES = 8  # of the work per thread, so that none waits long for the last


@dataclass(frozen=True, eq=False)
class Database:
    """The entries of all regions towards some goal regions. A value; its arrays are read-only.

    Attributes:
        digest: of the map.
        mode, cap: see above.
        abstraction: the regions.
        goals: int32, the goal regions, in ascending order.
        table: goals x regions, the entries: below ``half`` a depth, from there on the number of a neighbour. Bytes,
            or uint16 where the cap or a region with many neighbours needs it.
        hops: uint16, the depth towards every neighbour, as ``abstraction.near`` lists them; empty in mode G.
    """

    digest: str
    mode: str
    cap: int
    abstraction: Abstraction
    goals: NDArray[np.int32]
    table: NDArray[Any]
    hops: NDArray[np.uint16]

    def __post_init__(self) -> None:
        for array in (self.goals, self.table, self.hops):
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

    def entries(self, goal: int) -> NDArray[np.int32]:
        """Return the entries of all regions towards one: a depth, or -1 less the number of a neighbour."""
        row = self.table[np.searchsorted(self.goals, goal)].astype(np.int32)
        return np.where(row < self.half, row, self.half - 1 - row).astype(np.int32)

    def for_map(self, grid: Grid) -> "Database":
        """Return itself if it is of this map."""
        if self.digest != grid.digest:
            raise InputError("the pattern database is of another map")
        return self

    def save(self, path: PathLike) -> None:
        """Write the database to a file."""
        head = {"map": self.digest, "mode": self.mode, "cap": self.cap}
        head |= {"abstraction": self.kind, "level": self.level}
        arrays = {"goals": self.goals, "table": self.table.view(np.uint8), "hops": self.hops}
        save_archive(path, KIND, VERSION, head, arrays)


def entry_type(abstraction: Abstraction, cap: int) -> type[np.uint8 | np.uint16]:
    """Return the type of the entries: half of its numbers must be enough for depths, half for neighbours."""
    return np.uint8 if max(cap, np.diff(abstraction.begin).max(initial=0)) < 128 else np.uint16


def checked_mode(mode: Any) -> str:
    """Return a mode that must be one of the three."""
    return choice("mode", mode, MODES)


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
) -> Database:
    """Return the database of some goal regions, on one core.

    Args:
        grid: the map.
        abstraction: its regions.
        mode: ``"G"``, ``"GI"`` or ``"I"``.
        cap: the largest depth.
        goals: the goal regions, in ascending order.
        hops: what ``build_hops`` returns for this map, if it is known already.
    """
    mode, cap = checked_mode(mode), whole("cap", cap, 1, MAX_CAP)
    regions, buffers = make_region_arrays(abstraction), make_buffers(grid.terrain.mask.size, cap)
    everywhere, column = np.arange(abstraction.regions, dtype=np.int32), np.empty(abstraction.regions, np.int32)
    table = np.empty((len(goals), abstraction.regions), entry_type(abstraction, cap))
    half = 1 << (8 * table.itemsize - 1)
    for row, goal in zip(table, goals, strict=True):
        fill_column(grid.terrain, regions, buffers, goal, MODES.index(mode), cap, everywhere, column)
        column[goal] = depth_within(grid.terrain, regions, buffers, goal, cap)
        row[:] = np.where(column > 0, column, half - 1 - column)
    hops = build_hops(grid, abstraction, mode, cap) if hops is None else hops
    return Database(grid.digest, mode, cap, abstraction, np.array(goals, np.int32), table, hops)


def join(parts: Sequence[Database]) -> Database:
    """Return one database of the entries of several that differ in nothing but their goal regions."""
    first, kinds = parts[0], {(p.digest, p.mode, p.cap, p.kind, p.level) for p in parts}
    goals = np.concatenate([part.goals for part in parts])
    if len(kinds) > 1 or np.unique(goals).size < goals.size:
        raise InputError("parts of a pattern database must be of the same map and kind, and of different goals")
    order = np.argsort(goals)
    table = np.concatenate([part.table for part in parts])[order]
    return Database(first.digest, first.mode, first.cap, first.abstraction, goals[order], table, first.hops)


def build(
    grid: Grid, abstraction: Abstraction, mode: str, cap: int, goals: Sequence[int] | None = None, threads: int = 0
) -> Database:
    """Return the database of all goal regions, or of some, on several cores: all there are unless ``threads`` says."""
    wanted = range(abstraction.regions) if goals is None else sorted(set(goals))
    threads = threads or cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        hop = partial(build_hops, grid, abstraction, mode, cap)
        hops = np.max(list(pool.map(hop, _pieces(range(abstraction.regions), threads))), axis=0)
        work = partial(build_columns, grid, abstraction, mode, cap, hops=hops)
        return join(list(pool.map(work, _pieces(wanted, threads))))


def _pieces(goals: Sequence[int], threads: int) -> list[Sequence[int]]:
    size = max(1, -(-len(goals) // (threads * _PIECES)))
    return [goals[k : k + size] for k in range(0, len(goals), size)] or [goals]


@dataclass(frozen=True)
class StoredDatabase:
    """A database in a file, of which only the header is read: how much the rest can be depends on the map."""

    path: PathLike
    digest: str
    mode: str
    cap: int
    kind: str
    level: int

    @property
    def name(self) -> str:
        """The file, as messages show it."""
        return shown(self.path)

    def for_map(self, grid: Grid) -> Database:
        """Return the database of this map, every entry of which has been checked. All who ask for it share it."""
        if self.digest != grid.digest:
            raise InputError(f"{self.name}: is a pattern database of another map")
        settings = KIND, self.digest, self.mode, self.cap, self.kind, self.level
        return FILES.load(self.path, settings, lambda: self._load(grid))

    def _load(self, grid: Grid) -> Database:
        abstraction = abstract(grid, self.kind, self.level)
        arrays = self._read(abstraction)
        arrays["table"] = arrays["table"].view(entry_type(abstraction, self.cap))
        database = Database(self.digest, self.mode, self.cap, abstraction, **arrays)
        if not _sound(database):
            raise InputError(f"{self.name}: has an entry that is no depth and no neighbour of its region")
        return database

    def _read(self, abstraction: Abstraction) -> dict[str, NDArray[Any]]:
        """Return the arrays, unpacked only if they have the shapes that these regions demand."""
        count = abstraction.regions
        row = count * np.dtype(entry_type(abstraction, self.cap)).itemsize

        def accept(head: dict[str, Any], shapes: Shapes) -> None:
            (goals,) = shapes["goals"]
            if _settings(self.path, head) != self:
                raise InputError(f"{self.name}: is no longer the file that it was when the agent was made")
            if goals > count or shapes["table"] != (goals, row) or shapes["hops"] > abstraction.near.shape:
                raise InputError(f"{self.name}: does not have an entry for each of the {count} regions")

        return load_archive(self.path, KIND, VERSION, LAYOUT, accept)[1]


def _sound(database: Database) -> bool:
    """Whether all goals, depths and neighbours are possible."""
    abstraction, table, half = database.abstraction, database.table, database.half
    degrees = np.diff(abstraction.begin)
    goals, local = database.goals, table >= half
    if goals.size and not (goals[0] >= 0 and goals[-1] < abstraction.regions and (np.diff(goals) > 0).all()):
        return False
    if database.mode == "G":
        return not database.hops.size and not local.any() and _depths(table, database.cap)
    fits = (table < half + degrees)[local].all() and _depths(table[~local], database.cap)
    return bool(fits and database.hops.shape == abstraction.near.shape and _depths(database.hops, database.cap))


def _depths(values: NDArray[Any], cap: int) -> bool:
    return not values.size or bool(values.min() >= 1 and values.max() <= cap)


def open_database(source: PathLike | Database) -> StoredDatabase | Database:
    """Return a database that is already there, or one from a file."""
    if isinstance(source, Database):
        return source
    require_path("database", source, "a file or a Database")
    return _settings(source, load_archive(source, KIND, VERSION, {})[0])


def _settings(source: PathLike, head: dict[str, Any]) -> StoredDatabase:
    """Return what the header of a file says."""
    try:
        mode, cap = checked_mode(head.get("mode")), whole("cap", head.get("cap"), 1, MAX_CAP)
        level, kind, digest = whole("level", head.get("level"), 0, MAX_LEVEL), head.get("abstraction"), head.get("map")
        if kind not in KINDS or not isinstance(digest, str):
            raise InputError("does not say of which regions of which map it is")
    except InputError as error:
        raise InputError(f"{shown(source)}: {error}") from None
    return StoredDatabase(source, digest, mode, cap, kind, level)


def load_database(source: PathLike | Database, grid: Grid) -> Database:
    """Return the database of a map from a file, or one that is already there."""
    return open_database(source).for_map(grid)
