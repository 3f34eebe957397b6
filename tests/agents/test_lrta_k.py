"""LRTA*(k): trials worked out on paper, how far it propagates, and which parameters are refused."""

from collections.abc import Callable
from typing import Any

import pytest

import agents
from reference import checks
from reference.checks import Settings, on_all_maps, some_problems
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HORSESHOE
from reference.traces import along, cells, trial
from rt_gym import Budget


@pytest.mark.plain
class TestTraces:
    def test_k_three_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # 0: 1 gives 4. Queue 1: 0 and 2 give 5. Queue 0: 1 gives 6. Nobody else may enter.   -> h0 4, then 6; h1 5
        # 1: 2 gives 5, no rise.
        # 2: 1 and 3 give 6. Queue 1, 3: 0 and 2 give 7; 2 and 4 give 7.  -> h2 6, h1 7, h3 7; 1 and 3 are equal now
        # 1: 0 and 2 give 7, no rise; back to 0.
        # 0: 1 gives 8. Queue 1: 2 gives 7, no rise; so the successors of 0 need not be read again.   -> h0 8
        # 1: 2 gives 7, no rise.
        # 2: 1 and 3 give 8. Queue 1, 3: 0 and 2 give 9; 4 gives 7, no rise.   -> h2 8, h1 9; 3 is better
        # From 3 on the values are exact.
        trace, rises = trial("lrta-k", HORSESHOE, act_out, k=3)
        assert trace.path == cells(CORRIDOR, 0, 1, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
        assert trace.expansions == [1] * 14
        assert trace.learning_ops == [2, 0, 2, 0, 1, 0, 2, *[0] * 7]
        assert trace.scans == [4, 1, 4, 1, 2, 1, 4, *[1] * 7]
        assert trace.h_updates == 3 + 3 + 1 + 2
        assert rises == along(CORRIDOR, {0: 6, 1: 5}, {}, {2: 6, 1: 7, 3: 7}, {}, {0: 8}, {}, {2: 8, 1: 9}, *[{}] * 7)

    def test_k_three_among_supports(self, act_out: Callable[..., Any]) -> None:
        # 0: 1 gives 4. 1 has no support yet.                                                 -> h0 4
        # 1: 0 and 2 give 5, its support is 0. Queue 0, whose support is 1: 1 gives 6. Queue 1: 2 gives 5 and is its
        #    support now, no rise.                                                            -> h1 5, h0 6; 2 is better
        # 2: 1 and 3 give 6, its support is 1. Queue 1: 0 and 2 give 7, its support is 0. Queue 0: 1 gives 8.
        #                                                                                     -> h2 6, h1 7, h0 8; to 3
        # 3: 2 and 4 give 7, its support is 2. The support of 2 is 1, and 4 has none.         -> h3 7; back to 2
        # 2: 1 and 3 give 8, its support is 1. The support of 1 is 0. Queue 3: 4 gives 7 and is its support, no rise.
        #                                                                                     -> h2 8; back to 1
        # 1: 0 and 2 give 9, its support is 0. Queue 0, 2: 1 gives 10; 3 gives 8, no rise.    -> h1 9, h0 10; to 2
        # From 2 on the values are exact.
        trace, rises = trial("lrta-k", HORSESHOE, act_out, k=3, supports=True)
        assert trace.path == cells(CORRIDOR, 0, 1, 2, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
        assert trace.learning_ops == [0, 2, 2, 0, 1, 2, *[0] * 8]
        assert trace.scans == [1, 4, 4, 1, 2, 4, *[1] * 8]
        changes = [{0: 4}, {1: 5, 0: 6}, {2: 6, 1: 7, 0: 8}, {3: 7}, {2: 8}, {1: 9, 0: 10}]
        assert rises == along(CORRIDOR, *changes, *[{}] * 8)


@pytest.mark.plain
@on_all_maps
@pytest.mark.parametrize("settings", [{"k": 1}], ids=str)
def test_the_smallest_setting_is_lrta_trial_for_trial(settings: Settings, vision: int | None, rules: Settings) -> None:
    for problem in some_problems(1, 10, 10, vision, **rules):
        checks.assert_lrta("lrta-k", settings, problem)


@on_all_maps
def test_no_move_does_more_than_its_parameters_say(
    vision: int | None, rules: Settings, act_out: Callable[..., Any]
) -> None:
    for problem in some_problems(7, 8, 14, vision, **rules):
        for k in (1, 5, 30):
            expansions, learning_ops, scans, _ = checks.most_per_move("lrta-k", problem, act_out, k=k)
            assert expansions <= 1
            assert learning_ops <= k - 1
            assert scans <= k + 1


def test_more_propagation_costs_fewer_moves_on_average() -> None:
    checks.assert_more_costs_less("lrta-k")


@pytest.mark.parametrize("supports", [False, True])
def test_a_huge_k_finds_out_early_that_there_is_no_way(supports: bool) -> None:
    checks.assert_no_way_is_found_out_early("lrta-k", k=10**9, supports=supports)


def test_a_huge_k_learns_no_less_where_there_is_a_way() -> None:
    for problem in some_problems(11, 12, 7):
        assert checks.assert_as_plain("lrta-k", problem, k=10**9).solved


def test_a_budget_chooses_what_bounds_a_move() -> None:
    assert agents.make("lrta-k", budget=100).k == agents.parameters("lrta-k")["k"]
    assert agents.make("lrta-k", budget=Budget(100, "scans")).k == 98


@pytest.mark.parametrize("tie", ["first", "random"])
@pytest.mark.parametrize("limit", [14, 30, 75, 300])
def test_a_setting_chosen_for_scans_keeps_them(tie: str, limit: int) -> None:
    checks.assert_scans_are_kept("lrta-k", limit, tie)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("k", value) for value in (0, -1, 1.5, 2.0, "3", None, True, 10**30)),
        *(("supports", value) for value in (0, 1, "true", None)),
    ],
)
def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(name: str, value: Any) -> None:
    checks.assert_refused("lrta-k", name, value)
