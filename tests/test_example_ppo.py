"""The PPO of examples/ppo_single_file.py: its advantages are those of the definition, and resets teach it nothing."""

import runpy
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

PPO = runpy.run_path(str(Path(__file__).resolve().parents[1] / "examples" / "ppo_single_file.py"))
GAMMA, LAMBDA = PPO["GAMMA"], PPO["LAMBDA"]
NAMES = PPO["advantages"].__globals__  # what its functions read


def read_plainly(rewards: Any, values: Any, terminated: Any, begins: list[int]) -> list[float]:
    """Return the advantages of one column, episode by episode: discounted sums of errors up to the end of each."""
    found = [np.nan] * len(rewards)
    for first, behind in pairwise([*begins, len(rewards) + 1]):
        steps = range(first, min(behind - 1, len(rewards)))  # the step before the next one begins only resets
        error = [rewards[t] + GAMMA * (0.0 if terminated[t] else values[t + 1]) - values[t] for t in steps]
        for k, t in enumerate(steps):
            found[t] = sum((GAMMA * LAMBDA) ** (j - k) * error[j] for j in range(k, len(error)))
    return found


def rollout(steps: int, columns: int) -> tuple[Any, Any, Any, Any, list[list[int]]]:
    """Return rewards, values, both kinds of ends and where episodes begin, all made up; a step after an end resets."""
    rng = np.random.default_rng(0)
    rewards, values = rng.normal(size=(steps, columns)), rng.normal(size=(steps + 1, columns))
    terminated, truncated = np.zeros((steps, columns), bool), np.zeros((steps, columns), bool)
    begins = [[0] for _ in range(columns)]
    for column in range(columns):
        t = int(rng.integers(1, 6))
        while t < steps:
            (terminated if rng.random() < 0.5 else truncated)[t, column] = True
            begins[column].append(t + 2)
            t += int(rng.integers(2, 7))
    return rewards, values, terminated, truncated, begins


def test_advantages_are_those_of_the_definition_read_episode_by_episode() -> None:
    rewards, values, terminated, truncated, begins = rollout(steps=40, columns=6)
    found = PPO["advantages"](*map(torch.from_numpy, (rewards, values, terminated, truncated))).numpy()
    for column in range(6):
        plain = read_plainly(rewards[:, column], values[:, column], terminated[:, column], begins[column])
        learned_from = ~np.isnan(plain)
        assert learned_from.sum() == 40 - len([t for t in begins[column][1:] if t <= 40])
        np.testing.assert_allclose(found[learned_from, column], np.array(plain)[learned_from], atol=1e-12)


@pytest.mark.parametrize(("ends_at_the_goal", "expected"), [(True, -1.0 - 3.0), (False, -1.0 + GAMMA * 5.0 - 3.0)])
def test_a_cut_episode_is_worth_what_was_to_come_and_an_arrived_one_nothing_more(
    ends_at_the_goal: bool, expected: float
) -> None:
    rewards, values = torch.tensor([[-1.0], [0.0], [-1.0]]), torch.tensor([[3.0], [5.0], [100.0], [100.0]])
    end, never = torch.tensor([[True], [False], [False]]), torch.zeros(3, 1, dtype=torch.bool)
    found = PPO["advantages"](rewards, values, *((end, never) if ends_at_the_goal else (never, end)))
    assert found[0].item() == pytest.approx(expected)


class CountsResets(gym.vector.VectorWrapper):
    """Counts the steps with which an episode began."""

    resets = 0

    def step(self, actions: Any) -> Any:
        result = super().step(actions)
        self.resets += int(np.sum(result[-1].get("_index", 0)))
        return result


def test_steps_that_only_reset_are_not_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NAMES, "EPISODES", 32)
    monkeypatch.setitem(NAMES, "LENGTH", 150)  # more than an episode may last: every one ends
    torch.manual_seed(0)
    rollouts = PPO["Rollouts"](0)
    rollouts.env = counted = CountsResets(rollouts.env)
    rows = rollouts.collect(PPO["ActorCritic"](counted.unwrapped.settings))
    assert counted.resets >= 32
    assert {len(column) for column in rows.values()} == {32 * 150 - counted.resets}
    assert (rows["seen"][:, :2] != 0).any(axis=1).all()  # nobody who stands on the goal decides anything
