"""Subgoal trees of a map: grown for some or all of its goals, kept in files, read back without trust.

C. Hernández, J. A. Baier, "Fast Subgoaling for Pathfinding via Real-Time Search", ICAPS 2011; how a tree grows is
written in ``agents.knowledge.subgoal_tree``. A tree takes eight bytes per node. With ``first="sub"``, which is ours,
Sub of every state is kept as well: one more small integer per free cell and goal, which for all goals of a large map is
a lot.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.subgoal_tree import ROOT, TreeBuffers, grow_tree, make_tree_buffers
from rt_gym.archive import Shapes, load_archive, save_archive
from rt_gym.errors import InputError, choice, quoted
from rt_gym.file_cache import FILES
from rt_gym.files import PathLike, require_path, shown
from rt_gym.grid import Grid
from rt_gym.terrain import Position, Terrain

FIRSTS = ("nearest", "sub")
MOST_SUB_BYTES = 1 << 32  # of all Sub together

_KIND, _VERSION = "file of subgoal trees", 1
_LAYOUT: dict[str, Any] = {"goals": (np.int32, 1), "ends": (np.int64, 1), "nodes": (np.int32, 1)}
_LAYOUT |= {"parents": (np.int32, 1)}
_SUB_TYPES = {"uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32}
_SAMPLE = 8  # trees that are grown for an estimate


class Tree(NamedTuple):
    """The subgoal tree of one goal.

    Attributes:
        nodes: int32, its cells; the first is the goal, the root.
        parents: int32, the number of every node's parent, which is smaller than its own; NONE for the root.
        sub: for every cell of the flat, bordered map the number of the node that is Sub of it; None if not kept.
    """

    nodes: NDArray[np.int32]
    parents: NDArray[np.int32]
    sub: NDArray[Any] | None


def grow(terrain: Terrain, buffers: TreeBuffers, goal: int, first: str) -> Tree:
    """Return the tree of one goal, a cell. States that cannot reach it have the goal itself as their Sub."""
    size = int(grow_tree(terrain, buffers, goal))
    sub = np.maximum(buffers.sub, ROOT).astype(np.min_scalar_type(size - 1)) if first == "sub" else None
    return Tree(buffers.node[:size].copy(), buffers.above[:size].copy(), sub)


@dataclass(frozen=True, eq=False)
class Trees:
    """The subgoal trees of some goals of a map, concatenated.

    Attributes:
        digest: of the map.
        goals: int32[goals], cells.
        ends: int64[goals], where the nodes of each tree end.
        nodes, parents: int32, see ``Tree``.
        subs: unsigned[goals, free cells], Sub of every free cell in the order of cells; None if not kept.
    """

    digest: str
    goals: NDArray[np.int32]
    ends: NDArray[np.int64]
    nodes: NDArray[np.int32]
    parents: NDArray[np.int32]
    subs: NDArray[Any] | None = None

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many nodes every tree has, the root included."""
        return np.diff(self.ends, prepend=0)

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {goal: row for row, goal in enumerate(self.goals.tolist())}

    def tree(self, goal: int, terrain: Terrain | None) -> Tree | None:
        """Return the tree of a goal, a cell of ``terrain``; None if there is none. Without the terrain it lacks Sub."""
        row = self._rows.get(goal)
        if row is None:
            return None
        part = slice(self.ends[row] - self.sizes[row], self.ends[row])
        sub = None
        if self.subs is not None and terrain is not None:
            sub = np.zeros(terrain.free.size, self.subs.dtype)
            sub[terrain.free != 0] = self.subs[row]
        return Tree(self.nodes[part], self.parents[part], sub)

    def save(self, path: PathLike) -> None:
        """Write the trees to a file."""
        arrays = {name: getattr(self, name) for name in _LAYOUT}
        head = {"map": self.digest, "sub": None if self.subs is None else str(self.subs.dtype)}
        save_archive(path, _KIND, _VERSION, head, arrays | ({} if self.subs is None else {"subs": self.subs}))


def estimate(grid: Grid, goals: Iterable[Position] | None = None, first: str = "nearest") -> tuple[float, int]:
    """Return how many seconds of one core the trees of these goals (None: of all) would take, and how many bytes.

    Raises:
        InputError: if that is too much to be kept, or for goals or ``first`` that do not fit.
    """
    cells = _checked(grid, goals, first)
    sample = cells[np.linspace(0, cells.size - 1, min(_SAMPLE, cells.size)).astype(int)]
    _grow_all(grid, sample[:1], first)  # compiles
    began = time.thread_time()
    trees = _grow_all(grid, sample, first)
    seconds = (time.thread_time() - began) / sample.size
    kept = sum(int(getattr(trees, name).nbytes) for name in _LAYOUT) + (0 if trees.subs is None else trees.subs.nbytes)
    return seconds * cells.size, kept * cells.size // sample.size


def build_trees(grid: Grid, goals: Iterable[Position] | None = None, first: str = "nearest") -> Trees:
    """Grow the trees of these goals (None: of all free cells), one after the other.

    Args:
        grid: the map.
        goals: positions; each gets a tree of its own, so that a long list may be cut and its parts joined.
        first: ``"sub"`` keeps Sub of every state.

    Raises:
        InputError: for goals or ``first`` that do not fit, or if it were too much to keep.
    """
    return _grow_all(grid, _checked(grid, goals, first), first)


def join(parts: Sequence[Trees]) -> Trees:
    """Return the trees of all parts together, in their order.

    Raises:
        InputError: if there is no part, or they are of different maps or kinds, or have a goal in common.
    """
    if len({(part.digest, part.subs is None) for part in parts}) != 1:
        raise InputError("trees can be joined if there are any, all of the same map, and all with Sub or all without")
    goals = np.concatenate([part.goals for part in parts])
    if _repeats(goals):
        raise InputError("trees can be joined if no goal has two of them")
    starts = np.cumsum([0, *(part.nodes.size for part in parts[:-1])])
    return Trees(
        digest=parts[0].digest,
        goals=goals,
        ends=np.concatenate([part.ends + start for part, start in zip(parts, starts, strict=True)]),
        nodes=np.concatenate([part.nodes for part in parts]),
        parents=np.concatenate([part.parents for part in parts]),
        subs=None if parts[0].subs is None else np.concatenate([part.subs for part in parts if part.subs is not None]),
    )


def load_trees(source: Trees | PathLike, grid: Grid) -> Trees:
    """Return the trees of a file, or those that are already there, for a map. Those of a file are shared.

    Raises:
        InputError: if they belong to another map, or the file is no such file, damaged, or nonsense.
    """
    if isinstance(source, Trees):
        _check_map(source.digest, grid, "the trees")
        return source
    require_path("trees", source, "a file or Trees")
    return FILES.load(source, (_KIND, grid.digest), lambda: _load(source, grid))


def _load(path: PathLike, grid: Grid) -> Trees:
    trees = _read(path, grid)
    if fault := _fault(trees, grid):
        raise _nonsense(path, fault)
    return trees


def _read(path: PathLike, grid: Grid) -> Trees:
    def accept(head: dict[str, Any], shapes: Shapes) -> None:
        """Refuse more than the trees of this map can be; what is of another map is refused for that."""
        (goals,), (nodes,) = shapes["goals"], shapes["nodes"]
        _check_map(head.get("map"), grid, shown(path))
        if shapes["ends"] != (goals,) or not 1 <= goals <= grid.free_cells:
            raise _nonsense(path, "it does not have one tree for every goal")
        if shapes["parents"] != (nodes,) or nodes > goals * grid.free_cells:
            raise _nonsense(path, "a parent is no earlier node of the same tree")

    def accept_subs(head: dict[str, Any], shapes: Shapes) -> None:
        if shapes["subs"] != (arrays["goals"].size, grid.free_cells):
            raise _nonsense(path, "it does not keep Sub of every state")

    head, arrays = load_archive(path, _KIND, _VERSION, _LAYOUT, accept)
    if (sub := head.get("sub")) is not None:
        if not isinstance(sub, str) or sub not in _SUB_TYPES:
            raise InputError(f"{shown(path)}: keeps Sub as {quoted(sub)}, which is no type for it")
        arrays |= load_archive(path, _KIND, _VERSION, {"subs": (_SUB_TYPES[sub], 2)}, accept_subs)[1]
    return Trees(str(head.get("map")), **arrays)


def _check_map(digest: Any, grid: Grid, name: str) -> None:
    if digest != grid.digest:
        raise InputError(f"{name}: belong to another map, or to the same one with other rules of movement")


def _nonsense(path: PathLike, fault: str) -> InputError:
    return InputError(f"{shown(path)}: is no {_KIND}: {fault}")


def _fault(trees: Trees, grid: Grid) -> str | None:
    """Return what is wrong with trees that came from a file; trees of this map that we grew have no fault."""
    goals, nodes, sizes = trees.goals, trees.nodes, trees.sizes
    if goals.size == 0 or sizes.size != goals.size or trees.ends[-1] != nodes.size:
        return "it does not have one tree for every goal"
    if sizes.min() < 1 or sizes.max() > nodes.size:
        return "a tree ends before it begins"
    if nodes.min() < 0 or nodes.max() >= grid.terrain.free.size or not grid.terrain.free[nodes].all():
        return "a node is no free cell of the map"
    starts, rows = trees.ends - sizes, np.repeat(np.arange(goals.size), sizes)
    if (nodes[starts] != goals).any() or _repeats(goals):
        return "a goal is not the root of one tree"
    if _repeats(rows * np.int64(grid.terrain.free.size) + nodes):
        return "a cell is twice in a tree"
    roots, number = np.zeros(nodes.size, bool), np.arange(nodes.size) - starts[rows]
    roots[starts] = True
    if ((trees.parents < 0) != roots).any() or (trees.parents >= number)[~roots].any():
        return "a parent is no earlier node of the same tree"
    if trees.subs is not None and trees.subs.shape != (goals.size, grid.free_cells):
        return "it does not keep Sub of every state"
    if trees.subs is not None and (trees.subs.max(axis=1) >= sizes).any():
        return "a Sub is no node of its tree"
    return None


def _repeats(numbers: NDArray[Any]) -> bool:
    """Whether a number is there twice; sorting millions of them is faster than asking for the different ones."""
    ordered = np.sort(numbers)
    return bool((ordered[1:] == ordered[:-1]).any())


def _checked(grid: Grid, goals: Iterable[Position] | None, first: str) -> NDArray[np.int32]:
    """Return the cells of the goals."""
    choice("first", first, FIRSTS)
    places = None if goals is None else list(goals)
    for place in places or ():
        if not grid.contains(place) or not grid.passable[place[1], place[0]]:
            raise InputError(f"goal {quoted(place)} is no free cell of the map")
    free = np.flatnonzero(grid.terrain.free)
    cells = free if places is None else np.array([grid.cell(place) for place in places], np.int64)
    if cells.size == 0 or _repeats(cells):
        raise InputError("goals must be at least one free cell, and none of them twice")
    if first == "sub" and cells.size * free.size > MOST_SUB_BYTES:
        gigabytes = cells.size * free.size / (1 << 30)
        raise InputError(f'goals are too many for first="sub": it would take {gigabytes:.0f} GB or more, at most 4 do')
    return cells.astype(np.int32)


def _grow_all(grid: Grid, cells: NDArray[np.int32], first: str) -> Trees:
    terrain, buffers = grid.terrain, make_tree_buffers(grid.terrain.free.size)
    free, nodes, parents, subs = terrain.free != 0, [], [], []
    for cell in cells.tolist():
        tree = grow(terrain, buffers, cell, first)
        nodes.append(tree.nodes)
        parents.append(tree.parents)
        if tree.sub is not None:
            subs.append(tree.sub[free])
    ends = np.cumsum([part.size for part in nodes], dtype=np.int64)
    kept = np.stack(subs) if subs else None
    return Trees(grid.digest, cells, ends, np.concatenate(nodes), np.concatenate(parents), kept)
