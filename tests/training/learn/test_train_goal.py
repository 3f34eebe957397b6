"""``rt-gym train goal``: from maps to a policy and tables, in one command that can be stopped."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agents.policies.goals import load_goal_policy
from training.cli import app
from training.learn import Parts, draw_parts
from training.learn.goal import GoalConfig, GoalLogging, GoalResult, train_goal
from training.runs import Draw, Task, Workers

CONFIG = GoalConfig(level=2, depth=4, states=10, rounds=1, min_leaf=20)


@pytest.fixture(scope="module")
def parts() -> Parts:
    return draw_parts({"train": ["rooms-64", "random-48"], "test": ["caves-128"]}, Draw(10, 15, 40))


def trained(parts: Parts, folder: Path) -> GoalResult:
    folder.mkdir(exist_ok=True)
    return train_goal(CONFIG, parts, folder, Workers(jobs=1), {"seed": 0})


@dataclass
class Walks:
    """The tasks that were walked; after ``most`` of them the command is stopped, as by Ctrl-C."""

    tasks: list[Task] = field(default_factory=list)
    most: float = inf


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Walks:
    real, walks = GoalLogging.do, Walks()

    def do(self: GoalLogging, grid: Any, items: Sequence[Task]) -> Any:
        if len(walks.tasks) >= walks.most:
            raise KeyboardInterrupt
        walks.tasks.extend(items)
        return real(self, grid, items)

    monkeypatch.setattr(GoalLogging, "do", do)
    return walks


def test_the_command_learns_saves_and_compares(tmp_path: Path) -> None:
    words = ["--maps", "rooms-64", "--test", "caves-128", "--level", "2", "--depth", "4", "--states", "10"]
    words += ["--problems", "10", "--optimal", "15..40", "--min-leaf", "20", "--jobs", "1", "--json"]
    result = CliRunner().invoke(app, ["train", "goal", *words, "--out", str(tmp_path / "a,b=1:2 [c] 'd'")])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    policy = load_goal_policy(tmp_path / "a,b=1:2 [c] 'd'" / "goal.json")
    assert (policy.level, policy.about["maps"], policy.about["seed"]) == (2, ["rooms-64"], 0)
    assert told["cross_validation"]["samples"] == told["policy"]["samples"] > 0
    for design in (5, 6, 11, 12):
        assert f"design={design}" in result.stdout


def test_a_second_run_walks_nothing_and_finds_the_same(parts: Parts, tmp_path: Path, walks: Walks) -> None:
    first = trained(parts, tmp_path)
    assert len(walks.tasks) == 2 * 20  # LRTA*, then the policy
    walks.tasks.clear()
    second = trained(parts, tmp_path)
    assert walks.tasks == []
    assert second.document() == first.document()


def test_a_stopped_training_goes_on_to_the_same_policy(parts: Parts, tmp_path: Path, walks: Walks) -> None:
    walks.most = 12
    with pytest.raises(KeyboardInterrupt):
        trained(parts, tmp_path / "stopped")
    assert not (tmp_path / "stopped" / "goal.json").exists()
    done = len(walks.tasks)
    walks.tasks, walks.most = [], inf
    trained(parts, tmp_path / "stopped")
    assert 0 < len(walks.tasks) == 2 * 20 - done
    trained(parts, tmp_path / "whole")
    assert (tmp_path / "stopped" / "goal.json").read_bytes() == (tmp_path / "whole" / "goal.json").read_bytes()
