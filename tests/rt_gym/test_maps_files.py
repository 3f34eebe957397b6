import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rt_gym import Grid, load_map, save_map
from rt_gym.errors import InputError
from rt_gym.files import atomic_write, read_bytes, shown


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


def test_loading_maps_in_threads_leaves_the_filters_of_warnings_alone(tmp_path: Path) -> None:
    paths = [tmp_path / f"map{ending}" for ending in (".npy", ".npz", ".png", ".csv")]
    for path in paths:
        save_map(Grid([[1, 0, 1]] * 40), path)
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as threads:
        assert all(grid.width == 3 for grid in threads.map(load_map, paths * 100))
    assert warnings.filters == before
