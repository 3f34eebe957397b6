"""The features of the situation and of the layers against plain definitions, counted anew from the whole history."""

from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reference import plain_grid, plain_lrta
from reference.plain_oracle import random_grid
from rt_gym import Grid
from rt_gym.budget import EXPANSIONS, SCANS, make_trip
from rt_gym.cost import STRAIGHT
from rt_gym.features import FEATURES
from rt_gym.search.deepening import CLIMBED, begin_climb, climb, make_ladder
from rt_gym.search.space import make_space
from rt_gym.search.values import FRESH, Learned, forget_values, raise_value
from rt_gym.situation import (
    LAYERS,
    SITUATION,
    Situation,
    begin_situation,
    make_situation,
    note_decision,
    note_step,
    write_layers,
    write_situation,
)

pytestmark = pytest.mark.plain

Position = tuple[int, int]

TURNS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))  # clockwise, by eighths


@dataclass
class Story:
    """The whole history of a walk: states, rises per step, and (depth, expansions, rise) of the decisions."""

    grid: Grid
    goal: Position
    states: list[Position]
    h: dict[Position, int]
    raises: list[int] = field(default_factory=lambda: [0])
    decisions: list[tuple[int, int, int]] = field(default_factory=list)

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
    near = plain_grid.Map.of(story.grid).neighbours(s)
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
    free = [bool(story.grid.passable[y, x]) for x, y in line if story.grid.contains((x, y))]
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


def dense(grid: Grid, h: dict[Position, int]) -> NDArray[np.int64]:
    """Return values by position as the flat, bordered array of kernels."""
    values = np.zeros(grid.terrain.mask.size, np.int64)
    for position, value in h.items():
        values[grid.cell(position)] = value
    return values


def features(situation: Situation, story: Story, h: Any) -> list[float]:
    grid, trip = story.grid, make_trip(0)
    out = np.full(len(SITUATION), np.nan)
    s, t = grid.cell(story.states[-1]), grid.cell(story.goal)
    write_situation(situation, grid.terrain, trip, h, s, t, out)
    assert (trip.meter[EXPANSIONS], trip.meter[SCANS]) == (0, 1)
    return out.tolist()


def expected(story: Story, history: int) -> list[Any]:
    values = by_definition(story, history)
    assert set(values) == set(SITUATION)
    return pytest.approx([values[name] for name in SITUATION], abs=1e-9)


def begun(rng: np.random.Generator, history: int, max_side: int = 12, **rules: Any) -> tuple[Situation, Story]:
    """Return a story that begins somewhere on a random map, with values that nobody has learned."""
    grid = random_grid(rng, max_side, **rules)
    free = sorted(plain_grid.Map.of(grid).free)
    start, goal = (free[rng.integers(len(free))] for _ in range(2))
    story = Story(grid, goal, [start], plain_grid.initial_heuristic(grid, goal))
    situation = make_situation(history)
    begin_situation(situation, grid.terrain, grid.cell(start), grid.cell(goal))
    return situation, story


def go_on(rng: np.random.Generator, situation: Situation, story: Story) -> None:
    """Decide anything, raise some values, and take a legal step or none; mostly back and forth, so states return."""
    grid, left = story.grid, story.states[-1]
    story.decisions.append((int(rng.integers(1, 9)), int(rng.integers(1, 99)), int(rng.integers(4)) * STRAIGHT))
    note_decision(situation, *story.decisions[-1])
    cells = sorted(story.h)
    raises = int(max(0, rng.integers(-2, 4)))
    for pick in rng.integers(len(cells), size=raises):
        story.h[cells[pick]] += int(rng.integers(1, 3)) * STRAIGHT
    near = [cell for cell, _ in plain_grid.Map.of(grid).neighbours(left)]
    choices = [left, *near, *story.states[-2:-1] * 2] if len(story.states) > 1 else [left, *near]
    legal = [cell for cell in choices if cell == left or cell in near]
    story.states.append(legal[rng.integers(len(legal))])
    story.raises.append(raises)
    note_step(situation, grid.terrain, grid.cell(left), grid.cell(story.states[-1]), sum(story.raises))


def test_the_situation_begins_with_the_features_of_the_paper_and_every_name_stands_once() -> None:
    assert SITUATION[:4] == FEATURES
    assert len(set(SITUATION + LAYERS)) == len(SITUATION) + len(LAYERS) == 24 + 6


@given(seed=st.integers(0, 2**32 - 1), history=st.integers(1, 9))
def test_after_every_step_the_situation_is_that_of_the_whole_history(seed: int, history: int) -> None:
    rng = np.random.default_rng(seed)
    situation, story = begun(rng, history)
    assert features(situation, story, dense(story.grid, story.h)) == expected(story, history)
    for _ in range(20):
        go_on(rng, situation, story)
        assert features(situation, story, dense(story.grid, story.h)) == expected(story, history)


@pytest.mark.parametrize("rules", [{"connectivity": 4}, {"cost": "unit"}, {"corner": "free"}, {}], ids=str)
def test_long_walks_with_the_history_of_the_paper(rules: dict[str, Any]) -> None:
    rng, history = np.random.default_rng(8), 20
    seen = set()
    for _ in range(3):
        situation, story = begun(rng, history, density=0.25, **({"connectivity": 8} | rules))
        for _ in range(60):
            go_on(rng, situation, story)
            assert features(situation, story, dense(story.grid, story.h)) == expected(story, history)
            seen |= {name for name, value in by_definition(story, history).items() if value > 0}
    assert seen == set(SITUATION)


def test_the_situation_is_the_same_with_a_hash_table() -> None:
    rng = np.random.default_rng(4)
    situation, story = begun(rng, 5)
    first = plain_grid.initial_heuristic(story.grid, story.goal)
    rows = np.zeros(16 * FRESH, np.int32), np.zeros(16 * FRESH, np.int64)
    learned = Learned(*rows, *(row.copy() for row in rows), np.zeros(2, np.int64))
    forget_values(learned)
    for _ in range(40):
        go_on(rng, situation, story)
        for position, value in story.h.items():
            if value > first[position]:
                cell, t = story.grid.cell(position), story.grid.cell(story.goal)
                raise_value(make_trip(0), learned, story.grid.terrain, cell, t, value)
        assert features(situation, story, learned) == expected(story, 5)


def test_a_new_episode_remembers_nothing_of_the_last() -> None:
    rng = np.random.default_rng(6)
    situation, story = begun(rng, 6)
    for _ in range(30):
        go_on(rng, situation, story)
    start = story.states[-1]
    again = Story(story.grid, story.goal, [start], story.h)
    begin_situation(situation, story.grid.terrain, story.grid.cell(start), story.grid.cell(story.goal))
    assert features(situation, again, dense(story.grid, story.h)) == expected(again, 6)
    go_on(rng, situation, again)
    assert features(situation, again, dense(story.grid, story.h)) == expected(again, 6)


def test_the_line_of_sight_ends_where_the_map_does() -> None:
    # Beyond the eastern end of a row the next row begins in memory; it is no part of the line.
    grid = Grid([[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1]])
    for start, seen in (((0, 0), (5, 0)), ((2, 0), (3, 0)), ((4, 0), (1, 0))):
        situation, story = make_situation(3), Story(grid, (5, 0), [start], plain_grid.initial_heuristic(grid, (5, 0)))
        begin_situation(situation, grid.terrain, grid.cell(start), grid.cell((5, 0)))
        row = features(situation, story, dense(grid, story.h))
        assert (row[SITUATION.index("clear_ahead")], row[SITUATION.index("blocked_ahead")]) == seen


def layers_by_definition(story: Story, depth: int) -> list[float]:
    """Return what is known after so many layers, by a search of its own for each of them."""
    s, view = story.states[-1], plain_grid.Map.of(story.grid)
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


@given(seed=st.integers(0, 2**32 - 1))
def test_after_every_layer_the_features_are_those_of_searches_of_every_depth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    situation, story = begun(rng, 3, max_side=10)
    for _ in range(12):
        go_on(rng, situation, story)
    grid, values = story.grid, dense(story.grid, story.h)
    s, t = grid.cell(story.states[-1]), grid.cell(story.goal)
    ladder, space, trip = make_ladder(8), make_space(values.size), make_trip(values.size)
    begin_climb(space, ladder, s, values[s])
    out = np.full(len(LAYERS), np.nan)
    for depth in range(8):
        write_layers(ladder, out)
        assert out.tolist() == pytest.approx(layers_by_definition(story, depth), abs=1e-9)
        if s == t or climb(grid.terrain, trip, space, ladder, values, t) != CLIMBED:
            break
