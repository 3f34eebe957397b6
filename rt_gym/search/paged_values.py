"""Learned values for one goal on a large map: in pages, of which there is one wherever a value was raised.

Anywhere else the value is the heuristic, and nothing is stored.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel
from rt_gym.meter import MARK_BITS
from rt_gym.pages import RUN, SHIFT, Paged, drop_pages, is_large, make_cells, new_page, paged_entry
from rt_gym.terrain import Terrain, fill_h0, h0, open_distance


class PagedValues(NamedTuple):
    """Values in pages, and int64[1], the goal that they are about."""

    table: Paged
    goal: NDArray[np.int64]


def make_values(cells: int) -> Any:
    """Return values for a map with this many cells, border included: an array, or pages where the map is large."""
    if is_large(cells):
        return PagedValues(make_cells(cells, np.int64), np.zeros(1, np.int64))
    return np.empty(cells, np.int64)


def reset_values(h: Any, terrain: Terrain, t: int) -> None:
    """Let the value of every cell be the heuristic towards ``t``."""
    if isinstance(h, PagedValues):
        drop_pages(h.table)
        h.goal[0] = t
    else:
        fill_h0(terrain, t, h)


def count_raised(h: Any, terrain: Terrain, t: int, marks: NDArray[np.uint8]) -> int:
    """Return how many free cells have a value other than the heuristic: in pages, or where there are marks."""
    return int(count_in_pages(h, terrain) if isinstance(h, PagedValues) else count_marked(terrain, t, h, marks))


def dense_values(h: Any, terrain: Terrain) -> NDArray[np.int64]:
    """Return the value of every cell: the array itself or, of pages, a copy in an array."""
    if not isinstance(h, PagedValues):
        values: NDArray[np.int64] = h
        return values
    copy = np.empty(terrain.mask.size, np.int64)
    fill_h0(terrain, h.goal[0], copy)
    copy_pages(h.table, copy)
    return copy


def value_in_pages(h: PagedValues, terrain: Terrain, cell: int) -> int:
    """Return the value of a cell, in plain Python."""
    table = h.table
    if table.page[cell >> SHIFT] == 0:
        return open_distance(terrain, cell, int(h.goal[0]))
    return int(table.entry[(int(table.page[cell >> SHIFT]) << SHIFT) + cell % RUN])


@kernel
def copy_pages(table, out):
    """Write what the pages hold into an array with an entry per cell."""
    for k in range(1, table.state[0].pages + 1):
        first = np.int64(table.run[k]) << SHIFT
        for j in range(min(RUN, out.size - first)):
            out[first + j] = table.entry[(k << SHIFT) + j]


@kernel
def count_marked(terrain, t, h, marks):
    """Return how many free cells have a value other than the heuristic, of those that share a mark; see ``Trip``."""
    count = 0
    for k in range(marks.size):
        if marks[k] != 0:
            for cell in range(k << MARK_BITS, min(k + 1 << MARK_BITS, h.size)):
                count += (h[cell] != h0(terrain, cell, t)) & (terrain.free[cell] != 0)
    return count


@kernel
def count_in_pages(h, terrain):
    """Return how many free cells have a value other than the heuristic."""
    table, count = h.table, 0
    for k in range(1, table.state[0].pages + 1):
        first = np.int64(table.run[k]) << SHIFT
        for j in range(min(RUN, terrain.mask.size - first)):
            differs = table.entry[(k << SHIFT) + j] != h0(terrain, first + j, h.goal[0])
            count += differs & (terrain.free[first + j] != 0)
    return count


@kernel(inline=True)
def paged_value(h, terrain, cell):
    """Return the value of a cell."""
    if h.table.page[cell >> SHIFT] == 0:
        return h0(terrain, cell, h.goal[0])
    return h.table.entry[paged_entry(h.table, cell)]


@kernel
def set_paged_value(h, terrain, cell, value):
    """Set the value of a cell; those of its run, where they have no page yet, begin with the heuristic."""
    table, run = h.table, cell >> SHIFT
    if table.page[run] == 0:
        k = new_page(table, run)
        for j in range(RUN):
            table.entry[(k << SHIFT) + j] = h0(terrain, (run << SHIFT) + j, h.goal[0])
    table.entry[paged_entry(table, cell)] = value
