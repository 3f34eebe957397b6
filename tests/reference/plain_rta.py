"""RTA* in plain Python (Korf 1990), with the lookahead of LRTA*(d): only the value that is kept differs.

The second best value is what the same lookahead finds without the best first step. What is read again for it is no
expansion. Where another first step leads to an equally good frontier state, the two values are equal and nothing is
read again. Without any other way the value is infinite.
"""

from collections.abc import Sequence
from dataclasses import replace

from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, learner_trial
from reference.plain_lrta import Ball, canonical_parents, cheapest, learn, look_ahead, path_max
from rt_gym.cost import INF
from rt_gym.grid import Grid

READS_AGAIN = True  # the agent may read a state again when a longer way turns out to be the cheaper one


def values(ball: Ball, h: Heuristic) -> tuple[dict[Position, int], dict[Position, int], dict[Position, Position]]:
    """Return F and g of every state of the ball that can be reached, and the first step to it."""
    g = cheapest(ball)
    reached = replace(ball, discovered=[u for u in ball.discovered if u in g])
    parent = canonical_parents(reached, g)
    first: dict[Position, Position] = {}
    for u in sorted(parent, key=lambda u: g[u]):
        first[u] = u if parent[u] == ball.root else first[parent[u]]
    return path_max(reached, g, parent, h), g, first


def second_value(ball: Ball, step: Position, h: Heuristic) -> tuple[int, list[Position]]:
    """Return the best frontier value without the first step ``step``, and which states are read for it."""
    others = [(near, cost) for near, cost in ball.successors[ball.root] if near != step]
    f, g, _ = values(replace(ball, successors=ball.successors | {ball.root: others}), h)
    read = [u for u in ball.successors if u in g and u != ball.root]
    return min((f[u] for u in ball.frontier if u in f), default=INF), read


def plan(view: Map, s: Position, goal: Position, depth: int, h: Heuristic) -> Plan:
    """Commit to one step towards the best frontier state and raise h(s) to the second best value."""
    ball = look_ahead(view, s, goal, depth)
    expanded = list(ball.successors)
    f, g, first = values(ball, h)
    best = min(ball.frontier, key=lambda u: (f[u], -g[u]), default=None)  # the first discovered of equals
    if best is None or f[best] >= INF:
        return Plan(expanded=expanded)
    value, step, scanned = f[best], first[best], []
    if all(first[u] == step or f[u] > value for u in ball.frontier):
        second, scanned = second_value(ball, step, h)
        value = max(value, second)
    return Plan([step], expanded, raised=learn(h, s, min(value, INF)), scanned=scanned)


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    depth: int,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
) -> Run:
    """Run one trial of RTA*(depth); there is no later one to go on with what it kept."""

    def learner(view: Map, s: Position, h: Heuristic) -> Plan:
        return plan(view, s, goal, depth, h)

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, None)
