"""Values that a person or a program may hand over: sensible ones, extreme ones, and rubbish."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.case import Case
from rt_gym import Budget, Change, Grid, Problem

ISLANDS = Grid([[1, 1, 0, 1, 1], [1, 1, 0, 1, 1]], name="islands")
ROOM = Grid(np.ones((6, 7)), name="room")
FOUR = Grid(np.ones((4, 4)), connectivity=4, cost="unit")
WALL = Grid(np.zeros((3, 3)))


class Odd:
    """An object whose every question raises."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    def __eq__(self, other: object) -> bool:
        return NotImplemented

    __hash__ = object.__hash__


EXTREMES: list[Any] = [
    *(0, 1, -1, 2, 3, 7, 100, 101, 1000, 10_001, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64),
    *(10**30, 10**400, -(10**400), -(2**63), 0.0, -0.0, 0.5, 1.0, 1.5, 1e-320, 1e18, 1e308, -1e308),
    *(float("nan"), float("inf"), float("-inf"), True, False, Fraction(1, 3)),
    *(np.int8(3), np.uint64(2**64 - 1), np.float32(0.3), np.float64("nan"), np.bool_(True), np.array(3)),
]
RUBBISH: list[Any] = [
    *(None, "", " ", "0", "3", "nan", "no such thing", "\0", "\ud800", "a" * 300, "é\n", b"", b"\xff\0", "../..", "."),
    *((), [], {}, set(), {1, 2}, [1], (1, 2), [0, 0], (1.5, 2), [None], [[]], [[1, 2], [3]], {"a": 1}, {1: 2}),
    *(object(), int, print, range(3), 1j, Odd(), [Odd()], iter([1]), lambda: 0, slice(3), NotImplemented, ...),
    *(np.zeros(0), np.zeros(2), np.array([0, 1]), np.zeros((2, 2)), np.array(["a"]), np.array([None, 1], object)),
    *(np.datetime64("2020-01-01"), Path("no-such-file"), Path("/"), ISLANDS, Budget(3)),
]
PROBLEMS = [
    Problem(ISLANDS, (0, 0), (1, 1)),
    Problem(ISLANDS, (3, 0), (4, 1), changes=(Change(1, (3, 0), False),)),
    Problem(ISLANDS, (0, 0), (4, 0), allow_unsolvable=True),
    Problem(ROOM, (0, 0), (6, 5)),
    Problem(ROOM, (3, 3), (3, 3)),
    Problem(ROOM, (0, 0), (6, 5), vision=1),
    Problem(FOUR, (1, 1), (0, 0)),
]


def wrong(case: Case) -> Any:
    """Return an extreme value or rubbish."""
    return case.pick(*EXTREMES) if case.chance(0.5) else case.pick(*RUBBISH)


def drawn(case: Case, sensible: dict[str, list[Any]], most: int, rate: float = 0.5) -> dict[str, Any]:
    """Return values for one to ``most`` of these names, sensible ones at this rate."""
    names = list(case.rng.permutation(list(sensible))[: case.whole(1, most)])
    return {str(name): case.pick(*sensible[name]) if case.chance(rate) else wrong(case) for name in names}


def misnamed(case: Case) -> dict[str, Any]:
    """Return, now and then, a value for a name that nothing has."""
    return {case.pick("depht", "Map", "x y", ""): wrong(case)} if case.chance(0.03) else {}


def position(case: Case) -> Any:
    """Return a position that may lie on a small map, or anything."""
    if case.chance(0.2):
        return wrong(case)
    return case.pick(tuple, list, np.array)([case.whole(-1, 6), case.whole(-1, 6)])
