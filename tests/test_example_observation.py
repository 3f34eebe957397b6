"""The observation of examples/own_observation.py: it says of every move what the view of the episode says."""

import runpy
from collections import Counter
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import rt_gym

OWN = runpy.run_path(str(Path(__file__).resolve().parents[1] / "examples" / "own_observation.py"))


def test_every_move_has_its_cost_its_distance_to_the_goal_and_the_visits_of_its_cell() -> None:
    env = gym.make(OWN["LEVEL"], **OWN["SEEN"])
    env.action_space.seed(0)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        view = rt_gym.view(env)
        visits = Counter([view.position])
        for _ in range(40):
            ahead = OWN["moves_ahead"](observation)
            assert ahead in OWN["OWN"]
            for action, cell, cost in view.neighbours(view.position):
                assert ahead[action] == pytest.approx((cost, view.heuristic(cell), min(visits[cell], 8)), abs=1e-5)
            observation, _, terminated, _, info = env.step(env.action_space.sample(info["action_mask"]))
            visits[view.position] += 1
            if terminated:
                break


def test_a_batch_is_read_row_by_row() -> None:
    batch = gym.make_vec(OWN["LEVEL"], 6, vectorization_mode="vector_entry_point", **OWN["SEEN"])
    observations, _ = batch.reset(seed=0)
    np.testing.assert_array_equal(OWN["moves_ahead"](observations), [OWN["moves_ahead"](one) for one in observations])
