"""Levels: path environments from open ground to mazes, at four sizes, each with ids and splits of its own.

A level is a kind of map at a size. ``RTPath-Random-16x16-v0`` and ``RTPathFog-Random-16x16-v0`` are the ids of the
level ``random-16``, known and in fog; its splits (see ``rt_gym.splits``) are ``random-16-train``,
``random-16-validation`` and ``random-16-test``. An id plays its train split unless ``split`` names another.

| kind | maps |
|---|---|
| ``Open`` | a tenth of the cells blocked, at random |
| ``Random`` | a quarter of the cells blocked, at random |
| ``Rooms`` | rooms of 3 x 3 cells at size 16, 5 x 5 at 32, 7 x 7 above, with half of the possible doors |
| ``Caves`` | winding caves joined by passages |
| ``Maze`` | corridors one cell wide, without cycles |

All free cells of a map are connected. Maps are exactly as large as the id says: where a maze needs an odd side it is
made one cell larger, and the edge of the map takes the place of its walls in the north and in the west.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rt_gym.grid import Grid
from rt_gym.maps.generate import generate

SIZES = (16, 32, 64, 128)
PARTS = ("train", "validation", "test")

# Size -> how many maps, and how many problems on each: many maps where they are small, so that learners generalise.
_TRAIN = {16: (512, 4), 32: (256, 4), 64: (64, 8), 128: (32, 16)}
_HELD_OUT = {16: (128, 1), 32: (64, 2), 64: (32, 4), 128: (16, 8)}

_ROOM = {16: 3, 32: 5, 64: 7, 128: 7}
_CAVES = {16: (0.42, 2), 32: (0.45, 4), 64: (0.48, 5), 128: (0.48, 5)}  # density and steps


def _scattered(size: int, density: float, seed: int) -> Grid:
    """Return random obstacles with all but the largest component filled up."""
    grid = generate("random", width=size, height=size, density=density, seed=seed)
    label = grid.inner(grid.labels)
    return grid.replace(passable=label == np.bincount(label[grid.passable]).argmax())


def _open(size: int, seed: int) -> Grid:
    return _scattered(size, 0.1, seed)


def _random(size: int, seed: int) -> Grid:
    return _scattered(size, 0.25, seed)


def _rooms(size: int, seed: int) -> Grid:
    return generate("rooms", width=size, height=size, room=_ROOM[size], doors=0.5, seed=seed)


def _caves(size: int, seed: int) -> Grid:
    density, steps = _CAVES[size]
    return generate("caves", width=size, height=size, density=density, steps=steps, seed=seed)


def _maze(size: int, seed: int) -> Grid:
    walled = generate("maze", size=size + 1, seed=seed)
    return walled.replace(passable=walled.passable[1:, 1:])


# Kind -> its maps, and the range of optimal costs in sides of the map.
_KINDS: dict[str, tuple[Callable[[int, int], Grid], tuple[float, float]]] = {
    "Open": (_open, (0.5, 2.0)),
    "Random": (_random, (0.5, 2.0)),
    "Rooms": (_rooms, (0.5, 2.0)),
    "Caves": (_caves, (0.5, 2.0)),
    "Maze": (_maze, (1.0, 4.0)),
}


@dataclass(frozen=True)
class Level:
    """A kind of map at a size.

    Attributes:
        kind: ``"Open"``, ``"Random"``, ``"Rooms"``, ``"Caves"`` or ``"Maze"``.
        size: the side of its maps.
    """

    kind: str
    size: int

    @property
    def name(self) -> str:
        """What splits are named after, such as ``"random-16"``."""
        return f"{self.kind.lower()}-{self.size}"

    @property
    def max_moves(self) -> int:
        """After how many moves an episode is truncated: as many as the map has cells.

        Walking through all of a maze and back takes no more.
        """
        return self.size**2

    @property
    def optimal(self) -> tuple[float, float]:
        """The range of optimal costs."""
        low, high = _KINDS[self.kind][1]
        return low * self.size, high * self.size

    def count(self, part: str) -> tuple[int, int]:
        """Return how many maps a part has, and how many problems there are on each."""
        return (_TRAIN if part == "train" else _HELD_OUT)[self.size]

    def grid(self, seed: int) -> Grid:
        """Return the map of a seed."""
        grid = _KINDS[self.kind][0](self.size, seed)
        return grid.replace(name=f"{self.kind.lower()}-{self.size}x{self.size}-s{seed}")


LEVELS = {level.name: level for level in (Level(kind, size) for kind in _KINDS for size in SIZES)}


def registrations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id of every level, known and in fog, with its arguments."""
    for name, level in LEVELS.items():
        arguments = {"split": f"{name}-train", "max_moves": level.max_moves}
        title = f"{level.kind}-{level.size}x{level.size}-v0"
        yield f"RTPath-{title}", arguments
        yield f"RTPathFog-{title}", arguments | {"vision": 1}
