"""The adapter to Stable-Baselines3: the same episodes as its own batches of single environments, and learners learn."""

import subprocess
import sys
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rt_gym
from rt_gym import InputError
from rt_gym.envs.sb3 import SB3VecEnv

WHY = "the extra rl (Stable-Baselines3 and PyTorch) is not installed"
sb3 = pytest.importorskip("stable_baselines3", reason=WHY)
torch = pytest.importorskip("torch", reason=WHY)
vec_env = pytest.importorskip("stable_baselines3.common.vec_env", reason=WHY)
evaluate_policy = pytest.importorskip("stable_baselines3.common.evaluation", reason=WHY).evaluate_policy
Monitor = pytest.importorskip("stable_baselines3.common.monitor", reason=WHY).Monitor

pytestmark = pytest.mark.usefixtures("one_thread")

SMALL: dict[str, Any] = {"map": "random-48", "optimal": (3, 8), "max_moves": 25, "window": 5, "pool": 20}


def batch(mode: AutoresetMode = AutoresetMode.SAME_STEP, **settings: Any) -> Any:
    return gym.make_vec(
        "RTPath-v0", 3, vectorization_mode="vector_entry_point", autoreset_mode=mode, **(SMALL | settings)
    )


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(np.array_equal(a, b)) and a.dtype == b.dtype


class TestEpisodes:
    @pytest.mark.parametrize("env_id", rt_gym.envs.ids())
    @pytest.mark.parametrize("observation", ["box", "dict"])
    def test_episodes_are_those_of_monitored_single_environments(self, env_id: str, observation: str) -> None:
        settings = SMALL | {"observation": observation}
        if not env_id.startswith("RTPath"):
            del settings["window"]
            settings |= {"max_moves": 5}  # whoever searches would always reach the goal
        if env_id == "RTSquad-v0":
            action = "rule" if observation == "box" else "shares"  # its observations have one form
            settings = {"map": "random-48", "optimal": (3, 6), "units": 2, "max_ticks": 4, "action": action}
        ours = SB3VecEnv(env_id, num_envs=4, **settings)
        theirs = vec_env.DummyVecEnv([lambda: Monitor(gym.make(env_id, **settings))] * 4)
        assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
        assert ours.seed(5) == theirs.seed(5)
        assert same(ours.reset(), theirs.reset())
        ours.action_space.seed(0)
        endings = []
        for _ in range(400):
            actions = np.stack([ours.action_space.sample() for _ in range(4)])
            (one, rewards, over, infos), (two, *rest, their_infos) = ours.step(actions), theirs.step(actions)
            assert same(one, two)
            assert same(rewards, rest[0])
            assert same(over, rest[1])
            for info, their_info in zip(infos, their_infos, strict=True):
                assert info.keys() <= their_info.keys() | {"is_success"}
                assert bool(info) == ("episode" in their_info)
                if info:
                    endings.append(info)
                    assert same(info["terminal_observation"], their_info["terminal_observation"])
                    assert info["TimeLimit.truncated"] == their_info["TimeLimit.truncated"]
                    assert info["episode"]["r"] == pytest.approx(their_info["episode"]["r"], abs=1e-5)
                    assert info["episode"]["l"] == their_info["episode"]["l"]
        assert {info["is_success"] for info in endings} == {True, False}
        assert all(info["is_success"] != info["TimeLimit.truncated"] for info in endings)

    def test_statistics_begin_anew_with_reset_and_their_time_goes_on(self) -> None:
        env = SB3VecEnv("RTPath-v0", map="open-16", optimal=(15, 30), max_moves=10)
        env.reset()
        for _ in range(7):
            env.step(np.array([0]))
        env.reset()
        ends = [info["episode"] for info in (env.step(np.array([0]))[3][0] for _ in range(40)) if info]
        assert [(end["r"], end["l"]) for end in ends] == [(-10.0, 10)] * 4
        assert sorted(end["t"] for end in ends) == [end["t"] for end in ends]
        assert ends[0]["t"] > 0

    def test_nothing_that_a_step_returned_changes_later(self) -> None:
        env = SB3VecEnv(batch())
        env.seed(0)
        kept = [env.reset(), env.action_masks()]
        for k in range(30):
            observation, rewards, over, infos = env.step(np.full(3, k % 8))
            kept += [observation, rewards, over, env.action_masks()]
            kept += [info["terminal_observation"] for info in infos if info]
        copies = [array.copy() for array in kept]
        for k in range(30):
            env.step(np.full(3, k % 8))
        assert all(same(array, copy) for array, copy in zip(kept, copies, strict=True))

    def test_seeds_are_used_once(self) -> None:
        env = SB3VecEnv("RTPath-v0", num_envs=8, **SMALL)
        env.seed(3)
        first, second = env.reset(), env.reset()
        env.seed(3)
        assert same(first, env.reset())
        assert not same(first, second)

    def test_a_step_before_reset_is_refused(self) -> None:
        with pytest.raises(gym.error.ResetNeeded):
            SB3VecEnv(batch()).step(np.zeros(3, int))


class TestQuestionsOfLearners:
    def test_action_masks_tell_which_moves_lead_somewhere(self) -> None:
        env = SB3VecEnv(batch(stay=True))
        env.seed(0)
        env.reset()
        for k in range(60):
            masks, actions = env.action_masks(), np.arange(3) + k % 6
            assert (masks.dtype, masks.shape) == (np.bool_, (3, 9))
            assert masks[:, 8].all()
            # The way of sb3-contrib's MaskablePPO.
            assert env.has_attr("action_masks")
            assert same(np.stack(env.env_method("action_masks")), masks)
            assert same(env.get_attr("action_masks", 1)[0](), masks[1])
            blocked = env.batch.step(actions)[4]["blocked"]
            assert same(blocked, ~masks[np.arange(3), actions])
            env.step(np.full(3, 8))

    def test_masks_before_reset_are_refused(self) -> None:
        with pytest.raises(gym.error.ResetNeeded, match="no action masks before reset"):
            SB3VecEnv(batch()).action_masks()

    def test_attributes_are_those_of_the_batch(self) -> None:
        env = SB3VecEnv(batch())
        assert env.get_attr("render_mode") == [None] * 3
        assert not env.has_attr("stage")
        env.set_attr("stage", 2)
        assert env.get_attr("stage", [0, 2]) == [2, 2]
        env.set_attr("stage", 3, indices=[0, 1, 2])
        assert env.get_attr("stage", 1) == [3]
        with pytest.raises(InputError, match="share their attributes: set stage for all of them"):
            env.set_attr("stage", 4, indices=0)

    def test_other_methods_of_single_environments_are_refused(self) -> None:
        with pytest.raises(InputError, match=r"have the method action_masks\(\) only, not render"):
            SB3VecEnv(batch()).env_method("render")

    def test_no_monitor_is_missed(self, recwarn: pytest.WarningsRecorder) -> None:
        env = SB3VecEnv(batch())
        assert env.env_is_wrapped(Monitor) == [True] * 3
        assert env.env_is_wrapped(gym.wrappers.TimeLimit, indices=[0, 1]) == [False] * 2
        returns, lengths = evaluate_policy(RandomPolicy(0), env, 12, return_episode_rewards=True)
        assert len(returns) == len(lengths) == 12
        assert not recwarn.list

    def test_wrappers_of_the_library_fit_around_it(self) -> None:
        env = vec_env.VecFrameStack(vec_env.VecNormalize(SB3VecEnv(batch())), 2)
        assert env.reset().shape == (3, 2 * (9 + 25))
        assert env.step(np.zeros(3, int))[0].shape == (3, 2 * (9 + 25))
        assert len(env.env_method("action_masks")) == 3

    @pytest.mark.parametrize("observation", ["box", "dict"])
    def test_learners_take_both_kinds_of_observation(self, observation: str) -> None:
        env = SB3VecEnv(batch(observation=observation))
        policy = {"box": "MlpPolicy", "dict": "MultiInputPolicy"}[observation]
        for model in (
            sb3.PPO(policy, env, n_steps=32, batch_size=48, n_epochs=1, device="cpu"),
            sb3.DQN(policy, env, learning_starts=50, buffer_size=200, device="cpu"),
        ):
            model.learn(96)
            assert model.num_timesteps == 96
            assert model.ep_info_buffer
            assert len(model.ep_success_buffer) == len(model.ep_info_buffer)

    def test_ppo_takes_actions_of_two_parts(self) -> None:
        env = SB3VecEnv("RTDepthGoal-v0", 3, map="open-16", d_max=4, max_moves=8)
        model = sb3.PPO("MlpPolicy", env, n_steps=32, batch_size=48, n_epochs=1, device="cpu").learn(96)
        assert model.num_timesteps == 96
        assert model.predict(env.reset())[0].shape == (3, 2)
        assert env.action_masks().shape == (3, 6)

    def test_closing_closes_the_batch(self) -> None:
        env = SB3VecEnv(batch())
        env.close()
        assert env.batch.closed


class TestRefusals:
    @pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
    def test_other_modes_of_autoreset_are_refused(self, mode: AutoresetMode) -> None:
        with pytest.raises(InputError, match=f"needs autoreset_mode SAME_STEP, but the batched environment has {mode}"):
            SB3VecEnv(batch(mode))

    @pytest.mark.parametrize("make", [lambda: None, lambda: gym.make("RTPath-v0"), lambda: gym.make_vec("CartPole-v1")])
    def test_what_is_no_batch_of_ours_is_refused(self, make: Any) -> None:
        with pytest.raises(InputError, match="env must be an id or a batched environment of this package, not"):
            SB3VecEnv(make())

    def test_wrappers_of_gymnasium_around_a_batch_are_not_refused(self) -> None:
        env = SB3VecEnv(gym.wrappers.vector.TransformReward(batch(), lambda reward: 2 * reward))
        env.reset()
        assert set(env.step(np.zeros(3, int))[1]) == {-2.0}

    @pytest.mark.parametrize("arguments", [{"num_envs": 3}, {"map": "open-16"}])
    def test_settings_for_a_batch_that_has_its_own_are_refused(self, arguments: dict[str, Any]) -> None:
        with pytest.raises(InputError, match="num_envs and settings go with an id"):
            SB3VecEnv(batch(), **arguments)

    @pytest.mark.parametrize("env_id", ["CartPole-v1", "RTPath-v9", ""])
    def test_ids_of_others_are_refused(self, env_id: str) -> None:
        with pytest.raises(InputError, match="is none of this package's environments, which are RTPath-v0, RTPathFog"):
            SB3VecEnv(env_id)

    def test_a_batch_of_no_episode_at_all_is_refused(self) -> None:
        with pytest.raises(InputError, match="num_envs must be a whole number"):
            SB3VecEnv("RTPath-v0", num_envs=0, map="open-16")

    def test_options_at_reset_are_refused(self) -> None:
        env = SB3VecEnv(batch())
        env.set_options({})
        env.set_options([{}, {}, {}])
        for options in ({"index": 3}, [{}, {"index": 3}, {}]):
            with pytest.raises(InputError, match="take no options at reset, but were given"):
                env.set_options(options)

    def test_a_missing_library_names_the_extra(self) -> None:
        script = """
            import sys
            sys.modules["stable_baselines3"] = None
            import rt_gym
            from rt_gym.envs.sb3 import SB3VecEnv
            try:
                SB3VecEnv("RTPath-v0")
            except rt_gym.InputError as error:
                print(error)
        """
        assert run(script) == "SB3VecEnv needs Stable-Baselines3: pip install 'rt_gym[rl]'"

    def test_the_package_itself_never_imports_the_library(self) -> None:
        script = """
            import sys
            import rt_gym, rt_gym.splits, gymnasium
            gymnasium.make("RTPath-v0", map="open-16").reset()
            print(sorted({"torch", "stable_baselines3"} & set(sys.modules)))
        """
        assert run(script) == "[]"


def run(script: str) -> str:
    lines = "\n".join(line[12:] for line in script.splitlines())
    return subprocess.run([sys.executable, "-c", lines], capture_output=True, check=True, text=True).stdout.strip()


class RandomPolicy:
    """Chooses among the eight directions, as ``evaluate_policy`` asks for it."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def predict(self, observation: Any, **_: Any) -> tuple[Any, None]:
        return self.rng.integers(0, 8, len(observation)), None


class TestLearning:
    """Learners see a shaped reward; they are judged on the plain cost of 256 episodes, always by their best action."""

    SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2)))

    @staticmethod
    def env(num_envs: int, shaping: float | None = None) -> SB3VecEnv:
        return SB3VecEnv("RTPath-v0", num_envs, map="open-16", max_moves=100, window=5, shaping=shaping)

    @classmethod
    def mean_return(cls, policy: Any, seed: int) -> float:
        env = cls.env(64)
        env.seed(seed)
        return float(evaluate_policy(policy, env, 256, deterministic=True)[0])

    @staticmethod
    @cache
    def best_of_random() -> float:
        return max(TestLearning.mean_return(RandomPolicy(seed), 1000 + seed) for seed in range(10))

    def check(self, model: Any, seed: int) -> None:
        """Ask for more than being above random's best: for less than half of its cost."""
        assert self.mean_return(model, 1000 + seed) > self.best_of_random() / 2

    @pytest.mark.parametrize("seed", SEEDS)
    def test_ppo_walks_less_than_half_as_far_as_the_best_random_walk(self, seed: int) -> None:
        model = sb3.PPO(
            "MlpPolicy", self.env(64, shaping=0.95), n_steps=32, batch_size=512, n_epochs=4, gamma=0.95,
            learning_rate=1e-3, ent_coef=0.01, seed=seed, device="cpu",
        )  # fmt: skip
        self.check(model.learn(50_000), seed)

    @pytest.mark.parametrize("seed", SEEDS)
    def test_dqn_walks_less_than_half_as_far_as_the_best_random_walk(self, seed: int) -> None:
        model = sb3.DQN(
            "MlpPolicy", self.env(16, shaping=0.95), train_freq=1, gradient_steps=4, batch_size=128, gamma=0.95,
            learning_rate=1e-3, buffer_size=50_000, learning_starts=1_000, target_update_interval=500,
            exploration_fraction=0.5, seed=seed, device="cpu",
        )  # fmt: skip
        self.check(model.learn(10_000), seed)
