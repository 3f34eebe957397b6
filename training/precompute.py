"""Knowledge of a map, prepared once and kept in a file: pattern databases, subgoal trees, kNN records.

The work is cut into jobs whose results are kept beside the file until all of them are there: what was stopped goes on
where it was. A file is written as a whole or not at all, and is the same however the work was cut.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agents.knowledge import knn, pdb, pdb_estimate, pdb_file, subgoals
from rt_gym import Grid, InputError
from rt_gym.abstraction import Abstraction, abstract
from rt_gym.errors import whole
from rt_gym.terrain import Position
from training.runs import Workers
from training.runs.execution import Store, run_all
from training.runs.jobs import Series, Work
from training.runs.rows import Arrays


@dataclass(frozen=True)
class Order(ABC):
    """What is to be prepared for which map. Subclasses say how, and whatever else it depends on.

    Attributes:
        grid: the map.
    """

    grid: Grid
    agent: ClassVar[str]  # whose knowledge it is

    def __post_init__(self) -> None:
        if not self.grid.free_cells:
            raise InputError(f"map {self.grid.name} has no free cell")

    @abstractmethod
    def estimate(self) -> tuple[float, int]:
        """Return about how many seconds of one core it takes, and how many bytes it has."""

    @abstractmethod
    def work(self) -> Sequence[int]:
        """Return the goals or records, of each of which there will be a part."""

    @abstractmethod
    def build(self, part: Sequence[int]) -> Any:
        """Return the knowledge of a part of the work."""

    @abstractmethod
    def load(self, path: Path) -> Any:
        """Return what was saved, or refuse it."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """Return a part of the knowledge from its arrays."""

    @abstractmethod
    def join(self, parts: Sequence[Any]) -> Any:
        """Return the whole of all parts, in their order."""

    def series(self) -> Series:
        """Return the work as workers take it."""
        settings = {name: value for name, value in vars(self).items() if name != "grid"}
        return Series(Parts(type(self), settings), self.grid, tuple(self.work()))


@dataclass(frozen=True)
class Parts(Work[int, Arrays]):
    """Parts of an order that is made anew where the map is; the result is the arrays of the part."""

    kind: type[Order]
    settings: dict[str, Any]

    @property
    def agents(self) -> tuple[str, ...]:
        """Whose knowledge it is."""
        return (self.kind.agent,)

    def do(self, grid: Grid | None, items: Sequence[int]) -> Arrays:
        """Build some parts."""
        assert grid is not None
        part = self.kind(grid, **self.settings).build(items)
        values = {field.name: getattr(part, field.name) for field in fields(part)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def pack(self, result: Arrays) -> Arrays:
        """Return the arrays as they are."""
        return result

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
        """Return the arrays as they are."""
        return dict(arrays)


def precompute(
    order: Order, path: Path, workers: Workers | None = None, advance: Callable[[int], Any] = lambda items: None
) -> Any:
    """Do all the work of an order that is not done yet, write the file, and return the knowledge.

    Args:
        order: what is wanted.
        path: where the file will be. Until then finished jobs stand in a folder of the same name with ``.parts``.
        workers: what does the jobs; all cores of this machine by default.
        advance: called with how many goals or records are ready.
    """
    folder = path.with_name(f"{path.name}.parts")
    store = Store(folder)
    (parts,) = run_all([order.series()], store, workers, advance)
    all_of_it = order.join([order.restore(part) for part in parts] or [order.build(())])
    all_of_it.save(path)
    store.clear()
    return all_of_it


@lru_cache(maxsize=2)
def _regions(grid: Grid, kind: str, level: int) -> Abstraction:
    return abstract(grid, kind, level)


@lru_cache(maxsize=2)
def _hops(grid: Grid, kind: str, level: int, mode: str, cap: int) -> Any:
    return pdb.build_hops(grid, _regions(grid, kind, level), mode, cap)


def _check_goals(grid: Grid, goals: Sequence[Position]) -> None:
    for goal in goals:
        if not grid.contains(goal) or not grid.passable[goal[1], goal[0]]:
            raise InputError(f"goal {goal} is no free cell of the map")


@dataclass(frozen=True)
class Patterns(Order):
    """A pattern database, towards all regions or those of some goals; the other fields are those of ``pdb-lrta``."""

    level: int = 4
    cap: int = 20
    mode: str = "I"
    abstraction: str = "clique"
    goals: tuple[Position, ...] = ()
    subgoal: str = pdb.SUBGOAL
    agent = "pdb-lrta"

    def __post_init__(self) -> None:
        super().__post_init__()
        pdb.checked_mode(self.mode)
        pdb.checked_subgoal(self.subgoal)
        whole("cap", self.cap, 1, pdb.MAX_CAP)
        _check_goals(self.grid, self.goals)

    @property
    def regions(self) -> Abstraction:
        """The regions of the map."""
        return _regions(self.grid, self.abstraction, self.level)

    def estimate(self) -> tuple[float, int]:
        """Time a few regions."""
        return pdb_estimate.estimate(self.grid, self.regions, self.mode, self.cap, len(self.work()), self.subgoal)

    def work(self) -> Sequence[int]:
        """Return the goal regions."""
        if not self.goals:
            return range(self.regions.regions)
        return sorted({int(self.regions.region[self.grid.cell(goal)]) for goal in self.goals})

    def build(self, part: Sequence[int]) -> pdb.Database:
        """Return the columns of some goal regions."""
        hops = _hops(self.grid, self.abstraction, self.level, self.mode, self.cap)
        return pdb.build_columns(self.grid, self.regions, self.mode, self.cap, part, hops, self.subgoal)

    def load(self, path: Path) -> pdb.Database:
        """Return a database of this map."""
        return pdb_file.load_database(path, self.grid)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> pdb.Database:
        """Return the columns of some goal regions."""
        return pdb.Database(self.grid.digest, self.mode, self.cap, self.subgoal, self.regions, **arrays)

    def join(self, parts: Sequence[Any]) -> pdb.Database:
        """Return all columns together."""
        return pdb.join(parts)


@dataclass(frozen=True)
class Subgoals(Order):
    """Subgoal trees, for all goals of the map or some; ``first`` is that of ``subgoal-lrta``."""

    first: str = "nearest"
    goals: tuple[Position, ...] = ()
    agent = "subgoal-lrta"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_goals(self.grid, self.goals)

    def estimate(self) -> tuple[float, int]:
        """Time a few trees."""
        return subgoals.estimate(self.grid, self.goals or None, self.first)

    def work(self) -> Sequence[int]:
        """Return the cells of the goals."""
        if self.goals:
            return sorted({self.grid.cell(goal) for goal in self.goals})
        return self.grid.terrain.free.nonzero()[0].tolist()

    def build(self, part: Sequence[int]) -> subgoals.Trees:
        """Return the trees of some goals."""
        return subgoals.build_trees(self.grid, [self.grid.position(cell) for cell in part], self.first)

    def load(self, path: Path) -> subgoals.Trees:
        """Return trees of this map."""
        return subgoals.load_trees(path, self.grid)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> subgoals.Trees:
        """Return the trees of some goals."""
        return subgoals.Trees(self.grid.digest, **arrays)

    def join(self, parts: Sequence[Any]) -> subgoals.Trees:
        """Return all trees together."""
        return subgoals.join(parts)


@dataclass(frozen=True)
class Neighbours(Order):
    """Records of solved problems; the fields are those of ``knn-lrta``."""

    records: int = 10_000
    cutoff: int = knn.CUTOFF
    seed: int = 0
    agent = "knn-lrta"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("records", self.records, 1, knn.MAX_RECORDS)

    def estimate(self) -> tuple[float, int]:
        """Go by the size of the map."""
        return knn.estimate(self.grid, self.records)

    def work(self) -> Sequence[int]:
        """Return the numbers of the records."""
        return range(self.records)

    def build(self, part: Sequence[int]) -> knn.Records:
        """Return some records."""
        begin, end = (part[0], part[-1] + 1) if part else (0, 0)
        return knn.build_records(self.grid, self.records, self.seed, begin, end, self.cutoff)

    def load(self, path: Path) -> knn.Records:
        """Return records of this map."""
        return knn.load_records(path, self.grid)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> knn.Records:
        """Return some records."""
        return knn.Records(self.grid.digest, **arrays)

    def join(self, parts: Sequence[Any]) -> knn.Records:
        """Return all records together."""
        return knn.join(parts)
