"""Pictures of maps: one for the terminal, one for the screen. Both are pure functions of what they show."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rt_gym.abstraction import Abstraction
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.maps.landscape import around
from rt_gym.render import palette
from rt_gym.render.terminal import coloured
from rt_gym.terrain import Position

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

_HALVES = np.array(list(" ▄▀█"))  # index: 2 if the upper half is blocked, plus 1 if the lower half is

_GROUND, _SHADE, _FACE = (229, 217, 186), (202, 186, 150), (128, 104, 84)
_ROCK = np.array([(98, 116, 102), (84, 103, 95), (71, 90, 88), (59, 78, 80), (49, 67, 72)], np.uint8)
_PATH, _START, _GOAL = (200, 72, 48), (44, 120, 190), (214, 150, 20)
_SIDE, _SIDE_OF_REGIONS = 800, 1600  # pixels of the longer side when no scale is asked for
_TINT, _SEAM = 0.66, 0.84  # how much of its tint a region has, and what a seam between two leaves of the light
_DOT = (52, 60, 73)
_ROOM_FOR_DOT = 6  # characters of text per region from which on there are dots
_MOST_PIXELS = 1 << 26
_LONGEST = 2048  # pixels of the longer side of a picture that shows several cells in one


def preview_text(
    grid: Grid,
    columns: int = 80,
    rows: int = 24,
    path: Iterable[Position] = (),
    start: Position | None = None,
    goal: Position | None = None,
) -> str:
    """Return a map as lines of half blocks that fit a terminal, two squares of cells in each character.

    A square that stands for several cells is drawn as blocked if enough of them are blocked to be a thin wall.

    Args:
        grid: the map.
        columns: greatest length of a line.
        rows: greatest number of lines.
        path: positions to mark with a dot.
        start: position to mark with ``S``.
        goal: position to mark with ``G``.
    """
    if columns < 1 or rows < 1:
        raise InputError(f"a preview needs at least one column and one row, not {columns} x {rows}")
    side = max(-(-grid.width // columns), -(-grid.height // (2 * rows)))
    walls = _squares(grid, side)
    text = _HALVES[2 * walls[::2] + walls[1::2]]
    for mark, positions in (("·", path), ("S", _one(start)), ("G", _one(goal))):
        for x, y in _inside(grid, positions):
            text[y // (2 * side), x // side] = mark
    return "\n".join("".join(line) for line in text)


def _squares(grid: Grid, side: int) -> NDArray[np.int64]:
    """Return an even number of rows of squares of ``side`` cells: 1 where a wall crosses, else 0."""
    padding = [(0, -length % side) for length in (grid.height, grid.width)]
    blocked = np.pad(~grid.passable, padding, mode="edge")
    height, width = (length // side for length in blocked.shape)
    walls = blocked.reshape(height, side, width, side).sum(axis=(1, 3)) >= side
    return np.pad(walls, [(0, height % 2), (0, 0)]).astype(np.int64)


def _shrunk(grid: Grid, side: int) -> Grid:
    """Return a grid with one cell for every square of ``side`` cells."""
    return grid.replace(passable=_squares(grid, side)[: -(-grid.height // side)] == 0)


def regions_text(grid: Grid, abstraction: Abstraction, columns: int = 80, rows: int = 24) -> str:
    """Return a map with its regions as lines of coloured half blocks that fit a terminal.

    Representatives are marked by dots where these leave enough of the regions to be seen.
    """
    if columns < 1 or rows < 1:
        raise InputError(f"a preview needs at least one column and one row, not {columns} x {rows}")
    side = max(-(-grid.width // columns), -(-grid.height // (2 * rows)))
    walls = _squares(grid, side).astype(bool)
    y, x = (np.arange(length) * side + side // 2 for length in walls.shape)
    squares = _colours(grid, abstraction)[np.ix_(y.clip(max=grid.height - 1), x.clip(max=grid.width - 1))]
    squares[walls] = _ROCK[0]
    squares[-(-grid.height // side) :] = palette.BACKGROUND  # half a line, where the number of rows is odd
    pairs = squares.reshape(-1, 2, walls.shape[1], 3).transpose(0, 2, 1, 3).tolist()
    characters = [[("▀", tuple(upper), tuple(lower)) for upper, lower in line] for line in pairs]
    if abstraction.regions * _ROOM_FOR_DOT <= walls.size // 2:
        for x, y in (grid.positions(abstraction.representatives) // side).tolist():
            characters[y // 2][x] = ("•", _DOT, tuple(pairs[y // 2][x][y % 2]))
    return "\n".join(map(coloured, characters))


def preview_image(
    grid: Grid,
    scale: int | None = None,
    path: Iterable[Position] = (),
    start: Position | None = None,
    goal: Position | None = None,
    abstraction: Abstraction | None = None,
) -> "Image":
    """Return a map as a picture: sandy ground, rock that darkens inwards, faces of rock towards the viewer.

    Args:
        grid: the map.
        scale: pixels along a cell; by default as many as give a picture of about 800 pixels, or 1600 with regions.
            Of a map with a side of more than 2048 cells, squares of cells are drawn as one pixel, with walls unbroken.
        path: positions to join by a line.
        start: position to mark with a blue disc.
        goal: position to mark with a golden disc.
        abstraction: regions to show in different tints, with a dot for each representative.
    """
    from PIL import Image, ImageDraw

    side = -(-max(grid.width, grid.height) // _LONGEST)
    if scale is None and abstraction is None and side > 1:
        marks = [[(x // side, y // side) for x, y in _inside(grid, spots)] for spots in (path, _one(start), _one(goal))]
        return preview_image(_shrunk(grid, side), 1, marks[0], next(iter(marks[1]), None), next(iter(marks[2]), None))
    side = _SIDE if abstraction is None else _SIDE_OF_REGIONS
    scale = max(1, side // max(grid.width, grid.height)) if scale is None else scale
    if scale < 1 or grid.width * grid.height * scale * scale > _MOST_PIXELS:
        raise InputError(f"the scale of a preview must be at least 1 and give at most {_MOST_PIXELS} pixels")
    pixels = _colours(grid, abstraction).repeat(scale, axis=0).repeat(scale, axis=1)
    if abstraction is not None:
        _draw_seams(pixels, grid.inner(abstraction.region), scale)
    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    if abstraction is not None:
        for position in grid.positions(abstraction.representatives).tolist():
            _draw_dot(draw, _centre(position, scale), scale)
    points = [_centre(position, scale) for position in _inside(grid, path)]
    if len(points) > 1:
        draw.line(points, fill=_PATH, width=max(1, scale // 3), joint="curve")
    for colour, position in ((_START, start), (_GOAL, goal)):
        for inside in _inside(grid, _one(position)):
            (x, y), radius = _centre(inside, scale), max(3, scale // 2)
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour, outline=(255, 255, 255))
    return picture


def _draw_seams(pixels: NDArray[np.uint8], region: NDArray[np.int32], scale: int) -> None:
    """Draw a fine line between regions where cells are large enough for one."""
    if scale < 3:
        return
    for wide, high in ((pixels, region), (pixels.transpose(1, 0, 2), region.T)):
        seam = (high[1:] != high[:-1]) & (high[1:] >= 0) & (high[:-1] >= 0)
        line = wide[scale::scale]
        line[:] = np.where(seam.repeat(scale, axis=1)[..., None], line * _SEAM, line)


def _draw_dot(draw: "ImageDraw", centre: tuple[int, int], scale: int) -> None:
    (x, y), radius = centre, 0.36 * scale
    if scale < 3:
        draw.point(centre, fill=_DOT)
    else:
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=_DOT)


def _colours(grid: Grid, abstraction: Abstraction | None = None) -> NDArray[np.uint8]:
    """Return an H x W x 3 array, one colour per cell."""
    blocked = ~grid.passable
    colours = np.empty((*blocked.shape, 3), np.uint8)
    colours[:] = _GROUND
    colours[1:][blocked[:-1] & ~blocked[1:]] = _SHADE
    if abstraction is not None:
        tints = np.array(palette.REGIONS)[abstraction.colours % len(palette.REGIONS)]
        ground = colours[~blocked].astype(float)
        colours[~blocked] = palette.mix(ground, tints[grid.inner(abstraction.region)[~blocked]], _TINT).round()
    inner = blocked
    for rock in _ROCK:
        colours[inner] = rock
        inner = around(inner) == 9
    colours[:-1][blocked[:-1] & ~blocked[1:]] = _FACE
    return colours


def _centre(position: Position, scale: int) -> tuple[int, int]:
    return position[0] * scale + scale // 2, position[1] * scale + scale // 2


def _one(position: Position | None) -> list[Position]:
    return [] if position is None else [position]


def _inside(grid: Grid, positions: Iterable[Position]) -> list[Position]:
    checked = [(int(x), int(y)) for x, y in positions]
    for position in checked:
        if not grid.contains(position):
            raise InputError(f"{position} lies outside the {grid.width} x {grid.height} map")
    return checked
