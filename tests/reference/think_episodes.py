"""Episodes of thinking and acting: how they are made and walked."""

from collections.abc import Iterable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np

import rt_gym
from rt_gym import Grid, Problem

ACT, THINK = range(2)
ROOM = Grid(np.ones((9, 9)), name="room")

Step = tuple[Any, ...]


def make(*chosen: Problem, **more: Any) -> gym.Env[Any, Any]:
    return gym.make("RTThink-v0", problems=list(chosen), disable_env_checker=True, **more)


def run(env: gym.Env[Any, Any], actions: Iterable[int]) -> Iterator[Step]:
    """Yield what every step returns, and where the agent stands after it, until the episode ends."""
    for action in actions:
        step = env.step(action)
        yield *step, rt_gym.view(env).position
        if step[2] or step[3]:
            return


def fixed(env: gym.Env[Any, Any], slices: int) -> Iterator[Step]:
    """Think so many slices whenever nothing is committed, then walk to the end of the path."""
    state = env.unwrapped._memory.state

    def actions() -> Iterator[int]:
        while True:
            searching = state[0].searching != 0
            yield THINK if searching and state[0].slices < slices else ACT  # to act with nothing known is to think

    return run(env, actions())


def path(problem: Problem, walked: list[Step]) -> list[Any]:
    return [problem.start, *(step[5] for step in walked if not step[4]["thought"])]


def cells(record: Any) -> list[Any]:
    return [tuple(cell) for cell in record.path.tolist()]
