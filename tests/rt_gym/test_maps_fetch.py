"""Sets of maps that are fetched from a folder: digests, refusals, and archives that are not what they should be."""

import io
import zipfile
from pathlib import Path

import pytest

from rt_gym import InputError, load_map, load_scenarios, save_map
from rt_gym.files import digest_file
from rt_gym.maps import Scenario, write_scenarios
from rt_gym.maps.fetch import Fetched, fetch, read_digests, unpack

pytest.importorskip("pooch", reason="the extra fetch is not installed")


def pack(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with the archives of a set of one map."""
    (folder := tmp_path / "source").mkdir()
    save_map(load_map("open-16"), tmp_path / "open.map")
    write_scenarios([Scenario(0, "open.map", 16, 16, (0, 0), (3, 0), 3.0)], tmp_path / "open.map.scen")
    pack(folder / "toy-map.zip", {"maps/open.map": (tmp_path / "open.map").read_bytes(), "README": b"words"})
    pack(folder / "toy-scen.zip", {"open.map.scen": (tmp_path / "open.map.scen").read_bytes()})
    return folder


def test_a_set_is_unpacked_and_its_digests_are_recorded(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert fetch("toy", str(source), out) == Fetched(1, 1, out / "digests.txt")
    assert load_map(out / "open.map") == load_map("open-16")
    assert len(load_scenarios(out / "open.map.scen")) == 1
    names = {"toy-map.zip", "toy-scen.zip"}
    assert read_digests(out / "digests.txt") == {name: digest_file(source / name) for name in names}
    assert {path.name for path in out.iterdir()} == {"open.map", "open.map.scen", "digests.txt", *names}


def test_the_second_time_nothing_is_recorded_and_nothing_is_fetched(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fetch("toy", str(source), out)
    before = (out / "toy-map.zip").stat().st_mtime_ns
    (out / "open.map").unlink()
    assert fetch("toy", str(source), out).recorded is None
    assert (out / "open.map").exists()
    assert (out / "toy-map.zip").stat().st_mtime_ns == before


def test_an_archive_with_another_digest_is_refused(source: Path, tmp_path: Path) -> None:
    (known := tmp_path / "known.txt").write_text(f"toy-map.zip sha256:{'0' * 64}\n")
    with pytest.raises(InputError, match=r"toy-map.zip: is not the archive whose digest is known, 0000"):
        fetch("toy", str(source), tmp_path / "out", known)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_set_without_scenarios_has_maps_only(source: Path, tmp_path: Path) -> None:
    (source / "toy-scen.zip").unlink()
    assert fetch("toy", str(source), tmp_path / "out")[:2] == (1, 0)


@pytest.mark.parametrize(
    ("name", "place", "message"),
    [
        ("../toy", "source", "the name of a set has letters, digits, dots and dashes"),
        ("other", "source", "other-map.zip: there is no such archive"),
        ("toy", "nowhere", "toy-map.zip: there is no such archive"),
        ("toy", "nothing://nowhere", "toy-map.zip: is no address"),
        ("toy", "http://127.0.0.1:1", "toy-map.zip: cannot be fetched .*; without a network, name a folder"),
    ],
)
def test_what_cannot_be_had_is_refused_in_one_sentence(
    name: str, place: str, message: str, source: Path, tmp_path: Path
) -> None:
    where = str(source) if place == "source" else place if "://" in place else str(tmp_path / place)
    with pytest.raises(InputError, match=message):
        fetch(name, where, tmp_path / "out")


def test_members_never_leave_the_folder(tmp_path: Path) -> None:
    pack(tmp_path / "toy.zip", {"../../up.map": b"1", "/etc/abs.map": b"2", ".hidden.map": b"3", "note.txt": b"4"})
    (out := tmp_path / "out").mkdir()
    assert list(unpack(tmp_path / "toy.zip", out)) == ["up.map", "abs.map"]
    assert {path.name for path in out.iterdir()} == {"up.map", "abs.map"}
    assert {path.name for path in tmp_path.iterdir()} == {"toy.zip", "out"}


def test_an_archive_without_maps_or_of_another_kind_is_refused(source: Path, tmp_path: Path) -> None:
    pack(source / "toy-map.zip", {"README": b"words"})
    with pytest.raises(InputError, match="the archives of toy hold no maps"):
        fetch("toy", str(source), tmp_path / "out")
    (source / "bad-map.zip").write_bytes(b"words")
    with pytest.raises(InputError, match=r"bad-map.zip: is not a readable archive of maps"):
        fetch("bad", str(source), tmp_path / "out")


def test_a_bomb_is_refused_by_what_it_says_of_itself(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("big.map", bytes(1 << 27))
    (tmp_path / "big.zip").write_bytes(stream.getvalue())
    with pytest.raises(InputError, match=r"big.zip: its member 'big.map' is too large"):
        list(unpack(tmp_path / "big.zip", tmp_path))


@pytest.mark.parametrize("text", ["toy-map.zip", "toy-map.zip md5:00", "../x sha256:" + "0" * 64, "\xff"])
def test_a_wrong_line_of_digests_is_refused(text: str, tmp_path: Path) -> None:
    (path := tmp_path / "digests.txt").write_text(f"a.zip sha256:{'0' * 64}\n{text}\n", encoding="latin-1")
    with pytest.raises(InputError, match=r"digests.txt, line 2: expected NAME sha256:DIGEST"):
        read_digests(path)
