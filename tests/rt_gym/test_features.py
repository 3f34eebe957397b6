"""The four history features against their definitions, counted anew from the whole history after every step."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference import plain_grid
from rt_gym import Grid
from rt_gym.cost import to_float
from rt_gym.features.history import FEATURES, Track, begin_track, follow, make_track, write_history

pytestmark = pytest.mark.plain

Position = tuple[int, int]

FIELD = Grid(np.ones((5, 6)))
GOAL = (5, 4)


def begun(history: int, start: Position, grid: Grid = FIELD) -> Track:
    track = make_track(history)
    begin_track(track, grid.cell(start))
    return track


def features(track: Track, position: Position, grid: Grid = FIELD) -> list[float]:
    out = np.full(len(FEATURES), np.nan)
    write_history(track, grid.terrain, grid.cell(position), grid.cell(GOAL), out)
    return out.tolist()


def by_definition(history: int, states: list[Position], raises: list[int], grid: Grid = FIELD) -> list[float]:
    """Count the features of the last state; ``raises[k]`` values were raised on the way to state k."""
    now = len(states) - 1
    window = states[max(0, now - history + 1) :]
    return [
        to_float(plain_grid.h0(grid, states[-1], GOAL)),
        to_float(plain_grid.h0(grid, states[-1], states[max(0, now - history)])),
        len(window) - len(set(window)),
        sum(count > 0 for count in raises[max(1, now - history + 1) :]),
    ]


def test_the_features_have_the_names_and_the_order_of_the_paper() -> None:
    assert FEATURES == ("goal_distance", "trip_distance", "revisits", "updates")


positions = st.tuples(st.integers(0, 5), st.integers(0, 4))
few = st.sampled_from([(0, 0), (1, 0), (1, 1)])  # so that states come back within the window


@given(
    history=st.integers(1, 7),
    start=positions,
    steps=st.lists(st.tuples(few | positions, st.integers(0, 2)), max_size=30),
    rules=st.sampled_from([{}, {"cost": "unit"}, {"connectivity": 4}, {"connectivity": 4, "cost": "unit"}]),
)
@example(history=1, start=(0, 0), steps=[((0, 0), 1), ((1, 0), 0), ((1, 0), 2)], rules={})
def test_after_every_step_the_features_are_those_of_the_whole_history(
    history: int, start: Position, steps: list[tuple[Position, int]], rules: dict[str, Any]
) -> None:
    grid = FIELD.replace(**rules)
    track, states, raises = begun(history, start, grid), [start], [0]
    assert features(track, start, grid) == pytest.approx(by_definition(history, states, raises, grid))
    for position, raised in steps:
        states.append(position)
        raises.append(raised)
        follow(track, grid.cell(position), sum(raises))
        assert features(track, position, grid) == pytest.approx(by_definition(history, states, raises, grid))


def test_pacing_between_two_cells_fills_the_window_with_revisits() -> None:
    track = begun(4, (0, 0))
    seen = []
    for step in range(1, 8):
        position = (step % 2, 0)
        follow(track, FIELD.cell(position), 0)
        seen.append(features(track, position)[2])
    assert seen == [0, 1, 2, 2, 2, 2, 2]


def test_standing_still_is_a_revisit() -> None:
    track = begun(3, (2, 2))
    follow(track, FIELD.cell((2, 2)), 0)
    assert features(track, (2, 2))[2] == 1


def test_the_trip_is_measured_from_the_start_until_there_are_enough_steps() -> None:
    track = begun(2, (0, 0))
    trips = []
    for x in range(1, 6):
        follow(track, FIELD.cell((x, 0)), 0)
        trips.append(features(track, (x, 0))[1])
    assert trips == [1, 2, 2, 2, 2]


def test_a_step_with_several_raised_values_counts_once_and_leaves_the_window_again() -> None:
    track = begun(2, (0, 0))
    counts = []
    for raises_so_far in (3, 3, 3, 4, 9):
        follow(track, FIELD.cell((0, 0)), raises_so_far)
        counts.append(features(track, (0, 0))[3])
    assert counts == [1, 1, 0, 1, 2]


def test_a_new_episode_remembers_nothing_of_the_last() -> None:
    track = begun(3, (0, 0))
    for _ in range(5):
        follow(track, FIELD.cell((0, 0)), 7)
    begin_track(track, FIELD.cell((4, 4)))
    assert features(track, (4, 4)) == [1, 0, 0, 0]
    follow(track, FIELD.cell((5, 4)), 0)
    assert features(track, (5, 4)) == [0, 1, 0, 0]
