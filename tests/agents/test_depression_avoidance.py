"""aLSS-LRTA*, daLSS-LRTA*, aRTAA* and daRTAA*: a trial worked out on paper, and what they have in common."""

from collections.abc import Callable
from typing import Any

import pytest

import agents
from reference.checks import Settings, assert_refused, on_all_maps, some_problems
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HORSESHOE
from reference.traces import along, trial

LSS, RTAA = ("a-lss-lrta", "da-lss-lrta"), ("a-rtaa", "da-rtaa")
BASES = dict(zip((*LSS, *RTAA), ("lss-lrta", "lss-lrta", "rtaa", "rtaa"), strict=True))
each_id = pytest.mark.parametrize("name", BASES)


@pytest.mark.plain
@each_id
def test_lookahead_one_leaves_the_horseshoe_without_turning_back(name: str, act_out: Callable[..., Any]) -> None:
    # Behind the agent every value has been raised, before it none has: it never turns, where LRTA* goes back and forth.
    # 0: only 1 is open, f 1+3              -> h0 4 (given: 2)
    # 1: 0#1 and 2#2, both f 1+4; 0 was raised by 2, 2 by nothing        -> h1 5 (3), to 2
    # 2: 1#1 and 3#2, both f 1+5; 1 was raised by 2                      -> h2 6 (4), to 3
    # 3: 2#1 and 4#2, both f 1+6; 2 was raised by 2                      -> h3 7 (5), to 4
    # 4: 5 f 1+5, 3 f 1+7. From here on the values are exact.
    # LSS-LRTA* pops what is open in the order of values until the state itself comes: at 0 one, at 1, 2 and 3 both,
    # from 4 on the one ahead.
    trace, rises = trial(name, HORSESHOE, act_out, lookahead=1)
    assert trace.path == CORRIDOR
    assert trace.expansions == [1] * 10
    popped = [2, 3, 3, 3, 2, 2, 2, 2, 2, 2] if name in LSS else [0] * 10
    assert trace.learning_ops == popped
    assert trace.scans == [1 + operations for operations in popped]
    assert rises == along(CORRIDOR, {0: 4}, {1: 5}, {2: 6}, {3: 7}, *[{}] * 6)


@on_all_maps
@pytest.mark.parametrize("pair", [("a-lss-lrta", "a-rtaa"), ("da-lss-lrta", "da-rtaa")])
def test_with_a_lookahead_of_one_both_bases_are_the_same(
    pair: tuple[str, str], vision: int | None, rules: Settings
) -> None:
    for problem in some_problems(1, 10, 10, vision, **rules):
        ours = [agents.run(agent_id, problem, lookahead=1) for agent_id in pair]
        assert ours[0].path.tolist() == ours[1].path.tolist()
        assert ours[0].h_updates == ours[1].h_updates


@each_id
def test_the_first_plan_is_that_of_the_base(name: str) -> None:
    for problem in some_problems(2, 12, 12, None):
        ours, base = (agents.run(each, problem, lookahead=9, max_moves=1) for each in (name, BASES[name]))
        assert ours.path.tolist() == base.path.tolist()
        assert (ours.expansions, ours.h_updates) == (base.expansions, base.h_updates)


@each_id
def test_it_leaves_a_depression_for_less_than_its_base(name: str) -> None:
    ours, base = (agents.run(each, HORSESHOE, lookahead=1).moves for each in (name, BASES[name]))
    assert ours < base


@each_id
@pytest.mark.parametrize(
    ("parameter", "value"), [("lookahead", 0), ("lookahead", 2.5), ("commit", "two"), ("tie", "last")]
)
def test_a_value_out_of_range_is_refused_by_name(name: str, parameter: str, value: Any) -> None:
    assert_refused(name, parameter, value)
