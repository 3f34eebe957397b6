"""TBA* and late-acting A* in plain Python (Björnsson, Bulitko & Sturtevant 2009, Algorithm 1 and sections 3.3 to 4.3).

With a weight the A* is weighted A*; only the search for a shortcut stays without.

A* is run from scratch for as many expansions as it has had so far: the same states come in the same order. What is
read: the quirks of lines 22, 27 and 30, traces that span slices and the end of a path as in the agent's docstring; a
search is void when a cell that changed is, or lies beside, an expanded one.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from reference.plain_astar import Search, a_star
from reference.plain_grid import MAX_MOVES, Change, Map, Plan, Position, Run, World, h0, walk
from rt_gym.grid import Grid


def expansions_of(R: int, r: float) -> int:
    """Return floor(R * r), at least 1, with a little room for the rounding of r."""
    return max(1, int(R * Fraction(r) + Fraction(1, 10**9)))


class Slices:
    """An A* that goes on from slice to slice.

    Attributes:
        start: where it began.
        made: how many states it has expanded.
        found: whether the goal is the next state to be expanded.
        search: where it stands; ``best`` is None when nothing is left to expand.
    """

    def __init__(self, view: Map, start: Position, goal: Position, weight: float = 1) -> None:
        self.free, self.start, self.goal, self.weight = set(view.free), start, goal, weight
        self.made, self.found = 0, False
        self.expand(view, 0)

    def expand(self, view: Map, count: int) -> int:
        """Expand so many states or as many as there are; return how many."""
        self.search = self._after(view, self.made + count)
        count = len(self.search.closed) - self.made
        self.made += count
        self.found = self.search.best == self.goal
        return count

    def _after(self, view: Map, count: int) -> Search:
        return a_star(view, self.start, self.goal, lambda s: h0(view.grid, s, self.goal, self.weight), count)

    def void(self, view: Map) -> bool:
        """Whether the map has changed since the last question where the search has been."""
        changed, self.free = self.free ^ view.free, set(view.free)
        near = {(x + dx, y + dy) for x, y in self.search.closed for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
        return bool(changed & near)

    def new(self, before: int) -> list[Position]:
        """Return the states expanded since there were ``before``."""
        return self.search.closed[before:]


class Agent:
    """What TBA* remembers.

    Attributes:
        slices: the search; None before the first plan.
        new: the path being traced, from its end backwards; empty when no trace is under way.
        follow: what is left of the path that is followed, the agent's way first.
        follow_g: the g of its end; below every other once it was walked to its end.
        solved: whether it leads to the goal.
        last: where the agent came from.
    """

    def __init__(
        self, goal: Position, R: int, r: float, c: int, threshold: bool, shortcut: bool, first: str, weight: float
    ) -> None:
        self.goal, self.R, self.c, self.weight = goal, R, c, weight
        self.share = expansions_of(R, r)
        self.steps = (R - self.share) * c
        self.threshold, self.shortcut, self.first = threshold, shortcut, first
        self.slices: Slices | None = None

    def begin(self, view: Map, s: Position) -> None:
        """Start from here with nothing."""
        self.slices = Slices(view, s, self.goal, self.weight)
        self.new: list[Position] = []
        self.new_g = 0
        self.follow: list[Position] = []
        self.follow_g = 0
        self.solved = False
        self.last: Position | None = None

    def expand(self, view: Map) -> None:
        """A* for one slice."""
        assert self.slices
        if self.slices.made or self.first == "count":
            self.slices.expand(view, self.share if self.slices.made else min(self.share, self.steps))
            return
        for _ in range(self.share):
            best = self.slices.search.best
            if best is None or self.slices.found or len(self.slices.search.steps_to(best)) >= self.steps:
                break
            self.slices.expand(view, 1)

    def trace(self, s: Position, steps: int) -> None:
        """Trace back, and adopt the path once the agent or the start of the search is on it."""
        assert self.slices
        search = self.slices.search
        if not self.new:
            assert search.best
            self.new, self.new_g = [search.best], search.g[search.best]
        while s not in self.new and self.new[-1] != self.slices.start:
            if steps == 0:
                return
            self.new.append(search.parent[self.new[-1]])
            steps -= 1
        self.solved = self.new[0] == self.goal
        if not self.threshold or self.solved or self.new_g >= self.follow_g:
            self.follow, self.follow_g = self.new[::-1], self.new_g
        self.new = []

    def next(self, s: Position) -> Position | None:
        """Return the cell to step to."""
        assert self.slices
        if s in self.follow[:-1]:
            self.follow = self.follow[self.follow.index(s) + 1 :]
            return self.follow[0]
        if self.follow and s == self.follow[-1]:
            self.follow_g = -1
        return self.last if s == self.slices.start else self.slices.search.parent[s]

    def plan(self, view: Map, s: Position) -> Plan:
        """One time slice."""
        if self.slices is None or self.slices.void(view):
            self.begin(view, s)
        assert self.slices
        before, steps = self.slices.made, self.R * self.c if self.slices.found else self.steps
        if not self.slices.found:
            self.expand(view)
        expanded = self.slices.new(before)
        if self.slices.search.best is None:
            return Plan(expanded=expanded)
        if not self.solved:
            self.trace(s, steps)
        if self.shortcut and self.solved and s not in self.follow:
            expanded = expanded + self.cut_short(view, s, self.R - len(expanded))
        to, self.last = self.next(s), s
        return Plan([to] if to else [], expanded)

    def cut_short(self, view: Map, s: Position, most: int) -> list[Position]:
        """Look for a cheaper way to the goal than over the solution, follow it, and return what was expanded."""
        assert self.slices
        search, solution = self.slices.search, self.follow
        meet = s
        while meet not in solution:
            meet = search.parent[meet]
        cost = search.g[self.goal]
        g = {cell: cost - search.g[cell] for cell in solution[: solution.index(meet) - len(solution) - 1 : -1]}
        way, found, closed = seeded_search(view, g, s, most)
        if way and found < search.g[s] - search.g[meet] + cost - search.g[meet]:
            self.follow = way + solution[solution.index(way[-1]) + 1 :]
        return closed


def seeded_search(
    view: Map, seeds: dict[Position, int], target: Position, most: int
) -> tuple[list[Position], int, list[Position]]:
    """Return the way from the target to a seed, its g, and the states expanded: A* from all seeds at their g at once.

    The way is empty if the target is not the next to be expanded after ``most`` expansions.
    """
    g, parent, order = dict(seeds), {}, {cell: k for k, cell in enumerate(seeds)}
    waiting, closed = list(seeds), []
    while True:
        best = min(waiting, key=lambda u: (g[u] + h0(view.grid, u, target), -g[u], order[u]))
        if best == target or len(closed) == most:
            break
        waiting.remove(best)
        closed.append(best)
        for near, cost in view.neighbours(best):
            if near not in order:
                order[near] = len(order)
                waiting.append(near)
            if near not in closed and (near not in g or g[best] + cost < g[near]):
                g[near] = g[best] + cost
                parent[near] = best
    way = [best]
    while way[-1] in parent:
        way.append(parent[way[-1]])
    return (way if best == target else []), g.get(target, 0), closed


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    R: int,
    r: float = 0.9,
    c: int = 10,
    threshold: bool = False,
    shortcut: bool = False,
    first: str = "count",
    weight: float = 1,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
) -> Run:
    """Run one trial of TBA*; nothing is kept for another."""
    agent = Agent(goal, R, r, c, threshold, shortcut, first, weight)
    return walk(World(grid, start, vision, changes), goal, agent.plan, max_moves, {})


def generator(state: int) -> Callable[[], int]:
    """Return a xorshift generator of 31-bit numbers."""

    def draw() -> int:
        nonlocal state
        for shift in (13, -7, 17):
            state ^= (state << shift if shift > 0 else state >> -shift) & (2**64 - 1)
        return state >> 33

    return draw


class LateAgent:
    """What late-acting A* remembers: the search, whether its path is known, and where it stepped away from."""

    def __init__(self, goal: Position, R: int, r: float) -> None:
        self.goal, self.share = goal, expansions_of(R, r)
        self.slices: Slices | None = None
        self.home: Position | None = None
        self.draw = generator(1)

    def plan(self, view: Map, s: Position) -> Plan:
        """One time slice."""
        if self.slices is None or self.slices.void(view):
            self.slices, self.home = Slices(view, s, self.goal), None
        before = self.slices.made
        if not self.slices.found:
            self.slices.expand(view, self.share)
        search, expanded = self.slices.search, self.slices.new(before)
        if search.best is None:
            return Plan(expanded=expanded)
        if self.home:
            home, self.home = self.home, None
            return Plan([home], expanded)
        if self.slices.found:
            self.slices = None
            return Plan(search.steps_to(self.goal), expanded)
        self.home = s
        return Plan([self.any_of([near for near, _ in view.neighbours(s)])], expanded, scanned=[s])

    def any_of(self, cells: list[Position]) -> Position:
        """Return one of the cells: each takes the place of those before it with its share of chance."""
        chosen = cells[0]
        for k, cell in enumerate(cells):
            if self.draw() % (k + 1) == 0:
                chosen = cell
        return chosen


def run_late(
    grid: Grid,
    start: Position,
    goal: Position,
    R: int,
    r: float = 0.9,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
) -> Run:
    """Run one trial of late-acting A*."""
    return walk(World(grid, start, vision, changes), goal, LateAgent(goal, R, r).plan, max_moves, {})
