"""Prioritized LRTA* in plain Python (Rayner, Davison, Bulitko, Anderson & Lu 2007), as summarised by Björnsson, Bulitko
& Sturtevant (2009).

What is read: as many states may wait as are updated per move. They wait in the order of the largest change beside them,
the first come first; a full list drops its last for a larger change. Every update is an expansion; if states that
waited were updated, the neighbours of the current state are read once more to choose the move. A value that proves that
there is no way is infinite.
"""

from collections.abc import Sequence

from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, capped, learner_trial
from reference.plain_lrta import learn
from reference.plain_lrta_k import best_neighbour
from rt_gym.grid import Grid

RAISES_AGAIN = True  # the agent may raise a value several times in one plan, noted here once


class Agent:
    """What P LRTA* remembers within a trial: the priority of every state that waits, in order of arrival."""

    def __init__(self, goal: Position, queue: int) -> None:
        self.goal, self.queue = goal, queue
        self.waiting: dict[Position, int] = {}

    def in_order(self) -> list[Position]:
        """Return the states that wait, the next one first."""
        return sorted(self.waiting, key=lambda state: -self.waiting[state])  # a stable sort: the first come first

    def add(self, state: Position, change: int) -> None:
        """Let a state wait, if it belongs to the first ``queue`` in order."""
        if state in self.waiting:
            self.waiting[state] = max(self.waiting[state], change)
            return
        self.waiting[state] = change
        for last in self.in_order()[self.queue :]:
            del self.waiting[last]

    def update(self, view: Map, state: Position, h: Heuristic) -> Heuristic:
        """Raise h of a state to the least c + h around it and let its neighbours wait; return what rose."""
        best, before = best_neighbour(view, state, h), h[state]
        if best is None:
            return {}
        raised = learn(h, state, capped(view.grid, best[1] + h[best[0]], self.queue))
        for near, _ in view.neighbours(state):
            if raised and near != self.goal:
                self.add(near, h[state] - before)
        return raised

    def plan(self, view: Map, s: Position, h: Heuristic) -> Plan:
        """Update the current state, then those that wait, and commit to the neighbour with the least c + h."""
        expanded, raised = [s], self.update(view, s, h)
        while self.waiting and len(expanded) <= self.queue:
            state = self.in_order()[0]
            del self.waiting[state]
            expanded.append(state)
            raised |= self.update(view, state, h)
        best = best_neighbour(view, s, h)
        return Plan([best[0]] if best else [], expanded, raised=raised, scanned=[s] if len(expanded) > 1 else [])


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    queue: int,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose heuristic and believed map it goes on with."""
    return learner_trial(grid, start, goal, Agent(goal, queue).plan, vision, changes, max_moves, after)
