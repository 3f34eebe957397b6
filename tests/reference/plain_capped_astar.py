"""Capped A* in plain Python: a bounded A*, then the way to the generated cell that is nearest to the goal."""

from collections.abc import Sequence

from reference.plain_astar import a_star
from reference.plain_grid import MAX_MOVES, Change, Map, Plan, Position, Run, World, h0, walk
from rt_gym.grid import Grid


class Agent:
    """What it remembers: where it stood still, and the free cells of the map then; None while it moves."""

    def __init__(self, goal: Position, nodes: int) -> None:
        self.goal, self.nodes = goal, nodes
        self.stood: tuple[Position, set[Position]] | None = None

    def plan(self, view: Map, s: Position) -> Plan:
        """Search from here, unless nothing is new since that led nowhere."""
        if self.stood == (s, view.free):
            return Plan([s])

        def h(cell: Position) -> int:
            return h0(view.grid, cell, self.goal)

        search = a_star(view, s, self.goal, h, self.nodes)
        if search.best is None:
            return Plan(expanded=search.closed)
        nearest = min(search.g, key=lambda cell: (h(cell), search.g[cell], search.order[cell]))
        self.stood = (s, set(view.free)) if nearest == s else None
        return Plan(search.steps_to(nearest) or [s], search.closed)


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    nodes: int,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
) -> Run:
    """Run one trial; nothing is kept for another."""
    return walk(World(grid, start, vision, changes), goal, Agent(goal, nodes).plan, max_moves, {})
