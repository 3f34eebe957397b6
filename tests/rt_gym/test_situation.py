"""The features of the situation and of the layers against plain definitions, counted anew from the whole history."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reference import plain_grid
from reference.plain_oracle import random_grid
from reference.plain_situation import Position, Story, by_definition, layers_by_definition
from rt_gym import Grid
from rt_gym.cost import STRAIGHT
from rt_gym.features.decision import (
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
from rt_gym.features.history import FEATURES
from rt_gym.search.deepening import LAYER_ADDED, add_layer, begin_layered, make_depth_results
from rt_gym.search.space import make_space
from rt_gym.search.tables import FRESH, Learned, forget_values, make_table
from rt_gym.search.values import raise_value
from rt_gym.trip import make_trip

pytestmark = pytest.mark.plain


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
    assert (trip.meter[0].expansions, trip.meter[0].scans) == (0, 1)
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
    begin_situation(situation, grid.cell(start))
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
    learned = make_table(Learned, 16 * FRESH)
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
    begin_situation(situation, story.grid.cell(start))
    assert features(situation, again, dense(story.grid, story.h)) == expected(again, 6)
    go_on(rng, situation, again)
    assert features(situation, again, dense(story.grid, story.h)) == expected(again, 6)


def test_the_line_of_sight_ends_where_the_map_does() -> None:
    # Beyond the eastern end of a row the next row begins in memory; it is no part of the line.
    grid = Grid([[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1]])
    for start, seen in (((0, 0), (5, 0)), ((2, 0), (3, 0)), ((4, 0), (1, 0))):
        situation, story = make_situation(3), Story(grid, (5, 0), [start], plain_grid.initial_heuristic(grid, (5, 0)))
        begin_situation(situation, grid.cell(start))
        row = features(situation, story, dense(grid, story.h))
        assert (row[SITUATION.index("clear_ahead")], row[SITUATION.index("blocked_ahead")]) == seen


@given(seed=st.integers(0, 2**32 - 1))
def test_after_every_layer_the_features_are_those_of_searches_of_every_depth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    situation, story = begun(rng, 3, max_side=10)
    for _ in range(12):
        go_on(rng, situation, story)
    grid, values = story.grid, dense(story.grid, story.h)
    s, t = grid.cell(story.states[-1]), grid.cell(story.goal)
    by_depth, space, trip = make_depth_results(8), make_space(values.size), make_trip(values.size)
    begin_layered(space, by_depth, s, values[s])
    out = np.full(len(LAYERS), np.nan)
    for depth in range(8):
        write_layers(by_depth, out)
        assert out.tolist() == pytest.approx(layers_by_definition(story, depth), abs=1e-9)
        if s == t or add_layer(grid.terrain, trip, space, by_depth, values, t) != LAYER_ADDED:
            break
