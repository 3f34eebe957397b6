"""Mutations of files, all from one random generator: of bytes, numbers in texts, JSON, arrays and archives.

What is changed within an archive is packed again as it should be, so that it gets past checksums.
"""

import copy
import io
import json
import random
import re
import zipfile
from typing import Any

import numpy as np

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
TEXTS = [b"0", b"-1", b"1e999", b"nan", b"inf", b"9" * 30, b"9" * 401, b"0.5", b"", b"x", b"4294967296", b"1_0"]
PIECES = [
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b",",
    b".",
    b"-",
    b"[",
    b"{",
    b'"',
    b"\xff",
    b"\xe2\x80\xa8",
    b"PK\x01\x02",
    b"nan",
]
DEEP = 5000
VALUES = (
    *(None, True, 0, -1, 1.5, 10**400, -(10**400), 2**31, 2**63, 1e308, float("nan"), float("inf"), "", "x" * 99),
    *([], {}, [[1], [1, 2]], [None], {"a": 1}, ["goal"], "\ud800"),
)
EXTREMES = (0, 1, -1, 127, 255, 1 << 15, (1 << 31) - 1, -(1 << 31), (1 << 63) - 1, -(1 << 63))
ODD = (np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0)
TYPES = (np.uint8, np.int8, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_, np.complex128, "U3")


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return data with one to three changes of any sort that suits them."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        sorts = [_bytes, _bytes]
        if zipfile.is_zipfile(io.BytesIO(data)):
            sorts += [_archive] * 6
        elif data.lstrip()[:1] in (b"{", b"["):
            sorts += [_json] * 4
        elif data.startswith(b"\x93NUMPY"):
            sorts += [_array] * 2
        elif NUMBER.search(data):
            sorts += [_number, _number]
        data = rng.choice(sorts)(data, rng)
    return data


def _bytes(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1) if rng.random() < 0.7 else rng.randrange(min(len(data), 64) + 1)
    end = min(len(data), at + rng.randrange(1, 40))
    piece = rng.choice([rng.choice(PIECES), rng.randbytes(rng.randrange(1, 9))])
    other = rng.randrange(len(data) + 1)
    flipped = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        if flipped:
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    return rng.choice([
        bytes(flipped),
        data[:at],
        data[at:],
        data[:at] + data[end:],
        data[:at] + piece + data[at:],
        data[:at] + piece + data[at + len(piece) :],
        data[:at] + data[at:end] + data[at:],
        data[:at] + data[other : other + end - at] + data[end:],
        data + piece,
    ])  # fmt: skip


def _number(data: bytes, rng: random.Random) -> bytes:
    found = list(NUMBER.finditer(data))
    if not found:
        return _bytes(data, rng)
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(TEXTS) + data[one.end() :]


def _json(data: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.2:
        return _number(data, rng)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return _bytes(data, rng)
    if rng.random() < 0.02:
        return b'{"a":' * DEEP + data + b"}" * DEEP
    parents = [found for found in _containers(content) if found]
    if not parents:
        return json.dumps(copy.deepcopy(rng.choice(VALUES))).encode()
    _change_member(rng.choice(parents), rng)
    try:
        return json.dumps(content).encode()
    except (ValueError, RecursionError):  # of more digits than Python writes, or nested too deeply
        return data


def _containers(content: Any) -> list[Any]:
    """Return all lists and objects, those on higher levels several times: there the structure is."""
    found, level = [], [content] if isinstance(content, (dict, list)) else []
    for weight in (8, 8, 4, 1, 1, 1):
        found += level * weight
        inner = (value for one in level for value in (one.values() if isinstance(one, dict) else one))
        level = [value for value in inner if isinstance(value, (dict, list))]
    return found


def _change_member(parent: Any, rng: random.Random) -> None:
    """Delete, repeat, exchange or replace one member of a list or an object."""
    keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
    key, other, deed = rng.choice(keys), rng.choice(keys), rng.randrange(5)
    if deed == 0:
        del parent[key]
    elif deed == 1 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif deed == 1:
        parent[f"{key}2"] = parent[key]
    elif deed == 2:
        parent[key], parent[other] = parent[other], parent[key]
    elif deed == 3 and isinstance(parent[key], (int, float)) and abs(parent[key]) < 1e99:
        parent[key] = parent[key] * rng.choice((-1, 2, 1.0, 0.5, 1000)) + rng.choice((0, 1, -1))
    else:
        parent[key] = copy.deepcopy(rng.choice(VALUES))


def _array(data: bytes, rng: random.Random) -> bytes:
    """Change a ``.npy`` file: its header, or its content with a header that says so."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception:
        return _bytes(data, rng)
    if rng.random() < 0.15:
        return _header(data, rng)
    return _saved(_with_text(array, rng) if _is_text(array) else _with_values(array, rng))


def _saved(array: np.ndarray[Any, Any]) -> bytes:
    np.save(stream := io.BytesIO(), array, allow_pickle=False)
    return stream.getvalue()


def _header(data: bytes, rng: random.Random) -> bytes:
    begin, end = data.index(b"("), data.index(b")")
    shape = rng.choice((b"1099511627776,", b"", b"-1,", b"3, 3", b"0,", b"2147483648, 2147483648", b"99999999,"))
    return rng.choice(
        (data[: begin + 1] + shape + data[end:], data.replace(b"False", b"True", 1), data[:6] + b"\2" + data[7:])
    )


def _is_text(array: np.ndarray[Any, Any]) -> bool:
    return array.dtype.kind == "U" or (array.dtype == np.uint8 and array.tobytes()[:1] == b"{")


def _with_text(array: np.ndarray[Any, Any], rng: random.Random) -> np.ndarray[Any, Any]:
    if array.dtype.kind == "U":
        return np.array(_json(str(array).encode(), rng).decode("utf-8", "replace"))
    return np.frombuffer(_json(array.tobytes(), rng), np.uint8)


def _with_values(array: np.ndarray[Any, Any], rng: random.Random) -> np.ndarray[Any, Any]:
    deed, flat = rng.randrange(9), array.copy().reshape(-1)
    if deed < 5 and flat.size:
        values = ODD if array.dtype.kind == "f" else EXTREMES
        span = slice(at := rng.randrange(flat.size), at + rng.choice((1, 1, 1, 1 << 20)))
        with np.errstate(all="ignore"):
            flat[span] = np.array(rng.choice(values)).astype(array.dtype)
        return flat.reshape(array.shape)
    if deed == 5:
        return array[: rng.randrange(len(array) + 1)] if array.ndim else flat
    if deed == 6:
        return np.concatenate([flat, flat])
    with np.errstate(all="ignore"):
        return array.astype(rng.choice(TYPES)) if deed == 7 else array.T.copy(order="F")


def _member(data: bytes, rng: random.Random) -> bytes:
    """Change a member of an archive: an array, or, in those of Stable-Baselines3, another archive or JSON."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        return _archive(data, rng)
    return _json(data, rng) if data[:1] == b"{" else _array(data, rng)


def _archive(data: bytes, rng: random.Random) -> bytes:
    """Pack an archive anew with something changed: a member, its name, how it is packed, a comment."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()[:100]}
    except Exception:
        return _bytes(data, rng)
    method, comment = zipfile.ZIP_DEFLATED, b""
    if not members:
        return _bytes(data, rng)
    name, other, deed = rng.choice(list(members)), rng.choice(list(members)), rng.random()
    if deed < 0.7:
        members[name] = _member(members[name], rng)
    elif deed < 0.75:
        del members[name]
    elif deed < 0.8:
        members[name], members[other] = members[other], members[name]
    elif deed < 0.85:
        members[f"{name}x"] = members.pop(name)
    elif deed < 0.88:
        members |= {f"{number}.npy": b"" for number in range(150)}
    elif deed < 0.9:
        members[name] = _saved(np.zeros(1 << 22, np.uint8))
    elif deed < 0.95:
        method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    else:
        comment = b"x" * rng.choice((1, 65535))
    with zipfile.ZipFile(stream := io.BytesIO(), "w", method) as archive:
        archive.comment = comment
        for key, content in members.items():
            archive.writestr(key, content)
    return stream.getvalue()
