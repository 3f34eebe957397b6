"""What somebody should know of a map that was read: islands, and terrain that is taken for plain ground.

Nothing is said of maps of more than ``MOST_CELLS`` cells: looking through them would take longer than a word is worth.
"""

import os
from pathlib import Path

import numpy as np

from rt_gym.files import PathLike, read_bytes, shown
from rt_gym.grid import Grid
from rt_gym.maps.movingai import count_swamp

MOST_CELLS = 1 << 22
_SHOWN = 3  # islands whose sizes are told


def islands(grid: Grid) -> list[int]:
    """Return the free cells of every part of a map that no way leads out of, the largest first.

    Example:
        >>> islands(Grid([[1, 1, 0, 1]]))
        [2, 1]
    """
    sizes = np.bincount(grid.labels)[1:]
    return np.sort(sizes)[::-1].tolist()


def island_remark(grid: Grid) -> str:
    """Return a sentence about the islands of a map, empty if there is but one."""
    sizes = islands(grid) if grid.passable.size <= MOST_CELLS else []
    if len(sizes) < 2:
        return ""
    told, others = [f"{size:,}" for size in sizes[:_SHOWN]], sizes[_SHOWN:]
    told += [f"{sum(others):,} in the other {len(others):,}"] * bool(others)
    parts = f"{', '.join(told[:-1])} and {told[-1]}"
    return f"{shown(grid.name)} falls into {len(sizes):,} islands: free cells {parts}"


def swamp_remark(path: PathLike) -> str:
    """Return a sentence about the swamp of a ``.map`` file, empty for one without, and for every other name."""
    if Path(path).suffix.lower() != ".map" or not os.path.isfile(path) or os.path.getsize(path) > 2 * MOST_CELLS:
        return ""
    cells = count_swamp(read_bytes(path))
    what = "cell of swamp (S), which is" if cells == 1 else "cells of swamp (S), which are"
    return f"{shown(path)} has {cells:,} {what} read as plain ground" if cells else ""


def remarks(path: PathLike, grid: Grid) -> list[str]:
    """Return sentences about a map that was read from a path, or is a bundled one; usually none."""
    return [remark for remark in (swamp_remark(path), island_remark(grid)) if remark]
