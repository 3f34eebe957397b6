"""Maps as PNG pictures, one pixel per cell: light pixels are free, dark and transparent ones are blocked.

How light a pixel is, from 0 to 255, is that of its grey (ITU-R 601-2: 0.299 red, 0.587 green, 0.114 blue).
"""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, flag, whole
from rt_gym.files import PathLike, atomic_write, read_bytes, refusing, shown
from rt_gym.grid import Grid
from rt_gym.sizes import MAP_BYTES, size_problem, strips

if TYPE_CHECKING:
    from PIL.Image import Image

_TIGHTEST = 1032  # bytes that one of a packed picture can stand for
_PER_CELL = 6  # bytes, while a picture is read: four for a pixel in any colours


def read_png(path: PathLike, wall_below: int = 128, invert: bool = False, **grid_options: Any) -> Grid:
    """Return the grid of a ``.png`` file, named after it.

    Args:
        path: the file.
        wall_below: pixels that are less light than this, of 255, are walls; and those that are less than half opaque.
        invert: whether light pixels are the walls instead, and the others free.
        **grid_options: those of ``Grid``.
    """
    from PIL.PngImagePlugin import PngImageFile

    limit, invert = whole("wall_below", wall_below, 1, 255), flag("invert", invert)
    file, data = shown(path), read_bytes(path, MAP_BYTES)
    _check_size(file, data)
    # Not Image.open, which has a limit, and a message, of its own.
    with refusing(file, "PNG picture"), PngImageFile(io.BytesIO(data)) as picture:
        cells = np.empty((picture.height, picture.width), bool)
        for rows in strips(picture.width, picture.height):
            light, opaque = _seen(picture.crop((0, rows.start, picture.width, rows.stop)), limit)
            cells[rows] = (light != invert) & opaque
    return Grid(cells, name=Path(path).stem, **grid_options)


def _check_size(file: str, data: bytes) -> None:
    """Refuse a picture by the size in its header, which comes first."""
    if data[12:16] == b"IHDR" and len(data) >= 24:
        width, height = (int.from_bytes(data[k : k + 4], "big") for k in (16, 20))
        if problem := size_problem(width, height, _PER_CELL):
            raise InputError(f"{file}: has {width} x {height} pixels: {problem}")
        if width * height > 8 * _TIGHTEST * len(data):
            raise InputError(f"{file}: is not a readable PNG picture, but too short for {width} x {height} pixels")


def _seen(picture: "Image", limit: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which pixels are light, and which are opaque."""
    if picture.mode.startswith("I"):  # 16 bits of grey, which Pillow would clip instead of scaling
        grey = np.asarray(picture).astype(np.int64)
        return grey >= limit << 8, grey != picture.info.get("transparency", -1)
    picture = picture.convert("RGBA")
    return np.asarray(picture.convert("L")) >= limit, np.asarray(picture.getchannel("A")) >= 128


def write_png(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid as a black and white ``.png`` file."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(grid.passable).save(stream, "PNG")
    atomic_write(path, stream.getvalue())
