"""Maps as arrays: NumPy ``.npy`` and ``.npz`` files, and ``.csv`` text. 1 (or true) is a free cell, 0 a blocked one."""

import io
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.archive import open_member, open_zip, read_header, read_values
from rt_gym.errors import InputError
from rt_gym.files import MAX_BYTES, PathLike, atomic_write, read_bytes, refusing, shown
from rt_gym.grid import Grid
from rt_gym.sizes import size_problem

_BOM = b"\xef\xbb\xbf"  # spreadsheets write it in front of UTF-8 text


def read_npy(path: PathLike, **grid_options: Any) -> Grid:
    """Return the grid of a ``.npy`` file, named after it; the options are those of ``Grid``."""
    file = shown(path)
    with refusing(file, ".npy file"):
        cells = _array(io.BytesIO(read_bytes(path)), file)
    return Grid(cells, name=Path(path).stem, **grid_options)


def read_npz(path: PathLike, **grid_options: Any) -> Grid:
    """Return the grid of an ``.npz`` file: its array ``passable``, or else its only array."""
    file = shown(path)
    opened = open_zip(path, ".npz file", MAX_BYTES)
    with opened as archive, open_member(archive, _member(archive, file), file) as stream:
        cells = _array(stream, file)
    return Grid(cells, name=Path(path).stem, **grid_options)


def _member(archive: zipfile.ZipFile, file: str) -> zipfile.ZipInfo:
    members = {info.filename: info for info in archive.infolist()}
    if "passable.npy" in members:
        return members["passable.npy"]
    if len(members) != 1:
        raise InputError(f"{file}: must hold one array, or one called passable, but holds {len(members)} others")
    return next(iter(members.values()))


def _array(stream: IO[bytes], file: str) -> NDArray[np.bool_]:
    """Read one array, trusting its header only once its declared size has been checked."""
    shape, fortran, dtype, begun = read_header(stream)
    if len(shape) != 2:
        raise InputError(f"{file}: a map needs an array of 2 dimensions, not {len(shape)}")
    if problem := size_problem(shape[1], shape[0]):
        raise InputError(f"{file}: {problem}")
    if dtype.kind not in "biuf":
        raise InputError(f"{file}: a map needs truth values or numbers, not arrays of another kind")
    values = read_values(stream, begun, shape[::-1] if fortran else shape, dtype, file)
    return _truth(values.T if fortran else values, file)


def _truth(values: NDArray[Any], file: str) -> NDArray[np.bool_]:
    if values.dtype.kind == "b":
        return values.view(np.uint8) != 0  # a file may hold truth values other than 0 and 1
    wrong = np.argwhere((values != 0) & (values != 1))
    if wrong.size:
        y, x = map(int, wrong[0])
        raise InputError(f"{file}: the cell at ({x}, {y}) is {values[y, x]}, not 0 (blocked) or 1 (free)")
    return values == 1


def write_npy(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid as a ``.npy`` file of truth values."""
    stream = io.BytesIO()
    np.save(stream, grid.passable, allow_pickle=False)
    atomic_write(path, stream.getvalue())


def write_npz(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid as a packed ``.npz`` file whose array is called ``passable``."""
    stream = io.BytesIO()
    np.savez_compressed(stream, passable=grid.passable)
    atomic_write(path, stream.getvalue())


def read_csv(path: PathLike, **grid_options: Any) -> Grid:
    """Return the grid of a ``.csv`` file: rows of 0 (blocked) and 1 (free) with commas between."""
    file = shown(path)
    lines = io.BytesIO(read_bytes(path).removeprefix(_BOM).rstrip())
    width, rows = 0, []
    for number, line in enumerate(lines, start=1):
        columns = line.count(b",") + 1
        width = width or columns
        if columns != width:
            raise InputError(f"{file}, line {number}: the row has {columns} cells, but the first has {width}")
        if problem := size_problem(width, number):
            raise InputError(f"{file}, line {number}: {problem}")
        rows.append(_csv_row(line, f"{file}, line {number}"))
    if not rows:
        raise InputError(f"{file}: is empty")
    cells = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, width) == ord("1")
    return Grid(cells, name=Path(path).stem, **grid_options)


def _csv_row(line: bytes, where: str) -> bytes:
    """Return the digits of one line."""
    fields = [field.strip() for field in line.split(b",")]
    for column, field in enumerate(fields, start=1):
        if field not in (b"0", b"1"):
            text = ascii(field[:20].decode("utf-8", "replace"))
            raise InputError(f"{where}: the cell in column {column} is {text}, not 0 (blocked) or 1 (free)")
    return b"".join(fields)


def write_csv(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid as a ``.csv`` file."""
    text = np.full((grid.height, 2 * grid.width), ord(","), np.uint8)
    text[:, ::2] = np.where(grid.passable, ord("1"), ord("0"))
    text[:, -1] = ord("\n")
    atomic_write(path, text.tobytes())
