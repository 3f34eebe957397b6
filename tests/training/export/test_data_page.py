"""The commands and the C program of docs/data.md, which its Python examples do not run."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agents.policies.trees import load_policy
from training.cli import app

PAGE = (Path(__file__).parents[3] / "docs" / "data.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.M | re.S) for line in block.splitlines()]
runner = CliRunner()


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    load_policy("history").save("forest.json")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda line: " ".join(line.split()[1:4]))
def test_a_command_of_the_page_runs(command: str) -> None:
    for option, library in (
        ("--minari", "minari"),
        ("--minari", "h5py"),
        ("--onnx", "onnx"),
        ("--onnx", "onnxruntime"),
    ):
        if option in command:
            pytest.importorskip(library, reason=f"a command needs {library}")
    program, *given = command.split()
    done = runner.invoke(app, given)
    assert program == "rt-gym"
    assert done.exit_code == 0, done.output
    files = re.findall(r"--(?:out|onnx|c) (\S+)", command)
    assert all(Path(file).stat().st_size > 0 for file in files)


def test_the_program_of_the_page_compiles_and_finds_nothing_wrong(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (program,) = re.findall(r"^```c\n(.*?)^```$", PAGE, re.M | re.S)
    (tmp_path / "main.c").write_text(program)
    assert runner.invoke(app, ["train", "export", "forest.json", "--c", "forest.h"]).exit_code == 0
    subprocess.run([compiler, "-std=c99", "-Wall", "-Werror", "-o", "main", "main.c", "-lm"], check=True)
    said = subprocess.run(["./main"], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"0 wrong, depth \d+\n", said)


def test_both_tables_name_every_column_and_every_output() -> None:
    told = set(re.findall(r"`(\w+)`", PAGE))
    assert {"problem", "label", "action_1", "rise_1", "work_1", "regret_1", "ties_1"} <= told
    assert {"episode", "seed", "step", "x", "y", "action", "reward", "terminated", "truncated", "expansions"} <= told
    assert {"depth", "deepen", "think", "subgoal", "scores"} <= told
