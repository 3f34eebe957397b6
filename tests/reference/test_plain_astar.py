"""The reference of A* against exact distances, against the others, and against traces worked out on paper."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import plain_astar
from reference.plain_grid import Map, h0
from reference.plain_oracle import Problem, distances, problems, scipy_distances
from reference.plain_traces import (
    DETOUR,
    DETOUR_GOAL,
    DETOUR_START,
    POST,
    POST_GOAL,
    POST_START,
)
from reference.small_maps import drawn
from rt_gym.cost import STRAIGHT


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
