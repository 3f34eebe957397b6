"""Problems: what is accepted, what is refused and with which words, and their optimal costs."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from reference.plain_oracle import Problem as PlainProblem
from reference.plain_oracle import distances, problems
from reference.small_maps import drawn
from rt_gym import Change, InputError, Problem
from rt_gym.cost import INF, SQRT2, to_float

YARD = drawn("...#.", ".#.#.", "...#.")


@pytest.mark.parametrize("grid", [None, "open-16", 3.5, np.ones((3, 3))])
def test_what_is_no_grid_is_refused(grid: Any) -> None:
    with pytest.raises(InputError, match="grid must be a Grid, not "):
        Problem(grid, (0, 0), (1, 1))


class TestPositions:
    @pytest.mark.parametrize("role", ["start", "goal"])
    @pytest.mark.parametrize(
        ("value", "words"),
        [
            ((5, 0), "lies outside the map of 5 x 3"),
            ((0, 3), "lies outside"),
            ((-1, 0), "lies outside"),
            ((10**30, 0), "lies outside"),
            ((1, 1), "is a blocked cell"),
            (None, "pair of whole numbers"),
            (3, "pair of whole numbers"),
            ("ab", "pair of whole numbers"),
            ((1,), "pair of whole numbers"),
            ((1, 2, 3), "pair of whole numbers"),
            ((0.5, 0), "pair of whole numbers"),
            ((math.nan, 0), "pair of whole numbers"),
            ((math.inf, 0), "pair of whole numbers"),
            (("0", "0"), "pair of whole numbers"),
        ],
    )
    def test_a_position_that_cannot_be_is_refused(self, role: str, value: Any, words: str) -> None:
        places: dict[str, Any] = {"start": (0, 0), "goal": (2, 0)} | {role: value}
        with pytest.raises(InputError, match=words) as refusal:
            Problem(YARD, **places)
        assert role in str(refusal.value)
        assert "\n" not in str(refusal.value)

    @pytest.mark.parametrize("value", [(2, 0), [2, 0], np.array([2, 0]), (np.int64(2), np.uint8(0)), (2.0, 0.0)])
    def test_positions_become_pairs_of_ints(self, value: Any) -> None:
        problem = Problem(YARD, value, value)
        assert problem.start == problem.goal == (2, 0)
        assert all(type(part) is int for part in problem.start)

    def test_x_runs_to_the_right_and_y_down(self) -> None:
        assert Problem(drawn("#.", "##"), (1, 0), (1, 0)).start == (1, 0)
        with pytest.raises(InputError, match="blocked"):
            Problem(drawn("#.", "##"), (0, 1), (1, 0))


class TestReach:
    def test_a_goal_in_another_component_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"goal \(4, 0\) cannot be reached from start \(0, 0\)"):
            Problem(YARD, (0, 0), (4, 0))

    def test_a_goal_in_another_component_may_be_allowed(self) -> None:
        problem = Problem(YARD, (0, 0), (4, 0), allow_unsolvable=True)
        assert (problem.optimal_cost, problem.optimal) == (INF, math.inf)

    def test_a_goal_in_another_component_is_no_mistake_where_a_door_will_open(self) -> None:
        assert Problem(YARD, (0, 0), (4, 0), changes=[(3, (3, 1), True)]).optimal is None
        with pytest.raises(InputError, match="cannot be reached"):
            Problem(YARD, (0, 0), (4, 0), changes=[(3, (2, 1), False)])

    def test_a_map_without_free_cells_is_refused(self) -> None:
        with pytest.raises(InputError, match="map dungeon has no free cell"):
            Problem(drawn("##", name="dungeon"), (0, 0), (1, 0))


class TestKnowledge:
    @pytest.mark.parametrize("vision", [0, -1, 1.0, "1", True, False, 10**30])
    def test_a_radius_that_cannot_be_is_refused(self, vision: Any) -> None:
        with pytest.raises(InputError, match="vision must be"):
            Problem(YARD, (0, 0), (2, 0), vision=vision)

    @pytest.mark.parametrize("vision", [None, 1, np.int8(3), 2**62])
    def test_a_radius_that_can_be_is_taken(self, vision: Any) -> None:
        assert Problem(YARD, (0, 0), (2, 0), vision=vision).vision == vision

    @pytest.mark.parametrize(
        "change",
        [
            (1, (0, 0)),
            3,
            None,
            (-1, (0, 0), True),
            (1.5, (0, 0), True),
            ("1", (0, 0), True),
            (True, (0, 0), True),
            (10**30, (0, 0), True),
            (1, (9, 0), True),
            (1, None, False),
            (1, (0.5, 0), False),
            (1, (0, 0), np.zeros(2)),
        ],
    )
    def test_a_change_that_cannot_be_is_refused(self, change: Any) -> None:
        with pytest.raises(InputError, match="change"):
            Problem(YARD, (0, 0), (2, 0), changes=[change])

    def test_changes_are_ordered_by_time_and_otherwise_as_given(self) -> None:
        given_order = [(5, (0, 0), False), (2, (1, 0), True), (2, (1, 0), False), (0, (2, 2), True)]
        problem = Problem(YARD, (0, 0), (2, 0), changes=given_order)
        times = [Change(0, (2, 2), True), Change(2, (1, 0), True), Change(2, (1, 0), False), Change(5, (0, 0), False)]
        assert problem.changes == tuple(times)

    def test_no_changes_are_an_empty_schedule(self) -> None:
        assert Problem(YARD, (0, 0), (2, 0)).changes == Problem(YARD, (0, 0), (2, 0), changes=[]).changes == ()


class TestValue:
    def test_equal_problems_are_equal(self) -> None:
        twin = Problem(drawn("...#.", ".#.#.", "...#."), [0, 0], (2.0, 0))
        assert Problem(YARD, (0, 0), (2, 0)) == twin
        assert hash(Problem(YARD, (0, 0), (2, 0))) == hash(twin)
        assert Problem(YARD, (0, 0), (2, 0)) != Problem(YARD, (0, 0), (2, 0), vision=1)

    def test_a_problem_cannot_be_changed(self) -> None:
        with pytest.raises(AttributeError):
            Problem(YARD, (0, 0), (2, 0)).start = (1, 0)  # type: ignore[misc]

    def test_a_problem_survives_pickling(self) -> None:
        problem = Problem(YARD, (0, 0), (2, 0), 2, [(1, (2, 2), False)])
        assert pickle.loads(pickle.dumps(problem)) == problem


class TestOptimal:
    @given(problems())
    def test_the_optimal_cost_is_the_exact_distance(self, plain: PlainProblem) -> None:
        problem = Problem(*plain)
        assert problem.optimal_cost == distances(problem.grid, problem.goal)[problem.start]
        assert problem.optimal == to_float(problem.optimal_cost)

    def test_optimal_costs_by_hand(self) -> None:
        assert Problem(drawn("...", "..."), (0, 0), (2, 1)).optimal == 1 + SQRT2
        assert Problem(YARD, (0, 1), (2, 1)).optimal == 4.0  # both ways round (1,1) pass corners
        assert Problem(YARD, (1, 0), (1, 0)).optimal == 0.0

    def test_a_problem_shows_itself_without_an_environment(self) -> None:
        view = Problem(YARD, (0, 0), (2, 0), vision=1).view(budget=7)
        assert (view.start, view.goal, view.position, view.moves) == ((0, 0), (2, 0), (0, 0), 0)
        assert (view.meter.limit, view.meter.left) == (7, 7)
