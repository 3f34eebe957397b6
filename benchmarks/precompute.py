"""Preparing for a map: how long abstractions and pattern databases take, and how large they are.

The paper needed 19 hours for a database of level 3 with subgoals on a map of 512 x 512, 5 hours for level 4 and 2 hours
for level 5, on one processor of its time.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from measure import ROOT, Row, alternate, at_most, cpu_seconds, duration, heading, print_rows

from agents.knowledge import pdb, pdb_file
from agents.knowledge.pdb_estimate import estimate
from rt_gym import Grid, load_map
from rt_gym.abstraction import Abstraction, abstract
from rt_gym.search.distance import fill_distances

MAP = ROOT.parent / "shared" / "maps" / "wc3maps512" / "battleground.map"
CAP = 30
# Mode, level, and how many seconds on two processors it may take.
DATABASES = [("I", 5, 15.0), ("I", 4, 30.0), ("I", 3, 120.0), ("GI", 4, None), ("G", 4, 120.0)]
_MEGABYTE = 1 << 20


def abstractions(grid: Grid) -> Iterator[Row]:
    for kind in ("clique", "tiles"):
        sizes = [abstract(grid, kind, level).regions for level in range(8)]
        yield Row(f"regions, {kind}, levels 0 to 7", ", ".join(f"{size:,}" for size in sizes), "")
    (seconds,) = alternate(lambda: abstract(grid, "clique", 5))
    yield at_most("clique abstraction, level 5", duration(seconds), seconds, 1.0, "s")


def databases(grid: Grid, folder: Path) -> Iterator[Row]:
    for mode, level, aim in DATABASES:
        regions = abstract(grid, "clique", level)
        pdb.build(grid, regions, mode, CAP, goals=[0])  # loads the kernels
        expected, _ = estimate(grid, regions, mode, CAP)
        began, cpu = time.perf_counter(), time.process_time()
        database = pdb.build(grid, regions, mode, CAP)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        yield from judged(f"mode {mode}, level {level}", database, wall, cpu, aim)
        yield Row("", f"estimated {duration(expected)} of CPU time", f"{expected / cpu:.2f} x")
        yield stored(database, folder / f"{mode}{level}.npz", grid)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    yield Row("peak memory of this process", "everything above", f"{peak / _MEGABYTE:.0f} MB")


def judged(what: str, database: pdb.Database, wall: float, cpu: float, aim: float | None) -> Iterator[Row]:
    detail = f"{database.table.size:,} pairs, {duration(cpu)} of CPU time"
    if aim is None:
        yield Row(what, detail, f"{wall:.3g} s")
    else:
        yield at_most(what, detail, wall, aim, "s, wall")


def stored(database: pdb.Database, path: Path, grid: Grid) -> Row:
    """Save and load a database."""
    saving, loading = (
        cpu_seconds(task) for task in (lambda: database.save(path), lambda: pdb_file.load_database(path, grid))
    )
    detail = f"saved in {duration(saving)}, loaded and checked in {duration(loading)}"
    return at_most("", detail, path.stat().st_size / _MEGABYTE, 100.0, "MB")


def columns(grid: Grid, regions: Abstraction) -> Iterator[Row]:
    """Compare the column of one goal region with the one distance field that it cannot do without."""
    distance = np.empty(grid.terrain.mask.size, np.int64)
    lists = np.empty((3, distance.size), np.int32)
    goals = list(range(0, regions.regions, max(1, regions.regions // 20)))
    hops = pdb.build_hops(grid, regions, "I", CAP)

    def fields() -> None:
        for goal in goals:
            fill_distances(grid.terrain, int(regions.representatives[goal]), distance, lists)

    field, column = alternate(fields, lambda: pdb.build_columns(grid, regions, "I", CAP, goals, hops))
    detail = f"{duration(column / len(goals))} against {duration(field / len(goals))} for its distance field"
    yield at_most("a column of mode I, level 3", detail, column / field, 2.0, "x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--map", default=str(MAP) if MAP.is_file() else "terrain-512", help="a map file or a name")
    grid = load_map(parser.parse_args().map)
    heading(f"Preparing for {grid.name}, {grid.width} x {grid.height}, {grid.free_cells:,} free cells, cap {CAP}")
    with tempfile.TemporaryDirectory() as folder:
        print_rows([*abstractions(grid), *columns(grid, abstract(grid, "clique", 3)), *databases(grid, Path(folder))])


if __name__ == "__main__":
    main()
