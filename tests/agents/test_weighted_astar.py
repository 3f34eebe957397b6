"""Weighted A*: the weight that it takes, and what it is with a weight of one."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import agents
from reference.checks import assert_refused
from reference.plain_oracle import random_problem
from rt_gym import Grid, InputError, Problem


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


def test_a_weight_that_would_overflow_on_a_long_map_is_refused() -> None:
    # 2**63 / 2**40 steps is what f can hold; a path through all cells may take up to sqrt(2) each of it.
    problem = Problem(Grid(np.ones((1, 1_000_000))), (999_990, 0), (0, 0))
    with pytest.raises(InputError, match=r"^weight must be at most 4 on a map of this size, not 9$"):
        agents.run("weighted-astar", problem, weight=9)
    run = agents.run("weighted-astar", problem, weight=4)
    assert (run.solved, run.moves, run.expansions) == (True, 999_990, 999_990)


def test_no_map_is_too_large_for_a_weight_of_one_and_a_half() -> None:
    for shape in ((1, 1_398_098), (2046, 2046)):
        assert agents.run("weighted-astar", Problem(Grid(np.ones(shape)), (0, 0), (5, 0))).cost == 5
