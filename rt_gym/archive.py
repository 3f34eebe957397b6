"""Arrays with a header in one ``.npz`` file: what databases, trees and networks are kept in. Data, never code.

The header is JSON, itself an array of bytes. It names the kind of the file, the version of its format, and what else
the writer stores, such as the digest of a map. The reader says which arrays the file must hold.
"""

import io
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rt_gym.errors import InputError, quoted
from rt_gym.files import MAX_BYTES, PathLike, atomic_write, open_regular, refusing, shown

MAX_ARCHIVE_BYTES = 1 << 33
MOST_MEMBERS = 100
_MOST_HEAD = 1 << 22  # bytes of a header
_PIECE = 1 << 16  # bytes that are unpacked at a time
_MOST_AT_ONCE = 1 << 17  # bytes that are read at a time; a comment and what lists a hundred members are less
_HEAD = "head"
_LENGTH_BYTES = {(1, 0): 2, (2, 0): 4, (3, 0): 4}  # of a header's length, by the version of its format
_MOST_HEADER, _PREFIX = 10_000, 12  # characters of a header, as many as NumPy reads, and bytes before it
_TYPE = re.compile(r"""['"]descr['"]\s*:\s*['"]([<>|=]?[?biuf]\d*)['"]""")
_ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
_SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([-\d\sL,]*)\)""")  # L: as Python 2 wrote whole numbers

Arrays = dict[str, NDArray[Any]]
Layout = Mapping[str, tuple[DTypeLike, int]]  # of every array its type and number of dimensions
Shapes = dict[str, tuple[int, ...]]
Accept = Callable[[dict[str, Any], Shapes], None]


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


def load_archive(
    path: PathLike, kind: str, version: int, layout: Layout, accept: Accept | None = None
) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a file that ``save_archive`` has written.

    Args:
        path: the file.
        kind: what it must be.
        version: the version that its format must have.
        layout: the arrays that are wanted.
        accept: refuses a header, or shapes, that cannot be right, before anything of such a shape is unpacked: a
            megabyte can be packed zeros for a gigabyte. Without it, arrays that are large are refused.

    Raises:
        InputError: if it is of another kind or version, damaged, or has other arrays than ``layout`` asks for.
    """
    file = shown(path)
    with open_zip(path, kind, MAX_ARCHIVE_BYTES) as archive:
        head = _read_head(archive, file, kind, version)
        found = {name: _Member(archive, name, file, np.dtype(t), n) for name, (t, n) in layout.items()}
        if accept is not None:
            accept(head, {name: member.shape for name, member in found.items()})
        elif sum(member.size for member in found.values()) > MAX_BYTES:
            raise InputError(f"{file}: holds arrays of more than the {MAX_BYTES} bytes that are read at most")
        return head, {name: member.read() for name, member in found.items()}


@contextmanager
def open_zip(path: PathLike, kind: str, limit: int, members: int = MOST_MEMBERS) -> Iterator[zipfile.ZipFile]:
    """Open a file of at most ``limit`` bytes as an archive of few members; whatever goes wrong is refused."""
    file = shown(path)
    with (
        open_regular(path, limit) as raw,
        refusing(file, kind),
        _Pieces(raw, file, members) as pieces,
        zipfile.ZipFile(pieces) as archive,
    ):
        if len(archive.infolist()) > members:
            raise _too_many(file, members)
        yield archive


class _Pieces(io.BufferedReader):
    """A file of which little is read at a time.

    Opening an archive reads what lists its members at once and makes an object of each, however many they are.
    """

    def __init__(self, raw: Any, file: str, members: int) -> None:
        super().__init__(raw)
        self._file, self._members = file, members
        self._most = _MOST_AT_ONCE * -(-members // MOST_MEMBERS)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return what is asked for, or refuse the file where that is a lot."""
        wanted = self._most + 1 if size is None or size < 0 else min(size, self._most + 1)
        data = super().read(wanted)
        if len(data) > self._most:
            raise _too_many(self._file, self._members)
        return data


def _too_many(file: str, members: int) -> InputError:
    return InputError(f"{file}: has more than {members} members, which none of our files has")


def _read_head(archive: zipfile.ZipFile, file: str, kind: str, version: int) -> dict[str, Any]:
    member = _Member(archive, _HEAD, file, np.dtype(np.uint8), 1)
    if member.size > _MOST_HEAD:
        raise InputError(f"{file}: has a header of more than {_MOST_HEAD} bytes")
    head = json.loads(member.read().tobytes())
    if not isinstance(head, dict) or head.get("kind") != f"rt_gym {kind}":
        raise InputError(f"{file}: is not a {kind} of rt_gym")
    if head.get("version") != version:
        raise InputError(f"{file}: has version {quoted(head.get('version'))} of the format, not {version}")
    return head


class _Member:
    """An array in an archive, of which only the shape is known until it is read."""

    def __init__(self, archive: zipfile.ZipFile, name: str, file: str, dtype: np.dtype[Any], dimensions: int) -> None:
        self._archive, self._info, self._file = archive, archive.getinfo(f"{name}.npy"), file
        with open_member(archive, self._info, file) as stream:
            self.shape, fortran, found, _ = read_header(stream)
        if found != dtype or len(self.shape) != dimensions or fortran:
            raise InputError(f"{file}: its array {name} is not what this version of rt_gym keeps there")
        self.size = math.prod(self.shape) * dtype.itemsize
        if self.size > self._info.file_size:
            raise other_size(file)

    def read(self) -> NDArray[Any]:
        with open_member(self._archive, self._info, self._file) as stream:
            shape, _, dtype, begun = read_header(stream)
            return read_values(stream, begun, shape, dtype, self._file)


def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: str) -> IO[bytes]:
    """Open a member of an archive that is packed as NumPy does it."""
    # The other methods unpack a whole block at once, however large it is; NumPy writes only these two.
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{file}: is packed in a way that NumPy does not use")
    return archive.open(member)


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any], bytes]:
    """Return shape, order and type of an array in NumPy's format, and what was read beyond its header.

    A type of neither numbers nor truth values is void. NumPy's own reader warns about old and odd headers, and no
    warning can be kept from a thread but for all of them.
    """
    begun = io.BytesIO(stream.read(_MOST_HEADER + _PREFIX))  # a header can claim to have gigabytes
    length = int.from_bytes(begun.read(_LENGTH_BYTES[np.lib.format.read_magic(begun)]), "little")
    text = begun.read(length).decode("latin1") if length <= _MOST_HEADER else ""
    order, shape, kind = _ORDER.search(text), _SHAPE.search(text), _TYPE.search(text)
    if order is None or shape is None:
        raise ValueError("not a header")
    sides = tuple(int(side.strip().rstrip("L")) for side in shape[1].split(",") if side.strip())
    return sides, order[1] == "True", np.dtype(kind[1] if kind else np.void), begun.read()


def read_values(
    stream: IO[bytes], begun: bytes, shape: tuple[int, ...], dtype: np.dtype[Any], file: str
) -> NDArray[Any]:
    """Return the values after a header, of which some are read already; their size must have been checked."""
    values = np.empty(math.prod(shape) * dtype.itemsize, np.uint8)
    at, piece = 0, begun
    while piece:
        if at + len(piece) > values.size:
            raise other_size(file)
        values[at : at + len(piece)] = np.frombuffer(piece, np.uint8)
        at, piece = at + len(piece), stream.read(_PIECE)
    if at < values.size:
        raise other_size(file)
    return values.view(dtype).reshape(shape)


def other_size(file: str) -> InputError:
    """Return the refusal of a file whose array is not as large as its header says."""
    return InputError(f"{file}: holds more or fewer bytes than its header says")
