"""The commands of pages that take too long to be run as they stand, with fewer problems, steps and rounds."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from pages import DOCS, LESSONS, PAGES, command_lines
from rt_gym import load_map, save_map
from rt_gym.files import digest_file
from rt_gym.maps.generate import rooms
from training import cli

SHARED = Path(__file__).resolve().parents[2] / "shared" / "maps"
LONG = [page for page in (*PAGES, *LESSONS) if command_lines(page, "sh")]
RESULTS = sorted((DOCS / "results").glob("*.md"))

# What makes a command short: options that are added, of which the last counts.
SHORTER = {
    "compare": "--problems 2",
    "demo": "",
    "reproduce": "--size smoke",
    "precompute pdb": "--yes",
    "precompute subgoals": "--goals 40,50 --yes",
    "precompute knn": "--records 50",
    "train baselines": "--seeds 1 --steps 512",
    "train blocks": "--generations 1 --population 4 --problems 1 --force",
    "train dealer": "--generations 1 --squads 1 --test-squads 2 --force",
    "train depth": "--problems 1 --dagger 0 --min-leaf 10 --force",
    "train goal": "--problems 1 --states 5 --min-leaf 10 --force",
    "train ground": "--problems 1 --leaves 10 --force",
    "train rl": "--problems 1 --force --episodes 8",
}
STEPS = "--steps 512 --every 512"
THINKING = (
    "train rl --env RTThink-v0 --slice 5 --teacher rule --steps 512 --every 512 --problems 1 --episodes 8 --force"
)


def shortened(words: list[str]) -> list[str]:
    """Return the arguments of a command of rt-gym with what makes it short."""
    arguments = words[1:]
    if arguments[0] == "reproduce" and arguments[1] == "all":
        arguments[1] = "tb-t1"  # each experiment has a test of its own at that size
    name = next((name for name in SHORTER if arguments[: name.count(" ") + 1] == name.split()), "")
    added = SHORTER.get(name, "").split()
    if name == "train rl":
        evolves = "cma" in arguments or "RTDepthGoal-v0" in arguments
        added += ["--generations", "1"] if evolves else STEPS.split()
    if name.split()[:1] in (["compare"], ["reproduce"], ["train"], ["precompute"]) and name != "train dealer":
        added += ["--jobs", "1"]
    return arguments + added


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the pages take for granted, which commands are run in."""
    monkeypatch.chdir(tmp_path)
    save_map(rooms(32, 32, 7, 0.7, 1), tmp_path / "my.map")
    for seed, name in enumerate(("my-maps", "other-maps", "unseen-maps")):
        (tmp_path / name).mkdir()
        save_map(rooms(32, 32, 7, 0.7, seed), tmp_path / name / f"{name}.map")
    Image.fromarray(np.where(load_map("rooms-64").passable, 0, 255).astype(np.uint8)).save(tmp_path / "level.png")
    (tmp_path / "docs").mkdir()
    (downloads := tmp_path / "downloads").mkdir()
    archive = shutil.make_archive(str(downloads / "dao-map"), "zip", tmp_path / "my-maps")
    (tmp_path / "known-digests.txt").write_text(f"dao-map.zip sha256:{digest_file(Path(archive))}\n", encoding="utf-8")
    return tmp_path


def run(arguments: list[str]) -> None:
    """Run rt-gym in this process; whoever waits for a key gets ``q``."""
    result = CliRunner().invoke(cli.app, arguments, input="q\n")
    assert result.exit_code == 0, f"{arguments}\n{result.output}"


@pytest.mark.slow
@pytest.mark.parametrize("page", LONG, ids=lambda page: page.stem)
def test_the_long_commands_of_a_page_run_with_less_to_do(page: Path, folder: Path) -> None:
    for words in command_lines(page, "sh"):
        if words[0] != "rt-gym" or any("HOST" in word for word in words):
            continue  # those of a cluster are run in the tests of the backend
        if "DIR" in words and not SHARED.is_dir():
            continue
        if any("policy=rt-gym-rl/" in word for word in words):
            run([*THINKING.split(), "--jobs", "1"])
        run([str(SHARED) if word == "DIR" else word for word in shortened(words)])


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the public maps")
@pytest.mark.parametrize("page", RESULTS, ids=lambda page: page.stem)
def test_the_command_of_a_result_runs_at_the_smallest_size(page: Path, folder: Path) -> None:
    lines = command_lines(page, "sh", "console")
    assert lines
    for words in lines:
        run([str(SHARED) if word == "DIR" else word for word in shortened(words)])


def test_a_shorter_command_is_the_same_command() -> None:
    lines = [words for page in (*LONG, *RESULTS) for words in command_lines(page, "sh") if words[0] == "rt-gym"]
    for words in lines:
        again = shortened(list(words))
        assert again[0] == words[1]
        assert re.sub("all|tb-t1", "", " ".join(again)).startswith(re.sub("all|tb-t1", "", " ".join(words[1:])))
    assert len(lines) > 50
