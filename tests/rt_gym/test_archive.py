"""Files of arrays: what is written comes back, and whatever else is in a file is refused in one sentence."""

import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_gym import InputError
from rt_gym.archive import load_archive, save_archive

LAYOUT: dict[str, Any] = {"depth": (np.uint8, 2), "goal": (np.int32, 1)}
ARRAYS = {"depth": np.arange(12, dtype=np.uint8).reshape(3, 4), "goal": np.array([7, 8, 9], np.int32)}


def write(path: Path, kind: str = "test file", version: int = 2, **arrays: Any) -> Path:
    save_archive(path, kind, version, {"map": "abc"}, ARRAYS | arrays)
    return path


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    head, arrays = load_archive(write(tmp_path / "a.npz"), "test file", 2, LAYOUT)
    assert head["map"] == "abc"
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert (arrays[name] == array).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kind": "other file"}, r"a\.npz: is not a test file of rt_gym$"),
        ({"version": 3}, r"a\.npz: has version 3 of the format, not 2$"),
        ({"depth": np.zeros((3, 4), np.int64)}, "its array depth is not what"),
        ({"depth": np.zeros(4, np.uint8)}, "its array depth is not what"),
        ({"depth": np.asfortranarray(np.zeros((3, 4), np.uint8))}, "its array depth is not what"),
    ],
)
def test_files_of_another_kind_are_refused(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_archive(write(tmp_path / "a.npz", **content), "test file", 2, LAYOUT)


def test_a_file_without_one_of_the_arrays_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.npz")
    with pytest.raises(InputError, match=r"a\.npz: is not a readable test file"):
        load_archive(path, "test file", 2, LAYOUT | {"more": (np.int32, 1)})


@given(cut=st.floats(0, 1, exclude_max=True), flip=st.integers(0, 10**9))
def test_damaged_files_are_refused_or_unharmed(tmp_path_factory: pytest.TempPathFactory, cut: float, flip: int) -> None:
    path = write(tmp_path_factory.mktemp("damaged") / "a.npz")
    data = bytearray(path.read_bytes())
    path.write_bytes(data[: int(cut * len(data))])
    with pytest.raises(InputError, match=r"a\.npz: "):
        load_archive(path, "test file", 2, LAYOUT)
    data[flip % len(data)] ^= 1 << flip % 8
    path.write_bytes(data)
    arrays: dict[str, Any] = dict(ARRAYS)
    with suppress(InputError):
        _, arrays = load_archive(path, "test file", 2, LAYOUT)
    assert all((arrays[name] == ARRAYS[name]).all() for name in ARRAYS)


def test_an_array_that_claims_to_be_huge_is_refused_unread(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "|u1", "fortran_order": False, "shape": (1 << 40, 1 << 20)})
    with zipfile.ZipFile(path := tmp_path / "a.npz", "w") as archive:
        head = np.frombuffer(json.dumps({"kind": "rt_gym test file", "version": 2}).encode(), np.uint8)
        np.save(member := io.BytesIO(), head)
        archive.writestr("head.npy", member.getvalue())
        archive.writestr("depth.npy", stream.getvalue())
    with pytest.raises(InputError, match="more or fewer bytes than its header says"):
        load_archive(path, "test file", 2, LAYOUT)


def test_objects_are_neither_written_nor_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        save_archive(tmp_path / "a.npz", "test file", 2, {}, {"depth": np.array([object()])})
    np.savez(tmp_path / "b.npz", head=np.array([object()]), depth=np.array([object()]))
    with pytest.raises(InputError, match=r"b\.npz: "):
        load_archive(tmp_path / "b.npz", "test file", 2, LAYOUT)
