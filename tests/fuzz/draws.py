"""Random agents, problems and budgets."""

from functools import cache
from typing import Any

from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

import agents
from fuzz.case import Case
from profiles import examples
from reference import plain_grid
from reference.plain_oracle import distances, random_grid
from reference.settings import draw_settings
from rt_gym import Budget, Change, Grid, Problem

Settings = dict[str, Any]


@cache
def some_settings(agent_id: str, count: int = 60) -> list[Settings]:
    """Return settings as the comparisons with the references draw them."""
    found: list[Settings] = []

    @seed(0)
    @settings(examples(count), database=None, phases=[Phase.generate])
    @given(st.data())
    def draw(data: st.DataObject) -> None:
        found.append(data.draw(draw_settings(agent_id)))

    draw()
    return found


def draw_agent(case: Case) -> tuple[str, Settings]:
    """Return an id, each in its turn, and settings of it."""
    agent_id = agents.ids()[case.number % len(agents.ids())]
    chosen = some_settings(agent_id)
    return agent_id, chosen[int(case.rng.integers(len(chosen)))]


def draw_problem(case: Case, max_side: int = 9, changing: float = 0.3, unsolvable: float = 0.3) -> Problem:
    """Return a problem on a small map, known or in fog, that may change or have no solution."""
    grid = random_grid(case.rng, max_side)
    while not grid.free_cells:
        grid = random_grid(case.rng, max_side)
    free = sorted(plain_grid.Map.of(grid).free)
    start = free[case.whole(0, len(free) - 1)]
    goals = sorted(distances(grid, start))
    goal = case.pick(*(free if case.chance(unsolvable) else goals))
    changes = draw_changes(case, grid, goal) if case.chance(changing) else None
    return Problem(grid, start, goal, case.pick(None, None, 1, 2, 3), changes, allow_unsolvable=True)


def draw_changes(case: Case, grid: Grid, goal: plain_grid.Position) -> tuple[Change, ...]:
    """Return some changes in the first moves, of any cell but the goal."""
    cells = [cell for cell in plain_grid.cells(grid) if cell != goal]
    return tuple(Change(case.whole(0, 15), case.pick(*cells), case.chance(0.5)) for _ in range(case.whole(1, 5)))


def draw_budget(case: Case) -> Budget:
    """Return a budget of 1 to 50, small ones more often, under either count and any policy."""
    limit = case.whole(1, 8) if case.chance(0.5) else case.whole(1, 50)
    return Budget(limit, case.pick("expansions", "scans"), case.pick("truncate", "raise", "idle"))
