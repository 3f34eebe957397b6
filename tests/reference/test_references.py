"""What the references share: moves, the world, the oracle of exact distances, and what holds for all trials."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import plain_astar, plain_lrta, plain_lss_lrta
from reference.plain_grid import Map, Position, Run, World, cells, h0, trials
from reference.plain_oracle import Problem, distances, grids, problems, random_grid, random_problem, scipy_distances
from reference.plain_traces import (
    POCKET,
    POCKET_GOAL,
    POCKET_START,
    POST,
    POST_GOAL,
    POST_START,
    VISIONS,
    WALL,
    WALL_GOAL,
    WALL_START,
    cost,
)
from reference.small_maps import drawn
from rt_gym.cost import DIAGONAL, STRAIGHT
from rt_gym.grid import Grid


class TestMoves:
    def test_neighbours_come_in_the_order_e_s_w_n_se_ne_sw_nw(self) -> None:
        view = Map.of(drawn("...", "...", "..."))
        assert [near for near, _ in view.neighbours((1, 1))] == [
            (2, 1),
            (1, 2),
            (0, 1),
            (1, 0),
            (2, 2),
            (2, 0),
            (0, 2),
            (0, 0),
        ]
        assert [price for _, price in view.neighbours((1, 1))] == [STRAIGHT] * 4 + [DIAGONAL] * 4

    @pytest.mark.parametrize(
        ("rows", "legal"),
        [
            (("..", ".."), {"strict": True, "one": True, "free": True}),
            ((".#", ".."), {"strict": False, "one": True, "free": True}),
            ((".#", "#."), {"strict": False, "one": False, "free": True}),
        ],
    )
    def test_the_corner_rule_counts_the_free_cells_beside_a_diagonal_step(
        self, rows: tuple[str, str], legal: dict[str, bool]
    ) -> None:
        for corner, expected in legal.items():
            view = Map.of(drawn(*rows, corner=corner))
            assert view.can_step((0, 0), (1, 1)) is view.can_step((1, 1), (0, 0)) is expected

    def test_h0_is_manhattan_octile_or_chebyshev(self) -> None:
        a, b = (1, 5), (4, 0)  # 3 columns and 5 rows apart
        assert h0(drawn(".", connectivity=4), a, b) == cost(8)
        assert h0(drawn("."), a, b) == cost(2, 3)
        assert h0(drawn(".", cost="unit"), a, b) == cost(5)

    def test_a_weight_scales_the_step_costs_before_they_are_added_up(self) -> None:
        assert h0(drawn("."), (0, 0), (5, 2), weight=1.5) == 3 * (STRAIGHT * 3 // 2) + 2 * (DIAGONAL * 3 // 2)


class TestWorld:
    def test_unseen_cells_count_as_free_until_they_are_in_sight(self) -> None:
        world = World(drawn("..#", "..#", "##.", connectivity=4), (0, 0), vision=1)
        assert world.believed.free == set(cells(world.grid))
        world.move((1, 0))  # Manhattan radius 1: (2,0) is seen, (2,1) and (0,2) are not
        assert set(cells(world.grid)) - world.believed.free == {(2, 0)}

    def test_sight_reaches_diagonally_with_8_neighbours(self) -> None:
        world = World(drawn("..#", ".##", "..#"), (0, 0), vision=1)
        assert set(cells(world.grid)) - world.believed.free == {(1, 1)}

    def test_a_change_comes_after_the_move_and_before_the_look(self) -> None:
        world = World(drawn("...."), (0, 0), vision=1, changes=[(1, (2, 0), False), (1, (3, 0), False)])
        assert (2, 0) in world.truth.free
        world.move((1, 0))
        assert world.truth.free == {(0, 0), (1, 0)}
        assert world.believed.free == {(0, 0), (1, 0), (3, 0)}

    def test_a_cell_closes_under_the_agent_only_when_it_is_left(self) -> None:
        world = World(drawn("..."), (0, 0), changes=[(1, (1, 0), False)])
        world.move((1, 0))
        assert (1, 0) in world.believed.free
        world.move((2, 0))
        assert (1, 0) not in world.believed.free

    def test_a_later_opening_cancels_a_closing_that_waits(self) -> None:
        world = World(drawn("..", ".."), (0, 0), changes=[(0, (0, 0), False), (1, (0, 0), True)])
        world.move((1, 0))
        assert (0, 0) in world.truth.free


class TestOracle:
    @given(st.data())
    def test_integer_and_scipy_distances_agree(self, data: st.DataObject) -> None:
        grid = data.draw(grids())
        goal = data.draw(st.sampled_from(sorted(Map.of(grid).free)))
        exact = distances(grid, goal)
        by_scipy = scipy_distances(grid, goal)
        expected = [exact[cell] / STRAIGHT if cell in exact else np.inf for cell in cells(grid)]
        np.testing.assert_allclose(by_scipy.ravel(), expected, rtol=1e-9)

    def test_distances_around_a_wall_by_hand(self) -> None:
        assert distances(WALL, WALL_GOAL)[WALL_START] == cost(2, 2)
        assert distances(WALL.replace(corner="strict"), WALL_GOAL)[WALL_START] == cost(6)
        assert distances(WALL.replace(cost="unit"), WALL_GOAL)[WALL_START] == cost(4)
        assert distances(WALL.replace(connectivity=4), WALL_GOAL)[WALL_START] == cost(6)

    def test_random_problems_are_solvable_and_keep_the_rules_asked_for(self) -> None:
        rng = np.random.default_rng(3)
        for _ in range(50):
            grid, start, goal = random_problem(rng, max_side=12, cost="unit")
            assert goal in distances(grid, start)
            assert grid.cost == "unit"
            assert 2 <= min(grid.passable.shape) <= max(grid.passable.shape) <= 12
        assert random_grid(rng, density=0).passable.all()


class TestTrials:
    RUNS: tuple[tuple[Callable[..., Run], dict[str, Any]], ...] = (
        (plain_astar.run, {}),
        (plain_lrta.run_korf, {}),
        (plain_lrta.run, {"depth": 3}),
        (plain_lss_lrta.run, {"lookahead": 5}),
        (plain_lss_lrta.run, {"lookahead": 5, "commit": "one"}),
    )

    def test_a_start_on_the_goal_takes_no_move_and_no_plan(self) -> None:
        for run, options in self.RUNS:
            record = run(POCKET, POCKET_GOAL, POCKET_GOAL, **options)
            assert (record.outcome, record.path, record.expansions) == ("goal", [POCKET_GOAL], [])

    def test_counted_scans_are_the_neighbourhoods_really_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reads: list[Position] = []
        read = Map.neighbours

        def counting(view: Map, cell: Position) -> list[tuple[Position, int]]:
            reads.append(cell)
            return read(view, cell)

        monkeypatch.setattr(Map, "neighbours", counting)
        for run, options in self.RUNS:
            reads.clear()
            assert sum(run(POCKET, POCKET_START, POCKET_GOAL, vision=1, **options).scans) == len(reads)

    def test_the_next_trial_remembers_what_was_seen_and_learned(self) -> None:
        # In fog the post is a surprise to the first trial only, and the second starts from the h of the first.
        runs = trials(plain_lss_lrta.run, POST, POST_START, POST_GOAL, lookahead=3, vision=1, max_trials=2)
        assert (2, 1) not in runs[1].believed.free
        assert runs[1].h_before == runs[0].h

    @given(problems(max_side=8), st.integers(0, 30), st.data())
    def test_every_walk_is_legal_under_changes(self, problem: Problem, time: int, data: st.DataObject) -> None:
        grid, start, goal = problem
        cell = data.draw(st.sampled_from([cell for cell in cells(grid) if cell != goal]))
        change = (time, cell, not grid.passable[cell[1], cell[0]])
        vision = data.draw(VISIONS)
        for run, options in self.RUNS:
            record = run(grid, start, goal, vision=vision, changes=[change], max_moves=200, **options)
            assert len(record.expansions) == len(record.path) - (record.outcome != "stuck")
            before, after = Map.of(grid), Map.of(changed(grid, change))
            assert before.can_walk(record.path[: time + 1])
            assert all(after.can_step(a, b) or a == cell for a, b in pairwise(record.path[time:]))


def changed(grid: Grid, change: tuple[int, Position, bool]) -> Grid:
    passable = grid.passable.copy()
    _, (x, y), passable[y, x] = change
    return grid.replace(passable=passable)
