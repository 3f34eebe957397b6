"""Positions, as references speak of them, and the flat, bordered arrays of kernels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym import Grid
from rt_gym.terrain import STEPS
from rt_gym.trip import Trip, make_trip

Position = tuple[int, int]


def positions(grid: Grid, cells: Any) -> list[Position]:
    return [grid.position(int(cell)) for cell in cells]


def walked(start: Position, plan: Any) -> list[Position]:
    """Return the cells reached from ``start`` by a plan's directions."""
    path = []
    x, y = start
    for d in plan:
        x, y = x + STEPS[d][0], y + STEPS[d][1]
        path.append((x, y))
    return path


def flat(grid: Grid, values: dict[Position, int]) -> NDArray[np.int64]:
    """Return values by position as the flat, bordered array of kernels."""
    h = np.zeros(grid.terrain.mask.size, np.int64)
    for cell, value in values.items():
        h[grid.cell(cell)] = value
    return h


def logging_trip(grid: Grid) -> Trip:
    return make_trip(grid.terrain.mask.size, log=grid.terrain.mask.size)
