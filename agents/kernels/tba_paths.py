"""The two paths of TBA*, pathNew and pathFollow, with a membership test in constant time."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel, record
from rt_gym.search.space import NONE

# How many cells a path has; its edition; the last place that is not yet passed, or NONE; the g of its end.
PATH = record(count=int, edition=int, front=int, g=int)


class Paths(NamedTuple):
    """Two paths, each from its end backwards: one is followed, the other one is being traced.

    Attributes:
        cell: int32[2, n], the cells, the end first.
        at: int64[2, n], per cell of the map, edition * 2**32 + place.
        info: PATH[2].
    """

    cell: NDArray[np.int32]
    at: NDArray[np.int64]
    info: NDArray[np.record]


def make_paths(cells: int) -> Paths:
    """Return two empty paths on a map with this many cells."""
    return Paths(np.empty((2, cells), np.int32), np.zeros((2, cells), np.int64), np.zeros(2, PATH))


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
    paths.at[which, cell] = (paths.info[which].edition << 32) + place


@kernel(inline=True)
def place_of(paths, which, cell):
    """Return the place of a cell on a path, a negative number if it is not there."""
    return paths.at[which, cell] - (paths.info[which].edition << 32)
