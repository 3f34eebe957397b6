"""What is drawn over the tiles, pixel by pixel: the trail, and the marks of agents, goals, starts and subgoals."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.render import palette
from rt_gym.render.pane import Pane

Pixels = NDArray[np.uint8]
Field = NDArray[np.float64]
Shape = Callable[[Field, Field, float], Field]  # x, y and a radius to the distance from the outline, negative inside

_OLDEST, _NEWEST = 0.35, 1.0  # how much the trail covers what is below it
_SOFT = (-0.5, 0.0, 0.5)  # a line is the mean of lines with these differences in radius, which smooths its border


def draw_trail(picture: Pixels, pane: Pane, trail: NDArray[np.int64], radius: float) -> None:
    """Draw a line through the middles of the cells of a trail, the fainter the older."""
    if len(trail) == 0:
        return
    strength = np.zeros(picture.shape[:2], np.uint8)
    x, y, cover = _points(pane, trail)
    strength[y, x] = cover * 255  # of several visits to a pixel the last is written last
    total = np.zeros(picture.shape[:2], np.uint16)
    for extra in _SOFT:
        total += _spread(strength, radius + extra)
    palette.lay(picture, palette.TRAIL, total.astype(np.float32) / np.float32(255 * len(_SOFT)))


def _points(pane: Pane, trail: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any], Field]:
    """Return the pixels of the line, oldest first, and how much it covers them. Jumps (a new trial) are not joined."""
    steps = np.diff(trail, axis=0, append=trail[-1:])
    steps[np.abs(steps).max(axis=1) > 1] = 0
    shown = np.flatnonzero(pane.inside(trail) | pane.inside(trail + steps))
    shown = shown[_last_of_each(np.hstack([trail, steps])[shown])]
    cover = _OLDEST + (_NEWEST - _OLDEST) * ((shown + 1) / len(trail)) ** 2
    first = pane.tiles(trail[shown]) * pane.side + pane.side // 2
    points = (first[:, None] + steps[shown][:, None] * np.arange(pane.side)[:, None]).reshape(-1, 2)
    inside = ((points >= 0) & (points < (pane.width, pane.height))).all(axis=1)
    return points[inside, 0], points[inside, 1], np.repeat(cover, pane.side)[inside]


def _last_of_each(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, in order, the number of the last of every group of equal rows: a step made often is drawn once."""
    key = rows @ np.array([1 << 40, 1 << 20, 4, 1])
    _, last = np.unique(key[::-1], return_index=True)
    return np.sort(len(rows) - 1 - last)


def _spread(strength: NDArray[np.uint8], radius: float) -> NDArray[np.uint8]:
    """Return every pixel's strongest neighbour within a disc, which is a stack of rows, laid from the outside in."""
    wide, spread, width = strength.copy(), strength.copy(), 0
    for up in range(int(radius), -1, -1):
        while (width + 1) ** 2 + up**2 <= radius**2:
            width += 1
            np.maximum(wide[:, width:], strength[:, :-width], out=wide[:, width:])
            np.maximum(wide[:, :-width], strength[:, width:], out=wide[:, :-width])
        rest = max(len(wide) - up, 0)
        np.maximum(spread[up:], wide[:rest], out=spread[up:])
        np.maximum(spread[:rest], wide[up:], out=spread[:rest])
    return spread


def disc(x: Field, y: Field, radius: float) -> Field:
    """Return the distance from a circle."""
    return np.hypot(x, y) - radius


def square(x: Field, y: Field, radius: float) -> Field:
    """Return the distance from a square that is about as large as a circle of this radius."""
    return np.asarray(np.maximum(np.abs(x), np.abs(y)) - 0.9 * radius)


def ring(x: Field, y: Field, radius: float) -> Field:
    """Return the distance from a ring whose hole is half as wide as itself."""
    return np.asarray(np.abs(np.hypot(x, y) - 0.75 * radius) - 0.25 * radius)


def star(points: int, waist: float) -> Shape:
    """Return the shape of a star that is ``waist`` as wide between its points as at them; one points upwards."""
    half = np.pi / points
    edge = np.array([waist * np.cos(half) - 1, waist * np.sin(half)])
    normal = np.array([edge[1], -edge[0]]) / np.hypot(*edge)

    def distance(x: Field, y: Field, radius: float) -> Field:
        angle = np.abs((np.arctan2(x, -y) + half) % (2 * half) - half)
        reach = np.hypot(x, y)
        return normal[0] * (reach * np.cos(angle) - radius) + normal[1] * reach * np.sin(angle)

    return distance


class Mark(NamedTuple):
    """How something is marked; sizes are multiples of the radius that marks have at the present scale."""

    shape: Shape
    fill: palette.Colour
    edge: palette.Colour
    size: float
    line: float


AGENT = Mark(disc, palette.AGENT, palette.AGENT_EDGE, 1.0, 0.28)
ARRIVED = AGENT._replace(size=0.6)  # the goal stays visible around it
GOAL = Mark(star(5, 0.5), palette.GOAL, palette.GOAL_EDGE, 1.6, 0.2)
SUBGOAL = Mark(star(4, np.sqrt(0.5)), palette.SUBGOAL, palette.SUBGOAL_EDGE, 1.0, 0.2)
START = Mark(disc, palette.START, palette.START_EDGE, 0.8, 0.2)
UNITS = [Mark(disc, colour, palette.UNIT_EDGE, 1.0, 0.2) for colour in palette.UNITS]
UNITS_AT_GOALS = [mark._replace(size=0.55) for mark in UNITS]
UNIT_GOALS = [mark._replace(shape=ring, size=1.3) for mark in UNITS]
UNITS_STANDING = [mark._replace(shape=square) for mark in UNITS]


def draw_mark(picture: Pixels, centre: Field, mark: Mark, radius: float) -> None:
    """Draw a mark with smooth borders, cut off at the edge of the picture."""
    reach = mark.size * radius
    low = np.maximum(np.floor(centre - reach - 1), 0).astype(int)
    high = np.minimum(np.ceil(centre + reach + 1), picture.shape[1::-1]).astype(int)
    x = np.arange(low[0], high[0])[None, :] + 0.5 - centre[0]
    y = np.arange(low[1], high[1])[:, None] + 0.5 - centre[1]
    depth = 0.5 - mark.shape(x, y, reach)
    patch = picture[low[1] : high[1], low[0] : high[0]]
    for colour, inset in ((mark.edge, 0.0), (mark.fill, mark.line * radius)):
        palette.lay(patch, colour, np.clip(depth - inset, 0, 1).astype(np.float32))
