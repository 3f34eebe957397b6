"""Maps as PNG pictures, one pixel per cell: light pixels are free, dark and transparent ones are blocked."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError
from rt_gym.files import PathLike, atomic_write, read_bytes, refusing, shown
from rt_gym.grid import Grid
from rt_gym.sizes import MAP_BYTES, size_problem, strips

if TYPE_CHECKING:
    from PIL.Image import Image

_TIGHTEST = 1032  # bytes that one of a packed picture can stand for
_PER_CELL = 6  # bytes, while a picture is read: four for a pixel in any colours


def read_png(path: PathLike, **grid_options: Any) -> Grid:
    """Return the grid of a ``.png`` file: free where a pixel is at least half opaque and 128 of 255 light."""
    from PIL.PngImagePlugin import PngImageFile

    file, data = shown(path), read_bytes(path, MAP_BYTES)
    _check_size(file, data)
    # Not Image.open, which has a limit, and a message, of its own.
    with refusing(file, "PNG picture"), PngImageFile(io.BytesIO(data)) as picture:
        cells = np.empty((picture.height, picture.width), bool)
        for rows in strips(picture.width, picture.height):
            cells[rows] = _light(picture.crop((0, rows.start, picture.width, rows.stop)))
    return Grid(cells, name=Path(path).stem, **grid_options)


def _check_size(file: str, data: bytes) -> None:
    """Refuse a picture by the size in its header, which comes first."""
    if data[12:16] == b"IHDR" and len(data) >= 24:
        width, height = (int.from_bytes(data[k : k + 4], "big") for k in (16, 20))
        if problem := size_problem(width, height, _PER_CELL):
            raise InputError(f"{file}: has {width} x {height} pixels: {problem}")
        if width * height > 8 * _TIGHTEST * len(data):
            raise InputError(f"{file}: is not a readable PNG picture, but too short for {width} x {height} pixels")


def _light(picture: "Image") -> NDArray[np.bool_]:
    if picture.mode.startswith("I"):  # 16 bits of grey, which Pillow would clip instead of scaling
        grey = np.asarray(picture).astype(np.int64)
        return (grey >= 1 << 15) & (grey != picture.info.get("transparency", -1))
    picture = picture.convert("RGBA")
    return (np.asarray(picture.convert("L")) >= 128) & (np.asarray(picture.getchannel("A")) >= 128)


def write_png(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid as a black and white ``.png`` file."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(grid.passable).save(stream, "PNG")
    atomic_write(path, stream.getvalue())
