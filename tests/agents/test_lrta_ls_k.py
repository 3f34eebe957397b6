"""LRTA*_LS(k): trials worked out on paper, how far it propagates, and which parameters are refused."""

from collections.abc import Callable
from typing import Any

import pytest

import agents
from reference import checks
from reference.checks import Settings, on_all_maps, some_problems
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HOOK, HORSESHOE, ROUND_THE_HOOK, drawn
from reference.traces import along, exactly, trial
from rt_gym import Budget, Problem, World
from rt_gym.cost import encode


@pytest.mark.plain
class TestTraces:
    def test_k_two_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # 0: 1 gives 4. Tested 0, then 1, which 2 gives 5: I 0, 1; F 2. Pops 2 4, 1 5, 0 6.
        # 1: 2 gives 5, no rise.
        # 2: 1 and 3 give 6. Tested 2, then 1, which 0 gives 7: I 2, 1; F 3, 0. Pops 3 5; at 6 2#0 before 0#3; 1 7.
        # 3: 2 and 4 give 7. Tested 3, then 2, which 1 gives 8: I 3, 2; F 4, 1. Pops 4 6; at 7 3#0 before 1#3; 2 8.
        # From 4 on the values are exact.
        trace, rises = trial("lrta-ls-k", HORSESHOE, act_out, k=2)
        assert trace.path == CORRIDOR
        assert trace.expansions == [1] * 10
        assert trace.learning_ops == [3, 0, 4, 4, *[0] * 6]
        assert trace.scans == [1 + 2 + 3 + 1, 1, 1 + 2 + 4 + 1, 1 + 2 + 4 + 1, *[1] * 6]
        assert rises == along(CORRIDOR, {0: 6, 1: 5}, {}, {2: 6, 1: 7}, {3: 7, 2: 8}, *[{}] * 6)

    def test_k_three_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,0): S gives 2+r. Tested (1,0); (1,1)#1, which (1,2) gives 1+2r; (0,0)#2, which (0,1) gives 3+r. I is these,
        #        F (0,1)#3 (1,2)#4 (0,2)#5. Pops (1,2)2r, giving (1,1) 1+2r; (0,1)2+r, giving (0,0) 3+r and (1,0) 2+2r;
        #        at 1+2r (1,1)#1 before (0,2)#5; (0,0)3+r; (1,0)2+2r: six.
        #        S and SW are both 2+2r now, and SW has the larger cost.
        # (0,1): SE gives 3r. Queue (1,1)#1 (0,2)#2 (0,0)#3 (1,2)#4 (1,0)#5. (1,1) and (0,2) are given 1+2r by (1,2), no
        #        change: F. (0,0) is given 1+3r by (1,1), as (0,1) is in I: I, and (1,1) enters again behind (1,0).
        #        (1,2) is given 2+r by (2,2)#6: I. Five tested. F (1,1)1+2r (0,2)1+2r (1,0)2+2r (2,2)1+r.
        #        Pops (2,2), giving (1,2) 2+r; (1,2), giving (0,1) 2+2r; (1,1), giving (0,0) 1+3r; (0,2); at 2+2r
        #        (0,1)#0 before (1,0)#5; (0,0)1+3r: seven. E, S and SE are 2+2r now, and SE has the largest cost.
        # (1,2): E gives 2+r, no change.
        # (2,2): E gives 3. (3,2)#1 does not change: F. (1,2)#2 is given 2+2r by (0,2)#3 and (1,1)#4: I. (0,2) is given
        #        1+3r by (1,1): I. Four tested. F (3,2)2 (1,1)1+2r (0,1)#5 2+2r. Pops (3,2), giving (2,2) 3; (2,2),
        #        giving (1,2) 4; (1,1), giving (0,2) 1+3r; (1,2), giving (0,2) 5; (0,1); (0,2)5: six.
        # From (3,2) on the values are exact.
        trace, rises = trial("lrta-ls-k", HOOK, act_out, k=3)
        assert trace.path == [(1, 0), (0, 1), *ROUND_THE_HOOK[2:]]
        assert trace.learning_ops == [6, 7, 0, 6, 0, 0]
        assert trace.scans == [1 + 3 + 6 + 1, 1 + 5 + 7 + 1, 1, 1 + 4 + 6 + 1, 1, 1]
        first = {(1, 0): (2, 2), (1, 1): (1, 2), (0, 0): (3, 1)}
        second = {(1, 2): (2, 1), (0, 1): (2, 2), (0, 0): (1, 3)}
        assert rises == exactly(first, second, {}, {(2, 2): (3, 0), (1, 2): (4, 0), (0, 2): (5, 0)}, {}, {})

    def test_a_frontier_state_that_has_to_change_after_all_leaves_the_frontier(self) -> None:
        # A room of four cells, x a above w b, with the exit e below b. Set to x 1, a 2, w 3, b 2; e is 3.
        # x is given 3 by a. a is given 3 by b: I. w is given 3 by b, no change: F. b is given 4 by e and by w: I, and e
        # in the south, then w in the west enter, w again. e does not change: F. x and b are in I by now, so nothing
        # supports w: I. Six tested. F is e alone.
        # Pops e 3, b 4, a 5, w 5, x 6, all exact. Had w stayed in F, x would be given 4 by it.
        room = Problem(drawn("..", "..", "#.", "#.", "#.", "#.", connectivity=4), (0, 0), (1, 5))
        agent, world = agents.make("lrta-ls-k", k=4), World(room)
        agent.reset(world.view)
        x, a, w, b = (room.grid.cell(position) for position in ((0, 0), (1, 0), (0, 1), (1, 1)))
        agent.learned[[x, a, w, b]] = [encode(1), encode(2), encode(3), encode(2)]
        assert agent.act() == 0
        assert agent.learned[[x, a, w, b]].tolist() == [encode(6), encode(5), encode(5), encode(4)]
        assert world.view.meter.scans == 1 + 6 + 5 + 1


@pytest.mark.plain
@on_all_maps
@pytest.mark.parametrize("settings", [{"k": 1}], ids=str)
def test_the_smallest_setting_is_lrta_trial_for_trial(settings: Settings, vision: int | None, rules: Settings) -> None:
    for problem in some_problems(1, 10, 10, vision, **rules):
        checks.assert_lrta("lrta-ls-k", settings, problem)


@on_all_maps
def test_no_move_does_more_than_its_parameters_say(
    vision: int | None, rules: Settings, act_out: Callable[..., Any]
) -> None:
    for problem in some_problems(7, 8, 14, vision, **rules):
        for k in (1, 5, 30):
            expansions, learning_ops, scans, rises = checks.most_per_move("lrta-ls-k", problem, act_out, k=k)
            assert expansions <= 1
            assert rises <= k
            assert learning_ops <= 5 * k + 4
            assert scans < 13 * k


def test_more_propagation_costs_fewer_moves_on_average() -> None:
    checks.assert_more_costs_less("lrta-ls-k")


def test_a_budget_chooses_what_bounds_a_move() -> None:
    assert agents.make("lrta-ls-k", budget=100).k == agents.parameters("lrta-ls-k")["k"]
    assert agents.make("lrta-ls-k", budget=Budget(130, "scans")).k == 10


@pytest.mark.parametrize("tie", ["first", "random"])
@pytest.mark.parametrize("limit", [14, 30, 75, 300])
def test_a_setting_chosen_for_scans_keeps_them(tie: str, limit: int) -> None:
    checks.assert_scans_are_kept("lrta-ls-k", limit, tie)


@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, "3", None, True, 10**30])
def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(value: Any) -> None:
    checks.assert_refused("lrta-ls-k", "k", value)
