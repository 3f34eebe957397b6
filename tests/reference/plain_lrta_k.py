"""LRTA*(k) in plain Python (Hernández & Meseguer 2005), as described by the same authors in 2008.

At most k states are updated per move, the current one first and then neighbours of those that rose, in the order in
which they came. What is read: a state may come again after its update; the goal never comes; with supports a state
comes only if the one that rose was its best neighbour at its own last update, in whichever trial that was; a value that
proves that there is no way is infinite.
"""

from collections.abc import Sequence

from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, capped, learner_trial
from reference.plain_lrta import learn
from rt_gym.cost import INF
from rt_gym.grid import Grid

RAISES_AGAIN = True  # the agent may raise a value several times in one plan, noted here once


class Agent:
    """What LRTA*(k) remembers beside h.

    Attributes:
        support: the best neighbour of every state at its last update.
        path: the states that this trial has visited.
    """

    def __init__(
        self, goal: Position, k: int, supports: bool, visited_only: bool, support: dict[Position, Position]
    ) -> None:
        self.goal, self.k, self.supports, self.visited_only = goal, k, supports, visited_only
        self.support = dict(support)
        self.path: set[Position] = set()

    def concerned(self, view: Map, risen: Position) -> list[Position]:
        """Return the neighbours that a risen value may concern."""
        near = [w for w, _ in view.neighbours(risen) if w != self.goal]
        if self.supports:
            near = [w for w in near if self.support.get(w) == risen]
        if self.visited_only:
            near = [w for w in near if w in self.path]
        return near

    def update(self, view: Map, state: Position, h: Heuristic) -> Heuristic:
        """Raise h of a state to the least c + h around it and note its support; return what rose."""
        best = best_neighbour(view, state, h)
        self.support.pop(state, None)
        if best is None:
            return learn(h, state, INF)
        self.support[state], cost = best
        return learn(h, state, capped(view.grid, cost + h[best[0]], self.k))

    def plan(self, view: Map, s: Position, h: Heuristic) -> Plan:
        """Update the current state, then those concerned, and commit to the neighbour with the least c + h.

        The update of the current state is its expansion. If others rose its neighbours are read again for the choice.
        """
        self.path.add(s)
        if best_neighbour(view, s, h) is None:
            self.support.pop(s, None)
            return Plan([], [s])
        queue, entered, updated = [s], 1, []
        raised: Heuristic = {}
        others_rose = False
        while queue:
            state = queue.pop(0)
            risen = self.update(view, state, h)
            others_rose |= bool(risen and updated)
            raised |= risen
            updated.append(state)
            for w in self.concerned(view, state) if risen else ():
                if w not in queue and entered < self.k:
                    queue.append(w)
                    entered += 1
        best = best_neighbour(view, s, h)
        return Plan([best[0]] if best else [], [s], updated[1:], raised, [s] if others_rose else [])


def best_neighbour(view: Map, state: Position, h: Heuristic) -> tuple[Position, int] | None:
    """Return the neighbour with the least c + h, then the largest c, then the first, and its c; None if all are INF."""
    around = [near for near in view.neighbours(state) if near[1] + h[near[0]] < INF]
    return min(around, key=lambda near: (near[1] + h[near[0]], -near[1]), default=None)


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    k: int,
    supports: bool = False,
    visited_only: bool = False,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose heuristic, supports and believed map it goes on with."""
    agent = Agent(goal, k, supports, visited_only, after.memory if after else {})
    record = learner_trial(grid, start, goal, agent.plan, vision, changes, max_moves, after)
    record.memory = agent.support
    return record
