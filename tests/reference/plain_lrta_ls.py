"""LRTA*_LS(k) (Hernández & Meseguer 2007) and the six versions of LRTA*_LS(k, d) (the same, 2008), in plain Python.

Both learn in a space (I, F) built around a state whose value has to change. What is read: I has at most k states; a
state of F that later joins I leaves F; the goal never changes. In LRTA*_LS(k, d) a state is tested when A* selects it,
before it is expanded.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reference.plain_astar import Search, a_star
from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, learner_trial
from reference.plain_lrta_k import best_neighbour
from reference.plain_lss_lrta import frontier_update
from rt_gym.cost import INF
from rt_gym.grid import Grid


def has_to_change(
    view: Map, state: Position, goal: Position, h: Heuristic, without: Sequence[Position] = (), w: int = 1
) -> bool:
    """Whether h of a state is less than w c + h of all neighbours outside ``without``; never for the goal."""
    around = [w * cost + h[near] for near, cost in view.neighbours(state) if near not in without]
    return state != goal and h[state] < min(around, default=INF)


@dataclass
class Lesson:
    """What was learned around one state, or several after each other.

    Attributes:
        interior: how many states were in I.
        enclosed: whether some I had no F, so that no way leads to the goal.
        tested: the states taken from the queue that selects I and F.
        popped: the states taken from Dijkstra's queue.
        raised: the heuristic values that rose.
    """

    interior: int = 0
    enclosed: bool = False
    tested: list[Position] = field(default_factory=list)
    popped: list[Position] = field(default_factory=list)
    raised: Heuristic = field(default_factory=dict)


def select_ls(
    view: Map, x: Position, goal: Position, k: int, h: Heuristic, w: int = 1
) -> tuple[Search, list[Position]]:
    """Return I and F around ``x`` as the closed and open states of a search, and the states tested."""
    queue, interior, frontier, tested = [x], [], [], []
    order = {x: 0}
    while queue and len(interior) < k:
        v = queue.pop(0)
        tested.append(v)
        if has_to_change(view, v, goal, h, interior, w):
            interior.append(v)
            frontier = [other for other in frontier if other != v]
            for near, _ in view.neighbours(v):
                order.setdefault(near, len(order))
                if near not in interior and near not in queue:
                    queue.append(near)
        elif v not in frontier:
            frontier.append(v)
    frontier += [waiting for waiting in queue if waiting not in frontier]
    return Search(interior, frontier, None, {}, {}, order), tested


def learn_around(view: Map, x: Position, goal: Position, k: int, h: Heuristic, lesson: Lesson, w: int = 1) -> None:
    """Raise h in the learning space around ``x``, and add what was done to the lesson."""
    space, tested = select_ls(view, x, goal, k, h, w)
    lesson.interior += len(space.closed)
    lesson.tested += tested
    if not space.open:
        lesson.enclosed = True
        return
    found, popped = frontier_update(view, space, h, w)
    raised = {state: value for state, value in found.items() if value > h[state]}
    h.update(raised)
    lesson.raised |= raised
    lesson.popped += popped


def plan(view: Map, x: Position, goal: Position, k: int, h: Heuristic, w: int = 1) -> Plan:
    """LRTA*_LS(k): learn around the current state if it has to change, then move to its best neighbour."""
    lesson = Lesson()
    chosen: list[Position] = []
    if view.neighbours(x) and has_to_change(view, x, goal, h, w=w):
        learn_around(view, x, goal, k, h, lesson, w)
        chosen = [] if lesson.enclosed else [x]
    best = None if lesson.enclosed else best_neighbour(view, x, h)
    return Plan([best[0]] if best else [], [x], lesson.popped, lesson.raised, lesson.tested + chosen)


def look_until_change(view: Map, x: Position, goal: Position, d: int, h: Heuristic) -> Search:
    """Return the A* search that stops where the next state is the goal or has to change, or d states are closed."""
    for closed in range(d):
        search = a_star(view, x, goal, lambda state: h[state], closed)
        if search.best is None or search.best == goal or has_to_change(view, search.best, goal, h):
            return search
    return a_star(view, x, goal, lambda state: h[state], d)


def plan_kd(
    view: Map, x: Position, goal: Position, k: int, d: int, lookahead: str, control: str, shared_k: bool, h: Heuristic
) -> Plan:
    """LRTA*_LS(k, d): look ahead, learn around what has to change, then move one step or several."""
    if lookahead == "dynamic":
        search = look_until_change(view, x, goal, d, h)
        candidates = [search.best]
    else:
        search = a_star(view, x, goal, lambda state: h[state], d)
        candidates = [*search.closed, search.best]
    z, closed = search.best, list(search.closed)
    if z is None:
        return Plan(expanded=closed)
    lesson, tests = Lesson(), []
    for state in candidates:
        left = k - lesson.interior if shared_k else k
        if state is None or state == goal or lesson.enclosed or left == 0:
            break
        tests.append(state)
        if has_to_change(view, state, goal, h):
            learn_around(view, state, goal, left, h, lesson)
    scanned = tests + lesson.tested
    if lesson.enclosed:
        return Plan([], closed, lesson.popped, lesson.raised, scanned)
    if z != x and (control == "several" or (control == "dynamic" and lesson.interior == 0)):
        return Plan(search.steps_to(z), closed, lesson.popped, lesson.raised, scanned)
    best = best_neighbour(view, x, h)
    return Plan([best[0]] if best else [], closed, lesson.popped, lesson.raised, [*scanned, x])


def run(
    grid: Grid,
    start: Position,
    goal: Position,
    k: int,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
    weight: int = 1,
) -> Run:
    """Run one trial of LRTA*_LS(k); ``after`` is the trial whose heuristic and believed map it goes on with."""

    def learner(view: Map, x: Position, h: Heuristic) -> Plan:
        return plan(view, x, goal, k, h, weight)

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, after)


def run_kd(
    grid: Grid,
    start: Position,
    goal: Position,
    k: int,
    d: int,
    lookahead: str = "dynamic",
    control: str = "dynamic",
    shared_k: bool = False,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial of LRTA*_LS(k, d); ``after`` as in ``run``."""

    def learner(view: Map, x: Position, h: Heuristic) -> Plan:
        return plan_kd(view, x, goal, k, d, lookahead, control, shared_k, h)

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, after)
