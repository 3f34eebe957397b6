"""The two paths of TBA*, pathNew and pathFollow, with a membership test in constant time."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel, record
from rt_gym.pages import Paged, arrays_for, drop_pages, make_cells, read, write
from rt_gym.search.space import NONE

# How many cells a path has; its edition; the last place that is not yet passed, or NONE; the g of its end.
PATH = record(count=int, edition=int, front=int, g=int)


class Paths(NamedTuple):
    """Two paths, each from its end backwards: one is followed, the other one is being traced.

    Attributes:
        cell: int32[2, n], the cells, the end first.
        at: int64, two per cell of the map, edition * 2**32 + place on the one path and on the other.
        info: PATH[2].
    """

    cell: NDArray[np.int32]
    at: NDArray[np.int64] | Paged
    info: NDArray[np.record]

    @property
    def held(self) -> int:
        """How many bytes the cells of both paths take, and what says where they are if that is not in pages."""
        at = 0 if isinstance(self.at, Paged) else self.at.nbytes
        return at + self.cell.itemsize * int(self.info["count"].sum())


def make_paths(cells: int) -> Paths:
    """Return two empty paths on a map with this many cells."""
    return Paths(
        cell=arrays_for(cells, 2 * cells, np.int32)[0].reshape(2, cells),
        at=make_cells(cells, np.int64, per_cell=2),
        info=np.zeros(2, PATH),
    )


def forget_paths(paths: Paths) -> None:
    """Let go of the pages of the last problem; editions only grow, so there is nothing to clear."""
    if isinstance(paths.at, Paged):
        drop_pages(paths.at)


@kernel(inline=True)
def clear(paths, which):
    """Make a path empty."""
    info = paths.info[which]
    info.count = 0
    info.g = 0
    info.front = NONE
    info.edition += 1


@kernel(inline=True)
def put(paths, which, place, cell):
    """Enter a cell at a place of a path."""
    paths.cell[which, place] = cell
    write(paths.at, 2 * cell + which, (paths.info[which].edition << 32) + place)


@kernel(inline=True)
def place_of(paths, which, cell):
    """Return the place of a cell on a path, a negative number if it is not there."""
    return read(paths.at, 2 * cell + which) - (paths.info[which].edition << 32)
