"""Real-time at any size: what a reset, a unit, a search and a move take on maps of up to 16,384 x 16,384."""

import argparse
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import Row, at_least, at_most, heading, holds, print_rows, wall_seconds

import agents
from rt_gym import Grid, InputError, Problem, World, generate, pages

NEAR = ("lrta", "lss-lrta", "rtaa", "lrta-ls-k", "lrta-ls-kd", "tba", "astar", "dstar-lite")
BOUNDED = ("lrta", "rta", "lss-lrta", "rtaa", "lrta-k", "lrta-ls-k", "lrta-ls-kd", "lrts", "p-lrta", "tba")
REPEATS = 7
UNITS, TICKS = 1000, 400
MEGABYTE = 1 << 20


def tiled(side: int, tile: int = 256) -> Grid:
    """Return a map of this width and height that repeats one generated map, so that all sizes look the same."""
    cells = generate("random", width=tile, height=tile, density=0.3, seed=7).passable
    return Grid(np.tile(cells, (side // tile, side // tile)), name=f"random-{side}")


def problems(grid: Grid, count: int, steps: int, seed: int = 0) -> list[Problem]:
    """Return problems around the middle of the map whose goals lie so many columns or rows away."""
    rng, found = np.random.default_rng(seed), list[Problem]()
    middle = grid.width // 2
    while len(found) < count:
        x, y = (int(v) for v in rng.integers(middle - 128, middle + 128, 2))
        dx, dy = ((steps, steps // 3), (-steps // 2, steps), (steps // 4, -steps), (-steps, -steps // 2))[
            len(found) % 4
        ]
        try:
            found.append(Problem(grid, (x, y), (x + dx, y + dy)))
        except InputError:  # a wall, or no way
            continue
    return found


def medians(task: Callable[[Grid, int], float], grids: tuple[Grid, Grid], count: int) -> tuple[float, float]:
    """Return the median seconds of a task over all problems of either map, by turns."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS + 1):
        for which, grid in enumerate(grids):
            seconds[which].extend(task(grid, k) for k in range(count))
    return float(np.median(seconds[0][count:])), float(np.median(seconds[1][count:]))


def near_goals() -> list[Row]:
    """Reset and first act, and whole runs by id, where the goal is 30 steps away."""
    grids, rows, count = (tiled(256), tiled(4096)), list[Row](), 20
    sets = {id(grid): problems(grid, count, 30) for grid in grids}
    dim = {key: [replace(problem, vision=1) for problem in chosen] for key, chosen in sets.items()}
    for agent_id in NEAR:
        worlds = {key: [World(problem) for problem in chosen] for key, chosen in sets.items()}
        kept = {key: agents.make(agent_id) for key in sets}

        def first_act(grid: Grid, k: int, kept: Any = kept, worlds: Any = worlds) -> float:
            world, agent = worlds[id(grid)][k], kept[id(grid)]
            world.begin_trial()
            return wall_seconds(lambda: (agent.reset(world.view, 0), agent.act()))

        def by_id(grid: Grid, k: int, agent_id: str = agent_id) -> float:
            return wall_seconds(lambda: agents.run(agent_id, sets[id(grid)][k], max_moves=10_000))

        def in_fog(grid: Grid, k: int, agent_id: str = agent_id) -> float:
            return wall_seconds(lambda: agents.run(agent_id, dim[id(grid)][k], max_moves=10_000))

        tasks = (f"{agent_id}, reset and act", first_act, 1.5), ("  a run by id", by_id, 2.0), ("  in fog", in_fog, 2.0)
        for what, task, aim in tasks:
            small, large = medians(task, grids, count)
            rows.append(at_most(what, f"{small * 1e6:.0f} us, {large * 1e6:.0f} us", large / small, aim, "x"))
    return rows


def move_times() -> list[Row]:
    """The 99th percentile of the time of a move, where the goal is 200 steps away."""
    grids, rows = (tiled(512), tiled(8192)), list[Row]()
    sets = [problems(grid, 12, 100) for grid in grids]
    for agent_id in BOUNDED:
        p99: tuple[list[float], list[float]] = ([], [])
        for repeat in range(4):
            for which, chosen in enumerate(sets):
                for problem in chosen:
                    times = agents.run(agent_id, problem, max_moves=20_000).move_seconds
                    if repeat and times is not None:
                        p99[which].append(times.p99)
        small, large = (float(np.median(each)) for each in p99)
        rows.append(at_most(agent_id, f"{small * 1e6:.2f} us, {large * 1e6:.2f} us", large / small, 1.5, "x"))
    return rows


def resident() -> int:
    """Return how many bytes of this process are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def units() -> list[Row]:
    """Many LSS-LRTA* units on one map, and some of them again with an array of all cells."""
    grid = tiled(1024)
    chosen = problems(grid, UNITS, 250, seed=1)
    before = resident()
    team = [(World(problem), agents.make("lss-lrta")) for problem in chosen]
    walked = [[problem.start] for problem in chosen]
    for world, agent in team:
        agent.reset(world.view, 0)
    for _ in range(TICKS):
        for (world, agent), path in zip(team, walked, strict=True):
            if not world.done:
                world.step(agent.act())
                path.append(world.view.position)
    held, counted = resident() - before, sum(agent.count_bytes() for _, agent in team)
    pages.LARGE = 1 << 40
    dense = Grid(np.array(grid.passable))
    same = all(
        [(int(x), int(y)) for x, y in agents.run("lss-lrta", _on(dense, problem), max_moves=TICKS).path] == path
        for problem, path in list(zip(chosen, walked, strict=True))[::20]
    )
    return [
        at_most(f"{UNITS} units, {TICKS} ticks", f"{counted / MEGABYTE:.0f} MB counted", held / MEGABYTE, 1024, "MB"),
        holds("  every twentieth again with arrays", "the same moves", same),
    ]


def _on(grid: Grid, problem: Problem) -> Problem:
    return Problem(grid, problem.start, problem.goal)


def largest() -> list[Row]:
    """A* over a thousand steps on the largest map."""
    grid = tiled(16384)
    problem = problems(grid, 1, 1000)[0]
    before = resident()
    run = agents.run("astar", problem)
    held = resident() - before
    return [
        at_most("astar, 1,000 steps on 16,384 x 16,384", f"{run.expansions:,} expansions", held / MEGABYTE, 1024, "MB"),
        holds("  solved", f"{run.moves} moves", run.solved and run.moves >= 1000),
        at_least("  states held", f"{run.memory_bytes / MEGABYTE:.0f} MB counted", run.memory, run.expansions),
    ]


PARTS: dict[str, Callable[[], list[Row]]] = {
    "near": near_goals,
    "moves": move_times,
    "units": units,
    "largest": largest,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which tables; all of them if none is named")
    chosen = parser.parse_args().parts or list(PARTS)
    if len(chosen) == 1:
        heading(PARTS[chosen[0]].__doc__ or "")
        print_rows(PARTS[chosen[0]]())
        return
    run: Any = partial(subprocess.run, check=True)
    for part in chosen:  # each in a process of its own, so that what one has touched is not counted to another
        run([sys.executable, __file__, part])


if __name__ == "__main__":
    main()
