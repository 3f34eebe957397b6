"""Knowledge of a map, prepared once and kept in a file: pattern databases, subgoal trees, kNN records.

The work is cut into jobs whose results are kept beside the file until all of them are there: what was stopped goes on
where it was. The cut does not depend on the number of workers. A file is written as a whole or not at all.
"""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from agents.knowledge import knn, pdb, subgoals
from rt_gym import Grid, InputError
from rt_gym.abstraction import Abstraction, abstract
from rt_gym.errors import whole
from rt_gym.terrain import Position
from training.runs import Workers
from training.runs.sources import source_stamp

_JOBS = 64  # that the work is cut into, where it can be


@dataclass(frozen=True)
class Order(ABC):
    """What is to be prepared for which map. Subclasses say how, and whatever else it depends on.

    Attributes:
        grid: the map.
    """

    grid: Grid
    agent: ClassVar[str]  # whose knowledge it is

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
    def join(self, parts: Sequence[Any]) -> Any:
        """Return the whole of all parts, in their order."""

    def jobs(self) -> list["Job"]:
        """Return the work in pieces of equal size."""
        work = self.work()
        size = max(1, -(-len(work) // _JOBS))
        return [Job(self, tuple(work[k : k + size])) for k in range(0, len(work), size)] or [Job(self, ())]


@dataclass(frozen=True)
class Job:
    """A piece of an order."""

    order: Order
    part: tuple[int, ...]

    @property
    def key(self) -> str:
        """A hash of all that the result depends on."""
        order = {name: value for name, value in vars(self.order).items() if name != "grid"}
        content = repr((self.order.agent, self.order.grid.digest, order, self.part, source_stamp(self.order.agent)))
        return sha256(content.encode()).hexdigest()[:32]


def run_job(job: Job) -> Any:
    """Do a piece of the work."""
    return job.order.build(job.part)


def precompute(
    order: Order, path: Path, workers: Workers | None = None, advance: Callable[[int], Any] = lambda jobs: None
) -> Any:
    """Do all the work of an order that is not done yet, write the file, and return the knowledge.

    Args:
        order: what is wanted.
        path: where the file will be. Until then finished jobs stand in a folder of the same name with ``.parts``.
        workers: what runs the jobs; all cores of this machine by default.
        advance: called with how many jobs have finished.
    """
    folder, jobs = path.with_name(f"{path.name}.parts"), order.jobs()
    found = {job.key: part for job in jobs if (part := _kept(order, folder / f"{job.key}.npz")) is not None}
    advance(len(found))
    missing = [job for job in jobs if job.key not in found]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
    with closing((workers or Workers()).run(missing, run_job)) as finished:
        for key, part in finished:
            part.save(folder / f"{key}.npz")
            found[key] = part
            advance(1)
    all_of_it = order.join([found[job.key] for job in jobs])
    all_of_it.save(path)
    shutil.rmtree(folder, ignore_errors=True)
    return all_of_it


def _kept(order: Order, path: Path) -> Any:
    try:
        return order.load(path) if path.exists() else None
    except InputError:  # damaged: it is done again
        return None


@lru_cache(maxsize=2)
def _regions(grid: Grid, kind: str, level: int) -> Abstraction:
    return abstract(grid, kind, level)


@lru_cache(maxsize=2)
def _hops(grid: Grid, kind: str, level: int, mode: str, cap: int) -> Any:
    return pdb.build_hops(grid, _regions(grid, kind, level), mode, cap)


@dataclass(frozen=True)
class Patterns(Order):
    """A pattern database, towards all regions or those of some goals; the other fields are those of ``pdb-lrta``."""

    level: int = 4
    cap: int = 20
    mode: str = "I"
    abstraction: str = "clique"
    goals: tuple[Position, ...] = ()
    agent = "pdb-lrta"

    @property
    def regions(self) -> Abstraction:
        """The regions of the map."""
        return _regions(self.grid, self.abstraction, self.level)

    def estimate(self) -> tuple[float, int]:
        """Time a few regions."""
        return pdb.estimate(self.grid, self.regions, self.mode, self.cap, len(self.work()))

    def work(self) -> Sequence[int]:
        """Return the goal regions."""
        if not self.goals:
            return range(self.regions.regions)
        return sorted({int(self.regions.region[self.grid.cell(goal)]) for goal in self.goals})

    def build(self, part: Sequence[int]) -> pdb.Database:
        """Return the columns of some goal regions."""
        hops = _hops(self.grid, self.abstraction, self.level, self.mode, self.cap)
        return pdb.build_columns(self.grid, self.regions, self.mode, self.cap, part, hops)

    def load(self, path: Path) -> pdb.Database:
        """Return a database of this map."""
        return pdb.load_database(path, self.grid)

    def join(self, parts: Sequence[Any]) -> pdb.Database:
        """Return all columns together."""
        return pdb.join(parts)


@dataclass(frozen=True)
class Subgoals(Order):
    """Subgoal trees, for all goals of the map or some; ``first`` is that of ``subgoal-lrta``."""

    first: str = "nearest"
    goals: tuple[Position, ...] = ()
    agent = "subgoal-lrta"

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
        whole("records", self.records, 0, knn.MAX_RECORDS)

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

    def join(self, parts: Sequence[Any]) -> knn.Records:
        """Return all records together."""
        return knn.join(parts)
