"""Seeded map generators: the same call gives the same map on every machine.

For that, only ``Generator.random`` and ``Generator.integers`` are drawn from, and no mathematical function is called
whose last digit depends on the machine.
"""

import inspect
from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, quoted, whole
from rt_gym.grid import Grid
from rt_gym.maps import landscape
from rt_gym.maps.passages import build_rooms, carve_maze
from rt_gym.sizes import size_problem, strips
from rt_gym.terrain import MAX_CELLS

_SMALLEST_CAVE = 16  # cells; a smaller one is filled up
_JOINED = 48  # bytes per cell, while the parts of a map are joined


def random_obstacles(width: int, height: int, density: float, seed: int) -> Grid:
    """Return a grid in which every cell is blocked with probability ``density``, independently."""
    width, height = _size(width, height, 1, 4)
    blocked = _scattered(width, height, _share("density", density), _rng(seed))
    return _grid("random", ~blocked, seed)


def maze(size: int, seed: int) -> Grid:
    """Return a square maze without cycles: rooms at odd coordinates, joined by depth-first carving."""
    return _grid("maze", carve_maze(_odd(size, 5), _rng(seed)), seed)


def maze_with_holes(size: int, holes: int, seed: int) -> Grid:
    """Return the ``maze`` of this seed with ``holes`` random blocked cells inside it freed, posts included."""
    rng = _rng(seed)
    cells = carve_maze(_odd(size, 20), rng)
    inside = cells[1:-1, 1:-1]
    walls = _drawn_walls(inside, whole("holes", holes, 0, int(inside.size - np.count_nonzero(inside))), rng)
    inside[np.divmod(walls, inside.shape[1])] = True
    return _grid("maze-holes", cells, seed)


def rooms(width: int, height: int, room: int, doors: float, seed: int) -> Grid:
    """Return rooms in rows and columns, with doors of one cell between neighbours.

    Args:
        width: width of the map; the last column of rooms is narrower if the rooms do not fit evenly.
        height: height of the map, likewise.
        room: how many cells wide and high a room is inside its walls.
        doors: probability of a door between two neighbours; more doors are added until all rooms are connected.
        seed: which of the possible maps.
    """
    width, height = _size(width, height, 3, 4)
    room, doors = whole("room", room, 1, max(width, height)), _share("doors", doors)
    return _grid("rooms", build_rooms(width, height, room, doors, _rng(seed)), seed)


def caves(width: int, height: int, density: float, steps: int, seed: int) -> Grid:
    """Return the caves that a cellular automaton leaves, joined by short passages.

    Args:
        width: width of the map.
        height: height of the map.
        density: share of blocked cells at the beginning; caves arise around 0.45 to 0.5.
        steps: how often every cell takes the state of most of the nine cells around it.
        seed: which of the possible maps.
    """
    width, height = _size(width, height, 3, _JOINED)
    rng, density = _rng(seed), _share("density", density)
    blocked = _scattered(width, height, density, rng)
    for _ in range(whole("steps", steps, 0, 100)):
        blocked = landscape.around(blocked) >= 5
    free = landscape.without_specks(~blocked, _SMALLEST_CAVE)
    landscape.join_parts(free, 0, rng)
    return _grid("caves", free, seed)


def terrain(width: int, height: int, seed: int) -> Grid:
    """Return a map such as a game may have: coast, mountains, cliffs with passes, rivers, woods, castles and towns.

    All free cells are connected, and many walls close around pockets that can only be left backwards.
    """
    width, height = _size(width, height, 32, _JOINED)
    return _grid("terrain", landscape.terrain(width, height, _rng(seed)), seed)


def scale(grid: Grid, width: int, height: int) -> Grid:
    """Return a grid at another size: every cell takes the state of the nearest cell of the old one."""
    width, height = _size(width, height, 1, 3)
    rows, columns = _nearest(grid.height, height), _nearest(grid.width, width)
    name = f"{grid.name}-{width}x{height}" if grid.name else ""
    return grid.replace(passable=grid.passable[np.ix_(rows, columns)], name=name)


GENERATORS: dict[str, Callable[..., Grid]] = {
    "random": random_obstacles,
    "maze": maze,
    "maze-holes": maze_with_holes,
    "rooms": rooms,
    "caves": caves,
    "terrain": terrain,
}


def generate(family: str, **parameters: Any) -> Grid:
    """Return a generated map.

    Args:
        family: a key of ``GENERATORS``.
        **parameters: the arguments of that generator, all of them.

    Example:
        >>> generate("maze", size=31, seed=7)
        <Grid 'maze-31x31-s7' 31 x 31, 8 neighbours, octile, strict>
    """
    if not isinstance(family, str) or family not in GENERATORS:
        raise InputError(f"unknown map family {quoted(family)}, known are {', '.join(GENERATORS)}")
    make = GENERATORS[family]
    wanted = inspect.signature(make).parameters.keys()
    if parameters.keys() != wanted:
        given = ", ".join(parameters) or "none"
        raise InputError(f"a {family} map takes the parameters {', '.join(wanted)}, but was given {given}")
    return make(**parameters)


def _nearest(old: int, new: int) -> NDArray[np.int64]:
    """Return for every index of the new length the old one whose cell holds its centre."""
    return (2 * np.arange(new) + 1) * old // (2 * new)


def _grid(family: str, cells: NDArray[np.bool_], seed: int) -> Grid:
    height, width = cells.shape
    return Grid(cells, name=f"{family}-{width}x{height}-s{seed}")


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(whole("seed", seed, 0, 2**63 - 1))


def _scattered(width: int, height: int, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return cells of which each is set with the same probability."""
    cells = np.empty((height, width), bool)
    for rows in strips(width, height):
        cells[rows] = rng.random(cells[rows].shape) < share
    return cells


def _drawn_walls(inside: NDArray[np.bool_], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the blocked cells that draw the ``count`` smallest numbers; of those with the same number the first."""
    height, width = inside.shape
    drawn, walls, bound = np.empty(0), np.empty(0, np.int64), 1.0
    for rows in strips(width, height):
        fresh = np.flatnonzero(~inside[rows])
        draws = rng.random(fresh.size)
        near = draws < bound
        drawn, walls = np.append(drawn, draws[near]), np.append(walls, fresh[near] + rows.start * width)
        if drawn.size > 2 * count or rows.stop == height:  # not each time: many would be sorted over and over
            least = np.argsort(drawn, kind="stable")[:count]
            drawn, walls = drawn[least], walls[least]
            bound = drawn.max(initial=0.0)
    return walls


def _size(width: int, height: int, least: int, per_cell: int) -> tuple[int, int]:
    """Return the size of a map that takes so many bytes per cell while it is made."""
    width, height = whole("width", width, least, MAX_CELLS), whole("height", height, least, MAX_CELLS)
    if problem := size_problem(width, height, per_cell):
        raise InputError(f"width {width} and height {height} are refused: {problem}")
    return width, height


def _odd(size: int, per_cell: int) -> int:
    size = whole("size", size, 3, isqrt(MAX_CELLS))
    if size % 2 == 0:
        raise InputError(f"size must be odd, not {size}")
    return _size(size, size, 3, per_cell)[0]


def _share(name: str, value: Any) -> float:
    if not isinstance(value, int | float | np.integer | np.floating) or not 0 <= value <= 1:
        raise InputError(f"{name} must be a number from 0 to 1")
    return float(value)
