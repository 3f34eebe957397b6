"""Batches of depth control beside single episodes, and what they refuse."""

import copy
import itertools
import pickle
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from reference.batches import (
    COUNT,
    assert_same_trajectories,
    make_batch,
    make_singles,
    reset_alike,
    same,
    some_actions,
    step_both,
    with_case,
)
from reference.depth_episodes import each_id, make, steps
from reference.plain_oracle import scatter
from reference.yard import CUT_OFF, LONELY, POCKET
from rt_gym import Budget, Grid, InputError, Problem
from rt_gym.search.tables import FRESH

FIELD = Grid(scatter(np.random.default_rng(1), 9, 8, 0.25), name="field")
TALL = Grid(scatter(np.random.default_rng(2), 3, 11, 0.1), name="tall")
TINY = Grid(np.ones((2, 2)), name="tiny")
CASES: dict[str, dict[str, Any]] = {
    "known": {},
    "normalised": {"reward": "normalised", "price": 0.1},
    "shaping": {"shaping": 0.9, "price": 0.5},
    "paper": {"features": "paper", "history": 3},
    "named parts": {"observation": "dict"},
    "several maps": {"map": [FIELD, TALL, TINY]},
    "four neighbours": {"map": FIELD.replace(connectivity=4)},
    "unit costs": {"map": FIELD.replace(cost="unit", corner="free")},
    "one depth": {"d_max": 1},
    "truncated budget": {"budget": 12},
    "lost moves": {"budget": Budget(12, on_overrun="idle")},
    "scans": {"budget": Budget(14, "scans", "idle"), "price": 0.1},
    "all kinds of problems": {
        "problems": [Problem(TINY, (0, 0), (0, 0)), CUT_OFF, LONELY, Problem(TALL, (0, 1), (2, 9))]
    },
    "deep pocket": {"problems": [POCKET], "max_moves": 150},
}


def arguments(case: str) -> dict[str, Any]:
    return with_case({"map": FIELD, "pool": 9, "max_moves": 11, "history": 4, "d_max": 4}, CASES[case])


KEYS = ("action_mask", "moved", "depth", "expansions", "scans", "overrun", "no_path")


@each_id
@pytest.mark.parametrize("case", CASES)
class TestBatchAgainstSingles:
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    def test_the_same_seeds_give_the_same_trajectories(self, env_id: str, case: str, mode: AutoresetMode) -> None:
        batch, singles = (maker(env_id, mode, **arguments(case)) for maker in (make_batch, make_singles))
        assert same(batch.reset(seed=5)[0], singles.reset(seed=5)[0])
        actions = some_actions(batch, 500 if case == "deep pocket" else 80)
        assert_same_trajectories(batch, singles, actions, mode, KEYS)

    def test_without_autoreset_the_chosen_episodes_begin_anew(self, env_id: str, case: str) -> None:
        mode = AutoresetMode.DISABLED
        batch, singles = (maker(env_id, mode, **arguments(case)) for maker in (make_batch, make_singles))
        assert same(batch.reset(seed=3)[0], singles.reset(seed=3)[0])
        reset_alike(batch, singles, some_actions(batch, 60))


@each_id
class TestBatch:
    def test_tables_grow_between_the_steps(self, env_id: str) -> None:
        given = {"problems": [POCKET], "max_moves": 20_000, "d_max": 2}
        batch, single = make_batch(env_id, AutoresetMode.SAME_STEP, 3, **given), make(env_id, POCKET, d_max=2)
        batch.reset(seed=0)
        single.reset(seed=0)
        for observation, reward, *_, info, _ in itertools.islice(steps(single, 1), 300):
            ours, our_rewards, _, _, our_info = batch.step([0, 0, 0])
            assert same(ours, np.stack([observation] * 3))
            assert our_rewards.tolist() == [reward] * 3
            assert our_info["expansions"].tolist() == [info["expansions"]] * 3
        control = batch.unwrapped._episodes.control
        learned = getattr(control, "control", control).learned
        assert learned.cells.shape[1] > 2 * FRESH

    @pytest.mark.parametrize("threads", [2, COUNT, COUNT + 3])
    def test_threads_change_nothing(self, env_id: str, threads: int) -> None:
        given, mode = arguments("several maps"), AutoresetMode.SAME_STEP
        alone, together = make_batch(env_id, mode, **given), make_batch(env_id, mode, threads=threads, **given)
        assert same(alone.reset(seed=1)[0], together.reset(seed=1)[0])
        for actions in some_actions(alone, 60):
            step_both(alone, together, actions)

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
    def test_a_copy_goes_on_from_the_middle_of_the_searches(self, env_id: str, copied: Any) -> None:
        batch = make_batch(env_id, AutoresetMode.SAME_STEP, **arguments("several maps"))
        batch.reset(seed=2)
        actions = some_actions(batch, 40)
        for row in actions[:17]:
            batch.step(row)
        twin = copied(batch)
        for row in actions[17:]:
            step_both(batch, twin, row)

    def test_episodes_do_not_depend_on_how_many_others_there_are(self, env_id: str) -> None:
        few, many = (make_batch(env_id, AutoresetMode.SAME_STEP, count, map="open-16") for count in (4, 2048))
        assert np.array_equal(few.reset(seed=0)[0], many.reset(seed=0)[0][:4])
        for actions in some_actions(many, 12):
            assert np.array_equal(few.step(actions[:4])[0], many.step(actions)[0][:4])

    def test_memory_stays_as_it_is(self, env_id: str) -> None:
        resource = pytest.importorskip("resource", reason="the system does not tell how much memory is used")
        batch = make_batch(env_id, AutoresetMode.SAME_STEP, 64, map=[FIELD, TALL], pool=9, max_moves=300, d_max=3)
        batch.reset(seed=0)
        actions = some_actions(batch, 100)

        def used_after(rounds: int) -> tuple[int, int]:
            for row in itertools.chain.from_iterable(itertools.repeat(actions, rounds)):
                batch.step(row)
            return sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        blocks, resident = used_after(2)
        more_blocks, more_resident = used_after(60)
        assert more_blocks - blocks < 2_000  # one object left behind per step would be 6,000
        assert more_resident < 1.15 * resident

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("vision", 1, "vision must be None in a batch, whose episodes share known maps"),
            ("changes", [(1, (0, 0), False)], "changes must be None in a batch, whose episodes share maps"),
            ("problems", [Problem(TINY, (0, 0), (1, 1), vision=1)], "vision must be None"),
            ("problems", [Problem(TINY, (0, 0), (1, 1), changes=[(1, (0, 1), False)])], "changes must be None"),
            ("budget", Budget(9, on_overrun="raise"), 'budget of a batch may not have on_overrun="raise" or seconds'),
            ("budget", Budget(9, seconds=1.0), "budget of a batch may not"),
            ("render_mode", "ansi", "a batched environment does not render"),
        ],
    )
    def test_what_a_batch_refuses(self, env_id: str, name: str, value: Any, words: str) -> None:
        with pytest.raises(InputError, match=words) as refusal:
            make_batch(env_id, AutoresetMode.NEXT_STEP, **with_case({"map": FIELD, "pool": 3}, {name: value}))
        assert "\n" not in str(refusal.value)

    def test_a_step_before_reset_and_wrong_actions_are_refused(self, env_id: str) -> None:
        batch = make_batch(env_id, AutoresetMode.NEXT_STEP, 2, map=FIELD, pool=3, d_max=3)
        with pytest.raises(gym.error.ResetNeeded):
            batch.step([0, 0])
        batch.reset(seed=0)
        last = batch.single_action_space.n - 1
        with pytest.raises(InputError, match=f"actions must lie from 0 to {last}, not {last + 1} as for episode 1"):
            batch.step([0, last + 1])


def test_max_episode_steps_are_moves_only_where_every_step_is_one() -> None:
    batch = make_batch("RTDepth-v0", AutoresetMode.SAME_STEP, 1, problems=[POCKET], max_episode_steps=3)
    batch.reset(seed=0)
    assert [bool(batch.step([0])[3][0]) for _ in range(3)] == [False, False, True]
    with pytest.raises(InputError, match="max_episode_steps must be None where a step need not be a move"):
        make_batch("RTDeepen-v0", AutoresetMode.SAME_STEP, 1, problems=[POCKET], max_episode_steps=3)
