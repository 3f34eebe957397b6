"""The reference of LRTA* against exact distances, against the others, and against traces worked out on paper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import plain_lrta
from reference.plain_grid import Map, trials
from reference.plain_oracle import Problem, problems
from reference.plain_traces import (
    AROUND_THE_WALL,
    POCKET,
    POCKET_GOAL,
    POCKET_START,
    VISIONS,
    WALL,
    WALL_GOAL,
    WALL_START,
    WAY_OUT,
    check_admissible,
    check_convergence,
    cost,
    moves_and_values,
    straight_values,
)
from reference.small_maps import drawn


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
