"""A*, weighted A* and bounded A*, in plain Python (Hart, Nilsson & Raphael 1968; Pohl 1970; Koenig 2004)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reference.plain_grid import MAX_MOVES, Change, Map, Plan, Position, Run, World, h0, walk
from rt_gym.grid import Grid


@dataclass
class Search:
    """Where an A* search stopped.

    Attributes:
        closed: the expanded states, in order of expansion.
        open: the states generated and not expanded.
        best: the minimum of OPEN; None when OPEN ran empty.
        g: the cheapest cost found, per generated state.
        parent: the first state, in order of expansion, that gave a state its g.
        order: the place of a state in the order of first discovery.
    """

    closed: list[Position]
    open: list[Position]
    best: Position | None
    g: dict[Position, int]
    parent: dict[Position, Position]
    order: dict[Position, int]

    def steps_to(self, state: Position) -> list[Position]:
        """Return the cells on the way from the root, which is left out, to ``state``."""
        steps = []
        while state in self.parent:
            steps.append(state)
            state = self.parent[state]
        return steps[::-1]


def a_star(
    view: Map, start: Position, goal: Position, h: Callable[[Position], int], limit: int | None = None
) -> Search:
    """Expand until the goal is the next state to expand, ``limit`` states are closed or OPEN is empty.

    The next state has the smallest f, then the largest g, then the first discovery. Closed states stay closed.
    """
    search = Search(closed=[], open=[start], best=None, g={start: 0}, parent={}, order={start: 0})
    g, order = search.g, search.order
    closed = set()
    while search.open:
        best = min(search.open, key=lambda s: (g[s] + h(s), -g[s], order[s]))
        if best == goal or len(search.closed) == limit:
            search.best = best
            break
        search.open.remove(best)
        search.closed.append(best)
        closed.add(best)
        for near, cost in view.neighbours(best):
            if near in closed:
                continue
            if near not in g:
                order[near] = len(order)
                search.open.append(near)
            if near not in g or g[best] + cost < g[near]:
                g[near] = g[best] + cost
                search.parent[near] = best
    return search


def plan(view: Map, start: Position, goal: Position, weight: float = 1) -> Plan:
    """Return the whole path of (weighted) A* to the goal on the believed map."""
    search = a_star(view, start, goal, lambda s: h0(view.grid, s, goal, weight))
    return Plan([] if search.best is None else search.steps_to(search.best), search.closed)


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    weight: float = 1,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
) -> Run:
    """Follow (weighted) A* paths from start to goal, planned from scratch whenever the path is broken."""
    world = World(grid, start, vision, changes)
    return walk(world, goal, lambda view, s: plan(view, s, goal, weight), max_moves, {})
