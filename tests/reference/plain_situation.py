"""The features of a controller by their definitions, counted anew from the whole history of a walk."""

from dataclasses import dataclass, field
from itertools import pairwise, takewhile

import numpy as np

from reference import plain_grid, plain_lrta
from rt_gym import Grid
from rt_gym.cost import STRAIGHT

Position = tuple[int, int]

TURNS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))  # clockwise, by eighths


@dataclass
class Story:
    """The whole history of a walk.

    Attributes:
        grid, goal: the problem.
        states: where the agent stood, the current state last.
        h: the learned values.
        raises: how many values were raised on the way to every state.
        decisions: depth, expansions and rise of every decision.
        view: the map as the agent believes it to be; that of the grid if None.
    """

    grid: Grid
    goal: Position
    states: list[Position]
    h: dict[Position, int]
    raises: list[int] = field(default_factory=lambda: [0])
    decisions: list[tuple[int, int, int]] = field(default_factory=list)
    view: plain_grid.Map | None = None

    @property
    def believed(self) -> plain_grid.Map:
        return plain_grid.Map.of(self.grid) if self.view is None else self.view

    def h0(self, a: Position, b: Position) -> int:
        return plain_grid.h0(self.grid, a, b)


def by_definition(story: Story, history: int) -> dict[str, float]:
    """Return the features of the last state of a walk."""
    return first_four(story, history) | around(story) | ahead(story) | so_far(story, history)


def first_four(story: Story, history: int) -> dict[str, float]:
    now, s = len(story.states) - 1, story.states[-1]
    window = story.states[max(0, now - history + 1) :]
    return {
        "goal_distance": story.h0(s, story.goal) / STRAIGHT,
        "trip_distance": story.h0(s, story.states[max(0, now - history)]) / STRAIGHT,
        "revisits": len(window) - len(set(window)),
        "updates": sum(count > 0 for count in story.raises[max(1, now - history + 1) :]),
    }


def around(story: Story) -> dict[str, float]:
    """Count what the neighbours show; a state without any is its own best neighbour."""
    s, h = story.states[-1], story.h
    near = story.believed.neighbours(s)
    surplus = {cell: (h[cell] - story.h0(cell, story.goal)) / STRAIGHT for cell in [s, *(cell for cell, _ in near)]}
    best, cost = min(near, key=lambda step: step[1] + h[step[0]], default=(s, 0))  # the first of equals
    return {
        "surplus": surplus[s],
        "rise": max(0, cost + h[best] - h[s]) / STRAIGHT,
        "best_surplus": surplus[best],
        "raised_neighbours": sum(surplus[cell] > 0 for cell, _ in near),
        "exits": len(near),
        "downhill": sum(cost + h[cell] <= h[s] for cell, cost in near),
        "best_gain": (story.h0(s, story.goal) - story.h0(best, story.goal)) / STRAIGHT,
    }


def ahead(story: Story) -> dict[str, float]:
    """Look up to eight cells in the one of eight directions in which the goal lies, as far as the map goes."""
    (x, y), (goal_x, goal_y) = story.states[-1], story.goal
    dx, dy = int(np.sign(goal_x - x)), int(np.sign(goal_y - y))
    line = [(x + k * dx, y + k * dy) for k in range(1, 9)]
    free = [cell in story.believed.free for cell in line if story.grid.contains(cell)]
    return {"clear_ahead": len(list(takewhile(bool, free))), "blocked_ahead": free.count(False)}


def so_far(story: Story, history: int) -> dict[str, float]:
    states, now = story.states, len(story.states) - 1
    start, s = states[0], states[-1]
    last = story.decisions[-1] if story.decisions else (0, 0, 0)
    fading = [0.8**age * rise for age, (_, _, rise) in enumerate(reversed(story.decisions))]
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(states)]
    cost = sum(plain_grid.step_cost(story.grid, a, b) for a, b in pairwise(states))
    returned = [states[k] in states[max(0, k - history + 1) : k] for k in range(len(states))]
    return {
        "last_depth": last[0],
        "last_work": last[1],
        "last_rise": last[2] / STRAIGHT,
        "rise_trend": sum(fading) / STRAIGHT,
        "since_update": min(history, since([count > 0 for count in story.raises])),
        "since_return": min(history, since(returned)),
        "short_trip": story.h0(s, states[now - min(5, now, history - 1)]) / STRAIGHT,
        "wasted": (cost - story.h0(start, story.goal) + story.h0(s, story.goal)) / STRAIGHT,
        "away": story.h0(s, start) / STRAIGHT,
        "moves": now,
        "turn": last_turn([step for step in steps if step != (0, 0)]),
    }


def since(happened: list[bool]) -> int:
    """Return how many steps ago it happened last, or began."""
    return next((age for age, it in enumerate(reversed(happened)) if it), len(happened) - 1)


def last_turn(steps: list[tuple[int, int]]) -> int:
    """Return by how many eighths the last step turned from the one before, to whichever side."""
    if len(steps) < 2:
        return 0
    turn = (TURNS.index(steps[-1]) - TURNS.index(steps[-2])) % 8
    return min(turn, 8 - turn)


def layers_by_definition(story: Story, depth: int) -> list[float]:
    """Return what is known after so many layers, by a search of its own for each of them."""
    s, view = story.states[-1], story.believed
    plans = [plain_lrta.plan(view, s, story.goal, d, dict(story.h)) for d in range(1, depth + 1)]
    values = [story.h[s], *(plan.raised.get(s, story.h[s]) for plan in plans)]
    work = [0, *(len(plan.expanded) for plan in plans)]
    flat = [values[d] > values[d - 1] for d in range(depth, 0, -1)]
    steady = [plans[d].steps != plans[d - 1].steps for d in range(depth - 1, 0, -1)]
    return [
        depth,
        (values[-1] - values[0]) / STRAIGHT,
        (values[-1] - values[max(0, depth - 1)]) / STRAIGHT,
        flat.index(True) if any(flat) else depth,
        steady.index(True) if any(steady) else max(0, depth - 1),
        work[-1] - work[max(0, depth - 1)],
    ]
