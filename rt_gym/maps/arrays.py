"""Maps as arrays: NumPy ``.npy`` and ``.npz`` files, and ``.csv`` text. 1 (or true) is a free cell, 0 a blocked one."""

import io
import os
import zipfile
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.archive import open_member, open_zip, other_size, read_header, read_values
from rt_gym.errors import InputError
from rt_gym.files import PathLike, atomic_write, open_regular, read_bytes, refusing, shown
from rt_gym.grid import Grid
from rt_gym.sizes import MAP_BYTES, size_problem, strips

_PER_CELL = 6  # bytes beside the array in the file, while a map is read
_BOM = b"\xef\xbb\xbf"  # spreadsheets write it in front of UTF-8 text


def read_npy(path: PathLike, **grid_options: Any) -> Grid:
    """Return the grid of a ``.npy`` file, named after it; the options are those of ``Grid``."""
    file = shown(path)
    with open_regular(path, MAP_BYTES) as raw, refusing(file, ".npy file"), io.BufferedReader(raw) as stream:
        cells = _array(stream, file, os.fstat(raw.fileno()).st_size)
    return Grid(cells, name=Path(path).stem, **grid_options)


def read_npz(path: PathLike, **grid_options: Any) -> Grid:
    """Return the grid of an ``.npz`` file: its array ``passable``, or else its only array."""
    file = shown(path)
    with open_zip(path, ".npz file", MAP_BYTES) as archive:
        member = _member(archive, file)
        with open_member(archive, member, file) as stream:
            cells = _array(stream, file, member.file_size)
    return Grid(cells, name=Path(path).stem, **grid_options)


def _member(archive: zipfile.ZipFile, file: str) -> zipfile.ZipInfo:
    members = {info.filename: info for info in archive.infolist()}
    if "passable.npy" in members:
        return members["passable.npy"]
    if len(members) != 1:
        raise InputError(f"{file}: must hold one array, or one called passable, but holds {len(members)} others")
    return next(iter(members.values()))


def _array(stream: IO[bytes], file: str, size: int) -> NDArray[np.bool_]:
    """Read one array from so many bytes, trusting its header only once its declared size has been checked."""
    shape, fortran, dtype, begun = read_header(stream)
    if len(shape) != 2:
        raise InputError(f"{file}: a map needs an array of 2 dimensions, not {len(shape)}")
    if dtype.kind not in "biuf":
        raise InputError(f"{file}: a map needs truth values or numbers, not arrays of another kind")
    if problem := size_problem(shape[1], shape[0], dtype.itemsize + _PER_CELL):
        raise InputError(f"{file}: {problem}")
    if shape[0] * shape[1] * dtype.itemsize > size:
        raise other_size(file)
    values = read_values(stream, begun, shape[::-1] if fortran else shape, dtype, file)
    return _truth(values.T if fortran else values, file)


def _truth(values: NDArray[Any], file: str) -> NDArray[np.bool_]:
    if values.dtype.kind == "b":
        return values.view(np.uint8) != 0  # a file may hold truth values other than 0 and 1
    free = values == 1
    wrong = ~free & (values != 0)
    if wrong.any():
        y, x = map(int, np.unravel_index(wrong.argmax(), wrong.shape))
        raise InputError(f"{file}: the cell at ({x}, {y}) is {values[y, x]}, not 0 (blocked) or 1 (free)")
    return free


def write_npy(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid as a ``.npy`` file of truth values."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(grid.passable))
    rows = (grid.passable[rows].tobytes() for rows in strips(grid.width, grid.height))
    atomic_write(path, chain([header.getvalue()], rows))


def write_npz(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid as a packed ``.npz`` file whose array is called ``passable``."""
    stream = io.BytesIO()
    np.savez_compressed(stream, passable=grid.passable)
    atomic_write(path, stream.getvalue())


def read_csv(path: PathLike, **grid_options: Any) -> Grid:
    """Return the grid of a ``.csv`` file: rows of 0 (blocked) and 1 (free) with commas between."""
    file = shown(path)
    lines = io.BytesIO(read_bytes(path, MAP_BYTES).removeprefix(_BOM).rstrip())
    width, digits = 0, bytearray()
    for number, line in enumerate(lines, start=1):
        columns = line.count(b",") + 1
        width = width or columns
        if columns != width:
            raise InputError(f"{file}, line {number}: the row has {columns} cells, but the first has {width}")
        if problem := size_problem(width, number, _PER_CELL):
            raise InputError(f"{file}, line {number}: {problem}")
        digits += _csv_row(line, f"{file}, line {number}")
    if not digits:
        raise InputError(f"{file}: is empty")
    cells = np.frombuffer(digits, np.uint8).reshape(-1, width) == ord("1")
    return Grid(cells, name=Path(path).stem, **grid_options)


def _csv_row(line: bytes, where: str) -> bytes:
    """Return the digits of one line."""
    line = line.strip()
    if not line[::2].strip(b"01") and not line[1::2].strip(b",") and len(line) % 2:
        return line[::2]  # no blanks: far faster than field by field
    fields = [field.strip() for field in line.split(b",")]
    for column, field in enumerate(fields, start=1):
        if field not in (b"0", b"1"):
            text = ascii(field[:20].decode("utf-8", "replace"))
            raise InputError(f"{where}: the cell in column {column} is {text}, not 0 (blocked) or 1 (free)")
    return b"".join(fields)


def write_csv(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid as a ``.csv`` file."""
    atomic_write(path, (_csv_text(grid.passable[rows]) for rows in strips(grid.width, grid.height)))


def _csv_text(cells: NDArray[np.bool_]) -> bytes:
    text = np.full((cells.shape[0], 2 * cells.shape[1]), ord(","), np.uint8)
    text[:, ::2] = cells.view(np.uint8) + ord("0")
    text[:, -1] = ord("\n")
    return text.tobytes()
