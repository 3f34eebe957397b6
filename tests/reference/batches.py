"""Batches of episodes beside as many single environments, step for step."""

from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

COUNT = 6


def make_batch(env_id: str, mode: AutoresetMode, count: int = COUNT, **given: Any) -> Any:
    """Return a batch of episodes."""
    return gym.make_vec(env_id, count, vectorization_mode="vector_entry_point", autoreset_mode=mode, **given)


def make_singles(env_id: str, mode: AutoresetMode, count: int = COUNT, **given: Any) -> SyncVectorEnv:
    """Return as many single environments."""
    return SyncVectorEnv([lambda: gym.make(env_id, **given)] * count, autoreset_mode=mode)


def with_case(usual: dict[str, Any], case: dict[str, Any]) -> dict[str, Any]:
    """Return the usual settings with those of a case; problems of its own leave no room for a map and its pool."""
    left_out = ("map", "pool", "optimal") if case.get("problems") is not None else ()
    return {name: value for name, value in usual.items() if name not in left_out} | case


def some_actions(env: Any, count: int) -> NDArray[np.int64]:
    """Return random actions for so many steps of a batch."""
    return np.random.default_rng(7).integers(env.single_action_space.n, size=(count, env.num_envs))


def same(one: Any, other: Any) -> bool:
    """Whether two observations are equal, in all their parts."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return bool(np.array_equal(one, other))


def plain(step: tuple[Any, ...]) -> list[Any]:
    """Return what a step of a single environment returned in plain types."""
    return [step[0].tolist(), *step[1:4], {name: np.asarray(value).tolist() for name, value in step[4].items()}]


def step_both(one: Any, other: Any, actions: Any) -> tuple[NDArray[np.bool_], dict[str, Any], dict[str, Any]]:
    """Step both and compare what they return; return which episodes are over, and both pieces of information."""
    (ours, *our_rest, info), (theirs, *their_rest, their_info) = one.step(actions), other.step(actions)
    assert same(ours, theirs)
    assert all(map(np.array_equal, our_rest, their_rest))
    return our_rest[1] | our_rest[2], info, their_info


def assert_same_trajectories(
    batch: Any, singles: Any, actions: Iterable[Any], mode: AutoresetMode, keys: tuple[str, ...]
) -> None:
    """Compare a batch with single environments that began alike: all observations, rewards, ends and these keys."""
    ends, nothing = 0, np.zeros(batch.num_envs)
    for row in actions:
        over, info, their_info = step_both(batch, singles, row)
        ends += int(over.sum())
        if mode == AutoresetMode.NEXT_STEP:
            assert all(np.array_equal(info[key], their_info.get(key, nothing)) for key in keys)
        elif over.any():
            assert np.array_equal(info["_final_obs"], their_info["_final_obs"])
            assert all(same(info["final_obs"][i], their_info["final_obs"][i]) for i in np.flatnonzero(over))
    assert ends > 0


def reset_alike(batch: Any, singles: Any, actions: Iterable[Any]) -> int:
    """Compare a batch with single environments where those that are over are reset; return how often some were."""
    resets = 0
    for row in actions:
        over, _, _ = step_both(batch, singles, row)
        if over.any():
            resets += 1
            again, their_again = (envs.reset(options={"reset_mask": over.copy()})[0] for envs in (batch, singles))
            assert same(again, their_again)
    return resets
