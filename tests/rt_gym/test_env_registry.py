"""What holds of every registered environment, in all forms of its observation."""

import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import rt_gym

pytestmark = pytest.mark.filterwarnings("error")
FORMS = [(env_id, form) for env_id in rt_gym.envs.ids() if env_id != "RTSquad-v0" for form in ("box", "dict")]
each_flat = pytest.mark.parametrize(("env_id", "form"), FORMS)
each_form = pytest.mark.parametrize(("env_id", "form"), [*FORMS, ("RTSquad-v0", "units")])  # it has rows of features

Steps = list[tuple[Any, ...]]

ACTIONS = {
    "RTPath-v0": gym.spaces.Discrete(8),
    "RTPathFog-v0": gym.spaces.Discrete(8),
    "RTDepth-v0": gym.spaces.Discrete(16),
    "RTDeepen-v0": gym.spaces.Discrete(2),
    "RTDepthGoal-v0": gym.spaces.MultiDiscrete([16, 2]),
    "RTThink-v0": gym.spaces.Discrete(2),
    "RTSquad-v0": gym.spaces.Discrete(4),
}
PATH = ["goal", "position", "history", "budget", "window"]
DEPTH = ["history", "learned", "around", "decision", "trail"]
PARTS = {
    "RTPath-v0": PATH,
    "RTPathFog-v0": PATH,
    "RTDepth-v0": DEPTH,
    "RTDeepen-v0": [*DEPTH, "layers"],
    "RTDepthGoal-v0": [*DEPTH, "subgoal"],
    "RTThink-v0": ["history", "search", "path", "trail"],
}


def settings_of(form: str) -> dict[str, Any]:
    """Return the argument that asks for a form of observation; a squad has only one."""
    return {} if form == "units" else {"observation": form}


def short(form: str) -> dict[str, Any]:
    """Return arguments for episodes of 20 steps."""
    return {"units": 5, "max_ticks": 20} if form == "units" else {"observation": form, "max_moves": 20}


def began(info: dict[str, Any]) -> str:
    """Return where an episode begins and where it is to end."""
    return str([np.asarray(info[name]).tolist() for name in info if name.startswith(("position", "goal"))])


def choices(space: Any) -> Any:
    """Return how many actions there are, for a space of several parts an array."""
    return space.nvec if isinstance(space, gym.spaces.MultiDiscrete) else int(space.n)


def draw(space: Any, rng: np.random.Generator, *count: int) -> Any:
    """Return random actions, an array of so many or one."""
    several = choices(space)
    return rng.integers(several, size=(*count, *np.shape(several)))[()]


def roll(env: Any, steps: int, seed: int) -> Steps:
    """Walk at random from where an environment stands, new episodes included, and return all that it says."""
    rng = np.random.default_rng(seed)
    said: Steps = []
    for _ in range(steps):
        said.append(env.step(draw(env.action_space, rng)))
        if said[-1][2] or said[-1][3]:
            said.append(env.reset())
    return said


def roll_batch(envs: Any, steps: int, seed: int) -> Steps:
    rng = np.random.default_rng(seed)
    return [envs.step(draw(envs.single_action_space, rng, envs.num_envs)) for _ in range(steps)]


def make_batch(env_id: str, form: str, **settings: Any) -> gym.vector.VectorEnv[Any, Any, Any]:
    return gym.make_vec(env_id, num_envs=5, vectorization_mode="vector_entry_point", **short(form), **settings)


def same(one: Any, other: Any) -> bool:
    return list(leaves(one)) == list(leaves(other))


def leaves(data: Any) -> Iterator[Any]:
    """Yield all that is in nested data, arrays bit by bit."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        yield data.dtype, data.shape, data.tobytes()
    elif isinstance(data, (dict, list, tuple, np.ndarray)):
        for part in data.items() if isinstance(data, dict) else data:
            yield from leaves(part)
    else:
        yield data


def arrays(data: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield all arrays in nested data."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        yield data
    elif isinstance(data, (dict, list, tuple, np.ndarray)):
        for part in data.values() if isinstance(data, dict) else data:
            yield from arrays(part)


def overlap(said: Steps) -> bool:
    """Whether an array of one step shares memory with an array of another."""
    each = [list(arrays(step)) for step in said]
    return any(
        np.shares_memory(one, other)
        for k, step in enumerate(each)
        for other in step
        for earlier in each[:k]
        for one in earlier
    )


@pytest.fixture
def env(env_id: str, form: str) -> Iterator[gym.Env[Any, Any]]:
    made = gym.make(env_id, **short(form))
    yield made
    made.close()


def test_ids_with_the_package_before_them_need_no_import() -> None:
    code = f"import gymnasium\nfor id in {rt_gym.envs.ids()}: gymnasium.make(f'rt_gym:{{id}}').reset(seed=0)"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0


def test_registering_again_does_no_harm() -> None:
    before = dict(gym.registry)
    rt_gym.envs.register()
    assert all(gym.registry[env_id] is before[env_id] for env_id in rt_gym.envs.ids())


@each_form
class TestMaking:
    def test_the_checker_of_gymnasium_has_nothing_to_say(self, env_id: str, form: str) -> None:
        check_env(gym.make(env_id, **settings_of(form)).unwrapped)

    def test_the_spec_makes_the_same_environment_again(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        assert env.spec is not None
        again = gym.make(env.spec)
        assert same(again.reset(seed=3), env.reset(seed=3))
        assert (again.observation_space, again.action_space) == (env.observation_space, env.action_space)


@each_form
class TestSpaces:
    def test_actions_are_those_of_the_table(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        assert env.action_space == ACTIONS[env_id]

    def test_everything_observed_lies_in_the_space(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        said = [env.reset(seed=0), *roll(env, 200, seed=0)]
        assert all(env.observation_space.contains(step[0]) for step in said)

    def test_what_a_step_returns_has_the_plain_types(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        env.reset(seed=0)
        for step in roll(env, 50, seed=0):
            if len(step) == 5:
                assert [type(part) for part in step[1:]] == [float, bool, bool, dict]

    def test_the_batch_has_the_spaces_of_the_single_environment(
        self, env: gym.Env[Any, Any], env_id: str, form: str
    ) -> None:
        envs = make_batch(env_id, form)
        assert (envs.single_observation_space, envs.single_action_space) == (env.observation_space, env.action_space)
        said = [envs.reset(seed=0), *roll_batch(envs, 50, seed=0)]
        assert all(envs.observation_space.contains(step[0]) for step in said)
        rewards, terminated, truncated = said[-1][1:4]
        assert [part.dtype for part in (rewards, terminated, truncated)] == [np.float64, np.bool_, np.bool_]
        assert [part.shape for part in (rewards, terminated, truncated)] == [(5,)] * 3

    @pytest.mark.parametrize("mode", list(AutoresetMode))
    def test_the_batch_declares_its_autoreset_mode(self, env_id: str, form: str, mode: AutoresetMode) -> None:
        assert make_batch(env_id, form, autoreset_mode=mode).metadata["autoreset_mode"] is mode
        assert make_batch(env_id, form, autoreset_mode=mode.value).metadata["autoreset_mode"] is mode


@each_flat
class TestFlatObservations:
    def test_the_checker_of_stable_baselines_has_nothing_to_say(self, env_id: str, form: str) -> None:
        checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra rl")
        checker.check_env(gym.make(env_id, **settings_of(form)).unwrapped)

    def test_observations_are_flat_and_of_single_precision(
        self, env: gym.Env[Any, Any], env_id: str, form: str
    ) -> None:
        space = env.observation_space
        parts = [space] if form == "box" else list(space.spaces.values())
        assert all(isinstance(part, gym.spaces.Box) and part.dtype == np.float32 for part in parts)
        assert all(len(part.shape) == 1 and np.isfinite([part.low, part.high]).all() for part in parts)

    def test_the_dictionary_holds_the_flat_observation_in_its_order(self, env_id: str, form: str) -> None:
        flat, named = gym.make(env_id), gym.make(env_id, observation="dict")
        (one, _), (other, _) = flat.reset(seed=4), named.reset(seed=4)
        assert list(other) == PARTS[env_id]
        assert np.concatenate(list(other.values())).tolist() == one.tolist()


@each_form
class TestSeeds:
    def test_the_same_seed_gives_the_same_episodes(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        other = gym.make(env_id, **short(form))
        runs = [[each.reset(seed=11), *roll(each, 120, seed=5)] for each in (env, other, env)]
        assert same(runs[0], runs[1])
        assert same(runs[0], runs[2])

    def test_seeds_choose_different_problems(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        chosen = {began(info) for _, info in (env.reset(seed=seed) for seed in range(20))}
        assert len(chosen) > 10

    def test_a_reset_without_a_seed_goes_on_with_the_last_one(
        self, env: gym.Env[Any, Any], env_id: str, form: str
    ) -> None:
        env.reset(seed=1)
        first = [began(env.reset()[1]) for _ in range(10)]
        env.reset(seed=1)
        assert [began(env.reset()[1]) for _ in range(10)] == first
        assert len(set(first)) > 5

    def test_environments_without_a_seed_differ(self, env_id: str, form: str) -> None:
        starts = {began(gym.make(env_id, **settings_of(form)).reset()[1]) for _ in range(8)}
        assert len(starts) > 1

    def test_a_seed_settles_the_whole_batch(self, env_id: str, form: str) -> None:
        one, other = make_batch(env_id, form), make_batch(env_id, form)
        assert same(one.reset(seed=2), other.reset(seed=2))
        assert same(roll_batch(one, 100, seed=0), roll_batch(other, 100, seed=0))
        assert not same(one.reset(seed=2)[0], other.reset(seed=3)[0])


@each_form
class TestCopies:
    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    def test_a_copy_goes_on_from_the_middle_of_an_episode(
        self, env: gym.Env[Any, Any], env_id: str, form: str, copied: Any
    ) -> None:
        env.reset(seed=0)
        roll(env, 30, seed=1)
        twin = copied(env)
        ahead = roll(twin, 60, seed=2)
        assert same(roll(env, 60, seed=2), ahead)

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    def test_a_copied_batch_goes_on_from_the_middle_of_its_episodes(self, env_id: str, form: str, copied: Any) -> None:
        envs = make_batch(env_id, form)
        envs.reset(seed=0)
        roll_batch(envs, 30, seed=1)
        twin = copied(envs)
        ahead = roll_batch(twin, 60, seed=2)
        assert same(roll_batch(envs, 60, seed=2), ahead)


@each_form
class TestNothingIsReused:
    def test_what_was_returned_never_changes_afterwards(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        said = [env.reset(seed=0)]
        kept = copy.deepcopy(said)
        for _ in range(60):
            step = roll(env, 1, seed=len(said))
            said += step
            kept += copy.deepcopy(step)
        assert same(said, kept)
        assert not overlap(said)

    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
    def test_what_a_batch_returned_never_changes_afterwards(self, env_id: str, form: str, mode: AutoresetMode) -> None:
        envs = make_batch(env_id, form, autoreset_mode=mode)
        said: Steps = [envs.reset(seed=0)]
        kept = copy.deepcopy(said)
        for k in range(60):
            said += roll_batch(envs, 1, seed=k)
            kept.append(copy.deepcopy(said[-1]))
        assert same(said, kept)
        assert not overlap(said)

    def test_writing_to_what_was_returned_leaves_the_episode_alone(
        self, env: gym.Env[Any, Any], env_id: str, form: str
    ) -> None:
        env.reset(seed=0)
        twin = copy.deepcopy(env)
        for k in range(40):
            ours, theirs = roll(env, 1, seed=k), roll(twin, 1, seed=k)
            assert same(ours, theirs)
            for array in arrays(ours):
                array[...] = 0


@each_form
class TestRendering:
    def test_frames_have_one_shape_and_follow_the_agent(self, env_id: str, form: str) -> None:
        env = gym.make(env_id, **short(form), render_mode="rgb_array", render_size=(96, 64))
        env.reset(seed=0)
        frames = [env.render()]
        for k in range(6):
            env.step(k % choices(ACTIONS[env_id]))
            frames.append(env.render())
        assert all(frame.shape == (64, 96, 3) and frame.dtype == np.uint8 for frame in frames)
        assert not np.array_equal(frames[0], frames[-1])
        assert not np.shares_memory(frames[0], frames[1])

    def test_text_is_one_string_that_changes_with_the_episode(
        self, env_id: str, form: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "60")
        monkeypatch.setenv("LINES", "24")
        env = gym.make(env_id, **settings_of(form), render_mode="ansi")
        env.reset(seed=0)
        first = env.render()
        env.reset(seed=1)
        assert isinstance(first, str)
        assert 0 < first.count("\n") < 24
        assert env.render() != first

    def test_a_window_opens_and_closes(self, env_id: str, form: str) -> None:
        pytest.importorskip("pygame", reason="needs the extra human")
        env = gym.make(env_id, **settings_of(form), render_mode="human", render_size=(64, 64))
        env.reset(seed=0)
        env.step(0 * choices(env.action_space))
        assert env.render() is None
        env.close()
        env.close()

    def test_rendering_changes_nothing(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        drawn = gym.make(env_id, **short(form), render_mode="rgb_array", render_size=(32, 32))
        assert same(drawn.reset(seed=9), env.reset(seed=9))
        for k in range(30):
            drawn.render()
            assert same(roll(drawn, 1, seed=k), roll(env, 1, seed=k))

    def test_without_a_mode_rendering_says_so(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        env.reset(seed=0)
        with pytest.warns(UserWarning, match="render_mode"):
            assert env.unwrapped.render() is None

    def test_a_video_is_recorded(self, env_id: str, form: str, tmp_path: Path) -> None:
        if find_spec("moviepy") is None:
            pytest.skip("needs the extra video")
        env: gym.Env[Any, Any] = gym.make(env_id, **settings_of(form), render_mode="rgb_array", render_size=(64, 64))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the film libraries do among themselves
            film = gym.wrappers.RecordVideo(env, str(tmp_path), video_length=8, disable_logger=True)
            film.reset(seed=0)
            for k in range(10):
                film.step(k % choices(ACTIONS[env_id]))
            film.close()
        assert [file.suffix for file in tmp_path.iterdir() if file.stat().st_size > 0] == [".mp4"]


@each_form
class TestWrappers:
    def test_the_usual_wrappers_fit(self, env: gym.Env[Any, Any], env_id: str, form: str) -> None:
        wrapped = gym.wrappers.RecordEpisodeStatistics(gym.wrappers.TimeLimit(env, 7))
        wrapped = gym.wrappers.FlattenObservation(wrapped)
        observation, _ = wrapped.reset(seed=0)
        assert observation.shape == wrapped.observation_space.shape
        rewards = []
        for _ in range(7):
            _, reward, _, truncated, info = wrapped.step(0 * choices(env.action_space))
            rewards.append(reward)
        assert truncated
        assert info["episode"]["r"] == pytest.approx(sum(rewards))

    def test_the_statistics_of_a_batch_fit(self, env_id: str, form: str) -> None:
        envs = gym.wrappers.vector.RecordEpisodeStatistics(make_batch(env_id, form))
        envs.reset(seed=0)
        lengths = {int(n) for step in roll_batch(envs, 100, seed=0) for n in _ended(step[4])}
        assert lengths
        assert max(lengths) > 20 if env_id == "RTDeepen-v0" else max(lengths) == 20  # moves; layers are steps, too


def _ended(info: dict[str, Any]) -> Any:
    return info["episode"]["l"][info["_episode"]] if "episode" in info else []
