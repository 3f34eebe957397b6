"""A line below the map that says what its marks and colours mean."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.render import marks, palette
from rt_gym.render.caption import load_font
from rt_gym.render.scene import Scene

HEIGHT = 22  # pixels of one row of it
_MARGIN, _SAMPLE, _GAP = 10, 14, 9  # before the first sample, for a sample, and between a word and the next sample
_RADIUS = 5.0
_WIDE = 620  # pixels from which on one row is enough for all samples

Sample = tuple[str, marks.Mark | palette.Colour]


def legend_height(width: int) -> int:
    """Return how many pixels of height the legend of a picture of this width takes."""
    return HEIGHT if width >= _WIDE else 2 * HEIGHT


def samples(scene: Scene) -> Iterator[Sample]:
    """Yield what is explained: all that may be drawn while a run goes on, so that a film keeps its legend."""
    if scene.units is None:
        yield from (("agent", marks.AGENT), ("start", marks.START), ("goal", marks.GOAL), ("subgoal", marks.SUBGOAL))
        yield from (("path", palette.TRAIL), ("expanded", palette.EXPANDED), ("learned", palette.HEAT_STOPS[2]))
    else:
        yield from (("unit", marks.UNITS[0]), ("stands still", marks.UNITS_STANDING[0]), ("goal", marks.UNIT_GOALS[0]))
    yield from (("wall", palette.WALL), ("changed", palette.CHANGED))
    if scene.known is not None:
        yield "not seen", palette.FOG[0]


def draw_legend(strip: NDArray[np.uint8], scene: Scene) -> None:
    """Draw samples and words into a strip of a picture; nothing is drawn where no font can be had."""
    font = load_font()
    if font is None:
        return
    from PIL import Image, ImageDraw

    placed = list(_placed(scene, strip.shape[1], font))
    image = Image.fromarray(strip)
    pen = ImageDraw.Draw(image)
    for x, y, (word, _) in placed:
        pen.text((x + _SAMPLE + 2, y), word, fill=palette.CAPTION, font=font, anchor="lm")
    strip[:] = np.asarray(image)
    for x, y, (_, look) in placed:
        _draw_sample(strip, x, y, look)


def _placed(scene: Scene, width: int, font: Any) -> Iterator[tuple[int, int, Sample]]:
    """Yield where each sample begins, in rows from left to right; what has no room is left out."""
    x, y, rows = _MARGIN, HEIGHT // 2, legend_height(width) // HEIGHT
    for sample in samples(scene):
        wide = _SAMPLE + 2 + int(font.getlength(sample[0]))
        if x + wide > width and rows > 1:
            x, y, rows = _MARGIN, y + HEIGHT, rows - 1
        if x + wide <= width:
            yield x, y, sample
        x += wide + _GAP


def _draw_sample(strip: NDArray[np.uint8], x: int, y: int, look: marks.Mark | palette.Colour) -> None:
    if isinstance(look, marks.Mark):
        marks.draw_mark(strip, np.array([x + _SAMPLE / 2, float(y)]), look, min(_RADIUS, 0.5 * _SAMPLE / look.size))
    else:
        strip[y - 5 : y + 5, x + 2 : x + 12] = look
