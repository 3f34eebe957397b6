"""Distance fields and A* against SciPy and the plain references."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from reference import plain_astar, plain_grid
from reference.corridor import place_after, winding_corridor
from reference.flat_arrays import Position, logging_trip, positions, walked
from reference.plain_oracle import Problem as PlainProblem
from reference.plain_oracle import distances, grids, problems, random_problem, scipy_distances
from reference.small_maps import drawn
from rt_gym import Grid, InputError, Problem, distance_field
from rt_gym.cost import INF, MOST_STEPS, encode
from rt_gym.maps.generate import random_obstacles
from rt_gym.meter import UNLIMITED
from rt_gym.search import astar
from rt_gym.search.astar import EXHAUSTED, FOUND, INTERRUPTED, begin_astar, connected, resume_astar, shortest_cost
from rt_gym.search.buckets import Buckets, first_slot, make_buckets
from rt_gym.search.distance import exact_distances
from rt_gym.search.tree import trace


class TestDistances:
    @given(grids(), st.data())
    @examples(80)
    def test_the_field_is_that_of_scipy_and_of_the_exact_oracle(self, grid: Grid, data: st.DataObject) -> None:
        goal = data.draw(st.sampled_from(sorted(plain_grid.Map.of(grid).free)))
        np.testing.assert_allclose(distance_field(grid, goal), scipy_distances(grid, goal), rtol=1e-9)
        oracle, found = distances(grid, goal), exact_distances(grid, goal)
        for cell in plain_grid.cells(grid):
            assert found[grid.cell(cell)] == oracle.get(cell, INF)

    @pytest.mark.plain
    def test_a_field_by_hand(self) -> None:
        field = distance_field(drawn("..#", ".#.", "..."), (0, 0))
        assert field.tolist() == [[0, 1, np.inf], [1, np.inf, 5], [2, 3, 4]]

    @pytest.mark.parametrize("goal", [(1, 0), (3, 0), (0, -1)])
    def test_a_goal_that_is_no_free_cell_is_refused(self, goal: Position) -> None:
        with pytest.raises(InputError, match="no free cell"):
            distance_field(drawn(".#."), goal)


class AStarSearch:
    """One A* search, step by step."""

    def __init__(self, grid: Grid, start: Position, goal: Position, weight: Fraction = Fraction(1)) -> None:
        self.grid, self.start, self.goal = grid, grid.cell(start), grid.cell(goal)
        self.buckets: Buckets = make_buckets(grid.terrain, weight)
        self.trip = logging_trip(grid)
        begin_astar(grid.terrain, self.buckets, self.start, self.goal)

    def resume(self, limit: int = UNLIMITED) -> int:
        return int(resume_astar(self.grid.terrain, self.trip, self.buckets, self.goal, limit))

    @property
    def expanded(self) -> list[Position]:
        return positions(self.grid, self.trip.log[: self.trip.meter[0].logged])

    @property
    def path(self) -> list[Position]:
        plan = np.empty(self.grid.terrain.mask.size, np.uint8)
        length = trace(self.buckets.space, first_slot(self.buckets), plan)
        return walked(self.grid.position(self.start), plan[:length])


WEIGHTS = st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(1000)])


class TestAStar:
    @given(problems())
    @examples(80)
    def test_cost_and_order_are_those_of_the_reference(self, problem: PlainProblem) -> None:
        grid, start, goal = problem
        search = AStarSearch(grid, start, goal)
        assert search.resume() == FOUND
        plain = plain_astar.plan(plain_grid.Map.of(grid), start, goal)
        assert search.expanded == plain.expanded
        assert search.path == plain.steps
        assert search.trip.meter[0].expansions == search.trip.meter[0].scans == len(plain.expanded)

    @given(problems(max_side=16), WEIGHTS)
    @examples(80)
    def test_weighted_order_is_that_of_the_reference(self, problem: PlainProblem, weight: Fraction) -> None:
        grid, start, goal = problem
        search = AStarSearch(grid, start, goal, weight)
        assert search.resume() == FOUND
        plain = plain_astar.plan(plain_grid.Map.of(grid), start, goal, float(weight))
        assert search.expanded == plain.expanded
        assert search.path == plain.steps
        cost = plain_grid.path_cost(grid, [start, *search.path])
        assert cost <= weight * distances(grid, goal)[start]

    @given(problems())
    @examples(80)
    def test_no_state_is_expanded_twice_or_beyond_the_solution_cost(self, problem: PlainProblem) -> None:
        grid, start, goal = problem
        search = AStarSearch(grid, start, goal)
        search.resume()
        solution, near_start = distances(grid, goal)[start], distances(grid, start)
        assert len(set(search.expanded)) == len(search.expanded)
        assert goal not in search.expanded
        assert all(near_start[cell] + plain_grid.h0(grid, cell, goal) <= solution for cell in search.expanded)
        assert plain_grid.path_cost(grid, [start, *search.path]) == solution == shortest_cost(grid, start, goal)

    @given(problems(max_side=14), WEIGHTS, st.lists(st.integers(0, 9), min_size=1, max_size=12))
    @examples(60)
    def test_interruptions_change_nothing(self, problem: PlainProblem, weight: Fraction, portions: list[int]) -> None:
        grid, start, goal = problem
        whole, pieces, metered = (AStarSearch(grid, start, goal, weight) for _ in range(3))
        whole.resume()
        for portion in portions:
            done = len(pieces.expanded)
            if pieces.resume(portion) == FOUND:
                break
            assert len(pieces.expanded) == done + portion
        for portion in portions:
            metered.trip.meter[0].limit = metered.trip.meter[0].expansions + portion
            if metered.resume() == FOUND:
                break
            assert metered.trip.meter[0].expansions == metered.trip.meter[0].limit
        metered.trip.meter[0].limit = UNLIMITED
        for search in (pieces, metered):
            assert search.resume() == search.resume() == FOUND
            assert (search.expanded, search.path) == (whole.expanded, whole.path)

    def test_an_interrupted_search_says_so(self) -> None:
        search = AStarSearch(drawn("....."), (0, 0), (4, 0))
        assert [search.resume(limit) for limit in (0, 1, 2, 0, 1, 0)] == [INTERRUPTED] * 4 + [FOUND] * 2
        assert search.expanded == [(0, 0), (1, 0), (2, 0), (3, 0)]

    def test_without_a_way_everything_in_reach_is_expanded(self) -> None:
        search = AStarSearch(drawn("..#.", "..#."), (0, 0), (3, 0))
        assert search.resume() == search.resume() == EXHAUSTED
        assert sorted(search.expanded) == [(0, 0), (0, 1), (1, 0), (1, 1)]
        assert shortest_cost(search.grid, (0, 0), (3, 0)) == INF

    @pytest.mark.plain
    def test_a_search_can_be_begun_again_in_the_same_memory(self) -> None:
        rng = np.random.default_rng(6)
        grid, start, goal = random_problem(rng, 14, density=0.3)
        used = AStarSearch(grid, start, goal)
        used.resume(5)
        begin_astar(grid.terrain, used.buckets, used.goal, used.start)
        used.trip.meter[0].logged = 0
        assert resume_astar(grid.terrain, used.trip, used.buckets, used.start, UNLIMITED) == FOUND
        fresh = AStarSearch(grid, goal, start)
        fresh.resume()
        assert used.expanded == fresh.expanded


class TestConnection:
    @pytest.mark.parametrize("few", [0, 50, 1 << 20])
    def test_on_a_large_map_a_short_search_says_what_the_components_say(
        self, few: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(astar, "_FEW", few)
        grid = random_obstacles(800, 800, 0.45, seed=4)
        twin, rng = grid.replace(), np.random.default_rng(5)
        starts = rng.permutation(np.argwhere(grid.passable))[:60]
        found = []
        for y, x in starts.tolist():
            near = np.argwhere(grid.passable[max(0, y - 9) : y + 10, max(0, x - 9) : x + 10])
            j, i = rng.choice(near).tolist()
            a, b = (x, y), (max(0, x - 9) + i, max(0, y - 9) + j)
            found.append(connected(grid, a, b))
            assert found[-1] == (twin.labels[grid.cell(a)] == twin.labels[grid.cell(b)])
        assert {True, False} == set(found)
        assert grid.is_labelled == (few < 1 << 20)


class TestPathsThatAreTooLong:
    @pytest.fixture(scope="class")
    @classmethod
    def corridor(cls) -> Grid:
        return winding_corridor()

    def test_the_last_cell_that_is_not_too_far_has_its_exact_cost(self, corridor: Grid) -> None:
        last, beyond = (place_after(corridor, steps) for steps in (MOST_STEPS - 1, MOST_STEPS))
        assert shortest_cost(corridor, (0, 0), last) == encode(MOST_STEPS - 1)
        with pytest.raises(InputError, match=r"a shortest path from .* to .* takes 4194304 steps or more, for which"):
            shortest_cost(corridor, (0, 0), beyond)

    def test_such_a_problem_can_be_solved_but_has_no_optimal_cost(self, corridor: Grid) -> None:
        problem = Problem(corridor, (0, 0), place_after(corridor, MOST_STEPS + 9))
        assert problem.connected
        with pytest.raises(InputError, match="4194304 steps or more"):
            _ = problem.optimal

    def test_distances_are_refused_where_some_cells_are_too_far_away(self, corridor: Grid) -> None:
        with pytest.raises(InputError, match="some cells are 4194304 steps or more"):
            distance_field(corridor, (0, 0))
        field = distance_field(corridor, place_after(corridor, MOST_STEPS // 2))
        assert field[0, 0] == MOST_STEPS // 2
        assert np.isfinite(field[corridor.passable]).all()

    def test_the_largest_weight_does_not_depend_on_paths_that_are_too_long(self, corridor: Grid) -> None:
        make_buckets(corridor.terrain, Fraction(700))
        with pytest.raises(InputError, match="weight must be at most 7"):
            make_buckets(corridor.terrain, Fraction(800))
