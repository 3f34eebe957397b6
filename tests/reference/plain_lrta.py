"""LRTA* with lookahead one and with a breadth-first lookahead of depth d, in plain Python.

Lookahead one is Algorithm 1 of Hernández & Baier (2011), after Korf (1990). Depth d is Figure 1 of Bulitko, Björnsson,
Luštrek, Schaeffer & Sigmundarson (2007) with a fixed depth and the global goal. What the figure leaves open is read so:
a goal nearer than d actions is a frontier state at its own depth; g is the cheapest cost inside the lookahead, not the
cost of the first breadth-first path; path-max runs along the cheapest path and leaves the root out.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, learner_trial
from rt_gym.grid import Grid

READS_AGAIN = True  # the agent may read a state again when a longer way turns out to be the cheaper one


@dataclass
class Ball:
    """The states up to d actions away from ``root``.

    Attributes:
        root: the agent's state.
        discovered: all states, in order of breadth-first discovery.
        successors: what each expanded state generated: the neighbours and the costs of the steps.
        frontier: the states exactly d actions away, and the goal if it is nearer; in order of discovery.
    """

    root: Position
    discovered: list[Position]
    successors: dict[Position, list[tuple[Position, int]]]
    frontier: list[Position]


def look_ahead(view: Map, root: Position, goal: Position, depth: int) -> Ball:
    """Expand breadth-first ``depth`` layers of states, each state once and the goal never."""
    layer = {root: 0}
    successors = {}
    queue = [root]
    for state in queue:
        if state == goal or layer[state] == depth:
            continue
        successors[state] = view.neighbours(state)
        for near, _ in successors[state]:
            if near not in layer:
                layer[near] = layer[state] + 1
                queue.append(near)
    return Ball(root, queue, successors, [u for u in queue if layer[u] == depth or u == goal])


def cheapest(ball: Ball) -> dict[Position, int]:
    """Return the cheapest cost from the root to every state of the ball over expanded states (Dijkstra)."""
    g = {ball.root: 0}
    queue = [(0, ball.root)]
    while queue:
        cost, w = heapq.heappop(queue)
        if cost > g[w]:
            continue
        for u, step in ball.successors.get(w, []):
            if u not in g or cost + step < g[u]:
                g[u] = cost + step
                heapq.heappush(queue, (g[u], u))
    return g


def canonical_parents(ball: Ball, g: dict[Position, int]) -> dict[Position, Position]:
    """Return, per state, the first discovered of the expanded states that lie before it on a cheapest path."""
    parent: dict[Position, Position] = {}
    for w in ball.discovered:
        for u, step in ball.successors.get(w, []):
            if g[w] + step == g[u]:
                parent.setdefault(u, w)
    return parent


def path_max(ball: Ball, g: dict[Position, int], parent: dict[Position, Position], h: Heuristic) -> dict[Position, int]:
    """Return F(u) = max(g(u) + h(u), F(parent(u))); a child of the root has F = g + h."""
    f: dict[Position, int] = {}
    for u in sorted(parent, key=lambda u: g[u]):
        f[u] = g[u] + h[u]
        if parent[u] != ball.root:
            f[u] = max(f[u], f[parent[u]])
    return f


def plan(view: Map, s: Position, goal: Position, depth: int, h: Heuristic) -> Plan:
    """Look ahead, raise h(s) to the best frontier value and commit to one step towards that frontier state."""
    ball = look_ahead(view, s, goal, depth)
    expanded = list(ball.successors)
    if not ball.frontier:
        return Plan(expanded=expanded)
    g = cheapest(ball)
    parent = canonical_parents(ball, g)
    f = path_max(ball, g, parent, h)
    best = min(ball.frontier, key=lambda u: (f[u], -g[u]))  # the first discovered of equals
    step = best
    while parent[step] != s:
        step = parent[step]
    return Plan([step], expanded, raised=learn(h, s, f[best]))


def korf_plan(view: Map, s: Position, h: Heuristic) -> Plan:
    """LRTA* with lookahead one: move to the neighbour with the least c + h, then the largest c, then the first."""
    around = view.neighbours(s)
    if not around:
        return Plan(expanded=[s])
    y, cost = min(around, key=lambda near: (near[1] + h[near[0]], -near[1]))
    return Plan([y], [s], raised=learn(h, s, cost + h[y]))


def learn(h: Heuristic, s: Position, value: int) -> Heuristic:
    """Raise h(s) to ``value`` and return what rose; a smaller value changes nothing."""
    if value <= h[s]:
        return {}
    h[s] = value
    return {s: value}


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    depth: int,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial of LRTA*(depth); ``after`` is the trial whose heuristic and believed map it goes on with."""

    def learner(view: Map, s: Position, h: Heuristic) -> Plan:
        return plan(view, s, goal, depth, h)

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, after)


def run_korf(
    grid: Grid,
    start: Position,
    goal: Position,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial of Korf's LRTA*; ``after`` as in ``run``."""
    return learner_trial(grid, start, goal, korf_plan, vision, changes, max_moves, after)
