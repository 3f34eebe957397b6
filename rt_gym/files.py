"""Reading and writing whole files safely: bounded reads, atomic writes, one sentence when something is wrong."""

import hashlib
import io
import json
import os
import platform
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rt_gym.errors import InputError, quoted

MAX_BYTES = 1 << 25  # of a file that holds no map; see rt_gym.sizes for those
_TEMPORARY = re.compile(r"\.rt_gym-([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{16}\.tmp")  # machine, process, a random number
_DAY = 86_400.0
_DIGEST_LENGTH = 64  # of the seal of a work file in hexadecimal digits, which stands at its end
_MOST_JSON, _MOST_BRACKETS = 1 << 24, 1 << 20

PathLike = str | os.PathLike[str]


def require_path(name: str, value: Any, kinds: str) -> None:
    """Refuse what is no path; the message names all ``kinds`` that the parameter may be, such as "a file or Trees"."""
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(f"{name} must be {kinds}, not {quoted(value)}")


def shown(path: PathLike) -> str:
    """Return a path as messages show it: on one line, whatever the file is called."""
    text = os.fspath(path)
    return text if text.isprintable() and text else ascii(text)


def read_bytes(path: PathLike, limit: int = MAX_BYTES) -> bytes:
    """Return the content of a regular file of at most ``limit`` bytes."""
    with open_regular(path, limit) as raw, io.BufferedReader(raw) as file:
        # Not the limit: room for all that is asked for is made before anything is read.
        return file.read(os.fstat(file.fileno()).st_size)


@contextmanager
def open_regular(path: PathLike, limit: int | None = None) -> Iterator[io.FileIO]:
    """Open a regular file, of at most ``limit`` bytes if there is one, for reading."""
    with _refusing(path, "read"):
        # Asked before opening, because opening a pipe would wait for its writer.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InputError(f"{shown(path)}: is not a regular file")
        file = open(path, "rb", buffering=0)  # noqa: SIM115  closed below, where other errors are the caller's
    with file:
        if limit is not None and os.fstat(file.fileno()).st_size > limit:
            raise InputError(f"{shown(path)}: is larger than the {limit} bytes that are read at most")
        try:
            yield file
        except OSError as error:  # of a disk
            raise InputError(f"{shown(path)}: cannot be read ({error.strerror})") from None


def digest_file(path: PathLike) -> str:
    """Return the SHA-256 of a file of any size."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: PathLike, what: str) -> Any:
    """Return the content of a JSON file; refusals say that it is not ``what``, such as ``"a policy"``.

    What would take many times the memory of the file is refused unparsed.
    """
    data, file = read_bytes(path, _MOST_JSON), shown(path)
    if data.count(b"[") + data.count(b"{") > _MOST_BRACKETS:
        raise InputError(f"{file}: is not {what}: it has more than {_MOST_BRACKETS} lists and objects")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(f"{file}: is not {what}, nor any JSON file") from None


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


def require_writable(path: PathLike) -> None:
    """Refuse a place where no file can be written, before any work is done for it."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{shown(path)}: cannot be written, because its folder is missing or protected")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{shown(path)}: is not a regular file")


def seal(content: bytes) -> bytes:
    """Return content with its digest behind it; readers of archives do not mind."""
    return content + hashlib.sha256(content).hexdigest().encode()


def unseal(data: bytes) -> bytes:
    """Return what was sealed.

    Raises:
        ValueError: if it is not whole, or was changed.
    """
    content, digest = data[:-_DIGEST_LENGTH], data[-_DIGEST_LENGTH:]
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise ValueError("the digest is that of another content")
    return content


def make_folder(path: PathLike) -> None:
    """Make sure that files can be put into a folder, before any work is done for them."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a possible name"
        raise InputError(f"{shown(path)}: the folder cannot be made ({reason})") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise InputError(f"{shown(path)}: nothing can be written into this folder")


def remove_stale(folder: PathLike) -> None:
    """Remove what writers that were killed have left in a folder, not in those below it.

    That is a file named as ours are before they are renamed, whose process no longer runs on this machine, or which
    nobody has written to for a day: whether a process of another machine runs cannot be seen from here.
    """
    try:
        with os.scandir(folder) as found:
            stale = [entry.path for entry in found if _is_stale(entry)]
    except OSError:  # no such folder, or not ours to look into
        return
    for path in stale:
        Path(path).unlink(missing_ok=True)


def _is_stale(entry: "os.DirEntry[str]") -> bool:
    match = _TEMPORARY.fullmatch(entry.name)
    if not match or not entry.is_file(follow_symlinks=False):
        return False
    gone = match[1] == _machine() and not _runs(int(match[2]))
    return gone or time.time() - entry.stat(follow_symlinks=False).st_mtime > _DAY


def _machine() -> str:
    return hashlib.blake2b(platform.node().encode(), digest_size=4).hexdigest()


def _runs(process: int) -> bool:
    """Whether there is a process of this number; elsewhere than on POSIX nobody can ask without harm."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is somebody else's
        return True
    return True


def _write_beside(target: Path, pieces: Iterable[bytes]) -> None:
    temporary = target.with_name(f".rt_gym-{_machine()}-{os.getpid()}-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            if target.exists():  # what others may not read must not become readable
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
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
    except MemoryError:
        raise InputError(f"{file}: takes more memory than there is") from None
    except Exception:
        raise InputError(f"{file}: is not a readable {kind}") from None
