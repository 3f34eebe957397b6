"""The reference of LSS-LRTA* against exact distances, against the others, and against traces worked out on paper."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reference import plain_astar, plain_lrta, plain_lss_lrta
from reference.plain_grid import Map, initial_heuristic, trials
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
