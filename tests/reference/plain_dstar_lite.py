"""D* Lite in plain Python (Likhachev & Koenig 2006, Figure 3), with the line numbers of the figure in braces.

The queue is a dict from vertex to key, in the order of insertion. The three variants differ in the key, and in which of
several vertices with the smallest key is the first: in a bucket the last one inserted, in a heap the first on the map.
"""

from collections.abc import Sequence
from typing import Any

from reference.plain_grid import MAX_MOVES, STEPS, Change, Map, Plan, Position, Run, World, cells, h0, step_cost, walk
from rt_gym.cost import INF
from rt_gym.grid import Grid

Key = tuple[int, ...]


class Herald(World):
    """A world that tells, in order, which believed cells were edited since it was last asked."""

    news: list[Position]

    def __init__(self, *arguments: Any) -> None:
        self.news, self.held = [], None
        super().__init__(*arguments)

    def _change(self) -> None:
        """Do as the plain world does, one edit after the other."""
        before = set(self.truth.free)
        edits = [(cell, free) for time, cell, free in self.changes if time == self.moves]
        if self.held not in (None, self.position):
            edits = [(self.held, False), *edits]
            self.held = None
        super()._change()
        for cell, free in edits:
            if cell == self.position:
                self.held = None if free else cell
            elif (cell in before) != free:
                before ^= {cell}
                self.news += [cell] if self.vision is None else []

    def _sense(self) -> None:
        before = set(self.believed.free)
        super()._sense()
        if self.vision is not None:
            self.news += [cell for cell in cells(self.grid) if (cell in before) != (cell in self.believed.free)]


class DStarLite:
    """The state of a search that survives moves: g, rhs, U and k_m."""

    def __init__(self, view: Map, start: Position, goal: Position, queue: str) -> None:
        self.view, self.start, self.last, self.goal, self.queue = view, start, start, goal, queue
        self.k_m = 0
        self.g = dict.fromkeys(cells(view.grid), INF)
        self.rhs = self.g | {goal: 0}
        self.U: dict[Position, Key] = {goal: self.calc_key(goal)}
        self.expanded: list[Position] = []
        self.scanned: list[Position] = []
        self.reinsertions = 0
        self.searched = False

    def calc_key(self, s: Position) -> Key:
        """{01}, or what the paper puts in its place; a pair orders like twice its first part plus the second."""
        m = min(self.g[s], self.rhs[s])
        f = m + h0(self.view.grid, self.start, s) + self.k_m
        over = int(self.g[s] >= self.rhs[s])
        if self.queue == "heap-smaller-g":
            return f, m
        if self.queue == "heap-larger-g":
            return f, over, -m if over else m
        return f, over

    def top(self) -> Position:
        """Return the first vertex of U."""
        if self.queue == "buckets":
            return min(reversed(self.U), key=lambda s: self.U[s])
        return min(self.U, key=lambda s: (self.U[s], s[::-1]))

    def least(self, u: Position) -> int:
        """Return the least cost over a successor: one scan."""
        self.scanned.append(u)
        return min([INF, *(cost + self.g[s] for s, cost in self.view.neighbours(u))])

    def set_rhs(self, u: Position, value: int) -> None:
        """{07}-{09}; a vertex whose rhs stays as it is stays where it is."""
        if u != self.goal and value != self.rhs[u]:
            self.rhs[u] = value
            self.requeue(u)

    def requeue(self, u: Position) -> None:
        """{08}-{09}."""
        self.U.pop(u, None)
        if self.g[u] != self.rhs[u]:
            self.U[u] = self.calc_key(u)

    def compute_shortest_path(self) -> None:
        """{10}-{20}."""
        g, rhs, start = self.g, self.rhs, self.start
        while self.U and (self.U[self.top()] < self.calc_key(start) or rhs[start] != g[start]):
            u = self.top()
            if self.U[u] < self.calc_key(u):
                self.reinsertions += 1
                self.requeue(u)
                continue
            self.expanded.append(u)
            old, over = g[u], g[u] > rhs[u]
            g[u] = rhs[u] if over else INF
            self.requeue(u)
            for s, cost in self.view.neighbours(u):
                if over:
                    self.set_rhs(s, min(rhs[s], cost + g[u]))
                elif s != self.goal and rhs[s] == cost + old:
                    self.set_rhs(s, self.least(s))

    def learn(self, changed: list[Position]) -> None:
        """{30}-{34}."""
        self.k_m += h0(self.view.grid, self.last, self.start)
        self.last = self.start
        for cell in changed:
            for dx, dy in ((0, 0), *STEPS[: self.view.grid.connectivity]):
                u = cell[0] + dx, cell[1] + dy
                if u != self.goal and self.affected(u, cell):
                    self.set_rhs(u, self.least(u))

    def affected(self, u: Position, cell: Position) -> bool:
        """Whether rhs(u) may be another now: not if only the edge to a closed cell is lost, and it did not matter."""
        straight = u[0] == cell[0] or u[1] == cell[1]
        if u != cell and u not in self.view.free:
            return False
        if u == cell or cell in self.view.free or (straight and self.view.grid.connectivity == 8):
            return True
        return self.rhs[u] == step_cost(self.view.grid, u, cell) + self.g[cell]

    def plan(self, s: Position, changed: list[Position]) -> Plan:
        """{24}-{35}: search where something has changed, then take the best successor, of several the dearest step."""
        self.start, self.expanded, self.scanned = s, [], []
        if changed:
            self.learn(changed)
        if changed or not self.searched:
            self.compute_shortest_path()
        self.searched = True
        if self.g[s] == INF:
            return Plan([], self.expanded, scanned=self.scanned)
        self.scanned.append(s)
        best, _ = min(self.view.neighbours(s), key=lambda pair: (pair[1] + self.g[pair[0]], -pair[1]))
        return Plan([best], self.expanded, scanned=self.scanned)


def default_queue(grid: Grid) -> str:
    """Return the queue that is used when none is named."""
    return "buckets" if grid.connectivity == 4 or grid.cost == "unit" else "heap-larger-g"


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    queue: str | None = None,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """{21}-{35}; ``after`` is the trial whose believed map is remembered, the search begins anew."""
    world = Herald(grid, start, vision, changes, after.believed if after else None)
    world.news = []
    lite = DStarLite(world.believed, start, goal, queue or default_queue(grid))

    def planner(view: Map, s: Position) -> Plan:
        changed, world.news = world.news, []
        return lite.plan(s, changed)

    return walk(world, goal, planner, max_moves, {})
