"""Controllers by reinforcement: they learn, are exported exactly, go on after a kill, and refuse what does not fit."""

import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import agents
from agents.policies.networks import KNOWN, Network, load_network
from rt_gym import InputError, load_map, sample_problems
from training.judge.think import SLICES_TO_BEAT, contest, evaluate, fixed_times, follow_rule, gain, times_table
from training.learn import TrainingSetup, problems_of
from training.learn.merit import RatioValidation, TimeValidation
from training.learn.rl import RLConfig, balanced, train_network
from training.learn.rl.model import (
    agree,
    clone,
    export,
    exported,
    import_zip,
    load_checkpoint,
    make_env,
    make_model,
    save_checkpoint,
    teacher_examples,
)
from training.learn.rl.train import evolve_network
from training.runs import Course, Draw, Workers, find_courses

WHY = "the extra rl (Stable-Baselines3 and PyTorch) is not installed"
sb3 = pytest.importorskip("stable_baselines3", reason=WHY)
torch = pytest.importorskip("torch", reason=WHY)
evaluate_policy = pytest.importorskip("stable_baselines3.common.evaluation", reason=WHY).evaluate_policy

pytestmark = pytest.mark.usefixtures("one_thread")

UNMASKED = find_spec("sb3_contrib") is None
MASKABLE = pytest.param(
    "maskable-ppo", marks=pytest.mark.skipif(UNMASKED, reason="sb3-contrib is not installed: no masked learners")
)
HERE = Workers(jobs=1)
DEPTH, DEEPEN, DEPTH_GOAL, THINK = "RTDepth-v0", "RTDeepen-v0", "RTDepthGoal-v0", "RTThink-v0"
QUICK: dict[str, Any] = {"steps": 1024, "episodes": 16, "every": 256, "d_max": 4, "max_moves": 60, "hidden": (8,)}


@cache
def courses(name: str = "rooms-64", count: int = 6) -> tuple[Course, ...]:
    return tuple(find_courses([name], Draw(count, 20, 60)))


def quiet(amount: float, text: str) -> None:
    """Hear of progress and say nothing."""


def setup(folder: Path) -> TrainingSetup:
    return TrainingSetup(courses(), courses("random-48"), HERE, folder)


def learner(config: RLConfig) -> Any:
    return make_model(config, make_env(config, problems_of(courses())))


class Player:
    """A policy as ``evaluate_policy`` asks for it: a function of observations, or any action at all."""

    def __init__(self, choose: Any) -> None:
        self.choose = choose

    def predict(self, observation: Any, **_: Any) -> tuple[Any, None]:
        return self.choose(observation), None


class TestLearning:
    """Where expansions are dear it is a mistake to look far; judged on the return of 128 episodes."""

    SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2)))
    SETTINGS: ClassVar[dict[str, Any]] = {
        "env": DEPTH,
        "price": 0.3,
        "d_max": 8,
        "max_moves": 100,
        "gamma": 0.9,
        "hidden": (16,),
    }
    EACH: ClassVar[dict[str, dict[str, Any]]] = {
        "ppo": {"steps": 49_152, "episodes": 64, "rate": 3e-3},
        "a2c": {"steps": 32_000, "episodes": 32, "rate": 3e-3},
        "dqn": {"steps": 8_000, "episodes": 16, "rate": 2e-3},
        "maskable-ppo": {"steps": 32_768, "episodes": 64, "rate": 3e-3},
    }

    @staticmethod
    def mean_return(choose: Any, seed: int, **settings: Any) -> float:
        env = make_env(RLConfig(**settings, episodes=32, seed=seed), problems_of(courses()))
        return float(evaluate_policy(Player(choose), env, 128)[0])

    @classmethod
    @cache
    def best_of_random(cls, actions: int, **settings: Any) -> float:
        draw = np.random.default_rng(0)
        players = [lambda seen: draw.integers(0, actions, len(seen))] * 10
        return max(cls.mean_return(choose, seed, **settings) for seed, choose in enumerate(players))

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("algo", ["ppo", "a2c", "dqn", MASKABLE])
    def test_learners_of_the_library_beat_the_best_of_random_policies(self, algo: str, seed: int) -> None:
        config = RLConfig(**self.SETTINGS, **self.EACH[algo], algo=algo, seed=seed)
        model = learner(config).learn(config.steps)
        earned = self.mean_return(exported(model, config).choose, seed, **self.SETTINGS)
        assert earned > self.best_of_random(8, **self.SETTINGS) / 2

    @pytest.mark.parametrize("seed", SEEDS)
    def test_evolution_beats_the_best_of_random_policies(self, seed: int, tmp_path: Path) -> None:
        config = RLConfig(env=DEEPEN, algo="cma", d_max=8, generations=2, seed=seed)
        network, progress = evolve_network(config, setup(tmp_path), quiet)
        plain: dict[str, Any] = {"env": DEEPEN, "price": 0.01, "d_max": 8}
        assert self.mean_return(network.choose, seed, **plain) > 0.75 * self.best_of_random(2, **plain)
        assert [look[0] for look in progress.looks] == [2]
        assert np.allclose(progress.looks[0][2:], network.about["validation_ratios"], atol=1e-3)


class TestExport:
    @pytest.mark.parametrize("env", [DEPTH, DEEPEN, THINK])
    @pytest.mark.parametrize("algo", ["ppo", "a2c", "dqn", MASKABLE])
    def test_a_network_decides_as_its_learner_on_every_observation(self, algo: str, env: str, tmp_path: Path) -> None:
        config = RLConfig(env=env, algo=algo, hidden=(9, 7), **{k: v for k, v in QUICK.items() if k != "hidden"})
        model = learner(config)
        seen, rows = model.env.reset(), []
        for k in range(60):
            rows.append(seen)
            seen = model.env.step(np.full(16, k % 2))[0]
        network = exported(model, config)
        network.save(tmp_path / "policy.npz")
        again = load_network(tmp_path / "policy.npz")
        others = np.random.default_rng(0).normal(0, 50, (1000, seen.shape[1]))  # an untrained learner has few opinions
        seen = np.concatenate([*rows, others], dtype=np.float32)
        assert agree(model, network, seen) == agree(model, again, seen) == 1.0
        assert len(np.unique(network.choose(seen))) > 1
        assert again.features == KNOWN[config.decide]

    def test_an_agent_makes_the_moves_that_the_network_makes_in_the_environment(self) -> None:
        import gymnasium as gym

        config = RLConfig(env=DEEPEN, **QUICK)
        network = exported(learner(config), config)
        problem = problems_of(courses())[0]
        env: Any = gym.make(DEEPEN, problems=[problem], d_max=4, budget=None)
        seen, _ = env.reset()
        cost, over = 0.0, False
        while not over:
            seen, reward, terminated, truncated, _ = env.step(int(network.choose(seen[None])[0]))
            cost, over = cost - reward, terminated or truncated
        run = agents.run("policy-lrta", problem, policy=network, max_moves=10_000)
        assert run.cost == pytest.approx(cost)

    def test_learners_for_other_features_or_actions_are_refused(self) -> None:
        model = learner(RLConfig(env=DEPTH, **QUICK))
        with pytest.raises(InputError, match="the deepen from our features: it reads 24 numbers and not 30"):
            export(model, "deepen", 4, 20, {})
        with pytest.raises(InputError, match="must have 7 outputs, one for each action, not 4"):
            export(model, "depth", 7, 20, {})

    def test_policy_lrta_takes_no_network_that_decides_to_think(self) -> None:
        config = RLConfig(env=THINK, **QUICK)
        with pytest.raises(InputError, match="policy must decide depth or deepen; one that decides to think is for RT"):
            agents.make("policy-lrta", policy=exported(learner(config), config))

    def test_a_file_of_another_version_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        config = RLConfig(**QUICK)
        monkeypatch.setattr("agents.policies.networks.VERSION", 9)
        exported(learner(config), config).save(tmp_path / "policy.npz")
        monkeypatch.undo()
        with pytest.raises(InputError, match="version"):
            agents.make("policy-lrta", policy=str(tmp_path / "policy.npz"))


class TestZips:
    @pytest.fixture
    def zipped(self, tmp_path: Path) -> Path:
        learner(RLConfig(env=DEPTH, **QUICK)).save(tmp_path / "model.zip")
        return tmp_path / "model.zip"

    def test_they_are_read_only_by_those_who_trust_them(self, zipped: Path) -> None:
        with pytest.raises(InputError, match="can run code when it is read; say that you trust it"):
            import_zip(zipped, "depth", 4)
        network = import_zip(zipped, "depth", 4, trusted=True)
        model = sb3.PPO.load(zipped, device="cpu")
        rows = np.random.default_rng(0).normal(size=(200, len(network.features))).astype(np.float32)
        assert agree(model, network, rows) == 1.0
        assert network.about == {"from": "model.zip"}

    def test_what_is_no_model_is_refused_with_the_reason(self, tmp_path: Path) -> None:
        path = tmp_path / "model.zip"
        with pytest.raises(InputError, match=r"model.zip: cannot be read \(No such file or directory\)"):
            import_zip(path, "depth", 4, trusted=True)
        path.write_bytes(b"PK nothing")
        with pytest.raises(InputError, match=r"model.zip: is not a readable .zip archive, as models of Stable"):
            import_zip(path, "depth", 4, trusted=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("letter", "to nobody")
        with pytest.raises(InputError, match=r"is no model of PPO, A2C(, DQN or MaskablePPO| or DQN); .*No data found"):
            import_zip(path, "depth", 4, trusted=True)

    def test_a_refusal_names_the_reason_of_every_learner(self, zipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise ValueError("its observations have another shape\nand more")

        for learner in (sb3.PPO, sb3.A2C, sb3.DQN):
            monkeypatch.setattr(learner, "load", refuse)
        with pytest.raises(InputError, match=r"; PPO and A2C and DQN.*: its observations have another shape"):
            import_zip(zipped, "depth", 4, trusted=True)

    def test_what_would_unpack_to_gigabytes_is_refused_unread(
        self, zipped: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sb3.PPO, "load", lambda *_, **__: pytest.fail("it is read"))
        with zipfile.ZipFile(zipped, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("more", bytes(1 << 28))
        with pytest.raises(InputError, match=r"model\.zip: unpacks to more than the \d+ bytes that are read at most"):
            import_zip(zipped, "depth", 4, trusted=True)


class TestImitation:
    @pytest.mark.parametrize(
        ("env", "teacher"),
        [
            (DEPTH, "oracle"),
            (DEPTH, "tree"),
            (DEEPEN, "rule"),
            (DEPTH_GOAL, "rule"),
            (THINK, "rule"),
            (THINK, "mo-rts"),
        ],
    )
    def test_a_clone_agrees_with_its_teacher_far_above_the_most_frequent_action(
        self, env: str, teacher: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("training.learn.rl.model.STEPS", 60)
        monkeypatch.setattr("training.learn.rl.model.BATCH", 128)
        monkeypatch.setattr("training.learn.rl.model.EPOCHS", 60)
        vision = 3 if env == THINK else None
        config = RLConfig(env=env, teacher=teacher, vision=vision, d_max=8, episodes=16)
        shown = teacher_examples(config, courses(count=12), HERE)
        majority = np.unique(shown.actions, axis=0, return_counts=True)[1].max() / len(shown.actions)
        share = clone(learner(config), shown, seed=0)
        assert share > majority + 0.3 * (1 - majority)
        assert shown.rows.shape == (len(shown.actions), len(KNOWN[config.decide]))

    def test_the_hand_rule_thinks_until_the_best_path_leads_into_the_unseen(self) -> None:
        problems = sample_problems(load_map("random-48"), 8, 10, 40, seed=1)
        names = KNOWN["think"]
        rows = []
        evaluate(lambda seen: rows.append(seen) or follow_rule(seen), problems, vision=2, slice=5)  # type: ignore[func-returns-value]
        seen = {name: np.concatenate(rows)[:, names.index(name)] for name in names}
        acts = follow_rule(np.concatenate(rows)) == 0
        free = seen["committed"] == 0
        assert not acts[free & (seen["slices"] == 0)].any()
        assert acts[~free].all()
        ready = (seen["seen"] < seen["path"]) | (seen["found"] > 0)
        assert (acts == ready)[free & (seen["slices"] > 0)].all()
        assert 0 < ready[free].mean() < 1


class TestCheckpoints:
    """A killed training is one whose callback raises."""

    CONFIG = RLConfig(env=DEPTH, **QUICK)

    def go(self, folder: Path, told: Any = quiet) -> Any:
        return train_network(self.CONFIG, setup(folder), told)

    def test_a_killed_training_goes_on_and_loses_at_most_one_interval(self, tmp_path: Path) -> None:
        def killed(amount: float, text: str) -> None:
            heard.append(amount)
            if sum(heard) >= 512:
                raise KeyboardInterrupt

        heard: list[float] = []
        with pytest.raises(KeyboardInterrupt):
            self.go(tmp_path, killed)
        amounts: list[float] = []
        network, progress = self.go(tmp_path, lambda amount, text: amounts.append(amount))
        assert 512 - self.CONFIG.every <= amounts[0] <= 512
        assert sum(amounts) == progress.looks[-1][0]
        steps = [look[0] for look in progress.looks]
        assert steps == sorted(set(steps))
        assert steps[:3] == [0, 256, 512]
        assert steps[-1] >= self.CONFIG.steps
        assert network.about["training"]["steps"] == 1024
        _, again = self.go(tmp_path, lambda amount, text: amounts.append(amount))
        assert again == progress

    def test_a_damaged_checkpoint_is_named_and_the_training_begun_anew(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        _, whole = self.go(tmp_path)
        (file,) = tmp_path.glob("*.pt")
        file.write_bytes(file.read_bytes()[:-300])
        assert self.go(tmp_path)[1] == whole
        assert capsys.readouterr().err == f"{file}: damaged, the training is begun again\n"

    def test_a_checkpoint_of_another_learner_or_with_code_in_it_is_refused(self, tmp_path: Path) -> None:
        save_checkpoint(tmp_path / "a.pt", learner(self.CONFIG), {})
        torch.save({"policy": Path}, tmp_path / "b.pt")
        for name in ("a.pt", "b.pt"):
            with pytest.raises(InputError, match="is not a readable checkpoint of this training"):
                load_checkpoint(tmp_path / name, learner(RLConfig(env=DEEPEN, **QUICK)))

    def test_patience_ends_a_training_that_learns_nothing(self, tmp_path: Path) -> None:
        config = RLConfig(**QUICK | {"steps": 10_000, "rate": 1e-30}, patience=2)
        _, progress = train_network(config, setup(tmp_path))
        assert len(progress.looks) == 3


class TestValidation:
    def test_ratios_are_those_of_fixed_depths(self, tmp_path: Path) -> None:
        always = Network("depth", ("moves",), ((np.zeros((1, 1)), np.zeros(1)),), 20, (3,))
        found = RatioValidation(courses(), tmp_path, HERE).rate(always)
        assert found.figures == [pytest.approx(1), pytest.approx(1)]
        assert found.merit == pytest.approx(0)
        assert found.text == "1.00 and 1.00"

    def test_times_are_beside_the_best_fixed_number_of_slices(self) -> None:
        validation = TimeValidation(courses(), RLConfig(env=THINK, vision=2, slice=5).thinking)
        names = KNOWN["think"]
        acts = Network("think", names, ((np.zeros((len(names), 2)), np.array([1.0, 0.0])),), 1)
        times = fixed_times(SLICES_TO_BEAT, problems_of(courses()), vision=2, slice=5)
        assert validation.level() == min(time.ratio for time in times.values())
        assert validation.rate(acts).figures == [times[1].ratio]

    def test_a_table_of_times_sets_all_beside_the_best_fixed_number(self) -> None:
        times = contest({"network": follow_rule}, problems_of(courses()), vision=2, slice=5)
        assert gain(times, "network") == gain(times, "rule")
        best = min(times[name].ratio for name in times if name not in ("rule", "mo-rts", "network"))
        ahead = gain(times, "rule")
        assert ahead is not None
        assert ahead.value == pytest.approx(best / times["rule"].ratio)
        assert [row[0] for row in times_table(times).rows][-4:] == ["until found", "rule", "mo-rts", "network"]


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "says"),
        [
            (
                {"env": "RTSquad-v0"},
                "RTThink-v0, RTPath-v0, RTPathFog-v0 or a level such as RTPath-Open-16x16-v0, not 'RTSquad-v0'",
            ),
            ({"algo": "sac"}, "algo must be one of ppo, a2c, dqn, maskable-ppo, cma, not 'sac'"),
            ({"teacher": "me"}, "teacher must be one of"),
            ({"steps": 0}, "steps must be a whole number"),
            ({"slice": 0}, "slice must be a whole number"),
            ({"seed": -1}, "seed must be a whole number"),
            ({"hidden": (0,)}, "the width of a hidden layer must be"),
            ({"seed": 1 << 32}, "seed must be a whole number from 0 to 4294967295, not 4294967296"),
            ({"episodes": 1_000_001}, "episodes must be a whole number from 1 to 1000000"),
            ({"gamma": 0.0}, "gamma must be above 0 and at most 1, not 0.0"),
            ({"rate": 0.0}, "rate must be above 0 and at most 1, not 0.0"),
            ({"rate": float("inf")}, "rate must be above 0 and at most 1, not inf"),
            ({"price": -1.0}, "price must be a number from 0 to 1e\\+09, not -1.0"),
            ({"price": float("nan")}, "price must be a number from 0 to"),
            ({"algo": "dqn", "teacher": "rule"}, "dqn learns what things are worth"),
            (
                {"algo": "cma", "env": THINK},
                "layer for RTDepth-v0, RTDeepen-v0 or RTDepthGoal-v0, from",
            ),
            ({"algo": "dqn", "env": DEPTH_GOAL}, "RTDepthGoal-v0 asks for depth and goal: choose another algo"),
            (
                {"env": DEPTH_GOAL, "teacher": "oracle"},
                "in RTDepthGoal-v0 the teacher must be none or rule",
            ),
            ({"algo": "cma", "hidden": (4, 4)}, "cma evolves one hidden layer"),
            ({"env": THINK, "teacher": "tree"}, "in RTThink-v0 the teacher must be none, rule or mo-rts, not tree"),
            ({"teacher": "mo-rts"}, "the teacher mo-rts is for RTThink-v0, not RTDeepen-v0"),
            ({"vision": 3}, "vision is for RTThink-v0"),
            ({"goal_moves": 4}, "goal_moves is for RTThink-v0; in RTDeepen-v0 the goal stays"),
            ({"env": THINK, "goal_moves": 0}, "goal_moves must be a whole number of at least 1, not 0"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, settings: dict[str, Any], says: str) -> None:
        with pytest.raises(InputError, match=says):
            RLConfig(**settings)

    def test_easy_problems_stand_more_often_than_hard_ones(self) -> None:
        chosen = balanced(courses("caves-128", 12))
        copies = {id(one): sum(one is other for other in chosen) for one in chosen}
        assert min(copies.values()) == 1
        assert 1 < max(copies.values()) <= 8
