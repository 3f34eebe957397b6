import io
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from rt_gym import sizes
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.maps import load_map, save_map

CELLS = np.array([[True, False, True], [False, True, True]])
SUFFIXES = [".map", ".png", ".npy", ".npz", ".csv"]

free_cells = arrays.arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12)))


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npy_claiming(shape: str, dtype: str = "'|b1'") -> bytes:
    header = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}}}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


def npz(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)  # without the time, which would get into test ids
    return stream.getvalue()


def png(array: np.ndarray, mode: str | None = None) -> bytes:
    stream = io.BytesIO()
    image = Image.fromarray(array)
    (image.convert(mode) if mode else image).save(stream, "PNG")
    return stream.getvalue()


def png_claiming(width: int, height: int) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = b"IDAT" + zlib.compress(b"\0" * 1000)
    chunks = (struct.pack(">I", len(c) - 4) + c + struct.pack(">I", zlib.crc32(c)) for c in (header, pixels, b"IEND"))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def load(folder: Path, name: str, data: bytes) -> Grid:
    (folder / name).write_bytes(data)
    return load_map(folder / name)


def refusal(folder: Path, name: str, data: bytes) -> str:
    with pytest.raises(InputError) as error:
        load(folder, name, data)
    message = str(error.value)
    assert message.startswith(str(folder / name))
    assert "\n" not in message
    return message


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(cells=free_cells)
def test_a_saved_map_is_loaded_back(tmp_path_factory: pytest.TempPathFactory, suffix: str, cells: np.ndarray) -> None:
    path = tmp_path_factory.getbasetemp() / f"saved{suffix}"
    save_map(Grid(cells), path)
    grid = load_map(path, connectivity=4)
    assert grid == Grid(cells, connectivity=4)
    assert grid.name == "saved"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_suffix_may_be_written_in_capitals(tmp_path: Path, suffix: str) -> None:
    save_map(Grid(CELLS), tmp_path / f"a{suffix.upper()}")
    assert load_map(tmp_path / f"a{suffix.upper()}") == Grid(CELLS)


def test_a_map_is_not_saved_under_an_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"a.txt: a map is written to a path that ends in .map, .png, .npy, .npz, .csv"
    ):
        save_map(Grid(CELLS), tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", ">i4", "float16", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_number_type_and_order_are_read(tmp_path: Path, dtype: str, order: str) -> None:
    data = npy(np.array(CELLS, dtype, order=order))
    assert load(tmp_path, "a.npy", data) == Grid(CELLS)
    assert load(tmp_path, "a.npz", npz({"whatever.npy": data})) == Grid(CELLS)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_all_versions_of_the_npy_format_are_read(tmp_path: Path, version: tuple[int, int]) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, CELLS, version)
    assert load(tmp_path, "a.npy", stream.getvalue()) == Grid(CELLS)


def test_an_array_written_by_python_2_is_read_without_a_warning(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    assert load(tmp_path, "a.npy", npy_claiming("(2L, 3L)") + CELLS.tobytes()) == Grid(CELLS)
    assert list(recwarn) == []


def test_the_array_called_passable_is_taken_out_of_several(tmp_path: Path) -> None:
    members = {"other.npy": npy(np.zeros(3)), "passable.npy": npy(CELLS)}
    assert load(tmp_path, "a.npz", npz(members, zipfile.ZIP_STORED)) == Grid(CELLS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a readable .npy file"),
        (npy(CELLS)[:40], "is not a readable .npy file"),
        (npy(CELLS)[:-1], "holds more or fewer bytes than its header says"),
        (npy(CELLS) + b"x", "holds more or fewer bytes than its header says"),
        (npy(CELLS).replace(b"NUMPY\x01", b"NUMPY\x09"), "is not a readable .npy file"),
        (npy(np.ones(3)), "a map needs an array of 2 dimensions, not 1"),
        (npy(np.ones((2, 2, 2))), "a map needs an array of 2 dimensions, not 3"),
        (npy(np.ones((0, 4))), "the width and height of a map must be at least 1"),
        (npy(np.array([[0, 2]])), "the cell at (1, 0) is 2, not 0 (blocked) or 1 (free)"),
        (npy(np.array([[0, np.nan]])), "the cell at (1, 0) is nan, not 0 (blocked) or 1 (free)"),
        (npy(np.array([["a"]])), "a map needs truth values or numbers"),
        (npy(np.array([[1j]])), "a map needs truth values or numbers"),
        (npy(np.array([[None]])), "a map needs truth values or numbers"),
        (npy_claiming("(1000000000, 1000000000)"), "the map is too large"),
        (npy_claiming(f"(1{'0' * 400}, 2)"), "the map is too large"),
        (npy_claiming(f"(1{'0' * 5000}, 2)"), "is not a readable .npy file"),
        (npy_claiming("(16000, 16000)", "'<f8'"), "holds more or fewer bytes than its header says"),
        (npy_claiming("(-4, 4)"), "the width and height of a map must be at least 1"),
        (npy_claiming("(2, 2)", "'V1000000000'"), "a map needs truth values or numbers"),
        (npy_claiming("(" * 3000), "is not a readable .npy file"),
        (npy_claiming("-" * 3000), "is not a readable .npy file"),
    ],
)  # fmt: skip
def test_a_malformed_array_is_refused_with_the_reason(tmp_path: Path, data: bytes, message: str) -> None:
    assert message in refusal(tmp_path, "a.npy", data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a readable .npz file"),
        (npz({"a.npy": npy(CELLS)})[:-30], "is not a readable .npz file"),
        (npz({}), "must hold one array, or one called passable, but holds 0 others"),
        (npz({"a.npy": b"", "b.npy": b""}), "must hold one array, or one called passable, but holds 2 others"),
        (npz({f"{i}.npy": b"" for i in range(101)}), "has more than 100 members"),
        (npz({"a.npy": npy(CELLS)}, zipfile.ZIP_LZMA), "is packed in a way that NumPy does not use"),
        (npz({"a.npy": npy(CELLS)}, zipfile.ZIP_BZIP2), "is packed in a way that NumPy does not use"),
        (npz({"a.npy": npy(np.array([[None]]))}), "a map needs truth values or numbers"),
    ],
)  # fmt: skip
def test_a_malformed_archive_is_refused_with_the_reason(tmp_path: Path, data: bytes, message: str) -> None:
    assert message in refusal(tmp_path, "a.npz", data)


@pytest.mark.parametrize(
    ("begin", "message"),
    [
        (b"", "is not a readable .npz file"),
        (npy_claiming("(1000000000, 1000000000)"), "the map is too large"),
        (npy(CELLS), "holds more or fewer bytes than its header says"),
    ],
    ids=["no header", "too large", "too long"],
)
def test_an_archive_that_unpacks_to_much_is_refused_with_the_reason(tmp_path: Path, begin: bytes, message: str) -> None:
    assert message in refusal(tmp_path, "a.npz", npz({"a.npy": begin + b"\0" * 10**8}))


@pytest.mark.parametrize(
    "text", ["1,0,1\n0,1,1\n", "1,0,1\r\n0,1,1\r\n\r\n", " 1, 0,1 \n0,1\t,1", "\ufeff1,0,1\n0,1,1"]
)
def test_harmless_variants_of_csv_read_alike(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, "a.csv", text.encode()) == Grid(CELLS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.csv: is empty"),
        (b" \n\n", "a.csv: is empty"),
        (b"1,0\n1\n", "a.csv, line 2: the row has 1 cells, but the first has 2"),
        (b"1,0\n\n1,0\n", "a.csv, line 2: the row has 1 cells, but the first has 2"),
        (b"1,0\n1,2\n", "a.csv, line 2: the cell in column 2 is '2', not 0 (blocked) or 1 (free)"),
        (b"1,\n", "a.csv, line 1: the cell in column 2 is '', not 0 (blocked) or 1 (free)"),
        (b"1;0\n", "a.csv, line 1: the cell in column 1 is '1;0', not 0"),
        (b"1,\0\xff\n", "a.csv, line 1: the cell in column 2 is '\\x00\\ufffd', not 0"),
        (b"9" * 10**6, "a.csv, line 1: the cell in column 1 is '99999999999999999999', not 0"),
    ],
)  # fmt: skip
def test_malformed_csv_is_refused_with_its_line_and_the_reason(tmp_path: Path, data: bytes, message: str) -> None:
    assert message in refusal(tmp_path, "a.csv", data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1" + b",1" * 2048, "a.csv, line 1: the map is too large, it may have 2048 cells"),
        (b"1,1\n" * 1100, "a.csv, line 1025: the map is too large, it may have 2048 cells"),
    ],
)
def test_csv_is_refused_at_the_line_with_which_it_becomes_too_large(
    tmp_path: Path, data: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "MAX_CELLS", 2048)
    assert message in refusal(tmp_path, "a.csv", data)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.npy", npy_claiming("(16000, 16000)", "'<f8'")),
        ("a.npz", npz({"a.npy": npy_claiming("(16000, 16000)", "'<f8'") + b"\0" * 10**6})),
        ("a.png", png_claiming(16_000, 16_000)),
        ("a.map", b"type octile\nheight 16000\nwidth 16000\nmap\n"),
    ],
)
def test_a_map_that_the_memory_cannot_hold_is_refused_before_it_is_unpacked(
    tmp_path: Path, name: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "available_memory", lambda: 10**9)
    message = refusal(tmp_path, name, data)
    assert "its 16000 x 16000 cells take about" in message
    assert "but 1.0 GB are available" in message


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "P"])
def test_light_pixels_are_free_in_every_mode(tmp_path: Path, mode: str) -> None:
    assert load(tmp_path, "a.png", png(np.where(CELLS, 255, 0).astype(np.uint8), mode)) == Grid(CELLS)


def test_grey_128_is_the_darkest_free_pixel(tmp_path: Path) -> None:
    assert load(tmp_path, "a.png", png(np.array([[127, 128]], np.uint8))) == Grid([[0, 1]])
    assert load(tmp_path, "a.png", png(np.array([[32767, 32768]], np.uint16))) == Grid([[0, 1]])


def test_transparent_pixels_are_blocked(tmp_path: Path) -> None:
    assert load(tmp_path, "a.png", png(np.array([[[255, 0], [255, 255]]], np.uint8))) == Grid([[0, 1]])
    palette = Image.fromarray(np.array([[0, 1]], np.uint8)).convert("P")
    palette.putpalette([255] * 6)
    palette.save(tmp_path / "b.png", transparency=0)
    assert load_map(tmp_path / "b.png") == Grid([[0, 1]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a readable PNG picture"),
        (b"GIF89a" + b"\0" * 100, "is not a readable PNG picture"),
        (png(np.zeros((50, 50), np.uint8))[:60], "is not a readable PNG picture"),
        (png_claiming(16_385, 16_384), "the map is too large"),
        (png_claiming(30_000, 20_000), "has 30000 x 20000 pixels: the map is too large, it may have 268435456 cells"),
        (png_claiming(2_000_000_000, 2_000_000_000), "has 2000000000 x 2000000000 pixels: the map is too large"),
        (png_claiming(600, 600), "is not a readable PNG picture"),
        (png_claiming(2000, 2000), "is not a readable PNG picture, but too short for 2000 x 2000 pixels"),
    ],
)  # fmt: skip
def test_a_malformed_picture_is_refused_with_the_reason(tmp_path: Path, data: bytes, message: str) -> None:
    assert message in refusal(tmp_path, "a.png", data)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_or_a_missing_or_huge_file_is_refused(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"folder{suffix}").mkdir()
    with open(tmp_path / f"huge{suffix}", "wb") as file:
        file.truncate(1 << 40)  # a hole, not bytes on the disk
    for name, reason in (
        ("folder", "is not a regular file"),
        ("missing", "cannot be read"),
        ("huge", "is larger than"),
    ):
        with pytest.raises(InputError, match=f"{name}{suffix}: {reason}"):
            load_map(tmp_path / f"{name}{suffix}")
