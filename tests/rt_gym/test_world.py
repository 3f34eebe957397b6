"""The world: what an agent sees, when the map changes, what a move costs, and that a View shows nothing more."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from reference import plain_grid
from reference.plain_oracle import distances, problems
from reference.small_maps import drawn
from rt_gym import STAY, Budget, BudgetExceeded, Change, Grid, InputError, Problem, World
from rt_gym.cost import SQRT2
from rt_gym.terrain import STEPS
from rt_gym.truth import Truth

pytestmark = pytest.mark.plain

EAST, SOUTH, WEST, NORTH = range(4)


def believed(world: World) -> set[tuple[int, int]]:
    return {(int(x), int(y)) for y, x in np.argwhere(world.view.passable)}


def known(world: World) -> set[tuple[int, int]]:
    return {(int(x), int(y)) for y, x in np.argwhere(world.view.known)}


def within(grid: Grid, position: tuple[int, int], radius: int) -> set[tuple[int, int]]:
    """Return the cells in sight: Chebyshev distance with eight neighbours, Manhattan with four."""
    gaps = {cell: (abs(cell[0] - position[0]), abs(cell[1] - position[1])) for cell in plain_grid.cells(grid)}
    measure = max if grid.connectivity == 8 else sum
    return {cell for cell, gap in gaps.items() if measure(gap) <= radius}


@st.composite
def journeys(draw: st.DrawFn) -> tuple[Problem, list[int]]:
    """Draw a problem, in fog or not, with or without changes, and a walk with bumps and stays."""
    grid, start, goal = draw(problems(max_side=7))
    change = st.builds(Change, st.integers(0, 8), st.sampled_from(plain_grid.cells(grid)), st.booleans())
    changes = draw(st.lists(change, max_size=6))
    vision = draw(st.sampled_from([None, 1, 2, 3, 50]))
    actions = draw(st.lists(st.integers(STAY, grid.actions - 1), max_size=12))
    return Problem(grid, start, goal, vision, changes), actions


class TestAgainstThePlainWorld:
    @given(journeys())
    @examples(120)
    def test_position_belief_and_sight_after_every_move(self, journey: tuple[Problem, list[int]]) -> None:
        problem, actions = journey
        grid = problem.grid
        world = World(problem)
        plain = plain_grid.World(grid, problem.start, problem.vision, problem.changes or ())
        seen = set(plain_grid.cells(grid)) if problem.vision is None else within(grid, problem.start, problem.vision)
        assert (believed(world), known(world)) == (plain.believed.free, seen)
        for action in actions:
            target = plain.position
            if action != STAY:
                step = plain.position[0] + STEPS[action][0], plain.position[1] + STEPS[action][1]
                target = step if plain.truth.can_step(plain.position, step) else target
            world.step(action)
            plain.move(target)
            if problem.vision is not None:
                seen |= within(grid, target, problem.vision)
            assert world.view.position == target
            assert (believed(world), known(world)) == (plain.believed.free, seen)

    @given(journeys())
    @examples(80)
    def test_the_believed_masks_are_those_of_the_believed_map(self, journey: tuple[Problem, list[int]]) -> None:
        problem, actions = journey
        world = World(problem)
        for action in [STAY, *actions]:
            world.step(action)
            fresh = problem.grid.replace(passable=np.array(world.view.passable))
            assert world.terrain.mask.tolist() == fresh.terrain.mask.tolist()

    @given(journeys())
    @examples(80)
    def test_the_moves_out_of_the_own_cell_are_known_exactly(self, journey: tuple[Problem, list[int]]) -> None:
        problem, actions = journey
        world = World(problem)
        plain = plain_grid.World(problem.grid, problem.start, None, problem.changes or ())
        for action in actions:
            world.step(action)
            plain.move(world.view.position)  # refuses a step that the true map does not allow
            true_moves = [near for near, _ in plain.truth.neighbours(plain.position)]
            assert [near for _, near, _ in world.view.neighbours(world.view.position)] == true_moves

    @given(journeys())
    @examples(80)
    def test_every_change_of_the_belief_is_told(self, journey: tuple[Problem, list[int]]) -> None:
        problem, actions = journey
        world = World(problem)
        scheduled = {change.position for change in problem.changes or ()}
        before = set(plain_grid.cells(problem.grid)) if problem.vision else plain_grid.Map.of(problem.grid).free
        for action in [None, *actions]:
            if action is not None:
                world.step(action)
            now, told = believed(world), world.view.take_changes()
            assert before ^ now <= set(told)
            assert set(told) - (before ^ now) <= scheduled  # closed and opened again at the same moment
            assert world.view.take_changes() == []
            before = now

    @given(journeys())
    @examples(60)
    def test_a_new_trial_begins_with_the_true_map_as_it_was(self, journey: tuple[Problem, list[int]]) -> None:
        problem, actions = journey
        world = World(problem)
        start = believed(world)
        first = [(world.step(action), believed(world), world.view.position) for action in actions]
        remembered = known(world)
        world.begin_trial()
        assert (world.view.position, world.view.moves) == (problem.start, 0)
        assert known(world) == remembered
        second = [(world.step(action), believed(world), world.view.position) for action in actions]
        assert [position for _, _, position in second] == [position for _, _, position in first]
        if problem.vision is None:
            world.begin_trial()
            assert believed(world) == start
            assert second == first

    def test_fog_that_has_lifted_stays_lifted_over_trials(self) -> None:
        world = World(Problem(drawn(".#..", "...."), (0, 0), (3, 0), vision=1))
        for action in (SOUTH, EAST, EAST):
            world.step(action)
        seen, free = known(world), believed(world)
        world.begin_trial()
        assert (known(world), believed(world)) == (seen, free)


class TestChanges:
    def test_a_change_is_due_after_so_many_moves(self) -> None:
        world = World(Problem(drawn("....."), (0, 0), (1, 0), changes=[(0, (4, 0), False), (2, (3, 0), False)]))
        assert believed(world) == {(0, 0), (1, 0), (2, 0), (3, 0)}
        world.step(STAY)
        assert (3, 0) in believed(world)
        world.step(STAY)
        assert (3, 0) not in believed(world)

    def test_in_fog_a_change_is_seen_only_within_the_radius(self) -> None:
        world = World(
            Problem(drawn("....."), (0, 0), (1, 0), vision=1, changes=[(1, (1, 0), False), (1, (3, 0), False)])
        )
        world.step(STAY)
        assert believed(world) == {(0, 0), (2, 0), (3, 0), (4, 0)}
        assert world.view.take_changes() == [(1, 0)]

    def test_a_cell_closes_under_the_agent_when_it_is_left(self) -> None:
        world = World(Problem(drawn("..."), (0, 0), (2, 0), changes=[(1, (1, 0), False)]))
        world.step(EAST)
        assert (1, 0) in believed(world)
        world.step(STAY)
        assert (1, 0) in believed(world)
        world.step(EAST)
        assert believed(world) == {(0, 0), (2, 0)}
        assert world.view.take_changes() == [(1, 0)]

    def test_a_cell_that_opens_again_in_time_does_not_close(self) -> None:
        world = World(Problem(drawn("..."), (0, 0), (2, 0), changes=[(0, (0, 0), False), (1, (0, 0), True)]))
        world.step(STAY)
        world.step(EAST)
        assert (0, 0) in believed(world)

    def test_a_bump_takes_time_and_the_price_of_a_straight_step(self) -> None:
        world = World(Problem(drawn("..", ".."), (0, 0), (1, 1), changes=[(2, (1, 0), False)]))
        world.step(NORTH)
        world.step(STAY)
        assert world.view.position == (0, 0)
        assert (1, 0) not in believed(world)
        tally = world.trip.tally[0]
        assert [tally.moves, tally.bumps, tally.stays, tally.moves - tally.diagonals, tally.diagonals] == [
            2,
            1,
            1,
            2,
            0,
        ]

    def test_steps_are_counted_by_kind(self) -> None:
        world = World(Problem(drawn("...", "..."), (0, 0), (2, 1)))
        world.step(DIAGONAL_SE)
        world.step(EAST)
        tally = world.trip.tally[0]
        assert [tally.moves, tally.bumps, tally.stays, tally.moves - tally.diagonals, tally.diagonals] == [
            2,
            0,
            0,
            1,
            1,
        ]
        assert world.done

    def test_the_path_is_recorded_as_far_as_there_is_room(self) -> None:
        world = World(Problem(drawn("....."), (0, 0), (4, 0)), max_moves=2)
        for _ in range(4):
            world.step(EAST)
        cells = [world.problem.grid.position(int(cell)) for cell in world.trip.path]
        assert cells == [(0, 0), (1, 0), (2, 0)]
        assert world.view.moves == 4

    def test_a_sight_beyond_the_map_sees_all_of_it(self) -> None:
        for vision, connectivity in product((7, 1000, 2**62), (4, 8)):
            grid = drawn("....", ".#..", "...#", connectivity=connectivity)
            world = World(Problem(grid, (0, 0), (0, 2), vision=vision))
            assert world.view.known.all()
            assert world.view.passable.tolist() == grid.passable.tolist()


DIAGONAL_SE = 4


class TestOverrun:
    def overspent(self, mode: str) -> World:
        world = World(Problem(drawn("..."), (0, 0), (2, 0)), Budget(3, "scans", mode))
        world.view.meter.scan(4)
        return world

    def test_truncate_refuses_the_step(self) -> None:
        world = self.overspent("truncate")
        assert world.step(EAST) is False
        assert (world.view.position, world.view.moves, int(world.trip.tally[0].overruns)) == ((0, 0), 0, 1)

    def test_raise_refuses_it_loudly(self) -> None:
        world = self.overspent("raise")
        with pytest.raises(BudgetExceeded, match="move 1 needs more than its budget of 3 scans"):
            world.step(EAST)

    def test_idle_lets_time_pass_without_the_step(self) -> None:
        world = self.overspent("idle")
        world.step(EAST)
        assert (world.view.position, world.view.moves, world.view.meter.scans) == ((0, 0), 1, 0)
        assert world.step(EAST)
        assert world.view.position == (1, 0)

    def test_a_step_within_the_budget_is_made(self) -> None:
        world = World(Problem(drawn("..."), (0, 0), (2, 0)), Budget(3, "scans"))
        world.view.meter.scan(3)
        assert world.step(EAST) is True
        assert world.view.meter.left == 3


def reachable(value: Any, done: set[int]) -> Iterator[Any]:
    """Yield everything that can be had from an object: attributes, fields, items, and the arrays behind views."""
    if id(value) in done:
        return
    done.add(id(value))
    yield value
    if isinstance(value, np.ndarray):
        parts = [value.base]
    elif isinstance(value, (tuple, list, set)):
        parts = list(value)
    elif isinstance(value, dict):
        parts = list(value.values())
    else:
        properties = [name for name in dir(type(value)) if isinstance(getattr(type(value), name), property)]
        slots = getattr(type(value), "__slots__", ())
        parts = [*getattr(value, "__dict__", {}).values(), *(getattr(value, name) for name in (*slots, *properties))]
    for part in parts:
        yield from reachable(part, done)


class TestView:
    @pytest.mark.parametrize("vision", [None, 1])
    def test_nothing_that_can_be_had_from_a_view_is_the_truth_or_the_future(self, vision: int | None) -> None:
        grid = drawn("....#", "..#..", ".....")
        changes = [(3, (4, 2), False), (4, (4, 0), True)]
        world = World(Problem(grid, (0, 0), (4, 2), vision, changes))
        everything = list(reachable(world.view, set()))
        assert not [part for part in everything if isinstance(part, (Grid, Problem, World, Truth, Change))]
        secrets = [*world.truth, grid.passable, grid.terrain.free, grid.terrain.mask, grid.terrain.known]
        arrays = [part for part in everything if isinstance(part, np.ndarray)]
        assert any(np.shares_memory(array, world.terrain.free) for array in arrays)
        assert not [1 for array, secret in product(arrays, secrets) if np.shares_memory(array, secret)]

    def test_in_fog_without_changes_it_does_not_hold_the_true_map_either(self) -> None:
        grid = drawn("....#", "..#..", ".....")
        world = World(Problem(grid, (0, 0), (4, 2), vision=1))
        arrays = [part for part in reachable(world.view, set()) if isinstance(part, np.ndarray)]
        for secret in (grid.passable, grid.terrain.free, grid.terrain.mask, grid.terrain.known):
            assert not any(np.shares_memory(array, secret) for array in arrays)

    def test_the_map_can_be_read_and_not_written(self) -> None:
        view = Problem(drawn("..#", "..."), (0, 0), (2, 1), vision=1).view()
        for array in (view.passable, view.known):
            assert array.dtype == bool
            assert array.shape == (2, 3)
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = False

    def test_passable_follows_the_belief(self) -> None:
        world = World(Problem(drawn("...#"), (0, 0), (2, 0), vision=1))
        assert world.view.passable.tolist() == [[True, True, True, True]]
        world.step(EAST)
        world.step(EAST)
        assert world.view.passable.tolist() == [[True, True, True, False]]

    def test_two_worlds_on_one_grid_do_not_meet(self) -> None:
        grid = drawn("...", "...")
        changing = World(Problem(grid, (0, 0), (2, 0), changes=[(0, (1, 0), False)]))
        other = World(Problem(grid, (0, 0), (2, 0)))
        assert (1, 0) not in believed(changing)
        assert (1, 0) in believed(other)
        assert grid.terrain.mask.tolist() == grid.replace().terrain.mask.tolist()

    def test_the_heuristic_is_the_distance_on_open_ground(self) -> None:
        view = Problem(drawn("....", ".##.", "...."), (0, 0), (3, 2)).view()
        assert view.heuristic((0, 0)) == 1 + 2 * SQRT2
        assert view.heuristic((0, 0), (3, 0)) == 3.0

    def test_expand_pays_and_neighbours_are_scanned(self) -> None:
        view = Problem(drawn("...", "..."), (0, 0), (2, 1)).view(budget=2)
        assert view.neighbours((0, 0)) == [(EAST, (1, 0), 1.0), (SOUTH, (0, 1), 1.0), (DIAGONAL_SE, (1, 1), SQRT2)]
        assert (view.meter.expansions, view.meter.scans) == (0, 1)
        assert view.expand((0, 0)) == view.expand((0, 0)) != []
        assert view.expand((0, 0)) is None
        assert (view.meter.expansions, view.meter.scans) == (2, 3)


class TestRestart:
    ROWS = ("...#.", ".....")

    @pytest.mark.parametrize("first", [None, 1])
    @pytest.mark.parametrize("second", [None, 1])
    def test_a_world_used_again_is_as_good_as_new(self, first: int | None, second: int | None) -> None:
        grid = drawn(*self.ROWS)
        for schedules in product(([], [(1, (4, 1), False)]), repeat=2):
            problems = [
                Problem(grid, (0, 0), (4, 0), first, schedules[0]),
                Problem(grid, (1, 1), (4, 0), second, schedules[1]),
            ]
            used = World(problems[0])
            used.step(EAST)
            used.restart(problems[1])
            fresh = World(problems[1])
            for action in (EAST, EAST, EAST):
                assert (believed(used), known(used)) == (believed(fresh), known(fresh))
                assert used.view.position == fresh.view.position
                used.step(action)
                fresh.step(action)

    @pytest.mark.parametrize("vision", [None, 1])
    @pytest.mark.parametrize("changes", [[], [(0, (4, 1), False)]])
    def test_an_equal_grid_that_is_another_object_is_left_alone(self, vision: int | None, changes: list[Any]) -> None:
        grid, twin = drawn(*self.ROWS), drawn(*self.ROWS)
        free, masks, seen = (array.copy() for array in (grid.terrain.free, grid.terrain.mask, grid.terrain.known))
        world = World(Problem(grid, (0, 0), (4, 0)))
        world.restart(Problem(twin, (0, 0), (4, 0), vision, changes))
        for untouched in (grid, twin):
            assert untouched.terrain.free.tolist() == free.tolist()
            assert untouched.terrain.mask.tolist() == masks.tolist()
            assert untouched.terrain.known.tolist() == seen.tolist()

    def test_a_longer_schedule_than_the_first_is_told_to_the_end(self) -> None:
        grid = drawn("...")
        toggles = [(k, (2, 0), k % 2 == 0) for k in range(1, 61)]
        world = World(Problem(grid, (0, 0), (1, 0)))
        world.restart(Problem(grid, (0, 0), (1, 0), changes=toggles))
        for _ in range(60):
            world.step(STAY)
            assert world.view.take_changes() == [(2, 0)]


@given(problems(max_side=6))
def test_a_goal_in_reach_is_reached_by_following_the_distances(plain: tuple[Grid, Any, Any]) -> None:
    # The steps of a View, taken by hand, agree with the plain oracle all the way.
    grid, start, goal = plain
    world = World(Problem(grid, start, goal))
    left = distances(grid, goal)
    while not world.done:
        action, near, _ = min(world.view.neighbours(world.view.position), key=lambda move: (left[move[1]], move[0]))
        world.step(action)
        assert world.view.position == near
    assert world.view.position == goal


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"problem": 3}, "problem must be a Problem, not 3"),
        ({"max_moves": -1}, "max_moves must be a whole number from 0"),
        ({"max_moves": 10**18}, "max_moves must be a whole number from 0"),
        ({"log": 2.5}, "log must be a whole number from 0"),
        ({"clock": np.zeros(2)}, "clock must be True or False"),
    ],
)
def test_a_world_is_made_of_what_it_can_hold(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        World(**({"problem": Problem(drawn(".."), (0, 0), (1, 0))} | arguments))
