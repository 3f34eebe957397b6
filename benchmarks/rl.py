"""Learners: batched episodes through the adapter beside as many single environments, and PPO from end to end."""

import time
from functools import partial
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from measure import Row, cpu_seconds, digits, heading, least, print_rows, ratio, wall_seconds
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from rt_gym import load_map, sample_problems
from rt_gym.envs.sb3 import SB3VecEnv

STEPS = 100  # of every episode
LEARNED = 65_536  # steps of PPO
PROBLEMS = sample_problems(load_map("terrain-512"), 100)  # drawn once, not by every single environment for itself
SETTINGS: dict[str, dict[str, Any]] = {
    "RTPath-v0": {"problems": PROBLEMS, "window": 11},
    "RTDepth-v0": {"problems": PROBLEMS, "budget": None},
}


class Case(NamedTuple):
    """What is stepped, by random actions below ``most``; with more than one thread the wall clock counts.

    In RTDepth-v0 these are depths. The deeper the search, the more of their time both spend in the same kernel: at
    depths up to 5 it alone takes about an eighth of what a single environment takes for a step, among 64.
    """

    env_id: str
    episodes: int
    most: int
    threads: int = 1


CASES = (
    Case("RTPath-v0", 64, 8),
    Case("RTDepth-v0", 64, 5),
    Case("RTDepth-v0", 64, 1),
    Case("RTDepth-v0", 256, 5),
    Case("RTDepth-v0", 256, 1),
    Case("RTDepth-v0", 256, 5, threads=2),
)


def drive(env: VecEnv, actions: list[Any]) -> None:
    env.reset()
    for chosen in actions:
        env.step(chosen)


def adapter(case: Case) -> Row:
    """Step through the same actions."""
    env_id, episodes, most, threads = case
    settings, random = SETTINGS[env_id], np.random.default_rng(0)
    ours = SB3VecEnv(env_id, episodes, **settings, threads=threads)
    theirs = DummyVecEnv([partial(gym.make, env_id, **settings)] * episodes)
    actions = list(random.integers(most, size=(STEPS, episodes)))
    clock = cpu_seconds if threads == 1 else wall_seconds
    batched, single = least(*(partial(clock, partial(drive, env, actions)) for env in (ours, theirs)), repeats=3)
    depths = "" if env_id == "RTPath-v0" else ", depth 1" if most == 1 else f", depths 1 to {most}"
    how = "" if threads == 1 else f", {threads} threads, wall"
    each = STEPS * episodes
    return ratio(f"{env_id}{depths}, a step of {episodes}{how}", batched / each, "DummyVecEnv", single / each, 10)


def learner(env_id: str) -> Row:
    """Let PPO learn with the settings of ``rt-gym train rl``."""
    env = SB3VecEnv(env_id, 256, **SETTINGS[env_id])
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=2048, n_epochs=4, device="cpu", seed=0)
    began = time.perf_counter()
    model.learn(LEARNED)
    return Row(f"PPO in {env_id}", "steps per second, wall", digits(LEARNED / (time.perf_counter() - began)))


if __name__ == "__main__":
    heading("Learners")
    print_rows([*map(adapter, CASES), *map(learner, SETTINGS)])
