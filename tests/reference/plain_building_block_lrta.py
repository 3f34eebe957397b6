"""LRTA* from building blocks in plain Python (Bulitko 2016), with the lookahead of wdaLSS-LRTA* (Rivera et al. 2015).

Where the paper says that a state leaves the graph, ``gone`` holds it here. It is expendable if the free neighbours that
are left are connected by legal steps among the eight cells around it; that is looked up, not derived.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any

from reference.plain_astar import Search, a_star
from reference.plain_depressions import best_of_open, border
from reference.plain_grid import (
    MAX_MOVES,
    STEPS,
    Change,
    Heuristic,
    Map,
    Plan,
    Position,
    Run,
    World,
    h0,
    initial_heuristic,
    step_cost,
    walk,
)
from reference.plain_lss_lrta import frontier_update
from rt_gym.cost import INF, STRAIGHT
from rt_gym.grid import Grid

CAP = INF // 4
RAISES_AGAIN = True  # a thought may come to a state twice for one move


@dataclass
class Genes:
    """The settings, with exact numbers; those that nobody names are LRTA*'s."""

    lookahead: int = 1
    weight: Fraction = Fraction(1)
    cost_weight: Fraction = Fraction(1)
    growth: Fraction = Fraction(0)
    lop: str = "min"
    beam: Fraction = Fraction(1)
    da: bool = False
    expendable: bool = False
    ahead: int = 1
    learning: str = "frontier"
    commit: str = "all"

    @classmethod
    def of(cls, given: dict[str, Any]) -> "Genes":
        """Return the genes that are named; there is no policy that names them instead."""
        named = {name: value for name, value in given.items() if value is not None}
        exact = ("weight", "cost_weight", "growth", "beam")
        return cls(**{k: Fraction(v).limit_denominator(1000) if k in exact else v for k, v in named.items()})


class Left(Map):
    """A map without the states that were deleted; they still are free, so that steps past their corners are legal."""

    def __init__(self, view: Map, gone: set[Position]) -> None:
        super().__init__(view.grid, view.free)
        self.gone = gone

    def neighbours(self, cell: Position) -> list[tuple[Position, int]]:
        """Return the neighbours that are left."""
        return [(near, cost) for near, cost in super().neighbours(cell) if near not in self.gone]


class Dear(Map):
    """A map on which steps cost more than they do."""

    def __init__(self, view: Map, weight: Fraction) -> None:
        super().__init__(view.grid, view.free)
        self.weight = weight

    def neighbours(self, cell: Position) -> list[tuple[Position, int]]:
        """Return the neighbours with weighted costs, rounded down."""
        return [(near, int(self.weight * cost)) for near, cost in super().neighbours(cell)]


class WatchedWorld(World):
    """A world that notes which believed cells have changed since the last plan."""

    changed: frozenset[Position] = frozenset()

    def move(self, to: Position) -> None:
        """Make one step and note what has changed."""
        before = set(self.believed.free)
        super().move(to)
        self.changed |= before ^ self.believed.free


def around(cell: Position) -> list[Position]:
    """Return the eight cells around one."""
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in STEPS]


def is_expendable(view: Left, s: Position) -> bool:
    """Whether the neighbours of ``s`` can be reached from each other by steps around it."""
    needed = {near for near, _ in view.neighbours(s)}
    if not needed:
        return True
    first = min(needed)
    reached, stack = {first}, [first]
    while stack:
        new = {near for near, _ in view.neighbours(stack.pop()) if near in around(s)} - reached
        reached |= new
        stack.extend(new)
    return needed <= reached


def scans_to_find_out(view: Left, s: Position) -> list[Position]:
    """Return which states beside ``s`` itself are read: with four neighbours, those in the east and in the west."""
    if view.grid.connectivity == 8:
        return []
    return [near for near, _ in view.neighbours(s) if near[1] == s[1]]


def operate(lop: str, values: list[int]) -> int:
    """Return the minimum, the mean rounded down, the lower median or the maximum."""
    if lop == "mean":
        return sum(values) // len(values)
    return sorted(values)[{"min": 0, "median": (len(values) - 1) // 2, "max": -1}[lop]]


@dataclass
class Thought:
    """A cell that the agent has been to in thought, and what was deleted from there on, before the next cell."""

    cell: Position
    deleted: list[Position] = field(default_factory=list)


@dataclass
class Agent:
    """What the agent remembers within a trial."""

    grid: Grid
    goal: Position
    genes: Genes
    h: Heuristic
    gone: set[Position] = field(default_factory=set)
    thought: list["Thought"] = field(default_factory=list)

    def heed(self, view: Map, changed: frozenset[Position]) -> None:
        """Undo deletions around what has closed, all where something has opened; come back from a blocked thought."""
        if not view.can_walk([one.cell for one in self.thought]):
            self.gone -= {cell for one in self.thought for cell in one.deleted}
            self.thought = [Thought(self.thought[0].cell)]
        if changed & view.free:
            self.gone.clear()
        for cell in changed:
            self.gone -= set(around(cell))

    def plan(self, view: Map, s: Position) -> Plan:
        """Take a step or search."""
        left = Left(view, self.gone)
        if self.genes.ahead > 1:
            return self.walk_ahead(left, s)
        return self.step(left, s) if self.genes.lookahead == 1 else self.search(left, s)

    def walk_ahead(self, view: Left, s: Position) -> Plan:
        """Make steps in thought, then one of the way that they have led, without its loops."""
        if not self.thought or self.thought[0].cell != s:
            self.thought = [Thought(s)]
            self.gone.clear()
        total = Plan()
        for number in range(1, self.genes.ahead + 1):
            v = self.thought[-1]
            if v.cell == self.goal:
                break
            before = set(self.gone)
            plan = self.step(view, v.cell)
            v.deleted += self.gone - before
            total.expanded += plan.expanded
            total.scanned += plan.scanned
            total.raised |= plan.raised
            if not plan.steps:
                return total
            if number == self.genes.ahead and plan.steps == [s]:
                break
            self.go_ahead(plan.steps[0])
        self.thought.pop(0)
        total.steps = [self.thought[0].cell]
        return total

    def go_ahead(self, cell: Position) -> None:
        """Make a step in thought. Of a loop its first cell is left, and what it deleted counts to the cell before."""
        cells = [one.cell for one in self.thought]
        if cell not in cells:
            self.thought.append(Thought(cell))
            return
        k = cells.index(cell)
        if k > 0:
            self.thought[k - 1].deleted += [deleted for one in self.thought[k:] for deleted in one.deleted]
        self.thought[k:] = [Thought(cell)]

    def rise(self, cell: Position) -> int:
        """Return by how much a value was raised, which counts for nothing without depression avoidance."""
        return self.h[cell] - h0(self.grid, cell, self.goal) if self.genes.da else 0

    def step(self, view: Left, s: Position) -> Plan:
        """Learn from the neighbours and move to one of them."""
        h, genes = self.h, self.genes
        near = [(v, c) for v, c in view.neighbours(s) if c + h[v] < INF]
        if not near:
            return Plan(expanded=[s])
        to, _ = min(near, key=lambda n: (self.rise(n[0]), n[1] + h[n[0]], -n[1]))
        near.sort(key=lambda n: (n[1] + h[n[0]], -n[1]))
        beam = near[: ceil(genes.beam * len(near))]
        raised = (h[s] - h0(self.grid, s, self.goal)) // STRAIGHT
        more = min(genes.growth * min(raised, 1000), 1000)
        learned = operate(genes.lop, [min(int(genes.cost_weight * c) + int(more * c) + h[v], CAP - 1) for v, c in beam])
        value = max(min(int(genes.weight * learned), CAP), min(c + h[v] for v, c in near))
        if value <= h[s]:
            return Plan([to], [s])
        h[s] = value
        return Plan([to], [s], raised={s: value}, scanned=self.delete(view, s))

    def delete(self, view: Left, s: Position) -> list[Position]:
        """Delete a state if it is expendable; return what had to be read."""
        if not self.genes.expendable or s in self.gone:
            return []
        read = scans_to_find_out(view, s)
        if is_expendable(view, s):
            self.gone.add(s)
        return read

    def priced(self, view: Map, longest: int, value: int) -> Map:
        """Return the map with weighted costs, unless so many steps beyond a value could lead past CAP."""
        weight = self.genes.weight * self.genes.cost_weight
        dearest = int(weight * step_cost(self.grid, (0, 0), (1, 1)))
        return Dear(view, weight if (CAP - value) // longest >= dearest else Fraction(1))

    def learn(self, view: Left, search: Search) -> tuple[Heuristic, list[Position]]:
        """Return the values that a search implies, and the states that were taken from a queue to find them."""
        h, best = self.h, search.best
        assert best is not None
        if self.genes.learning == "frontier":
            return frontier_update(self.priced(view, len(search.closed) + 1, h[best]), search, h)
        weight = (self.genes.weight * self.genes.cost_weight).limit_denominator(1000)
        found = {}
        for state in search.closed:
            ahead = search.g[best] - search.g[state]
            dear = min(int(weight * ahead), CAP) if ahead > 0 else ahead
            found[state] = h[best] + (dear if h[best] + dear <= CAP else ahead)
        return found, []

    def search(self, view: Left, s: Position) -> Plan:
        """Search, learn, delete, and commit to a path."""
        h, genes = self.h, self.genes
        search = a_star(view, s, self.goal, lambda state: h[state], genes.lookahead)
        if search.best is None:
            return Plan(expanded=search.closed)
        target = (border if genes.da else best_of_open)(view.grid, search, h, self.goal)
        found, popped = self.learn(view, search)
        raised = {state: value for state, value in found.items() if value > h[state]}
        h.update(raised)
        path = search.steps_to(target)
        scanned: list[Position] = []
        for state in [u for u in search.closed if u in raised and u not in path and genes.expendable]:
            scanned += [*([state] if state != s else []), *self.delete(view, state)]
        return Plan(path if genes.commit == "all" else path[:1], search.closed, popped, raised, scanned)


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
    **genes: Any,
) -> Run:
    """Run one trial; ``after`` is the trial whose heuristic and believed map it goes on with. Deletions do not last."""
    h = dict(after.h) if after else initial_heuristic(grid, goal)
    agent = Agent(grid, goal, Genes.of(genes), h)
    world = WatchedWorld(grid, start, vision, changes, after.believed if after else None)

    def planner(view: Map, s: Position) -> Plan:
        agent.heed(view, world.changed)
        world.changed = frozenset()
        return agent.plan(view, s)

    return walk(world, goal, planner, max_moves, h)
