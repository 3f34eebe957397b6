"""TBAA* in plain Python (Hernández, Baier, Uras & Koenig 2012): TBA* that learns before it starts anew.

The search is an A* with learned values, written down once more because a state is taken to be no farther from the goal
than its parent and the step between them. That matters only after a cell has opened.
"""

from collections.abc import Sequence

from reference import plain_tba
from reference.plain_astar import Search
from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, World, initial_heuristic, walk
from rt_gym.grid import Grid


def adaptive_a_star(
    view: Map, start: Position, goal: Position, h: Heuristic, limit: int
) -> tuple[Search, dict[Position, int]]:
    """Expand until the goal comes next, ``limit`` states are closed or OPEN is empty; return also the h of each state.

    The next state has the smallest f, then the largest g, then the first discovery. Closed states stay closed.
    """
    search = Search(closed=[], open=[start], best=None, g={start: 0}, parent={}, order={start: 0})
    g, taken = search.g, {start: h[start]}
    while search.open:
        best = min(search.open, key=lambda s: (g[s] + taken[s], -g[s], search.order[s]))
        if best == goal or len(search.closed) == limit:
            search.best = best
            break
        search.open.remove(best)
        search.closed.append(best)
        for near, cost in view.neighbours(best):
            if near not in g:
                search.order[near] = len(search.order)
                search.open.append(near)
                taken[near] = min(h[near], taken[best] + cost)
            elif near in search.closed or g[near] <= g[best] + cost:
                continue
            g[near] = g[best] + cost
            search.parent[near] = best
    return search, taken


class Slices(plain_tba.Slices):
    """An A* with learned values that goes on from slice to slice; ``taken`` is the h of each of its states."""

    def __init__(self, view: Map, start: Position, goal: Position, h: Heuristic) -> None:
        self.h = h
        super().__init__(view, start, goal)

    def _after(self, view: Map, count: int) -> Search:
        search, self.taken = adaptive_a_star(view, self.start, self.goal, self.h, count)
        return search


class Agent(plain_tba.Agent):
    """What TBAA* remembers: what TBA* does, and the values."""

    def __init__(self, grid: Grid, goal: Position, R: int, r: float, c: int, threshold: bool, shortcut: bool) -> None:
        super().__init__(goal, R, r, c, threshold, shortcut, "count", 1)
        self.h = initial_heuristic(grid, goal)
        self.raised: Heuristic = {}

    def begin(self, view: Map, s: Position) -> None:
        """Learn from the search before, and start from here with nothing else."""
        if isinstance(self.slices, Slices):
            self.learn(self.slices)
        super().begin(view, s)
        self.slices = Slices(view, s, self.goal, self.h)

    def learn(self, slices: Slices) -> None:
        """Raise the values of CLOSED by the f of the best state of OPEN."""
        search = slices.search
        if search.best is None:
            return
        f = search.g[search.best] + slices.taken[search.best]
        self.raised = {u: f - search.g[u] for u in search.closed if f - search.g[u] > self.h[u]}
        self.h.update(self.raised)

    def plan(self, view: Map, s: Position) -> Plan:
        """One time slice."""
        self.raised = {}
        plan = super().plan(view, s)
        plan.raised = self.raised
        return plan


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    R: int,
    r: float = 0.9,
    c: int = 10,
    threshold: bool = False,
    shortcut: bool = False,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
) -> Run:
    """Run one trial of TBAA*; nothing is kept for another."""
    agent = Agent(grid, goal, R, r, c, threshold, shortcut)
    return walk(World(grid, start, vision, changes), goal, agent.plan, max_moves, agent.h)
