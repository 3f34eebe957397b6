"""The environment that docs/extending.md builds: its files, taken from the page, are an environment like ours."""

import importlib
import inspect
import pydoc
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rt_gym
from rt_gym.envs.settings import Settings
from rt_gym.envs.single import GridEnv
from rt_gym.envs.vector import GridVectorEnv
from rt_gym.views import kernel_view

PAGE = Path(__file__).resolve().parents[1] / "docs" / "extending.md"
ID = "RTStride-v0"
COUNT, STEPS = 6, 60
DOOR = [(3, (5, 5), False)]
HALL = rt_gym.Grid(np.ones((3, 7)), name="hall")
FOUR = rt_gym.load_map("open-16").replace(connectivity=4, name="four")
CASES: dict[str, dict[str, Any]] = {
    "known": {},
    "several maps": {"map": [HALL, "open-16"], "reach": 7},
    "four neighbours": {"map": FOUR},
    "rewards": {"reward": "normalised", "shaping": 0.9, "price": 0.5},
    "named parts": {"observation": "dict"},
}

pytestmark = pytest.mark.filterwarnings("error", "ignore:overflow encountered:RuntimeWarning")  # plain Python says so


def files() -> dict[str, str]:
    """Return the files of the page by their names."""
    blocks = re.findall(r'^```python title="(\S+)"\n(.*?)^```$', PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return dict(blocks)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Write the files into a folder from where they can be imported, register the id, and clean up after the tests."""
    folder = tmp_path_factory.mktemp("extending")
    for name, source in files().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(source, "utf-8")
    sys.path.insert(0, str(folder))
    gym.register(ID, entry_point="stride.env:RTStrideEnv", vector_entry_point="stride.env:RTStrideVectorEnv")
    yield folder
    sys.path.remove(str(folder))
    del gym.registry[ID]
    for name in [name for name in sys.modules if name.partition(".")[0] == "stride"]:
        del sys.modules[name]


@pytest.fixture
def classes(folder: Path) -> Any:
    return importlib.import_module("stride.env")


def given(case: str) -> dict[str, Any]:
    return {"map": "open-16", "pool": 9, "max_moves": 30, "history": 4} | CASES[case]


def parts(observation: Any) -> dict[str, Any]:
    return observation if isinstance(observation, dict) else {"all": observation}


def assert_same(one: Any, other: Any) -> None:
    assert parts(one).keys() == parts(other).keys()
    for name, part in parts(one).items():
        np.testing.assert_array_equal(part, parts(other)[name], strict=True)


def test_the_page_shows_three_files_and_how_to_use_them() -> None:
    assert list(files()) == ["stride/episode.py", "stride/batch.py", "stride/env.py", "play.py"]


def test_the_example_runs_and_registers_the_id(folder: Path) -> None:
    before = gym.registry.pop(ID)
    names = runpy.run_path(str(folder / "play.py"))
    assert gym.registry[ID] == before
    assert names["observations"].shape == (256, 14)


@pytest.mark.parametrize("case", CASES)
def test_the_checker_of_gymnasium_has_nothing_to_say(folder: Path, case: str) -> None:
    check_env(gym.make(ID, **given(case)).unwrapped)


def test_stable_baselines_takes_it_single_and_batched(folder: Path) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra rl")
    from rt_gym.envs.sb3 import SB3VecEnv

    checker.check_env(gym.make(ID, **given("known")).unwrapped)
    options = {"vectorization_mode": "vector_entry_point", "autoreset_mode": AutoresetMode.SAME_STEP}
    adapted = SB3VecEnv(gym.make_vec(ID, num_envs=COUNT, **options, **given("known")))
    assert adapted.reset().shape == (COUNT, 14)
    assert adapted.step(np.zeros(COUNT, np.int64))[0].shape == (COUNT, 14)


@pytest.mark.parametrize("more", [{}, {"vision": 1}, {"changes": DOOR}], ids=["known", "fog", "changes"])
def test_strides_that_the_mask_allows_end_at_the_goal(folder: Path, more: dict[str, Any]) -> None:
    env = gym.make(ID, map="open-16", pool=20, **more)
    for seed in range(3):
        _, info = env.reset(seed=seed)
        env.action_space.seed(seed)
        total, terminated, truncated = 0.0, False, False
        while not (terminated or truncated):
            _, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            total += reward
        tally = kernel_view(rt_gym.view(env)).trip.tally[0]
        assert terminated
        assert rt_gym.view(env).position == rt_gym.view(env).goal
        assert total == pytest.approx(-float(tally.moves - tally.diagonals + tally.diagonals * 2**0.5))


@pytest.mark.plain
def test_a_stride_takes_as_many_moves_as_it_says_and_ends_with_a_bump(folder: Path) -> None:
    env = gym.make(ID, map=HALL, pool=1, reach=5)
    env.reset(options={"start": (0, 0), "goal": (6, 2)})
    _, reward, *_, info = env.step(8 * 3)  # four cells to the east
    assert (rt_gym.view(env).position, rt_gym.view(env).moves, reward) == ((4, 0), 4, -4.0)
    assert info["action_mask"].reshape(5, 8)[:, 0].tolist() == [1, 1, 0, 0, 0]
    _, reward, *_ = env.step(8 * 4)  # of five, two are possible
    assert (rt_gym.view(env).position, rt_gym.view(env).moves, reward) == ((6, 0), 7, -3.0)
    _, reward, terminated, *_ = env.step(8 * 4 + 1)  # the goal is on the way
    assert (terminated, reward) == (True, -2.0)


@pytest.mark.plain
@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_a_batch_gives_the_same_trajectories(folder: Path, case: str, threads: int, mode: AutoresetMode) -> None:
    singles = SyncVectorEnv([lambda: gym.make(ID, **given(case))] * COUNT, autoreset_mode=mode)
    options = {"vectorization_mode": "vector_entry_point", "autoreset_mode": mode, "threads": threads}
    batch = gym.make_vec(ID, num_envs=COUNT, **options, **given(case))
    first, wanted = batch.reset(seed=3), singles.reset(seed=3)
    assert_same(first[0], wanted[0])
    ended, rng = np.zeros(COUNT, bool), np.random.default_rng(7)
    for _ in range(STEPS):
        actions = rng.integers(singles.single_action_space.n, size=COUNT)
        step, expected = batch.step(actions), singles.step(actions)
        assert_same(step[0], expected[0])
        for part, other in zip(step[1:4], expected[1:4], strict=True):
            np.testing.assert_array_equal(part, other)
        over = step[2] | step[3]
        ended |= over
        if mode == AutoresetMode.NEXT_STEP:
            np.testing.assert_array_equal(step[4]["action_mask"], expected[4]["action_mask"])
        if mode == AutoresetMode.SAME_STEP:
            for i in np.flatnonzero(over):
                assert_same(step[4]["final_obs"][i], expected[4]["final_obs"][i])
        if mode == AutoresetMode.DISABLED and over.any():
            again = {"reset_mask": over}
            assert_same(batch.reset(options=again.copy())[0], singles.reset(options=again.copy())[0])
    assert ended.all()


def test_a_batch_refuses_what_it_cannot_do(classes: Any) -> None:
    for wrong in ({"vision": 1}, {"changes": DOOR}, {"budget": 10}, {"max_episode_steps": 5}):
        with pytest.raises(rt_gym.InputError, match=next(iter(wrong))):
            classes.RTStrideVectorEnv(num_envs=2, map="open-16", pool=1, **wrong)
    with pytest.raises(rt_gym.InputError, match="reach"):
        classes.RTStrideEnv(reach=0)


@pytest.mark.parametrize(("name", "base"), [("RTStrideEnv", GridEnv), ("RTStrideVectorEnv", GridVectorEnv)])
def test_help_lists_all_arguments(classes: Any, name: str, base: Any) -> None:
    page = pydoc.plain(pydoc.render_doc(getattr(classes, name)))
    makers = classes.StrideSettings.__init__, Settings.__init__, base.__init__
    wanted = {argument for maker in makers for argument in inspect.signature(maker).parameters} - {"self", "settings"}
    if base is GridVectorEnv:
        wanted.remove("budget")  # nothing is metered in a batch
    assert {"reach", "map", "pool", "max_moves"} <= wanted
    assert {argument for argument in wanted if not re.search(rf"^ \| +{argument}: \S", page, re.MULTILINE)} == set()
    assert set(inspect.signature(getattr(classes, name)).parameters) == wanted
