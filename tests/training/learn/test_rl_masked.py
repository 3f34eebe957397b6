"""MaskablePPO of sb3-contrib: it meets the masks of our episodes, and everything around it works as for the others."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.policies.networks import load_network
from rt_gym import InputError
from training.learn import TrainingSetup, problems_of
from training.learn.rl import RLConfig, train_network
from training.learn.rl.model import agree, clone, exported, import_zip, make_env, make_model, teacher_examples
from training.runs import Course, Draw, Workers, find_courses

WHY = "the extra rl (Stable-Baselines3 and PyTorch) or sb3-contrib is not installed"
sb3 = pytest.importorskip("stable_baselines3", reason=WHY)
contrib = pytest.importorskip("sb3_contrib", reason=WHY)
utils = pytest.importorskip("sb3_contrib.common.maskable.utils", reason=WHY)

pytestmark = pytest.mark.usefixtures("one_thread")

HERE = Workers(jobs=1)
THINKING = RLConfig(
    env="RTThink-v0", algo="maskable-ppo", steps=1024, episodes=16, every=256, max_moves=60, hidden=(8,), vision=2,
    slice=5,
)  # fmt: skip


@cache
def courses(name: str = "rooms-64") -> tuple[Course, ...]:
    return tuple(find_courses([name], Draw(6, 20, 60)))


def setup(folder: Path) -> TrainingSetup:
    return TrainingSetup(courses(), courses("random-48"), HERE, folder)


def learner(config: RLConfig) -> Any:
    return make_model(config, make_env(config, problems_of(courses())))


class TestMasks:
    def test_the_learner_finds_those_of_the_episodes(self) -> None:
        env = make_env(THINKING, problems_of(courses()))
        env.reset()
        assert utils.is_masking_supported(env)
        assert np.array_equal(utils.get_action_masks(env), env.action_masks())

    def test_it_never_takes_an_action_that_they_exclude(self) -> None:
        model = learner(THINKING)
        model.learn(THINKING.steps)
        buffer = model.rollout_buffer
        masks = buffer.action_masks.reshape(-1, 2).astype(bool)
        taken = buffer.actions.reshape(-1).astype(int)
        assert masks[np.arange(len(taken)), taken].all()
        assert 0.1 < masks.all(axis=1).mean() < 0.9

    def test_in_path_finding_no_move_is_blocked(self) -> None:
        from rt_gym.envs.sb3 import SB3VecEnv

        env = SB3VecEnv("RTPath-v0", 8, map="random-48", optimal=(3, 8), max_moves=25, window=5, pool=20)
        results: list[Any] = []
        step = env.batch.step
        env.batch.step = lambda actions: results.append(step(actions)) or results[-1]  # type: ignore[func-returns-value, method-assign]
        contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, device="cpu", seed=0).learn(512)
        assert len(results) == 64
        assert not any(info["blocked"].any() for *_, info in results)
        assert not all(info["action_mask"].all() for *_, info in results)


class TestNetworks:
    def test_one_decides_as_its_learner_with_masks_and_without(self, tmp_path: Path) -> None:
        model = learner(THINKING)
        exported(model, THINKING).save(tmp_path / "policy.npz")
        network = load_network(tmp_path / "policy.npz")
        rng = np.random.default_rng(0)
        rows = rng.normal(0, 5, (2000, len(network.features))).astype(np.float32)
        masks = np.array([[0, 1], [1, 0], [1, 1]], bool)[rng.integers(3, size=len(rows))]
        assert agree(model, network, rows) == agree(model, network, rows, masks) == 1.0
        assert (network.choose(rows) != network.choose(rows, masks)).any()

    def test_one_without_masks_walks_as_its_learner_with_them(self) -> None:
        model = learner(THINKING)
        network = exported(model, THINKING)
        masked, free = (make_env(THINKING, problems_of(courses())) for _ in range(2))
        seen, same = masked.reset(), free.reset()
        excluded = 0
        for _ in range(200):
            chosen, _ = model.predict(seen, deterministic=True, action_masks=utils.get_action_masks(masked))
            others = network.choose(same)
            excluded += int((chosen != others).sum())
            (seen, rewards, *_), (same, others, *_) = masked.step(chosen), free.step(others)
            assert np.array_equal(seen, same)
            assert np.array_equal(rewards, others)
        assert excluded > 0  # an action that is not possible is the other one

    def test_one_in_a_zip_is_read(self, tmp_path: Path) -> None:
        model = learner(THINKING)
        model.save(tmp_path / "model.zip")
        network = import_zip(tmp_path / "model.zip", "think", 1, trusted=True)
        rows = np.random.default_rng(0).normal(size=(200, len(network.features))).astype(np.float32)
        assert agree(model, network, rows) == 1.0
        with pytest.raises(InputError, match=r"is not a readable \.zip archive"):
            import_zip(__file__, "think", 1, trusted=True)


class TestTraining:
    def test_it_can_begin_with_imitation(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("training.learn.rl.model.STEPS", 60)
        monkeypatch.setattr("training.learn.rl.model.BATCH", 128)
        shown = teacher_examples(RLConfig(env="RTThink-v0", teacher="rule", vision=2, slice=5), courses(), HERE)
        majority = np.bincount(shown.actions).max() / len(shown.actions)
        assert clone(learner(THINKING), shown, seed=0) > majority + 0.3 * (1 - majority)

    def test_a_killed_one_goes_on(self, tmp_path: Path) -> None:
        def killed(amount: float, text: str) -> None:
            heard.append(amount)
            if sum(heard) >= 512:
                raise KeyboardInterrupt

        heard: list[float] = []
        with pytest.raises(KeyboardInterrupt):
            train_network(THINKING, setup(tmp_path), killed)
        amounts: list[float] = []
        network, progress = train_network(THINKING, setup(tmp_path), lambda amount, _: amounts.append(amount))
        assert 512 - THINKING.every <= amounts[0] <= 512
        steps = [look[0] for look in progress.looks]
        assert steps == sorted(set(steps))
        assert steps[0] == 0
        assert steps[-1] >= THINKING.steps
        assert network.about["training"]["algo"] == "maskable-ppo"
