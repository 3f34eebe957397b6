"""Fixed, named splits of generated maps and problems: learn on one, choose on the next, be judged on the last.

A family of maps has the parts ``train``, ``validation`` and ``test``, so ``caves-train`` and ``caves-test`` are two
splits with maps of one kind. No map is in two splits. The maps of all parts of a family are equally large, as
observations are scaled by the side of the map, and every map has 16 problems with an optimal cost from 64 to 256.

| family | maps |
|---|---|
| ``terrain`` | 128 x 128, game landscapes with cliffs, castles and towns |
| ``caves`` | 128 x 128, winding caves joined by passages |
| ``rooms`` | 128 x 128, rooms of 7 x 7 with half of the possible doors |
| ``mazes`` | 127 x 127, mazes with 400 holes in their walls |
| ``mixed`` | maps of the four kinds in turn |

In all of them the heuristic misleads: many walls close around pockets that an agent must leave backwards.

A name always stands for the same problems. A changed family must get a new name; the digests below check that.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import cycle, islice
from typing import Any

from rt_gym.errors import InputError, quoted
from rt_gym.grid import Grid
from rt_gym.maps.generate import generate
from rt_gym.problem import Problem
from rt_gym.sample import sample_problems

_PER_MAP = 16
_OPTIMAL = (64.0, 256.0)

_TERRAIN: dict[str, Any] = {"family": "terrain", "width": 128, "height": 128}
_CAVES: dict[str, Any] = {"family": "caves", "width": 128, "height": 128, "density": 0.48, "steps": 5}
_ROOMS: dict[str, Any] = {"family": "rooms", "width": 128, "height": 128, "room": 7, "doors": 0.5}
_MAZES: dict[str, Any] = {"family": "maze-holes", "size": 127, "holes": 400}

# Family -> the first of its seeds within a part, and the generators that take turns.
_FAMILIES: dict[str, tuple[int, tuple[dict[str, Any], ...]]] = {
    "terrain": (10_000, (_TERRAIN,)),
    "caves": (20_000, (_CAVES,)),
    "rooms": (30_000, (_ROOMS,)),
    "mazes": (40_000, (_MAZES,)),
    "mixed": (50_000, (_TERRAIN, _CAVES, _ROOMS, _MAZES)),
}

# Part -> where its seeds begin, and how many maps it has.
_PARTS = {"train": (1_000_000, 16), "validation": (2_000_000, 8), "test": (3_000_000, 16)}

_DIGESTS = {
    "terrain-train": "c6a2ff3845f26e4a",
    "terrain-validation": "1e478caa60f1adc8",
    "terrain-test": "9ed9ca4dde1feeb6",
    "caves-train": "336900de0c3546ae",
    "caves-validation": "c41a139f0563466a",
    "caves-test": "593967a3c76c5ed9",
    "rooms-train": "921b9b8f7443d785",
    "rooms-validation": "fa06071aac1d3e65",
    "rooms-test": "93b6dc64554643ba",
    "mazes-train": "bfbc5a4f3c6e121c",
    "mazes-validation": "c3701d5c83881118",
    "mazes-test": "4227fd3dc6531f07",
    "mixed-train": "a80d6be5460986b0",
    "mixed-validation": "f760dd5c6b0d0bee",
    "mixed-test": "59f1eb0290518998",
}


@dataclass(frozen=True)
class Split:
    """Maps, and problems on them.

    Attributes:
        name: what ``load`` takes.
        grids: the maps.
        problems: of all maps, one map after the other.
    """

    name: str
    grids: tuple[Grid, ...] = field(repr=False)
    problems: tuple[Problem, ...] = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """A hash of all maps, starts, goals and optimal costs."""
        lines = [f"{one.grid.digest} {one.start} {one.goal} {one.optimal_cost}\n" for one in self.problems]
        return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def names() -> list[str]:
    """Return the names of all splits."""
    return list(_DIGESTS)


def load(name: str) -> Split:
    """Return a split; the first call for it makes the maps, in a second or two at most.

    Args:
        name: one of ``names()``.

    Raises:
        InputError: if there is no such split, or the libraries installed here would make another of this name.

    Example:
        >>> import gymnasium as gym
        >>> from rt_gym import splits
        >>> split = splits.load("caves-validation")
        >>> len(split.grids), len(split.problems)
        (8, 128)
        >>> env = gym.make("RTPath-v0", problems=split.problems)
        >>> env.reset(seed=0)[1]["map"]
        'caves-128x128-s2020004'
    """
    if not isinstance(name, str) or name not in _DIGESTS:
        raise InputError(f"there is no split {quoted(name)}; there are {', '.join(names())}")
    return _made(name)


@cache
def _made(name: str) -> Split:
    seeded = list(_seeded_grids(name))
    problems = [one for seed, grid in seeded for one in sample_problems(grid, _PER_MAP, *_OPTIMAL, seed)]
    split = Split(name, tuple(grid for _, grid in seeded), tuple(problems))
    if split.digest != _DIGESTS[name]:
        raise InputError(
            f"the split {name} comes out as {split.digest} instead of {_DIGESTS[name]}: rt_gym's generators, or NumPy's"
            " or SciPy's functions behind them, are other ones than those it was published with"
        )
    return split


def _seeded_grids(name: str) -> Iterator[tuple[int, Grid]]:
    """Yield the maps of a split, each with its seed."""
    family, part = name.rsplit("-", 1)
    (offset, generators), (begin, count) = _FAMILIES[family], _PARTS[part]
    for seed, generator in enumerate(islice(cycle(generators), count), begin + offset):
        yield seed, generate(**generator, seed=seed)
