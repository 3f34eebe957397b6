"""LRTA*(k) among visited states: a trial worked out on paper, and which parameters are refused."""

from collections.abc import Callable
from typing import Any

import pytest

from reference.checks import (
    Settings,
    assert_lrta,
    assert_no_way_is_found_out_early,
    assert_refused,
    on_all_maps,
    some_problems,
)
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HORSESHOE
from reference.traces import along, trial


@pytest.mark.plain
def test_k_three_among_visited_states(act_out: Callable[..., Any]) -> None:
    # 0: 1 gives 4, and 1 has not been visited.                                           -> h0 4
    # 1: 0 and 2 give 5. Queue 0: 1 gives 6. Queue 1: 2 gives 5, no rise.                 -> h1 5, h0 6; to 2
    # 2: 1 and 3 give 6. Queue 1: 0 and 2 give 7. Queue 0: 1 gives 8.                     -> h2 6, h1 7, h0 8; to 3
    # 3: 2 and 4 give 7. Queue 2: 1 and 3 give 8. Queue 1: 0 and 2 give 9.                -> h3 7, h2 8, h1 9; to 4
    # From 4 on the values are exact.
    trace, rises = trial("lrta-k-visited", HORSESHOE, act_out, k=3)
    assert trace.path == CORRIDOR
    assert trace.learning_ops == [0, 2, 2, 2, *[0] * 6]
    assert trace.scans == [1, 4, 4, 4, *[1] * 6]
    assert rises == along(CORRIDOR, {0: 4}, {1: 5, 0: 6}, {2: 6, 1: 7, 0: 8}, {3: 7, 2: 8, 1: 9}, *[{}] * 6)


@pytest.mark.plain
@on_all_maps
@pytest.mark.parametrize("settings", [{"k": 1, "supports": True}], ids=str)
def test_the_smallest_setting_is_lrta_trial_for_trial(settings: Settings, vision: int | None, rules: Settings) -> None:
    for problem in some_problems(1, 10, 10, vision, **rules):
        assert_lrta("lrta-k-visited", settings, problem)


def test_a_huge_k_finds_out_early_that_there_is_no_way() -> None:
    assert_no_way_is_found_out_early("lrta-k-visited", k=10**9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("k", value) for value in (0, -1, 1.5, 2.0, "3", None, True, 10**30)),
        *(("supports", value) for value in (0, 1, "true", None)),
    ],
)
def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(name: str, value: Any) -> None:
    assert_refused("lrta-k-visited", name, value)
