"""Pattern databases in files: see ``agents.knowledge.pdb``."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.pdb import KIND, MAX_CAP, NO_FAR, VERSION, Database, checked_mode, checked_subgoal, entry_type
from rt_gym.abstraction import KINDS, MAX_LEVEL, Abstraction, abstract
from rt_gym.archive import Shapes, load_archive
from rt_gym.errors import InputError, whole
from rt_gym.file_cache import FILES
from rt_gym.files import PathLike, require_path, shown
from rt_gym.grid import Grid

LAYOUT = {"goals": (np.int32, 1), "table": (np.uint8, 2), "hops": (np.uint16, 1)}
FAR_LAYOUT = LAYOUT | {"far": (np.int32, 2)}  # of "nearer"; all subgoals of "first" are neighbours


@dataclass(frozen=True)
class StoredDatabase:
    """A database in a file, of which only the header is read: how much the rest can be depends on the map."""

    path: PathLike
    digest: str
    mode: str
    cap: int
    subgoal: str
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
        settings = KIND, self.digest, self.mode, self.cap, self.subgoal, self.kind, self.level
        return FILES.load(self.path, settings, lambda: self._load(grid))

    def _load(self, grid: Grid) -> Database:
        abstraction = abstract(grid, self.kind, self.level)
        arrays = self._read(abstraction)
        arrays["table"] = arrays["table"].view(entry_type(abstraction, self.cap))
        database = Database(self.digest, self.mode, self.cap, self.subgoal, abstraction, **{"far": NO_FAR} | arrays)
        if not _sound(database):
            raise InputError(f"{self.name}: has an entry that is no depth and no subgoal of its region")
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
            if "far" in shapes and (shapes["far"][0] > goals * count or shapes["far"][1] != 4):
                raise InputError(f"{self.name}: lists entries that are not those of {count} regions")

        layout = FAR_LAYOUT if self.subgoal == "nearer" else LAYOUT
        return load_archive(self.path, KIND, VERSION, layout, accept)[1]


def _sound(database: Database) -> bool:
    """Whether all goals, depths and subgoals are possible."""
    abstraction, table, half = database.abstraction, database.table, database.half
    degrees, last = np.diff(abstraction.begin), 2 * half - 1
    goals, local = database.goals, table >= half
    if goals.size and not (goals[0] >= 0 and goals[-1] < abstraction.regions and (np.diff(goals) > 0).all()):
        return False
    if database.mode == "G":
        return not (database.hops.size or database.far.size or local.any()) and _depths(table, database.cap)
    fits = (table < half + degrees)[local & (table < last)].all() and _depths(table[~local], database.cap)
    fits = fits and database.hops.shape == abstraction.near.shape and _depths(database.hops, database.cap)
    return bool(fits and _listed(database, *np.nonzero(table == last)))


def _listed(database: Database, rows: NDArray[np.int64], starts: NDArray[np.int64]) -> bool:
    """Whether these entries of the table are those of the list, and possible."""
    goals, regions, ahead, depths = database.far.T
    if not (np.array_equal(goals, database.goals[rows]) and np.array_equal(regions, starts)):
        return False
    inside = (ahead >= 0) & (ahead < database.abstraction.regions) & (ahead != regions)
    return bool(inside.all() and _depths(depths, database.cap))


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
        subgoal = checked_subgoal(head.get("subgoal", "first"))  # the only one when files did not say
        level, kind, digest = whole("level", head.get("level"), 0, MAX_LEVEL), head.get("abstraction"), head.get("map")
        if kind not in KINDS or not isinstance(digest, str):
            raise InputError("does not say of which regions of which map it is")
    except InputError as error:
        raise InputError(f"{shown(source)}: {error}") from None
    return StoredDatabase(source, digest, mode, cap, subgoal, kind, level)


def load_database(source: PathLike | Database, grid: Grid) -> Database:
    """Return the database of a map from a file, or one that is already there."""
    return open_database(source).for_map(grid)
