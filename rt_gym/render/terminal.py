"""Scenes as text for a terminal."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError
from rt_gym.render import palette
from rt_gym.render.image import draw_map
from rt_gym.render.pane import Pane, make_pane
from rt_gym.render.scene import Scene, Units
from rt_gym.render.tiles import fog_tiles, wall_tiles
from rt_gym.terrain import Position

_MOST = 1000  # columns or rows that are made use of; hardly a terminal is larger
_RESET = "\x1b[0m"
_SYMBOLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of units, in turn
_RING, _DOTTED_RING = "○", "◉"

Character = tuple[str, palette.Colour, palette.Colour]  # the letter, the colour of its ink and that of its paper


def text(scene: Scene, columns: int = 80, rows: int = 24, colour: bool = True) -> str:
    """Draw the whole map of a scene as lines of text, with the caption below them.

    Units of a squad are digits and capital letters, by their numbers; dark where they stand still. Their goals are
    rings in the same colours, or ``o``; a unit on its goal is a ring with a dot, or ``@``.

    Args:
        scene: what to draw.
        columns: greatest length of a line.
        rows: greatest number of lines.
        colour: half blocks in 24-bit colours, two squares in each character, ``@`` for the agent and ``G`` for the
            goal; otherwise plain letters: ``#`` wall, ``.`` free, ``?`` unknown, ``+`` expanded, ``*`` changed,
            ``o`` trail, and ``@`` and ``G``.

    Raises:
        InputError: if not even one character fits.
    """
    if columns < 1 or rows < 1:
        raise InputError(f"a text needs at least one column and one row, not {columns} x {rows}")
    columns, rows = min(columns, _MOST), min(rows, _MOST)
    caption = scene.caption[:columns] if rows > 1 else ""
    draw = _half_blocks if colour else _letters
    lines = draw(scene, columns, rows - bool(caption))
    return "\n".join([*lines, caption] if caption else lines)


def _letters(scene: Scene, columns: int, rows: int) -> list[str]:
    pane = _letter_pane(scene, columns, rows)
    canvas = np.where(wall_tiles(scene, pane) >= 0.5, "#", ".")
    canvas[fog_tiles(scene, pane)] = "?"
    marks = [("+", scene.layers["expanded"]), ("*", scene.changed), ("o", scene.trail)]
    if scene.units is None:
        marks += [("G", np.array([scene.goal])), ("@", np.array([scene.position]))]
    else:
        marks += _unit_letters(scene.units)
    for letter, positions in marks:
        canvas[pane.index(positions)] = letter
    return ["".join(line) for line in canvas]


def _unit_letters(units: Units) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield letters and where they go: goals, units that have arrived, and the others on top."""
    yield "o", units.goals
    yield "@", units.positions[units.arrived]
    for i in np.flatnonzero(~units.arrived):
        yield _SYMBOLS[i % len(_SYMBOLS)], units.positions[i : i + 1]


def _letter_pane(scene: Scene, columns: int, rows: int) -> Pane:
    """Return one letter per cell if they fit; else pieces of the map that are twice as high as wide, as letters are."""
    height, width = scene.passable.shape
    if width <= columns and height <= rows:
        return make_pane((height, width), scene.position, None, width, height)
    pane = make_pane((height, width), scene.position, None, min(columns, width), min(2 * rows, height))
    return Pane(0, 0, width, height, pane.across, max(1, pane.down // 2), 1)


def _half_blocks(scene: Scene, columns: int, rows: int) -> list[str]:
    pane = make_pane(scene.passable.shape, scene.position, None, columns, 2 * rows)
    picture = np.empty((pane.height + pane.height % 2, pane.width, 3), np.uint8)
    picture[:] = palette.BACKGROUND
    picture[: pane.height] = draw_map(scene, pane, thinnest=0.4)
    pairs = picture.reshape(-1, 2, pane.width, 3).transpose(0, 2, 1, 3).tolist()
    characters = [[("▀", tuple(upper), tuple(lower)) for upper, lower in line] for line in pairs]
    for position, mark in _marks(scene):
        if pane.inside(np.array([position])).all():
            column, row = _character(pane, position)
            characters[row][column] = mark
    return [coloured(line) for line in characters]


def _marks(scene: Scene) -> Iterator[tuple[Position, Character]]:
    """Yield what is drawn over the map, and where; what comes later lies on top."""
    if scene.units is None:
        yield scene.goal, ("G", palette.GOAL_EDGE, palette.GOAL)
        yield scene.position, ("@", palette.AGENT_EDGE, palette.AGENT)
        return
    units, arrived = scene.units, scene.units.arrived
    colours = [palette.UNITS[i % len(palette.UNITS)] for i in range(len(arrived))]
    for i, colour in enumerate(colours):
        yield units.goals[i], (_DOTTED_RING if arrived[i] else _RING, colour, palette.UNIT_EDGE)
    for i in np.flatnonzero(~arrived).tolist():
        pair = (colours[i], palette.UNIT_EDGE) if units.still[i] else (palette.UNIT_EDGE, colours[i])
        yield units.positions[i], (_SYMBOLS[i % len(_SYMBOLS)], *pair)


def _character(pane: Pane, position: Position) -> tuple[int, int]:
    """Return the column and the row of the character in the middle of a position."""
    x, y = pane.pixels(np.array(position))
    return int(x), int(y) // 2


def coloured(line: list[Character]) -> str:
    """Return a line of characters; colours are set only where they change."""
    parts, last = [], None
    for letter, ink, paper in line:
        if (ink, paper) != last:
            parts.append("\x1b[38;2;{};{};{};48;2;{};{};{}m".format(*ink, *paper))
            last = ink, paper
        parts.append(letter)
    return "".join(parts) + _RESET
