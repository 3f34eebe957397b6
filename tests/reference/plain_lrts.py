"""LRTS(depth, gamma, quota) in plain Python (Bulitko & Lee 2006), as summarised by Hernández & Meseguer (2008).

What is read: layers are counted in actions, and the first layer with the goal is the last; g is the cheapest cost
inside them. A step is priced at gamma times its cost, rounded down, but at least 1. After a change beyond the quota the
agent returns to where it planned before, over the cells it came by; where one of these steps is blocked, or the way
would be longer than the bordered map has cells, all that is forgotten and it goes forward.
"""

from collections.abc import Sequence
from fractions import Fraction

from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, learner_trial
from reference.plain_lrta import Ball, canonical_parents, cheapest, learn
from rt_gym.grid import Grid

READS_AGAIN = True  # the agent may read a state again when a longer way turns out to be the cheaper one


def price(gamma: float, cost: int) -> int:
    """Return gamma times a cost, rounded down, at least 1."""
    return max(1, int(Fraction(gamma) * cost))


def look_ahead(view: Map, s: Position, goal: Position, depth: int, gamma: float) -> tuple[Ball, list[list[Position]]]:
    """Expand layer by layer, up to ``depth`` or the goal; return all states with priced steps, and the layers."""
    layers, discovered = [[s]], [s]
    successors: dict[Position, list[tuple[Position, int]]] = {}
    while len(layers) <= depth and goal not in layers[-1] and layers[-1]:
        layers.append([])
        for state in layers[-2]:
            successors[state] = [(near, price(gamma, cost)) for near, cost in view.neighbours(state)]
            new = [near for near, _ in successors[state] if near not in discovered]
            discovered += new
            layers[-1] += new
    return Ball(s, discovered, successors, layers[-1]), layers[1:]


class Agent:
    """What LRTS remembers within a trial.

    Attributes:
        learned: how much was learned, up to the quota.
        segments: the ways between places of planning, one after the other; the last one ends where the agent stands.
        steps: the steps it is committed to.
        back: whether they lead back.
        scanned: the cells from which the last plan checked a step back.
    """

    def __init__(self, grid: Grid, goal: Position, depth: int, gamma: float, quota: float | None) -> None:
        self.goal, self.depth, self.gamma = goal, depth, gamma
        self.quota = None if quota is None else Fraction(quota) * (1 << 40)
        self.longest = (grid.width + 2) * (grid.height + 2)
        self.learned = 0
        self.segments: list[list[Position]] = []
        self.steps: list[Position] = []
        self.back = False
        self.scanned: list[Position] = []

    def arrive(self, s: Position) -> None:
        """Take note of the committed steps that were really made."""
        made = self.steps[: self.steps.index(s) + 1] if self.steps else []
        if not self.segments:
            return
        if self.back:
            self.segments[-1] = self.segments[-1][: len(self.segments[-1]) - len(made)]
            if len(self.segments[-1]) == 1:
                self.segments.pop()
        elif sum(len(segment) - 1 for segment in self.segments) + len(made) > self.longest:
            self.segments = []
        else:
            self.segments[-1] += made

    def way_back(self, view: Map) -> list[Position]:
        """Return the steps to where it planned before; none, and all is forgotten, if one is blocked."""
        if not self.segments:
            return []
        way = self.segments[-1][::-1]
        for k in range(len(way) - 1):
            self.scanned.append(way[k])
            if not view.can_step(way[k], way[k + 1]):
                self.segments = []
                return []
        return way[1:]

    def plan(self, view: Map, s: Position, h: Heuristic) -> Plan:
        """Learn the largest of the layers' smallest values; go on to the best state of the last layer, or back."""
        self.arrive(s)
        self.scanned = []
        ball, layers = look_ahead(view, s, self.goal, self.depth, self.gamma)
        expanded = list(ball.successors)
        if not ball.frontier:
            return Plan(expanded=expanded)
        g = cheapest(ball)
        best = [min(layer, key=lambda u: (g[u] + h[u], -g[u])) for layer in layers]  # the first discovered of equals
        before, raised = h[s], learn(h, s, max(g[u] + h[u] for u in best))
        self.learned += h[s] - before
        self.steps, self.back = [], self.quota is not None and self.learned > self.quota
        if self.back:
            self.learned = self.quota
            self.steps = self.way_back(view)
        if not self.steps:
            self.back = False
            self.steps = steps_to(best[-1], canonical_parents(ball, g))
            self.segments.append([s])
        return Plan(list(self.steps), expanded, raised=raised, scanned=self.scanned)


def steps_to(state: Position, parent: dict[Position, Position]) -> list[Position]:
    """Return the cells on the way to a state, without the one that has no parent."""
    steps = []
    while state in parent:
        steps.append(state)
        state = parent[state]
    return steps[::-1]


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    depth: int,
    gamma: float = 1.0,
    quota: float | None = None,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose heuristic and believed map it goes on with."""
    agent = Agent(grid, goal, depth, gamma, quota)
    return learner_trial(grid, start, goal, agent.plan, vision, changes, max_moves, after)
