"""LRTA*_LS(k, d): trials worked out on paper, how its six versions differ, and which parameters are refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from reference import checks
from reference.checks import Settings, on_all_maps, some_problems
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HORSESHOE
from reference.traces import along, cells, trial
from rt_gym import Budget, Grid, Problem

OPEN = Problem(Grid(np.ones((19, 19))), (9, 9), (0, 18))


@pytest.mark.plain
class TestTraces:
    # k = d = 2 with dynamic lookahead, the moves that learn:
    # 0: 1 gives 4: z is 0 itself. I 0, 1; F 2; pops 2 4, 1 5, 0 6.                     -> h0 6, h1 5; to 1
    # 1: 2 gives 5; expanded. z is 2, as 1 and 3 give 6. I 2, 1; F 3, 0; four pops.     -> h2 6, h1 7; 0 and 2 are equal
    # 0: 1 gives 8: z is 0. 1 is given 7 by 2, no change: I 0, F 1; pops 1 7, 0 8.      -> h0 8; to 1
    # 1: 2 gives 7; expanded. 2: 3 gives 6; expanded. z is 3, as 2 and 4 give 7. I 3, 2; F 4, 1; four pops.
    #                                                                                   -> h3 7, h2 8; 0 and 2 are equal
    # 0: 1 gives 8; expanded. z is 1, as 0 and 2 give 9. Nothing supports 0 then: I 1, 0; F 2; pops 2 8, 1 9, 0 10.
    #                                                                                   -> h1 9, h0 10; to 1
    # From 1 on nothing changes any more.
    LEARNING = ({0: 6, 1: 5}, {2: 6, 1: 7}, {0: 8}, {3: 7, 2: 8}, {1: 9, 0: 10})
    POPS = (3, 4, 2, 4, 3)
    EXPANDED = (0, 1, 0, 2, 1)
    SCANS = (1 + 2 + 3 + 1, 2 + 2 + 4 + 1, 1 + 2 + 2 + 1, 3 + 2 + 4 + 1, 2 + 2 + 3 + 1)
    PATH = (0, 1, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)

    def test_dynamic_lookahead_and_control_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # From 1, 3, 5 and 7 two are expanded and the third tested; two moves each. From 9 the goal is next.
        trace, rises = trial("lrta-ls-kd", HORSESHOE, act_out, k=2, d=2)
        assert trace.path == cells(CORRIDOR, *self.PATH)
        assert trace.expansions == [*self.EXPANDED, *[2, 0] * 4, 1]
        assert trace.learning_ops == [*self.POPS, *[0] * 9]
        assert trace.scans == [*self.SCANS, *[3, 0] * 4, 1]
        assert rises == along(CORRIDOR, *self.LEARNING, *[{}] * 9)

    def test_single_moves_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # The same, but from 1 on every move is planned, and the successors of the current state are read to choose it.
        # At 8 the goal comes next after two expansions, at 9 after one: nothing else is tested.
        trace, rises = trial("lrta-ls-kd", HORSESHOE, act_out, k=2, d=2, control="single")
        assert trace.path == cells(CORRIDOR, *self.PATH)
        assert trace.expansions == [*self.EXPANDED, *[2] * 8, 1]
        assert trace.scans == [*self.SCANS, *[4] * 7, 3, 2]
        assert rises == along(CORRIDOR, *self.LEARNING, *[{}] * 9)

    def test_static_lookahead_and_several_moves_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # 0: closed 0, 1; z 2. 0 changes: I 0, 1; F 2; three pops: h0 6, h1 5. 1: 2 gives 5, no change. 2: 1 and 3 give
        #    6: I 2, 1; F 3, 0; four pops: h2 6, h1 7. Two moves.
        # 2: 1 f 8, 3 f 6; closed 2, 3; 1 and 4 both f 8, 4 has g 2. 2: 3 gives 6, no change. 3: 2 and 4 give 7: I 3, 2;
        #    F 4, 1; four pops: h3 7, h2 8. 4: 5 gives 6, no change. Two moves.
        # 4, 6: two closed, three tested. 8: two closed and tested, z is the goal. Two moves each.
        static = {"k": 2, "d": 2, "lookahead": "static", "control": "several"}
        trace, rises = trial("lrta-ls-kd", HORSESHOE, act_out, **static)
        assert trace.path == CORRIDOR
        assert trace.expansions == [2, 0] * 5
        assert trace.learning_ops == [7, 0, 4, 0, *[0] * 6]
        assert trace.scans == [2 + 3 + 4 + 7, 0, 2 + 3 + 2 + 4, 0, 5, 0, 5, 0, 4, 0]
        assert rises == along(CORRIDOR, {0: 6, 1: 7, 2: 6}, {}, {3: 7, 2: 8}, *[{}] * 7)
        assert trace.h_updates == 4 + 2

    def test_static_lookahead_with_one_k_for_all(self, act_out: Callable[..., Any]) -> None:
        # 0: closed 0, 1. 0 changes: I 0, 1, and k is used up. h0 6, h1 5. Two moves.
        # 2: 1#1 and 3#2 both f 6; closed 2, 1; z 3. 2 changes: I 2, 1; F 3, 0; four pops. h2 6, h1 7. One move.
        # 3: 2#1 and 4#2 both f 7; closed 3, 2; z 4. 3 changes: I 3, 2; F 4, 1; four pops. h3 7, h2 8. One move.
        # 4, 6, 8: as above.
        shared = {"k": 2, "d": 2, "lookahead": "static", "control": "several", "shared_k": True}
        trace, rises = trial("lrta-ls-kd", HORSESHOE, act_out, **shared)
        assert trace.path == CORRIDOR
        assert trace.expansions == [2, 0, 2, 2, *[2, 0] * 3]
        assert trace.learning_ops == [3, 0, 4, 4, *[0] * 6]
        assert trace.scans == [2 + 1 + 2 + 3, 0, 2 + 1 + 2 + 4, 2 + 1 + 2 + 4, 5, 0, 5, 0, 4, 0]
        assert rises == along(CORRIDOR, {0: 6, 1: 5}, {}, {2: 6, 1: 7}, {3: 7, 2: 8}, *[{}] * 6)


class TestVersions:
    def test_a_lookahead_of_one_may_also_learn_from_the_best_successor(self) -> None:
        # LRTA*_LS(k, 1) tests the best successor of the current state as well: that is all it has beyond LRTA*_LS(k).
        problems = some_problems(4, 60, 14)
        differing = [
            agents.run("lrta-ls-kd", problem, k=10, d=1).path.tolist()
            != agents.run("lrta-ls-k", problem, k=10).path.tolist()
            for problem in problems
        ]
        assert 0 < sum(differing) < len(problems)

    def test_the_six_versions_walk_six_ways(self) -> None:
        paths = set()
        for lookahead in ("dynamic", "static"):
            for control in ("dynamic", "single", "several"):
                settings = {"k": 10, "d": 8, "lookahead": lookahead, "control": control}
                runs = [agents.run("lrta-ls-kd", problem, **settings) for problem in some_problems(5, 40, 16)]
                paths.add(tuple(run.path.tobytes() for run in runs))
        assert len(paths) == 6

    def test_one_k_for_all_changes_nothing_with_a_dynamic_lookahead(self) -> None:
        static_differs = False
        for problem in some_problems(6, 40, 14):
            own, shared = (agents.run("lrta-ls-kd", problem, k=5, d=8, shared_k=shared) for shared in (False, True))
            assert own.path.tolist() == shared.path.tolist()
            own, shared = (
                agents.run("lrta-ls-kd", problem, k=5, d=8, lookahead="static", shared_k=shared)
                for shared in (False, True)
            )
            static_differs |= own.h_updates != shared.h_updates
        assert static_differs


class TestBounds:
    @on_all_maps
    def test_no_move_does_more_than_its_parameters_say(
        self, vision: int | None, rules: Settings, act_out: Callable[..., Any]
    ) -> None:
        for problem in some_problems(7, 8, 14, vision, **rules):
            for k in (1, 5, 30):
                expansions, _, scans, rises = checks.most_per_move("lrta-ls-kd", problem, act_out, k=k, d=6)
                assert expansions <= 6
                assert rises <= k
                assert scans <= 13 * k + 6
                shared = {"lookahead": "static", "shared_k": True}
                assert checks.most_per_move("lrta-ls-kd", problem, act_out, k=k, d=6, **shared)[3] <= k

    @pytest.mark.parametrize("settings", [{}, {"lookahead": "static"}], ids=str)
    def test_a_lookahead_cut_by_the_meter_is_as_large_as_it_got(self, settings: Settings) -> None:
        for limit in (1, 4, 8):
            cut = agents.run("lrta-ls-kd", OPEN, d=8, budget=limit, **settings)
            small = agents.run("lrta-ls-kd", OPEN, d=limit, **settings)
            assert (cut.solved, cut.overrun) == (True, False)
            assert cut.path.tolist() == small.path.tolist()
            assert cut.expansions == small.expansions

    def test_a_budget_chooses_what_bounds_a_move(self) -> None:
        both = agents.make("lrta-ls-kd", budget=100)
        assert (both.k, both.d) == (agents.parameters("lrta-ls-kd")["k"], 100)
        both = agents.make("lrta-ls-kd", budget=Budget(140, "scans"))
        assert (both.k, both.d) == (10, 10)

    @pytest.mark.parametrize("tie", ["first", "random"])
    @pytest.mark.parametrize("limit", [14, 30, 75, 300])
    def test_a_setting_chosen_for_scans_keeps_them(self, tie: str, limit: int) -> None:
        checks.assert_scans_are_kept("lrta-ls-kd", limit, tie)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("k", value) for value in (0, -1, 1.5, 2.0, "3", None, True, 10**30)),
        *(("d", value) for value in (0, -1, 1.5, "3", None, True, 10**30)),
        *(("lookahead", value) for value in ("single", "", None, 5)),
        *(("control", value) for value in ("static", "", None, 5)),
        *(("shared_k", value) for value in (0, 1, "yes", None)),
    ],
)
def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(name: str, value: Any) -> None:
    checks.assert_refused("lrta-ls-kd", name, value)
