"""Fixed, named splits of generated maps and problems: learn on one, choose on the next, be judged on the last.

A family of maps has the parts ``train``, ``validation`` and ``test``, so ``caves-train`` and ``caves-test`` are two
splits with maps of one kind. No map is in two splits. The maps of all parts of a family are equally large, as
observations are scaled by the side of the map. In these families every map has 16 problems with an optimal cost from
64 to 256:

| family | maps |
|---|---|
| ``terrain`` | 128 x 128, game landscapes with cliffs, castles and towns |
| ``caves`` | 128 x 128, winding caves joined by passages |
| ``rooms`` | 128 x 128, rooms of 7 x 7 with half of the possible doors |
| ``mazes`` | 127 x 127, mazes with 400 holes in their walls |
| ``mixed`` | maps of the four kinds in turn |

In all of these the heuristic misleads: many walls close around pockets that an agent must leave backwards.

The levels of ``rt_gym.levels`` are families too, such as ``random-16``, with their own sizes, counts and ranges.

A name always stands for the same problems. A changed family must get a new name; the digests below check that.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import cycle, islice
from typing import Any

from rt_gym import levels
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

_FIRST_LEVEL = 100_000  # where the seeds of the first level begin within a part, a thousand for each

# Part -> where its seeds begin, and how many maps a family has that is no level.
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


# Level -> the digests of its three parts.
_LEVEL_DIGESTS = {
    "open-16": ("c0caa22a560a9de8", "ef54349187ce282a", "6fb24e21125e03a9"),
    "open-32": ("7d053e357ce0cc7d", "5b07d612c5f3f325", "ed60912ffa3bf4f0"),
    "open-64": ("15fe92162ecc9ed8", "26126260c65b6f91", "5bbba5b704c92370"),
    "open-128": ("8cda200e484d4f7a", "8e51c76e2b08a540", "93c370daa5b47ecb"),
    "random-16": ("95d1633feb5a39e7", "7264cbda265ddbbe", "f031f37af114e31b"),
    "random-32": ("be3918ce42e2f59a", "1ef3e178127f8cdc", "fdbc1c82f349a2e9"),
    "random-64": ("f304eaaf489b81dd", "612a539e001f58f1", "8002a047efb7a3a4"),
    "random-128": ("d58324f22fad6bb8", "9ae6f348b8788eb8", "e2b88d8ae6e41eeb"),
    "rooms-16": ("505d058fb31daec4", "2cf1c56156d6c65f", "b30a24b222ef84ef"),
    "rooms-32": ("87b75029225bd711", "7585e432108a804b", "473b245c57fd2213"),
    "rooms-64": ("8af2cf414ceb6317", "a0caac806ac985bc", "3d357101f363f1e6"),
    "rooms-128": ("43d1e410075d45be", "e980f646c7210b48", "87023a6bc46db612"),
    "caves-16": ("53cdac7bf11c4be5", "408b778000929f03", "b47bf1241e67b856"),
    "caves-32": ("9e7eb527b7a9bf6a", "835c49e849a1267a", "77c5966e3cefa064"),
    "caves-64": ("f28702e043cd368a", "3f4b423b15552d73", "0e0bbccfc4587c8b"),
    "caves-128": ("a4ff96d9d6c11b4c", "f054721e21451b7f", "90c9819762a8d35d"),
    "maze-16": ("fc28ae856e8d834f", "42e47823bd39d0ac", "0e61a989ebd4fff6"),
    "maze-32": ("cf6b383db9aaa9a3", "9e800d5bd0f1685f", "ff1fbf528533e68e"),
    "maze-64": ("2bd92d2f0c6ed53d", "8b842639aab966f6", "2a04693d828c69e0"),
    "maze-128": ("2ec52933bd0fdd22", "3fffca2f92b89608", "806557d953ef00d6"),
}

_DIGESTS |= {
    f"{name}-{part}": digest
    for name, digests in _LEVEL_DIGESTS.items()
    for part, digest in zip(levels.PARTS, digests, strict=True)
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


def spelled() -> str:
    """Return how the names of all splits are put together, for messages."""
    families = dict.fromkeys(name.rpartition("-")[0] for name in names())
    return f"FAMILY-PART, where PART is one of {', '.join(_PARTS)} and FAMILY one of {', '.join(families)}"


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
        raise InputError(f"there is no split {quoted(name)}: give {spelled()}")
    return _made(name)


@cache
def _made(name: str) -> Split:
    family, part = name.rsplit("-", 1)
    level = levels.LEVELS.get(family)
    seeded = list(_level_grids(level, part) if level else _family_grids(family, part))
    each, (low, high) = (level.count(part)[1], level.optimal) if level else (_PER_MAP, _OPTIMAL)
    problems = [one for seed, grid in seeded for one in sample_problems(grid, each, low, high, seed)]
    split = Split(name, tuple(grid for _, grid in seeded), tuple(problems))
    if split.digest != _DIGESTS[name]:
        raise InputError(
            f"the split {name} comes out as {split.digest} instead of {_DIGESTS[name]}: rt_gym's generators, or NumPy's"
            " or SciPy's functions behind them, are other ones than those it was published with"
        )
    return split


def _family_grids(family: str, part: str) -> Iterator[tuple[int, Grid]]:
    """Yield the maps of a part of a family, each with its seed."""
    (offset, generators), (begin, count) = _FAMILIES[family], _PARTS[part]
    for seed, generator in enumerate(islice(cycle(generators), count), begin + offset):
        yield seed, generate(**generator, seed=seed)


def _level_grids(level: levels.Level, part: str) -> Iterator[tuple[int, Grid]]:
    """Yield the maps of a part of a level, each with its seed."""
    begin = _PARTS[part][0] + _FIRST_LEVEL + 1000 * list(levels.LEVELS).index(level.name)
    for seed in range(begin, begin + level.count(part)[0]):
        yield seed, level.grid(seed)
