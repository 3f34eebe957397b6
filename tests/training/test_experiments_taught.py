"""An experiment with networks that it evolves first, from its problems to its claims, on maps that are small."""

from dataclasses import replace
from pathlib import Path

import pytest

from training.commands.reproduce import _conduct
from training.compare import Workers
from training.evolve import Evolution
from training.experiments import load, rl_controllers
from training.experiments.grounds import Ground
from training.experiments.lessons import Upbringing


def test_networks_are_evolved_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {
        decide: Evolution(decide=decide, generations=1, population=4, check=1, problems=4)
        for decide in ("deepen", "depth")
    }
    lessons = tuple(Upbringing(f"{decide}-0", 5, settings) for decide, settings in quick.items())
    monkeypatch.setattr(rl_controllers, "LESSONS", lessons)
    experiment = load("rl-controllers")
    part = replace(
        experiment.parts[0],
        grounds=(Ground("", 65, 65),),
        taught_on=(Ground("", 66, 65),),
        chosen_on=(Ground("", 67, 65),),
        problems={"smoke": 4, "full": 4},
        optimal=(30, 300),
        lessons=lessons,
    )
    document = _conduct(replace(experiment, parts=(part,)), "smoke", None, tmp_path, Workers(1))
    names = [claim["claim"].split(":")[0] for claim in document["claims"]]
    assert names == ["deepen-0"] * 6 + ["depth-0"] * 6
    assert all(claim["ours"] is not None for claim in document["claims"])
    assert len(list((tmp_path / "rl-controllers" / "smoke" / "policies").rglob("deepen-0.npz"))) == 1
