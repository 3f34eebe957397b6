"""The subgoal tree that an agent follows, and where it comes from: a file, trees that are given, or its own growing."""

import time
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.small_trees import led_on, representative, without_small_branches
from agents.knowledge.subgoal_tree import TreeBuffers, grow_tree, make_tree_buffers
from agents.knowledge.subgoals import Tree, Trees, grow, load_trees
from rt_gym.abstraction.regions import MAX_LEVEL
from rt_gym.errors import InputError, whole
from rt_gym.files import PathLike, shown
from rt_gym.grid import Grid
from rt_gym.jit import record
from rt_gym.search.space import NONE
from rt_gym.terrain import Terrain
from rt_gym.views import KernelView

MOST_KEPT = 100  # trees

# How many nodes there are, and the one to begin with, NONE for the nearest.
TREE = record(nodes=int, opening=int)


class GoalTree(NamedTuple):
    """The tree of one goal, as a plan works on it.

    Attributes:
        node, parent: int32 per node, see ``agents.knowledge.subgoals.Tree``.
        g: int64 per node, its distance to the goal; filled by the plan.
        number: int32 per cell, which node it is; 0 for the root and for all cells that are none. Filled by the plan.
        state: TREE[1].
    """

    node: NDArray[np.int32]
    parent: NDArray[np.int32]
    g: NDArray[np.int64]
    number: NDArray[np.int32]
    state: NDArray[np.record]


def make_goal_tree(cells: int) -> GoalTree:
    """Return arrays for a tree; ``cells`` is the size of the flat, bordered map."""
    return GoalTree(
        node=np.empty(cells, np.int32),
        parent=np.empty(cells, np.int32),
        g=np.empty(cells, np.int64),
        number=np.zeros(cells, np.int32),
        state=np.zeros(1, TREE),
    )


def enter_tree(arrays: GoalTree, tree: Tree, start: int) -> None:
    """Replace the tree in the arrays by another one. Where Sub is kept, it begins with Sub of the start, a cell."""
    nodes, state = tree.nodes.size, arrays.state[0]
    arrays.number[arrays.node[: state.nodes]] = 0
    arrays.node[:nodes], arrays.parent[:nodes] = tree.nodes, tree.parents
    state.nodes, state.opening = nodes, NONE if tree.sub is None else tree.sub[start]


class TimedTree(NamedTuple):
    """A tree, and how many seconds it took to grow; 0 if it was there already."""

    tree: Tree
    seconds: float


class TreeSource:
    """The trees of one agent.

    Args:
        trees: a file or trees to look the tree of a goal up in; None to grow and keep it.
        first: ``"sub"`` if Sub of every state is needed.
        least: how many states a branch of a tree must have, None for any.
        share: the level of the regions whose goals share a tree, None if each goal has its own.
    """

    def __init__(
        self, trees: Trees | PathLike | None, first: str, least: int | None = None, share: int | None = None
    ) -> None:
        self.trees, self.first = trees, first
        self.least = None if least is None else whole("least", least, 1)
        self.share = None if share is None else whole("share", share, 1, MAX_LEVEL)
        if (least is not None or share is not None) and (trees is not None or first == "sub"):
            raise InputError('least and share must be None where trees are given, and where first is "sub"')
        self._loaded: Trees | None = None
        self._grown: dict[tuple[str, int], Tree] = {}
        self._buffers: TreeBuffers | None = None

    def allocate(self, view: KernelView) -> None:
        """Allocate for maps of this size and compile the kernel, so that neither counts as the trees' time."""
        self._buffers = make_tree_buffers(view.terrain.mask.size)
        grow_tree(view.terrain, self._buffers, view.goal_cell)

    def find(self, view: KernelView, grid: Grid, midway: bool = False) -> TimedTree:
        """Return the tree of the goal on a map: one of those given, one grown before, or a new one.

        Midway through a problem the map may have been edited. Given trees are still of use then, but for Sub.
        """
        if self.trees is not None:
            if midway and self._loaded is not None and self._loaded.digest != grid.digest:
                return TimedTree(self._tree(self._loaded, view, None), 0.0)
            return TimedTree(self._given(self.trees, view, grid), 0.0)
        began, goal = time.perf_counter(), view.goal_cell
        key = grid.digest, goal if self.share is None else representative(grid, goal, self.share)
        known = key in self._grown
        if not known:
            self._grown = {**(self._grown if len(self._grown) < MOST_KEPT else {}), key: self._grow(view, key[1])}
        return TimedTree(led_on(self._grown[key], goal), 0.0 if known else time.perf_counter() - began)

    def _grow(self, view: KernelView, root: int) -> Tree:
        assert self._buffers is not None, "allocate has been called"
        tree = grow(view.terrain, self._buffers, root, self.first)
        return tree if self.least is None else without_small_branches(tree, self._buffers.sub, self.least)

    def _given(self, trees: Trees | PathLike, view: KernelView, grid: Grid) -> Tree:
        if self._loaded is None or self._loaded.digest != grid.digest:
            self._loaded = load_trees(trees, grid)
        tree, named = self._tree(self._loaded, view, view.terrain), _name(trees)
        if self.first == "sub" and tree.sub is None:
            raise InputError(f'{named}trees must keep Sub of every state for first="sub", and these do not')
        return tree if self.first == "sub" else tree._replace(sub=None)

    def _tree(self, trees: Trees, view: KernelView, terrain: Terrain | None) -> Tree:
        tree = trees.tree(view.goal_cell, terrain)
        if tree is None:
            raise InputError(f"{_name(self.trees)}trees must have one for the goal {view.goal}, and these have none")
        return tree


def _name(trees: Any) -> str:
    """Return the file that trees were read from, before what is wrong with them; of trees themselves, nothing."""
    return f"{shown(trees)}: " if isinstance(trees, (str, PurePath)) else ""
