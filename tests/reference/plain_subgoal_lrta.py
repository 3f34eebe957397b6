"""Subgoal trees and LRTA* with subgoals in plain Python (Hernández & Baier 2011, Algorithms 2 and 3).

The tree is kept as the paper keeps it: Sub and g_sub for every state, the tree as a dict from exits to parents. What is
ours is Sub of the start as the first goal, other steps than LRTA*'s, trees that are smaller or shared, and the guard
against subgoals that are blocked, out of reach or without end.
"""

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from reference import plain_abstraction
from reference.plain_astar import a_star
from reference.plain_grid import (
    MAX_MOVES,
    Change,
    Heuristic,
    Map,
    Plan,
    Position,
    Run,
    World,
    h0,
    initial_heuristic,
    walk,
)
from reference.plain_lrta_k import Agent as Propagator
from reference.plain_lss_lrta import plan as search_and_learn
from rt_gym.grid import Grid

RAISES_AGAIN = True  # the agent may raise a value several times in one plan, noted here once


@dataclass
class Tree:
    """What Algorithm 2 leaves behind.

    Attributes:
        parent: the tree, from each exit to its parent, in the order in which exits were found.
        sub, g_sub, g: of every state that can reach the goal.
    """

    parent: dict[Position, Position] = field(default_factory=dict)
    sub: dict[Position, Position] = field(default_factory=dict)
    g_sub: dict[Position, int] = field(default_factory=dict)
    g: dict[Position, int] = field(default_factory=dict)


def grow(view: Map, goal: Position) -> Tree:
    """Return the tree of a goal; of equal g, the state that was pushed first is popped first."""
    tree = Tree(sub={goal: goal}, g_sub={goal: 0}, g={goal: 0})
    sub, g_sub, g = tree.sub, tree.g_sub, tree.g
    parent: dict[Position, tuple[Position, int]] = {}
    pushes, latest = 0, {goal: 0}
    queue = [(0, 0, goal)]
    while queue:
        _, push, s = heapq.heappop(queue)
        if push != latest[s]:
            continue  # removed from Open
        if s != goal:
            above, c = parent[s]
            sub[s], g_sub[s] = sub[above], g_sub[above] + c
        for near, c in view.neighbours(s):
            if near not in g or g[near] > g[s] + c:
                g[near] = g[s] + c
                g_sub[near] = g_sub[s] + c
                parent[near] = s, c
                if g_sub[near] != h0(view.grid, near, sub[s]):
                    g_sub[s] = 0
                    assert s not in tree.parent
                    tree.parent[s] = sub[s]
                    sub[s] = s
                pushes += 1
                latest[near] = pushes
                heapq.heappush(queue, (g[near], pushes, near))
    return tree


def prune(tree: Tree, least: int) -> None:
    """Leave out every exit that fewer than ``least`` states have as their Sub or on the way from it to the goal."""
    states = Counter(tree.sub.values())
    for exit_, above in reversed(tree.parent.items()):
        states[above] += states[exit_]
    tree.parent = {exit_: above for exit_, above in tree.parent.items() if states[exit_] >= least}


def lead_on(tree: Tree, root: Position, goal: Position, grid: Grid) -> None:
    """Let a tree that leads to ``root`` lead to ``goal`` from there, with distances along its arcs."""
    if root != goal:
        tree.parent = {root: goal, **{node: above for node, above in tree.parent.items() if node != goal}}
        tree.g = {goal: 0}
        for node, above in tree.parent.items():
            tree.g[node] = tree.g[above] + h0(grid, node, above)


def tree_of(view: Map, goal: Position, least: int | None, share: int | None) -> Tree:
    """Return the tree that an agent follows to a goal."""
    root = goal
    if share is not None:
        size = view.grid
        passable = np.array([[(x, y) in view.free for x in range(size.width)] for y in range(size.height)])
        regions, _ = plain_abstraction.regions(view.grid.replace(passable=passable), "clique", share)
        root = plain_abstraction.representative(next(region for region in regions if goal in region))
    tree = grow(view, root)
    if least is not None:
        prune(tree, least)
    lead_on(tree, root, goal, view.grid)
    return tree


@dataclass
class Agent:
    """LRTA* with subgoals: its tree, its values for every goal, and where in the tree the trial is."""

    grid: Grid
    goal: Position
    tree: Tree
    patience: int
    first: str
    switch: str
    step: str
    lookahead: int
    k: int
    h: dict[Position, Heuristic] = field(default_factory=dict)
    pursued: Position | None = None
    least: int | None = None
    since: int = 0
    alone: bool = False
    guarded: int = 0

    def begin(self) -> None:
        """Begin a trial."""
        self.pursued, self.least, self.since, self.alone = None, None, 0, False

    def choose(self, view: Map, s: Position, moves: int) -> Position:
        """Return the goal to pursue from ``s``."""
        tree, goal = self.tree, self.pursued
        if goal is None:
            goal = tree.sub.get(s, self.goal) if self.first == "sub" else self.nearest(view, s)
        if s in tree.parent and not self.alone:
            beyond = tree.parent[s]
            if self.switch == "any" or tree.g[beyond] < tree.g[goal]:
                goal = beyond
        while goal != self.goal and goal not in view.free:
            goal = tree.parent[goal]
            self.guarded += 1
        if self.least is None or tree.g[goal] < self.least:
            self.least, self.since = tree.g[goal], moves
        elif goal != self.goal and moves - self.since > self.patience:
            goal = self.give_up()
        self.pursued = goal
        return goal

    def nearest(self, view: Map, s: Position) -> Position:
        """Return the nearest free node, of equally near ones the first that grew; the goal if all are blocked."""
        nodes = [node for node in [self.goal, *self.tree.parent] if node in view.free]
        return min(nodes, key=lambda node: h0(self.grid, s, node), default=self.goal)

    def give_up(self) -> Position:
        """Head for the goal alone from now on."""
        self.alone, self.pursued = True, self.goal
        self.guarded += 1
        return self.goal

    def plan(self, view: Map, s: Position, moves: int) -> Plan:
        """Make one step towards the goal that is pursued."""
        goal = self.choose(view, s, moves)
        h = self.h.setdefault(goal, initial_heuristic(self.grid, goal))
        if self.step == "lss-lrta":
            return self.search(view, s, goal, h)
        k = self.k if self.step == "lrta-k" else 1
        return Propagator(goal, k, False, False, {}).plan(view, s, h)

    def search(self, view: Map, s: Position, goal: Position, h: Heuristic) -> Plan:
        """Make one step of LSS-LRTA*; a search that ran out of states without the subgoal may have met the goal."""
        plan = search_and_learn(view, s, goal, self.lookahead, "all", h)
        if not plan.steps and goal != self.goal and self.goal in plan.expanded:
            plan.steps = a_star(view, s, goal, lambda state: h[state]).steps_to(self.goal)
            self.give_up()
        return plan


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    trees: None = None,
    first: str = "nearest",
    switch: str = "any",
    step: str = "lrta",
    lookahead: int | None = None,
    k: int | None = None,
    least: int | None = None,
    share: int | None = None,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose tree, values and believed map it goes on with."""
    world = World(grid, start, vision, changes, after.believed if after else None)
    if after is None:
        tree, patience = tree_of(world.believed, goal, least, share), len(world.believed.free)
        agent = Agent(grid, goal, tree, patience, first, switch, step, lookahead or 10, k or 10)
    else:
        agent = after.memory
    agent.begin()
    record = walk(world, goal, lambda view, s: agent.plan(view, s, world.moves), max_moves, {})
    record.memory = agent
    return record
