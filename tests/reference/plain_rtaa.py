"""RTAA* in plain Python (Koenig & Likhachev 2006), as summarised by Hernández & Meseguer (2008), Figure 2.

A bounded A* with the learned heuristic; then h of every state of CLOSED becomes what f of the best state of OPEN leaves
of it after the way there.
"""

from collections.abc import Sequence

from reference.plain_astar import a_star
from reference.plain_depressions import Target, best_of_open
from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, learner_trial
from rt_gym.grid import Grid


def plan(
    view: Map, s: Position, goal: Position, lookahead: int, commit: str, h: Heuristic, target: Target = best_of_open
) -> Plan:
    """Search, learn, and commit to all steps to the target in OPEN or to the first one."""
    search = a_star(view, s, goal, lambda state: h[state], lookahead)
    if search.best is None:
        return Plan(expanded=search.closed)
    chosen = target(view.grid, search, h, goal)
    f = search.g[search.best] + h[search.best]
    raised = {state: f - search.g[state] for state in search.closed if f - search.g[state] > h[state]}
    h.update(raised)
    steps = search.steps_to(chosen)
    return Plan(steps if commit == "all" else steps[:1], search.closed, raised=raised)


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
) -> Run:
    """Run one trial; ``after`` is the trial whose heuristic and believed map it goes on with."""

    def learner(view: Map, s: Position, h: Heuristic) -> Plan:
        return plan(view, s, goal, lookahead, commit, h, target)

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, after)
