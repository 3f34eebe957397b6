"""wLSS-LRTA* and wLRTA*_LS(k): trials worked out on paper, what weight one is, and how far off they may end."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from profiles import examples
from reference.checks import Settings, assert_refused, on_all_maps, some_problems
from reference.plain_oracle import problems
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HORSESHOE
from reference.traces import along, cells, trial
from rt_gym import Problem

BASES = {"w-lss-lrta": ("lss-lrta", {"lookahead": 6}), "w-lrta-ls-k": ("lrta-ls-k", {"k": 6})}
each_name = pytest.mark.parametrize("name", BASES)


@pytest.mark.plain
class TestTraces:
    def test_lss_lrta_leaves_the_horseshoe_with_weight_three(self, act_out: Callable[..., Any]) -> None:
        # 0: 1 f 1+3                      -> h0 3+3; to 1
        # 1: 0#1 f 1+6, 2#2 f 1+4         -> h1 3+4; to 2
        # 2: 1#1 f 1+7, 3#2 f 1+5         -> h2 3+5; to 3
        # 3: 2#1 f 1+8, 4#2 f 1+6         -> h3 3+6; to 4. What is behind has risen by more than the agent went.
        # 4: 5 f 1+5                      -> h4 3+5; to 5, and so on: h5 7, h6 6, h7 5, h8 4, h9 3
        trace, rises = trial("w-lss-lrta", HORSESHOE, act_out, lookahead=1, weight=3)
        assert trace.path == CORRIDOR
        first = [{0: 6}, {1: 7}, {2: 8}, {3: 9}, {4: 8}]
        assert rises == along(CORRIDOR, *first, {5: 7}, {6: 6}, {7: 5}, {8: 4}, {9: 3})

    def test_lrta_ls_turns_once_with_weight_two(self, act_out: Callable[..., Any]) -> None:
        # k = 1: only the current state changes, if it is below 2 c + h of its best successor.
        # 0: 2+3                  -> h0 5; to 1
        # 1: 0 2+5, 2 2+4         -> h1 6; moves by c + h: 0 f 6, 2 f 5; to 2
        # 2: 1 2+6, 3 2+5         -> h2 7; 1 f 7, 3 f 6; to 3
        # 3: 2 2+7, 4 2+6         -> h3 8; to 4
        # 4: 3 2+8, 5 2+5         -> h4 7; to 5, and so on: h5 6, h6 5, h7 4, h8 3, h9 2
        trace, rises = trial("w-lrta-ls-k", HORSESHOE, act_out, k=1, weight=2)
        assert trace.path == cells(CORRIDOR, *range(11))
        first = [{0: 5}, {1: 6}, {2: 7}, {3: 8}, {4: 7}]
        assert rises == along(CORRIDOR, *first, {5: 6}, {6: 5}, {7: 4}, {8: 3}, {9: 2})


@on_all_maps
@each_name
def test_weight_one_is_the_base_trial_for_trial(name: str, vision: int | None, rules: Settings) -> None:
    base, settings = BASES[name]
    for problem in some_problems(1, 10, 10, vision, **rules):
        ours = agents.run(name, problem, weight=1, trials=3, **settings)
        theirs = agents.run(base, problem, trials=3, **settings)
        assert [one.path.tolist() for one in ours.trials] == [one.path.tolist() for one in theirs.trials]
        assert (ours.expansions, ours.scans, ours.h_updates) == (theirs.expansions, theirs.scans, theirs.h_updates)


@pytest.mark.parametrize("weight", [2, 5])
@each_name
@given(drawn=problems(max_side=9), vision=st.sampled_from([None, 1]))
@examples(60)
def test_trials_end_with_a_path_of_at_most_the_weight_times_the_optimum(
    name: str, weight: int, drawn: Any, vision: int | None
) -> None:
    grid, start, goal = drawn
    problem = Problem(grid, start, goal, vision, allow_unsolvable=True)
    run = agents.run(name, problem, weight=weight, trials="converge", **BASES[name][1])
    if run.solved:
        last = run.each[-1]
        assert run.converged
        assert last.exact_cost <= weight * problem.optimal_cost
    else:
        assert run.outcome == "no path"
        assert not problem.connected


@each_name
@pytest.mark.parametrize("value", [0, 33, 1.5, None, "two", True])
def test_a_weight_out_of_range_is_refused_by_name(name: str, value: Any) -> None:
    assert_refused(name, "weight", value)
