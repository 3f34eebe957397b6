"""Smaller subgoal trees, and one tree for all goals of a region.

C. Hernández, J. A. Baier, "Fast Subgoaling for Pathfinding via Real-Time Search", ICAPS 2011, leave both to the future;
how it is done here is ours:
- ``least``: a branch that fewer states belong to is left out. LRTA* gets out of a small depression anyway.
- ``share``: the goals of a region, of this level of the clique abstraction, share the tree of its representative. It
  leads there, and from there on the goal is pursued.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.subgoal_tree import ROOT
from agents.knowledge.subgoals import Tree
from rt_gym.abstraction import Abstraction, abstract
from rt_gym.grid import Grid
from rt_gym.search.space import NONE


@lru_cache(maxsize=8)
def _regions(grid: Grid, level: int) -> Abstraction:
    return abstract(grid, "clique", level)


def representative(grid: Grid, goal: int, level: int) -> int:
    """Return the cell whose tree all goals of a region share; a goal that is blocked has none but its own."""
    found = _regions(grid, level)
    region = int(found.region[goal])
    return goal if region == NONE else int(found.representatives[region])


def without_small_branches(tree: Tree, sub: NDArray[np.int32], least: int) -> Tree:
    """Return a tree without the branches that fewer than ``least`` states belong to; ``sub`` is Sub of every cell."""
    states = np.bincount(sub[sub != NONE], minlength=tree.nodes.size)
    for k in range(tree.nodes.size - 1, ROOT, -1):  # a parent comes before its children
        states[tree.parents[k]] += states[k]
    kept = states >= least
    kept[ROOT] = True
    number = (np.cumsum(kept) - 1).astype(np.int32)
    parents = number[tree.parents[kept]]
    parents[ROOT] = NONE
    return Tree(tree.nodes[kept], parents, None)


def led_on(tree: Tree, goal: int) -> Tree:
    """Return the tree of another cell, led on to the goal: its root comes before the goal, which is the new root.

    If the goal is a node of it, the children of that node are the goal's.
    """
    if tree.nodes[ROOT] == goal:
        return tree
    others = tree.nodes != goal
    number = np.where(others, np.cumsum(others), ROOT).astype(np.int32)
    parents = np.where(tree.parents == NONE, ROOT, number[tree.parents])[others]
    return Tree(
        nodes=np.concatenate([[goal], tree.nodes[others]]).astype(np.int32),
        parents=np.concatenate([[NONE], parents]).astype(np.int32),
        sub=None,
    )
