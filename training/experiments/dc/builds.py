"""Pattern databases that are built to see what they take."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time

import numpy as np

from agents.knowledge import pdb
from rt_gym import Grid
from rt_gym.abstraction import abstract


@dataclass(frozen=True)
class Built:
    """A database.

    Attributes:
        regions: how many; entries: how many pairs of them there are.
        seconds: of one core, the abstraction included.
        bytes: of its file.
        capped: the share of entries whose depth is the cap.
    """

    regions: int
    entries: int
    seconds: float = 0.0
    bytes: int = 0
    capped: float = 0.0


@cache
def build(grid: Grid, level: int, mode: str | None, cap: int) -> Built:
    """Build the database of a map; without a mode its regions only."""
    began = thread_time()
    regions = abstract(grid, "clique", level)
    count = regions.regions
    if mode is None:
        return Built(count, count**2)
    database = pdb.build_columns(grid, regions, mode, cap, range(count))
    seconds = thread_time() - began
    with TemporaryDirectory() as folder:
        database.save(path := Path(folder, "all.npz"))
        size = path.stat().st_size
    return Built(count, count**2, seconds, size, _capped(database))


def _capped(database: pdb.Database) -> float:
    """Return how many of all pairs of different regions have the cap as depth."""
    table, half = database.table, database.half
    apart, local = ~np.eye(len(table), dtype=bool), table >= half
    if not apart.any():
        return 0.0
    depth = table
    if local.any():
        begin, last = database.abstraction.begin[:-1], database.hops.size - 1
        depth = np.where(local, database.hops[np.clip(begin + table.astype(np.int64) - half, 0, last)], table)
    return float((depth[apart] == database.cap).mean())
