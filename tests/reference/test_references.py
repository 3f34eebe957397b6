"""The references checked against each other, against exact distances, and against traces worked out on paper.

In the traces 1 and r stand for a straight and a diagonal step, ``f = g + h``, and ``#k`` is the order of discovery.
No expected value here was read off a run: the comments are the derivations.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import plain_astar, plain_lrta, plain_lss_lrta
from reference.plain_grid import Map, Position, Run, World, cells, h0, initial_heuristic, path_cost, trials
from reference.plain_oracle import Problem, distances, grids, problems, random_grid, random_problem, scipy_distances
from reference.small_maps import drawn
from rt_gym.cost import DIAGONAL, STRAIGHT
from rt_gym.grid import Grid

VISIONS = st.sampled_from([None, 1, 2])


def cost(straight: int, diagonal: int = 0) -> int:
    return straight * STRAIGHT + diagonal * DIAGONAL


def straight_values(*raised: dict[Position, int]) -> list[dict[Position, int]]:
    return [{cell: cost(value) for cell, value in each.items()} for each in raised]


# A pocket that opens to the west, with the goal behind its eastern wall. The way out is 10 steps long. 4 neighbours;
# h0 is |x - 4| + y:  (2,0) 2  (1,0) 3  (0,0) 4  (0,1) 5  (0,2) 6  (1,2) 5  (2,2) 4  (3,2) 3  (4,2) 2  (4,1) 1
POCKET = drawn(
    "...#.",
    ".###.",
    ".....",
    connectivity=4,
)
POCKET_START, POCKET_GOAL = (2, 0), (4, 0)
WAY_OUT = [(2, 0), (1, 0), (0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (4, 1), (4, 0)]

# A wall to walk around. 8 neighbours, one free side is enough for a diagonal step;
# octile h0 to (2,0):  (0,0) 2  (0,1) 1+r  (0,2) 2r  (1,2) 1+r  (2,2) 2  (2,1) 1
WALL = drawn(
    ".#.",
    ".#.",
    "...",
    corner="one",
)
WALL_START, WALL_GOAL = (0, 0), (2, 0)
AROUND_THE_WALL = [(0, 0), (0, 1), (1, 2), (2, 1), (2, 0)]

# The corner s = (0,4) is left through X = (0,2). X is discovered from P = (1,2), a detour of 4 steps, before it is
# reached over Q = (0,3) in 2. 4 neighbours; h0 is |x - 2| + y.
DETOUR = drawn(
    "...",
    ".##",
    "..#",
    "..#",
    "..#",
    connectivity=4,
)
DETOUR_START, DETOUR_GOAL = (0, 4), (2, 0)

# A post between start and goal. 4 neighbours; h0 is |x - 3| + |y - 1|.
POST = drawn(
    "....",
    "..#.",
    "....",
    connectivity=4,
)
POST_START, POST_GOAL = (0, 1), (3, 1)


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


class TestAStar:
    def test_trace_around_a_post(self) -> None:
        # expand (0,1) g0 f3: E (1,1)#1 g1 f3, S (0,2)#2 g1 f5, N (0,0)#3 g1 f5
        # expand (1,1)      : E blocked, S (1,2)#4 g2 f5, N (1,0)#5 g2 f5
        # four states at f5; the two at g2 come first, and of them (1,2), the first discovered
        # expand (1,2)      : E (2,2)#6 g3 f5, W (0,2) known at g1
        # expand (2,2)      : E (3,2)#7 g4 f5;  expand (3,2): N goal #8 g5 f5, now the top
        plan = plain_astar.plan(Map.of(POST), POST_START, POST_GOAL)
        assert plan.expanded == [(0, 1), (1, 1), (1, 2), (2, 2), (3, 2)]
        assert plan.steps == [(1, 1), (1, 2), (2, 2), (3, 2), (3, 1)]

    def test_trace_with_a_cheaper_path_found_later(self) -> None:
        # expand s (0,4) g0 f6: E A(1,4)#1 g1 f6, N Q(0,3)#2 g1 f6; A is the first discovered
        # expand A: N B(1,3)#3 g2 f6.  expand B: W Q known at g1, N P(1,2)#4 g3 f6
        # expand P: W X(0,2)#5 g4 f8.  expand Q f6: N X now g2 f6, parent Q
        # expand X: N (0,1) g3 f6.  expand (0,1): N (0,0) g4.  expand (0,0): E (1,0) g5.  expand (1,0): E goal g6
        plan = plain_astar.plan(Map.of(DETOUR), DETOUR_START, DETOUR_GOAL)
        assert plan.expanded == [(0, 4), (1, 4), (1, 3), (1, 2), (0, 3), (0, 2), (0, 1), (0, 0), (1, 0)]
        assert plan.steps == [(0, 3), (0, 2), (0, 1), (0, 0), (1, 0), (2, 0)]

    def test_trace_in_which_an_improved_state_keeps_its_place_in_the_order_of_discovery(self) -> None:
        # Strict corners, octile h0 to (2,3); 1 < r < 2 < 1+r < 2r < 3.
        #  1 (2,0) f3    : E (3,0)#1 g1 f3+r, S (2,1)#2 g1 f3, W (1,0)#3 g1 f3+r, SW (1,1)#4 gr f1+2r
        #  2 (2,1) f3    : nothing new, every diagonal to the south or east has a blocked side
        #  3 (1,1) f1+2r : S (1,2)#5 g1+r f1+2r, W (0,1)#6 g1+r f1+3r, SW (0,2)#7 g2r f1+3r, NW (0,0)#8 g2r f1+4r
        #  4 (1,2) f1+2r : nothing cheaper
        #  5 (3,0) f3+r  : first of the equals #1 and #3; E (4,0)#9 g2 f3+2r
        #  6 (1,0) f3+r  : W (0,0) now g2 f3+2r; SW (0,1) g1+r is no cheaper
        #  7 (0,2) f1+3r : larger g than (0,1); S (0,3)#10 g1+2r f3+2r
        #  8 (0,1) f1+3r : nothing cheaper
        #  9 (0,3) f3+2r : the largest of three g; a dead end
        # 10 (0,0) f3+2r : it equals (4,0) in f and g, and was discovered before it, though at a higher cost
        # 11 (4,0) f3+2r : S (4,1)#11 g3 f3+2r.  12 (4,1): S (4,2) g4.  13 (4,2): S (4,3) g5.  14 (4,3): W (3,3) g6.
        # 15 (3,3) f7    : W goal g7
        grid = drawn(
            ".....",
            "...#.",
            "..##.",
            ".#...",
        )
        plan = plain_astar.plan(Map.of(grid), (2, 0), (2, 3))
        west = [(2, 1), (1, 1), (1, 2), (3, 0), (1, 0), (0, 2), (0, 1), (0, 3), (0, 0)]
        assert plan.expanded == [(2, 0), *west, (4, 0), (4, 1), (4, 2), (4, 3), (3, 3)]
        assert plan.steps == [(3, 0), (4, 0), (4, 1), (4, 2), (4, 3), (3, 3), (2, 3)]

    def test_trace_in_which_the_first_of_two_equal_parents_stays(self) -> None:
        # h0 is |x - 3| + y. expand (1,1) h3: S (1,2)#1 g1 f5, W (0,1)#2 g1 f5.  expand (1,2): W (0,2)#3 g2 f7.
        # expand (0,1): S (0,2) at g2 as well, so its parent stays (1,2). From (0,2) there is one way.
        grid = drawn(
            "###.",
            "..#.",
            "..#.",
            ".##.",
            "....",
            connectivity=4,
        )
        plan = plain_astar.plan(Map.of(grid), (1, 1), (3, 0))
        corridor = [(0, 2), (0, 3), (0, 4), (1, 4), (2, 4), (3, 4), (3, 3), (3, 2), (3, 1)]
        assert plan.expanded == [(1, 1), (1, 2), (0, 1), *corridor]
        assert plan.steps == [(1, 2), *corridor, (3, 0)]

    @pytest.mark.parametrize("weight", [3, 4])
    def test_weighted_trace_that_keeps_the_detour(self, weight: int) -> None:
        # As above up to P, since A, B, P have f = g + w h falling along the way. Then OPEN holds Q with 1 + 5w and X
        # with 4 + 4w: 21 against 20 for w = 4; 16 against 16 for w = 3, where X has the larger g. So X is closed at
        # g4 with parent P, from there h falls with every step, and Q is never expanded.
        plan = plain_astar.plan(Map.of(DETOUR), DETOUR_START, DETOUR_GOAL, weight)
        assert plan.expanded == [(0, 4), (1, 4), (1, 3), (1, 2), (0, 2), (0, 1), (0, 0), (1, 0)]
        assert plan.steps == [(1, 4), (1, 3), (1, 2), (0, 2), (0, 1), (0, 0), (1, 0), (2, 0)]

    def test_the_larger_g_wins_among_equal_f(self) -> None:
        # To (2,1): E (1,0) has 1 + r, SE (1,1) has r + 1, S (0,1) has 1 + 2. SE has the larger g although E was
        # discovered first; after SE the goal has f = r + 1 and the largest g.
        plan = plain_astar.plan(Map.of(drawn("...", "...")), (0, 0), (2, 1))
        assert plan.expanded == [(0, 0), (1, 1)]
        assert plan.steps == [(1, 1), (2, 1)]

    def test_the_first_discovered_wins_among_equal_f_and_g(self) -> None:
        # Unit costs: E and SE both have 1 + 1.
        plan = plain_astar.plan(Map.of(drawn("...", "...", cost="unit")), (0, 0), (2, 1))
        assert plan.steps == [(1, 0), (2, 1)]

    def test_trace_in_fog(self) -> None:
        # The post is unseen from (0,1): the plan is straight ahead, 3 expansions, one move to (1,1). There it is seen.
        # From (1,1): S (1,2)#1, W (0,1)#2, N (1,0)#3, all g1 f4; then (1,2), (2,2) g2, (3,2) g3, goal g4: 4 expansions.
        run = plain_astar.run(POST, POST_START, POST_GOAL, vision=1)
        assert run.path == [(0, 1), (1, 1), (1, 2), (2, 2), (3, 2), (3, 1)]
        assert run.expansions == run.scans == [3, 4, 0, 0, 0]

    def test_trace_with_a_door_that_falls_shut(self) -> None:
        # First plan along row 0: 3 expansions. After one move (2,0) closes; from (1,0): S (1,1)#1 g1 f4,
        # W (0,0)#2 g1 f4; then (1,1), (2,1) g2, (3,1) g3, goal g4: 4 expansions.
        run = plain_astar.run(drawn("....", "....", connectivity=4), (0, 0), (3, 0), changes=[(1, (2, 0), False)])
        assert run.path == [(0, 0), (1, 0), (1, 1), (2, 1), (3, 1), (3, 0)]
        assert run.expansions == [3, 4, 0, 0, 0]

    def test_a_blocked_step_far_ahead_breaks_the_path_at_once(self) -> None:
        # The first plan goes along row 0, 4 expansions; (3,0) closes when the agent stands on (1,0), two steps before
        # it. From (1,0), where h is 3: E (2,0)#1 g1 f3, S (1,1)#2 g1 f5, W (0,0)#3 g1 f5.
        # expand (2,0): E blocked, S (2,1)#4 g2 f5. The largest g at f5 is (2,1): E (3,1)#5 g3 f5; E (4,1)#6 g4 f5;
        # N goal g5. Expanded: (1,0), (2,0), (2,1), (3,1), (4,1).
        run = plain_astar.run(drawn(".....", ".....", connectivity=4), (0, 0), (4, 0), changes=[(1, (3, 0), False)])
        assert run.path == [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1), (4, 0)]
        assert run.expansions == [4, 5, 0, 0, 0, 0]

    def test_without_a_way_the_whole_component_is_expanded_and_the_run_is_stuck(self) -> None:
        run = plain_astar.run(drawn("..#.", "..#.", connectivity=4), (0, 0), (3, 0))
        assert (run.outcome, run.path, run.expansions) == ("stuck", [(0, 0)], [4])

    @given(problems())
    def test_cost_is_the_exact_distance(self, problem: Problem) -> None:
        grid, start, goal = problem
        run = plain_astar.run(grid, start, goal)
        assert (run.outcome, run.cost) == ("goal", distances(grid, goal)[start])
        assert run.cost / STRAIGHT == pytest.approx(scipy_distances(grid, goal)[start[1], start[0]], rel=1e-9)

    @given(problems())
    def test_no_state_is_expanded_twice_or_beyond_the_solution_cost(self, problem: Problem) -> None:
        grid, start, goal = problem
        expanded = plain_astar.plan(Map.of(grid), start, goal).expanded
        assert len(expanded) == len(set(expanded))
        near_start, solution = distances(grid, start), distances(grid, goal)[start]
        assert all(near_start[s] + h0(grid, s, goal) <= solution for s in expanded)

    @given(problems(), st.sampled_from([(1, 1), (3, 2), (2, 1), (5, 1)]))
    def test_weighted_cost_is_within_the_weight(self, problem: Problem, weight: tuple[int, int]) -> None:
        grid, start, goal = problem
        run = plain_astar.run(grid, start, goal, weight[0] / weight[1])
        assert run.cost * weight[1] <= distances(grid, goal)[start] * weight[0]

    @given(problems(max_side=12), st.sampled_from([1, 2]))
    def test_reaches_the_goal_in_fog(self, problem: Problem, vision: int) -> None:
        grid, start, goal = problem
        run = plain_astar.run(grid, start, goal, vision=vision)
        assert run.outcome == "goal"
        assert Map.of(grid).can_walk(run.path)


class TestLRTA:
    def test_korf_trace_in_the_pocket(self) -> None:
        # at (2,0) h2: W 1+3              -> h 4, to (1,0)
        # at (1,0) h3: E 1+4, W 1+4       -> h 5, to (2,0), the first of equals
        # at (2,0) h4: W 1+5              -> h 6, to (1,0)
        # at (1,0) h5: E 1+6, W 1+4       -> h 5, to (0,0)
        # at (0,0) h4: E 1+5, S 1+5       -> h 6, to (1,0)
        # at (1,0) h5: E 1+6, W 1+6       -> h 7, to (2,0)
        # at (2,0) h6: W 1+7              -> h 8, to (1,0)
        # at (1,0) h7: E 1+8, W 1+6       -> h 7, to (0,0)
        # at (0,0) h6: E 1+7, S 1+5       -> h 6, to (0,1)
        # at (0,1) h5: S 1+6, N 1+6       -> h 7, to (0,2)
        # from (0,2) on h0 is exact: (1,2) (2,2) (3,2) (4,2) (4,1) (4,0)
        run = plain_lrta.run_korf(POCKET, POCKET_START, POCKET_GOAL)
        swings = [(2, 0), (1, 0), (2, 0), (1, 0), (0, 0), (1, 0), (2, 0), (1, 0), (0, 0)]
        assert run.path == swings + WAY_OUT[3:]
        rises = [{(2, 0): 4}, {(1, 0): 5}, {(2, 0): 6}, {}, {(0, 0): 6}, {(1, 0): 7}, {(2, 0): 8}, {}, {}, {(0, 1): 7}]
        assert run.raised == straight_values(*rises, {}, {}, {}, {}, {}, {})
        assert run.expansions == run.scans == [1] * 16
        assert run.learning_ops == [0] * 16

    def test_korf_trials_until_nothing_rises(self) -> None:
        # h0: (0,0) 2 (0,1) 3 (0,2) 4 and exact from there on; every trial walks straight out, 6 moves.
        # trial 1: (0,0) rises to 1+3, then at (0,1): S 1+4, N 1+4 -> h 5, to the south
        # trial 2: (0,0) rises to 1+5, then at (0,1): S 1+4, N 1+6 -> h stays 5.  trial 3 changes nothing.
        grid = WALL.replace(connectivity=4)
        runs = trials(plain_lrta.run_korf, grid, WALL_START, WALL_GOAL)
        assert [run.path for run in runs] == [[(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0)]] * 3
        assert runs[0].raised == straight_values({(0, 0): 4}, {(0, 1): 5}, {}, {}, {}, {})
        assert runs[1].raised == straight_values({(0, 0): 6}, {}, {}, {}, {}, {})
        assert runs[2].raised == [{}] * 6

    def test_the_larger_step_cost_wins_among_equals(self) -> None:
        # To (2,1) on open ground: E 1 + r, SE r + 1.
        assert plain_lrta.run_korf(drawn("...", "..."), (0, 0), (2, 1)).path == [(0, 0), (1, 1), (2, 1)]

    def test_depth_two_trace_in_the_pocket(self) -> None:
        # at (2,0): ball (1,0) | (0,0).          F(0,0) = 2+4                   -> H 6, to (1,0)
        # at (1,0): (2,0) (0,0) | (0,1).         F(0,1) = 2+5                   -> H 7, to (0,0)
        # at (0,0): (1,0) (0,1) | (2,0) (0,2).   F(2,0) = 2+6, its parent 1+7; F(0,2) = 2+6
        #                                        equal, (2,0) first discovered  -> H 8, to (1,0)
        # at (1,0): (2,0) (0,0) | (0,1).         F(0,1) = max(2+5, 1+8) by path-max -> H 9, to (0,0)
        # at (0,0): (1,0) (0,1) | (2,0) (0,2).   F(2,0) = max(2+6, 1+9), F(0,2) = 8 -> H 8, to (0,1)
        # at (0,1): (0,2) (0,0) | (1,2) (1,0).   F(1,2) = 2+5, F(1,0) = 2+9     -> H 7, to (0,2)
        # at (0,2): (1,2) (0,1) | (2,2) (0,0).   F(2,2) = 2+4                   -> H 6, to (1,2)
        # then (2,2) (3,2) (4,2) with values that are exact; at each of them both neighbours are expanded too
        # at (4,2): (3,2) (4,1) | (2,2) goal     -> to (4,1), 3 expansions
        # at (4,1): (4,2) goal | (3,2)           -> the goal is a leaf of layer 1: expanded are (4,1) and (4,2)
        run = plain_lrta.run(POCKET, POCKET_START, POCKET_GOAL, depth=2)
        assert run.path == [(2, 0), (1, 0), (0, 0), (1, 0), *WAY_OUT[2:]]
        rises = [{(2, 0): 6}, {(1, 0): 7}, {(0, 0): 8}, {(1, 0): 9}, {}, {(0, 1): 7}]
        assert run.raised == straight_values(*rises, {}, {}, {}, {}, {}, {})
        assert run.expansions == run.scans == [2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2]

    def test_depth_two_trace_around_the_wall(self) -> None:
        # at (0,0): (0,1) | (0,2) (1,2).  F(0,2) = 2 + 2r, F(1,2) = (1+r) + (1+r); equal, (1,2) has the larger g
        #           -> H 2+2r, to (0,1); expanded (0,0) (0,1)
        # at (0,1): (0,2) (0,0) (1,2) | (2,2) (2,1).  F(2,2) = (r+1) + 2, F(2,1) = 2r + 1
        #           -> H 1+2r, to (1,2); expanded (0,1) (0,2) (0,0) (1,2)
        # at (1,2): (2,2) (0,2) (2,1) (0,1) | goal (0,0).  F(goal) = r + 1 = H; to (2,1); 5 expansions
        # at (2,1): (2,2) goal (1,2) | (0,2) (0,1).  F(goal) = 1 = H; to the goal; expanded (2,1) (2,2) (1,2)
        run = plain_lrta.run(WALL, WALL_START, WALL_GOAL, depth=2)
        assert run.path == AROUND_THE_WALL
        assert run.raised == [{(0, 0): cost(2, 2)}, {(0, 1): cost(1, 2)}, {}, {}]
        assert run.expansions == [2, 4, 5, 3]

    def test_depth_two_trace_in_which_the_first_discovered_of_two_equal_parents_counts(self) -> None:
        # Open ground, octile h0 to (4,1). At (0,0) the frontier has (2,0) with F = 2 + (1+r) and (2,1) with
        # F = (1+r) + 2, the larger g. Before (2,1) lie (1,0) by 1 + r and (1,1) by r + 1; (1,0) was discovered first.
        # The same one column on at (1,0): F(3,0) = 2 + r, F(3,1) = (1+r) + 1, over (2,0).
        # At (2,0): F(goal) = 1+r, over (3,0), against F(4,0) = 2 + 1.  At (3,0) the goal is a neighbour, F = r.
        # Expanded: the cell and its neighbours, 1+3, 1+5, 1+5, and 1+4 where the goal is one of five.
        run = plain_lrta.run(drawn(".....", "....."), (0, 0), (4, 1), depth=2)
        assert run.path == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1)]
        assert run.raised == [{}] * 4
        assert run.expansions == [4, 6, 6, 5]

    @pytest.mark.parametrize("depth", [1, 2, 3, 4])
    def test_expansions_on_open_ground_follow_the_formula(self, depth: int) -> None:
        rows = ["." * 9] * 9
        far = (8, 8)
        for connectivity, expected in ((8, (2 * depth - 1) ** 2), (4, 2 * depth**2 - 2 * depth + 1)):
            ball = plain_lrta.look_ahead(Map.of(drawn(*rows, connectivity=connectivity)), (4, 4), far, depth)
            assert len(ball.successors) == expected

    @given(problems(max_side=10), st.integers(1, 6))
    def test_g_is_the_cheapest_cost_over_expanded_states(self, problem: Problem, depth: int) -> None:
        grid, start, goal = problem
        ball = plain_lrta.look_ahead(Map.of(grid), start, goal, depth)
        bellman_ford = {start: 0}
        for _ in ball.discovered:
            for w, near in ball.successors.items():
                for u, step in near:
                    if w in bellman_ford:
                        bellman_ford[u] = min(bellman_ford.get(u, 1 << 62), bellman_ford[w] + step)
        assert plain_lrta.cheapest(ball) == bellman_ford

    def test_an_empty_frontier_is_stuck(self) -> None:
        alone = drawn(".#.", connectivity=4)
        pair = drawn("..#.", connectivity=4)
        for run in (plain_lrta.run(alone, (0, 0), (2, 0), depth=1), plain_lrta.run_korf(alone, (0, 0), (2, 0))):
            assert (run.outcome, run.path, run.expansions) == ("stuck", [(0, 0)], [1])
        run = plain_lrta.run(pair, (0, 0), (3, 0), depth=2)
        assert (run.outcome, run.path, run.expansions) == ("stuck", [(0, 0)], [2])

    def test_the_move_limit_ends_a_run_that_cannot_know_the_goal_is_cut_off(self) -> None:
        run = plain_lrta.run(drawn("..#.", connectivity=4), (0, 0), (3, 0), depth=1, max_moves=7)
        assert (run.outcome, len(run.path), len(run.expansions)) == ("limit", 8, 7)

    @given(problems(max_side=10), VISIONS)
    def test_depth_one_is_korf(self, problem: Problem, vision: int | None) -> None:
        korf = trials(plain_lrta.run_korf, *problem, vision=vision, max_trials=5)
        deep = trials(plain_lrta.run, *problem, depth=1, vision=vision, max_trials=5)
        assert [moves_and_values(run) for run in deep] == [moves_and_values(run) for run in korf]
        assert [run.expansions for run in deep] == [run.expansions for run in korf]

    @given(problems(max_side=10))
    def test_lookahead_one_needs_to_see_no_farther_than_one(self, problem: Problem) -> None:
        fog = plain_lrta.run_korf(*problem, vision=1)
        assert moves_and_values(fog) == moves_and_values(plain_lrta.run_korf(*problem))

    @given(problems(max_side=8), st.integers(1, 4), VISIONS)
    def test_converges_to_an_optimal_path(self, problem: Problem, depth: int, vision: int | None) -> None:
        check_convergence(problem, trials(plain_lrta.run, *problem, depth=depth, vision=vision))

    @given(problems(max_side=12), st.integers(1, 4), VISIONS)
    def test_h_never_falls_and_stays_admissible(self, problem: Problem, depth: int, vision: int | None) -> None:
        check_admissible(problem, plain_lrta.run(*problem, depth=depth, vision=vision))


class TestLSSLRTA:
    def test_commit_all_trace_in_the_pocket(self) -> None:
        # (2,0): closed (2,0) (1,0) (0,0), OPEN (0,1). Pops (0,1)5 (0,0)6 (1,0)7 (2,0)8. Walks 3 steps.
        # (0,1): S (0,2)#1 g1 f7, N (0,0)#2 g1 f7; closed (0,1) (0,2) (1,2); OPEN (0,0) f7 g1, (2,2) f7 g3, the best.
        #        Pops (2,2)4 (1,2)5, then at 6 (0,2)#1 before (0,0)#2, then (0,1)7. Only h(0,1) rises.
        # (2,2): closed (2,2) (3,2) (4,2); OPEN (1,2) (4,1). Pops (4,1)1 (4,2)2 (3,2)3 (2,2)4.
        # (4,1): closed (4,1); the goal is the top. Pops goal (4,1).
        run = plain_lss_lrta.run(POCKET, POCKET_START, POCKET_GOAL, lookahead=3)
        assert run.path == WAY_OUT
        rises = [{(2, 0): 8, (1, 0): 7, (0, 0): 6}, {}, {}, {(0, 1): 7}]
        assert run.raised == straight_values(*rises, {}, {}, {}, {}, {}, {})
        assert run.expansions == [3, 0, 0, 3, 0, 0, 3, 0, 0, 1]
        assert run.learning_ops == [4, 0, 0, 5, 0, 0, 4, 0, 0, 2]
        assert run.scans == [7, 0, 0, 8, 0, 0, 7, 0, 0, 3]

    def test_commit_one_trace_in_the_pocket(self) -> None:
        # (2,0): as with commit all: h (2,0) 8, (1,0) 7, (0,0) 6
        # (1,0): E (2,0)#1 f9, W (0,0)#2 f7; closed (1,0) (0,0) (0,1); OPEN (2,0) f9 g1, (0,2) f9 g3, the best.
        #        Pops (0,2)6 (0,1)7, at 8 (2,0)#1 before (0,0)#2, (1,0)9. h (0,1) 7, (0,0) 8, (1,0) 9
        # (0,0): closed (0,0) (0,1) (0,2); pops (1,2)5 (0,2)6 (0,1)7 (0,0)8; (1,0)9 stays in the queue
        # (0,1), (0,2), (1,2), (2,2): three states ahead are closed, 4 pops, the state behind stays in the queue
        # (3,2): closed (3,2) (4,2) (4,1), goal on top; pops goal (4,1) (4,2) (3,2)
        # (4,2): closed (4,2) (4,1), goal on top; pops goal (4,1) (4,2).  (4,1): closed (4,1); pops goal (4,1)
        run = plain_lss_lrta.run(POCKET, POCKET_START, POCKET_GOAL, lookahead=3, commit="one")
        assert run.path == WAY_OUT
        rises = [{(2, 0): 8, (1, 0): 7, (0, 0): 6}, {(1, 0): 9, (0, 0): 8, (0, 1): 7}]
        assert run.raised == straight_values(*rises, {}, {}, {}, {}, {}, {}, {}, {})
        assert run.expansions == [3, 3, 3, 3, 3, 3, 3, 3, 2, 1]
        assert run.learning_ops == [4, 5, 4, 4, 4, 4, 4, 4, 3, 2]

    def test_trace_around_the_wall(self) -> None:
        # (0,0): closed (0,0) (0,1). OPEN (0,2)#2 g2 h2r, (1,2)#3 g1+r h1+r: equal f, (1,2) has the larger g.
        #        Pops (1,2)1+r, giving (0,1) 1+2r; (0,2)2r, which offers the same; (0,1); (0,0)2+2r.
        # (1,2): E (2,2)#1 f3, W (0,2)#2, NE (2,1)#3 f1+r, NW (0,1)#4; closed (1,2) (2,1); goal on top.
        #        Pops goal, (2,1)1, (2,2)2, which offers (1,2) 3 against 1+r, (1,2).
        run = plain_lss_lrta.run(WALL, WALL_START, WALL_GOAL, lookahead=2)
        assert run.path == AROUND_THE_WALL
        assert run.raised == [{(0, 0): cost(2, 2), (0, 1): cost(1, 2)}, {}, {}, {}]
        assert run.expansions == [2, 0, 2, 0]
        assert run.learning_ops == [4, 0, 4, 0]

    def test_order_of_learning_pops_around_the_wall(self) -> None:
        # The second plan above with h0 throughout: (0,1) now has 1+r like (1,2), which is the root and thus comes
        # first; with it all of CLOSED is final.
        h = initial_heuristic(WALL, WALL_GOAL)
        plan = plain_lss_lrta.plan(Map.of(WALL), (1, 2), WALL_GOAL, 2, "all", h)
        assert plan.popped == [(2, 0), (2, 1), (2, 2), (1, 2)]

    def test_an_empty_open_list_is_stuck_and_teaches_nothing(self) -> None:
        grid = drawn("..#.", connectivity=4)
        run = plain_lss_lrta.run(grid, (0, 0), (3, 0), lookahead=2)
        assert (run.outcome, run.path, run.expansions, run.learning_ops) == ("stuck", [(0, 0)], [2], [0])
        assert run.h == initial_heuristic(grid, (3, 0))

    def test_a_value_that_an_opened_door_has_made_too_high_is_kept(self) -> None:
        grid = drawn("....", connectivity=4)
        high = initial_heuristic(grid, (3, 0)) | {(0, 0): cost(10)}
        for plan in (
            plain_lss_lrta.plan(Map.of(grid), (0, 0), (3, 0), 2, "all", high),
            plain_lrta.plan(Map.of(grid), (0, 0), (3, 0), 2, high),
            plain_lrta.korf_plan(Map.of(grid), (0, 0), high),
        ):
            assert (plan.raised, high[0, 0]) == ({}, cost(10))

    @given(problems(max_side=10), st.sampled_from(["all", "one"]), VISIONS)
    def test_lookahead_one_is_korf(self, problem: Problem, commit: str, vision: int | None) -> None:
        korf = trials(plain_lrta.run_korf, *problem, vision=vision, max_trials=5)
        lss = trials(plain_lss_lrta.run, *problem, lookahead=1, commit=commit, vision=vision, max_trials=5)
        assert [moves_and_values(run) for run in lss] == [moves_and_values(run) for run in korf]

    @given(problems(max_side=16))
    def test_unbounded_lookahead_walks_the_path_of_a_star(self, problem: Problem) -> None:
        run, astar = plain_lss_lrta.run(*problem, lookahead=1000), plain_astar.run(*problem)
        assert (run.path, run.expansions) == (astar.path, astar.expansions)

    @given(problems(max_side=8), st.integers(1, 12), st.sampled_from(["all", "one"]), VISIONS)
    def test_converges_to_an_optimal_path(
        self, problem: Problem, lookahead: int, commit: str, vision: int | None
    ) -> None:
        options: dict[str, Any] = {"lookahead": lookahead, "commit": commit, "vision": vision}
        check_convergence(problem, trials(plain_lss_lrta.run, *problem, **options))

    @given(problems(max_side=12), st.integers(1, 30), st.sampled_from(["all", "one"]), VISIONS)
    def test_h_never_falls_and_stays_admissible_and_consistent(
        self, problem: Problem, lookahead: int, commit: str, vision: int | None
    ) -> None:
        run = plain_lss_lrta.run(*problem, lookahead=lookahead, commit=commit, vision=vision)
        check_admissible(problem, run)
        view = Map.of(problem[0])
        for h in run.snapshots():
            assert all(h[s] <= step + h[near] for s in view.free for near, step in view.neighbours(s))


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


def moves_and_values(run: Run) -> tuple[str, list[Position], list[dict[Position, int]]]:
    return run.outcome, run.path, run.raised


def check_convergence(problem: Problem, runs: list[Run]) -> None:
    grid, start, goal = problem
    assert all(run.outcome == "goal" for run in runs)
    assert not any(runs[-1].raised)
    assert runs[-1].cost == path_cost(grid, runs[-1].path) == runs[-1].h[start] == distances(grid, goal)[start]


def check_admissible(problem: Problem, run: Run) -> None:
    grid, _, goal = problem
    exact = distances(grid, goal)
    last = run.h_before
    for h in run.snapshots():
        assert all(h[cell] <= exact[cell] for cell in exact)
        assert all(h[cell] >= last[cell] for cell in h)
        last = h
    assert last == run.h
    assert run.h[goal] == 0
