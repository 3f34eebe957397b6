"""Splits: what is in them, that no map is in two of them, and that they can never change unnoticed."""

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rt_gym import InputError, Problem, splits
from rt_gym.levels import LEVELS

FAMILIES = ("terrain", "caves", "rooms", "mazes", "mixed")
MAPS = {"train": 16, "validation": 8, "test": 16}
NAMES = [f"{family}-{part}" for family in FAMILIES for part in MAPS]
every_split = pytest.mark.parametrize("name", NAMES)


def heuristic(problem: Problem) -> float:
    across, down = (abs(a - b) for a, b in zip(problem.start, problem.goal, strict=True))
    return max(across, down) + (np.sqrt(2) - 1) * min(across, down)


def test_every_family_and_every_level_has_three_parts() -> None:
    assert splits.names() == [*NAMES, *(f"{name}-{part}" for name in LEVELS for part in MAPS)]


@every_split
def test_a_split_is_the_one_that_was_published(name: str) -> None:
    assert splits.load(name).digest == splits._DIGESTS[name]


def test_the_digest_covers_maps_starts_goals_and_true_optimal_costs() -> None:
    split = splits.load("mixed-validation")
    searched = tuple(Problem(one.grid, one.start, one.goal) for one in split.problems)
    assert replace(split, problems=searched).digest == split.digest
    turned = tuple(Problem(one.grid, one.goal, one.start) for one in split.problems)
    assert replace(split, problems=turned).digest != split.digest


@every_split
def test_every_map_has_sixteen_different_problems_in_its_order(name: str) -> None:
    split = splits.load(name)
    assert len(split.grids) == MAPS[name.split("-")[1]]
    assert [problem.grid for problem in split.problems] == [grid for grid in split.grids for _ in range(16)]
    assert len(set(split.problems)) == len(split.problems)


@every_split
def test_optimal_costs_lie_in_the_range_and_the_heuristic_misleads(name: str) -> None:
    problems = splits.load(name).problems
    assert all(64 <= problem.optimal <= 256 for problem in problems if problem.optimal is not None)
    assert np.mean([(problem.optimal or 0.0) / heuristic(problem) for problem in problems]) > 1.4


def test_no_map_stands_in_two_splits() -> None:
    digests = [grid.digest for name in NAMES for grid in splits.load(name).grids]
    assert len(digests) == len(set(digests)) == 200


@pytest.mark.parametrize("family", FAMILIES)
def test_the_parts_of_a_family_share_their_observations(family: str) -> None:
    envs = [gym.make("RTPath-v0", problems=splits.load(f"{family}-{part}").problems).unwrapped for part in MAPS]
    assert len({env.settings.side for env in envs}) == 1  # type: ignore[attr-defined]
    assert envs[0].observation_space == envs[1].observation_space == envs[2].observation_space


def test_mixed_splits_hold_all_kinds_in_equal_numbers() -> None:
    kinds = [grid.name.split("-1")[0] for grid in splits.load("mixed-validation").grids]
    assert kinds == ["terrain", "caves", "rooms", "maze-holes"] * 2


def test_a_second_load_makes_no_maps_again() -> None:
    assert splits.load("rooms-validation") is splits.load("rooms-validation")


def test_the_fog_is_the_environment_s() -> None:
    env = gym.make("RTPathFog-v0", problems=splits.load("mazes-validation").problems)
    assert {problem.vision for problem in env.unwrapped.settings.pool} == {1}  # type: ignore[attr-defined]


def test_a_split_prints_as_its_name() -> None:
    assert repr(splits.load("caves-validation")) == "Split(name='caves-validation')"


@pytest.mark.parametrize("name", ["caves", "caves-dev", "", None, ["caves-train"], np.zeros(2)])
def test_an_unknown_split_is_refused_with_the_known_ones(name: Any) -> None:
    with pytest.raises(
        InputError, match=r"there is no split .*: give FAMILY-PART, where PART is .* FAMILY one of terrain, "
    ):
        splits.load(name)


def test_a_generator_that_changes_a_split_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    generate = splits.generate
    monkeypatch.setattr(splits, "generate", lambda seed, **parameters: generate(**parameters, seed=seed + 100))
    with pytest.raises(InputError, match=r"the split rooms-test comes out as .* instead of"):
        splits._made.__wrapped__("rooms-test")
