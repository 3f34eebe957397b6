"""Batches of thinking and acting beside single episodes, and what they refuse."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from reference import batches
from reference.batches import assert_same_trajectories, reset_alike, same, some_actions, step_both
from reference.plain_oracle import scatter
from reference.yard import CUT_OFF
from rt_gym import Budget, Grid, InputError, Problem
from rt_gym.envs.pool import DEFAULTS
from rt_gym.envs.think import env as think_env

ID = "RTThink-v0"
COUNT = 5
FIELD = Grid(scatter(np.random.default_rng(1), 9, 8, 0.25), name="field")
TALL = Grid(scatter(np.random.default_rng(2), 3, 11, 0.1), name="tall")
TINY = Grid(np.ones((2, 2)), name="tiny")
CASES: dict[str, dict[str, Any]] = {
    "known": {},
    "fog": {"vision": 1},
    "wide fog, several maps": {"vision": 3, "map": [FIELD, TALL, TINY], "reward": "normalised"},
    "changes": {"changes": [(k, (k % 7, k % 6), k % 2 == 0) for k in range(1, 20)], "shaping": 0.9},
    "fog and changes": {"vision": 1, "changes": [(k, (k % 7, k % 6), k % 2 == 0) for k in range(1, 20)]},
    "several maps": {"map": [FIELD, TALL, TINY], "observation": "dict"},
    "four neighbours": {"map": FIELD.replace(connectivity=4), "vision": 2},
    "unit costs": {"map": FIELD.replace(cost="unit", corner="free"), "price": 0.5},
    "scans": {"budget": Budget(6, "scans", "idle"), "price": 0.1},
    "truncated scans": {"budget": Budget(6, "scans")},
    "a goal that moves": {"goal_moves": 3},
    "a goal that moves in fog": {"goal_moves": 1, "vision": 2, "shaping": 0.9, "reward": "normalised"},
    "a goal that moves on fresh maps": {
        "goal_moves": 2, "pool": DEFAULTS.pool,
        "map": {"family": "caves", "width": 18, "height": 14, "density": 0.45, "steps": 3, "fresh": True},
    },
    "a goal that moves while cells change": {
        "goal_moves": 2, "vision": 1, "changes": [(k, (k % 7, k % 6), k % 2 == 0) for k in range(1, 20)],
    },
    "all kinds of problems": {
        "problems": [
            CUT_OFF, Problem(TINY, (0, 0), (0, 0)),
            Problem(TALL, (0, 1), (2, 9), vision=1), Problem(TALL, (0, 1), (2, 9)),
        ]
    },
}  # fmt: skip
MAKERS = (batches.make_batch, batches.make_singles)
KEYS = ("action_mask", "thought", "found", "expansions", "scans", "overrun", "no_path")


def make_batch(mode: AutoresetMode, count: int = COUNT, **given: Any) -> Any:
    return batches.make_batch(ID, mode, count, **given)


def bytes_taken(env: Any) -> int:
    return think_env.bytes_of_episodes(env._episodes, env._own, *env._threads)


def arguments(case: str) -> dict[str, Any]:
    return batches.with_case({"map": FIELD, "pool": 9, "max_moves": 16, "history": 4, "slice": 5}, CASES[case])


@pytest.mark.parametrize("case", CASES)
class TestBatchAgainstSingles:
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    def test_the_same_seeds_give_the_same_trajectories(self, case: str, mode: AutoresetMode) -> None:
        batch, singles = (maker(ID, mode, COUNT, **arguments(case)) for maker in MAKERS)
        (ours, info), (theirs, their_info) = batch.reset(seed=5), singles.reset(seed=5)
        assert same(ours, theirs)
        assert np.array_equal(info["action_mask"], their_info["action_mask"])
        assert_same_trajectories(batch, singles, some_actions(batch, 80), mode, KEYS)

    def test_without_autoreset_the_chosen_episodes_begin_anew(self, case: str) -> None:
        batch, singles = (maker(ID, AutoresetMode.DISABLED, COUNT, **arguments(case)) for maker in MAKERS)
        assert same(batch.reset(seed=3)[0], singles.reset(seed=3)[0])
        reset_alike(batch, singles, some_actions(batch, 60))

    @pytest.mark.parametrize("threads", [2, COUNT + 3])
    def test_threads_change_nothing(self, case: str, threads: int) -> None:
        mode = AutoresetMode.SAME_STEP
        alone, together = make_batch(mode, **arguments(case)), make_batch(mode, threads=threads, **arguments(case))
        assert same(alone.reset(seed=1)[0], together.reset(seed=1)[0])
        for actions in some_actions(alone, 40):
            step_both(alone, together, actions)


class TestBatch:
    def test_episodes_do_not_depend_on_how_many_others_there_are(self) -> None:
        few, many = (make_batch(AutoresetMode.SAME_STEP, count, map="open-16", vision=2) for count in (4, 512))
        assert np.array_equal(few.reset(seed=0)[0], many.reset(seed=0)[0][:4])
        for actions in some_actions(many, 12):
            assert np.array_equal(few.step(actions[:4])[0], many.step(actions)[0][:4])

    def test_more_episodes_than_the_memory_can_hold_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(think_env, "machine_memory", lambda: 4e6)
        words = (
            r"num_envs must be at most \d\d here: an episode on maps of this size may take 0\.\d MB, and this machine"
        )
        with pytest.raises(InputError, match=words):
            make_batch(AutoresetMode.SAME_STEP, 100, map="random-48")
        make_batch(AutoresetMode.SAME_STEP, 10, map="random-48")

    @pytest.mark.parametrize(("vision", "per_cell"), [(None, 69), (2, 73)])
    def test_an_episode_takes_as_many_bytes_per_cell_as_is_documented(self, vision: Any, per_cell: int) -> None:
        small, large = (
            make_batch(AutoresetMode.SAME_STEP, 3, map=Grid(np.ones((side, side))), vision=vision, pool=1)
            for side in (18, 38)
        )
        grown = bytes_taken(large.unwrapped) - bytes_taken(small.unwrapped)
        shared = 12  # of ranks and ties, for all episodes of a thread together
        assert grown == (40**2 - 20**2) * (3 * per_cell + shared)

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("budget", Budget(9, on_overrun="raise"), 'budget of a batch may not have on_overrun="raise" or seconds'),
            ("budget", Budget(9, seconds=1.0), "budget of a batch may not"),
            ("render_mode", "ansi", "a batched environment does not render"),
        ],
    )
    def test_what_a_batch_refuses(self, name: str, value: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            make_batch(AutoresetMode.NEXT_STEP, **{"map": FIELD, "pool": 3, name: value})

    def test_a_step_before_reset_and_wrong_actions_are_refused(self) -> None:
        batch = make_batch(AutoresetMode.NEXT_STEP, 2, map=FIELD, pool=3)
        with pytest.raises(gym.error.ResetNeeded):
            batch.step([0, 0])
        batch.reset(seed=0)
        with pytest.raises(InputError, match="actions must lie from 0 to 1, not 2 as for episode 1"):
            batch.step([0, 2])
