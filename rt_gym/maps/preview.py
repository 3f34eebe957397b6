"""Pictures of maps: one for the terminal, one for the screen. Both are pure functions of what they show."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError
from rt_gym.grid import Grid, Position
from rt_gym.maps.landscape import around

if TYPE_CHECKING:
    from PIL.Image import Image

_HALVES = np.array(list(" ▄▀█"))  # index: 2 if the upper half is blocked, plus 1 if the lower half is

_GROUND, _SHADE, _FACE = (229, 217, 186), (202, 186, 150), (128, 104, 84)
_ROCK = np.array([(98, 116, 102), (84, 103, 95), (71, 90, 88), (59, 78, 80), (49, 67, 72)], np.uint8)
_PATH, _START, _GOAL = (200, 72, 48), (44, 120, 190), (214, 150, 20)
_SIDE = 800  # pixels of the longer side when no scale is asked for
_MOST_PIXELS = 1 << 26


def preview_text(
    grid: Grid,
    columns: int = 80,
    rows: int = 24,
    path: Iterable[Position] = (),
    start: Position | None = None,
    goal: Position | None = None,
) -> str:
    """Return a map as lines of half blocks that fit a terminal, two squares of cells in each character.

    A square that stands for several cells is drawn as blocked if so many are that a thin wall may cross it.

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


def preview_image(
    grid: Grid,
    scale: int | None = None,
    path: Iterable[Position] = (),
    start: Position | None = None,
    goal: Position | None = None,
) -> "Image":
    """Return a map as a picture: sandy ground, rock that darkens inwards, faces of rock towards the viewer.

    Args:
        grid: the map.
        scale: pixels along a cell; by default as many as give a picture of about 800 pixels.
        path: positions to join by a line.
        start: position to mark with a blue disc.
        goal: position to mark with a golden disc.
    """
    from PIL import Image, ImageDraw

    scale = max(1, _SIDE // max(grid.width, grid.height)) if scale is None else scale
    if scale < 1 or grid.width * grid.height * scale * scale > _MOST_PIXELS:
        raise InputError(f"the scale of a preview must be at least 1 and give at most {_MOST_PIXELS} pixels")
    picture = Image.fromarray(_colours(grid).repeat(scale, axis=0).repeat(scale, axis=1))
    draw = ImageDraw.Draw(picture)
    points = [_centre(position, scale) for position in _inside(grid, path)]
    if len(points) > 1:
        draw.line(points, fill=_PATH, width=max(1, scale // 3), joint="curve")
    for colour, position in ((_START, start), (_GOAL, goal)):
        for inside in _inside(grid, _one(position)):
            (x, y), radius = _centre(inside, scale), max(3, scale // 2)
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour, outline=(255, 255, 255))
    return picture


def _colours(grid: Grid) -> NDArray[np.uint8]:
    """Return an H x W x 3 array, one colour per cell."""
    blocked = ~grid.passable
    colours = np.empty((*blocked.shape, 3), np.uint8)
    colours[:] = _GROUND
    colours[1:][blocked[:-1] & ~blocked[1:]] = _SHADE
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
