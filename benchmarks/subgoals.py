"""Subgoal trees: how long all trees of a map take, beside plain distance fields, and how much memory.

The paper's maps have 17,789 free cells on average and took 73.5 s each. Here the aim is 20 s on two cores.
"""

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from measure import ROOT, Row, alternate, at_most, cpu_seconds, digits, duration, heading, print_rows
from numpy.typing import NDArray

from agents.knowledge.subgoal_tree import grow_tree, make_tree_buffers
from agents.knowledge.subgoals import Trees, build_trees, estimate, join, load_trees
from rt_gym import Grid, load_map
from rt_gym.search.distance import fill_distances

MAP = ROOT.parent / "shared" / "maps" / "dao" / "lak304d.map"
SAMPLE = 100
CHUNK = 256
THREADS = 2


def one_tree(grid: Grid, sample: NDArray[np.int64]) -> list[Row]:
    """Compare a tree with the distance field that it contains."""
    terrain, buffers = grid.terrain, make_tree_buffers(grid.terrain.mask.size)
    distance, lists = np.empty_like(buffers.g), np.empty((3, buffers.g.size), np.int32)
    trees, fields = alternate(
        lambda: [grow_tree(terrain, buffers, cell) for cell in sample],
        lambda: [fill_distances(terrain, cell, distance, lists) for cell in sample],
    )
    each = f"{duration(trees / sample.size)} against {duration(fields / sample.size)}"
    ns = 1e9 * trees / sample.size / grid.free_cells
    return [
        at_most("one tree, per free cell", f"{duration(trees / sample.size)} a tree", ns, 120, "ns"),
        Row("  beside a distance field", each, f"{digits(trees / fields)} x"),
    ]


def all_trees(grid: Grid, first: str) -> tuple[Trees, float, float]:
    """Return all trees of a map, grown by two threads, and the seconds on the wall and of CPU."""
    goals = [grid.position(cell) for cell in np.flatnonzero(grid.terrain.free)]
    chunks = [goals[k : k + CHUNK] for k in range(0, len(goals), CHUNK)]
    began, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(THREADS) as pool:
        trees = join(list(pool.map(partial(build_trees, grid, first=first), chunks)))
    return trees, time.perf_counter() - began, time.process_time() - cpu


def rows_for(grid: Grid, first: str, aim: float | None) -> list[Row]:
    seconds, size = estimate(grid, None, first)
    trees, wall, cpu = all_trees(grid, first)
    name = f'all trees, first="{first}"'
    detail = f"{trees.goals.size:,} trees, {digits(cpu)} s of CPU, estimated {digits(seconds)}"
    kept = sum(array.nbytes for array in (trees.goals, trees.ends, trees.nodes, trees.parents))
    kept += 0 if trees.subs is None else trees.subs.nbytes
    rows = [
        Row(f"{name}, wall", detail, f"{digits(wall)} s"),
        Row("  CPU / 2", "what two cores to oneself would take", f"{digits(cpu / THREADS)} s")
        if aim is None
        else at_most("  CPU / 2", "what two cores to oneself would take", cpu / THREADS, aim, "s"),
        Row("  memory", f"estimated {size / 1e6:.0f} MB", f"{kept / 1e6:.0f} MB"),
    ]
    return rows + (file_rows(trees, grid) if first == "nearest" else [])


def file_rows(trees: Trees, grid: Grid) -> list[Row]:
    sizes = trees.sizes - 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trees.npz"
        saved = cpu_seconds(lambda: trees.save(path))
        loaded = cpu_seconds(lambda: load_trees(path, grid))
        size = path.stat().st_size
    return [
        Row("  file", f"{duration(saved)} to write, {duration(loaded)} to read", f"{size / 1e6:.1f} MB"),
        Row("  nodes of a tree", f"largest {sizes.max()}, smallest {sizes.min()}", digits(sizes.mean())),
        at_most("  nodes / free cells", "", 100 * sizes.mean() / grid.free_cells, 2.5, "%"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--map", default=str(MAP) if MAP.is_file() else "caves-128", help="a map file or a bundled map")
    parser.add_argument("--sub", action="store_true", help="also keep Sub of every state")
    given = parser.parse_args()
    grid = load_map(given.map)
    heading(f"{__doc__}\n{Path(given.map).name} ({grid.width} x {grid.height}), {grid.free_cells:,} free cells.")
    sample = np.random.default_rng(0).choice(np.flatnonzero(grid.terrain.free), SAMPLE)
    rows = [*one_tree(grid, sample), *rows_for(grid, "nearest", 20)]
    print_rows([*rows, *(rows_for(grid, "sub", None) if given.sub else [])])


if __name__ == "__main__":
    main()
