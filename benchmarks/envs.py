"""The environments beside Gymnasium's CartPole-v1, single and batched."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from measure import Row, alternate, arguments, at_least, at_most, heading, holds, print_rows, ratio

import rt_gym

STEPS = 20_000
BATCHED_STEPS = 200
RESETS = 1_000
MILLION = 1_000_000


def drive(env: gym.Env[Any, Any], actions: list[int]) -> None:
    """Step through prepared actions and store every observation, as a learner does."""
    stored = np.empty((len(actions), *env.observation_space.shape), np.float32)
    env.reset(seed=0)
    for k, action in enumerate(actions):
        stored[k], _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()


def balance(env: gym.Env[Any, Any], steps: int) -> None:
    """The same on CartPole, held upright so that it is seldom reset."""
    stored = np.empty((steps, 4), np.float32)
    observation, _ = env.reset(seed=0)
    for k in range(steps):
        observation, _, terminated, truncated, _ = env.step(int(observation[2] + observation[3] > 0))
        stored[k] = observation
        if terminated or truncated:
            observation, _ = env.reset()
