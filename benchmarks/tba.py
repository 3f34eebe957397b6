"""TBA*: whether a slice late in a long search takes longer than an early one.

The open list grows all the time. Where its operations take constant time, as they have to in a real-time search, slices
late in the search are no slower than those in its beginning.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from measure import ROOT, Row, at_most, digits, duration, heading, print_rows
from numpy.typing import NDArray

import agents
from rt_gym import Grid, Problem, World, load_map
from rt_gym.cost import INF
from rt_gym.search.distance import exact_distances

MAPS = ROOT.parent / "shared" / "maps"
REPEATS = 5
UNITS = (10, 100, 1000)


def largest() -> str:
    """Return the file of the largest public map, or the largest bundled one."""
    files = sorted(MAPS.rglob("*.map"), key=lambda path: path.stat().st_size)
    return str(files[-1]) if files else "terrain-512"


def farthest(grid: Grid) -> Problem:
    """Return a long way across the largest component: from a cell that is farthest from the farthest of another."""
    labels = grid.labels
    inside = np.flatnonzero(labels == np.bincount(labels[labels > 0]).argmax())
    start = grid.position(inside[0])
    for _ in range(2):
        distance = exact_distances(grid, start)
        goal, start = start, grid.position(int(np.where(distance < INF, distance, -1).argmax()))
    return Problem(grid, start, goal)


def slices(agent: agents.KernelAgent, problem: Problem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nanoseconds and the expansions of every move up to the one that finds the solution."""
    world = World(problem)
    agent.reset(world.view, 0)
    times, expansions = [], []
    while not world.done:
        began = time.perf_counter_ns()
        action = agent.act()
        times.append(time.perf_counter_ns() - began)
        expansions.append(world.view.meter.expansions)
        if not expansions[-1]:
            break
        world.step(action)
    return np.array(times[:-1]), np.array(expansions[:-1])


def rows_for(R: int, problem: Problem) -> list[Row]:
    """Per slice the least of several runs: what disturbs one run does not disturb the same slice of all others."""
    agent = agents.make("tba", R=R)
    slices(agent, problem)
    runs = [slices(agent, problem) for _ in range(REPEATS)]
    times, expansions = np.min([times for times, _ in runs], axis=0), runs[0][1]
    tenth = max(1, len(times) // 10)
    first, last = (np.quantile(part, 0.99) for part in (times[1 : tenth + 1], times[-tenth:]))
    detail = f"{duration(first / 1e9)}, then {duration(last / 1e9)}"
    return [
        Row(f"R = {R}: slices that expand", f"{digits(expansions.sum())} expansions", digits(len(times))),
        at_most("  most expansions of a slice", "", int(expansions.max()), R),
        at_most("  p99 of a slice, last tenth / first tenth", detail, last / first, 2),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--map", default=largest(), help="a map file, or the name of a bundled map")
    source = parser.parse_args().map
    problem = farthest(load_map(source))
    size = f"{problem.grid.width} x {problem.grid.height}"
    heading(f"{__doc__}\n{Path(source).name} ({size}), {problem.start} to {problem.goal}. Wall-clock time.")
    print_rows([row for R in UNITS for row in rows_for(R, problem)])


if __name__ == "__main__":
    main()
