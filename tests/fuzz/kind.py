"""What a kind of file is, and the small map that files of several kinds are about."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rt_gym import Grid

INPUT, WORK_FILE = "input", "work file"


class Kind(NamedTuple):
    """A kind of file.

    Attributes:
        name: what it is called here.
        role: INPUT or WORK_FILE.
        used: where a file of this kind is read.
        make: writes a small valid one into an empty folder and returns its path.
        read: does with a path what its users do; returns, or raises an ``InputError``.
    """

    name: str
    role: str
    used: str
    make: Callable[[Path], Path]
    read: Callable[[Path], Any]


@cache
def small_grid() -> Grid:
    free = np.random.default_rng(5).random((9, 13)) < 0.85
    free[0] = free[:, 12] = True  # there is a way
    return Grid(free, name="small")
