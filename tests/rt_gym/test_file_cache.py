"""Files are read once, shared by all who name them, and read again when they are other files."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rt_gym import InputError
from rt_gym.file_cache import FileCache
from rt_gym.files import atomic_write, read_bytes

pytestmark = pytest.mark.plain


@dataclass(eq=False)
class Content:
    """The bytes of a file, once as an array and once in a tuple."""

    array: NDArray[np.uint8]
    nested: tuple[Any, ...]


def reader(path: Path, times: list[Path]) -> Callable[[], Content]:
    """Return what reads a file and notes that it did."""

    def read() -> Content:
        times.append(path)
        array = np.frombuffer(read_bytes(path), np.uint8).copy()
        return Content(array, (array.copy(), 3))

    return read


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_bytes(b"first")
    return file


class TestSharing:
    def test_a_file_is_read_once_by_whatever_name(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        cache, times = FileCache(), []
        link = path.with_name("link")
        link.symlink_to(path)
        monkeypatch.chdir(path.parent)
        found = [cache.load(name, "content", reader(path, times)) for name in (path, str(path), link, "file", "./file")]
        assert all(each is found[0] for each in found)
        assert times == [path]

    def test_what_else_is_made_of_it_is_another_object(self, path: Path) -> None:
        cache, times = FileCache(), []
        assert cache.load(path, "content", reader(path, times)) is not cache.load(path, "lines", reader(path, times))

    def test_nobody_can_write_to_what_is_shared(self, path: Path) -> None:
        made = FileCache().load(path, "content", reader(path, []))
        for array in (made.array, made.nested[0]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    def test_threads_that_ask_at_once_wait_for_one_reading(self, path: Path) -> None:
        cache, times, found, begin = FileCache(), [], [], threading.Barrier(8)

        def ask() -> None:
            begin.wait(10)
            found.append(cache.load(path, "content", reader(path, times)))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert times == [path]
        assert len(found) == 8
        assert len({id(each) for each in found}) == 1


class TestOtherContent:
    @pytest.mark.parametrize("content", [b"other", b"longer than the first"])
    def test_a_file_that_was_replaced_is_read_again(self, path: Path, content: bytes) -> None:
        cache = FileCache()
        first = cache.load(path, "content", reader(path, []))
        atomic_write(path, content)
        second = cache.load(path, "content", reader(path, []))
        assert (first.array.tobytes(), second.array.tobytes()) == (b"first", content)

    def test_a_file_that_was_written_to_is_read_again(self, path: Path) -> None:
        cache = FileCache()
        cache.load(path, "content", reader(path, []))
        path.write_bytes(b"other")
        os.utime(path, ns=(1, 1))
        assert cache.load(path, "content", reader(path, [])).array.tobytes() == b"other"

    def test_a_file_that_is_replaced_while_it_is_read_is_kept_for_nobody(self, path: Path) -> None:
        cache, times = FileCache(), []

        def slow() -> Content:
            made = reader(path, times)()
            atomic_write(path, b"other")
            return made

        assert cache.load(path, "content", slow).array.tobytes() == b"first"
        assert cache.load(path, "content", reader(path, times)).array.tobytes() == b"other"
        assert cache.bytes == 2 * len(b"other")

    def test_a_file_that_cannot_be_read_is_refused_each_time_by_its_reader(self, path: Path) -> None:
        cache = FileCache()

        def refuse() -> Content:
            raise InputError("is damaged")

        for _ in range(2):
            with pytest.raises(InputError, match="is damaged"):
                cache.load(path, "content", refuse)
        assert cache.load(path, "content", reader(path, [])).array.tobytes() == b"first"

    @pytest.mark.parametrize("name", ["nothing", "not\0possible"])
    def test_a_file_that_is_not_there_is_refused_by_its_reader(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InputError):
            FileCache().load(f"{tmp_path}/{name}", "content", lambda: read_bytes(f"{tmp_path}/{name}"))


class TestBounds:
    def load_all(self, cache: FileCache, folder: Path, count: int, times: list[Path]) -> list[Content]:
        files = [folder / str(number) for number in range(count)]
        for file in files:
            file.write_bytes(b"12345")
        return [cache.load(file, "content", reader(file, times)) for file in files]

    @pytest.mark.parametrize("bounds", [{"most_held": 2}, {"most_bytes": 25}])
    def test_what_was_asked_for_longest_ago_is_let_go_of(self, tmp_path: Path, bounds: dict[str, int]) -> None:
        cache, times = FileCache(**bounds), []
        self.load_all(cache, tmp_path, 3, times)
        assert cache.bytes == 20  # two files of five bytes, each as two arrays
        assert len(times) == 3
        for number in (1, 2, 0):
            cache.load(tmp_path / str(number), "content", reader(tmp_path / str(number), times))
        assert times[3:] == [tmp_path / "0"]

    def test_what_others_hold_is_shared_however_large(self, tmp_path: Path) -> None:
        cache, times = FileCache(most_bytes=1), []
        held = self.load_all(cache, tmp_path, 3, times)
        again = [cache.load(tmp_path / str(k), "content", reader(tmp_path / str(k), times)) for k in range(3)]
        assert all(mine is theirs for mine, theirs in zip(held, again, strict=True))
        assert (len(times), cache.bytes) == (3, 0)
