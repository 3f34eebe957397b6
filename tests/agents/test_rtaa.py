"""RTAA*: trials worked out on paper, what it learns beside LSS-LRTA* and A*, and which parameters are refused."""

from collections.abc import Callable
from typing import Any

import pytest

import agents
from reference import checks
from reference.checks import Settings, each_rule, on_all_maps, some_problems
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HOOK, HORSESHOE, ROUND_THE_HOOK
from reference.traces import along, cells, exactly, trial
from rt_gym import Budget, World


@pytest.mark.plain
class TestTraces:
    def test_lookahead_two_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # Two are closed in every plan.
        # 0: closed 0, 1; best 2 with f 2+4          -> h0 6, h1 5; two moves
        # 2: 1#1 and 3#2 both f 6; closed 2, 1; best 3 with f 6                 -> h2 6, h1 still 5; one move
        # 3: 2#1 and 4#2 both f 7; closed 3, 2; 4 and 1 both f 7, 1 has g 2     -> h3 7; two moves back to 1
        # 1: 0#1 and 2#2 both f 7; closed 1, 0; best 2 with f 7                 -> h1 7, h0 still 6; one move
        # 2: 1#1 and 3#2 both f 8; closed 2, 1; 3 and 0 both f 8, 0 has g 2     -> h2 8; two moves back to 0
        # 0: closed 0, 1; best 2 with f 2+8                                     -> h0 10, h1 9; two moves
        # 2: 1 f 10, 3 f 8; closed 2, 3; best 4 with f 8                        -> no rise from here on; two moves
        # 4, 6, 8: two ahead are closed, the values are exact; two moves each.
        trace, rises = trial("rtaa", HORSESHOE, act_out, lookahead=2)
        assert trace.path == cells(CORRIDOR, 0, 1, 2, 3, 2, 1, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
        assert trace.expansions == trace.scans == [2, 0, 2, 2, 0, 2, *[2, 0] * 6]
        assert trace.learning_ops == [0] * 18
        changes = [{0: 6, 1: 5}, {}, {2: 6}, {3: 7}, {}, {1: 7}, {2: 8}, {}, {0: 10, 1: 9}]
        assert rises == along(CORRIDOR, *changes, *[{}] * 9)

    def test_lookahead_three_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,0): S (1,1)#1 f2+r, W (0,0)#2 f4, SW (0,1)#3 f2+2r; (1,1) adds (1,2)#4 g2 f2+2r and (0,2)#5 f2+3r.
        #        Closed (1,0), (1,1), (0,0); best (1,2), of f 2+2r the one with the larger g.
        #        -> (1,0) 2+2r, (1,1) and (0,0) 1+2r; two moves
        # (1,2): E (2,2) f2+r, all others 2+2r. Closed (1,2), (2,2) g1, (3,2) g2 f4; best (3,1) f4.
        #        -> (1,2) 4, (2,2) 3, (3,2) still 2; three moves
        # (3,1): closed alone, the goal is next.
        trace, rises = trial("rtaa", HOOK, act_out, lookahead=3)
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == trace.scans == [3, 0, 3, 0, 0, 1]
        first = {(1, 0): (2, 2), (1, 1): (1, 2), (0, 0): (1, 2)}
        assert rises == exactly(first, {}, {(1, 2): (4, 0), (2, 2): (3, 0)}, {}, {}, {})


class TestEqualities:
    @pytest.mark.plain
    @on_all_maps
    @pytest.mark.parametrize("settings", [{"lookahead": 1, "commit": commit} for commit in ("all", "one")], ids=str)
    def test_the_smallest_setting_is_lrta_trial_for_trial(
        self, settings: Settings, vision: int | None, rules: Settings
    ) -> None:
        for problem in some_problems(1, 10, 10, vision, **rules):
            checks.assert_lrta("rtaa", settings, problem)

    @on_all_maps
    def test_from_equal_values_rtaa_learns_no_more_than_lss_lrta(self, vision: int | None, rules: Settings) -> None:
        # Both plan every move; RTAA* is led along the path of LSS-LRTA* and given its values before every plan.
        less = 0
        for problem in some_problems(2, 20, 14, vision, **rules):
            lss, rtaa = (agents.make(agent_id, lookahead=9, commit="one") for agent_id in ("lss-lrta", "rtaa"))
            leader, led = World(problem), World(problem)
            lss.reset(leader.view)
            rtaa.reset(led.view)
            while not leader.done:
                rtaa.learned[:] = lss.learned
                action = lss.act()
                assert rtaa.act() == action
                assert led.view.meter.expansions == leader.view.meter.expansions
                assert (rtaa.learned <= lss.learned).all()
                less += int((rtaa.learned < lss.learned).sum())
                leader.step(action)
                led.step(action)
        assert less > 0

    @each_rule
    def test_rtaa_with_no_bound_walks_the_path_of_a_star(self, rules: Settings) -> None:
        for problem in some_problems(3, 30, 16, **rules):
            run, astar = agents.run("rtaa", problem, lookahead=10_000), agents.run("astar", problem)
            assert run.path.tolist() == astar.path.tolist()
            assert run.expansions == astar.expansions


def test_a_budget_chooses_what_bounds_a_move() -> None:
    assert agents.make("rtaa", budget=100).lookahead == 100
    assert agents.make("rtaa", budget=Budget(100, "scans")).lookahead == 100


@pytest.mark.parametrize("tie", ["first", "random"])
@pytest.mark.parametrize("limit", [14, 30, 75, 300])
def test_a_setting_chosen_for_scans_keeps_them(tie: str, limit: int) -> None:
    checks.assert_scans_are_kept("rtaa", limit, tie)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("lookahead", value) for value in (0, -7, 2.5, "all", None, False, 10**30)),
        *(("commit", value) for value in ("two", "", None, 1)),
    ],
)
def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(name: str, value: Any) -> None:
    checks.assert_refused("rtaa", name, value)
