"""sb3-contrib: MaskablePPO never tries a move into a wall.

    python examples/sb3_masks.py                 # seconds: it has begun to learn
    python examples/sb3_masks.py --steps 1000000 # two minutes: it solves most of the test split

Which actions lead somewhere is told in three places, and they agree: ``info["action_mask"]`` of ``reset`` and ``step``,
``env.unwrapped.action_masks()`` of a single environment, and ``SB3VecEnv.action_masks()``, which the learner asks for
by itself. No ``ActionMasker`` is needed.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks

import rt_gym
from rt_gym.envs.sb3 import SB3VecEnv

LEVEL, TEST = "RTPath-Random-16x16-v0", "random-16-test"
SEEN = {"visits": True}  # how often each cell around was visited: the memory of a policy that has no other
GAMMA = 0.99


def learned(steps: int, seed: int) -> MaskablePPO:
    """Return a learner after so many steps."""
    env = SB3VecEnv(LEVEL, num_envs=128, reward="normalised", shaping=GAMMA, max_moves=128, **SEEN)
    model = MaskablePPO(
        "MlpPolicy", env, learning_rate=1e-3, n_steps=32, batch_size=512, n_epochs=4, gamma=GAMMA, ent_coef=0.01,
        max_grad_norm=10.0, seed=seed, device="cpu",
        policy_kwargs={"net_arch": [64, 64], "activation_fn": torch.nn.ReLU},
    )  # fmt: skip
    return model.learn(steps)


def walk(model: MaskablePPO, seed: int) -> int:
    """Walk once in a single environment, with the masks in hand, and return how often it bumped into something."""
    env = gym.make(LEVEL, split=TEST, max_moves=128, **SEEN)
    observation, info = env.reset(seed=seed)
    bumps, over = 0, False
    while not over:
        assert np.array_equal(get_action_masks(env), info["action_mask"])
        action, _ = model.predict(observation, action_masks=info["action_mask"])
        observation, _, terminated, truncated, info = env.step(int(action))
        bumps, over = bumps + info["blocked"], terminated or truncated
    return bumps


def main() -> None:
    """Learn, walk once, and judge what was learned; ``rt_gym.evaluate`` hands the masks over by itself."""
    parser = argparse.ArgumentParser(description="MaskablePPO of sb3-contrib in a level")
    parser.add_argument("--steps", type=int, default=16_384, help="of all episodes together")
    parser.add_argument("--seed", type=int, default=0, help="of all chance")
    options = parser.parse_args()
    torch.set_num_threads(1)  # networks this small are slower on more
    model = learned(options.steps, options.seed)
    print(f"{walk(model, options.seed)} moves of a walk led into a wall")

    found = {name: rt_gym.evaluate(LEVEL, name, TEST) for name in ("random", "greedy")}
    found["MaskablePPO"] = rt_gym.evaluate(LEVEL, model, TEST, deterministic=False, **SEEN)
    for name, one in found.items():
        print(f"{name:11} walks {one.summary.suboptimality.value:5.2f} times the optimal cost where it arrives")
    reached = ", ".join(f"{name} {one.summary.solved.value:.0%}" for name, one in found.items())
    print(f"solved of {TEST}: {reached} after {model.num_timesteps:,} steps")


if __name__ == "__main__":
    main()
