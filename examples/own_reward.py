"""A reward of one's own, for a single environment and for a batch, and why it should be a potential.

    python examples/own_reward.py                  # seconds
    python examples/own_reward.py --steps 1000000  # two minutes: a learner with the own reward in a batch

A potential says how good a state is; the shaped reward pays what a step gains of it, gamma * after - before. Summed up
with the discount this telescopes to what the first and the last state are worth, so that all ways to the goal gain the
same and the best one stays the best (A. Y. Ng, D. Harada and S. Russell, ICML 1999). A mere bonus for progress, which
never takes back what it gave, pays for detours and most of all for pacing to and fro. The argument ``shaping`` of the
environments is such a potential, minus the heuristic; here one is made by hand.
"""

import argparse
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

import agents
import rt_gym
from rt_gym.envs.sb3 import SB3VecEnv

LEVEL, VALIDATION, TEST = "RTPath-Random-16x16-v0", "random-16-validation", "random-16-test"
SEEN = {"visits": True}  # how often each cell around was visited: the memory of a policy that has no other
GAMMA, WEIGHT = 0.99, 3.0  # the discount, and what one step nearer to the goal is worth


def potential(env: Any, observation: NDArray[np.float32]) -> Any:
    """Return minus the weighted distance to the goal by the heuristic, of one observation or of a batch of them."""
    settings = env.unwrapped.settings
    if settings.observation != "box":
        raise rt_gym.InputError(f'the potential reads the flat observation, "box", not {settings.observation!r}')
    return -WEIGHT * settings.side * observation[..., settings.parts["history"].start].astype(np.float64)


class Shaped(gym.Wrapper):
    """Pays what every step gains of the potential."""

    def __init__(self, env: gym.Env, gamma: float) -> None:
        super().__init__(env)
        self.gamma = gamma

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(**given)
        self.before = potential(self, observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make a step; what it gains is kept in the info as well."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        after = potential(self, observation)
        gained, self.before = self.gamma * after - self.before, after
        return observation, reward + gained, terminated, truncated, info | {"gained": gained}


class ShapedBatch(gym.vector.VectorWrapper):
    """The same for a batch: nothing is gained by the step from the end of one episode to the beginning of another."""

    def __init__(self, env: gym.vector.VectorEnv, gamma: float) -> None:
        super().__init__(env)
        self.gamma, self.mode = gamma, env.metadata["autoreset_mode"]

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Begin episodes."""
        observations, infos = self.env.reset(**given)
        self.before, self.over = potential(self, observations), np.zeros(self.num_envs, bool)
        return observations, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Make a step of every episode."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        now = potential(self, observations)
        after = now.copy()
        for i in np.flatnonzero(infos.get("_final_obs", ())):  # SAME_STEP: the next episode has begun already
            after[i] = potential(self, infos["final_obs"][i])
        gained = self.gamma * after - self.before
        if self.mode is AutoresetMode.NEXT_STEP:
            gained[self.over] = 0.0  # this step only began the next episode
        self.before, self.over = now, terminated | truncated
        return observations, rewards + gained, terminated, truncated, infos | {"gained": gained}


class ToAndFro:
    """An agent that takes the step which leads nearest to the goal, and then goes back."""

    def reset(self, view: rt_gym.View, seed: int | None = None) -> None:
        """Begin an episode."""
        self.view, self.home = view, view.position

    def act(self) -> int:
        """Return the next move."""
        moves = self.view.neighbours(self.view.position)
        if self.view.position != self.home:
            return next(action for action, cell, _ in moves if cell == self.home)
        return min(moves, key=lambda move: self.view.heuristic(move[1]))[0]


def walk(agent: Any, problem: rt_gym.Problem) -> tuple[float, float, float]:
    """Let an agent walk, and return minus its cost, what the potential gains, and what a mere bonus would give."""
    env = Shaped(gym.make(LEVEL, split=None, problems=[problem], max_moves=200), gamma=1.0)
    env.reset(seed=0)
    agent.reset(rt_gym.view(env), seed=0)
    total = gained = bonus = 0.0
    over = False
    while not over:
        _, reward, terminated, truncated, info = env.step(agent.act())
        total, gained, bonus = total + reward, gained + info["gained"], bonus + max(info["gained"], 0.0)
        over = terminated or truncated
    return total - gained, gained, bonus


def compare_ways() -> None:
    """Print what ways of behaving are worth: the potential leaves their order as it is, a mere bonus does not."""
    problem = rt_gym.splits.load(VALIDATION).problems[0]
    ways = {"astar": agents.make("astar"), "lrta": agents.make("lrta", depth=1), "to and fro": ToAndFro()}
    for name, agent in ways.items():
        plain, gained, bonus = walk(agent, problem)
        print(
            f"{name:10} {plain:6.1f}, with the potential {plain + gained:6.1f}, with a mere bonus {plain + bonus:6.1f}"
        )


def learned(steps: int, seed: int) -> MaskablePPO:
    """Return a learner that was paid by the own reward, in sixteenths, which suits its critic."""
    mode = AutoresetMode.SAME_STEP  # what Stable-Baselines3 needs
    batch = gym.make_vec(
        LEVEL, 128, vectorization_mode="vector_entry_point", autoreset_mode=mode, max_moves=128, **SEEN
    )
    env = SB3VecEnv(gym.wrappers.vector.TransformReward(ShapedBatch(batch, GAMMA), lambda rewards: rewards / 16))
    model = MaskablePPO(
        "MlpPolicy", env, learning_rate=1e-3, n_steps=32, batch_size=512, n_epochs=4, gamma=GAMMA, ent_coef=0.01,
        max_grad_norm=10.0, seed=seed, device="cpu",
        policy_kwargs={"net_arch": [64, 64], "activation_fn": torch.nn.ReLU},
    )  # fmt: skip
    return model.learn(steps)


def main() -> None:
    """Compare ways, learn with the own reward, and judge by costs, which no reward changes."""
    parser = argparse.ArgumentParser(description="A reward of one's own")
    parser.add_argument("--steps", type=int, default=16_384, help="of all episodes together")
    parser.add_argument("--seed", type=int, default=0, help="of all chance")
    options = parser.parse_args()
    torch.set_num_threads(1)  # networks this small are slower on more
    compare_ways()
    model = learned(options.steps, options.seed)
    found = {name: rt_gym.evaluate(LEVEL, name, TEST) for name in ("random", "greedy")}
    found["MaskablePPO"] = rt_gym.evaluate(LEVEL, model, TEST, deterministic=False, **SEEN)
    reached = ", ".join(f"{name} {one.summary.solved.value:.0%}" for name, one in found.items())
    print(f"solved of {TEST}: {reached} after {model.num_timesteps:,} steps")


if __name__ == "__main__":
    main()
