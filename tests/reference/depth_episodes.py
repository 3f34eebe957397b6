"""Episodes of depth control: how they are made and walked."""

import itertools
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

import rt_gym
from rt_gym import Problem

ACT, DEEPEN = range(2)
IDS = ("RTDepth-v0", "RTDeepen-v0")
each_id = pytest.mark.parametrize("env_id", IDS)


def make(env_id: str, *chosen: Problem, **more: Any) -> gym.Env[Any, Any]:
    return gym.make(env_id, problems=list(chosen), disable_env_checker=True, **more)


def actions_for(env_id: str, depth: int) -> list[int]:
    """Return the actions that make a decision of this depth."""
    return [depth - 1] if env_id == "RTDepth-v0" else [DEEPEN] * (depth - 1) + [ACT]


def steps(env: gym.Env[Any, Any], depth: int) -> Iterator[tuple[Any, ...]]:
    """Make decisions of one depth until the episode ends."""
    env_id = env.spec.id if env.spec else ""
    for action in itertools.cycle(actions_for(env_id, depth)):
        step = env.step(action)
        yield *step, rt_gym.view(env).position
        if step[2] or step[3]:
            return


def path(problem: Problem, walked: list[tuple[Any, ...]]) -> list[Any]:
    return [problem.start, *(step[5] for step in walked if step[4]["moved"])]
