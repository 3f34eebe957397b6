"""LSS-LRTA* in plain Python (Koenig 2004; Koenig & Sun 2009), as summarised by Hernández & Meseguer (2008), Figure 2.

A bounded A* with the learned heuristic makes the local search space, Dijkstra's algorithm carries the values of OPEN
back into CLOSED, and the agent walks towards the best state of OPEN.
"""

from collections.abc import Sequence

from reference.plain_astar import Search, a_star
from reference.plain_depressions import Target, best_of_open
from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, learner_trial
from rt_gym.cost import INF
from rt_gym.grid import Grid


def frontier_update(view: Map, search: Search, h: Heuristic, w: int = 1) -> tuple[Heuristic, list[Position]]:
    """Return, per state of CLOSED, ``w`` times the cheapest cost to OPEN plus h there, and the states popped meanwhile.

    The next state has the smallest value, then the first discovery. The search ends when all of CLOSED is final.
    """
    interior = set(search.closed)
    value = dict.fromkeys(search.closed, INF) | {s: h[s] for s in search.open}
    queue = list(search.open)
    popped: list[Position] = []
    final: set[Position] = set()
    while not interior <= final:
        u = min(queue, key=lambda s: (value[s], search.order[s]))
        queue.remove(u)
        popped.append(u)
        final.add(u)
        for p, cost in view.neighbours(u):
            if p in interior and p not in final and w * cost + value[u] < value[p]:
                if p not in queue:
                    queue.append(p)
                value[p] = w * cost + value[u]
    return {s: value[s] for s in search.closed}, popped


def plan(
    view: Map,
    s: Position,
    goal: Position,
    lookahead: int,
    commit: str,
    h: Heuristic,
    target: Target = best_of_open,
    weight: int = 1,
) -> Plan:
    """Search, learn, and commit to all steps to the target in OPEN or to the first one."""
    search = a_star(view, s, goal, lambda state: h[state], lookahead)
    if search.best is None:
        return Plan(expanded=search.closed)
    chosen = target(view.grid, search, h, goal)
    found, popped = frontier_update(view, search, h, weight)
    raised = {state: value for state, value in found.items() if value > h[state]}
    h.update(raised)
    steps = search.steps_to(chosen)
    return Plan(steps if commit == "all" else steps[:1], search.closed, popped, raised)


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    lookahead: int,
    commit: str = "all",
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
    target: Target = best_of_open,
    weight: int = 1,
) -> Run:
    """Run one trial; ``after`` is the trial whose heuristic and believed map it goes on with."""

    def learner(view: Map, s: Position, h: Heuristic) -> Plan:
        return plan(view, s, goal, lookahead, commit, h, target, weight)

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, after)
