"""Mutated files of every kind: read as they are used, in little time and memory."""

import io
import random
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzz.case import Case
from fuzz.kinds import KINDS, Kind
from fuzz.mutations import mutated
from fuzz.watch import Watch
from rt_gym import InputError

_BOMB = 1 << 30  # bytes that a member of an archive unpacks to
_BOMBS = 0.002


class Sound(NamedTuple):
    """A file of a kind as it was written."""

    path: Path
    data: bytes


@cache
def sound(kind: Kind) -> Sound:
    """Write a file of a kind and read it once, which compiles what its reader needs."""
    path = kind.make(Path(tempfile.mkdtemp(prefix="rt-gym-fuzz-kind-")))
    data = path.read_bytes()
    kind.read(path)
    return Sound(path, data)


@cache
def bomb(data: bytes) -> bytes:
    """Return an archive whose first member unpacks to far more than it should, with a header that says so."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    first = next(iter(members))
    with zipfile.ZipFile(stream := io.BytesIO(), "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(first, "w", force_zip64=True) as member:
            np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (_BOMB,)})
            for _ in range(_BOMB >> 20):
                member.write(bytes(1 << 20))
        for name, content in list(members.items())[1:]:
            archive.writestr(name, content)
    return stream.getvalue()


def outcome(kind: Kind, path: Path) -> str:
    """Return whether a file was read or refused; the refusal must be one printable sentence with the file's name."""
    try:
        kind.read(path)
    except InputError as refusal:
        message = str(refusal)
        assert message.isprintable(), message
        assert path.name in message, message
        assert len(message) < len(str(path)) + 300, message
        return "refused"
    return "read"


def check_file(case: Case) -> None:
    """Damage a file and read it; the kinds take turns."""
    kind = KINDS[case.number % len(KINDS)]
    path, data = sound(kind)
    rng = random.Random(int(case.rng.integers(1 << 62)))
    exploding = zipfile.is_zipfile(io.BytesIO(data)) and rng.random() < _BOMBS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bomb(data) if exploding else mutated(data, rng))
    case.story.update(kind=kind.name)
    kept = case.folder / path.name
    kept.write_bytes(path.read_bytes())
    case.kept.append(kept)
    case.watch = Watch()
    case.counts[kind.name] += 1
    outcome(kind, path)
