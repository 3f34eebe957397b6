"""Whatever is handed to the environments, they go on or refuse it in one sentence; nothing else ever goes wrong."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rt_gym
from profiles import examples
from reference.batches import with_case
from rt_gym import Budget, Grid, InputError, Problem
from rt_gym.envs.path import RTPathEnv

ISLANDS = Grid([[1, 1, 0, 1, 1], [1, 1, 0, 1, 1]], name="islands")
FOREIGN = Problem(Grid(np.ones((9, 9))), (0, 0), (8, 8))

# Anything that a person or a program may hand over by mistake, beside what makes sense.
rubbish = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.lists(st.integers(-3, 9), max_size=4),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.sampled_from([np.zeros(2), np.array([0, 1]), np.array(3), np.nan, 10**400, -(2**70), object(), 1j, {1, 2}, int]),
)
positions = st.tuples(st.integers(-1, 5), st.integers(-1, 2)) | st.lists(st.integers(0, 1), min_size=2, max_size=2)
found_problems = st.sampled_from(
    [
        Problem(ISLANDS, (0, 0), (1, 1)),
        Problem(ISLANDS, (3, 0), (4, 1), changes=[(1, (3, 0), False)]),
        Problem(ISLANDS, (0, 0), (4, 0), allow_unsolvable=True),
        Problem(Grid(np.ones((2, 2))), (1, 1), (0, 0)),
        FOREIGN,
    ]
)
reset_options = st.fixed_dictionaries(
    {},
    optional={
        "start": positions | rubbish,
        "goal": positions | rubbish,
        "map": st.integers(-1, 2) | rubbish,
        "index": st.integers(-1, 5) | rubbish,
        "problem": found_problems | rubbish,
        "reset_mask": rubbish,
    },
)


def attempt(call: Callable[[], Any]) -> Any:
    """Return what a call returns; None if it was refused, as it should be, in one sentence."""
    try:
        return call()
    except (InputError, gym.error.ResetNeeded) as refusal:
        message = str(refusal)
    assert message
    assert "\n" not in message
    return None


def play(env: Any, moves: int) -> None:
    """Make some moves of an episode that must be a good one."""
    for k in range(moves):
        observation, reward, terminated, truncated, info = env.step(k % 8)
        assert env.observation_space.contains(observation)
        assert np.isfinite(reward)
        assert info["action_mask"].shape == (8,)
        if terminated or truncated:
            return


@pytest.fixture(scope="module")
def env() -> Any:
    return RTPathEnv(map=[ISLANDS, Grid(np.ones((3, 3)))], pool=4)


@pytest.fixture(scope="module")
def batch() -> Any:
    return gym.make_vec("RTPath-v0", num_envs=4, vectorization_mode="vector_entry_point", map=ISLANDS, pool=4)


class TestAnyOptions:
    @given(options=reset_options | rubbish, seed=st.none() | st.integers(0, 9) | rubbish)
    @examples(2000)
    def test_a_reset_is_a_good_episode_or_one_sentence(self, env: Any, options: Any, seed: Any) -> None:
        begun = attempt(lambda: env.reset(seed=seed, options=options))
        if begun is not None:
            assert env.observation_space.contains(begun[0])
            assert (begun[1]["position"], begun[1]["goal"]) == (rt_gym.view(env).position, rt_gym.view(env).goal)
            play(env, 3)

    @given(
        options=st.none()
        | st.builds(lambda mask: {"reset_mask": np.array(mask)}, st.lists(st.booleans(), min_size=4, max_size=4))
        | reset_options
        | rubbish,
        seed=st.none() | st.integers(0, 9) | st.lists(st.none() | st.integers(0, 9), min_size=3, max_size=5) | rubbish,
        actions=st.lists(st.integers(-1, 8), min_size=3, max_size=5) | rubbish,
    )
    @examples(500)
    def test_a_batch_goes_on_or_says_why_not(self, batch: Any, options: Any, seed: Any, actions: Any) -> None:
        for call in (lambda: batch.reset(seed=seed, options=options), lambda: batch.step(actions)):
            said = attempt(call)
            assert said is None or batch.observation_space.contains(said[0])

    @given(
        arguments=st.fixed_dictionaries(
            {"map": st.sampled_from([ISLANDS, [ISLANDS, Grid(np.ones((3, 3)))]]), "pool": st.integers(1, 3)},
            optional={
                "optimal": st.sampled_from([(1, 2), (0, 0), (3, 9), (2, 1)]) | rubbish,
                "pool_seed": st.integers(0, 3) | rubbish,
                "vision": st.sampled_from([None, 1, 2**62]) | rubbish,
                "changes": st.lists(st.tuples(st.integers(0, 3), positions, st.booleans()), max_size=2) | rubbish,
                "observation": st.sampled_from(["box", "dict"]) | rubbish,
                "reward": st.sampled_from(["cost", "normalised"]) | rubbish,
                "window": st.integers(0, 9) | rubbish,
                "history": st.integers(0, 9) | rubbish,
                "price": st.floats(0, 2) | rubbish,
                "shaping": st.floats(0, 1) | rubbish,
                "max_moves": st.integers(0, 9) | rubbish,
                "budget": st.builds(Budget, st.integers(1, 9)) | rubbish,
                "problems": st.lists(found_problems, max_size=2) | rubbish,
            },
        )
    )
    @examples(600)
    def test_an_environment_is_made_or_refused_in_one_sentence(self, arguments: dict[str, Any]) -> None:
        usual = {name: arguments[name] for name in ("map", "pool")}
        rest = {name: value for name, value in arguments.items() if name not in usual}
        made = attempt(lambda: RTPathEnv(**with_case(usual, rest)))
        if made is not None:
            observation, _ = made.reset(seed=0)
            assert made.observation_space.contains(observation)
            play(made, 3)
