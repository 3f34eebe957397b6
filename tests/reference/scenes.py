"""Moments in which an agent has to decide: where it stands, where it wants to go, and what it has learned."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import agents
from reference import plain_grid
from reference.plain_oracle import problems, random_problem
from rt_gym import Grid, Problem
from rt_gym.cost import INF, STRAIGHT
from rt_gym.search.distance import exact_distances
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import make_space
from rt_gym.terrain import STEPS, fill_h0
from rt_gym.trip import make_trip

Position = tuple[int, int]


@dataclass
class Scene:
    """Where an agent stands, where it wants to go, and what it has learned of every cell."""

    grid: Grid
    start: Position
    goal: Position
    h: NDArray[np.int64]

    @property
    def s(self) -> int:
        return self.grid.cell(self.start)

    @property
    def t(self) -> int:
        return self.grid.cell(self.goal)

    @cached_property
    def view(self) -> plain_grid.Map:
        return plain_grid.Map.of(self.grid)

    @cached_property
    def table(self) -> plain_grid.Heuristic:
        return {cell: int(self.h[self.grid.cell(cell)]) for cell in plain_grid.cells(self.grid)}


def untouched(grid: Grid, goal: Position) -> NDArray[np.int64]:
    h = np.empty(grid.terrain.mask.size, np.int64)
    fill_h0(grid.terrain, grid.cell(goal), h)
    return h


def scene(rng: np.random.Generator, grid: Grid, start: Position, goal: Position) -> Scene:
    """Return a scene whose values are fresh, or somewhere up to the true ones, or those of some trials of LRTA*."""
    h, kind = untouched(grid, goal), rng.integers(4)
    if kind == 1:
        exact = exact_distances(grid, goal)
        h += (rng.random(h.size) * np.where(exact < INF, exact - h, 0)).astype(np.int64)
    elif kind == 2:  # many ties
        h += rng.integers(3, size=h.size) * STRAIGHT
        h[grid.cell(goal)] = 0
    elif kind == 3:
        agent = agents.make("lrta", depth=int(rng.integers(1, 4)))
        agents.run(agent, Problem(grid, start, goal), trials=3, max_moves=int(rng.integers(1, 60)))
        h = agent.learned.copy()
    return Scene(grid, start, goal, h)


def some_scenes(seed: int, count: int, side: int, **rules: Any) -> Iterator[Scene]:
    """Yield scenes on random maps, most of them with a detour to the goal."""
    rng = np.random.default_rng(seed)
    while count > 0:
        drawn = [random_problem(rng, side, density=float(rng.uniform(0.1, 0.45)), **rules) for _ in range(6)]
        grid, start, goal = max(drawn, key=detour)
        if start != goal:
            count -= 1
            yield scene(rng, grid, start, goal)


def detour(problem: tuple[Grid, Position, Position]) -> int:
    """Return by how much the heuristic is wrong at the start."""
    grid, start, goal = problem
    return int(exact_distances(grid, goal)[grid.cell(start)]) - plain_grid.h0(grid, start, goal)


@st.composite
def scenes(draw: st.DrawFn, max_side: int = 9) -> Scene:
    grid, start, goal = draw(problems(max_side).filter(lambda problem: problem[1] != problem[2]))
    return scene(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), grid, start, goal)


def decided(scene: Scene, depth: int) -> tuple[int, int, int]:
    """Return action, value and expansions of a search of its own."""
    cells = scene.h.size
    trip, h = make_trip(cells), scene.h.copy()
    assert general_lrta(scene.grid.terrain, trip, make_space(cells), h, scene.s, scene.t, depth) == 1
    return int(trip.plan[0]), int(h[scene.s]), int(trip.meter[0].expansions)


def after(position: Position, action: int) -> Position:
    return position[0] + STEPS[action][0], position[1] + STEPS[action][1]
