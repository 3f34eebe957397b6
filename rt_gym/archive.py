"""Arrays with a header in one ``.npz`` file: what databases, trees and networks are kept in. Data, never code.

The header is JSON, itself an array of bytes. It names the kind of the file, the version of its format, and what else
the writer stores, such as the digest of a map. The reader says which arrays the file must hold.
"""

import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rt_gym.errors import InputError, quoted
from rt_gym.files import PathLike, atomic_write, read_bytes, refusing, shown

MAX_ARCHIVE_BYTES = 1 << 33
_MOST_MEMBERS = 100
_HEAD = "head"
_LENGTH_BYTES = {(1, 0): 2, (2, 0): 4, (3, 0): 4}  # of a header's length, by the version of its format
_MOST_HEADER = 10_000  # characters
_TYPE = re.compile(r"""['"]descr['"]\s*:\s*['"]([<>|=]?[?biuf]\d*)['"]""")
_ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
_SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([-\d\sL,]*)\)""")  # L: as Python 2 wrote whole numbers

Arrays = dict[str, NDArray[Any]]
Layout = Mapping[str, tuple[DTypeLike, int]]  # of every array its type and number of dimensions


def save_archive(path: PathLike, kind: str, version: int, head: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a packed archive; at any moment the old file or the new one is there.

    Args:
        path: where to.
        kind: what it is, in words, such as ``"pattern database"``.
        version: of its format.
        head: what else the header says, as JSON can say it.
        arrays: the arrays by name.
    """
    text = json.dumps({"kind": f"rt_gym {kind}", "version": version} | dict(head))
    stream, members = io.BytesIO(), {_HEAD: np.frombuffer(text.encode(), np.uint8)} | dict(arrays)
    np.savez_compressed(stream, allow_pickle=False, **members)
    atomic_write(path, stream.getvalue())


def load_archive(path: PathLike, kind: str, version: int, layout: Layout) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a file that ``save_archive`` has written.

    Raises:
        InputError: if it is of another kind or version, damaged, or has other arrays than ``layout`` asks for.
    """
    file, data = shown(path), read_bytes(path, MAX_ARCHIVE_BYTES)
    # Counted before the archive is opened, because opening it makes an object per member.
    if data.count(b"PK\x01\x02", max(0, len(data) - (1 << 16))) > _MOST_MEMBERS:
        raise InputError(f"{file}: is not a {kind}: it has more than {_MOST_MEMBERS} members")
    with refusing(file, kind), zipfile.ZipFile(io.BytesIO(data)) as archive:
        head = _read_head(archive, file, kind, version)
        return head, {name: _read(archive, file, name, np.dtype(t), n) for name, (t, n) in layout.items()}


def _read_head(archive: zipfile.ZipFile, file: str, kind: str, version: int) -> dict[str, Any]:
    head = json.loads(_read(archive, file, _HEAD, np.dtype(np.uint8), 1).tobytes())
    if not isinstance(head, dict) or head.get("kind") != f"rt_gym {kind}":
        raise InputError(f"{file}: is not a {kind} of rt_gym")
    if head.get("version") != version:
        raise InputError(f"{file}: has version {quoted(head.get('version'))} of the format, not {version}")
    return head


def _read(archive: zipfile.ZipFile, file: str, name: str, dtype: np.dtype[Any], dimensions: int) -> NDArray[Any]:
    member = archive.getinfo(f"{name}.npy")
    # The other methods unpack a whole block at once, however large it is; NumPy writes only these two.
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{file}: is packed in a way that NumPy does not use")
    with archive.open(member) as stream:
        shape, fortran, found = read_header(stream)
        if found != dtype or len(shape) != dimensions or fortran:
            raise InputError(f"{file}: its array {name} is not what this version of rt_gym keeps there")
        return read_values(stream, shape, found, file, member.file_size)


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type of an array in NumPy's format; a type of neither numbers nor truth values is void.

    NumPy's own reader warns about old and odd headers, and no warning can be kept from a thread but for all of them.
    """
    length = int.from_bytes(stream.read(_LENGTH_BYTES[np.lib.format.read_magic(stream)]), "little")
    text = stream.read(length).decode("latin1") if length <= _MOST_HEADER else ""
    order, shape, kind = _ORDER.search(text), _SHAPE.search(text), _TYPE.search(text)
    if order is None or shape is None:
        raise ValueError("not a header")
    sides = tuple(int(side.strip().rstrip("L")) for side in shape[1].split(",") if side.strip())
    return sides, order[1] == "True", np.dtype(kind[1] if kind else np.void)


def read_values(stream: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any], file: str, most: int) -> NDArray[Any]:
    """Return the values after a header; the header is trusted only once its declared size has been checked."""
    size = math.prod(shape) * dtype.itemsize
    data = bytearray(stream.read(size)) if size <= most else bytearray()
    if len(data) != size or stream.read(1):
        raise InputError(f"{file}: holds more or fewer bytes than its header says")
    return np.frombuffer(data, dtype).reshape(shape)
