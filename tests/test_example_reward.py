"""The reward of examples/own_reward.py: it telescopes, alone and in a batch, whenever the next episode begins."""

import runpy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rt_gym

pytest.importorskip("sb3_contrib", reason="needs sb3-contrib")

OWN = runpy.run_path(str(Path(__file__).resolve().parents[1] / "examples" / "own_reward.py"))
LEVEL, WEIGHT, GAMMA = OWN["LEVEL"], OWN["WEIGHT"], 0.9
SETTINGS = {"split": OWN["VALIDATION"], "max_moves": 25}


def worth(observation: Any) -> float:
    """Return the potential by hand: minus the octile distance on a map with sides of 16."""
    near, far = np.sort(np.abs(np.rint(observation[:2] * 16)))
    return float(-WEIGHT * (far + (np.sqrt(2) - 1) * near))


def telescoped(first: Any, last: Any, steps: int) -> float:
    """Return what an episode must have gained."""
    return GAMMA**steps * worth(last) - worth(first)


def test_what_an_episode_gains_is_what_its_ends_are_worth() -> None:
    env = OWN["Shaped"](gym.make(LEVEL, **SETTINGS), GAMMA)
    plain = gym.make(LEVEL, **SETTINGS)
    env.action_space.seed(0)
    for seed in range(10):
        first, info = env.reset(seed=seed)
        plain.reset(seed=seed)
        gained, steps, over = 0.0, 0, False
        while not over:
            action = env.action_space.sample(info["action_mask"])
            last, reward, terminated, truncated, info = env.step(action)
            assert reward - info["gained"] == pytest.approx(plain.step(action)[1])
            gained, steps, over = gained + GAMMA**steps * info["gained"], steps + 1, terminated or truncated
        assert gained == pytest.approx(telescoped(first, last, steps), abs=1e-5)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_so_it_is_in_a_batch_of_either_autoreset_mode(mode: AutoresetMode) -> None:
    made = gym.make_vec(LEVEL, 8, vectorization_mode="vector_entry_point", autoreset_mode=mode, **SETTINGS)
    batch, rng, ended = OWN["ShapedBatch"](made, GAMMA), np.random.default_rng(0), 0
    seen, infos = batch.reset(seed=0)
    first, gained, steps, resets = seen.copy(), np.zeros(8), np.zeros(8, int), np.zeros(8, bool)
    for _ in range(200):
        actions = (infos["action_mask"] * rng.random((8, 8))).argmax(axis=1)
        seen, _, terminated, truncated, infos = batch.step(actions)
        for i in range(8):
            if resets[i]:
                assert infos["gained"][i] == 0.0
                first[i], gained[i], steps[i], resets[i] = seen[i], 0.0, 0, False
                continue
            gained[i], steps[i] = gained[i] + GAMMA ** steps[i] * infos["gained"][i], steps[i] + 1
            if terminated[i] or truncated[i]:
                same = mode is AutoresetMode.SAME_STEP
                last = infos["final_obs"][i] if same else seen[i]
                assert gained[i] == pytest.approx(telescoped(first[i], last, steps[i]), abs=1e-5)
                ended, resets[i] = ended + 1, not same
                first[i], gained[i], steps[i] = seen[i], 0.0, 0
    assert ended > 50


def test_a_mere_bonus_prefers_pacing_and_the_potential_the_shortest_way() -> None:
    problem = rt_gym.splits.load(OWN["VALIDATION"]).problems[0]
    make = OWN["agents"].make
    plain, gained, bonus = zip(*(OWN["walk"](one, problem) for one in (make("astar"), OWN["ToAndFro"]())), strict=True)
    assert plain[0] + gained[0] > plain[1] + gained[1]
    assert plain[0] + bonus[0] < plain[1] + bonus[1]
    assert -plain[0] == pytest.approx(problem.optimal)


def test_observations_that_the_potential_cannot_read_are_refused() -> None:
    env = OWN["Shaped"](gym.make(LEVEL, observation="dict", **SETTINGS), GAMMA)
    with pytest.raises(rt_gym.InputError, match="flat observation"):
        env.reset(seed=0)
