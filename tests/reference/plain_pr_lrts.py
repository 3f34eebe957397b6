"""PR LRTS in plain Python (Bulitko, Sturtevant & Kazakevich 2005).

What is read: LRTS among regions, with the distances of their centroids for costs and heuristic; neighbours in the order
of directions. The step, or the whole way, is refined by A* within the regions that it leads through, with the distance
to the box around the target as heuristic. Without news since the last plan in a region, whole ways are refined until a
value rises. A step that cannot be refined is closed; where none is left LRTA* goes on among the cells. Which cells make
a region, and which regions are neighbours, is taken as given: that is compared apart.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from reference.plain_grid import MAX_MOVES, Change, Map, Plan, Position, Run, World, walk
from reference.plain_knn_lrta import Values, as_grid
from reference.plain_lrta import korf_plan
from reference.plain_lrts import price
from rt_gym.abstraction import abstract
from rt_gym.cost import DIAGONAL, STRAIGHT
from rt_gym.grid import Grid

READS_AGAIN = True  # the agent may read a state again when a longer way turns out to be the cheaper one

PATIENCE = 50
COMPASS = (0, 4, 1, 6, 2, 7, 3, 5)  # the directions E, SE, S, SW, W, NW, N, NE by their number


def span(grid: Grid, dx: float, dy: float) -> float:
    """Return the distance over so many columns and rows of open ground."""
    step = DIAGONAL if grid.cost == "octile" else STRAIGHT
    diagonal = 2 * STRAIGHT if grid.connectivity == 4 else step
    low, high = sorted((abs(dx), abs(dy)))
    return (high - low) * STRAIGHT + low * diagonal


class Graph:
    """The regions of a map: their cells, centroids, boxes and neighbours."""

    def __init__(self, grid: Grid, kind: str, level: int) -> None:
        self.grid = grid
        found = abstract(grid, kind, level)
        self.of = {cell: int(found.region[grid.cell(cell)]) for cell in Map.of(grid).free}
        self.nodes = [{cell for cell, r in self.of.items() if r == node} for node in range(found.regions)]
        self.centroids = [
            (sum(x for x, _ in node) / len(node), sum(y for _, y in node) / len(node)) for node in self.nodes
        ]
        self.near = {
            r: sorted(map(int, found.near[a:b]), key=lambda other, r=r: (self.direction(r, other), other))  # type: ignore[misc]
            for r, (a, b) in enumerate(pairwise(found.begin))
        }

    def direction(self, a: int, b: int) -> int:
        """Return in which of the eight directions a region lies from another."""
        (ax, ay), (bx, by) = self.centroids[a], self.centroids[b]
        return COMPASS[round(math.atan2(by - ay, bx - ax) * (4 / math.pi)) % 8]

    def gap(self, a: int, b: int) -> int:
        """Return the distance of two centroids."""
        (ax, ay), (bx, by) = self.centroids[a], self.centroids[b]
        return round(span(self.grid, ax - bx, ay - by))

    def step(self, a: int, b: int) -> int:
        """Return what a step between regions costs: at least one unit."""
        return max(1, self.gap(a, b))


def refine(
    view: Map, graph: Graph, s: Position, corridor: set[int], target: set[Position]
) -> tuple[list[Position], list[Position]]:
    """Return the steps of a cheapest way to the target within the corridor, and what A* expanded."""
    box = [(min(axis), max(axis)) for axis in zip(*target, strict=True)]

    def h(cell: Position) -> int:
        dx, dy = (max(low - place, place - high, 0) for place, (low, high) in zip(cell, box, strict=True))
        return int(span(view.grid, dx, dy))

    g, parent, order, expanded = {s: 0}, {}, {s: 0}, []
    waiting = {s}
    while waiting:
        best = min(waiting, key=lambda cell: (g[cell] + h(cell), -g[cell], order[cell]))
        if best in target:
            steps = []
            while best in parent:
                steps.append(best)
                best = parent[best]
            return steps[::-1], expanded
        waiting.remove(best)
        expanded.append(best)
        for near, cost in view.neighbours(best):
            if graph.of.get(near) not in corridor or near in expanded:
                continue
            if near not in g or g[best] + cost < g[near]:
                order.setdefault(near, len(order))
                g[near], parent[near] = g[best] + cost, best
                waiting.add(near)
    return [], expanded


@dataclass
class Agent:
    """What PR LRTS remembers; the last entries only within a trial."""

    graph: Graph
    goal: Position
    depth: int
    gamma: float
    quota: float | None
    refine: str
    control: str
    h: dict[int, int]
    ground: Values
    depths: dict[int, int] = field(default_factory=dict)
    closed: set[tuple[int, int]] = field(default_factory=set)
    planned: dict[int, int] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    news: int = 0
    circling: bool = False
    grounded: bool = False
    fired: int = 0
    fired_expansions: int = 0
    learned: float = 0
    segments: list[list[Position]] = field(default_factory=list)
    steps: list[Position] = field(default_factory=list)
    back: bool = False

    def look_ahead(
        self, a: int, b: int | None, depth: int, gamma: float
    ) -> tuple[list[list[int]], dict[int, int], dict[int, int]]:
        """Return the layers of regions around ``a``, the cheapest cost to each region, and its parent."""
        layers = [[a]]
        found = [a]
        while len(layers) <= depth and b not in layers[-1] and layers[-1]:
            layers.append([])
            for r in layers[-2]:
                new = [n for n in self.graph.near[r] if (r, n) not in self.closed and n not in found]
                found += new
                layers[-1] += new
        inside = [r for layer in layers[:-1] for r in layer]
        g = {a: 0}
        queue = [(0, a)]
        while queue:
            cost, r = heapq.heappop(queue)
            if cost > g[r] or r not in inside:
                continue
            for n in self.graph.near[r]:
                new_cost = cost + price(gamma, self.graph.step(r, n))
                if (r, n) not in self.closed and (n not in g or new_cost < g[n]):
                    g[n] = new_cost
                    heapq.heappush(queue, (new_cost, n))
        parent: dict[int, int] = {}
        for r in inside:
            for n in self.graph.near[r]:
                if (r, n) not in self.closed and g[r] + price(gamma, self.graph.step(r, n)) == g[n]:
                    parent.setdefault(n, r)
        return layers[1:], g, parent

    def way(self, layers: list[list[int]], g: dict[int, int], parent: dict[int, int]) -> tuple[int, list[int]]:
        """Return the largest of the layers' smallest values, and the regions on the way to the last layer's."""
        best = [min(layer, key=lambda r: (g[r] + self.h[r], -g[r])) for layer in layers]
        way = [best[-1]]
        while way[-1] in parent:
            way.append(parent[way[-1]])
        return max(g[r] + self.h[r] for r in best), way[::-1]

    def set_depths(self) -> None:
        """Find the depth for every region: the smallest whose step is on a shortest way to the goal's region."""
        self.depths = dict.fromkeys(range(len(self.graph.nodes)), self.depth)
        if self.control == "fixed" or self.goal not in self.graph.of:
            return
        b = self.graph.of[self.goal]
        distance = self.look_ahead(b, None, len(self.graph.nodes), 1.0)[1]
        for a in distance:
            for depth in range(1, self.depth) if a != b else []:
                y = self.way(*self.look_ahead(a, b, depth, self.gamma))[1][1]
                if self.graph.step(a, y) + distance[y] == distance[a]:
                    self.depths[a] = depth
                    break

    def arrive(self, s: Position) -> None:
        """Take note of the committed steps that were really made."""
        made = self.steps[: self.steps.index(s) + 1] if self.steps else []
        self.steps = []
        if not self.segments or self.quota is None:
            return
        if self.back:
            self.segments[-1] = self.segments[-1][: len(self.segments[-1]) - len(made)]
            if len(self.segments[-1]) == 1:
                self.segments.pop()
        elif sum(len(segment) - 1 for segment in self.segments) + len(made) > self.graph_cells:
            self.segments = []
        else:
            self.segments[-1] += made

    @property
    def graph_cells(self) -> int:
        """How many cells the bordered map has."""
        return (self.graph.grid.width + 2) * (self.graph.grid.height + 2)

    def way_back(self, view: Map, scanned: list[Position]) -> list[Position]:
        """Return the steps to where it planned before; none, and all is forgotten, if one is blocked."""
        way = self.segments[-1][::-1] if self.segments else []
        for k in range(len(way) - 1):
            scanned.append(way[k])
            if not view.can_step(way[k], way[k + 1]):
                self.segments = []
                return []
        return way[1:]

    def plan(self, view: Map, s: Position) -> Plan:
        """Plan, and count what the guards take."""
        before = self.grounded
        plan = self.decide(view, s)
        self.fired += self.grounded and not before
        self.fired_expansions += len(plan.expanded) * (self.circling or self.grounded)
        return plan

    def decide(self, view: Map, s: Position) -> Plan:
        """Choose regions until a way to one can be refined, or go on among the cells."""
        self.arrive(s)
        plan = Plan()
        while not self.grounded:
            way = self.choose(view, s, plan)
            if plan.steps:
                self.steps, self.back = list(plan.steps), True
                return plan
            if way is None:
                self.grounded = True
                break
            tries = [way] if len(way) <= 2 else [way, way[:2]]
            for regions_on_way in tries:
                last = regions_on_way[-1]
                target = {self.goal} if len(way) == 1 else set(self.graph.nodes[last])
                steps, expanded = refine(view, self.graph, s, set(regions_on_way), target)
                plan.expanded += expanded
                if steps:
                    self.steps, self.back = list(steps), False
                    self.segments.append([s])
                    plan.steps = steps
                    return plan
            if len(way) == 1:
                self.grounded = True
            else:
                self.closed.add((way[0], way[1]))
                self.news += 1
        step = korf_plan(view, s, self.ground)  # type: ignore[arg-type]
        plan.steps, plan.expanded = step.steps, plan.expanded + step.expanded
        plan.raised = plan.raised | step.raised
        return plan

    def choose(self, view: Map, s: Position, plan: Plan) -> list[int] | None:
        """Return the regions to go through, the own one first; None without any. A way back is put into the plan."""
        a, b = self.graph.of.get(s), self.graph.of.get(self.goal)
        if a is None or b is None:
            return None
        if a == b:
            return [a]
        self.visits[a] = self.visits.get(a, 0) + bool(self.closed)
        if not self.graph.near[a] or self.visits[a] > PATIENCE:
            return None
        layers, g, parent = self.look_ahead(a, b, self.depths[a], self.gamma)
        plan.expanded += [s] * (1 + sum(len(layer) for layer in layers[:-1]))
        if not layers[-1]:
            return None
        value, way = self.way(layers, g, parent)
        change = max(0, value - self.h[a])
        if change:
            self.h[a] = value
            plan.raised[s, len(plan.raised)] = value  # type: ignore[index]
            self.news += 1
            self.circling = False
        elif self.planned.get(a) == self.news:
            self.fired += not self.circling
            self.circling = True
        self.planned[a] = self.news
        if self.quota is not None:
            self.learned += change
            if self.learned > self.quota * STRAIGHT:
                self.learned = self.quota * STRAIGHT
                plan.steps = self.way_back(view, plan.scanned)
        return way if self.refine == "path" or self.circling else way[:2]


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    level: int = 4,
    depth: int = 5,
    gamma: float = 1.0,
    quota: float | None = None,
    refine: str = "first",
    abstraction: str = "clique",
    control: str = "fixed",
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose regions, values and believed map it goes on with."""
    world = World(grid, start, vision, changes, after.believed if after else None)
    if after:
        graph, h, ground = after.memory.graph, after.memory.h, after.memory.ground
    else:
        graph, ground = Graph(as_grid(world.believed), abstraction, level), Values(grid, goal)
        b = graph.of.get(goal)
        h = {r: 0 if b is None else graph.gap(r, b) for r in range(len(graph.nodes))}
    agent = Agent(graph, goal, depth, gamma, quota, refine, control, h, ground)
    if after:
        agent.depths = after.memory.depths
    else:
        agent.set_depths()
    record = walk(world, goal, agent.plan, max_moves, {})
    record.memory = agent
    return record
