"""Files that are read once in a process: all who name the same file share what was made of it.

What was made of a file is shared for as long as anybody holds it. The cache itself holds what was asked for last,
within bounds, so that agents that come one after the other share it too. Nobody can write to what is shared: its arrays
are made read-only.

A file is known by its place, with links followed, and by what the system says of its content: number, size, and when it
was last changed. A file that was replaced or written to is read again.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import is_dataclass
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from rt_gym.files import PathLike

MOST_HELD = 32
MOST_HELD_BYTES = 1 << 28

Made = TypeVar("Made")


class FileCache:
    """What was made of files.

    Args:
        most_held: of how many files the cache holds what was made of them, though nobody else does.
        most_bytes: how large their arrays may be together. Beyond that, what was asked for longest ago is let go of.
    """

    def __init__(self, most_held: int = MOST_HELD, most_bytes: int = MOST_HELD_BYTES) -> None:
        self.most_held, self.most_bytes = most_held, most_bytes
        self._lock = Lock()
        self._loading: dict[Hashable, Lock] = {}
        self._made: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self._held: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()  # with its size, the last asked for last

    @property
    def bytes(self) -> int:
        """How large the arrays of all that the cache holds are."""
        with self._lock:
            return sum(size for _, size in self._held.values())

    def load(self, path: PathLike, what: Hashable, load: Callable[[], Made]) -> Made:
        """Return what was made of a file, or make it; whatever ``load`` raises is raised, and kept for nobody.

        Args:
            path: the file.
            what: what is made of it, and all that this depends on beside the file, such as the digest of a map.
            load: makes it, an object that can be referred to weakly.
        """
        identity = _identity(path)
        if identity is None:
            return load()  # which says what is wrong with it
        key = what, identity
        with self._lock:
            loading = self._loading.setdefault(key, Lock())
        with loading:  # a second thread waits for the first, and not for those that read other files
            try:
                found = self._found(key)
                return self._keep(key, path, load()) if found is None else found
            finally:
                with self._lock:
                    self._loading.pop(key, None)

    def _found(self, key: Hashable) -> Any:
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._made.get(key)

    def _keep(self, key: tuple[Hashable, Hashable], path: PathLike, made: Made) -> Made:
        size = _freeze(made)
        if _identity(path) != key[1]:  # replaced meanwhile: nobody can say which of the two was read
            return made
        with self._lock:
            self._made[key] = made
            self._held[key] = made, size
            while len(self._held) > self.most_held or sum(size for _, size in self._held.values()) > self.most_bytes:
                self._held.popitem(last=False)
        return made


def _identity(path: PathLike) -> tuple[Any, ...] | None:
    """Return what tells a file, and its content, from others; None where there is no such file."""
    try:
        place = os.path.realpath(path)
        found = os.stat(place)
    except (OSError, ValueError):
        return None
    return place, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _freeze(made: Any) -> int:
    """Make all arrays in an object read-only; return how large they are together."""
    size, todo = 0, [made]
    while todo:
        part = todo.pop()
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
            size += part.nbytes
        elif isinstance(part, tuple):
            todo.extend(part)
        elif is_dataclass(part):
            todo.extend(vars(part).values())
    return size


FILES = FileCache()
