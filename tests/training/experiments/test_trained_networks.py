"""Experiments with networks that they train first, from the problems to the claims, on maps that are small."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from training.experiments import evidence, load
from training.experiments.conduct import conduct
from training.experiments.evidence import FEW, EvolutionTraining, RLTraining
from training.experiments.frame import Experiment, Ground, Part
from training.learn import TrainingSetup
from training.learn.evolve import EvolutionConfig
from training.learn.rl import RLConfig
from training.runs import Draw, Workers, find_courses


def shrunk(experiment: Experiment, trainings: tuple[Any, ...]) -> Experiment:
    part: Part = replace(
        experiment.parts[0],
        grounds=(Ground("", 65, 65),),
        train_on=(Ground("", 66, 65),),
        choose_on=(Ground("", 67, 65),),
        problems={"smoke": 4, "full": 4},
        optimal=(30, 300),
        trainings=trainings,
    )
    claims = (claim for claim in experiment.claims if claim.text.split(":")[0] in part.policies)
    return replace(experiment, parts=(part,), claims=tuple(claims))


def test_networks_are_evolved_and_judged(tmp_path: Path) -> None:
    quick = {
        decide: EvolutionConfig(decide=decide, generations=1, population=4, check=1, problems=4)
        for decide in ("deepen", "depth")
    }
    trainings = tuple(EvolutionTraining(f"{decide}-0", 5, config) for decide, config in quick.items())
    document = conduct(shrunk(load("rl-controllers"), trainings), "smoke", None, tmp_path, Workers(1))
    names = [claim["claim"].split(":")[0] for claim in document["claims"]]
    assert names == ["deepen-0"] * 6 + ["depth-0"] * 6
    assert all(claim["ours"] is not None for claim in document["claims"])
    assert list((tmp_path / "rl-controllers" / "smoke" / "policies").glob("*/deepen-0.npz"))


@pytest.mark.parametrize(("problems", "generations"), [(FEW - 1, 3), (FEW, 30)])
def test_a_network_evolves_up_to_its_first_check_where_there_are_few_problems(
    problems: int, generations: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def evolve(setup: TrainingSetup, config: EvolutionConfig, *rest: Any) -> Any:
        asked.append(config.generations)
        raise KeyboardInterrupt

    monkeypatch.setattr(evidence, "evolve", evolve)
    courses = tuple(find_courses(["open-16"], Draw(problems)))
    training = EvolutionTraining("any", 5, EvolutionConfig(generations=30, check=3))
    with pytest.raises(KeyboardInterrupt):
        training.train(TrainingSetup(courses, courses, Workers(1), tmp_path))
    assert asked == [generations]


def test_networks_are_trained_by_reinforcement_and_judged(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="the extra rl (Stable-Baselines3 and PyTorch) is not installed")
    quick = [RLConfig(teacher="tree", steps=2048, episodes=16, d_max=5, seed=seed) for seed in (0, 1)]
    trainings = tuple(RLTraining(f"ppo-{config.seed}", config) for config in quick)
    document = conduct(shrunk(load("rl-ppo"), trainings), "smoke", None, tmp_path, Workers(1))
    assert [claim["claim"].split(":")[0] for claim in document["claims"]] == ["ppo-0"] * 2 + ["ppo-1"] * 2
    assert all(claim["ours"] is not None for claim in document["claims"])
    assert list((tmp_path / "rl-ppo" / "smoke" / "policies").glob("*/ppo-1.npz"))
