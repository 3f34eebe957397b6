"""Exact distances by two independent ways, and the random grids and problems of the tests."""

import heapq
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from reference.plain_grid import Map, Position
from rt_gym.grid import Grid

CONNECTIVITIES = (4, 8)
COSTS = ("octile", "unit")
CORNERS = ("strict", "one", "free")
MAX_SIDE = 24
MAX_PERCENT = 45

Problem = tuple[Grid, Position, Position]


def distances(grid: Grid | Map, goal: Position) -> dict[Position, int]:
    """Return the exact cost to ``goal`` of every cell that can reach it (Dijkstra, integers)."""
    view = Map.of(grid) if isinstance(grid, Grid) else grid
    distance = {goal: 0}
    queue = [(0, goal)]
    while queue:
        cost, cell = heapq.heappop(queue)
        if cost > distance[cell]:
            continue
        for near, step in view.neighbours(cell):
            if near not in distance or cost + step < distance[near]:
                distance[near] = cost + step
                heapq.heappush(queue, (cost + step, near))
    return distance


def scipy_distances(grid: Grid, goal: Position) -> NDArray[np.float64]:
    """Return the cost to ``goal`` of every cell, H x W floats, infinity where there is no way (SciPy)."""
    index = np.arange(grid.passable.size).reshape(grid.passable.shape)
    rows, columns, weights = [], [], []
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            legal = _legal_steps(grid, dx, dy)
            rows.append(index[legal])
            columns.append(index[legal] + dx + dy * grid.width)
            weight = math.hypot(dx, dy) if grid.cost == "octile" else 1.0
            weights.append(np.full(int(legal.sum()), weight))
    entries = np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))
    graph = csr_array(entries, shape=(index.size, index.size))
    distance: NDArray[np.float64] = dijkstra(graph, indices=goal[0] + goal[1] * grid.width)
    return distance.reshape(grid.passable.shape)


def _legal_steps(grid: Grid, dx: int, dy: int) -> NDArray[np.bool_]:
    """Return, H x W, whether the step (dx, dy) is legal; nowhere for the step to the same cell."""
    padded = np.pad(grid.passable, 1)

    def beside(x: int, y: int) -> NDArray[np.bool_]:
        return padded[1 + y : 1 + y + grid.height, 1 + x : 1 + x + grid.width]

    if (dx, dy) == (0, 0) or (dx and dy and grid.connectivity == 4):
        return np.zeros_like(grid.passable)
    legal = grid.passable & beside(dx, dy)
    if dx and dy and grid.corner == "strict":
        return legal & beside(dx, 0) & beside(0, dy)
    if dx and dy and grid.corner == "one":
        return legal & (beside(dx, 0) | beside(0, dy))
    return legal


def scatter(rng: np.random.Generator, width: int, height: int, density: float) -> NDArray[np.bool_]:
    """Return a map, true where free, with the fraction ``density`` of its cells blocked (rounded down)."""
    free = np.ones(width * height, bool)
    free[rng.permutation(width * height)[: int(density * width * height)]] = False
    return free.reshape(height, width)


def random_grid(rng: np.random.Generator, max_side: int = MAX_SIDE, density: float | None = None, **rules: Any) -> Grid:
    """Return a random grid of 2 x 2 cells or more; what ``density`` and ``rules`` do not fix is drawn."""
    width, height = (int(side) for side in rng.integers(2, max_side + 1, size=2))
    if density is None:
        density = rng.uniform(0, MAX_PERCENT / 100)
    drawn: dict[str, Any] = {
        "connectivity": int(rng.choice(CONNECTIVITIES)),
        "cost": str(rng.choice(COSTS)),
        "corner": str(rng.choice(CORNERS)),
    }
    return Grid(scatter(rng, width, height, density), **(drawn | rules))


def random_problem(
    rng: np.random.Generator, max_side: int = MAX_SIDE, density: float | None = None, **rules: Any
) -> Problem:
    """Return a random grid with a start and a goal that it connects."""
    grid = random_grid(rng, max_side, density, **rules)
    free = sorted(Map.of(grid).free)
    start = free[rng.integers(len(free))]
    reachable = sorted(distances(grid, start))
    return grid, start, reachable[rng.integers(len(reachable))]


@st.composite
def grids(
    draw: st.DrawFn,
    /,
    max_side: int = MAX_SIDE,
    connectivities: Sequence[int] = CONNECTIVITIES,
    costs: Sequence[str] = COSTS,
    corners: Sequence[str] = CORNERS,
) -> Grid:
    """Draw a grid of 2 x 2 to ``max_side`` squared cells, 0 to 45 per cent of them blocked."""
    width, height = draw(st.integers(2, max_side)), draw(st.integers(2, max_side))
    percent, seed = draw(st.integers(0, MAX_PERCENT)), draw(st.integers(0, 2**32 - 1))
    passable = scatter(np.random.default_rng(seed), width, height, percent / 100)
    connectivity, cost = draw(st.sampled_from(connectivities)), draw(st.sampled_from(costs))
    return Grid(passable, connectivity, cost, draw(st.sampled_from(corners)))


@st.composite
def problems(draw: st.DrawFn, /, max_side: int = MAX_SIDE, **rules: Any) -> Problem:
    """Draw a grid with a start and a goal that it connects; they may be the same cell."""
    grid = draw(grids(max_side, **rules))
    start = draw(st.sampled_from(sorted(Map.of(grid).free)))
    goal = draw(st.sampled_from(sorted(distances(grid, start))))
    return grid, start, goal
