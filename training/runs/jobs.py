"""Work on many items of one map, in pieces that any process can do in any order.

A ``Work`` says what is done to items, a ``Series`` is a work with its map and all its items, and a ``Job`` is a stretch
of a series on its way to a worker. It travels as plain values: ids, settings, tasks. Kernels and agents are made where
they are needed, and the map is sent on its own, once (``training.runs.workers``).
"""

import pickle
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rt_gym import Grid, InputError
from rt_gym.files import PathLike, read_bytes
from training.runs.sources import source_stamp

Item = TypeVar("Item")
Output = TypeVar("Output")
Arrays = dict[str, NDArray[Any]]

_OTHER_SOURCES = "a worker runs other sources than this command: install the same version everywhere"


class Work(ABC, Generic[Item, Output]):
    """Something that is done to every item of a list, on one map or on none.

    Subclasses are frozen dataclasses of plain values (numbers, texts, arrays, tuples, dataclasses of such): they travel
    to workers, and results are kept under a hash of them. What comes out for an item must not depend on the others of
    the same call, so that it does not matter how a series is cut.
    """

    @property
    @abstractmethod
    def agents(self) -> tuple[str, ...]:
        """Ids, or dotted names of classes, whose sources the results depend on. This module counts anyway."""

    @property
    def files(self) -> Iterable[PathLike]:
        """Files whose content the results depend on; none by default."""
        return ()

    @abstractmethod
    def do(self, grid: Grid | None, items: Sequence[Item]) -> Output:
        """Return what comes of some items, in their order; called in a worker."""

    def pack(self, result: Output) -> Arrays:
        """Return a result as arrays without Python objects, for a file. Not needed where nothing is kept."""
        raise TypeError(f"{type(self).__name__} does not say how its results are kept")

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Output:
        """Return a result from what ``pack`` made of it; raise anything if it is damaged, and it is done again."""
        raise TypeError(f"{type(self).__name__} does not say how its results are kept")


@dataclass(frozen=True)
class Series:
    """A work with its map and all its items."""

    work: Work[Any, Any]
    grid: Grid | None
    items: Sequence[Any]

    @cached_property
    def stamps(self) -> tuple[str, ...]:
        """Stamps of the sources that the results depend on."""
        return stamp_sources(self.work.agents, type(self.work).__module__)

    @cached_property
    def key(self) -> str:
        """A hash of all that the results depend on but the items."""
        content = [sha256(read_bytes(path)).hexdigest() for path in self.work.files]
        parts = self.work, content, None if self.grid is None else self.grid.digest, self.stamps
        return sha256(canonical(parts).encode()).hexdigest()[:32]

    def job(self, number: int, begin: int, end: int) -> "Job":
        """Return the items from ``begin`` to before ``end`` as a job; ``number`` is that of the series."""
        return Job(
            series=number,
            begin=begin,
            end=end,
            map=None if self.grid is None else self.grid.digest,
            agents=self.work.agents,
            module=type(self.work).__module__,
            stamps=self.stamps,
            content=pickle.dumps((self.work, self.items[begin:end])),
        )


def stamp_sources(agents: Iterable[str], module: str) -> tuple[str, ...]:
    """Return stamps of what agents depend on, and one of a module."""
    path = getattr(sys.modules.get(module) or import_module(module), "__file__", None)
    return (*map(source_stamp, agents), sha256(Path(path).read_bytes()).hexdigest() if path else "")


def canonical(value: Any) -> str:
    """Return a text that is equal for equal values, in whichever process; arrays and dataclasses by their content."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = (f"{part.name}={canonical(getattr(value, part.name))}" for part in fields(value))
        return f"{type(value).__qualname__}({','.join(inner)})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, (tuple, list)):
        return f"({','.join(map(canonical, value))})"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{canonical(key)}:{canonical(value[key])}' for key in sorted(value))}}}"
    return repr(value)


def digest_items(items: Sequence[Any]) -> NDArray[np.uint64]:
    """Return a hash of every item. Parts that many items share, such as a schedule of changes, are read once."""
    known: dict[int, str] = {}

    def text(part: Any) -> str:
        if (found := known.get(id(part))) is None:
            known[id(part)] = found = canonical(part)
        return found

    parts = (",".join(map(text, item)) if isinstance(item, tuple) else canonical(item) for item in items)
    hashes = b"".join(blake2b(part.encode(), digest_size=8).digest() for part in parts)
    return np.frombuffer(hashes, np.uint64)


@dataclass(frozen=True)
class Job:
    """A stretch of a series as it travels; ``content``, work and items, is read only where the sources are the same."""

    series: int
    begin: int
    end: int
    map: str | None
    agents: tuple[str, ...]
    module: str
    stamps: tuple[str, ...]
    content: bytes


@dataclass(frozen=True)
class Done:
    """What came of the items from ``begin`` to before ``end`` of a series, and how long it took."""

    series: int
    begin: int
    end: int
    seconds: float
    result: Any


def run_job(job: Job, grid: Grid | None) -> Done:
    """Do a job in this process.

    Raises:
        InputError: if this process has other sources than the one that made the job, or lacks an agent of one's own.
    """
    if not _has_sources(job):
        raise InputError(_OTHER_SOURCES)
    work, items = pickle.loads(job.content)
    began = time.perf_counter()
    result = work.do(grid, items)
    return Done(job.series, job.begin, job.end, time.perf_counter() - began, result)


def _has_sources(job: Job) -> bool:
    try:
        return stamp_sources(job.agents, job.module) == job.stamps
    except InputError as error:
        raise InputError(f"{error}: a worker must find it, too") from None
    except ImportError:  # of a module that this version does not have
        return False
