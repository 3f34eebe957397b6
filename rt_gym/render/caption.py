"""A line of text below the map."""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rt_gym.render import palette

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

STRIP = 26  # pixels of height that a caption takes
_SIZE, _MARGIN = 13, 10


def draw_caption(strip: NDArray[np.uint8], caption: str) -> None:
    """Write a caption into the lowest part of a picture; nothing is written where no font can be had."""
    font = load_font()
    if font is None:
        return
    from PIL import Image, ImageDraw

    height, width = strip.shape[:2]
    image = Image.fromarray(strip)
    text = _shorten(caption, width - 2 * _MARGIN, font)
    ImageDraw.Draw(image).text((_MARGIN, height // 2), text, fill=palette.CAPTION, font=font, anchor="lm")
    strip[:] = np.asarray(image)


@cache
def load_font() -> "FreeTypeFont | ImageFont | None":
    """Return the font of captions, None where there is none."""
    try:
        from PIL import ImageFont

        return ImageFont.load_default(_SIZE)
    except ImportError:
        return None


def _shorten(caption: str, width: int, font: "FreeTypeFont | ImageFont") -> str:
    """Return as much of a caption as fits, with dots where something is missing."""
    if font.getlength(caption) <= width:
        return caption
    keep = min(len(caption), width)  # a letter is at least a pixel wide
    while keep > 0 and font.getlength(caption[:keep] + "...") > width:
        keep -= 1
    return caption[:keep] + "..." if keep else ""
