"""Batched episodes beside single ones: the same seeds and actions give the same numbers, in every autoreset mode."""

import copy
import itertools
import multiprocessing
import os
import pickle
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

import rt_gym
from reference.batches import reset_alike, same, step_both, with_case
from reference.plain_oracle import scatter
from rt_gym import Grid, InputError, Problem

COUNT = 6
FIELD = Grid(scatter(np.random.default_rng(1), 7, 6, 0.2), name="field")
TALL = Grid(scatter(np.random.default_rng(2), 3, 11, 0.1), name="tall")
TINY = Grid(np.ones((2, 2)), name="tiny")
DOORS = [(k, (k % 3, k % 2), k % 4 > 1) for k in range(10)]
MIXED = [
    Problem(TINY, (0, 0), (1, 1)),
    Problem(TINY, (1, 0), (0, 1), vision=1),
    Problem(TALL, (0, 1), (2, 9), changes=[(2, (1, 3), False)], allow_unsolvable=True),
    Problem(TALL, (2, 9), (0, 1), vision=2, changes=[(0, (2, 8), False), (4, (2, 8), True)]),
]

CASES: dict[str, dict[str, Any]] = {
    "known": {},
    "fog": {"vision": 2},
    "changes": {"changes": DOORS},
    "fog and changes": {"vision": 1, "changes": DOORS},
    "stay": {"stay": True},
    "normalised": {"reward": "normalised"},
    "shaping": {"reward": "normalised", "shaping": 0.9},
    "price": {"price": 0.5},
    "several maps": {"map": [FIELD, TALL, TINY]},
    "several maps in fog": {"map": [TINY, TALL, FIELD], "vision": 1, "stay": True},
    "all kinds of problems": {"problems": MIXED},
    "window beyond the map": {"window": 19},
    "window of one cell": {"window": 1, "vision": 1},
    "window of eight": {"window": 7, "map": [FIELD, TALL]},
    "four neighbours": {"map": FIELD.replace(connectivity=4), "vision": 2},
    "unit costs": {"map": FIELD.replace(cost="unit", corner="free")},
    "named parts": {"observation": "dict", "vision": 1},
    "visits": {"visits": True, "map": [FIELD, TALL]},
    "visits in fog": {"visits": True, "vision": 1, "stay": True},
    "image": {"observation": "image", "map": [FIELD, TALL, TINY]},
    "image in fog": {"observation": "image", "map": [TALL, FIELD], "vision": 1, "window": 7},
    "image of all kinds of problems": {"observation": "image", "problems": MIXED, "window": 3},
    "stacked": {"stack": 3, "visits": True},
    "stacked parts in fog": {"stack": 4, "observation": "dict", "vision": 1},
    "stacked images": {"stack": 2, "observation": "image", "problems": MIXED, "window": 3},
}
each_case = pytest.mark.parametrize("case", CASES)


def settings(case: str) -> dict[str, Any]:
    return with_case({"map": FIELD, "pool": 9, "max_moves": 11, "window": 5, "history": 4}, CASES[case])


def make_batch(count: int = COUNT, mode: AutoresetMode = AutoresetMode.NEXT_STEP, **given: Any) -> Any:
    return gym.make_vec(
        "RTPath-v0", num_envs=count, vectorization_mode="vector_entry_point", autoreset_mode=mode, **given
    )


def make_singles(mode: AutoresetMode, **given: Any) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: gym.make("RTPath-v0", **given)] * COUNT, autoreset_mode=mode)


def random_actions(envs: Any, steps: int) -> NDArray[np.int64]:
    return np.random.default_rng(7).integers(envs.single_action_space.n, size=(steps, COUNT))


class TestAgainstSingleEpisodes:
    @each_case
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    def test_the_same_seeds_give_the_same_trajectories(self, case: str, mode: AutoresetMode) -> None:
        batch, singles = make_batch(mode=mode, **settings(case)), make_singles(mode, **settings(case))
        (ours, info), (theirs, their_info) = batch.reset(seed=5), singles.reset(seed=5)
        assert same(ours, theirs)
        assert np.array_equal(info["action_mask"], their_info["action_mask"])
        ends = 0
        for actions in random_actions(batch, 80):
            over, info, their_info = step_both(batch, singles, actions)
            assert np.array_equal(info["action_mask"], their_info["action_mask"])
            going = ~over if mode == AutoresetMode.SAME_STEP else np.ones(COUNT, bool)
            assert np.array_equal(info["blocked"][going], their_info.get("blocked", np.zeros(COUNT, bool))[going])
            if mode == AutoresetMode.SAME_STEP and over.any():
                assert self.same_ends(info, their_info, over)
            ends += int(over.sum())
        assert ends > COUNT

    @staticmethod
    def same_ends(info: dict[str, Any], their_info: dict[str, Any], over: NDArray[np.bool_]) -> bool:
        return (
            np.array_equal(info["_final_obs"], their_info["_final_obs"])
            and np.array_equal(info["blocked"][over], their_info["final_info"]["blocked"][over])
            and all(same(info["final_obs"][i], their_info["final_obs"][i]) for i in np.flatnonzero(over))
            and all(info["final_obs"][i] is None for i in np.flatnonzero(~over))
        )

    @each_case
    def test_without_autoreset_the_chosen_episodes_begin_anew(self, case: str) -> None:
        mode = AutoresetMode.DISABLED
        batch, singles = make_batch(mode=mode, **settings(case)), make_singles(mode, **settings(case))
        assert same(batch.reset(seed=3)[0], singles.reset(seed=3)[0])
        resets = reset_alike(batch, singles, random_actions(batch, 60))
        assert resets > 3

    def test_lists_of_seeds_belong_to_their_episodes_and_none_goes_on(self) -> None:
        given = settings("known")
        batch, singles = make_batch(**given), make_singles(AutoresetMode.NEXT_STEP, **given)
        for seeds in ([9, 3, 9, 4, 0, 10**12], [None, 1, None, None, 2, 3], None, 17):
            (ours, _), (theirs, _) = batch.reset(seed=seeds), singles.reset(seed=seeds)
            assert same(ours, theirs)
        again = batch.reset(seed=np.array([9, 3, 9, 4, 0, 1]))[0]
        assert np.array_equal(again[0], again[2])

    def test_a_seed_with_a_mask_counts_for_the_chosen_only(self) -> None:
        mode = AutoresetMode.DISABLED
        batch, singles = make_batch(mode=mode, **settings("known")), make_singles(mode, **settings("known"))
        chosen = np.array([True, False, True, False, False, True])
        for seed, masked in ((1, False), (2, True), (None, True), (None, False)):
            ours, theirs = (
                envs.reset(seed=seed, options={"reset_mask": chosen.copy()} if masked else None)[0]
                for envs in (batch, singles)
            )
            assert same(ours, theirs)

    def test_episodes_do_not_depend_on_how_many_others_there_are(self) -> None:
        few, many = make_batch(4, map="open-16"), make_batch(16_384, map="open-16")
        assert np.array_equal(few.reset(seed=0)[0], many.reset(seed=0)[0][:4])
        for action in range(8):
            (ours, *_), (theirs, *_) = few.step(np.full(4, action)), many.step(np.full(16_384, action))
            assert np.array_equal(ours, theirs[:4])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
@pytest.mark.parametrize("case", ["known", "fog", "changes", "fog and changes", "all kinds of problems", "image"])
def test_a_copied_batch_goes_on_as_the_original_did(case: str, copied: Any) -> None:
    batch = make_batch(mode=AutoresetMode.SAME_STEP, **settings(case))
    batch.reset(seed=2)
    actions = random_actions(batch, 40)
    copies, steps = [], []
    for row in actions:
        copies.append(copied(batch))
        steps.append(batch.step(row)[:4])
    for begin in range(0, 40, 6):
        for row, (observation, *rest) in zip(actions[begin:], steps[begin:], strict=True):
            ours, *our_rest, _ = copies[begin].step(row)
            assert same(ours, observation)
            assert all(map(np.array_equal, our_rest, rest))


class TestThreads:
    @pytest.mark.parametrize("threads", [2, COUNT, COUNT + 3])
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    def test_threads_change_nothing(self, threads: int, mode: AutoresetMode) -> None:
        given = settings("several maps in fog")
        alone, together = make_batch(mode=mode, **given), make_batch(mode=mode, threads=threads, **given)
        assert same(alone.reset(seed=1)[0], together.reset(seed=1)[0])
        for actions in random_actions(alone, 60):
            step_both(alone, together, actions)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_a_forked_process_has_threads_of_its_own(self) -> None:
        batch = make_batch(threads=2, **settings("known"))
        batch.reset(seed=0)
        batch.step([0] * COUNT)
        child = multiprocessing.get_context("fork").Process(target=batch.step, args=([0] * COUNT,))
        child.start()
        child.join(20)
        ended = child.exitcode
        child.kill()
        child.join()
        assert ended == 0


class TestModes:
    def test_by_default_the_step_after_the_end_begins_the_next_episode(self) -> None:
        batch = make_batch(1, problems=[Problem(Grid(np.ones((1, 3))), (0, 0), (2, 0))])
        first, _ = batch.reset(seed=0)
        batch.step([0])
        last, reward, terminated, _, info = batch.step([0])
        assert (reward[0], terminated[0], "final_obs" in info) == (-1, True, False)
        again, reward, terminated, truncated, _ = batch.step([0])
        assert np.array_equal(again, first)
        assert not np.array_equal(last, first)
        assert (reward[0], terminated[0], truncated[0]) == (0, False, False)

    def test_in_the_same_step_the_last_observation_is_kept_in_the_info(self) -> None:
        batch = make_batch(1, AutoresetMode.SAME_STEP, problems=[Problem(Grid(np.ones((1, 3))), (0, 0), (2, 0))])
        first, _ = batch.reset(seed=0)
        _, _, _, _, info = batch.step([0])
        assert "final_obs" not in info
        again, _, terminated, _, info = batch.step([0])
        assert terminated[0]
        assert np.array_equal(again, first)
        assert info["final_obs"][0][:2].tolist() == [0, 0]
        assert info["_final_obs"].tolist() == [True]

    def test_without_autoreset_a_step_after_an_end_is_refused(self) -> None:
        batch = make_batch(2, AutoresetMode.DISABLED, map=FIELD, pool=2, max_moves=1)
        batch.reset(seed=0)
        batch.step([0, 0])
        with pytest.raises(gym.error.ResetNeeded, match="reset_mask"):
            batch.step([0, 0])
        batch.reset(options={"reset_mask": np.array([True, False])})
        with pytest.raises(gym.error.ResetNeeded, match="an episode has ended"):
            batch.step([0, 0])
        batch.reset(options={"reset_mask": np.array([False, True])})
        assert batch.step([0, 0])[3].tolist() == [True, True]

    def test_max_episode_steps_is_another_name_for_max_moves(self) -> None:
        batch = make_batch(2, map=Grid(np.ones((1, 9))), optimal=(5, 9), pool=2, max_episode_steps=3)
        batch.reset(seed=0)
        assert [batch.step([1, 1])[3].tolist() for _ in range(3)] == [[False] * 2, [False] * 2, [True] * 2]

    @pytest.mark.parametrize("budget", [10, None, rt_gym.Budget(10)])
    def test_a_budget_is_refused_as_nothing_expands(self, budget: Any) -> None:
        with pytest.raises(InputError, match="budget must be left out: nothing is metered"):
            make_batch(2, map=FIELD, pool=2, budget=budget)

    def test_the_budget_of_an_observation_is_always_whole(self) -> None:
        batch = make_batch(2, map=FIELD, pool=2, observation="dict")
        batch.reset(seed=0)
        assert batch.step([0, 1])[0]["budget"].tolist() == [[1], [1]]

    def test_a_batch_has_no_view_for_an_agent(self) -> None:
        with pytest.raises(InputError, match="no view for an agent"):
            rt_gym.view(make_batch(2, map=FIELD, pool=2))


def test_maps_with_more_cells_than_a_ring_can_tell_apart_do_not_share_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = sum(grid.terrain.mask.size for grid in (TINY, TALL))
    monkeypatch.setattr("rt_gym.envs.path.env.CELL", cells)
    make_batch(2, map=[TINY, TALL], pool=4)
    with pytest.raises(InputError, match="cells together"):
        make_batch(2, map=[TINY, TALL, Grid(np.ones((2, 2)))], pool=4)


def test_maps_of_any_size_share_a_batch_and_its_observations() -> None:
    wide = Grid(np.ones((3, 40)), name="wide")
    batch = make_batch(64, map=[TINY, wide, TALL], pool=30, observation="dict")
    observation, _ = batch.reset(seed=0)
    assert {name: part.shape for name, part in observation.items()} == {
        "goal": (64, 2),
        "position": (64, 2),
        "history": (64, 4),
        "budget": (64, 1),
        "window": (64, 121),
    }
    positions = observation["position"] * 40
    assert positions[:, 0].max() > 11  # only the wide map has such columns
    assert positions[:, 1].max() > 3  # only the tall map has such rows


def test_memory_stays_as_it_is_over_a_million_steps() -> None:
    resource = pytest.importorskip("resource", reason="the system does not tell how much memory is used")
    batch = make_batch(64, AutoresetMode.SAME_STEP, map=[FIELD, TALL], pool=9, max_moves=300, window=5)
    batch.reset(seed=0)
    actions = np.random.default_rng(0).integers(8, size=(100, 64))

    def used_after(rounds: int) -> tuple[int, int]:
        for row in itertools.chain.from_iterable(itertools.repeat(actions, rounds)):
            batch.step(row)
        return sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    blocks, resident = used_after(2)
    more_blocks, more_resident = used_after(200)
    assert more_blocks - blocks < 2_000  # one object left behind per step would be 20,000
    assert more_resident < 1.15 * resident  # the observations alone are 170 MB
