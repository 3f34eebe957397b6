"""Policies that decide every move, trained by ``rt-gym train rl`` in path environments and their levels."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from typer.testing import CliRunner

import agents
from agents.policies.networks import load_network
from rt_gym import InputError, evaluate
from rt_gym.envs import level_ids
from training.cli import app
from training.learn import TrainingSetup, problems_of
from training.learn.merit import PathValidation
from training.learn.rl import RLConfig, is_path, level_of, train_network
from training.learn.rl.model import agree, clone, export_walker, exported, make_env, make_model, teacher_examples
from training.runs import Course, Draw, Workers, find_courses

WHY = "the extra rl (Stable-Baselines3, sb3-contrib and PyTorch) is not installed"
sb3 = pytest.importorskip("stable_baselines3", reason=WHY)
pytest.importorskip("sb3_contrib", reason=WHY)

pytestmark = pytest.mark.usefixtures("one_thread")

LEVEL, FOG = "RTPath-Random-16x16-v0", "RTPathFog-Random-16x16-v0"
QUICK: dict[str, Any] = {"steps": 1024, "episodes": 16, "every": 512, "window": 5, "hidden": (8,)}


@cache
def courses(part: str = "train", count: int = 24) -> tuple[Course, ...]:
    return tuple(find_courses([f"random-16-{part}"], Draw(4)))[:count]


def learner(config: RLConfig) -> Any:
    return make_model(config, make_env(config, problems_of(courses())))


@pytest.fixture
def few_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.learn.rl.model.STEPS", 60)
    monkeypatch.setattr("training.learn.rl.model.EPOCHS", 4)


class TestSettings:
    def test_every_path_id_has_a_recipe_and_levels_their_own_splits(self) -> None:
        configs = [RLConfig.usual(env) for env in ("RTPath-v0", "RTPathFog-v0", *level_ids())]
        assert {(config.decide, config.algo, config.teacher) for config in configs} == {
            ("move", "maskable-ppo", "rule")
        }
        assert [config.splits for config in configs[:2]] == ["mixed", "mixed"]
        assert {RLConfig.usual(env).splits for env in (LEVEL, FOG)} == {"random-16"}
        assert not is_path("RTDepth-v0")
        assert level_of("RTPath-v0") == ""

    @pytest.mark.parametrize(
        ("env", "given", "says"),
        [
            (LEVEL, {"d_max": 5}, "d_max is for policies that control a search; in RTPath-Random-16x16-v0 they decide"),
            (LEVEL, {"vision": 1}, "vision is for policies that control a search"),
            (LEVEL, {"algo": "cma"}, "cma evolves one hidden layer for RTDepth-v0, RTDeepen-v0 or RTDepthGoal-v0"),
            (LEVEL, {"teacher": "oracle"}, "the teacher must be none or rule, not oracle"),
            (LEVEL, {"algo": "dqn", "teacher": "rule"}, "dqn learns what things are worth: choose another algo"),
            (LEVEL, {"window": 4}, "window must be an odd number from 3 to 255, not 4"),
            (
                "RTDepth-v0",
                {"window": 5},
                "window is for RTPath-v0 and RTPathFog-v0 and their levels",
            ),
            ("RTPath-Lava-16x16-v0", {}, "or a level such as RTPath-Open-16x16-v0, not 'RTPath-Lava-16x16-v0'"),
        ],
    )
    def test_what_does_not_go_together_is_refused(self, env: str, given: dict[str, Any], says: str) -> None:
        with pytest.raises(InputError, match=says):
            RLConfig.usual(env, **given)

    def test_episodes_of_a_training_are_cut_after_eight_sides_of_the_map(self) -> None:
        env = make_env(RLConfig.usual(LEVEL, **QUICK), problems_of(courses()))
        assert env.batch.unwrapped.settings.max_moves == 128


class TestNetworks:
    @pytest.mark.parametrize("env", [LEVEL, FOG])
    @pytest.mark.parametrize("algo", ["ppo", "a2c", "dqn", "maskable-ppo"])
    def test_one_decides_as_its_learner_with_masks_and_without(self, algo: str, env: str, tmp_path: Path) -> None:
        model = learner(RLConfig.usual(env, algo=algo, teacher="none", **QUICK))
        rng, seen, rows, masks = np.random.default_rng(0), model.env.reset(), [], []
        for _ in range(20):
            rows.append(seen)
            masks.append(model.env.action_masks())
            seen = model.env.step(rng.integers(0, 8, 16))[0]
        exported(model, RLConfig.usual(env, algo=algo, teacher="none", **QUICK)).save(tmp_path / "policy.npz")
        network = load_network(tmp_path / "policy.npz")
        assert agree(model, network, np.concatenate(rows)) > 0.99
        if algo == "maskable-ppo":
            assert agree(model, network, np.concatenate(rows), np.concatenate(masks)) > 0.99
        assert network.settings == {"window": 5, "visits": True, "history": 20}

    def test_a_learner_of_ones_own_becomes_a_file_whose_settings_show_it_the_same(self, tmp_path: Path) -> None:
        env = gym.make(LEVEL, window=7, stay=True)
        model = sb3.PPO("MlpPolicy", env, n_steps=64, device="cpu")
        network = export_walker(model, env.unwrapped.settings, {})  # type: ignore[attr-defined]
        network.save(tmp_path / "own.npz")
        problems = problems_of(courses("test", 6))
        own = evaluate(LEVEL, model, problems, window=7, stay=True, max_moves=40)
        filed = evaluate(LEVEL, load_network(tmp_path / "own.npz").choose, problems, max_moves=40, **network.settings)
        # The file is given masks, which PPO does without: on the same moves both decide alike.
        assert filed["moves"].max() == own["moves"].max() == 40
        assert network.moves == 9

    def test_images_and_other_observations_are_refused(self) -> None:
        env = gym.make(LEVEL, observation="dict")
        model = sb3.PPO("MultiInputPolicy", env, n_steps=64, device="cpu")
        with pytest.raises(InputError, match="stack must be 1, not 2"):
            export_walker(model, gym.make("RTPath-v0", stack=2).unwrapped.settings, {})  # type: ignore[attr-defined]
        with pytest.raises(InputError, match="the observation must be \"box\", not 'dict'"):
            export_walker(model, env.unwrapped.settings, {})  # type: ignore[attr-defined]

    def test_agents_that_search_take_no_network_that_decides_the_move(self) -> None:
        config = RLConfig.usual(LEVEL, **QUICK)
        with pytest.raises(InputError, match="policy must decide depth or deepen"):
            agents.make("policy-lrta", policy=exported(learner(config), config))


class TestImitation:
    def test_a_clone_agrees_with_the_rule_and_reaches_goals_that_chance_does_not(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("training.learn.rl.model.STEPS", 150)
        config = RLConfig.usual(LEVEL, **QUICK | {"hidden": (32, 32)})
        model, shown = learner(config), teacher_examples(config, courses(), Workers(jobs=1))
        majority = np.bincount(shown.actions).max() / len(shown.actions)
        assert clone(model, shown, seed=0, batch=256) > majority + 0.5 * (1 - majority)
        validation = PathValidation(courses("validation"), LEVEL, config.walking)
        rating = validation.rate(exported(model, config))
        assert rating.figures[0] is not None
        assert rating.figures[0] > validation.level() + 0.3


@pytest.mark.usefixtures("few_examples")
class TestTraining:
    def train(self, folder: Path, **more: Any) -> Any:
        config = RLConfig.usual(LEVEL, **QUICK | more)
        setup = TrainingSetup(courses(), courses("validation", 6), Workers(jobs=1), folder)
        return train_network(config, setup)

    def test_steps_are_as_many_as_asked_for_and_all_are_learned_from(self, tmp_path: Path) -> None:
        _, progress = self.train(tmp_path)
        assert [look[0] for look in progress.looks] == [0, 512, 1024]
        config = RLConfig.usual(LEVEL, **QUICK | {"teacher": "none", "steps": 70})
        model = learner(config)
        before = model.policy.action_net.weight.detach().clone()
        _, short = self.train(tmp_path / "short", teacher="none", steps=70, every=1000)
        assert [look[0] for look in short.looks] == [0, 80]  # 16 episodes make a step together
        model.learn(70)
        assert not np.array_equal(before, model.policy.action_net.weight.detach())
        weights = [
            self.train(tmp_path / name, teacher="none", steps=steps)[0] for name, steps in (("a", 64), ("b", 16))
        ]
        assert weights[0].about["training"]["steps"] == 64

    def test_the_same_call_returns_what_was_kept(self, tmp_path: Path) -> None:
        assert self.train(tmp_path)[1] == self.train(tmp_path)[1]


@pytest.mark.usefixtures("few_examples")
class TestCommand:
    TINY = ("--steps", "512", "--episodes", "16", "--every", "512", "--problems", "1", "--jobs", "1", "--window", "5")

    def run(self, *options: str) -> Any:
        return CliRunner().invoke(app, ["train", "rl", *self.TINY, *options])

    def test_a_level_is_trained_chosen_and_judged_on_its_own_splits(self, tmp_path: Path) -> None:
        result = self.run("--env", FOG, "--out", str(tmp_path))
        assert result.exit_code == 0, result.stderr
        for text in (
            "On the validation maps",
            "weighted by path length",
            "rtaa, 100 per move",
            "dstar-lite",
            "the rule",
        ):
            assert text in result.stdout
        assert "rt_gym.evaluate('RTPathFog-Random-16x16-v0', network.choose, 'random-16-test'" in result.stdout
        written = {"policy.npz", "settings.json", "results.csv", "training.png", "report.html"}
        assert written <= {path.name for path in tmp_path.iterdir()}
        assert "RTPathFog-Random-16x16-v0" in (tmp_path / "report.html").read_text("ascii")
        network = load_network(tmp_path / "policy.npz")
        assert len(evaluate(FOG, network.choose, "random-16-test", **network.settings)) == 128

    def test_other_maps_are_walked_in_the_environments_without_a_level(self, tmp_path: Path) -> None:
        maps = ("--maps", "rooms-64", "--validation", "random-48", "--test", "open-16", "--optimal", "5..12")
        result = self.run("--env", "RTPath-v0", *maps, "--out", str(tmp_path), "--json")
        assert result.exit_code == 0, result.stderr
        told = json.loads(result.stdout)["walks"]
        assert told["astar"]["solved"] == 1.0
        assert told["network"]["problems"] == 1

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (
                ("--env", LEVEL, "--maps", "rooms-64"),
                f"{LEVEL} has maps of its own: leave out --maps",
            ),
            (("--env", LEVEL, "--price", "0.1"), "price is for policies that control a search"),
            (("--env", LEVEL, "--slice", "5"), "slice is for policies that control a search"),
            (("--env", "RTSquad-v0"), "env must be one of RTDepth-v0"),
        ],
    )
    def test_wrong_combinations_are_refused_in_a_sentence(
        self, options: tuple[str, ...], says: str, tmp_path: Path
    ) -> None:
        result = self.run(*options, "--out", str(tmp_path / "new"))
        assert (result.exit_code, result.stdout) == (2, "")
        assert says in result.stderr
        assert not (tmp_path / "new").exists()
