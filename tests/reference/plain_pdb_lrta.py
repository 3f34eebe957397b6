"""LRTA* with a pattern database, in plain Python: Figures 1, 3 and 4 of Bulitko, Björnsson, Luštrek, Schaeffer &
Sigmundarson (2007), as ``agents.knowledge.pdb`` and ``agents.pdb_lrta`` read them.

Every entry is worked out when it is asked for, by a search of its own for every depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from reference import plain_abstraction, plain_lrta
from reference.plain_grid import (
    MAX_MOVES,
    Change,
    Heuristic,
    Map,
    Plan,
    Position,
    Run,
    World,
    cells,
    initial_heuristic,
    walk,
)
from reference.plain_oracle import distances
from rt_gym.grid import Grid

READS_AGAIN = True  # the agent may read a state again when a longer way turns out to be the cheaper one

CAP, LEVEL, MODE, ABSTRACTION, SUBGOAL = 16, 4, "I", "clique", "nearer"

Entry = tuple[int, int | None]  # the depth, and the region to head for, None for the goal itself


@dataclass
class Knowledge:
    """What can be known of a map beforehand."""

    view: Map
    mode: str
    cap: int
    kind: str
    level: int
    subgoal: str = SUBGOAL
    entries: dict[tuple[int, int], Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        grid, free = self.view.grid, self.view.free
        passable = np.array([[(x, y) in free for x in range(grid.width)] for y in range(grid.height)])
        self.regions, self.edges = plain_abstraction.regions(grid.replace(passable=passable), self.kind, self.level)
        self.region = {cell: number for number, region in enumerate(self.regions) for cell in region}
        self.representatives = [plain_abstraction.representative(region) for region in self.regions]

    def optimal_depth(self, a: Position, b: Position) -> int:
        """Return the smallest depth whose first step towards ``b`` is optimal, ``cap + 1`` if it is larger."""
        away = distances(self.view, b)
        optimal = [near for near, cost in self.view.neighbours(a) if cost + away[near] == away[a]]
        for depth in range(1, self.cap + 1):
            plan = plain_lrta.plan(self.view, a, b, depth, initial_heuristic(self.view.grid, b))
            if plan.steps[0] in optimal:
                return depth
        return self.cap + 1

    def next_region(self, start: int, goal: int) -> int:
        """Return the first other region on the optimal path that always takes the first optimal step."""
        away = distances(self.view, self.representatives[goal])
        cell = self.representatives[start]
        while self.region[cell] == start:
            cell = next(near for near, cost in self.view.neighbours(cell) if cost + away[near] == away[cell])
        return self.region[cell]

    def nearer_region(self, start: int, goal: int) -> int:
        """Return the first region on that path whose representative is nearer to its end than its beginning is."""
        away = distances(self.view, self.representatives[goal])
        path = [self.representatives[start]]
        while away[path[-1]] > 0:
            around = self.view.neighbours(path[-1])
            path.append(next(near for near, cost in around if cost + away[near] == away[path[-1]]))
        entered = [self.region[cell] for cell in path]
        return next(number for number in entered if away[self.representatives[number]] < away[path[0]])

    def depth_at_home(self, number: int) -> int:
        """Return the depth from the representative to the farthest member; the first in reading order of equals."""
        a = self.representatives[number]
        away = distances(self.view, a)
        far = min(self.regions[number], key=lambda cell: (-away[cell], cell[1], cell[0]))
        return 1 if far == a else min(self.optimal_depth(a, far), self.cap)

    def entry(self, start: int, goal: int) -> Entry:
        """Return what is stored for a pair of regions."""
        if (start, goal) not in self.entries:
            self.entries[start, goal] = self.find(start, goal)
        return self.entries[start, goal]

    def find(self, start: int, goal: int) -> Entry:
        """Work an entry out."""
        a, b = self.representatives[start], self.representatives[goal]
        if start == goal:
            return self.depth_at_home(start), None
        if a not in distances(self.view, b):
            return self.cap, None
        depth = self.optimal_depth(a, b) if self.mode != "I" else self.cap + 1
        if depth <= self.cap:
            return depth, None
        if self.mode == "G":
            return self.cap, None
        number = self.next_region(start, goal) if self.subgoal == "first" else self.nearer_region(start, goal)
        return min(self.optimal_depth(a, self.representatives[number]), self.cap), number


@dataclass
class Agent:
    """The agent on one problem: what it knows beforehand and what it has learned, and where it is kept from going."""

    knowledge: Knowledge
    goal: Position
    keeps: bool
    patience: float
    tables: dict[Position, Heuristic] = field(default_factory=dict)
    visits: dict[Position, int] = field(default_factory=dict)
    kept: int | str | None = None  # a region, or "goal" for the rest of the trial
    kept_depth: int = 0
    astray: int | None = None
    fired: int = 0
    fired_expansions: int = 0

    def begin_trial(self) -> None:
        """Count visits anew."""
        self.visits, self.astray, self.kept = {}, None, None

    def propose(self, view: Map, s: Position, start: int) -> int | None:
        """Return the region to head for from a region, None for the goal itself."""
        target = self.knowledge.region.get(self.goal)
        return None if target is None else self.knowledge.entry(start, target)[1]

    def depth_towards(self, s: Position, number: int | None) -> int:
        """Return the depth that is stored for heading there; the cap where nothing is."""
        known, start, target = self.knowledge, self.knowledge.region.get(s), self.knowledge.region.get(self.goal)
        if start is None or target is None:
            return known.cap
        depth, stored = known.entry(start, target)
        return depth if stored == number else known.cap

    def is_open(self, view: Map, number: int | str | None) -> bool:
        """Whether the representative of a region can be headed for."""
        return isinstance(number, int) and self.knowledge.representatives[number] in view.free

    def fire(self, start: int | None) -> None:
        """Leave subgoals out until another region is entered."""
        self.astray, self.kept = start, None
        self.fired += 1

    def select(self, view: Map, s: Position) -> tuple[int | None, int]:
        """Return the region to head for, None for the goal itself, and the depth."""
        start = self.knowledge.region.get(s)
        if self.astray != start:
            self.astray = None
        if self.keeps:
            return self.keep_on(view, s, start)
        number = self.look_up(view, s, start)
        return number, self.depth_towards(s, number)

    def look_up(self, view: Map, s: Position, start: int | None) -> int | None:
        """Return what the entry of the region says at this move, unless the agent has been here too often."""
        if start is None or self.astray is not None:
            return None
        number = self.propose(view, s, start)
        if not self.is_open(view, number):
            return None
        if self.visits.get(s, 0) >= self.patience:
            self.fire(start)
            return None
        self.visits[s] = self.visits.get(s, 0) + 1
        return number

    def keep_on(self, view: Map, s: Position, start: int | None) -> tuple[int | None, int]:
        """Go on to the subgoal, or the goal, that is kept; take a new one on arrival, or where there is none."""
        at_home = start is not None and start == self.knowledge.region.get(self.goal)
        if self.kept != "goal" and (at_home or start == self.kept or not self.is_open(view, self.kept)):
            self.take(view, s, start, at_home)
        been = self.visits.get(s, 0)
        if isinstance(self.kept, int) and been >= self.patience:
            self.fire(start)
        if self.kept is None:
            return None, self.depth_towards(s, None)
        self.visits[s] = been + 1
        depth = min(self.kept_depth * 2**been, self.knowledge.cap)
        return (self.kept if isinstance(self.kept, int) else None), depth

    def take(self, view: Map, s: Position, start: int | None, at_home: bool) -> None:
        """Take what the entry of the region says."""
        self.kept = None
        if start is not None and self.astray is None:
            number = self.propose(view, s, start)
            self.kept_depth = self.depth_towards(s, number)
            self.kept = "goal" if at_home else number if self.is_open(view, number) else None

    def plan(self, view: Map, s: Position) -> Plan:
        """Make one decision."""
        number, depth = self.select(view, s)
        subgoal = self.goal if number is None else self.knowledge.representatives[number]
        plan = self.search(view, s, subgoal, depth)
        if self.astray is not None:
            self.fired_expansions += len(plan.expanded)
        if plan.steps or subgoal == self.goal:
            return plan
        self.fire(self.knowledge.region.get(s))
        again = plain_lrta.korf_plan(view, s, self.table(self.goal))
        return Plan(again.steps, plan.expanded, raised=again.raised, scanned=[*plan.scanned, s])

    def search(self, view: Map, s: Position, subgoal: Position, depth: int) -> Plan:
        """Look ahead towards a subgoal, or the goal."""
        return plain_lrta.plan(view, s, subgoal, depth, self.table(subgoal))

    def table(self, goal: Position) -> Heuristic:
        """Return the values towards a goal."""
        return self.tables.setdefault(goal, initial_heuristic(self.knowledge.view.grid, goal))


def patience_of(keeps: bool, patience: int | None, guard: bool) -> float:
    """Return how often an agent may be in the same place."""
    if not guard:
        return inf
    return patience or (6 if keeps else 3)


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    database: None = None,
    level: int | None = None,
    cap: int | None = None,
    mode: str | None = None,
    abstraction: str | None = None,
    subgoal: str | None = None,
    keep: bool = True,
    patience: int | None = None,
    guard: bool = True,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose values, knowledge and believed map it goes on with."""
    assert database is None
    world = World(grid, start, vision, changes, after.believed if after else None)
    if after:
        agent = after.memory
        agent.begin_trial()
    else:
        seen = Map(grid, [cell for cell in cells(grid) if cell in world.believed.free])
        level, mode, keeps = LEVEL if level is None else level, mode or MODE, keep and mode != "G"
        known = Knowledge(seen, mode, cap or CAP, abstraction or ABSTRACTION, level, subgoal or SUBGOAL)
        agent = Agent(known, goal, keeps, patience_of(keeps, patience, guard))
    record = walk(world, goal, agent.plan, max_moves, {})
    record.memory = agent
    return record
