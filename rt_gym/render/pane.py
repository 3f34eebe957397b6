"""Which cells of a map are shown, and where in the picture.

A picture of a map is made of tiles. While the cells shown fit, a tile is a cell, enlarged a whole number of times; when
they do not, a tile is a pixel that stands for several cells.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.terrain import Position


@dataclass(frozen=True)
class Pane:
    """A rectangle of cells and the tiles it is drawn with.

    Attributes:
        left, top: the first cell.
        columns, rows: how many cells are shown.
        across, down: how many tiles there are.
        side: pixels along the side of a tile.
    """

    left: int
    top: int
    columns: int
    rows: int
    across: int
    down: int
    side: int

    @property
    def width(self) -> int:
        """Pixels from left to right."""
        return self.across * self.side

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return self.down * self.side

    @property
    def shrunk(self) -> bool:
        """Whether a tile stands for several cells."""
        return (self.across, self.down) != (self.columns, self.rows)

    def cut(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return the part of an H x W array that is shown."""
        return cells[self.top : self.top + self.rows, self.left : self.left + self.columns]

    def inside(self, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which positions are shown."""
        x, y = positions.T - np.array([[self.left], [self.top]])
        return (x >= 0) & (x < self.columns) & (y >= 0) & (y < self.rows)

    def tiles(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the column and the row of every position's tile, counted on beyond the edges."""
        first, tiles, cells = np.array([[self.left, self.top], [self.across, self.down], [self.columns, self.rows]])
        return (positions - first) * tiles // cells

    def index(self, positions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return an index into an array of tiles: the tiles of the positions that are shown."""
        column, row = self.tiles(positions[self.inside(positions)]).T
        return row, column

    def pixels(self, positions: NDArray[Any]) -> NDArray[np.float64]:
        """Return the x and y of the middle of every position, in pixels."""
        scale = np.array([self.width / self.columns, self.height / self.rows])
        return (positions - np.array([self.left, self.top]) + 0.5) * scale

    def gather(self, cells: NDArray[Any], combine: Callable[..., NDArray[Any]]) -> NDArray[Any]:
        """Return an H x W array as one value per tile, with the values of several cells combined."""
        shown = self.cut(cells)
        if not self.shrunk:
            return shown
        return _fold(_fold(shown, self.down, combine).T, self.across, combine).T

    def counts(self) -> NDArray[np.float32]:
        """Return how many cells each tile stands for."""
        across, down = np.diff(_edges(self.columns, self.across)), np.diff(_edges(self.rows, self.down))
        return np.multiply.outer(down, across).astype(np.float32)


def fit(columns: int, rows: int, width: int, height: int) -> tuple[int, int, int]:
    """Return how many tiles across and down, and of which side, show these columns and rows within a size in pixels."""
    if columns <= width and rows <= height:
        return columns, rows, min(width // columns, height // rows)
    if width * rows <= height * columns:
        return width, max(1, rows * width // columns), 1
    return max(1, columns * height // rows), height, 1


def make_pane(shape: tuple[int, ...], centre: Position, zoom: int | None, width: int, height: int) -> Pane:
    """Return the pane for the whole map, or for ``zoom`` x ``zoom`` cells around a position, in at most this size."""
    rows, columns = shape if zoom is None else (min(zoom, shape[0]), min(zoom, shape[1]))
    left = min(max(centre[0] - columns // 2, 0), shape[1] - columns)
    top = min(max(centre[1] - rows // 2, 0), shape[0] - rows)
    return Pane(left, top, columns, rows, *fit(columns, rows, width, height))


def _edges(length: int, parts: int) -> NDArray[np.int64]:
    """Return where each of ``parts`` almost equal parts begins, and the end; cell i is in part i * parts // length."""
    return -(-np.arange(parts + 1) * length // parts)


def _fold(cells: NDArray[Any], parts: int, combine: Callable[..., NDArray[Any]]) -> NDArray[Any]:
    """Combine groups of neighbouring rows. Far faster than ``reduceat``, because whole rows are combined at once."""
    edges = _edges(len(cells), parts)
    begin, end = edges[:-1], edges[1:]
    folded = cells[begin]
    for step in range(1, int((end - begin).max())):
        longer = np.flatnonzero(begin + step < end)
        folded[longer] = combine(folded[longer], cells[begin[longer] + step])
    return folded
