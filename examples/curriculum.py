"""A curriculum: one policy goes from level to level, each time it solves enough of the validation split.

    python examples/curriculum.py                               # seconds: a promotion at a low bar
    python examples/curriculum.py --steps 200000 --enough 0.9   # two minutes: through two levels, into a third

The same network fits wherever the observation and action spaces are equal: the same ``window``, ``visits`` and
``observation``, known maps or fog in all levels, the same number of moves; and in Stable-Baselines3 as many episodes
side by side. Equal spaces are not yet an equal meaning. Coordinates are divided by the side of the map, so that one
step is 1/16 in one level and 1/32 in the next: ``InCells`` undoes that. It leaves out the position, as large maps have
places that small ones do not. ``rt_gym.envs.level_ids()`` lists all levels; those in fog need a network of their own.
"""

import argparse
from typing import Any

import gymnasium as gym
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.torch_layers import FlattenExtractor

import rt_gym
from rt_gym.envs.sb3 import SB3VecEnv

LEVELS = "RTPath-Random-16x16-v0", "RTPath-Random-32x32-v0", "RTPath-Caves-32x32-v0", "RTPath-Rooms-32x32-v0"
SEEN = {"visits": True}  # how often each cell around was visited: the memory of a policy that has no other
GAMMA, EVERY = 0.99, 4096  # the discount, and the steps between two looks at the validation split


class InCells(FlattenExtractor):
    """Turns sides of a map into cells, so that numbers mean the same in all levels."""

    def __init__(self, observation_space: gym.Space) -> None:
        super().__init__(observation_space)
        self.register_buffer("scale", torch.ones(self.features_dim))

    def enter(self, settings: Any) -> None:
        """Take the scale of a level."""
        parts = settings.parts
        self.scale[parts["goal"]] = settings.side / 4.0
        self.scale[parts["position"]] = 0.0
        self.scale[parts["history"]][:2] = settings.side / 16.0  # the distances; the others are no distances
        self.scale[parts["visits"]] = 4.0

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return what the networks read."""
        return super().forward(observations) * self.scale


def split_of(level: str, part: str) -> str:
    """Return the name of a level's split: train, validation or test."""
    return gym.spec(level).kwargs["split"].replace("train", part)


def made(level: str, seed: int) -> SB3VecEnv:
    """Return episodes of a level that are cut after eight sides of its map."""
    side = rt_gym.splits.load(split_of(level, "train")).problems[0].grid.width
    env = SB3VecEnv(level, num_envs=128, reward="normalised", shaping=GAMMA, max_moves=8 * side, **SEEN)
    env.seed(seed)
    return env


def enter(model: MaskablePPO, level: str) -> None:
    """Let a learner go on in another level; spaces that differ are refused by Stable-Baselines3."""
    env = made(level, model.seed)
    model.set_env(env)
    model.policy.features_extractor.enter(env.get_attr("settings")[0])


def learner(seed: int) -> MaskablePPO:
    """Return an untrained learner in the first level."""
    return MaskablePPO(
        "MlpPolicy", made(LEVELS[0], seed), learning_rate=1e-3, n_steps=32, batch_size=512, n_epochs=4, gamma=GAMMA,
        ent_coef=0.01, max_grad_norm=10.0, seed=seed, device="cpu",
        policy_kwargs={"net_arch": [64, 64], "activation_fn": torch.nn.ReLU, "features_extractor_class": InCells},
    )  # fmt: skip


def judge(policy: Any, level: str, part: str, **more: Any) -> float:
    """Return the share of a split that is solved."""
    return rt_gym.evaluate(level, policy, split_of(level, part), deterministic=False, **more).summary.solved.value


def pass_level(model: MaskablePPO, level: str, enough: float, steps: int) -> None:
    """Learn in a level until enough of its validation split is solved, or the steps are used up."""
    enter(model, level)
    share = 0.0
    while share < enough and model.num_timesteps < steps:
        model.learn(EVERY, reset_num_timesteps=False)
        share = judge(model, level, "validation", **SEEN)
    print(f"{model.num_timesteps:9,} steps: {level} is left with {share:.0%}", flush=True)


def main() -> None:
    """Go through the levels until the steps are used up, and judge in the one that was reached."""
    parser = argparse.ArgumentParser(description="A curriculum of levels")
    parser.add_argument("--steps", type=int, default=24_576, help="of all episodes and levels together")
    parser.add_argument("--enough", type=float, default=0.3, help="share of the validation split that promotes")
    parser.add_argument("--seed", type=int, default=0, help="of all chance")
    options = parser.parse_args()
    torch.set_num_threads(1)  # networks this small are slower on more
    model = learner(options.seed)
    for level in LEVELS:
        pass_level(model, level, options.enough, options.steps)
        if model.num_timesteps >= options.steps:
            break
    reached = {name: judge(name, level, "test") for name in ("random", "greedy")}
    reached["MaskablePPO"] = judge(model, level, "test", **SEEN)
    shares = ", ".join(f"{name} {share:.0%}" for name, share in reached.items())
    print(f"solved of {split_of(level, 'test')}, level {LEVELS.index(level) + 1} of {len(LEVELS)}: {shares}")


if __name__ == "__main__":
    main()
