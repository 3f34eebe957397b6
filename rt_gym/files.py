"""Reading and writing whole files safely: bounded reads, atomic writes, one sentence when something is wrong."""

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rt_gym.errors import InputError

MAX_BYTES = 1 << 25  # eight bytes for every cell of the largest grid

PathLike = str | os.PathLike[str]


def shown(path: PathLike) -> str:
    """Return a path as messages show it: on one line, whatever the file is called."""
    text = os.fspath(path)
    return text if text.isprintable() and text else ascii(text)


def read_bytes(path: PathLike, limit: int = MAX_BYTES) -> bytes:
    """Return the content of a regular file of at most ``limit`` bytes."""
    with _refusing(path, "read"):
        # Asked before opening, because opening a pipe would wait for its writer.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InputError(f"{shown(path)}: is not a regular file")
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"{shown(path)}: is larger than the {limit} bytes that are read at most")
    return data


def atomic_write(path: PathLike, data: bytes | Iterable[bytes]) -> None:
    """Write a file so that at any moment the old content or the new one is there, never a part of it.

    Args:
        path: where to.
        data: the content, or its pieces one after the other.
    """
    with _refusing(path, "written"):
        # Links are followed, so that the file they name is replaced and not the link.
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            raise InputError(f"{shown(path)}: is not a regular file")
        _write_beside(target, [data] if isinstance(data, bytes) else data)


def make_folder(path: PathLike) -> None:
    """Make sure that files can be put into a folder, before any work is done for them."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a possible name"
        raise InputError(f"{shown(path)}: the folder cannot be made ({reason})") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise InputError(f"{shown(path)}: nothing can be written into this folder")


def _write_beside(target: Path, pieces: Iterable[bytes]) -> None:
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _refusing(path: PathLike, deed: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot be {deed} ({error.strerror})") from None
    except ValueError:
        raise InputError(f"{shown(path)}: is not a possible file name") from None


@contextmanager
def refusing(file: str, kind: str) -> Iterator[None]:
    """Turn whatever a decoder raises into one sentence; broken and hostile files make decoders raise about anything."""
    try:
        yield
    except InputError:
        raise
    except Exception:
        raise InputError(f"{file}: is not a readable {kind}") from None
