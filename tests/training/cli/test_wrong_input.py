"""Wrong input of every kind: one sentence on standard error, exit code 2, and nothing is left behind."""

import os
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from training.cli import app

runner = CliRunner()
LONG, TOO_LONG = "x" * 300, "this name is longer than the system allows"
HUGE = "9" * 23


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a file that is taken, one that is not text, a folder and a map without free cells."""
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("kept")
    Path("folder").mkdir()
    Path("walls.csv").write_text("0,0\n0,0\n")
    for ending in ("map", "csv", "json", "scen", "npz", "png"):
        Path(f"noise.{ending}").write_bytes(bytes(range(255, 0, -1)))


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("compare ''", "'': the folder cannot be read"),
        (f"compare {LONG}", TOO_LONG),
        (f"compare {LONG}.scen", TOO_LONG),
        (f"compare open-16 -a {LONG}", "there is no agent 'xxx"),
        (f"compare open-16 -a {LONG}.Y", "cannot be imported (ModuleNotFoundError"),
        (f"compare open-16 -a policy-lrta:policy={LONG}", "there is no network"),
        (f"compare open-16 -a lrta --out {LONG}", TOO_LONG),
        (f"compare open-16 -a lrta --changes {LONG}", TOO_LONG),
        (f"precompute pdb open-16 --out {LONG}", TOO_LONG),
        (f"play {LONG}", "no bundled map is called"),
        ("compare noise.map", "noise.map, line 1: a map starts with 'type octile'"),
        ("compare noise.scen", "noise.scen, line 1: the line is not UTF-8 text"),
        ("compare noise.png", "noise.png: is not a readable PNG picture"),
        ("compare walls.csv", "map walls has no free cell"),
        ("compare open-16 -a ''", "there is no agent ''"),
        ("compare open-16 -a os.getcwd", "agent 'os.getcwd' is not a class"),
        ("compare open-16 -a collections.OrderedDict", "is not a class with the methods reset and act"),
        ("compare open-16 -a weighted-astar:weight=nan", "weight must be a number from 1 to 1000, not 'nan'"),
        ("compare open-16 -a classifier-lrta:policy=noise.json", "noise.json: is not a policy"),
        ("compare open-16 --optimal 1..nan", "--optimal must be a range of numbers LOW..HIGH, not '1..nan'"),
        (f"compare open-16 -a lrta --budget {HUGE}", "budget must be a whole number"),
        ("compare open-16 -a lrta --budget 1,", "--budget must be whole numbers with commas between them"),
        ("compare open-16 -a lrta --units 5 --tick-ms nan", "a time per move must be from 1e-6 to 1e6"),
        ("compare open-16 -a lrta --trials ''", "--trials must be a whole number or converge, not ''"),
        ("compare open-16 -a lrta --trials 1,2", "--trials must be a whole number or converge, not '1,2'"),
        ("compare open-16 -a lrta --baseline ''", "none is ''"),
        ("compare open-16 -a lrta --against noise.csv", "noise.csv: is not a table of results"),
        ("compare open-16 -a lrta --against folder", "folder: is not a regular file"),
        ("compare open-16 -a lrta --price 0.5", "--price goes with --leaderboard"),
        ("compare open-16 -a lrta --leaderboard --price inf", "--price must be a finite number, not inf"),
        (f"compare open-16 -a lrta --seed {HUGE}", "seed must be a whole number"),
        ("compare open-16 --backend dask --scheduler ''", "go together"),
        ("play open-16 --agent lrta:depth=1,2", "is a sweep of 2 settings, where one is wanted"),
        ("play open-16 --agent pathlib.Path", "is not a class with the methods reset and act"),
        ("play open-16 --changes noise.csv", "noise.csv: is not a CSV file"),
        (f"play open-16 --vision {HUGE}", "vision must be a whole number"),
        ("train depth --price 0.1 --labels class", "--price goes with --labels cost"),
        ("train depth --price inf", "price must be a finite number, not inf"),
        ("train depth --threshold 0.5", "--threshold goes with --decide deepen"),
        ("train depth --threshold nan --decide deepen", "threshold must be a finite number, not nan"),
        ("train depth --confidence nan", "confidence must be above 0 and below 1, not nan"),
        ("train goal --abstraction hexagons", "abstraction must be one of clique, tiles, not 'hexagons'"),
        ("train goal --confidence 1", "confidence must be above 0 and below 1, not 1.0"),
        ("train rl --rate nan", "rate must be above 0 and at most 1, not nan"),
        ("train rl --price inf", "price must be a number from 0 to"),
        ("train rl --hidden ,", "--hidden must be whole numbers with commas between them"),
        ("train rl --env RTDepth-v0 --vision 3", "vision is for RTThink-v0"),
        ("precompute pdb walls.csv", "map walls has no free cell"),
        (f"precompute pdb open-16 --cap {HUGE}", "cap must be a whole number from 1 to"),
        ("precompute pdb open-16 --mode X", 'mode must be "G", "GI" or "I"'),
        ("precompute pdb open-16 --goals noise.scen", "noise.scen, line 1: the line is not UTF-8 text"),
        ("precompute subgoals open-16 --goals -1,-1", "goal (-1, -1) is no free cell of the map"),
        ("precompute pdb open-16 --out folder", "folder: is a folder, where a file is wanted"),
        ("precompute knn open-16 --out taken/x.npz", "taken: the folder cannot be made"),
        ("reproduce tb", "unknown experiment 'tb', known are tb-t1"),
        ("reproduce tb-t1 --maps taken", "taken: is not a folder"),
        ("agents lrta --write-docs taken/docs", "taken/docs: the folder cannot be made"),
        ("maps show open-16 --png folder", "folder: is not a regular file"),
        ("maps generate random --out m.map --width 9 --height 9 --density nan", "density must be"),
        (f"maps generate random --out m.map --width {HUGE} --height 9 --density 0.1", "width must be"),
        ("maps convert noise.npz out.map", "noise.npz: is not a readable .npz file"),
        ("bench --scen taken", "taken: is not a folder"),
        (f"demo --seed {HUGE}", "seed must be a whole number"),
    ],
)
def test_it_is_refused_in_one_sentence_and_nothing_is_left(line: str, part: str) -> None:
    before = sorted(os.listdir())
    result = runner.invoke(app, shlex.split(line))
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert part in result.stderr
    assert result.stderr.startswith("rt-gym: ")
    assert result.stderr.count("\n") == 1
    assert sorted(os.listdir()) == before
    assert Path("taken").read_text() == "kept"


@pytest.mark.parametrize(
    "line",
    [
        "compare open-16 --problems 100000000",
        "compare open-16 --jobs -2",
        "compare open-16 --price nan --leaderboard",
        "compare open-16 --vision 0",
        "play open-16 --fps nan",
        "play open-16 --fps inf",
        "train depth --problems 0",
        "train goal --level 99",
        "train rl --episodes many",
        "precompute knn open-16 --cutoff 0",
        "agents lrta extra",
        "compare open-16 --problems many",
        "compare open-16 --out ''",
        "precompute pdb open-16 --out ''",
        "train depth --out ''",
        "train goal --out ''",
        "train rl --out ''",
        "reproduce tb-t1 --out ''",
        "demo --out ''",
    ],
)
def test_a_value_that_an_option_never_takes_is_wrong_usage(line: str) -> None:
    result = runner.invoke(app, shlex.split(line))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr
