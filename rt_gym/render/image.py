"""Scenes as images."""

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError
from rt_gym.render import marks, palette
from rt_gym.render.caption import STRIP, draw_caption
from rt_gym.render.legend import draw_legend, legend_height
from rt_gym.render.pane import Pane, make_pane
from rt_gym.render.scene import Scene
from rt_gym.render.tiles import RELIEF_FROM, paint_tiles

_SIZES = (16, 4096)  # fewest and most pixels along a side
_GRID_FROM = 12  # pixels of a cell from which on lines are drawn between cells
_RADII = (6.5, 40.0)  # of a mark, however small or large the cells
_UNIT_RADII = (3.5, 40.0)  # of a unit: there are many, which cover each other least while they are small
_THICKEST = 6.0  # radius of the trail
_SHADOW, _LINE = 0.9, 0.94  # what a shadow and a grid line leave of the light


def frame(
    scene: Scene, size: tuple[int, int] = (640, 640), zoom: int | None = None, legend: bool = False
) -> NDArray[np.uint8]:
    """Draw a scene as an image.

    Args:
        scene: what to draw.
        size: width and height of the image in pixels.
        zoom: show this many cells along each side around the agent; the whole map when None.
        legend: whether marks and colours are explained below the map, if there is room.

    Returns:
        A new height x width x 3 array of uint8.

    Raises:
        InputError: for a size or a zoom out of range.
    """
    width, height = _check_size(size)
    if zoom is not None and (isinstance(zoom, bool) or not isinstance(zoom, (int, np.integer)) or zoom < 1):
        raise InputError(f"zoom must be a whole number of cells of at least 1, or None, not {zoom!r}")
    strip = STRIP if scene.caption and height >= 4 * STRIP else 0
    below = legend_height(width) if legend and height >= 4 * (strip + legend_height(width)) else 0
    strip += below
    pane = make_pane(scene.passable.shape, scene.position, zoom, width, height - strip)
    image = np.empty((height, width, 3), np.uint8)
    image[:] = np.tile(np.array(palette.BACKGROUND, np.uint8), (width, 1))  # by rows: far faster than by pixels
    left, top = (width - pane.width) // 2, (height - strip - pane.height) // 2
    image[top : top + pane.height, left : left + pane.width] = draw_map(scene, pane, thinnest=1.0)
    draw = _draw_marks if scene.units is None else _draw_units
    draw(image[: height - strip], scene, pane, (left, top))
    if below:
        draw_legend(image[height - strip : height - strip + below], scene)
    if strip > below:
        draw_caption(image[-STRIP:], scene.caption)
    return image


def draw_map(scene: Scene, pane: Pane, thinnest: float) -> NDArray[np.uint8]:
    """Return the cells and the trail, with a radius of at least ``thinnest`` pixels, but no marks."""
    tiles, walls = paint_tiles(scene, pane)
    picture = _enlarge(tiles, walls, pane.side)
    marks.draw_trail(picture, pane, scene.trail, min(max(0.13 * pane.side, thinnest), _THICKEST))
    return picture


def _check_size(size: tuple[int, int]) -> tuple[int, int]:
    least, most = _SIZES
    numbers = np.asarray(size)
    if numbers.shape != (2,) or numbers.dtype.kind not in "iu" or numbers.min() < least or numbers.max() > most:
        raise InputError(f"size must be a width and a height of {least} to {most} pixels, not {size!r}")
    return int(numbers[0]), int(numbers[1])


def _enlarge(tiles: NDArray[np.uint8], walls: NDArray[np.bool_], side: int) -> NDArray[np.uint8]:
    """Return the tiles as squares of pixels; where these are large enough, with relief and lines between them."""
    if side == 1:
        return tiles
    down, across = walls.shape
    bands = np.empty((down, side, across * side, 3), np.uint8)
    bands[:] = np.repeat(tiles, side, axis=1)[:, None]
    if side >= RELIEF_FROM:
        depth = side // 4
        bands[:, -depth:] = np.repeat(_with_faces(tiles, walls), side, axis=1)[:, None]
        bands[:, :depth] = np.repeat(_with_shadows(tiles, walls), side, axis=1)[:, None]
    if side >= _GRID_FROM:
        bands[:, 0] = bands[:, 0] * _LINE
        bands[:, :, ::side] = bands[:, :, ::side] * _LINE
    return bands.reshape(down * side, across * side, 3)


def _with_faces(tiles: NDArray[np.uint8], walls: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return the colours at the lower edges of tiles: walls show their face above open ground."""
    lower = tiles.copy()
    lower[:-1][walls[:-1] & ~walls[1:]] = palette.FACE
    return lower


def _with_shadows(tiles: NDArray[np.uint8], walls: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return the colours at the upper edges of tiles: open ground lies in shadow below a wall."""
    upper = tiles.copy()
    below = walls[:-1] & ~walls[1:]
    upper[1:][below] = upper[1:][below] * _SHADOW
    return upper


def _draw_marks(image: NDArray[np.uint8], scene: Scene, pane: Pane, corner: tuple[int, int]) -> None:
    """Mark start, subgoals, goal and agent where they are in view, the agent on top."""
    radius = min(max(0.38 * pane.side, _RADII[0]), _RADII[1])
    agent = marks.ARRIVED if tuple(scene.position) == tuple(scene.goal) else marks.AGENT
    for mark, positions in (
        (marks.START, np.array([scene.start])),
        (marks.SUBGOAL, scene.layers["subgoals"]),
        (marks.GOAL, np.array([scene.goal])),
        (agent, np.array([scene.position])),
    ):
        for centre in pane.pixels(positions[pane.inside(positions)]) + corner:
            marks.draw_mark(image, centre, mark, radius)


def _draw_units(image: NDArray[np.uint8], scene: Scene, pane: Pane, corner: tuple[int, int]) -> None:
    """Mark the units of a squad and their goals where they are in view, the units on top."""
    assert scene.units is not None
    units, arrived = scene.units, scene.units.arrived
    radius = min(max(0.46 * pane.side, _UNIT_RADII[0]), _UNIT_RADII[1])
    standing = units.still & ~arrived
    chosen = [(marks.UNIT_GOALS, units.goals, np.ones_like(arrived)), (marks.UNITS_AT_GOALS, units.positions, arrived)]
    chosen += [(marks.UNITS_STANDING, units.positions, standing), (marks.UNITS, units.positions, ~arrived & ~standing)]
    for by_number, positions, wanted in chosen:
        for i in np.flatnonzero(wanted & pane.inside(positions)):
            centre = pane.pixels(positions[i]) + corner
            marks.draw_mark(image, centre, by_number[i % len(by_number)], radius)
