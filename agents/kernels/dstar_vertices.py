"""The vertices of D* Lite: a record for every cell, in pages where the map is large.

A vertex without a page has infinite values. ``queue`` is the ``Queue`` of ``agents.kernels.dstar_queue``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF
from rt_gym.jit import is_none, kernel, type_of_part, typed
from rt_gym.pages import RUN, SHIFT, Paged, drop_pages, is_large, make_cells, new_page, paged_entry
from rt_gym.terrain import CELL_BITS, column_and_row

# A record of NumPy's type `record` has its fields as attributes in plain Python too.
VERTEX = np.dtype((np.record, [("g", "i8"), ("rhs", "i8"), ("after", "u4"), ("ahead", "i4"), ("x", "i4"), ("y", "i4")]))

FEW = 16  # touched vertices are forgotten one by one if at most one in sixteen was

# A heap's tie ends with the cell, and before that come four bits that a seed makes of the cell.
SMALL = (1 << 22) - 1
_LARGE = (1 << CELL_BITS) - 1


def make_vertices(cells: int) -> tuple[NDArray[np.record], Paged | None]:
    """Return the vertices of a map with this many cells, all values infinite, and their pages if it is large."""
    pages = make_cells(cells, VERTEX) if is_large(cells) else None
    vertex = _aligned(cells) if pages is None else pages.entry
    untouched = vertex if pages is None else vertex[:RUN]
    untouched["g"] = untouched["rhs"] = INF
    return vertex, pages


def _aligned(cells: int) -> NDArray[np.record]:
    """Return vertices none of which lies across two lines of the cache."""
    memory = np.zeros((cells + 1) * VERTEX.itemsize, np.uint8)
    skip = -memory.ctypes.data % VERTEX.itemsize
    return memory[skip : skip + cells * VERTEX.itemsize].view(VERTEX)


def at(queue: Any, u: int) -> Any:
    """Return where in ``queue.vertex`` a vertex stands: on page 0, which is not to be written to, if it has no page."""
    return u if queue.pages is None else paged_entry(queue.pages, u)


def own(queue: Any, u: int) -> None:
    """See to it that a vertex can be written to."""
    if queue.pages is not None:
        own_page(queue.pages, u)


def coordinates(queue: Any, terrain: Any, u: int) -> Any:
    """Return column and row of a vertex."""
    if queue.pages is None:
        return np.int64(queue.vertex[u].x), np.int64(queue.vertex[u].y)
    return column_and_row(terrain, u)


def cell_mask(queue: Any) -> Any:
    """Return the bits of a tie that hold the cell."""
    return SMALL if queue.pages is None else _LARGE


def cost_from(queue: Any, u: int) -> int:
    """Return the g of a vertex, in plain Python."""
    place = u if queue.pages is None else (int(queue.pages.page[u >> SHIFT]) << SHIFT) + u % RUN
    return int(queue.vertex[place].g)


@kernel(inline=True)
def own_page(pages, u):
    """Give a page to the run of a vertex that has none."""
    if pages.page[u >> SHIFT] == 0:
        new_page(pages, u >> SHIFT)


def _is_paged(queue: Any) -> bool:
    return not is_none(type_of_part(queue, "pages"))


@typed(at)
def _at(queue, u):
    return (lambda queue, u: paged_entry(queue.pages, u)) if _is_paged(queue) else lambda queue, u: u


@typed(own)
def _own(queue, u):
    return (lambda queue, u: own_page(queue.pages, u)) if _is_paged(queue) else lambda queue, u: None


@typed(coordinates)
def _coordinates(queue, terrain, u):
    if _is_paged(queue):
        return lambda queue, terrain, u: column_and_row(terrain, u)
    return lambda queue, terrain, u: (np.int64(queue.vertex[u].x), np.int64(queue.vertex[u].y))


@typed(cell_mask)
def _cell_mask(queue):
    return (lambda queue: _LARGE) if _is_paged(queue) else lambda queue: SMALL


@kernel
def clear_touched(queue):
    """Make all values infinite.

    After a search of a small part of the map only that part is cleared. Otherwise all vertices are, in order: for many
    vertices that is faster, and it brings them into the cache for the next search.
    """
    vertex, listed = queue.vertex, queue.state[0].touched <= queue.touched.size
    for k in range(queue.state[0].touched if listed else vertex.size):
        u = np.int64(queue.touched[k]) if listed else k
        vertex[u].g = INF
        vertex[u].rhs = INF


def make_infinite(queue: Any) -> None:
    """Make all values infinite; pages are simply dropped."""
    if queue.pages is None:
        clear_touched(queue)
    else:
        drop_pages(queue.pages)


@typed(make_infinite)
def _make_infinite(queue):
    return (lambda queue: drop_pages(queue.pages)) if _is_paged(queue) else lambda queue: clear_touched(queue)
