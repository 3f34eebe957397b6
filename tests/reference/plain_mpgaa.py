"""MPGAA* in plain Python (Hernández, Asín & Baier 2015): Adaptive A*, pointers of earlier paths, and mended values."""

from collections.abc import Sequence

from reference.plain_dstar_lite import Herald
from reference.plain_grid import MAX_MOVES, STEPS, Change, Heuristic, Map, Plan, Position, Run, initial_heuristic, walk
from rt_gym.grid import Grid


class MPGAA:
    """What survives a move: h and the pointers."""

    def __init__(self, goal: Position, h: Heuristic) -> None:
        self.goal, self.h = goal, h
        self.next: dict[Position, Position] = {}
        self.followed: Position | None = None
        self.begun = False

    def leads_on(self, view: Map, s: Position) -> bool:
        """GoalCondition."""
        while s in self.next:
            price = dict(view.neighbours(s))[self.next[s]]
            if self.h[s] != price + self.h[self.next[s]]:
                return False
            s = self.next[s]
        return s == self.goal

    def mend(self, view: Map, changed: list[Position], plan: Plan) -> None:
        """Drop pointers along lost edges; lower h where edges were won, and all that follows from it."""
        waiting: set[Position] = set()
        for cell in changed:
            around = [(cell[0] + dx, cell[1] + dy) for dx, dy in ((0, 0), *STEPS[: view.grid.connectivity])]
            if cell not in view.free:
                self.next.pop(cell, None)
            for s in around:
                if s not in view.free or (cell not in view.free and s not in self.next):
                    continue
                plan.scanned.append(s)
                near = view.neighbours(s)
                if cell not in view.free:
                    if self.next[s] not in dict(near):
                        del self.next[s]
                else:
                    for u, price in near:
                        self.lower(s, price + self.h[u], waiting)
        while waiting:
            s = min(waiting, key=lambda cell: self.h[cell])
            waiting.remove(s)
            plan.popped.append(s)
            for u, price in view.neighbours(s):
                self.lower(u, price + self.h[s], waiting)

    def lower(self, s: Position, value: int, waiting: set[Position]) -> None:
        """InsertState."""
        if value < self.h[s]:
            self.h[s] = value
            self.next.pop(s, None)
            waiting.add(s)

    def search(self, view: Map, start: Position, plan: Plan) -> bool:
        """A*, the update of h and BuildPath; whether there is a path."""
        g, parent, order = {start: 0}, dict[Position, Position](), {start: 0}
        waiting = [start]
        while waiting:
            best = min(waiting, key=lambda s: (g[s] + self.h[s], -g[s], order[s]))
            if self.leads_on(view, best):
                self.learn(g, best, plan)
                while best in parent:
                    self.next[parent[best]] = best
                    best = parent[best]
                return True
            waiting.remove(best)
            plan.expanded.append(best)
            for near, price in view.neighbours(best):
                if near not in g:
                    order[near] = len(order)
                    waiting.append(near)
                if near not in g or g[best] + price < g[near]:
                    g[near], parent[near] = g[best] + price, best
        return False

    def learn(self, g: dict[Position, int], best: Position, plan: Plan) -> None:
        """Raise h of what was expanded."""
        f = g[best] + self.h[best]
        for s in plan.expanded:
            if f - g[s] > self.h[s]:
                self.h[s] = plan.raised[s] = f - g[s]

    def plan(self, view: Map, s: Position, changed: list[Position]) -> Plan:
        """Return the next step of a shortest path."""
        plan = Plan()
        if changed and self.begun:
            self.mend(view, changed, plan)
        if (changed or self.followed != s or not self.begun) and not self.search(view, s, plan):
            return plan
        self.begun = True
        self.followed = self.next.pop(s)
        plan.steps = [self.followed]
        return plan


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose believed map is remembered, values and pointers begin anew."""
    world = Herald(grid, start, vision, changes, after.believed if after else None)
    world.news = []
    h = initial_heuristic(grid, goal)
    agent = MPGAA(goal, h)

    def planner(view: Map, s: Position) -> Plan:
        changed, world.news = world.news, []
        return agent.plan(view, s, changed)

    return walk(world, goal, planner, max_moves, h)
