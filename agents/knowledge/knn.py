"""The database of kNN LRTA*: solved problems, their paths compressed to subgoals.

V. Bulitko, Y. Björnsson, "kNN LRTA*: Simple Subgoaling for Real-Time Search", AIIDE 2009; V. Bulitko, Y. Björnsson,
R. Lawrence, "Case-Based Subgoaling in Real-Time Heuristic Search for Video Game Pathfinding", Journal of Artificial
Intelligence Research 39, 2010.

A record is made of a random problem: an optimal path by A*, of which the start is kept and then, again and again, the
last cell that can be climbed to from the one kept before.

Readings:
- Start and goal are two different cells of one component, the start any free cell that has another to go to.
- The last cell is looked for by bisection. Whether a cell can be climbed to does not fall only once along a path, so
  there may be a later one; the one that is kept has been tried, or is the next on the path.
- A climb counts only if it costs no more than the path between the two cells. A problem that equals a record is so
  solved at the optimal cost.
- A longer database begins with the shorter one of the same seed, and records do not depend on each other: parts of it
  may be built apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.climb import climb
from agents.knowledge.nearest import Nearest, make_tree
from rt_gym.archive import Shapes, load_archive, save_archive
from rt_gym.errors import InputError, checked_seed, quoted, whole
from rt_gym.file_cache import FILES
from rt_gym.files import PathLike, require_path, shown
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.meter import UNLIMITED
from rt_gym.search.astar import begin_astar, resume_astar
from rt_gym.search.buckets import make_buckets
from rt_gym.search.space import NONE
from rt_gym.terrain import CELL_BITS
from rt_gym.trip import make_trip

_OTHER_CELLS = "holds cells or records that its map does not have"
CUTOFF = 250
MAX_RECORDS = 1_000_000
MAX_CUTOFF = 1_000_000

_KIND, _VERSION = "kNN database", 1
_LAYOUT = {"begin": (np.int64, 1), "cells": (np.int32, 1)}
# Per record, on one core: twice what most maps take, because mazes, with their long paths, take two to four times that.
_SECONDS, _SECONDS_PER_CELL = 2e-5, 1.2e-8
_BYTES = 8 + 4 * 6


@kernel
def solve(terrain, trip, buckets, s, t, route, spent):
    """Write the cells of an optimal path, and what it costs to get to each; return how many there are.

    ``route``, int32, and ``spent``, int64, have one entry per cell of the map.
    """
    space = buckets.space
    begin_astar(terrain, buckets, s, t)
    resume_astar(terrain, trip, buckets, t, UNLIMITED)
    length, u = np.int64(0), space.state[0].best
    while u != NONE:
        length += 1
        u = np.int64(space.node[u].parent)
    u = space.state[0].best
    for k in range(length - 1, -1, -1):
        route[k], spent[k] = space.node[u].cell, space.node[u].g
        u = np.int64(space.node[u].parent)
    return length


@kernel
def compress(terrain, trip, route, spent, length, cutoff, kept):
    """Write the cells of a path that are kept, its two ends included, into ``kept``, int32; return how many there are.

    The first ``length`` entries of ``route`` and ``spent`` are the path, as ``solve`` writes it.
    """
    kept[0] = route[0]
    count, last = np.int64(1), np.int64(0)
    while last < length - 1:
        near, far = last + 1, length
        while far - near > 1:
            middle = (near + far) >> 1
            way = climb(terrain, trip, np.int64(route[last]), np.int64(route[middle]), cutoff)
            if way == spent[middle] - spent[last]:
                near = middle
            else:
                far = middle
        kept[count] = route[near]
        count += 1
        last = near
    return count


@dataclass(frozen=True, eq=False)
class Records:
    """Solved problems of one map.

    Attributes:
        digest: which map, see ``Grid.digest``.
        begin: int64, where in ``cells`` each record begins, and where the last one ends.
        cells: int32, flat indices: of every record its start, its subgoals and its goal.
    """

    digest: str
    begin: NDArray[np.int64]
    cells: NDArray[np.int32]

    def __len__(self) -> int:
        return self.begin.size - 1

    def ends(self, grid: Grid) -> NDArray[np.int32]:
        """Return columns and rows of the starts and goals, one row per record."""
        cells = np.stack([self.cells[self.begin[:-1]], self.cells[self.begin[1:] - 1]], axis=1)
        return grid.positions(cells).reshape(-1, 4)

    def save(self, path: PathLike) -> None:
        """Write the database to a file."""
        save_archive(path, _KIND, _VERSION, {"map": self.digest}, {"begin": self.begin, "cells": self.cells})


def estimate(grid: Grid, records: int) -> tuple[float, int]:
    """Return about how many seconds of one core, and how many bytes, the records take."""
    return records * (_SECONDS + _SECONDS_PER_CELL * grid.free_cells), records * _BYTES


def build_records(grid: Grid, records: int, seed: int, begin: int, end: int, cutoff: int = CUTOFF) -> Records:
    """Return a part of a database.

    Args:
        grid: the map.
        records: how many records the whole database has.
        seed: which problems are drawn.
        begin: the first of them that is wanted.
        end: the first after those that are wanted.
        cutoff: the most steps of a climb.
    """
    problems = _drawn_problems(grid, whole("records", records, 0, MAX_RECORDS), seed)[begin:end]
    return _solved(grid, problems, whole("cutoff", cutoff, 1, MAX_CUTOFF))


def _solved(grid: Grid, problems: NDArray[np.int64], cutoff: int) -> Records:
    """Return the records of some problems, given by the cells of their starts and goals."""
    terrain = grid.terrain
    buckets, trip = make_buckets(terrain), make_trip(0)
    route, spent = np.empty(terrain.free.size, np.int32), np.empty(terrain.free.size, np.int64)
    kept, parts = np.empty_like(route), []
    for s, t in problems:
        length = solve(terrain, trip, buckets, s, t, route, spent)
        count = compress(terrain, trip, route, spent, length, cutoff, kept)
        parts.append(kept[:count].copy())
    ends = np.cumsum([0, *(part.size for part in parts)], dtype=np.int64)
    return Records(grid.digest, ends, np.concatenate([kept[:0], *parts]))


def _drawn_problems(grid: Grid, count: int, seed: int) -> NDArray[np.int64]:
    """Return the cells of starts and goals, count x 2; none on a map where no cell can be left."""
    label = grid.labels
    cells = np.argsort(label, kind="stable")  # component by component
    size = np.bincount(label)
    first = np.concatenate([[0], np.cumsum(size)])
    able = np.flatnonzero((label[cells] > 0) & (size[label[cells]] > 1))
    if not able.size:
        return np.empty((0, 2), np.int64)
    chance = np.random.default_rng(checked_seed(seed)).random((count, 2))
    start = able[(chance[:, 0] * able.size).astype(np.int64)]
    mine = label[cells[start]]
    ahead = 1 + (chance[:, 1] * (size[mine] - 1)).astype(np.int64)
    goal = first[mine] + (start - first[mine] + ahead) % size[mine]
    return np.stack([cells[start], cells[goal]], axis=1)


def join(parts: Sequence[Records]) -> Records:
    """Return the database of which these are the parts, in order."""
    if len({part.digest for part in parts}) != 1:
        raise InputError("the parts of a kNN database must be of one map")
    ends = np.cumsum([0, *(part.cells.size for part in parts)])
    begin = [part.begin[1:] + before for part, before in zip(parts, ends, strict=False)]
    return Records(parts[0].digest, np.concatenate([[0], *begin]), np.concatenate([part.cells for part in parts]))


@lru_cache(maxsize=8)
def tree_of(records: Records, grid: Grid) -> Nearest:
    """Return the tree to look for the nearest records in; agents with the same records share it."""
    return make_tree(records.ends(grid))


@lru_cache(maxsize=8)
def records_of(grid: Grid, records: int, cutoff: int, neighbours: int) -> Records:
    """Return the database that an agent builds for itself; it is kept for others on the same map.

    A problem that was drawn as often as records are tried is left out from then on: if one of its records is of use,
    the first of them is.
    """
    problems = _drawn_problems(grid, records, 0)
    return _solved(grid, problems[_times_before(problems) < neighbours], cutoff)


def _times_before(problems: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each of the problems stands before in the list."""
    _, which, counts = np.unique(problems @ [1 << CELL_BITS, 1], return_inverse=True, return_counts=True)
    times = np.empty_like(which)
    times[np.argsort(which, kind="stable")] = np.arange(which.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return times


def load_records(source: Any, grid: Grid) -> Records:
    """Return a database for a map, from a file or as it was built. That of a file is shared by all who ask for it.

    Raises:
        InputError: for a file that is something else or damaged, and for a database of another map.
    """
    if isinstance(source, Records):
        return _checked(source, grid, "the kNN database")
    require_path("database", source, "a file or Records")
    return FILES.load(source, (_KIND, grid.digest), lambda: _checked(_read(source, grid), grid, shown(source)))


def _checked(records: Records, grid: Grid, name: str) -> Records:
    _check_map(records.digest, grid, name)
    if not _is_sound(records, grid):
        raise InputError(f"{name}: {_OTHER_CELLS}")
    return records


def _read(path: PathLike, grid: Grid) -> Records:
    def accept(head: dict[str, Any], shapes: Shapes) -> None:
        """Refuse more records than are ever built, and more cells than those of this map can have."""
        (begin,), (cells,) = shapes["begin"], shapes["cells"]
        _check_map(head.get("map"), grid, shown(path))
        if begin > MAX_RECORDS + 1 or cells > max(0, begin - 1) * grid.free_cells:
            raise InputError(f"{shown(path)}: {_OTHER_CELLS}")

    head, arrays = load_archive(path, _KIND, _VERSION, _LAYOUT, accept)
    return Records(str(head.get("map")), arrays["begin"], arrays["cells"])


def _check_map(digest: Any, grid: Grid, name: str) -> None:
    if digest != grid.digest:
        raise InputError(f"{name}: belongs to another map than {quoted(grid.name) if grid.name else 'this one'}")


def _is_sound(records: Records, grid: Grid) -> bool:
    """Whether every record has two cells or more, and every cell is a free one of the map."""
    begin, cells, free = records.begin, records.cells, grid.terrain.free
    if not begin.size or begin[0] != 0 or begin[-1] != cells.size or (np.diff(begin) < 2).any():
        return False
    return bool(((cells >= 0) & (cells < free.size)).all() and free[cells].all())
