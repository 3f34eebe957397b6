"""Random problems: their range, their order, their seeds."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from reference.plain_oracle import distances, random_grid
from rt_gym import Grid, InputError, Problem, distance_field, sample_problems, sizes
from rt_gym.cost import SQRT2, to_float
from rt_gym.maps.generate import random_obstacles

OPEN = Grid(np.ones((8, 8)))


@given(seed=st.integers(0, 2**32 - 1), low=st.floats(0, 6), width=st.floats(0.5, 8))
@examples(40)
def test_optimal_costs_lie_within_the_range_and_are_true(seed: int, low: float, width: float) -> None:
    grid = random_grid(np.random.default_rng(seed), 10)
    try:
        sample = sample_problems(grid, 5, low, low + width, seed)
    except InputError:
        farthest = [
            to_float(cost) for y, x in np.argwhere(grid.passable) for cost in distances(grid, (int(x), int(y))).values()
        ]
        assert not any(low <= cost <= low + width for cost in farthest)
        return
    for problem in sample:
        exact = distances(grid, problem.goal)[problem.start]
        assert problem.optimal_cost == exact == Problem(grid, problem.start, problem.goal).optimal_cost
        assert low <= problem.optimal <= low + width


@pytest.mark.parametrize("cost", [0.0, 1.0, 7.0, SQRT2, 3 * SQRT2, 7 * SQRT2, 2 + 3 * SQRT2, 1 + 6 * SQRT2])
def test_both_ends_of_the_range_belong_to_it(cost: float) -> None:
    assert [problem.optimal for problem in sample_problems(OPEN, 3, low=cost, high=cost)] == [cost] * 3


@pytest.mark.parametrize("cost", [SQRT2, 3 * SQRT2, 2 + 3 * SQRT2])
def test_a_range_that_ends_just_before_a_cost_leaves_it_out(cost: float) -> None:
    below, above = math.nextafter(cost, 0), math.nextafter(cost, math.inf)
    assert all(problem.optimal <= below for problem in sample_problems(OPEN, 60, 0, below))
    assert all(problem.optimal >= above for problem in sample_problems(OPEN, 60, above))


def test_a_longer_list_begins_with_the_shorter_one() -> None:
    grid = random_grid(np.random.default_rng(3), 15, density=0.2)
    assert sample_problems(grid, 30, 2, 9, seed=5)[:12] == sample_problems(grid, 12, 2, 9, seed=5)


def test_a_seed_gives_the_same_problems_and_another_seed_others() -> None:
    assert sample_problems(OPEN, 10, seed=1) == sample_problems(OPEN, 10, seed=1)
    assert sample_problems(OPEN, 10, seed=1) != sample_problems(OPEN, 10, seed=2)


def test_starts_and_goals_spread_over_the_map() -> None:
    sample = sample_problems(OPEN, 400)
    assert len({problem.start for problem in sample}) > 55
    assert len({problem.goal for problem in sample}) > 55


def test_start_and_goal_are_two_cells_unless_the_range_begins_at_zero() -> None:
    assert all(problem.start != problem.goal for problem in sample_problems(OPEN, 100))
    assert any(problem.start == problem.goal for problem in sample_problems(OPEN, 400, low=0, high=1))


@given(seed=st.integers(0, 2**32 - 1), high=st.floats(1, 20))
@examples(40)
def test_looking_no_further_than_the_range_gives_the_same_problems(seed: int, high: float) -> None:
    grid = Grid(np.random.default_rng(seed).random((40, 40)) < 0.8)
    whole = sample_everywhere(grid, 4, high, seed)
    assert [(one.start, one.goal) for one in sample_problems(grid, 4, 1.0, high, seed)] == whole


def sample_everywhere(grid: Grid, count: int, high: float, seed: int) -> list[Any]:
    """Draw starts and goals from lists of all cells, with distances on the whole map."""
    rng, cells, found = np.random.default_rng(seed), np.flatnonzero(grid.terrain.free), []
    while len(found) < count:
        start = grid.position(rng.choice(cells))
        cost = np.pad(distance_field(grid, start), 1, constant_values=math.inf).ravel()
        goals = np.flatnonzero((cost >= 1.0) & (cost <= high))
        if goals.size:
            found.append((start, grid.position(rng.choice(goals))))
    return found


def test_a_problem_of_a_large_map_is_drawn_without_distances_on_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = random_obstacles(4096, 4096, 0.2, seed=0)
    _ = grid.terrain
    monkeypatch.setattr(sizes, "available_memory", lambda: 9 * grid.terrain.mask.size // 2)
    (problem,) = sample_problems(grid, 1, 300, 310, seed=1)
    assert 300 <= problem.optimal <= 310
    assert problem.optimal_cost == Problem(grid, problem.start, problem.goal).optimal_cost
    assert not grid.is_labelled
    with pytest.raises(InputError, match=r"distances to every cell of a map of 16793604 cells take about 0.2 GB"):
        sample_problems(grid, 1)


def test_the_vision_is_handed_on() -> None:
    assert {problem.vision for problem in sample_problems(OPEN, 5, vision=3)} == {3}


def test_distinct_problems_share_no_start_and_no_goal() -> None:
    found = sample_problems(OPEN, 40, seed=3, distinct=True)
    assert len({problem.start for problem in found}) == len({problem.goal for problem in found}) == 40
    assert found[:10] == sample_problems(OPEN, 10, seed=3, distinct=True)
    assert {(problem.start, problem.goal) for problem in found} <= {
        (problem.start, problem.goal) for problem in sample_problems(OPEN, 400, seed=3)
    }


def test_a_map_too_small_for_so_many_distinct_problems_is_refused() -> None:
    with pytest.raises(InputError, match="no more than 4 problems were found that share no start and no goal"):
        sample_problems(Grid([[1, 1], [1, 1]]), 5, distinct=True)
    with pytest.raises(InputError, match="distinct must be True or False"):
        sample_problems(OPEN, 1, distinct=2)  # type: ignore[arg-type]


def test_no_problem_is_an_empty_list() -> None:
    assert sample_problems(OPEN, 0) == []


@pytest.mark.parametrize(("low", "high"), [(50, math.inf), (7.3, 7.4), (1e9, 1e10), (math.inf, math.inf)])
def test_a_range_that_the_map_does_not_have_is_refused(low: float, high: float) -> None:
    with pytest.raises(InputError, match="no two cells of the map"):
        sample_problems(OPEN, 1, low, high)


def test_a_map_without_free_cells_is_refused() -> None:
    with pytest.raises(InputError, match="no free cell"):
        sample_problems(Grid([[0, 0]]), 1)


@pytest.mark.parametrize("count", [-1, 1.5, "3", None, True])
def test_a_count_that_is_none_is_refused(count: Any) -> None:
    with pytest.raises(InputError, match="count"):
        sample_problems(OPEN, count)


@pytest.mark.parametrize(
    ("low", "high"), [(-1, 5), (5, 4), (math.nan, 5), (1, math.nan), ("x", 5), (1, None), (1, 10**400)]
)
def test_a_range_that_is_none_is_refused(low: Any, high: Any) -> None:
    with pytest.raises(InputError, match="range"):
        sample_problems(OPEN, 1, low, high)


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_a_seed_that_is_none_is_refused(seed: Any) -> None:
    with pytest.raises(InputError, match="seed"):
        sample_problems(OPEN, 1, seed=seed)
