"""What people build on a landscape: castles, towns and ruins, with walls that are closed on most sides."""

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.bool_]


def build_settlements(free: Cells, unit: int, rng: np.random.Generator) -> None:
    """Put settlements on open ground, in place, one on every 120 square units, or fewer if there is no space."""
    height, width = free.shape
    wanted = 1 + free.size // (120 * unit * unit)
    taken = np.zeros_like(free)
    first, done = int(rng.integers(len(_KINDS))), 0
    for _ in range(40 * wanted):
        h, w = (int(side) for side in rng.integers(2 * unit, 4 * unit, size=2))
        top, left = (int(rng.integers(1, max(2, room))) for room in (height - h, width - w))
        place = slice(top, top + h), slice(left, left + w)
        fits = top + h < height and left + w < width
        if fits and not taken[place].any() and np.count_nonzero(free[place]) * 10 > 8 * h * w:
            taken[place] = free[place] = True
            _KINDS[(first + done) % len(_KINDS)](free[place][1:-1, 1:-1], rng)
            done += 1
        if done == wanted:
            return


def _castle(area: Cells, rng: np.random.Generator) -> None:
    """Build rings of walls around a keep, each with one gate, never on the side of the gate before."""
    side, gap = int(rng.integers(4)), max(4, min(area.shape) // 7)
    while min(area.shape) > 3 * gap:
        _ring(area)
        _towers(area, gap // 2)
        _gate(area, side, rng)
        side = (side + int(rng.integers(1, 4))) % 4
        area = area[gap:-gap, gap:-gap]
    area[gap // 2 : -(gap // 2), gap // 2 : -(gap // 2)] = False


def _towers(area: Cells, size: int) -> None:
    """Fill the four corners of a wall."""
    for rows in (area[:size], area[-size:]):
        rows[:, :size] = rows[:, -size:] = False


def _town(area: Cells, rng: np.random.Generator) -> None:
    """Build a wall with two gates around houses and streets."""
    _ring(area)
    side = int(rng.integers(4))
    _gate(area, side, rng)
    _gate(area, side ^ 1, rng)
    _houses(area[4:-4, 4:-4], rng)


def _houses(area: Cells, rng: np.random.Generator) -> None:
    """Divide an area by streets until the plots are small, and put a house with one door on most of them."""
    h, w = area.shape
    if max(h, w) > 14:
        if h < w:
            area = area.T
        cut = int(rng.integers(5, max(h, w) - 7))
        _houses(area[:cut], rng)
        _houses(area[cut + 2 :], rng)
    elif min(h, w) >= 5 and rng.random() < 0.85:
        _ring(area)
        _gate(area, int(rng.integers(4)), rng)


def _ruin(area: Cells, rng: np.random.Generator) -> None:
    """Divide an area into halls of which one side is gone."""
    h, w = area.shape
    if max(h, w) > 24:
        if h < w:
            area = area.T
        cut = int(rng.integers(9, max(h, w) - 9))
        _ruin(area[:cut], rng)
        _ruin(area[cut + 1 :], rng)
    elif min(h, w) >= 6:
        _ring(area)
        np.rot90(area, int(rng.integers(4)))[0, 1:-1] = True


def _ring(area: Cells) -> None:
    area[[0, -1]] = False
    area[:, [0, -1]] = False


def _gate(area: Cells, side: int, rng: np.random.Generator) -> None:
    """Open two cells of one side of a ring: 0 north, 1 south, 2 west, 3 east."""
    wall = (area[0], area[-1], area[:, 0], area[:, -1])[side]
    at = int(rng.integers(wall.size // 3, wall.size - wall.size // 3))
    wall[at : at + 2] = True


_KINDS = (_castle, _town, _ruin)
