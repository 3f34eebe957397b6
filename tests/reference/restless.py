"""Maps that close and open again and again, and exact distances on what an agent believes of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from reference import plain_grid
from reference.plain_oracle import distances, problems
from rt_gym import Change, Problem, World
from rt_gym.cost import INF


@st.composite
def restless(draw: st.DrawFn, unit: bool = False) -> Problem:
    """Draw a map most of whose cells close and open again and again, known or in fog."""
    grid, start, goal = draw(problems(8))
    if unit:
        grid = grid.replace(cost="unit")
    cells = [cell for cell in plain_grid.cells(grid) if cell != goal]
    times = st.lists(st.tuples(st.integers(0, 15), st.sampled_from(cells)), min_size=30, max_size=90)
    free, changes = set(plain_grid.Map.of(grid).free), []
    for time, cell in sorted(draw(times)):
        free ^= {cell}
        changes.append(Change(time, cell, cell in free))
    return Problem(grid, start, goal, draw(st.sampled_from([None, None, 1, 2])), changes)


def moves(agent: Any, world: World, limit: int = 40) -> Iterator[None]:
    """Let the agent plan, yield, and let it move; where it knows no way, the world goes on without it."""
    for _ in range(limit):
        if world.done:
            return
        action = agent.act()
        yield
        world.step(action)


def believed(world: World) -> plain_grid.Map:
    """Return the map that the agent plans on."""
    free = [(int(x), int(y)) for y, x in np.argwhere(world.kernel_view.passable)]
    return plain_grid.Map(world.problem.grid, free)


def exact_g(world: World) -> int:
    """Return the exact distance from the agent to the goal on the map that it plans on."""
    view, goal = believed(world), world.problem.goal
    return distances(view, goal).get(world.view.position, INF) if goal in view.free else INF
