"""FRIT in plain Python (Rivera, Illanes, Baier & Hernández 2014): a tree, and a search for the way back into it.

Whether a cell is in the tree is asked anew each time: there are no colours.
"""

from collections.abc import Sequence
from itertools import pairwise

from reference.plain_astar import Search, a_star
from reference.plain_depressions import border
from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, World, h0, initial_heuristic
from reference.plain_grid import walk as walk_trial
from rt_gym.grid import Grid


class Tree:
    """The parent of every cell: the best neighbour on open ground, unless another one was set."""

    def __init__(self, grid: Grid, goal: Position) -> None:
        self.ground, self.goal = Map(grid), goal
        self.given: dict[Position, Position] = {}

    def parent(self, s: Position) -> Position:
        """Return the parent of a cell."""
        near = self.ground.neighbours(s)
        ideal = min(near, key=lambda each: each[1] + h0(self.ground.grid, each[0], self.goal))[0]
        return self.given.get(s, ideal)

    def has(self, view: Map, s: Position) -> bool:
        """Whether parents lead from a cell to the goal on this map."""
        passed = set()
        while s != self.goal:
            if s in passed or not view.can_step(s, self.parent(s)):
                return False
            passed.add(s)
            s = self.parent(s)
        return True

    def connect(self, path: Sequence[Position]) -> None:
        """Let every cell of a path have the next one as its parent."""
        self.given.update(pairwise(path))


class Agent:
    """What FRIT remembers: the tree, the values, and what waits in a breadth-first search that is under way."""

    def __init__(self, tree: Tree, search: str, lookahead: int, h: Heuristic) -> None:
        self.tree, self.search, self.lookahead, self.h = tree, search, lookahead, h
        self.reconnecting = False

    def plan(self, view: Map, s: Position) -> Plan:
        """Follow the tree, or search for it."""
        if not self.reconnecting and view.can_step(s, self.tree.parent(s)):
            return Plan([self.tree.parent(s)])
        return self.go_on_breadth_first(view, s) if self.search == "bfs" else self.go_on_by_rtaa(view, s)

    def go_on_breadth_first(self, view: Map, s: Position) -> Plan:
        """Expand the next states in the order of discovery; stand still unless the tree is found."""
        if not self.reconnecting or self.free != view.free:
            self.reconnecting, self.free = True, set(view.free)
            self.paths, self.expanded = {s: [s]}, 0
        waiting = list(self.paths)[self.expanded :]
        plan = Plan([s])
        for u in waiting:
            if len(plan.expanded) == self.lookahead:
                return plan
            plan.expanded.append(u)
            self.expanded += 1
            for near, _ in view.neighbours(u):
                if near in self.paths:
                    continue
                self.paths[near] = [*self.paths[u], near]
                if near not in waiting:
                    waiting.append(near)
                if self.tree.has(view, near):
                    return self.join(self.paths[near], plan)
        return Plan([], plan.expanded)

    def go_on_by_rtaa(self, view: Map, s: Position) -> Plan:
        """One search of RTAA* or daRTAA*, which ends where the best of OPEN is in the tree."""
        self.reconnecting = True
        for limit in range(self.lookahead + 1):
            search = a_star(view, s, self.tree.goal, lambda state: self.h[state], limit)
            if search.best is None:
                return Plan(expanded=search.closed)
            if found := self.tree.has(view, search.best):
                break
        assert search.best
        target = search.best
        if self.search == "da-rtaa" and not found:
            target = border(view.grid, search, self.h, self.tree.goal)
        plan = Plan(search.steps_to(target), search.closed, raised=self.learn(search))
        return self.join([s, *plan.steps], plan) if found else plan

    def learn(self, search: Search) -> Heuristic:
        """Raise the values of CLOSED by the f of the best state of OPEN."""
        assert search.best
        f = search.g[search.best] + self.h[search.best]
        raised = {u: f - search.g[u] for u in search.closed if f - search.g[u] > self.h[u]}
        self.h.update(raised)
        return raised

    def join(self, path: list[Position], plan: Plan) -> Plan:
        """Let a path be part of the tree and take its first step."""
        self.tree.connect(path)
        self.reconnecting = False
        plan.steps = [self.tree.parent(path[0])]
        return plan


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    search: str,
    lookahead: int,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose tree, heuristic and believed map it goes on with."""
    first = {} if search == "bfs" else initial_heuristic(grid, goal)
    tree, h = (after.memory, dict(after.h)) if after else (Tree(grid, goal), first)
    world = World(grid, start, vision, changes, after.believed if after else None)
    trial = walk_trial(world, goal, Agent(tree, search, lookahead, h).plan, max_moves, h)
    trial.memory = tree
    return trial
