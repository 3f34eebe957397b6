"""LRTA*: trials worked out on paper (``reference/traces.py`` has the notation), its bounds, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from reference.checks import assert_refused
from reference.small_maps import ALONG_THE_HORSESHOE, HOOK, HORSESHOE, ROUND_THE_HOOK
from reference.traces import exactly, trial
from rt_gym import Grid, Problem

OPEN = Problem(Grid(np.ones((9, 9))), (4, 4), (0, 8))


@pytest.mark.plain
class TestTraces:
    def test_depth_one_around_the_hook_twice(self, act_out: Callable[..., Any]) -> None:
        # Trial 1
        # (1,0) h2  : S 1+(1+r), W 1+3, SW r+(2+r)                                 -> h 2+r, to (1,1)
        # (1,1) h1+r: S 1+2r, W 1+(2+r), N 1+(2+r), SW r+(1+2r), NW r+3            -> h 1+2r, to (1,2)
        # (1,2) h2r : E 1+(1+r), W 1+(1+2r), N 1+(1+2r), NW r+(2+r)                -> h 2+r, to (2,2)
        # (2,2) h1+r: E 1+2, W 1+(2+r); the diagonals pass a corner                -> h 3, to (3,2)
        # (3,2) h2  : W 1+3, N 1+1                                                 -> h 2, to (3,1), then the goal
        trace, rises = trial("lrta", HOOK, act_out, depth=1)
        assert trace.path == ROUND_THE_HOOK
        assert rises == exactly({(1, 0): (2, 1)}, {(1, 1): (1, 2)}, {(1, 2): (2, 1)}, {(2, 2): (3, 0)}, {}, {})
        assert trace.expansions == trace.scans == [1] * 6
        # Trial 2
        # (1,0) h2+r: S 1+(1+2r) = 4.83, W 1+3, SW r+(2+r)                         -> h 4, to (0,0)
        # (0,0) h3  : E 1+4, S 1+(2+r) = 4.41, SE r+(1+2r)                         -> h 3+r, to (0,1)
        # (0,1) h2+r: E 1+(1+2r), S 1+(1+2r), SE r+(2+r) are all 2+2r; N 1+(3+r), NE r+4
        #             the diagonal one has the largest g                           -> h 2+2r, to (1,2)
        # (1,2) h2+r: E 1+3; W 1+(1+2r), N 1+(1+2r), NW r+(2+2r)                   -> h 4, to (2,2)
        # (2,2) h3  : E 1+2                                                        -> no change from here on
        trace, rises = trial("lrta", HOOK, act_out, trials=2, depth=1)
        assert trace.path == [(1, 0), (0, 0), (0, 1), (1, 2), (2, 2), (3, 2), (3, 1), (3, 0)]
        assert rises == exactly({(1, 0): (4, 0)}, {(0, 0): (3, 1)}, {(0, 1): (2, 2)}, {(1, 2): (4, 0)}, {}, {}, {})

    def test_depth_two_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,0): S (1,1)#1 g1, W (0,0)#2 g1, SW (0,1)#3 gr; of these (1,1) adds (1,2)#4 g2 and (0,2)#5 g1+r.
        #        F(1,2) = 2+2r, F(0,2) = (1+r)+(1+2r)                              -> h 2+2r; 4 expanded
        # (1,1): all five neighbours are expanded, only (1,2) adds a state, (2,2) g2.
        #        F(2,2) = 2+(1+r)                                                  -> h 3+r; 6 expanded
        # (1,2): E (2,2)#1, W (0,2)#2, N (1,1)#3, NW (0,1)#4; then (3,2)#5 g2, (1,0)#6 g2, (0,0)#7 g1+r.
        #        F(3,2) = 2+2, F(1,0) = 2+(2+2r), F(0,0) = (1+r)+3                 -> h 4; 5 expanded
        # (2,2): E (3,2)#1, W (1,2)#2; F(3,1) = 2+1, the rest lies behind (1,2)    -> h 3; 3 expanded
        # (3,2): W (2,2)#1, N (3,1)#2; F(goal) = 2                                 -> h 2; 3 expanded
        # (3,1): S (3,2)#1, N goal #2, a leaf with F 1; (2,2) behind (3,2) has 5   -> h 1; 2 expanded
        trace, rises = trial("lrta", HOOK, act_out, depth=2)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [4, 6, 5, 3, 3, 2]
        assert rises == exactly({(1, 0): (2, 2)}, {(1, 1): (3, 1)}, {(1, 2): (4, 0)}, {(2, 2): (3, 0)}, {}, {})

    def test_depth_two_out_of_the_horseshoe_needs_path_max(self, act_out: Callable[..., Any]) -> None:
        # (2,2) h2: frontier (0,2): F = max(2+4, 1+3)                              -> h 6, to (1,2); 2 expanded
        # (1,2) h3: frontier (0,1): F = max(2+5, 1+4)                              -> h 7, to (0,2)
        # (0,2) h4: (2,2)#3: max(2+6, 1+7) = 8; (0,0)#4: max(2+6, 1+5) = 8; the first discovered
        #                                                                          -> h 8, back to (1,2)
        # (1,2) h7: (0,1): max(2+5, 1+8) = 9, by path-max                          -> h 9, to (0,2)
        # (0,2) h8: (2,2): max(2+6, 1+9) = 10, by path-max; (0,0): 8               -> h 8, to (0,1)
        # (0,1) h5: (1,2): max(2+9, 1+8) = 11; (1,0): max(2+5, 1+6) = 7            -> h 7, to (0,0)
        # From (0,0) on the values ahead are exact: 6, 5, 4, 3, 2, 1.
        # Everywhere the cell and its two neighbours are expanded, but one neighbour at the start, and at (4,1),
        # where the goal is one of the two.
        trace, rises = trial("lrta", HORSESHOE, act_out, depth=2)
        assert trace.path == [(2, 2), (1, 2), (0, 2), (1, 2), (0, 2), *ALONG_THE_HORSESHOE[3:]]
        assert trace.expansions == [2, *[3] * 10, 2]
        first = [{(2, 2): (6, 0)}, {(1, 2): (7, 0)}, {(0, 2): (8, 0)}, {(1, 2): (9, 0)}, {}, {(0, 1): (7, 0)}]
        assert rises == exactly(*first, {}, {}, {}, {}, {}, {})


class TestFit:
    def test_a_budget_of_100_gives_lrta_depth_5(self) -> None:
        assert agents.make("lrta", budget=100).depth == 5  # (2 * 5 - 1)**2 = 81, and 11**2 = 121 is too much

    @pytest.mark.parametrize("depth", [1, 2, 3, 10, 16])
    def test_a_depth_is_chosen_from_its_bound_on(self, depth: int) -> None:
        bound = (2 * depth - 1) ** 2
        assert agents.make("lrta", budget=bound).depth == depth
        assert agents.make("lrta", budget=bound + 1).depth == depth
        if depth > 1:
            assert agents.make("lrta", budget=bound - 1).depth == depth - 1


class TestBounds:
    """On open ground, with the goal out of sight, a lookahead of depth d expands exactly (2 d - 1)**2 states."""

    def test_the_bound_of_depth_three_is_25(self) -> None:
        assert agents.make("lrta", depth=3).bound == 25
        assert agents.run("lrta", OPEN, depth=3).max_expansions == 25

    @pytest.mark.parametrize(("limit", "fits"), [(24, False), (25, True), (26, True)])
    def test_one_expansion_too_few_is_an_overrun(self, limit: int, fits: bool) -> None:
        run = agents.run("lrta", OPEN, depth=3, budget=limit)
        assert run.solved == fits
        assert run.overrun != fits
        assert run.max_expansions == min(limit, 25)
        assert run.moves == (4 if fits else 0)

    def test_with_four_neighbours_it_is_2d2_minus_2d_plus_1(self) -> None:
        four = Problem(Grid(np.ones((9, 9)), connectivity=4), (4, 4), (0, 8))
        assert [agents.run("lrta", four, depth=d).first_move_expansions for d in (1, 2, 3, 4)] == [1, 5, 13, 25]

    def test_a_refused_plan_leaves_the_values_alone(self) -> None:
        agent = agents.make("lrta", depth=3)
        run = agents.run(agent, OPEN, budget=24)
        assert (run.h_updates, run.memory, run.plans) == (0, 0, 1)


@pytest.mark.parametrize("value", [0, -1, 1001, 1.5, 2.0, "3", None, True, 10**30])
def test_a_value_out_of_range_is_refused_by_name(value: Any) -> None:
    assert_refused("lrta", "depth", value)
