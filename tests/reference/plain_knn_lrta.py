"""kNN LRTA* in plain Python (Bulitko & Björnsson 2009): how a record is made, and how records are used.

What is read: a climb takes the steps of LRTA* before it has learned anything, and ends where the heuristic does not
fall; a cell of an optimal path is kept if it is climbed to at the cost of the path. A trial takes its database as
given: which cells are in it is compared apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.knowledge import knn
from reference.plain_astar import plan as plan_path
from reference.plain_grid import MAX_MOVES, Change, Map, Plan, Position, Run, World, h0, path_cost, walk
from reference.plain_lrta import korf_plan
from rt_gym.grid import Grid

PATIENCE = 50


def climb(view: Map, a: Position, b: Position, cutoff: int) -> tuple[list[Position], bool]:
    """Return the cells of a climb from ``a`` and whether it ends at ``b``."""
    path = [a]
    while path[-1] != b and len(path) <= cutoff:
        around = view.neighbours(path[-1])
        best = min(around, key=lambda near: (near[1] + h0(view.grid, near[0], b), -near[1]), default=(path[-1], 0))[0]
        if h0(view.grid, best, b) >= h0(view.grid, path[-1], b):
            path.append(path[-1])  # the neighbours were read all the same
            return path, False
        path.append(best)
    return path, path[-1] == b


def make_record(grid: Grid, start: Position, goal: Position, cutoff: int) -> list[Position]:
    """Return the cells that are kept of an optimal path."""
    view = Map.of(grid)
    path = [start, *plan_path(view, start, goal).steps]

    def climbable(i: int, j: int) -> bool:
        way, arrives = climb(view, path[i], path[j], cutoff)
        return arrives and path_cost(grid, way) == path_cost(grid, path[i : j + 1])

    kept = [0]
    while path[kept[-1]] != goal:
        yes, no = kept[-1] + 1, len(path)
        while no - yes > 1:
            middle = (yes + no) // 2
            yes, no = (middle, no) if climbable(kept[-1], middle) else (yes, middle)
        kept.append(yes)
    return [path[k] for k in kept]


def as_positions(grid: Grid, records: knn.Records) -> list[list[Position]]:
    """Return the cells of every record."""
    return [
        [grid.position(int(cell)) for cell in records.cells[a:b]]
        for a, b in zip(records.begin[:-1], records.begin[1:], strict=True)
    ]


def distance(grid: Grid, record: list[Position], start: Position, goal: Position) -> int:
    """Return how far a record is from a problem."""
    return max(h0(grid, start, record[0]), h0(grid, goal, record[-1]))


class Values(dict[Position, int]):
    """Learned values towards one goal; the heuristic where nothing was learned."""

    def __init__(self, grid: Grid, goal: Position) -> None:
        self.grid, self.goal = grid, goal

    def __missing__(self, cell: Position) -> int:
        return h0(self.grid, cell, self.goal)


@dataclass
class Agent:
    """What kNN LRTA* remembers: the records and the values for good, the rest for a trial."""

    records: list[list[Position]]
    goal: Position
    neighbours: int
    cutoff: int
    values: dict[Position, Values] = field(default_factory=dict)
    subgoals: list[Position] | None = None
    nearest: list[int] = field(default_factory=list)

    def plan(self, view: Map, s: Position) -> Plan:
        """Make one move towards the next subgoal."""
        scanned: list[Position] = []
        if self.subgoals is None:
            self.subgoals = self.choose(view, s, scanned)
        target = self.target(view, s)
        plan = korf_plan(view, s, self.values.setdefault(target, Values(view.grid, target)))  # type: ignore[arg-type]
        return Plan(plan.steps, plan.expanded, raised=plan.raised, scanned=scanned)

    def choose(self, view: Map, s: Position, scanned: list[Position]) -> list[Position]:
        """Return the cells of the first near record that can be climbed to and from."""

        def reaches(a: Position, b: Position) -> bool:
            way, arrives = climb(view, a, b, self.cutoff)
            scanned.extend(way[:-1])
            return arrives

        if not self.records:
            return []
        way, arrives = climb(view, s, self.goal, self.cutoff)
        scanned.extend(way[:-1])
        if arrives and path_cost(view.grid, way) == h0(view.grid, s, self.goal):
            return []
        ranked = sorted(self.records, key=lambda record: distance(view.grid, record, s, self.goal))
        for record in ranked[: self.neighbours]:
            if reaches(s, record[0]) and reaches(record[-1], self.goal):
                return list(record)
        return []

    def target(self, view: Map, s: Position) -> Position:
        """Return the next subgoal that is neither reached nor blocked nor given up, else the goal."""
        assert self.subgoals is not None
        while self.subgoals and (s == self.subgoals[0] or self.subgoals[0] not in view.free):
            self.subgoals.pop(0)
            self.nearest = []
        if not self.subgoals:
            return self.goal
        self.nearest.append(h0(view.grid, s, self.subgoals[0]))
        if len(self.nearest) - self.nearest.index(min(self.nearest)) > PATIENCE + 1:
            self.subgoals = []
            return self.goal
        return self.subgoals[0]


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    database: Any = None,
    records: int | None = None,
    neighbours: int = 10,
    cutoff: int = 250,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose database, values and believed map it goes on with."""
    assert database is None
    world = World(grid, start, vision, changes, after.believed if after else None)
    if after:
        agent = Agent(after.memory.records, goal, neighbours, cutoff, after.memory.values)
    else:
        count = 10_000 if records is None else records
        believed = as_grid(world.believed)
        built = as_positions(grid, knn.build_records(believed, count, 0, 0, count, cutoff))
        agent = Agent(built, goal, neighbours, cutoff)
    record = walk(world, goal, agent.plan, max_moves, {})
    record.memory = agent
    return record


def as_grid(view: Map) -> Grid:
    """Return a believed map as a grid."""
    passable = np.zeros((view.grid.height, view.grid.width), bool)
    for x, y in view.free:
        passable[y, x] = True
    return view.grid.replace(passable=passable)
