"""Distance fields beside SciPy, A* beside NetworkX and nano-astar."""

import math
from functools import partial
from typing import Any

import nano_astar
import networkx
import numpy as np
from measure import Row, alternate, arguments, at_most, heading, holds, least, load, print_rows, ratio, trial_seconds
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import agents
from rt_gym import Grid, Problem, distance_field
from rt_gym.search.distance import exact_distances
from rt_gym.terrain import Position

RELATIVE = 1e-9
FEW = slice(None, None, 5)  # of the problems, where the other side is slow


def distances(grid: Grid, problems: list[Problem]) -> list[Row]:
    """Distances to a few goals against SciPy's Dijkstra on the same graph, whose making is not counted."""
    graph = scipy_graph(grid)
    goals = [problem.goal for problem in problems[FEW]]
    sources = [number(grid, goal) for goal in goals]
    ours, exact, theirs = alternate(
        lambda: [distance_field(grid, goal) for goal in goals],
        lambda: [exact_distances(grid, goal) for goal in goals],
        lambda: [dijkstra(graph, indices=source) for source in sources],
    )
    count = len(goals)
    furthest = max(
        deviation(distance_field(grid, goal)[grid.passable], dijkstra(graph, indices=source))
        for goal, source in zip(goals, sources, strict=True)
    )
    return [
        ratio("distance_field", ours / count, "SciPy", theirs / count, 6),
        ratio("  without the floats", exact / count, "SciPy", theirs / count, 6),
        at_most("  largest relative deviation", f"{grid.free_cells:,} cells, {count} goals", furthest, RELATIVE),
    ]


def scipy_graph(grid: Grid) -> csr_array:
    """Return the moves of a map; its nodes are the free cells, row by row."""
    terrain = grid.terrain
    numbers = np.cumsum(terrain.free) - 1
    begins = [np.flatnonzero(terrain.mask >> d & 1) for d in range(8)]
    ends = [cells + terrain.offset[d] for d, cells in enumerate(begins)]
    costs = [np.full(cells.size, 1.0 if d < 4 else math.sqrt(2)) for d, cells in enumerate(begins)]
    pairs = numbers[np.concatenate(begins)], numbers[np.concatenate(ends)]
    return csr_array((np.concatenate(costs), pairs), shape=(grid.free_cells, grid.free_cells))


def number(grid: Grid, position: Position) -> int:
    """Return which free cell a position is."""
    return int(grid.terrain.free[: grid.cell(position)].sum())


def deviation(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Return the largest relative deviation, infinite where only one of them finds a path."""
    reached = np.isfinite(theirs)
    if not np.array_equal(reached, np.isfinite(ours)):
        return math.inf
    ours, theirs = ours[reached], theirs[reached]
    return float(np.max(np.abs(ours - theirs) / np.maximum(theirs, 1.0)))


def astar(grid: Grid, problems: list[Problem]) -> list[Row]:
    """Whole runs of one agent over many problems, as a comparison makes them."""
    agent, few = agents.make("astar"), problems[FEW]
    blocked, graph = (~grid.passable).astype(np.uint8), networkx_graph(grid)
    ours, nano = alternate(partial(run_all, agent, problems), partial(nano_all, blocked, problems), repeats=10)
    ours_few, slow = alternate(partial(run_all, agent, few), partial(networkx_all, graph, few), repeats=3)
    (search,) = least(lambda: sum(trial_seconds(agent, problem)[0] for problem in problems), repeats=10)
    costs = run_all(agent, problems)
    equal = (
        np.allclose(costs, nano_all(blocked, problems), RELATIVE, 0)
        and np.allclose(costs[FEW], networkx_all(graph, few), RELATIVE, 0)
        and np.allclose(costs, [optimum(problem) for problem in problems], RELATIVE, 0)
    )
    count = len(problems)
    return [
        ratio("astar, whole runs", ours_few / len(few), "NetworkX", slow / len(few), 50),
        ratio("astar, whole runs", ours / count, "nano-astar", nano / count, 3),
        ratio("  planning and walking alone", search / count, "nano-astar", nano / count, 3),
        Row("  set-up and record of a run", "", f"{(ours - search) / count * 1e6:.0f} us"),
        holds("  optimal, and equal on all sides", f"{count} problems, {len(few)} of them in NetworkX", equal),
    ]


def run_all(agent: agents.KernelAgent, problems: list[Problem]) -> list[float]:
    return [agents.run(agent, problem, clock=False).cost for problem in problems]


def nano_all(blocked: NDArray[np.uint8], problems: list[Problem]) -> list[float]:
    return [nano_astar.astar(blocked, problem.start[::-1], problem.goal[::-1])[1] for problem in problems]


def networkx_graph(grid: Grid) -> Any:
    graph = networkx.Graph()
    for y, x in np.argwhere(grid.passable).tolist():
        graph.add_weighted_edges_from(((x, y), near, cost) for _, near, cost in grid.neighbours((x, y)))
    return graph


def networkx_all(graph: Any, problems: list[Problem]) -> list[float]:
    paths = [networkx.astar_path(graph, problem.start, problem.goal, octile) for problem in problems]
    return [networkx.path_weight(graph, path, "weight") for path in paths]


def octile(a: Position, b: Position) -> float:
    dx, dy = abs(a[0] - b[0]), abs(a[1] - b[1])
    return max(dx, dy) + (math.sqrt(2) - 1) * min(dx, dy)


def optimum(problem: Problem) -> float:
    """Return the optimal cost from the distances that SciPy has confirmed."""
    x, y = problem.start
    return float(distance_field(problem.grid, problem.goal)[y, x])


def main() -> None:
    grid, problems = load(arguments(__doc__).parse_args().map)
    heading(f"{__doc__} On {grid.name}.")
    print_rows(distances(grid, problems) + astar(grid, problems))


if __name__ == "__main__":
    main()
