"""Memory that grows with what is touched, not with the map: for maps too large to keep something for every cell.

What is kept per cell is then kept in pages, each for a run of 32 cells of a row. A page is given to a run when
something is first written there; until then all its cells have the same value, that of page 0. Arrays that may become
as long as the map, but seldom do, are taken from the system by ``reserve``: where nothing was written they take no
memory.

On other maps one array with an entry per cell is faster. Kernels read and write both with ``read`` and ``write``.
"""

import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from platform import machine
from threading import local
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rt_gym.jit import is_array, kernel, record, typed

LARGE = 1 << 19  # cells, border included, of the largest map on which agents keep something for every cell

SHIFT = 5
RUN = 1 << SHIFT  # how many cells share a page
INSIDE = RUN - 1

# How many pages are in use, page 0 not counted.
USED = record(pages=int)

_USUAL = ("x86_64", "aarch64")
# What is reserved is not counted against the memory of the machine before it is touched. Python names that flag of the
# system from version 3.13 on.
_UNCOUNTED = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" and machine() in _USUAL else 0)
_PRIVATE: dict[str, Any] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _UNCOUNTED} if hasattr(mmap, "MAP_PRIVATE") else {}
)


class Paged(NamedTuple):
    """One entry per cell of a large map.

    Attributes:
        page: int32 per run of cells, its page; 0 if it has none.
        run: int32 per page, the run that it was given to.
        entry: the pages, one after the other; page 0 is never written to.
        state: USED[1].
    """

    page: NDArray[np.int32]
    run: NDArray[np.int32]
    entry: NDArray[Any]
    state: NDArray[np.record]

    @property
    def held(self) -> int:
        """How many bytes the pages in use take, and what leads to them."""
        return int(self.state[0].pages) * (RUN * self.entry.itemsize + self.run.itemsize + self.page.itemsize)


_wanted = local()


@contextmanager
def in_pages() -> Iterator[None]:
    """Keep in pages whatever this thread makes meanwhile: many units on one map are as large as a large map."""
    before = getattr(_wanted, "pages", False)
    _wanted.pages = True
    try:
        yield
    finally:
        _wanted.pages = before


def is_large(cells: int) -> bool:
    """Whether what agents keep on a map with this many cells, border included, is kept in pages."""
    return cells > LARGE or getattr(_wanted, "pages", False)


def reserve(count: int, *kinds: DTypeLike) -> list[NDArray[Any]]:
    """Return arrays of ``count`` zeros, one of each kind, that take memory only where they are written to.

    Raises:
        MemoryError: if not even the addresses for so much memory are to be had.
    """
    sizes = [-(-count * np.dtype(kind).itemsize // mmap.PAGESIZE) * mmap.PAGESIZE for kind in kinds]
    try:
        memory = mmap.mmap(-1, max(1, sum(sizes)), **_PRIVATE)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"no room for {count} entries of each of {len(kinds)} arrays") from error
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    begin = accumulate(sizes, initial=0)
    return [np.frombuffer(memory, kind, count, offset) for kind, offset in zip(kinds, begin, strict=False)]


def arrays_for(cells: int, count: int, *kinds: DTypeLike) -> list[NDArray[Any]]:
    """Return arrays of ``count`` entries whose content is undefined, for a map with this many cells."""
    return reserve(count, *kinds) if is_large(cells) else [np.empty(count, kind) for kind in kinds]


def make_cells(cells: int, dtype: DTypeLike, value: int = 0, per_cell: int = 1) -> Any:
    """Return so many entries per cell with the same ``value`` each: an array, or pages where the map is large."""
    if not is_large(cells):
        return np.full(cells * per_cell, value, dtype)
    runs = -(-cells * per_cell // RUN)
    (page, run), (entry,) = reserve(runs + 1, np.int32, np.int32), reserve((runs + 1) * RUN, dtype)
    entry[:RUN] = value
    return Paged(page, run, entry, np.zeros(1, USED))


def _is_reserved(array: NDArray[Any]) -> bool:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return isinstance(getattr(array.base, "obj", None), mmap.mmap)  # what NumPy holds is a view of that memory


class Holding:
    """How many bytes nested tuples of arrays really hold, to be asked again and again.

    A tuple with an attribute ``held`` knows that itself, but for other such tuples in it: its arrays are longer than
    what is used of them. Everything is counted once; what is reserved outside of such a tuple is hardly touched.
    """

    def __init__(self, parts: Any) -> None:
        self.parts = parts
        knowing: dict[int, Any] = {}
        arrays: dict[int, int] = {}
        todo = [parts]
        while todo:
            part = todo.pop()
            if hasattr(part, "held"):
                knowing[id(part)] = part
                todo.extend(inner for inner in part if hasattr(inner, "held"))
            elif isinstance(part, tuple):
                todo.extend(part)
            elif isinstance(part, np.ndarray) and not _is_reserved(part):
                arrays[id(part)] = part.nbytes
        self._knowing, self._fixed = tuple(knowing.values()), sum(arrays.values())

    @property
    def bytes(self) -> int:
        """What is held now."""
        return self._fixed + sum([part.held for part in self._knowing])  # a generator takes twice as long


@kernel
def drop_pages(table):
    """Take its page from every run."""
    for k in range(1, table.state[0].pages + 1):
        table.page[table.run[k]] = 0
    table.state[0].pages = 0


@kernel
def new_page(table, run):
    """Give the next page to a run, with the entries of page 0, and return it."""
    table.state[0].pages += 1
    k = table.state[0].pages
    table.page[run] = k
    table.run[k] = run
    for j in range(RUN):
        table.entry[(k << SHIFT) + j] = table.entry[j]
    return k


@kernel(inline=True)
def paged_entry(table, cell):
    """Return where the entry of a cell stands; on page 0 if its run has no page."""
    return (np.int64(table.page[cell >> SHIFT]) << SHIFT) + (cell & INSIDE)


@kernel(inline=True)
def paged_write(table, cell, value):
    """Write the entry of a cell, on a new page if need be."""
    run = cell >> SHIFT
    if table.page[run] == 0:
        new_page(table, run)
    table.entry[paged_entry(table, cell)] = value


def read(table: Any, cell: int) -> Any:
    """Return the entry of a cell."""
    return table.entry[paged_entry(table, cell)] if isinstance(table, Paged) else table[cell]


def write(table: Any, cell: int, value: Any) -> None:
    """Set the entry of a cell."""
    if isinstance(table, Paged):
        paged_write(table, cell, value)
    else:
        table[cell] = value


def reset_cells(table: Any, value: Any) -> None:
    """Let every cell have the ``value`` that the table was made with."""
    if isinstance(table, Paged):
        drop_pages(table)
    else:
        table[:] = value


@typed(read)
def _read(table, cell):
    if is_array(table):
        return lambda table, cell: table[cell]
    return lambda table, cell: table.entry[paged_entry(table, cell)]


@typed(write)
def _write(table, cell, value):
    def write_array(table, cell, value):
        table[cell] = value

    def write_paged(table, cell, value):
        paged_write(table, cell, value)

    return write_array if is_array(table) else write_paged


@typed(reset_cells)
def _reset_cells(table, value):
    def reset_array(table, value):
        table[:] = value

    def reset_paged(table, value):
        drop_pages(table)

    return reset_array if is_array(table) else reset_paged
