"""Learners: batched episodes through the adapter beside as many single environments, and PPO from end to end."""

import time
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from measure import Row, alternate, digits, heading, print_rows, ratio
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from rt_gym.envs.sb3 import SB3VecEnv

EPISODES = 64
STEPS = 100  # of every episode
LEARNED = 65_536  # steps of PPO
SETTINGS: dict[str, dict[str, Any]] = {
    "RTPath-v0": {"map": "terrain-512", "window": 11},
    "RTDepth-v0": {"map": "terrain-512", "budget": None},
}
HIGHEST = 5  # of the depths that are drawn, so that both spend little of their time in the same searches


def drive(env: VecEnv, actions: list[Any]) -> None:
    env.reset()
    for chosen in actions:
        env.step(chosen)


def adapter(env_id: str) -> Row:
    """Step through the same actions."""
    settings, random = SETTINGS[env_id], np.random.default_rng(0)
    ours = SB3VecEnv(env_id, EPISODES, **settings)
    theirs = DummyVecEnv([partial(gym.make, env_id, **settings)] * EPISODES)
    most = min(HIGHEST, ours.action_space.n) if env_id == "RTDepth-v0" else ours.action_space.n
    actions = list(random.integers(most, size=(STEPS, EPISODES)))
    batched, single = alternate(partial(drive, ours, actions), partial(drive, theirs, actions), repeats=3)
    steps = STEPS * EPISODES
    return ratio(f"{env_id}, a step of {EPISODES}", batched / steps, "DummyVecEnv", single / steps, 10)


def learner(env_id: str) -> Row:
    """Let PPO learn with the settings of ``rt-gym train rl``."""
    env = SB3VecEnv(env_id, 256, **SETTINGS[env_id])
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=2048, n_epochs=4, device="cpu", seed=0)
    began = time.perf_counter()
    model.learn(LEARNED)
    return Row(f"PPO in {env_id}", "steps per second, wall", digits(LEARNED / (time.perf_counter() - began)))


if __name__ == "__main__":
    heading("Learners")
    print_rows([*map(adapter, SETTINGS), *map(learner, SETTINGS)])
