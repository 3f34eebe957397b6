import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rt_gym import Grid, load_map, save_map
from rt_gym.errors import InputError
from rt_gym.files import atomic_write, read_bytes, remove_stale, shown


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a", b"old")
    atomic_write(tmp_path / "a", b"new\0")
    assert read_bytes(tmp_path / "a") == b"new\0"
    assert os.listdir(tmp_path) == ["a"]


def test_a_file_of_exactly_the_limit_is_read_and_a_longer_one_refused(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a", b"1234")
    assert read_bytes(tmp_path / "a", limit=4) == b"1234"
    with pytest.raises(InputError, match="larger than the 3 bytes"):
        read_bytes(tmp_path / "a", limit=3)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    atomic_write(tmp_path / "a", b"old")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="a: cannot be written \\(No space left on device\\)"):
        atomic_write(tmp_path / "a", b"new")
    assert read_bytes(tmp_path / "a") == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    atomic_write(tmp_path / "a", b"old")
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        atomic_write(tmp_path / "a", b"new")
    assert read_bytes(tmp_path / "a") == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_link_stays_and_the_file_it_names_is_written(tmp_path: Path) -> None:
    atomic_write(tmp_path / "a", b"old")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    atomic_write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert read_bytes(tmp_path / "a") == b"new"


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    atomic_write(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("name", ["", ".", "missing/file", "nul\0", "x" * 5000, "\ud800"])
def test_names_that_cannot_be_read_or_written_are_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = f"{tmp_path}/{name}"
    for attempt in (lambda: read_bytes(path), lambda: atomic_write(path, b"")):
        with pytest.raises(InputError) as refusal:
            attempt()
        assert str(refusal.value).startswith(shown(path))
        assert "\n" not in str(refusal.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_refused_instead_of_waited_for_or_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for attempt in (lambda: read_bytes(tmp_path / "pipe"), lambda: atomic_write(tmp_path / "pipe", b"")):
        with pytest.raises(InputError, match="is not a regular file"):
            attempt()


def test_odd_paths_are_shown_on_one_line() -> None:
    assert shown("maps/ä b.map") == "maps/ä b.map"
    assert shown("a\nb") == "'a\\nb'"
    assert shown("") == "''"


KILLED = """
import os, sys
from rt_gym import files

os.fsync = lambda file: os._exit(9)
files.atomic_write(sys.argv[1], b"a part")
"""


class TestRemnants:
    """What stays behind where a writer is killed."""

    @pytest.fixture
    def remnant(self, tmp_path: Path) -> Path:
        """The file that a process has left which was killed while it wrote."""
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        assert subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a")], env=environment).returncode == 9
        (found,) = tmp_path.iterdir()
        return found

    def test_a_remnant_of_a_writer_that_is_gone_is_removed(self, remnant: Path) -> None:
        remove_stale(remnant.parent)
        assert not remnant.exists()

    def test_what_a_living_process_writes_stays(self, remnant: Path) -> None:
        parts = remnant.name.split("-")
        parts[2] = str(os.getpid())
        living = remnant.rename(remnant.with_name("-".join(parts)))
        remove_stale(living.parent)
        assert living.exists()

    def test_what_another_machine_writes_stays_for_a_day(self, remnant: Path) -> None:
        parts = remnant.name.split("-")
        parts[1] = "00000000"
        other = remnant.rename(remnant.with_name("-".join(parts)))
        remove_stale(other.parent)
        assert other.exists()
        os.utime(other, (0, 0))
        remove_stale(other.parent)
        assert not other.exists()

    @pytest.mark.parametrize("name", [".0123456789abcdef.tmp", "notes.tmp", ".rt_gym-x.tmp", ".rt_gym-0-1-2.tmp"])
    def test_what_has_another_name_is_not_ours(self, name: str, tmp_path: Path) -> None:
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (0, 0))
        remove_stale(tmp_path)
        assert (tmp_path / name).exists()

    def test_a_folder_or_link_of_such_a_name_is_not_ours(self, remnant: Path) -> None:
        name = remnant.name
        target = remnant.rename(remnant.with_name("kept"))
        remnant.symlink_to(target)
        (remnant.parent / f"{name[:-10]}ffffff.tmp").mkdir()
        remove_stale(remnant.parent)
        assert len(list(remnant.parent.iterdir())) == 3

    def test_a_folder_that_is_not_there_has_none(self, tmp_path: Path) -> None:
        remove_stale(tmp_path / "none")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_a_file_that_is_written_again_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "private"
    path.write_bytes(b"old")
    path.chmod(0o600)
    atomic_write(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)


def test_loading_maps_in_threads_leaves_the_filters_of_warnings_alone(tmp_path: Path) -> None:
    paths = [tmp_path / f"map{ending}" for ending in (".npy", ".npz", ".png", ".csv")]
    for path in paths:
        save_map(Grid([[1, 0, 1]] * 40), path)
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as threads:
        assert all(grid.width == 3 for grid in threads.map(load_map, paths * 100))
    assert warnings.filters == before
