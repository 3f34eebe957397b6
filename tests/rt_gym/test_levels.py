"""Levels: their maps and problems, that splits never change unnoticed, and that every id is ready for learners."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rt_gym
from rt_gym import InputError, levels, splits
from rt_gym.envs.sb3 import SB3VecEnv

LONG = [f"{name}-train" for name in levels.LEVELS if name != "random-16"]  # a second each
QUICK = [f"{name}-{part}" for name in levels.LEVELS for part in levels.PARTS if f"{name}-{part}" not in LONG]
every_level = pytest.mark.parametrize("level", levels.LEVELS.values(), ids=levels.LEVELS)
every_id = pytest.mark.parametrize("env_id", rt_gym.envs.level_ids())


def held_out(env_id: str) -> dict[str, Any]:
    """Return arguments for an id with the problems of its validation split, which are made sooner."""
    return {"split": gym.spec(env_id).kwargs["split"].replace("-train", "-validation")}


def test_five_kinds_at_four_sizes_are_known_and_in_fog() -> None:
    kinds, sizes = ("Open", "Random", "Rooms", "Caves", "Maze"), (16, 32, 64, 128)
    expected = {f"{env}-{kind}-{n}x{n}-v0" for env in ("RTPath", "RTPathFog") for kind in kinds for n in sizes}
    assert set(rt_gym.envs.level_ids()) == expected
    assert expected <= set(gym.registry)


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_a_split_is_the_one_that_was_published(name: str) -> None:
    split, (family, part) = splits.load(name), name.rsplit("-", 1)
    level = levels.LEVELS[family]
    maps, each = level.count(part)
    assert split.digest == splits._DIGESTS[name]
    assert [problem.grid for problem in split.problems] == [grid for grid in split.grids for _ in range(each)]
    assert len(split.grids) == maps
    assert {grid.passable.shape for grid in split.grids} == {(level.size, level.size)}
    assert all(level.optimal[0] <= (problem.optimal or 0.0) <= level.optimal[1] for problem in split.problems)
    assert all(grid.labels.max() == 1 for grid in split.grids)


def test_no_map_stands_in_two_splits() -> None:
    digests = [grid.digest for name in QUICK for grid in splits.load(name).grids]
    assert len(digests) == len(set(digests))


@every_level
def test_a_held_out_split_has_128_problems_and_the_train_split_more_maps(level: levels.Level) -> None:
    assert len(splits.load(f"{level.name}-test").problems) == len(splits.load(f"{level.name}-validation").problems)
    assert len(splits.load(f"{level.name}-test").problems) == 128
    assert level.count("train")[0] >= 2 * level.count("test")[0]


def test_a_maze_has_one_way_between_two_cells() -> None:
    for seed in range(5):
        grid = levels.LEVELS["maze-16"].grid(seed)
        steps = np.count_nonzero(grid.passable[1:] & grid.passable[:-1])
        steps += np.count_nonzero(grid.passable[:, 1:] & grid.passable[:, :-1])
        assert steps == grid.free_cells - 1  # as in a tree; no corner may be cut, so there are no diagonal steps


def test_an_id_plays_the_train_split_of_its_level() -> None:
    for env_id, vision in (("RTPath-Random-16x16-v0", None), ("RTPathFog-Random-16x16-v0", 1)):
        settings = gym.make(env_id).unwrapped.settings  # type: ignore[attr-defined]
        problems = splits.load("random-16-train").problems
        assert [(one.grid, one.start, one.goal) for one in settings.pool] == [
            (one.grid, one.start, one.goal) for one in problems
        ]
        assert settings.max_moves == 256
        assert {one.vision for one in settings.pool} == {vision}


def test_other_problems_take_the_place_of_the_train_split() -> None:
    env_id = "RTPath-Maze-64x64-v0"
    assert gym.make(env_id, **held_out(env_id)).reset(seed=0)[1]["map"].startswith("maze-64x64-s2")
    assert gym.make(env_id, split=None, map="open-16").reset(seed=0)[1]["map"] == "open-16"
    with pytest.raises(InputError, match="map cannot go with split"):
        gym.make("RTPath-Random-16x16-v0", map="open-16")


def test_every_id_is_judged_on_the_test_split_of_its_level() -> None:
    found = rt_gym.evaluate("RTPathFog-Caves-16x16-v0", "greedy", "caves-16-test")
    assert len(found) == 128
    assert 0 < found.summary.unsolved < 128


@every_id
@pytest.mark.filterwarnings("error")
class TestEveryId:
    def test_the_checker_of_gymnasium_has_nothing_to_say(self, env_id: str) -> None:
        check_env(gym.make(env_id, **held_out(env_id)).unwrapped, skip_render_check=True)

    def test_the_checker_of_stable_baselines_has_nothing_to_say(self, env_id: str) -> None:
        checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra rl")
        checker.check_env(gym.make(env_id, **held_out(env_id)).unwrapped)

    def test_a_batch_walks_as_single_environments_do_and_fits_stable_baselines(self, env_id: str) -> None:
        vec_env = pytest.importorskip("stable_baselines3.common.vec_env", reason="needs the extra rl")
        settings = held_out(env_id) | {"max_moves": 7}
        ours = SB3VecEnv(env_id, num_envs=3, **settings)
        theirs = vec_env.DummyVecEnv([lambda: gym.make(env_id, **settings)] * 3)
        assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
        assert ours.seed(5) == theirs.seed(5)
        assert np.array_equal(ours.reset(), theirs.reset())
        rng = np.random.default_rng(0)
        for _ in range(20):
            actions = rng.integers(8, size=3)
            (one, rewards, over, _), (two, *rest, _) = ours.step(actions), theirs.step(actions)
            assert np.array_equal(one, two)
            assert np.array_equal(rewards, rest[0])
            assert np.array_equal(over, rest[1])
