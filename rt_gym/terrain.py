"""Terrain: a grid as kernels see it, and what every search asks of it.

Kernels address a cell by one flat index into arrays that carry a blocked border of one cell, so that no kernel ever
tests for the edge of the map. The corner rule is part of ``mask``, one bit per direction.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.handles import trusting
from rt_gym.jit import is_none, kernel, record, type_of_part, typed

DIRECTIONS = ("E", "S", "W", "N", "SE", "NE", "SW", "NW")
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
COLUMNS, ROWS = np.array(STEPS, np.int64).T.copy()
OPPOSITE = (2, 3, 0, 1, 7, 6, 5, 4)

MAX_CELLS = 1 << 28  # of a map without its border, as many as 16,384 x 16,384
CELL_BITS = 30  # enough for every flat index, also on a map of one row, whose border has twice as many cells

Position = tuple[int, int]

# What the heuristic charges per straight and per diagonal step; the connectivity and the index of the corner rule.
METRIC = record(per_straight=int, per_diagonal=int)
RULE = record(connectivity=int, corner=int)


@trusting
class Terrain(NamedTuple):
    """What kernels know of a map; the flat arrays have one entry per cell, border included.

    Attributes:
        mask: uint8, bit ``d`` is set where a move in direction ``d`` is legal.
        free: uint8, 1 where the cell is (believed) free.
        known: uint8, 1 where the cell has been seen.
        xy: int32, two entries per cell, its column and row; None on a large map (see ``rt_gym.pages``).
        offset: int64[8], what to add to a cell to step in direction ``d``.
        cost: int64[8], exact cost of a step in direction ``d``.
        metric: METRIC[1], what the heuristic charges per step.
        rule: RULE[1], connectivity and corner rule (index into ``CORNERS``).
    """

    mask: NDArray[np.uint8]
    free: NDArray[np.uint8]
    known: NDArray[np.uint8]
    xy: NDArray[np.int32] | None
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
    """Return the distance over ``dx`` columns and ``dy`` rows of open ground, at ``metric``'s prices per step."""
    low = min(abs(dx), abs(dy))
    return (max(abs(dx), abs(dy)) - low) * metric[0].per_straight + low * metric[0].per_diagonal


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
def look_up(terrain, cell):
    """Return column and row of a cell by the table ``xy``."""
    return np.int64(terrain.xy[2 * cell]), np.int64(terrain.xy[2 * cell + 1])


def column_and_row(terrain: Any, cell: int) -> Any:
    """Return column and row of a cell in the way that suits a search."""
    return locate(terrain, cell) if terrain.xy is None else look_up(terrain, cell)


@typed(column_and_row)
def _column_and_row(terrain, cell):
    if is_none(type_of_part(terrain, "xy")):
        return lambda terrain, cell: locate(terrain, cell)
    return lambda terrain, cell: look_up(terrain, cell)


@kernel(inline=True)
def gap(terrain, metric, a, b):
    """Return the distance of two cells on open ground, at ``metric``'s prices per step."""
    x, y = column_and_row(terrain, a)
    to_x, to_y = column_and_row(terrain, b)
    return span(metric, x - to_x, y - to_y)


@kernel(inline=True)
def target(terrain, s, d):
    """Return the cell that a move in direction ``d`` leads to: ``s`` itself if it is blocked, or if ``d`` is STAY."""
    if d < 0:
        return s
    return s + (terrain.mask[s] >> d & 1) * terrain.offset[d]


@kernel(inline=True)
def h0(terrain, a, b):
    """Return the heuristic between two cells: Manhattan, octile or Chebyshev, as fits the moves."""
    return gap(terrain, terrain.metric, a, b)


def open_distance(terrain: Terrain, a: int, b: int) -> int:
    """Return the heuristic between two cells, as ``h0`` does, in plain Python: one call of a kernel takes longer."""
    (ay, ax), (by, bx), metric = divmod(a, int(terrain.offset[1])), divmod(b, int(terrain.offset[1])), terrain.metric[0]
    low, high = sorted((abs(ax - bx), abs(ay - by)))
    return (high - low) * int(metric.per_straight) + low * int(metric.per_diagonal)


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
def count_learned(terrain, goal, h):
    """Return how many free cells have a value other than the heuristic.

    Most rows have none: whether one has is found in a loop that does nothing else, which takes less time.
    """
    stride = terrain.offset[1]
    goal_x, goal_y = locate(terrain, goal)
    count = 0
    for row in range(h.size // stride):
        line, free, differs = h[row * stride :], terrain.free[row * stride :], np.int64(0)
        for column in range(stride):
            differs |= line[column] ^ span(terrain.metric, column - 1 - goal_x, row - 1 - goal_y)
        if differs == 0:
            continue
        for column in range(stride):
            value = span(terrain.metric, column - 1 - goal_x, row - 1 - goal_y)
            count += (line[column] != value) & (free[column] != 0)
    return count


@kernel(inline=True)
def first_of(label, cell):
    """Return the first cell of what is joined to ``cell`` so far, and shorten the way to it."""
    while label[cell] != cell:
        label[cell] = label[label[cell]]
        cell = np.int64(label[cell])
    return cell


@kernel
def fill_components(terrain, label):
    """Number the connected components of the free cells from 1 into the zeroed ``label``; return how many.

    At first each cell holds an earlier one of its component, or itself if there is none; then the numbers are handed on
    in the same order. A flood would need a stack that can become as long as the map.
    """
    for cell in range(1, label.size):
        if terrain.free[cell] == 0:
            continue
        label[cell] = cell
        for d in (2, 3, 5, 7):  # W, N, NE and NW lead to cells that have been here before
            if terrain.mask[cell] >> d & 1:
                a, b = first_of(label, cell), first_of(label, cell + terrain.offset[d])
                label[max(a, b)] = min(a, b)
    count = 0
    for cell in range(1, label.size):
        if label[cell] == cell:
            count += 1
            label[cell] = count
        elif label[cell] != 0:
            label[cell] = label[label[cell]]
    return count


def positions(terrain: Terrain, cells: NDArray[Any]) -> NDArray[np.int32]:
    """Return the positions of many flat indices as an n x 2 array."""
    if terrain.xy is not None:
        return terrain.xy.reshape(-1, 2).take(cells, axis=0)
    rows, columns = np.divmod(np.asarray(cells, np.int64), terrain.offset[1])
    return np.stack((columns - 1, rows - 1), axis=-1).astype(np.int32)
