"""PPO in one file: plain PyTorch, a batch of episodes in one kernel call, masked actions.

    python examples/ppo_single_file.py                  # seconds: it has begun to learn
    python examples/ppo_single_file.py --steps 2000000  # two minutes: it solves nearly all of the test split

A batch begins its next episode with the step *after* an end (``AutoresetMode.NEXT_STEP``). That step ignores its
action and leads from the last observation of one episode to the first of another: nothing can be learned from it. So it
is left out of the losses, and no advantage is carried over it. In return the last observation of an episode that was
cut is at hand to bootstrap from.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributions import Categorical

import rt_gym
from rt_gym.envs.path import PathSettings

LEVEL, TEST = "RTPath-Random-16x16-v0", "random-16-test"
SEEN = {"visits": True}  # how often each cell around was visited: the memory of a policy that has no other
GAMMA, LAMBDA = 0.99, 0.95
EPISODES, LENGTH, MINIBATCH, EPOCHS = 128, 32, 512, 4
RATE, CLIP, ENTROPY, VALUE, NORM = 1e-3, 0.2, 0.01, 0.5, 10.0


class ActorCritic(nn.Module):
    """Two networks: scores of actions, and the value of a state."""

    def __init__(self, settings: PathSettings) -> None:
        super().__init__()
        scale = torch.ones(settings.size)
        for part in ("goal", "visits"):
            scale[settings.parts[part]] = 4.0  # one step and one visit are small beside a wall, which is 1
        self.register_buffer("scale", scale)
        self.actor, self.critic = layers(settings.size, settings.actions, 0.01), layers(settings.size, 1, 1.0)

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Categorical, Tensor]:
        """Return the distribution over the actions that lead somewhere, and values."""
        scaled = observations * self.scale
        return Categorical(logits=self.actor(scaled).masked_fill(~masks, -1e9)), self.critic(scaled).squeeze(-1)

    @torch.no_grad()
    def choose(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return actions for a batch, as ``rt_gym.evaluate`` asks for them; by chance, as when it learned."""
        return self(torch.from_numpy(observations), torch.from_numpy(masks).bool())[0].sample().numpy()


def layers(inputs: int, outputs: int, last: float) -> nn.Sequential:
    """Return a network whose last layer begins with weights of this size."""
    linear = [nn.Linear(inputs, 64), nn.Linear(64, 64), nn.Linear(64, outputs)]
    for layer, gain in zip(linear, (2**0.5, 2**0.5, last), strict=True):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])


def advantages(rewards: Tensor, values: Tensor, terminated: Tensor, truncated: Tensor) -> Tensor:
    """Return the generalised advantage estimates of a rollout, one row per step.

    ``values`` has one row more. After an end it holds the value of the last observation, which counts where the episode
    was cut and not where it terminated; the next row belongs to the step that resets, and its result means nothing.
    """
    found, ahead = torch.zeros_like(rewards), torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        error = rewards[t] + GAMMA * values[t + 1] * ~terminated[t] - values[t]
        ahead = error + GAMMA * LAMBDA * ahead * ~(terminated[t] | truncated[t])
        found[t] = ahead
    return found


class Rollouts:
    """A batch of episodes that is stepped by a policy, and what came of ``LENGTH`` steps."""

    def __init__(self, seed: int) -> None:
        self.env = gym.make_vec(
            LEVEL, EPISODES, vectorization_mode="vector_entry_point",
            reward="normalised", shaping=GAMMA, max_moves=128, **SEEN,
        )  # fmt: skip
        observations, infos = self.env.reset(seed=seed)
        self.now = torch.from_numpy(observations), torch.from_numpy(infos["action_mask"]).bool()
        self.resets = torch.zeros(EPISODES, dtype=torch.bool)  # which episodes the next step begins anew

    @torch.no_grad()
    def collect(self, policy: ActorCritic) -> dict[str, Tensor]:
        """Return what PPO learns from, without the steps that only reset."""
        steps = [self._step(policy) for _ in range(LENGTH)]
        columns = [torch.stack(column) for column in zip(*steps, strict=True)]
        seen, masks, actions, chances, values, rewards, terminated, truncated, valid = columns
        last = policy(*self.now)[1]
        found = advantages(rewards, torch.cat([values, last[None]]), terminated, truncated)
        rows = {"seen": seen, "masks": masks, "actions": actions, "chances": chances}
        rows |= {"advantages": found, "returns": found + values}
        return {name: tensor[valid] for name, tensor in rows.items()}

    def _step(self, policy: ActorCritic) -> tuple[Tensor, ...]:
        choice, values = policy(*self.now)
        actions, before, valid = choice.sample(), self.now, ~self.resets
        observations, rewards, terminated, truncated, infos = self.env.step(actions.numpy())
        self.now = torch.from_numpy(observations), torch.from_numpy(infos["action_mask"]).bool()
        self.resets = torch.from_numpy(terminated | truncated)
        ends = torch.from_numpy(terminated), torch.from_numpy(truncated)
        return *before, actions, choice.log_prob(actions), values, torch.from_numpy(rewards).float(), *ends, valid


def improve(policy: ActorCritic, optimizer: torch.optim.Optimizer, rows: dict[str, Tensor]) -> None:
    """Make the updates of PPO with one rollout."""
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(rows["actions"])).split(MINIBATCH):
            loss = loss_of(policy, {name: tensor[chosen] for name, tensor in rows.items()})
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), NORM)
            optimizer.step()


def loss_of(policy: ActorCritic, rows: dict[str, Tensor]) -> Tensor:
    """Return the clipped objective, the error of the critic and the entropy, as one number to lower."""
    choice, values = policy(rows["seen"], rows["masks"])
    ratio = (choice.log_prob(rows["actions"]) - rows["chances"]).exp()
    gain = (rows["advantages"] - rows["advantages"].mean()) / (rows["advantages"].std() + 1e-8)
    actor = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
    critic = (values - rows["returns"]).square().mean()
    return VALUE * critic - actor - ENTROPY * choice.entropy().mean()


def main() -> None:
    """Learn, and judge what was learned."""
    parser = argparse.ArgumentParser(description="PPO in one file")
    parser.add_argument("--steps", type=int, default=32_768, help="of all episodes together")
    parser.add_argument("--seed", type=int, default=0, help="of all chance")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)  # networks this small are slower on more
    rollouts = Rollouts(options.seed)
    policy = ActorCritic(rollouts.env.unwrapped.settings)
    optimizer = torch.optim.Adam(policy.parameters(), RATE, eps=1e-5)
    updates = -(-options.steps // (EPISODES * LENGTH))
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = RATE * (1 - update / updates)
        improve(policy, optimizer, rollouts.collect(policy))
    found = {name: rt_gym.evaluate(LEVEL, name, TEST) for name in ("random", "greedy")}
    found["PPO"] = rt_gym.evaluate(LEVEL, policy.choose, TEST, **SEEN)
    reached = (f"{name} {one.summary.solved.value:.0%}" for name, one in found.items())
    way = found["PPO"].summary.suboptimality.value
    print(
        f"solved of {TEST}: {', '.join(reached)} after {updates * EPISODES * LENGTH:,} steps, {way:.2f} times optimal"
    )


if __name__ == "__main__":
    main()
