"""The rows behind results in one archive, for those who want to judge them by themselves.

An archive is a zip file with the tables of every experiment, ``<id>/<size>/results.csv`` and those beside it, and
``SHA256SUMS``, the digest of each, as ``sha256sum --check`` reads it.
"""

import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rt_gym import InputError
from rt_gym.files import atomic_write, digest_file, shown
from training.runs.tables import TABLES, TRIALS_TABLE

SUMS = "SHA256SUMS"
_PIECE = 1 << 20
_DATE = (1980, 1, 1, 0, 0, 0)  # of all members: what an archive is depends on its rows alone


def find_tables(folder: Path, experiments: Iterable[str], size: str) -> list[Path]:
    """Return the tables that experiments of a size have left in a work folder.

    Raises:
        InputError: if there are none.
    """
    homes = [folder / name / size for name in experiments]
    found = [home / name for home in homes for name in (*TABLES, TRIALS_TABLE) if (home / name).is_file()]
    if not found:
        raise InputError(
            f"{shown(folder)}: holds no rows of the size {size}; run the experiments with this --out first"
        )
    return found


def pack_rows(folder: Path, tables: Iterable[Path], archive: Path) -> str:
    """Write tables of a work folder into an archive, and return its SHA-256."""
    atomic_write(archive, _pieces({table.relative_to(folder).as_posix(): table for table in sorted(tables)}))
    return digest_file(archive)


def _pieces(members: dict[str, Path]) -> Iterator[bytes]:
    """Yield the bytes of an archive; no table is ever in memory as a whole."""
    sink, sums = _Sink(), list[str]()
    with zipfile.ZipFile(sink, "w") as packed:
        for name, path in members.items():
            digest = hashlib.sha256()
            with path.open("rb") as table, packed.open(_member(name), "w", force_zip64=True) as member:
                while piece := table.read(_PIECE):
                    digest.update(piece)
                    member.write(piece)
                    yield sink.take()
            sums.append(f"{digest.hexdigest()}  {name}\n")
        packed.writestr(_member(SUMS), "".join(sums))
    yield sink.take()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


class _Sink(io.RawIOBase):
    """What an archive is written to: hands on what it was given, and cannot go back."""

    def __init__(self) -> None:
        self._given = bytearray()

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, data: Any, /) -> int:
        """Keep data until they are taken."""
        self._given += data
        return len(data)

    def take(self) -> bytes:
        """Return what has been given since the last time."""
        given = bytes(self._given)
        self._given.clear()
        return given
