"""Learning depth and goal together: actions are pairs, a network has two heads, and general-lrta follows it."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.policies.networks import BOTH, KNOWN, load_network
from training.learn import TrainingSetup, problems_of
from training.learn.rl import RLConfig, train_network
from training.learn.rl.model import agree, exported, make_env, make_model
from training.learn.rl.train import evolve_network
from training.runs import Course, Draw, Workers, find_courses

WHY = "the extra rl (Stable-Baselines3 and PyTorch) is not installed"
pytest.importorskip("stable_baselines3", reason=WHY)

pytestmark = [pytest.mark.usefixtures("one_thread"), pytest.mark.usefixtures("few_problems")]

UNMASKED = find_spec("sb3_contrib") is None
MASKABLE = pytest.param(
    "maskable-ppo", marks=pytest.mark.skipif(UNMASKED, reason="sb3-contrib is not installed: no masked learners")
)
DEEPEN, ENV = "RTDeepen-v0", "RTDepthGoal-v0"
QUICK: dict[str, Any] = {"steps": 1024, "episodes": 16, "every": 256, "d_max": 4, "max_moves": 60, "hidden": (8,)}


@pytest.fixture
def few_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.learn.rl.train.PROBLEMS", 6)
    monkeypatch.setattr("training.learn.rl.model.STEPS", 60)


def courses(name: str = "rooms-64") -> tuple[Course, ...]:
    return tuple(find_courses([name], Draw(6, 20, 60)))


def setup(folder: Path) -> TrainingSetup:
    return TrainingSetup(courses(), courses("random-48"), Workers(jobs=1), folder)


def quiet(amount: float, text: str) -> None:
    """Hear of progress and say nothing."""


@pytest.mark.parametrize("algo", ["ppo", "a2c", MASKABLE])
def test_both_heads_decide_as_the_learner_does(algo: str, tmp_path: Path) -> None:
    config = RLConfig(env=ENV, algo=algo, **QUICK)
    model = make_model(config, make_env(config, problems_of(courses())))
    network = exported(model, config)
    network.save(tmp_path / "policy.npz")
    seen = np.random.default_rng(0).normal(0, 50, (1000, len(KNOWN[BOTH]))).astype(np.float32)
    assert agree(model, network, seen) == agree(model, load_network(tmp_path / "policy.npz"), seen) == 1.0
    assert [len(np.unique(column)) > 1 for column in network.choose(seen).T] == [True, True]


def test_a_training_goes_on_where_it_was_and_its_network_runs(tmp_path: Path) -> None:
    config = RLConfig(env=ENV, teacher="rule", **QUICK)
    network, progress = train_network(config, setup(tmp_path))
    assert progress.names == ("suboptimality", "expansions per move, pooled")
    told: list[float] = []
    again, known = train_network(config, setup(tmp_path), lambda amount, text: told.append(amount))
    assert (known, told) == (progress, [progress.looks[-1][0]])
    assert np.array_equal(again.layers[0][0], network.layers[0][0])
    problem = problems_of(courses())[0]
    assert agents.run("general-lrta", problem, policy=network, max_moves=20_000).solved


def test_evolution_looks_at_the_rule_first(tmp_path: Path) -> None:
    config = RLConfig(env=ENV, algo="cma", d_max=8, generations=2)
    network, progress = evolve_network(config, setup(tmp_path), quiet)
    assert [look[0] for look in progress.looks] == [0, 2]
    assert progress.level == progress.looks[0][2]
    assert network.about["validation_figures"] in [[round(value, 3) for value in look[2:]] for look in progress.looks]  # type: ignore[arg-type]


def test_what_is_usual_there_is_usual_nowhere_else() -> None:
    assert RLConfig.usual(DEEPEN, algo=None) == RLConfig(env=DEEPEN)
    own = RLConfig.usual(ENV, algo=None, teacher=None, d_max=None)
    assert (own.algo, own.teacher, own.d_max, own.history) == ("cma", "none", 16, 50)
    assert (own.generations, own.patience) == (24, 20)
    ppo = RLConfig.usual(ENV, algo="ppo", d_max=5)
    assert (ppo.algo, ppo.teacher, ppo.d_max, ppo.history) == ("ppo", "rule", 5, 50)
