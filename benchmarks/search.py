"""The search kernels and agents beside SciPy, NetworkX, nano-astar, plain Python and C++ HOG2."""

import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import nano_astar
import networkx
import numpy as np
from measure import Row, alternate, arguments, at_least, at_most, cpu, heading, holds, load, print_rows, ratio
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import agents
from rt_gym import Grid, Problem, World, distance_field
from rt_gym.search.distance import exact_distances

RELATIVE = 1e-9
PLAIN_MOVES = 50
# lookahead -> CPU seconds and largest mean cost of C++ HOG2's LSS-LRTA* on the 25 problems of HOG2_MAP
HOG2_MAP = Path("bg512") / "AR0411SR.map"
HOG2 = {10: (9.5, 40_501.0), 100: (3.9, 6_303.0)}


def edges(grid: Grid) -> tuple[Any, Any, Any]:
    """Return start cell, end cell and cost of every move, cells counted over the free ones only."""
    terrain = grid.terrain
    number = np.cumsum(terrain.free) - 1
    steps = [(np.flatnonzero(terrain.mask >> d & 1), terrain.offset[d], 1.0 if d < 4 else math.sqrt(2)) for d in range(8)]
    begin = np.concatenate([cells for cells, _, _ in steps])
    end = np.concatenate([cells + offset for cells, offset, _ in steps])
    cost = np.concatenate([np.full(cells.size, cost) for cells, _, cost in steps])
    return number[begin], number[end], cost


def free_number(grid: Grid, position: tuple[int, int]) -> int:
    """Return the number of a position among the free cells."""
    return int(np.count_nonzero(grid.terrain.free[: grid.cell(position)]))


def fields(grid: Grid, problems: list[Problem]) -> list[Row]:
    """Distance fields to five goals against SciPy's Dijkstra on the same graph."""
    begin, end, cost = edges(grid)
    graph = csr_array((cost, (begin, end)), shape=(grid.free_cells, grid.free_cells))
    goals = [problem.goal for problem in problems[::5]]
    sources = [free_number(grid, goal) for goal in goals]
    ours, exact, theirs = alternate(
        lambda: [distance_field(grid, goal) for goal in goals],
        lambda: [exact_distances(grid, goal) for goal in goals],
        lambda: [dijkstra(graph, indices=source) for source in sources],
    )
    count = len(goals)
    return [
        ratio("distance_field", ours / count, theirs / count, 6, "SciPy"),
        ratio("  the same in exact costs", exact / count, theirs / count, 6, "SciPy"),
        at_most("  largest relative deviation", "all cells", deviation(grid, graph, goals, sources), RELATIVE, ""),
    ]


def deviation(grid: Grid, graph: Any, goals: list[Any], sources: list[int]) -> float:
    """Return the largest relative deviation from SciPy's distances; infinite where only one finds a path."""
    largest = 0.0
    for goal, source in zip(goals, sources, strict=True):
        ours = distance_field(grid, goal)[grid.passable]
        theirs = dijkstra(graph, indices=source)
        reached = np.isfinite(theirs)
        if not np.array_equal(reached, np.isfinite(ours)):
            return math.inf
        scale = np.maximum(theirs[reached], 1.0)
        largest = max(largest, float(np.max(np.abs(ours[reached] - theirs[reached]) / scale)))
    return largest


def astar(grid: Grid, problems: list[Problem]) -> list[Row]:
    """Whole runs of one A* agent over many problems against nano-astar and, on a few of them, NetworkX."""
    agent = agents.make("astar")
    blocked = np.ascontiguousarray(~grid.passable, np.uint8)
    few = problems[::5]
    whole = partial(run_all, agent, problems)
    nano = partial(nano_all, blocked, problems)
    ours, theirs = alternate(whole, nano, repeats=10)
    graph = networkx_graph(grid)
    ours_few, theirs_few = alternate(partial(run_all, agent, few), partial(networkx_all, graph, few), repeats=3)
    searches = min(sum(trial(agent, problem)[0] for problem in problems) for _ in range(10))
    costs = [run.cost for run in whole()]
    agree = close(costs, nano()) and close(costs[::5], networkx_all(graph, few)) and close(costs, optima(problems))
    count = len(problems)
    return [
        ratio("astar, agents.run", ours_few / len(few), theirs_few / len(few), 50, "NetworkX"),
        ratio("astar, agents.run", ours / count, theirs / count, 1.5, "nano-astar"),
        ratio("  the search alone", searches / count, theirs / count, 1.5, "nano-astar"),
        Row("  set-up and record of a run", "", f"{(ours - searches) / count * 1e6:.0f} us"),
        holds("  all optimal and equal", f"{count} problems, {len(few)} by NetworkX", agree),
    ]


def run_all(agent: Any, problems: list[Problem]) -> list[agents.Run]:
    return [agents.run(agent, problem, clock=False) for problem in problems]


def nano_all(blocked: Any, problems: list[Problem]) -> list[float]:
    return [nano_astar.astar(blocked, problem.start[::-1], problem.goal[::-1])[1] for problem in problems]


def networkx_graph(grid: Grid) -> networkx.Graph:
    graph = networkx.Graph()
    for y, x in np.argwhere(grid.passable).tolist():
        graph.add_weighted_edges_from(((x, y), near, cost) for _, near, cost in grid.neighbours((x, y)))
    return graph


def networkx_all(graph: networkx.Graph, problems: list[Problem]) -> list[float]:
    paths = [networkx.astar_path(graph, problem.start, problem.goal, octile) for problem in problems]
    return [networkx.path_weight(graph, path, "weight") for path in paths]


def octile(a: tuple[int, int], b: tuple[int, int]) -> float:
    dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
    return max(dx, dy) + (math.sqrt(2) - 1) * min(dx, dy)


def optima(problems: list[Problem]) -> list[float]:
    """Return the optimal costs by distance fields, which SciPy has confirmed."""
    return [
        float(distance_field(problem.grid, problem.goal)[problem.start[1], problem.start[0]]) for problem in problems
    ]


def close(ours: list[float], theirs: list[float]) -> bool:
    return bool(np.allclose(ours, theirs, rtol=RELATIVE, atol=RELATIVE))


def trial(agent: Any, problem: Problem, clock: bool = False, max_moves: int = 10_000_000) -> tuple[float, World]:
    """Return the CPU seconds of planning and walking alone, and the world afterwards."""
    world = World(problem, None, max_moves, clock=clock)
    agent.reset(world.view, 0)
    return cpu(lambda: agent.run_trial(world, max_moves)), world


def rate(agent: Any, problems: list[Problem], count: int, **settings: Any) -> tuple[float, int]:
    """Return how often something was counted, per CPU second of planning and walking, and in all."""
    trials = [trial(agent, problem, **settings) for problem in problems]
    total = sum(int(world.trip.tally[count]) for _, world in trials)
    return total / sum(seconds for seconds, _ in trials), total
