"""Grids: which cells are free, which moves leave a cell, what a move costs.

Kernels address a cell by one flat index into arrays that carry a blocked border of one cell, so that no kernel ever
tests for the edge of the map. People address it by ``(x, y)``, x to the right, y down, origin at the top left.
``Terrain`` is a grid as kernels see it; the corner rule is baked into its ``mask``, one bit per direction.
"""

import hashlib
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rt_gym.cost import DIAGONAL, STRAIGHT, to_float
from rt_gym.errors import InputError, quoted
from rt_gym.jit import kernel, record

DIRECTIONS = ("E", "S", "W", "N", "SE", "NE", "SW", "NW")
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
OPPOSITE = (2, 3, 0, 1, 7, 6, 5, 4)

MAX_CELLS = 1 << 22  # the cost of every shortest path then stays below cost.INF

Position = tuple[int, int]

# What the heuristic charges per straight and per diagonal step; the connectivity and the index of the corner rule.
METRIC = record(per_straight=int, per_diagonal=int)
RULE = record(connectivity=int, corner=int)


class Terrain(NamedTuple):
    """What kernels know of a map; the flat arrays have one entry per cell, border included.

    Attributes:
        mask: uint8, bit ``d`` is set where a move in direction ``d`` is legal.
        free: uint8, 1 where the cell is (believed) free.
        known: uint8, 1 where the cell has been seen.
        xy: int32, two entries per cell, its column and row.
        offset: int64[8], what to add to a cell to step in direction ``d``.
        cost: int64[8], exact cost of a step in direction ``d``.
        metric: METRIC[1], what the heuristic charges per step.
        rule: RULE[1], connectivity and corner rule (index into ``CORNERS``).
    """

    mask: NDArray[np.uint8]
    free: NDArray[np.uint8]
    known: NDArray[np.uint8]
    xy: NDArray[np.int32]
    offset: NDArray[np.int64]
    cost: NDArray[np.int64]
    metric: NDArray[np.record]
    rule: NDArray[np.record]


CORNERS = ("strict", "one", "free")


@kernel
def exits(terrain, cell):
    """Return the legal moves out of ``cell``, one bit per direction, from which cells are free.

    The index of a diagonal holds its two cardinals: SE = 4 lies between E and S, NE = 5 between E and N, and so on.
    """
    free, offset = terrain.free, terrain.offset
    if free[cell] == 0:
        return np.uint8(0)
    east = np.int64(free[cell + offset[0]])
    south = np.int64(free[cell + offset[1]])
    west = np.int64(free[cell + offset[2]])
    north = np.int64(free[cell + offset[3]])
    bits = east | south << 1 | west << 2 | north << 3
    if terrain.rule[0].connectivity == 8:
        needed = 2 - terrain.rule[0].corner
        if free[cell + offset[4]] != 0 and east + south >= needed:
            bits |= 16
        if free[cell + offset[5]] != 0 and east + north >= needed:
            bits |= 32
        if free[cell + offset[6]] != 0 and west + south >= needed:
            bits |= 64
        if free[cell + offset[7]] != 0 and west + north >= needed:
            bits |= 128
    return np.uint8(bits)


@kernel
def fill_masks(terrain, stride):
    """Compute ``terrain.mask`` of every inner cell in place."""
    for cell in range(stride, terrain.mask.size - stride):
        terrain.mask[cell] = exits(terrain, cell)


@kernel
def set_free(terrain, cell, free):
    """Make ``cell`` free (1) or blocked (0) and mend the masks of the nine cells that this can touch."""
    terrain.free[cell] = free
    terrain.mask[cell] = exits(terrain, cell)
    for d in range(8):
        near = cell + terrain.offset[d]
        if terrain.free[near] != 0:
            terrain.mask[near] = exits(terrain, near)


@kernel(inline=True)
def span(metric, dx, dy):
    """Return the distance over so many columns and rows of open ground, at ``metric``'s prices per step."""
    low = min(abs(dx), abs(dy))
    return (max(abs(dx), abs(dy)) - low) * metric[0].per_straight + low * metric[0].per_diagonal


@kernel(inline=True)
def gap(xy, metric, a, b):
    """Return the distance of two cells on open ground, at ``metric``'s prices per step."""
    return span(metric, np.int64(xy[2 * a]) - xy[2 * b], np.int64(xy[2 * a + 1]) - xy[2 * b + 1])


@kernel(inline=True)
def locate(terrain, cell):
    """Return column and row of a cell by arithmetic.

    In a search the table ``xy`` is the faster way. It is as large as the map, though, and thousands of episodes that
    stand anywhere miss the cache with every look at it. Half a cell keeps the product away from whole numbers, where
    rounding could change it; the inverse is the same for all cells, so the compiler divides once.
    """
    row = np.int64((cell + 0.5) * (1.0 / terrain.offset[1]))
    return cell - row * terrain.offset[1] - 1, row - 1


@kernel(inline=True)
def target(terrain, s, d):
    """Return the cell that a move in direction ``d`` leads to: ``s`` itself if it is blocked, or if ``d`` is STAY."""
    if d < 0:
        return s
    return s + (terrain.mask[s] >> d & 1) * terrain.offset[d]


@kernel(inline=True)
def h0(terrain, a, b):
    """Return the heuristic between two cells: Manhattan, octile or Chebyshev, as fits the moves."""
    return gap(terrain.xy, terrain.metric, a, b)


@kernel
def fill_h0(terrain, goal, h):
    """Write the heuristic from every cell to ``goal`` into ``h``."""
    stride = terrain.offset[1]
    goal_x, goal_y = locate(terrain, goal)
    for row in range(h.size // stride):
        line = h[row * stride :]
        for column in range(stride):
            line[column] = span(terrain.metric, column - 1 - goal_x, row - 1 - goal_y)


@kernel
def fill_components(terrain, label, stack):
    """Number the connected components of the free cells from 1 into the zeroed ``label``; return how many."""
    count = 0
    for seed in range(label.size):
        if terrain.free[seed] == 0 or label[seed] != 0:
            continue
        count += 1
        label[seed] = count
        stack[0] = seed
        top = 1
        while top > 0:
            top -= 1
            cell = np.int64(stack[top])
            for d in range(8):
                if terrain.mask[cell] >> d & 1:
                    near = cell + terrain.offset[d]
                    if label[near] == 0:
                        label[near] = count
                        stack[top] = near
                        top += 1
    return count


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
        except ValueError:
            raise InputError("a grid needs rows of equal length") from None
        if array.dtype.kind not in "biuf":
            raise InputError(f"a grid needs numbers or booleans, not {array.dtype}")
        if array.ndim != 2 or array.size == 0:
            raise InputError(f"a grid needs a two-dimensional array of at least one cell, not shape {array.shape}")
        height, width = array.shape
        if (height + 2) * (width + 2) > MAX_CELLS:
            raise InputError(f"a grid of {width} x {height} is too large: with its border at most {MAX_CELLS} cells")
        if connectivity not in (4, 8):
            raise InputError(f"connectivity must be 4 or 8, not {quoted(connectivity)}")
        if cost not in ("octile", "unit"):
            raise InputError(f'cost must be "octile" or "unit", not {quoted(cost)}')
        if corner not in CORNERS:
            raise InputError(f'corner must be "strict", "one" or "free", not {quoted(corner)}')
        self.passable: NDArray[np.bool_] = array.astype(bool)
        self.passable.flags.writeable = False
        self.width, self.height = int(width), int(height)
        self.stride = self.width + 2
        self.connectivity, self.cost, self.corner, self.name = int(connectivity), cost, corner, name

    @cached_property
    def terrain(self) -> Terrain:
        """The whole map as kernels see it, shared and never written to."""
        return self._as_terrain(self.passable)

    @cached_property
    def open_ground(self) -> Terrain:
        """The same map without any obstacle: what unseen ground is taken for."""
        return self._as_terrain(np.ones_like(self.passable))

    def _as_terrain(self, passable: NDArray[np.bool_]) -> Terrain:
        height, width = self.height + 2, self.stride
        free = np.zeros((height, width), np.uint8)
        free[1:-1, 1:-1] = passable
        xy = np.empty((height, width, 2), np.int32)
        xy[..., 0] = np.arange(-1, width - 1)
        xy[..., 1] = np.arange(-1, height - 1)[:, None]
        step = STRAIGHT if self.cost == "unit" else DIAGONAL
        terrain = Terrain(
            mask=np.zeros(height * width, np.uint8),
            free=free.ravel(),
            known=np.ones(height * width, np.uint8),
            xy=xy.ravel(),
            offset=np.array([x + y * width for x, y in STEPS], np.int64),
            cost=np.array([STRAIGHT] * 4 + [step] * 4, np.int64),
            metric=np.array([(STRAIGHT, 2 * STRAIGHT if self.connectivity == 4 else step)], METRIC),
            rule=np.array([(self.connectivity, CORNERS.index(self.corner))], RULE),
        )
        fill_masks(terrain, self.stride)
        return terrain

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The component of every cell of the flat, bordered array, counted from 1; 0 where blocked."""
        label = np.zeros(self.terrain.free.size, np.int32)
        fill_components(self.terrain, label, np.empty_like(label))
        return label

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
        return int(self.passable.sum())

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
        return self.terrain.xy.reshape(-1, 2)[cells]

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
        return Grid, (np.array(self.passable), self.connectivity, self.cost, self.corner, self.name)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<Grid{name} {self.width} x {self.height}, {self.connectivity} neighbours, {self.cost}, {self.corner}>"
