"""Late-acting A*: trials worked out on paper, what it has in common with A*, and which parameters are refused."""

from typing import Any

import numpy as np
import pytest

import agents
from reference.checks import assert_astar, assert_refused, some_problems
from reference.small_maps import HOOK, ROUND_THE_HOOK
from reference.traces import slices


@pytest.mark.plain
class TestTraces:
    def test_to_and_fro_until_the_path_is_known(self) -> None:
        # The eighth expansion finds the path. By then seven moves are made, so the agent is away and returns first.
        path, expansions, steps = slices("late-astar", HOOK, R=2, r=0.5)
        assert path[0:9:2] == [(1, 0)] * 5
        assert set(path[1:8:2]) <= {(1, 1), (0, 0), (0, 1)}
        assert path[8:] == ROUND_THE_HOOK
        assert expansions == [1] * 8 + [0] * 6
        assert steps == [0] * 14

    def test_found_at_once_it_goes_at_once(self) -> None:
        path, expansions, _ = slices("late-astar", HOOK, R=9)
        assert path == ROUND_THE_HOOK
        assert expansions == [8, 0, 0, 0, 0, 0]


@pytest.mark.plain
def test_with_all_at_once_it_is_a_star() -> None:
    assert_astar("late-astar")


def test_late_costs_more_than_early_and_both_less_with_more_units() -> None:
    problems = some_problems(4, 200, 24)
    means = {
        (owner, R): np.mean([agents.run(owner, problem, R=R).cost for problem in problems])
        for owner in ("tba", "late-astar")
        for R in (4, 16, 64, 10_000)
    }
    for owner in ("tba", "late-astar"):
        costs = [means[owner, R] for R in (4, 16, 64, 10_000)]
        assert costs == sorted(costs, reverse=True)
    assert all(means["late-astar", R] > means["tba", R] for R in (4, 16))
    assert means["late-astar", 10_000] == means["tba", 10_000]


def test_the_budget_chooses_the_units() -> None:
    assert agents.make("late-astar", budget=100).bound == 90


@pytest.mark.parametrize(
    ("R", "r", "share"), [(10, 0.9, 9), (10, 0.7, 7), (100, 0.29, 29), (25, 0.9, 22), (2, 0.9, 1), (3, 0.1, 1)]
)
def test_the_share_of_expansions_is_rounded_down(R: int, r: float, share: int) -> None:
    assert agents.make("late-astar", R=R, r=r).bound == share


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("R", value) for value in (0, -5, 2.5, "9", None, True, 10**30)),
        *(("r", value) for value in (0, 1, -1, float("nan"), "1", True)),
    ],
)
def test_a_value_out_of_range_is_refused_by_name_in_one_sentence(name: str, value: Any) -> None:
    assert_refused("late-astar", name, value)
