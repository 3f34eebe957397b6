"""Learned values behind one face: a dense array for one goal, or a small hash table for one of many episodes.

Kernels read with ``value_at`` and write with ``raise_value``; which of the two it is, the compiler knows by the type. A
cell that the table does not hold has its initial heuristic. Tables begin small, so that those of thousands of fresh
episodes fit into the cache, and grow within the room that they are given.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from rt_gym.budget import RAISES, raise_h
from rt_gym.grid import locate, span
from rt_gym.jit import kernel, typed

EMPTY = 0  # no cell: number 0 is the corner of the border
FRESH = 64  # entries of a fresh table

# Entries of Learned.state: how many places are in use as a table, and how many of them are taken.
PLACES, TAKEN = range(2)


class Learned(NamedTuple):
    """A hash table from cells to values.

    Attributes:
        cells, values: the entries; the first ``state[PLACES]`` places are the table, a power of two.
        old_cells, old_values: room for a table that is being enlarged; several tables may share it.
        state: int64[2], see above.
    """

    cells: NDArray[np.int32]
    values: NDArray[np.int64]
    old_cells: NDArray[np.int32]
    old_values: NDArray[np.int64]
    state: NDArray[np.int64]


@kernel(inline=True)
def forget_values(learned):
    """Make the table fresh."""
    learned.state[PLACES] = FRESH
    learned.state[TAKEN] = 0
    learned.cells[:FRESH] = EMPTY


@kernel(inline=True)
def home_of(learned, cell):
    """Return the first place where a cell may stand.

    Four neighbours in a row have four places in a row: a lookahead then reads half as many cache lines of the table.
    """
    c = np.int64(cell)
    return ((c >> 2) * 0x9E3779B1 >> 15 << 2 | c & 3) & (learned.state[PLACES] - 1)


@kernel(inline=True)
def place_of(learned, cell):
    """Return where the cell stands, or the empty place where it would."""
    mask, k = learned.state[PLACES] - 1, home_of(learned, cell)
    while learned.cells[k] != EMPTY and learned.cells[k] != cell:
        k = (k + 1) & mask
    return k


@kernel
def enlarge(learned):
    """Double the table within its arrays."""
    places = learned.state[PLACES]
    for k in range(places):
        learned.old_cells[k] = learned.cells[k]
        learned.old_values[k] = learned.values[k]
    learned.state[PLACES] = 2 * places
    learned.cells[: 2 * places] = EMPTY
    for k in range(places):
        if learned.old_cells[k] != EMPTY:
            j = place_of(learned, learned.old_cells[k])
            learned.cells[j] = learned.old_cells[k]
            learned.values[j] = learned.old_values[k]


@kernel(inline=True)
def hashed_value(learned, terrain, cell, t):
    """Return the learned value of a cell, or its heuristic, without the table of coordinates: see ``locate``."""
    k = place_of(learned, cell)
    if learned.cells[k] != EMPTY:
        return learned.values[k]
    x, y = locate(terrain, cell)
    goal_x, goal_y = locate(terrain, t)
    return span(terrain.metric, goal_x - x, goal_y - y)


@kernel
def raise_hashed(trip, learned, terrain, cell, t, value):
    """Raise the value of a cell, never lower it, and count the change.

    A table is enlarged when it is half full. Whoever owns the arrays sees to it that they are longer than that.
    """
    if value <= hashed_value(learned, terrain, cell, t):
        return
    k = place_of(learned, cell)
    if learned.cells[k] == EMPTY:
        if 2 * learned.state[TAKEN] >= learned.state[PLACES] and 2 * learned.state[PLACES] <= learned.cells.size:
            enlarge(learned)
            k = place_of(learned, cell)
        learned.cells[k] = cell
        learned.state[TAKEN] += 1
    learned.values[k] = value
    trip.tally[RAISES] += 1


def value_at(h: Any, terrain: Any, cell: int, t: int) -> Any:
    """Return the value of a cell towards ``t``."""
    return h[cell] if isinstance(h, np.ndarray) else hashed_value(h, terrain, cell, t)


def raise_value(trip: Any, h: Any, terrain: Any, cell: int, t: int, value: int) -> None:
    """Raise the value of a cell towards ``t``, never lower it, and count the change."""
    if isinstance(h, np.ndarray):
        raise_h(trip, h, cell, value)
    else:
        raise_hashed(trip, h, terrain, cell, t, value)


@typed(value_at)
def _value_at(h, terrain, cell, t):
    if isinstance(h, types.Array):
        return lambda h, terrain, cell, t: h[cell]
    return lambda h, terrain, cell, t: hashed_value(h, terrain, cell, t)


@typed(raise_value)
def _raise_value(trip, h, terrain, cell, t, value):
    if isinstance(h, types.Array):
        return lambda trip, h, terrain, cell, t, value: raise_h(trip, h, cell, value)
    return lambda trip, h, terrain, cell, t, value: raise_hashed(trip, h, terrain, cell, t, value)
