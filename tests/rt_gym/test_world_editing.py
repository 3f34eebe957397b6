"""Interventions: cells that open and close, goals that change, agents that are put elsewhere."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from reference import plain_grid
from reference.plain_oracle import distances, problems
from reference.small_maps import drawn
from rt_gym import STAY, Budget, Grid, InputError, Problem, World
from rt_gym.terrain import STEPS
from rt_gym.truth import Truth

pytestmark = pytest.mark.plain

EAST, SOUTH, WEST, NORTH = range(4)
CORRIDOR = drawn("......")
YARD = drawn("...#.", ".#.#.", "...#.")
Event = tuple[str, int, bool]


def cells_of(array: Any) -> set[tuple[int, int]]:
    return {(int(x), int(y)) for y, x in np.argwhere(array)}


def true_map(world: World) -> set[tuple[int, int]]:
    return cells_of(world.problem.grid.inner(world.truth.free))


@st.composite
def journeys(draw: st.DrawFn) -> tuple[Problem, list[Event]]:
    """Draw a problem, in fog or not, with or without changes, and moves with interventions between them."""
    grid, start, goal = draw(problems(max_side=6))
    change = st.tuples(st.integers(0, 8), st.sampled_from(plain_grid.cells(grid)), st.booleans())
    vision = draw(st.sampled_from([None, 1, 2, 50]))
    event = st.tuples(st.sampled_from(["step", "cell", "cell", "place", "goal"]), st.integers(0, 99), st.booleans())
    problem = Problem(grid, start, goal, vision, tuple(draw(st.lists(change, max_size=3))))  # type: ignore[arg-type]
    return problem, draw(st.lists(event, max_size=20))


def happen(world: World, plain: plain_grid.World, event: Event) -> None:
    """Let the same thing happen in both worlds."""
    kind, number, free = event
    spots = plain_grid.cells(plain.grid) if kind == "cell" else sorted(plain.truth.free)
    spot = spots[number % len(spots)]
    if kind == "cell":
        world.set_cell(spot, free)
        plain.edit(spot, free)
    elif kind == "place":
        world.place(spot)
        plain.place(spot)
    elif kind == "goal":
        world.set_goal(spot)
        assert world.view.goal == spot
    else:
        action = number % (plain.grid.actions + 1) - 1
        dx, dy = (0, 0) if action == STAY else STEPS[action]
        to = plain.position[0] + dx, plain.position[1] + dy
        world.step(action)
        plain.move(to if plain.truth.can_step(plain.position, to) else plain.position)


class TestAgainstThePlainWorld:
    @given(journeys())
    @examples(150)
    def test_truth_belief_and_position_after_every_intervention(self, journey: tuple[Problem, list[Event]]) -> None:
        problem, events = journey
        world = World(problem, Budget(free_reads=True))
        plain = plain_grid.World(problem.grid, problem.start, problem.vision, problem.changes or ())
        for event in events:
            happen(world, plain, event)
            assert (true_map(world), cells_of(world.view.passable)) == (plain.truth.free, plain.believed.free)
            assert (world.view.position, world.view.moves) == (plain.position, plain.moves)
            fresh = problem.grid.replace(passable=np.array(world.view.passable))
            assert world.terrain.mask.tolist() == fresh.terrain.mask.tolist()

    @given(journeys())
    @examples(100)
    def test_every_change_of_the_belief_is_told(self, journey: tuple[Problem, list[Event]]) -> None:
        problem, events = journey
        world = World(problem, Budget(free_reads=True))
        plain = plain_grid.World(problem.grid, problem.start, problem.vision, problem.changes or ())
        world.view.take_changes()
        before = cells_of(world.view.passable)
        for event in events:
            happen(world, plain, event)
            now = cells_of(world.view.passable)
            assert before ^ now <= set(world.view.take_changes())
            before = now

    @given(journeys())
    @examples(60)
    def test_the_grid_and_other_worlds_stay_as_they_were(self, journey: tuple[Problem, list[Event]]) -> None:
        problem, events = journey
        cells, masks = problem.grid.passable.tolist(), problem.grid.terrain.mask.tolist()
        world, other = World(problem), World(problem)
        plain = plain_grid.World(problem.grid, problem.start, problem.vision, problem.changes or ())
        first = true_map(other)
        for event in events:
            happen(world, plain, event)
        assert (problem.grid.passable.tolist(), problem.grid.terrain.mask.tolist()) == (cells, masks)
        assert (true_map(other), other.view.goal, other.view.position) == (first, problem.goal, problem.start)


class TestCells:
    def test_a_closed_cell_cannot_be_entered(self) -> None:
        world = World(Problem(CORRIDOR, (0, 0), (5, 0)))
        world.set_cell((1, 0), False)
        world.step(EAST)
        assert (world.view.position, world.view.moves) == ((0, 0), 1)
        world.set_cell((1, 0), True)
        world.step(EAST)
        assert world.view.position == (1, 0)

    def test_a_cell_that_closes_under_the_agent_waits_until_it_has_left(self) -> None:
        world = World(Problem(CORRIDOR, (2, 0), (5, 0)))
        world.set_cell((2, 0), False)
        world.step(STAY)
        assert (2, 0) in true_map(world)
        world.step(EAST)
        assert (2, 0) not in true_map(world)
        assert world.view.take_changes() == [(2, 0)]

    def test_a_cell_that_should_close_under_the_agent_may_be_spared(self) -> None:
        world = World(Problem(CORRIDOR, (2, 0), (5, 0)))
        world.set_cell((2, 0), False)
        world.set_cell((2, 0), True)
        world.step(EAST)
        assert (2, 0) in true_map(world)

    def test_a_cell_closes_behind_an_agent_that_is_put_elsewhere(self) -> None:
        world = World(Problem(CORRIDOR, (2, 0), (5, 0)))
        world.set_cell((2, 0), False)
        world.place((4, 0))
        assert (2, 0) not in true_map(world)

    def test_in_fog_an_edit_is_heard_of_when_the_cell_is_seen(self) -> None:
        world = World(Problem(CORRIDOR, (0, 0), (5, 0), vision=1))
        world.set_cell((3, 0), False)
        assert world.view.take_changes() == []
        world.step(EAST)
        assert world.view.take_changes() == []
        world.step(EAST)
        assert world.view.take_changes() == [(3, 0)]

    def test_no_change_is_lost_however_many_there_are_before_the_next_plan(self) -> None:
        world = World(Problem(CORRIDOR, (0, 0), (5, 0)))
        for k in range(100):
            world.set_cell((1 + k % 4, 0), bool(k % 8 >= 4))
        assert set(world.view.take_changes()) == {(1, 0), (2, 0), (3, 0), (4, 0)}
        for k in range(100):
            world.set_cell((1 + k % 2, 0), bool(k % 4 >= 2))
        assert set(world.view.take_changes()) == {(1, 0), (2, 0)}
        assert world.trip.changed.size <= 60

    @pytest.mark.parametrize("vision", [None, 1])
    def test_an_agent_prepares_itself_for_the_map_as_it_is_believed_now(self, vision: int | None) -> None:
        world = World(Problem(YARD, (0, 0), (2, 2), vision=vision))
        assert (world.kernel_view.as_grid() is YARD) == (vision is None)
        world.set_cell((0, 1), False)
        believed = world.kernel_view.as_grid()
        assert (believed == YARD, believed.passable[1, 0]) == (False, False)

    def test_scheduled_changes_go_on_after_an_edit(self) -> None:
        world = World(Problem(CORRIDOR, (0, 0), (5, 0), changes=((1, (3, 0), False),)))  # type: ignore[arg-type]
        world.set_cell((4, 0), False)
        world.step(EAST)
        assert true_map(world) == {(0, 0), (1, 0), (2, 0), (5, 0)}


class TestGoals:
    def test_a_new_goal_keeps_what_is_known_and_the_totals(self) -> None:
        world = World(Problem(YARD, (0, 0), (2, 2), vision=1), Budget(free_reads=True))
        world.step(EAST)
        known = world.view.known.tolist()
        world.set_goal((0, 2))
        assert (world.view.goal, world.view.known.tolist(), world.view.moves) == ((0, 2), known, 1)
        assert world.view.heuristic((0, 0)) == 2.0

    def test_the_world_is_done_on_the_goal_as_it_is_now(self) -> None:
        world = World(Problem(CORRIDOR, (0, 0), (1, 0)))
        world.set_goal((2, 0))
        world.step(EAST)
        assert not world.done
        world.step(EAST)
        assert world.done

    def test_an_agent_cannot_set_its_goal(self) -> None:
        view = World(Problem(CORRIDOR, (0, 0), (5, 0))).view
        with pytest.raises(InputError, match=r"view\.goal cannot be set"):
            view.goal = (1, 0)  # type: ignore[misc]
        with pytest.raises(InputError, match=r"view\.interventions cannot be set"):
            view.interventions = 3  # type: ignore[misc]

    def test_interventions_are_counted_and_others_are_not(self) -> None:
        world = World(Problem(CORRIDOR, (0, 0), (5, 0)))
        counts = []
        for call, argument in [
            (world.set_goal, (5, 0)),
            (world.set_goal, (4, 0)),
            (world.place, (0, 0)),
            (world.place, (3, 0)),
            (world.step, WEST),
        ]:
            call(argument)  # type: ignore[operator]
            counts.append(world.view.interventions)
        assert counts == [0, 1, 1, 2, 2]


class TestPlaces:
    def test_the_agent_stands_elsewhere_and_no_move_is_counted(self) -> None:
        world = World(Problem(YARD, (0, 0), (2, 2)))
        world.step(EAST)
        world.place((2, 1))
        assert (world.view.position, world.view.moves) == ((2, 1), 1)

    def test_the_agent_senses_where_it_is_put(self) -> None:
        world = World(Problem(YARD, (0, 0), (2, 2), vision=1), Budget(free_reads=True))
        world.place((4, 2))
        assert not world.view.passable[2, 3]
        assert world.view.known[1, 4]

    def test_the_rest_of_a_plan_is_dropped(self) -> None:
        world = World(Problem(CORRIDOR, (0, 0), (5, 0)))
        world.trip.state["planned"] = 3
        world.place((1, 0))
        assert int(world.trip.state["planned"][0]) == 0


class TestRefusals:
    @pytest.mark.parametrize(
        ("value", "words"),
        [
            ((5, 0), "lies outside the map of 5 x 3"),
            ((-1, 0), "lies outside"),
            (None, "pair of whole numbers"),
            ("ab", "pair of whole numbers"),
            ((1, 2, 3), "pair of whole numbers"),
            ((0.5, 0), "pair of whole numbers"),
        ],
    )
    @pytest.mark.parametrize("method", ["set_cell", "set_goal", "place", "nearest"])
    def test_a_position_that_cannot_be_is_refused(self, method: str, value: Any, words: str) -> None:
        world = World(Problem(YARD, (0, 0), (2, 0)))
        call = {
            "set_cell": lambda: world.set_cell(value, True),
            "nearest": lambda: world.set_goal(value, nearest=True),
            "set_goal": lambda: world.set_goal(value),
            "place": lambda: world.place(value),
        }[method]
        with pytest.raises(InputError, match=words) as refusal:
            call()
        assert "\n" not in str(refusal.value)

    @pytest.mark.parametrize("method", ["set_goal", "place"])
    def test_what_is_blocked_now_is_refused_and_what_has_opened_is_taken(self, method: str) -> None:
        world = World(Problem(YARD, (0, 0), (2, 0), vision=1))
        world.set_cell((2, 2), False)
        world.set_cell((1, 1), True)
        with pytest.raises(InputError, match=r"\(2, 2\) is a blocked cell"):
            getattr(world, method)((2, 2))
        getattr(world, method)((1, 1))

    @pytest.mark.parametrize("free", [1, None, "free"])
    def test_what_is_neither_open_nor_closed_is_refused(self, free: Any) -> None:
        with pytest.raises(InputError, match="free must be True or False"):
            World(Problem(YARD, (0, 0), (2, 0))).set_cell((1, 0), free)

    @pytest.mark.parametrize("action", [8, -2, 1.5, None, "E"])
    def test_what_is_no_action_is_refused(self, action: Any) -> None:
        with pytest.raises(InputError, match="an action must be a direction from 0 to 7 or STAY"):
            World(Problem(YARD, (0, 0), (2, 0))).step(action)

    def test_a_refusal_changes_nothing(self) -> None:
        world = World(Problem(YARD, (0, 0), (2, 0)))
        for call in (lambda: world.set_cell((9, 9), True), lambda: world.set_goal((1, 1)), lambda: world.place((1, 1))):
            with pytest.raises(InputError):
                call()
        assert world.terrain is YARD.terrain
        assert (world.view.position, world.view.goal, world.view.interventions) == ((0, 0), (2, 0), 0)


class TestUsedAgain:
    def edited(self, vision: int | None) -> World:
        world = World(Problem(YARD, (0, 0), (2, 2), vision))
        world.set_cell((1, 0), False)
        world.set_cell((3, 1), True)
        world.place((2, 0))
        world.set_goal((4, 1))
        return world

    @pytest.mark.parametrize("vision", [None, 1])
    def test_another_trial_begins_with_the_map_the_goal_and_the_place_of_the_problem(self, vision: int | None) -> None:
        world = self.edited(vision)
        world.begin_trial()
        assert true_map(world) == cells_of(YARD.passable)
        assert (world.view.goal, world.view.position, world.view.moves) == ((2, 2), (0, 0), 0)
        if vision is None:
            assert cells_of(world.view.passable) == true_map(world)

    @pytest.mark.parametrize("after", [None, 1])
    @pytest.mark.parametrize("vision", [None, 1])
    def test_another_problem_finds_a_world_like_a_new_one(self, vision: int | None, after: int | None) -> None:
        problem = Problem(YARD, (0, 2), (2, 0), after)
        world, fresh = self.edited(vision), World(problem)
        world.restart(problem)
        assert true_map(world) == cells_of(YARD.passable)
        assert world.view.passable.tolist() == fresh.view.passable.tolist()
        assert world.view.known.tolist() == fresh.view.known.tolist()
        assert (world.view.goal, world.view.position) == (problem.goal, problem.start)
        assert world.truth.state.tolist() == fresh.truth.state.tolist()
        world.set_cell((1, 0), False)
        assert YARD.passable[0, 1]
        assert (1, 0) not in true_map(world)

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])
    @pytest.mark.parametrize("before", [True, False], ids=["edited before", "edited after"])
    def test_a_copy_goes_its_own_way(self, copied: Any, before: bool) -> None:
        world = self.edited(None) if before else World(Problem(YARD, (0, 0), (2, 2)))
        twin, first = copied(world), true_map(world)
        twin.set_cell((2, 1), False)
        assert true_map(world) == first
        assert cells_of(twin.view.passable) == true_map(twin) == first - {(2, 1)}
        assert isinstance(twin.truth, Truth)


class TestNearest:
    def plain(self, world: Grid, start: tuple[int, int], wished: tuple[int, int]) -> tuple[int, int]:
        cost = distances(world, start)
        order = {cell: k for k, cell in enumerate(plain_grid.cells(world))}
        return min(cost, key=lambda cell: (plain_grid.h0(world, cell, wished), cost[cell], order[cell]))

    @given(problems(max_side=8), st.integers(0, 999))
    @examples(150)
    def test_the_goal_is_that_of_a_plain_reading(self, drawn_problem: Any, number: int) -> None:
        grid, start, goal = drawn_problem
        wished = plain_grid.cells(grid)[number % (grid.width * grid.height)]
        world = World(Problem(grid, start, goal))
        world.set_goal(wished, nearest=True)
        problem = Problem(grid, start, wished, nearest=True)
        assert world.view.goal == problem.goal == self.plain(grid, start, wished)
        assert problem == Problem(grid, start, problem.goal)

    def test_the_map_counts_as_it_is_now(self) -> None:
        world = World(Problem(CORRIDOR, (0, 0), (5, 0)))
        world.set_cell((3, 0), False)
        world.set_goal((5, 0), nearest=True)
        assert world.view.goal == (2, 0)

    def test_in_fog_the_map_counts_as_it_is_believed(self) -> None:
        world = World(Problem(CORRIDOR, (0, 0), (5, 0), vision=1))
        world.set_cell((4, 0), False)
        world.set_goal((4, 0), nearest=True)
        assert world.view.goal == (4, 0)
        world.place((3, 0))
        world.set_goal((4, 0), nearest=True)
        assert world.view.goal == (3, 0)

    def test_what_is_neither_true_nor_false_is_refused(self) -> None:
        with pytest.raises(InputError, match="nearest must be True or False"):
            Problem(CORRIDOR, (0, 0), (5, 0), nearest=1)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="nearest must be True or False"):
            World(Problem(CORRIDOR, (0, 0), (5, 0))).set_goal((1, 0), nearest=None)  # type: ignore[arg-type]
