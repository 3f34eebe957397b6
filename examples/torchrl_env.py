"""TorchRL: a batch of episodes behind ``GymWrapper``, action masks, a collector, and PPO from TorchRL's parts.

    python examples/torchrl_env.py                 # seconds: it runs
    python examples/torchrl_env.py --steps 500000  # minutes: it learns

TorchRL is not among the extras: ``pip install torchrl``. A batch must not begin episodes by itself
(``AutoresetMode.DISABLED``); the collector asks for the resets. Make the environment with Gymnasium and wrap it:
TorchRL's ``GymEnv`` adds arguments that these environments do not have, and they refuse what they do not know.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import Binary, Composite
from torchrl.envs import Compose, DTypeCastTransform, GymWrapper, InitTracker, TransformedEnv, check_env_specs
from torchrl.envs.gym_like import default_info_dict_reader
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import rt_gym

LEVEL, TEST = "RTPath-Random-16x16-v0", "random-16-test"
SEEN = {"visits": True}  # how often each cell around was visited: the memory of a policy that has no other
GAMMA, EPISODES, LENGTH, MINIBATCH, EPOCHS = 0.99, 128, 32, 512, 4


def made() -> TransformedEnv:
    """Return a batch of episodes whose tensordicts hold the action masks, too."""
    batch = gym.make_vec(
        LEVEL, EPISODES, vectorization_mode="vector_entry_point", autoreset_mode=gym.vector.AutoresetMode.DISABLED,
        reward="normalised", shaping=GAMMA, max_moves=128, **SEEN,
    )  # fmt: skip
    env = GymWrapper(batch, categorical_action_encoding=True)
    masks = Composite(action_mask=Binary(shape=(EPISODES, 8), dtype=torch.int8), shape=(EPISODES,))
    env = env.set_info_dict_reader(default_info_dict_reader(["action_mask"], spec=masks))
    as_booleans = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    return TransformedEnv(env, Compose(as_booleans, InitTracker()))  # the collector wants to know where episodes begin


def layers(inputs: int, outputs: int) -> nn.Sequential:
    """Return a small network."""
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs))


def actor_and_critic(env: TransformedEnv) -> tuple[ProbabilisticActor, ValueOperator]:
    """Return a policy that reads observations and masks, and the values of states."""
    inputs = env.observation_spec["observation"].shape[-1]
    scores = TensorDictModule(layers(inputs, 8), in_keys=["observation"], out_keys=["logits"])
    actor = ProbabilisticActor(
        scores, in_keys={"logits": "logits", "mask": "action_mask"}, distribution_class=MaskedCategorical,
        spec=env.action_spec, return_log_prob=True,
    )  # fmt: skip
    return actor, ValueOperator(layers(inputs, 1), in_keys=["observation"])


def learn(env: TransformedEnv, actor: ProbabilisticActor, critic: ValueOperator, steps: int) -> int:
    """Let PPO learn from what a collector brings, and return how many steps that were."""
    advantage = GAE(gamma=GAMMA, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    batch = EPISODES * LENGTH
    collector = Collector(env, actor, frames_per_batch=batch, total_frames=-(-steps // batch) * batch)
    done = 0
    for data in collector:
        done += data.numel()
        for _ in range(EPOCHS):
            with torch.no_grad():
                advantage(data)
            rows = data.reshape(-1)
            for chosen in torch.randperm(len(rows)).split(MINIBATCH):
                parts = loss(rows[chosen])
                optimizer.zero_grad()
                (parts["loss_objective"] + 0.5 * parts["loss_critic"] + parts["loss_entropy"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 10.0)
                optimizer.step()
    return done


def main() -> None:
    """Check the specs, learn, and judge what was learned."""
    parser = argparse.ArgumentParser(description="PPO of TorchRL in a level")
    parser.add_argument("--steps", type=int, default=8192, help="of all episodes together")
    parser.add_argument("--seed", type=int, default=0, help="of all chance")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)  # networks this small are slower on more
    env = made()
    check_env_specs(env)
    env.set_seed(options.seed)
    actor, critic = actor_and_critic(env)
    steps = learn(env, actor, critic, options.steps)

    @torch.no_grad()
    def choose(observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        scores = actor.module[0].module(torch.from_numpy(observations))
        return MaskedCategorical(logits=scores, mask=torch.from_numpy(masks).bool()).sample().numpy()

    found = {name: rt_gym.evaluate(LEVEL, name, TEST) for name in ("random", "greedy")}
    found["PPO"] = rt_gym.evaluate(LEVEL, choose, TEST, **SEEN)
    reached = ", ".join(f"{name} {one.summary.solved.value:.0%}" for name, one in found.items())
    print(f"solved of {TEST}: {reached} after {steps:,} steps")


if __name__ == "__main__":
    main()
