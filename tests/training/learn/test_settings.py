"""A folder belongs to one training: another one does not replace its policy unless it is told to."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from rt_gym import InputError
from training.cli import app
from training.learn import POLICIES, SETTINGS_FILE, draw_parts, keep_settings, settings_of
from training.learn.blocks import BlocksConfig
from training.learn.log import Logging
from training.learn.select import DepthConfig
from training.learn.targets import Recipe
from training.runs import Draw

BEGUN = 7  # the exit code of a training that has begun
MAPS = ("--maps", "rooms-64", "--test", "terrain-96", "--problems", "1", "--optimal", "20..60", "--jobs", "1")
CHOSEN = (*MAPS, "--validation", "random-48")
# What trains, small options, an option that makes another policy: the setting, and its values.
COMMANDS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, str, str]]] = {
    "depth": ("select.train_depth", CHOSEN, ("--d-max", "5"), ("d_max", "20", "5")),
    "goal": ("goal.train_goal", MAPS, ("--level", "2"), ("level", "4", "2")),
    "rl": (
        "rl.train_rl",
        (*CHOSEN, "--algo", "cma"),
        ("--env", "RTDepth-v0"),
        ("env", "'RTDeepen-v0'", "'RTDepth-v0'"),
    ),
    "blocks": ("blocks.train_blocks", CHOSEN, ("--vision", "1"), ("vision", "none", "1")),
    "ground": ("ground.train_ground", CHOSEN, ("--leaves", "9"), ("leaves", "300", "9")),
    "dealer": ("evolve.train_dealer", ("--units", "2"), ("--agent", "lrta"), ("agent", "'rtaa'", "'lrta'")),
}


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(*_: Any, **__: Any) -> None:
        raise typer.Exit(BEGUN)

    for name, *_ in COMMANDS.values():
        monkeypatch.setattr(f"training.learn.{name}", begin)


@pytest.mark.usefixtures("begun")
class TestCommands:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_other_settings_are_refused_by_name_the_same_go_on_and_force_replaces(
        self, command: str, tmp_path: Path
    ) -> None:
        _, small, other, (name, usual, given) = COMMANDS[command]

        def run(*options: str) -> Any:
            return CliRunner().invoke(app, ["train", command, *small, "--out", str(tmp_path), *options])

        assert [run().exit_code, run().exit_code] == [BEGUN, BEGUN]
        refused = run(*other)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert refused.stderr == (
            f"rt-gym: {tmp_path / SETTINGS_FILE}: tells of a training with other settings: "
            f"{name} {usual} instead of {given};"
            " give another --out, or --force to replace it\n"
        )
        assert [run(*other, "--force").exit_code, run(*other).exit_code] == [BEGUN, BEGUN]
        assert f"with other settings: {name} {given} instead of {usual};" in run().stderr

    @pytest.mark.parametrize("free", [("--test", "caves-128"), ("--generations", "3"), ("--json",)])
    def test_what_makes_no_other_policy_may_change(self, free: tuple[str, ...], tmp_path: Path) -> None:
        words = ["train", "rl", *CHOSEN, "--algo", "cma", "--out", str(tmp_path)]
        assert [CliRunner().invoke(app, [*words, *more]).exit_code for more in ((), free)] == [BEGUN, BEGUN]

    def test_a_folder_is_of_one_command(self, tmp_path: Path) -> None:
        for command, ends in (("depth", BEGUN), ("ground", 2)):
            result = CliRunner().invoke(app, ["train", command, *CHOSEN, "--out", str(tmp_path)])
            assert result.exit_code == ends
        assert f"{tmp_path / SETTINGS_FILE}: tells of a training by 'train depth'; give another --out" in result.stderr

    def test_dealers_that_are_only_judged_leave_a_folder_alone(self, tmp_path: Path) -> None:
        for more in (("--generations", "0"), (), ("--generations", "0")):
            result = CliRunner().invoke(app, ["train", "dealer", "--out", str(tmp_path), *more])
            assert result.exit_code == BEGUN


def draw(**given: Any) -> dict[str, Any]:
    parts = draw_parts({"train": ["rooms-64"], "validation": ["random-48"], "test": ["terrain-96"]}, Draw(**given))
    return settings_of(BlocksConfig(), parts)


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"count": 3}, r"2 problems \(maps: 1\) to learn on instead of 3 problems \(maps: 1\), 2 problems"),
            ({"count": 2, "seed": 1}, "other problems to learn on, other problems to choose on;"),
            ({"count": 2, "vision": 3}, "vision none instead of 3;"),
        ],
    )
    def test_problems_are_told_apart(self, given: dict[str, Any], says: str, tmp_path: Path) -> None:
        keep_settings(tmp_path, "train blocks", draw(count=2))
        with pytest.raises(InputError, match=f"with other settings: {says}"):
            keep_settings(tmp_path, "train blocks", draw(**given))

    def test_as_many_differences_are_named_as_fit_into_a_sentence(self, tmp_path: Path) -> None:
        keep_settings(tmp_path, "train", dict.fromkeys("abcdefghijklm", 1))
        with pytest.raises(InputError, match=r"settings: a 1 instead of 2, b 1 .*, i 1 instead \.\.\.; give another"):
            keep_settings(tmp_path, "train", dict.fromkeys("abcdefghijklm", 2))

    def test_those_within_others_count_as_ones_own(self) -> None:
        parts = draw_parts({"train": ["rooms-64"], "test": ["terrain-96"]}, Draw(1))
        found = settings_of(DepthConfig(Recipe(learner="cart"), Logging(d_max=7), price=0.5), parts, ["dagger"])
        assert (found["learner"], found["d_max"], found["price"]) == ("cart", 7, 0.5)
        assert "dagger" not in found

    @pytest.mark.parametrize("name", POLICIES)
    def test_a_policy_of_unknown_settings_is_not_replaced(self, name: str, tmp_path: Path) -> None:
        (tmp_path / name).touch()
        with pytest.raises(InputError, match=f"holds {name}, and no training.json says how it was trained"):
            keep_settings(tmp_path, "train depth", {})
        keep_settings(tmp_path, "train depth", {}, force=True)
        keep_settings(tmp_path, "train depth", {})

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"kind": "rt_gym training", "version": 1, "command": 2}'])
    def test_a_damaged_file_counts_for_nothing(
        self, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / SETTINGS_FILE).write_text(content)
        keep_settings(tmp_path, "train depth", {"d_max": 5})
        assert "training.json: damaged, it is written again" in capsys.readouterr().err
        assert json.loads((tmp_path / SETTINGS_FILE).read_text())["settings"] == {"d_max": 5}
