"""FRIT's tree: which way leads to the goal from every cell, and whether it still does.

On open ground the parent of a cell is the neighbour on a shortest way to the goal; that need not be stored. What is
stored are the parents that reconnections have set, and the colours of cells that were found to be cut off.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel, record
from rt_gym.pages import Paged, make_cells, read, reset_cells, write
from rt_gym.search.space import NONE
from rt_gym.terrain import column_and_row

# The colour of the current reconnection, whether there is one, and how many cells have a parent that was set.
TREE = record(colour=int, reconnecting=int, parents=int)


class IdealTree(NamedTuple):
    """The tree.

    Attributes:
        parent: uint8 per cell, 0 for the parent on open ground, else 1 + the direction of the one that was set.
        colour: int64 per cell, that of the last reconnection which has seen the cell cut off. Colours only grow.
        random: uint64[1], which of equally good parents a cell has on open ground; 0 for the first.
        state: TREE[1].
    """

    parent: NDArray[np.uint8] | Paged
    colour: NDArray[np.int64] | Paged
    random: NDArray[np.uint64]
    state: NDArray[np.record]


def make_tree(cells: int) -> IdealTree:
    """Return the tree of a map with this many cells, border included."""
    random, state = np.zeros(1, np.uint64), np.zeros(1, TREE)
    return IdealTree(make_cells(cells, np.uint8), make_cells(cells, np.int64), random, state)


def restore(tree: IdealTree, seed: int) -> None:
    """Let every cell have its parent on open ground again; seed 0 takes the first of equally good ones."""
    reset_cells(tree.parent, 0)
    if isinstance(tree.colour, Paged):
        reset_cells(tree.colour, 0)
    tree.random[0] = seed
    tree.state["reconnecting"] = tree.state["parents"] = 0


@kernel(inline=True)
def tails(random, cell):
    """Toss a coin for a cell, the same one each time: the steps of a xorshift generator."""
    x = np.uint64(cell) ^ random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    return x >> np.uint64(33) & np.uint64(1) != 0


@kernel(inline=True)
def ideal(terrain, tree, cell, t):
    """Return the direction of the neighbour with the least cost and heuristic on open ground, the first of equal ones.

    There are at most two that lead straight to the goal: along either axis or, with 8 neighbours, along the longer one
    and diagonally.
    """
    x, y = column_and_row(terrain, cell)
    to_x, to_y = column_and_row(terrain, t)
    flat, steep = np.int64(0 if to_x > x else 2), np.int64(1 if to_y > y else 3)
    wide, high = abs(to_x - x), abs(to_y - y)
    if wide == 0 or high == 0:
        return flat if high == 0 else steep
    if terrain.rule[0].connectivity == 4:
        first, second = min(flat, steep), max(flat, steep)
    else:
        second = np.int64(4 + np.int64(to_y < y) + 2 * np.int64(to_x < x))
        first = flat if wide > high else (steep if high > wide else second)
    return second if tree.random[0] != 0 and tails(tree.random, cell) else first


@kernel(inline=True)
def way(terrain, tree, cell, t):
    """Return the direction from a cell to its parent."""
    given = np.int64(read(tree.parent, cell))
    return given - 1 if given != 0 else ideal(terrain, tree, cell, t)


@kernel(inline=True)
def is_open(terrain, cell, d):
    """Whether one step is legal. The index of a diagonal holds its two cardinals, see ``exits``."""
    free, offset = terrain.free, terrain.offset
    if free[cell + offset[d]] == 0:
        return False
    if d < 4:
        return True
    sides = np.int64(free[cell + offset[0 if d < 6 else 2]]) + np.int64(free[cell + offset[1 + 2 * (d & 1)]])
    return sides >= 2 - terrain.rule[0].corner


@kernel(inline=True)
def open_way(terrain, tree, cell, t):
    """Return the direction from a cell to its parent, NONE where the step has been cut."""
    d = way(terrain, tree, cell, t)
    return d if is_open(terrain, cell, d) else np.int64(NONE)


@kernel
def in_tree(terrain, trip, tree, cell, t):
    """Whether parents lead from a cell to the goal. Cells on the way are painted, so that none is asked again."""
    colour = tree.state[0].colour
    while cell != t:
        if read(tree.colour, cell) == colour:
            return False
        write(tree.colour, cell, colour)
        d = open_way(terrain, tree, cell, t)
        if d == NONE:
            return False
        cell += terrain.offset[d]
        trip.meter[0].trace_steps += 1
    return True


@kernel
def connect(tree, space, w):
    """Let the path that was found, from the root of a search to slot ``w``, be part of the tree."""
    while space.parent[w] != NONE:
        u = np.int64(space.parent[w])
        cell = np.int64(space.cell[u])
        tree.state[0].parents += np.int64(read(tree.parent, cell) == 0)
        write(tree.parent, cell, np.uint8(space.via[w] + 1))
        w = u
    tree.state[0].reconnecting = 0
