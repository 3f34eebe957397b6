"""The landscape behind ``generate.terrain``: what nature makes first, then what people build, then ways through it all.

Heights are smoothed noise in whole numbers, so that the same seed gives the same coast on every machine.
"""

from itertools import pairwise
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from rt_gym.maps.settlements import build_settlements
from rt_gym.sizes import strips

Cells = NDArray[np.bool_]
Heights = NDArray[np.int16]
Shape = tuple[int, int]


def terrain(width: int, height: int, rng: np.random.Generator) -> Cells:
    """Return the free cells of a whole landscape, all connected."""
    shape, unit = (height, width), isqrt(min(width, height))
    free = _coast(shape, unit, rng) & ~_lakes(shape, unit, rng) & ~_woods(shape, unit, rng)
    free &= ~_mountains(shape, unit, rng)
    free &= ~_broken(_river(shape, unit, rng), unit, rng)
    free &= ~_broken(_cliffs(shape, unit, rng), unit, rng)
    free = around(~free) < 5
    build_settlements(free, unit, rng)
    free = without_specks(free, 2 * unit)
    join_parts(free, 1 + unit // 12, rng)
    return free


def around(cells: Cells) -> NDArray[np.uint8]:
    """Return how many of the nine cells around each cell are set; outside the map all are."""
    padded = np.pad(cells, 1, constant_values=True).view(np.uint8)
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]


def without_specks(free: Cells, least: int) -> Cells:
    """Return the free cells without the connected parts of fewer than ``least`` cells."""
    label, sizes = _parts(free)
    large, kept = sizes >= least, np.empty_like(free)
    for rows in strips(*free.shape[::-1]):
        kept[rows] = large[label[rows]]
    return kept


def join_parts(free: Cells, radius: int, rng: np.random.Generator) -> None:
    """Dig short passes, in place, until all free cells are connected."""
    from scipy import ndimage

    while True:
        label, sizes = _parts(free)
        if sizes.size <= 2:
            return
        main = label == sizes.argmax()
        far, nearest = ndimage.distance_transform_cdt(~main, "taxicab", return_indices=True)
        cells = np.flatnonzero(free & ~main)
        gap = far.ravel()[cells]
        order = np.lexsort((rng.random(cells.size), gap))
        closest = order[np.unique(label.ravel()[cells][order], return_index=True)[1]]
        # Parts far away wait for a later round: by then something nearer may be connected.
        for cell in cells[closest[gap[closest] <= 2 * gap.min() + 2]].tolist():
            here = divmod(cell, free.shape[1])
            _dig(free, here, (int(nearest[0][here]), int(nearest[1][here])), radius)


def _parts(free: Cells) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the number of every cell's connected part, and how large each part is; part 0 is what is blocked."""
    from scipy import ndimage

    label, count = ndimage.label(free)
    sizes = np.zeros(count + 1, np.int64)
    for rows in strips(*free.shape[::-1]):
        sizes += np.bincount(label[rows].ravel(), minlength=count + 1)
    sizes[0] = 0
    return label, sizes


def _dig(free: Cells, a: tuple[int, int], b: tuple[int, int], radius: int) -> None:
    """Free a line between two cells; squares that span two steps of it keep it connected without diagonal moves."""
    steps = max(abs(b[0] - a[0]), abs(b[1] - a[1]))
    line = [tuple(p + (q - p) * step // steps for p, q in zip(a, b, strict=True)) for step in range(steps + 1)]
    for (y0, x0), (y1, x1) in pairwise(line):
        top, left = max(0, min(y0, y1) - radius), max(0, min(x0, x1) - radius)
        free[top : max(y0, y1) + radius + 1, left : max(x0, x1) + radius + 1] = True


def _noise(shape: Shape, radius: int, rng: np.random.Generator) -> Heights:
    """Return smooth noise from 0 to 999 with hills about ``radius`` wide; all heights cover about equal areas."""
    field = rng.integers(1 << 20, size=(shape[0] + 6 * radius, shape[1] + 6 * radius))
    for axis in (0, 1, 0, 1, 0, 1):
        field = _blurred(field, radius, axis)
    sample = np.sort(field[::2, ::2], axis=None)
    levels = sample[np.arange(1, 1000) * sample.size // 1000]
    heights = np.empty(shape, np.int16)
    for rows in strips(*shape[::-1]):
        heights[rows] = np.searchsorted(levels, field[rows])
    return heights


def _blurred(field: NDArray[np.int64], radius: int, axis: int) -> NDArray[np.int64]:
    """Return 16 times the means of windows of ``2 * radius + 1`` cells along an axis; the factor keeps precision.

    They are written over the field: on a large map there is no room for both.
    """
    lines, span = np.moveaxis(field, axis, 0), 2 * radius + 1
    means = lines[: 1 - span]
    for part in strips(*lines.shape):
        sums = np.cumsum(lines[:, part], axis=0)
        sums = np.concatenate([np.zeros_like(sums[:1]), sums])
        means[:, part] = (sums[span:] - sums[:-span]) * 16 // span
    return np.moveaxis(means, 0, axis)


def _hills(shape: Shape, radius: int, rng: np.random.Generator) -> Heights:
    """Return noise with finer noise on top."""
    heights = np.zeros(shape, np.int16)
    for i in range(3):
        heights += _noise(shape, max(1, radius >> i), rng) << 2 - i
    return heights // 7


def _grow(cells: Cells, radius: int) -> Cells:
    """Return the cells within a distance of the given ones: a disc is a stack of rows, laid from the outside in."""
    wide, grown, width = cells.copy(), np.zeros_like(cells), 0
    for up in range(radius, -1, -1):
        while (width + 1) ** 2 + up**2 <= radius * (radius + 1):
            width += 1
            wide[:, width:] |= cells[:, :-width]
            wide[:, :-width] |= cells[:, width:]
        rest = max(len(cells) - up, 0)
        grown[up:] |= wide[:rest]
        grown[:rest] |= wide[up:]
    return grown


def _coast(shape: Shape, unit: int, rng: np.random.Generator) -> Cells:
    """Return the land inside bays of varying depth along all four edges."""
    height, width = shape
    y, x = np.ogrid[:height, :width]
    rim_y, rim_x = np.minimum(y, height - 1 - y), np.minimum(x, width - 1 - x)
    depth, hills = min(4 * unit, min(shape) // 6), _hills(shape, 2 * unit, rng)
    land = np.empty(shape, bool)
    for rows in strips(width, height):
        edge = np.minimum(rim_y[rows], rim_x)
        land[rows] = (edge > 0) & (edge * 1000 > depth * (hills[rows].astype(np.int64) - 250))
    return land


def _mountains(shape: Shape, unit: int, rng: np.random.Generator) -> Cells:
    """Return solid mountains with winding tunnels through them."""
    tunnels = _rim(_noise(shape, max(2, unit // 3), rng) > 500, 1 + unit // 16)
    return (_hills(shape, unit, rng) > 740) & ~tunnels


def _lakes(shape: Shape, unit: int, rng: np.random.Generator) -> Cells:
    """Return lakes, the larger ones with an island."""
    depth = _hills(shape, unit + unit // 2, rng)
    return (depth > 780) & (depth < 850)


def _river(shape: Shape, unit: int, rng: np.random.Generator) -> Cells:
    return _rim(_hills(shape, 3 * unit, rng) > 500, 1 + unit // 6)


def _cliffs(shape: Shape, unit: int, rng: np.random.Generator) -> Cells:
    """Return the rims of high plains, crumbled away in some places."""
    heights = _hills(shape, unit, rng)
    rims = [_rim(heights > level, 1 + unit // 8) for level in (420, 640)]
    return (rims[0] | rims[1]) & (_hills(shape, unit, rng) > 380)


def _rim(cells: Cells, width: int) -> Cells:
    return _grow(cells, width) & ~cells


def _woods(shape: Shape, unit: int, rng: np.random.Generator) -> Cells:
    """Return clumps of trees, dense in the middle of a wood and sparse at its rim."""
    dense = _hills(shape, unit, rng)
    return (dense > 640) & (_noise(shape, 1 + unit // 16, rng) * 2 + dense > 2050)


def _broken(line: Cells, unit: int, rng: np.random.Generator) -> Cells:
    """Return a wall or river with passes, about one on every eight units of its length."""
    cells = np.flatnonzero(line)
    thick = 1 + unit // 6
    count = cells.size // (8 * unit * thick)
    chosen = rng.integers(max(1, cells.size), size=count)
    gaps = np.zeros_like(line)
    gaps.ravel()[cells[chosen]] = True
    return line & ~_grow(gaps, thick + 1)
