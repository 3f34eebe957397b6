"""Stable-Baselines3: PPO learns to walk in a level, and is judged on maps that it has never seen.

    python examples/sb3_ppo.py                  # seconds: it runs
    python examples/sb3_ppo.py --steps 1500000  # minutes: it learns

``SB3VecEnv`` is a ``VecEnv``: all episodes are stepped in one kernel call, and its infos hold the returns and lengths
that ``Monitor`` would, so that it needs no wrapper. Others of Stable-Baselines3, such as ``VecNormalize``, go around
it; ``stack=4`` stacks frames. sb3_masks.py leaves out actions that lead into walls.
"""

import argparse

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.torch_layers import FlattenExtractor

import rt_gym
from rt_gym.envs.sb3 import SB3VecEnv

LEVEL, TEST = "RTPath-Random-16x16-v0", "random-16-test"
SEEN = {"visits": True}  # how often each cell around was visited: the memory of a policy that has no other
GAMMA = 0.99


class Scaled(FlattenExtractor):
    """Makes one step to the goal and one visit about as large as a wall, which is 1."""

    def __init__(self, observation_space, parts) -> None:
        super().__init__(observation_space)
        scale = torch.ones(self.features_dim)
        scale[parts["goal"]] = scale[parts["visits"]] = 4.0
        self.register_buffer("scale", scale)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return what the networks read."""
        return super().forward(observations) * self.scale


def main() -> None:
    """Learn, and judge what was learned."""
    parser = argparse.ArgumentParser(description="PPO of Stable-Baselines3 in a level")
    parser.add_argument("--steps", type=int, default=16_384, help="of all episodes together")
    parser.add_argument("--seed", type=int, default=0, help="of all chance")
    options = parser.parse_args()
    torch.set_num_threads(1)  # networks this small are slower on more

    # A return is minus the suboptimality, shaped by the heuristic; episodes that lead nowhere are cut early.
    env = SB3VecEnv(LEVEL, num_envs=128, reward="normalised", shaping=GAMMA, max_moves=128, **SEEN)
    parts = env.get_attr("settings")[0].parts  # where the parts of an observation stand in the flat vector
    model = PPO(
        "MlpPolicy", env, learning_rate=1e-3, n_steps=32, batch_size=512, n_epochs=4, gamma=GAMMA, ent_coef=0.001,
        max_grad_norm=10.0, seed=options.seed, device="cpu",
        policy_kwargs={
            "net_arch": [64, 64],
            "activation_fn": torch.nn.ReLU,
            "features_extractor_class": Scaled,
            "features_extractor_kwargs": {"parts": parts},
        },
    )  # fmt: skip
    model.learn(options.steps)

    found = {name: rt_gym.evaluate(LEVEL, name, TEST) for name in ("random", "greedy")}
    found["PPO"] = rt_gym.evaluate(LEVEL, model, TEST, deterministic=False, **SEEN)  # by chance, as when it learned
    for name, one in found.items():
        print(f"{name:6} walks {one.summary.suboptimality.value:5.2f} times the optimal cost where it arrives")
    reached = ", ".join(f"{name} {one.summary.solved.value:.0%}" for name, one in found.items())
    print(f"solved of {TEST}: {reached} after {model.num_timesteps:,} steps")


if __name__ == "__main__":
    main()
