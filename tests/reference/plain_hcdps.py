"""HCDPS in plain Python (Lawrence & Bulitko 2010): regions, paths between their seeds, climbs; LRTA* where these fail.

Regions, paths and ways are made here once more. What is taken from the package is the order in which seeds are drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import numpy as np

from reference.plain_grid import MAX_MOVES, Change, Map, Plan, Position, Run, World, cells, path_cost, walk
from reference.plain_knn_lrta import Values, as_grid, climb, make_record
from reference.plain_lrta import korf_plan
from rt_gym.grid import Grid

Pair = tuple[int, int]


@dataclass
class Regions:
    """The region of every free cell, the seeds, and the cells that are kept of the paths between pairs of regions."""

    region: dict[Position, int] = field(default_factory=dict)
    seeds: list[Position] = field(default_factory=list)
    paths: dict[Pair, list[Position]] = field(default_factory=dict)
    cost: dict[Pair, int] = field(default_factory=dict)


def reaches(view: Map, a: Position, b: Position, cutoff: int) -> bool:
    """Whether ``b`` can be climbed to from ``a``."""
    return climb(view, a, b, cutoff)[1]


def members(view: Map, seed: Position, taken: dict[Position, int], cutoff: int) -> set[Position]:
    """Return the cells of the region around a seed."""
    found = [seed]
    for cell in found:
        for near, _ in view.neighbours(cell):
            if near not in found and near not in taken:
                if reaches(view, near, seed, cutoff) and reaches(view, seed, near, cutoff):
                    found.append(near)
    return set(found)


@lru_cache(maxsize=4)
def regions_of(grid: Grid, cutoff: int, reach: int) -> Regions:
    """Return what is prepared for a map."""
    view, made = Map.of(grid), Regions()
    free = [cell for cell in cells(grid) if cell in view.free]
    for k in np.random.default_rng(0).permutation(len(free)):
        if free[k] not in made.region:
            made.region |= dict.fromkeys(members(view, free[k], made.region, cutoff), len(made.seeds))
            made.seeds.append(free[k])
    beside = {(made.region[a], made.region[b]) for a in free for b, _ in view.neighbours(a)}
    near = beside
    for _ in range(reach - 1):
        near = near | {(a, d) for a, b in near for c, d in beside if b == c}
    for a, b in sorted(near):
        if a != b:
            made.paths[a, b] = make_record(grid, made.seeds[a], made.seeds[b], cutoff)
            made.cost[a, b] = sum(path_cost(grid, climb(view, u, v, cutoff)[0]) for u, v in pairwise(made.paths[a, b]))
    return made


def ways_to(made: Regions, goal: int) -> dict[int, int]:
    """Return to which region to go from every other one on a cheapest way to one of them (Bellman and Ford)."""
    far = {goal: 0}
    for _ in made.seeds:
        for (a, b), cost in made.cost.items():
            if b in far and cost + far[b] < far.get(a, cost + far[b] + 1):
                far[a] = cost + far[b]
    return {
        a: min((cost + far[b], b) for (c, b), cost in made.cost.items() if c == a and b in far)[1]
        for a in far
        if a != goal
    }


@dataclass
class Agent:
    """What HCDPS remembers: what it has prepared and learned for good, the rest for a trial."""

    made: Regions
    goal: Position
    cutoff: int
    h: Values
    subgoals: list[Position] | None = None
    last: int = 0
    left: bool = False
    guarded: int = 0

    def reaches(self, view: Map, a: Position, b: Position, scanned: list[Position]) -> bool:
        """Whether ``b`` can be climbed to from ``a``: a scan for every step."""
        way, arrives = climb(view, a, b, self.cutoff)
        scanned.extend(way[:-1])
        return arrives

    def choose(self, view: Map, s: Position, scanned: list[Position]) -> list[Position]:
        """Return all cells to climb to, one after the other; none where no way is known."""
        if self.reaches(view, s, self.goal, scanned):
            return [self.goal]
        region = self.made.region
        if s not in region or self.goal not in region:
            return []
        onward = ways_to(self.made, region[self.goal])
        at, legs = region[s], [self.made.seeds[region[s]]]
        while at != region[self.goal]:
            if at not in onward:
                return []
            path = self.made.paths[at, onward[at]][1:]
            at, legs, self.last = onward[at], legs + path, len(path)
        if len(legs) > 1 and self.reaches(view, s, legs[1], scanned):
            legs = legs[1:]
        return [*legs, self.goal]

    def advance(self, view: Map, s: Position, scanned: list[Position]) -> None:
        """Drop what is reached; from a subgoal of the last path, head for the goal where that can be climbed to."""
        assert self.subgoals is not None
        while self.subgoals and self.subgoals[0] == s:
            self.subgoals.pop(0)
            if 1 < len(self.subgoals) <= self.last + 1 and self.reaches(view, s, self.goal, scanned):
                self.subgoals = [self.goal]

    def plan(self, view: Map, s: Position) -> Plan:
        """Make one step of a climb, or of LRTA*."""
        scanned: list[Position] = []
        if self.subgoals is None:
            self.subgoals = self.choose(view, s, scanned)
        if not self.left:
            self.advance(view, s, scanned)
            way = climb(view, s, self.subgoals[0], 1)[0] if self.subgoals else [s, s]
            if way[1] != s:
                return Plan([way[1]], [s], scanned=scanned)
            self.left, self.guarded = True, self.guarded + 1
        step = korf_plan(view, s, self.h)
        return Plan(step.steps, step.expanded, raised=step.raised, scanned=scanned)


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    cutoff: int = 250,
    reach: int = 2,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose regions, values and believed map it goes on with."""
    world = World(grid, start, vision, changes, after.believed if after else None)
    if after:
        agent = Agent(after.memory.made, goal, cutoff, after.memory.h)
    else:
        agent = Agent(regions_of(as_grid(world.believed), cutoff, reach), goal, cutoff, Values(grid, goal))
    record = walk(world, goal, agent.plan, max_moves, {})
    record.memory = agent
    return record
