"""Maps as plain text, ``.txt``: a line per row, ``#`` for a wall and ``.`` for a free cell."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from rt_gym.errors import InputError
from rt_gym.files import PathLike, read_bytes, shown
from rt_gym.grid import Grid
from rt_gym.sizes import MAP_BYTES, size_problem

_PER_CELL = 6  # bytes, while a map is read


def read_text(path: PathLike, **grid_options: Any) -> Grid:
    """Return the grid of a ``.txt`` file, named after it; the options are those of ``Grid``."""
    file, width, letters = shown(path), 0, bytearray()
    for number, line in enumerate(BytesIO(read_bytes(path, MAP_BYTES).rstrip()), start=1):
        row = line.rstrip(b"\r\n")
        width = width or len(row)
        if len(row) != width:
            raise InputError(f"{file}, line {number}: the row has {len(row)} letters, but the first has {width}")
        if problem := size_problem(width, number, _PER_CELL):
            raise InputError(f"{file}, line {number}: {problem}")
        if rest := row.translate(None, b"#."):
            raise InputError(_unknown(f"{file}, line {number}", row, rest[0]))
        letters += row
    if not letters:
        raise InputError(f"{file}: is empty")
    cells = np.frombuffer(letters, np.uint8).reshape(-1, width) == ord(".")
    return Grid(cells, name=Path(path).stem, **grid_options)


def _unknown(where: str, row: bytes, byte: int) -> str:
    name = repr(chr(byte)) if 32 <= byte < 127 else f"byte {byte}"
    return f"{where}: {name} in column {row.index(byte) + 1} is neither # (wall) nor . (free)"
