"""Grids: which cells are free, which moves leave a cell, what a move costs.

Kernels address a cell by one flat index into arrays that carry a blocked border of one cell, so that no kernel ever
tests for the edge of the map. People address it by ``(x, y)``, x to the right, y down, origin at the top left.
``Terrain`` is a grid as kernels see it; the corner rule is baked into its ``mask``, one bit per direction.
"""

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rt_gym.cost import DIAGONAL, STRAIGHT, to_float
from rt_gym.errors import InputError, choice, quoted
from rt_gym.overlays import Original
from rt_gym.pages import is_large
from rt_gym.sizes import require_memory, size_problem
from rt_gym.terrain import (
    CORNERS,
    DIRECTIONS,
    METRIC,
    RULE,
    STEPS,
    Position,
    Terrain,
    fill_components,
    fill_masks,
    positions,
)

_PER_CELL = 5  # bytes, while a terrain is made; three of them stay
_PER_LABEL = 8  # likewise; four stay


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that cannot be written to, nor made writeable: its memory is a ``bytes`` object."""
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)


class Grid:
    """A map with its rules of movement. A value: it never changes, and equal content compares equal.

    Args:
        passable: H x W array, true where a cell is free.
        connectivity: 8, or 4 for straight moves only.
        cost: ``"octile"`` (a diagonal step costs the square root of two) or ``"unit"`` (every step costs one).
        corner: a diagonal step needs both cells beside it free (``"strict"``), ``"one"`` of them, or none (``"free"``).
        name: what tables and messages call the map.

    Example:
        >>> grid = Grid([[1, 1, 0], [0, 1, 1]])
        >>> grid.width, grid.height, grid.free_cells
        (3, 2, 4)
        >>> grid.neighbours((1, 0))
        [('S', (1, 1), 1.0), ('W', (0, 0), 1.0)]
    """

    def __init__(
        self,
        passable: ArrayLike,
        connectivity: int = 8,
        cost: str = "octile",
        corner: str = "strict",
        name: str = "",
    ) -> None:
        try:
            array = np.asarray(passable)
        except (ValueError, TypeError):
            raise InputError("a grid needs rows of equal length") from None
        if array.dtype.kind not in "biuf":
            raise InputError(f"a grid needs numbers or booleans, not {array.dtype}")
        if array.ndim != 2 or array.size == 0:
            raise InputError(f"a grid needs a two-dimensional array of at least one cell, not shape {array.shape}")
        height, width = array.shape
        if problem := size_problem(width, height):
            raise InputError(f"a grid of {width} x {height}: {problem}")
        if not isinstance(connectivity, (int, np.integer)) or connectivity not in (4, 8):
            raise InputError(f"connectivity must be 4 or 8, not {quoted(connectivity)}")
        choice("cost", cost, ("octile", "unit"))
        choice("corner", corner, CORNERS)
        if not isinstance(name, str):
            raise InputError(f"name must be a text, not {quoted(name)}")
        self.passable: NDArray[np.bool_] = frozen(_truth(array))
        self.width, self.height = int(width), int(height)
        self.stride = self.width + 2
        self.connectivity, self.cost, self.corner, self.name = int(connectivity), cost, corner, name
        self.searched = 0  # expansions to find out what is connected, see rt_gym.search.astar

    @cached_property
    def terrain(self) -> Terrain:
        """The whole map as kernels see it. All agents share its arrays, so nothing can write to them."""
        return self._as_terrain(self.passable)

    @cached_property
    def open_ground(self) -> Terrain:
        """The same map without any obstacle: what unseen ground is taken for."""
        return self._as_terrain(np.ones_like(self.passable))

    def believed(self, in_fog: bool) -> tuple[NDArray[np.uint8], ...]:
        """Return ``mask``, ``free`` and ``known`` of the terrain as an agent believes them to be at first."""
        if not in_fog:
            return self.terrain.mask, self.terrain.free, self.terrain.known
        return self.open_ground.mask, self.open_ground.free, self._unseen

    @cached_property
    def _unseen(self) -> NDArray[np.uint8]:
        """``known`` where nothing has been seen."""
        return frozen(np.zeros_like(self.open_ground.known))

    @cached_property
    def known_belief(self) -> Original:
        """What is believed of a known map at first, to make copies of that take memory where they are written to."""
        return Original(*self.believed(in_fog=False))

    @cached_property
    def fog_belief(self) -> Original:
        """The same in fog."""
        return Original(*self.believed(in_fog=True))

    @cached_property
    def true_cells(self) -> Original:
        """The same of ``terrain.free``."""
        return Original(self.terrain.free)

    def _as_terrain(self, passable: NDArray[np.bool_]) -> Terrain:
        height, width = self.height + 2, self.stride
        require_memory("the arrays", height * width, _PER_CELL)
        free = np.zeros((height, width), np.uint8)
        free[1:-1, 1:-1] = passable
        step = STRAIGHT if self.cost == "unit" else DIAGONAL
        terrain = Terrain(
            mask=np.zeros(height * width, np.uint8),
            free=free.ravel(),
            known=np.frombuffer(b"\1" * (height * width), np.uint8),
            xy=None if is_large(height * width) else coordinates(width, height),
            offset=np.array([x + y * width for x, y in STEPS], np.int64),
            cost=np.array([STRAIGHT] * 4 + [step] * 4, np.int64),
            metric=np.array([(STRAIGHT, 2 * STRAIGHT if self.connectivity == 4 else step)], METRIC),
            rule=np.array([(self.connectivity, CORNERS.index(self.corner))], RULE),
        )
        fill_masks(terrain, self.stride)
        return Terrain._make(map(_once_frozen, terrain))

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The component of every cell of the flat, bordered array, counted from 1; 0 where blocked."""
        require_memory("the components", self.terrain.free.size, _PER_LABEL)
        label = np.zeros(self.terrain.free.size, np.int32)
        fill_components(self.terrain, label)
        return frozen(label)

    @property
    def is_labelled(self) -> bool:
        """Whether ``labels`` have been asked for before."""
        return "labels" in vars(self)

    @cached_property
    def digest(self) -> str:
        """A hash of the cells and the rules, to tell whether a stored file belongs to this map."""
        rules = f"{self.width} {self.height} {self.connectivity} {self.cost} {self.corner} "
        return hashlib.sha256(rules.encode() + np.packbits(self.passable).tobytes()).hexdigest()

    @property
    def actions(self) -> int:
        """How many directions there are: 8, or 4."""
        return self.connectivity

    @cached_property
    def free_cells(self) -> int:
        """How many cells are free."""
        return int(np.count_nonzero(self.passable))

    def contains(self, position: Position) -> bool:
        """Whether a position lies on the map."""
        x, y = position
        return 0 <= x < self.width and 0 <= y < self.height

    def cell(self, position: Position) -> int:
        """Return the flat index of a position."""
        x, y = position
        return (int(y) + 1) * self.stride + int(x) + 1

    def position(self, cell: int) -> Position:
        """Return the position of a flat index."""
        y, x = divmod(int(cell), self.stride)
        return x - 1, y - 1

    def positions(self, cells: NDArray[Any]) -> NDArray[np.int32]:
        """Return the positions of many flat indices as an n x 2 array."""
        return positions(self.terrain, cells)

    def inner(self, flat: NDArray[Any]) -> NDArray[Any]:
        """Return a flat, bordered array as an H x W view without the border."""
        return flat.reshape(self.height + 2, self.stride)[1:-1, 1:-1]

    def neighbours(self, position: Position) -> list[tuple[str, Position, float]]:
        """Return the legal moves from a position: direction, where it leads, what it costs."""
        bits, (x, y) = int(self.terrain.mask[self.cell(position)]), position
        return [
            (DIRECTIONS[d], (x + dx, y + dy), to_float(int(self.terrain.cost[d])))
            for d, (dx, dy) in enumerate(STEPS)
            if bits >> d & 1
        ]

    def replace(self, **changes: Any) -> "Grid":
        """Return a copy with other rules, cells or name."""
        fields = {key: getattr(self, key) for key in ("passable", "connectivity", "cost", "corner", "name")}
        return Grid(**(fields | changes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Grid":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        rules = self.connectivity, self.cost, self.corner, self.name
        return _unpacked, (np.packbits(self.passable), self.passable.shape, *rules)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<Grid{name} {self.width} x {self.height}, {self.connectivity} neighbours, {self.cost}, {self.corner}>"


def _unpacked(bits: NDArray[np.uint8], shape: tuple[int, int], *rules: Any) -> Grid:
    """Return the grid whose cells were packed, eight in a byte, to be sent to another process."""
    return Grid(np.unpackbits(bits, count=shape[0] * shape[1]).reshape(shape).view(bool), *rules)


def _once_frozen(array: Any) -> Any:
    """Return a copy as ``frozen`` does, unless there is nothing to copy or the array is frozen already."""
    return array if array is None or not array.flags.writeable else frozen(array)


def coordinates(width: int, height: int) -> NDArray[np.int32]:
    """Return column and row of every cell of a bordered map of this size."""
    xy = np.empty((height, width, 2), np.int32)
    xy[..., 0] = np.arange(-1, width - 1)
    xy[..., 1] = np.arange(-1, height - 1)[:, None]
    return xy.ravel()


def _truth(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Return an array of zeros and ones as truth values."""
    if cells.dtype.kind != "b" and (wrong := (cells != 0) & (cells != 1)).any():
        y, x = map(int, np.unravel_index(wrong.argmax(), wrong.shape))
        raise InputError(f"the cell at ({x}, {y}) is {cells[y, x]}, not 0 (blocked) or 1 (free)")
    return cells.astype(bool, copy=False)
