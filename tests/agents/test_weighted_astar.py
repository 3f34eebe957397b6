"""Weighted A*: the weight that it takes, and what it is with a weight of one."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import agents
from reference.checks import assert_refused
from reference.plain_oracle import random_problem
from rt_gym import Problem


def test_a_weight_of_one_walks_and_pays_like_a_star() -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        grid, start, goal = random_problem(rng, 16)
        problem = Problem(grid, start, goal, vision=int(rng.integers(1, 4)))
        plain, weighted = agents.run("astar", problem), agents.run("weighted-astar", problem, weight=1)
        assert weighted.path.tolist() == plain.path.tolist()
        assert weighted.expansions == plain.expansions


def test_a_weight_is_the_fraction_it_was_written_as() -> None:
    assert agents.make("weighted-astar", weight=1.1).weight == Fraction(11, 10)
    assert agents.make("weighted-astar", weight=Fraction(4, 3)).weight == Fraction(4, 3)


@pytest.mark.parametrize("value", [0, 0.99, -2, 1001, float("nan"), float("inf"), "2", None, True, 2j])
def test_a_value_out_of_range_is_refused_by_name(value: Any) -> None:
    assert_refused("weighted-astar", "weight", value)
