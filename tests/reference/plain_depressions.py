"""Where to go after a bounded A*, in plain Python: the three rules of Hernández & Baier (2012), sections 3 and 4."""

from collections.abc import Callable

from reference.plain_astar import Search
from reference.plain_grid import Heuristic, Position, h0
from rt_gym.grid import Grid

Target = Callable[[Grid, Search, Heuristic, Position], Position]


def best_of_open(grid: Grid, search: Search, h: Heuristic, goal: Position) -> Position:
    """Return the best state of OPEN."""
    return min(search.open, key=lambda s: in_order(search, h, s))


def in_order(search: Search, h: Heuristic, s: Position) -> tuple[int, int, int]:
    """Return by what A* orders OPEN: smaller f, larger g, first discovery."""
    return search.g[s] + h[s], -search.g[s], search.order[s]


def unmarked(grid: Grid, search: Search, h: Heuristic, goal: Position) -> Position:
    """Return the best state of OPEN whose value is still the given one; if there is none, the best of all."""
    free = [s for s in search.open if h[s] == h0(grid, s, goal)]
    return min(free or search.open, key=lambda s: in_order(search, h, s))


def border(grid: Grid, search: Search, h: Heuristic, goal: Position) -> Position:
    """Return the state of OPEN whose value was raised least, of these the best."""
    return min(search.open, key=lambda s: (h[s] - h0(grid, s, goal), *in_order(search, h, s)))
