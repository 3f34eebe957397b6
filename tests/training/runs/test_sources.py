"""The stamp of sources: what an agent depends on is in it, and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import training

ROOT = Path(training.__file__).parents[1]
PROBE = """
import json, pathlib, sys
import agents
from training.runs.jobs import source_stamp

def stamps():
    source_stamp.cache_clear()
    return {name: source_stamp(name) for name in (*agents.ids(), "own.Mine")}

found = {"": stamps()}
for name in sys.argv[1:]:
    path = pathlib.Path(name)
    old = path.read_bytes() if path.exists() else None
    path.write_bytes((old or b"") + b"\\n")
    found[name] = stamps()
    if old is None:
        path.unlink()
    else:
        path.write_bytes(old)
found["again"] = stamps()
print(json.dumps(found))
"""
NEW, TABLE, ENVIRONMENTS = "agents/new_one.py", "agents/__init__.py", "rt_gym/envs/vector.py"
LOOKAHEAD, WORLD, TRIALS, ROWS = (
    "rt_gym/search/lookahead.py",
    "rt_gym/world.py",
    "agents/runner/trials.py",
    "training/runs/rows.py",
)
LRTA, POLICY = "agents/lrta.py", "agents/policies/tree.json"
OWN = {
    "own.py": "import json, numpy, helper, broken\nfrom agents.lrta import LRTA\nclass Mine(LRTA):\n    pass\n",
    "helper.py": "def late():\n    from tools.deep import thing\n\n\nimport own\n",
    "broken.py": "if 0:\n    from . import nothing\n    import no_such_module\n",
    "tools/__init__.py": "raise RuntimeError('imported')\n",
    "tools/deep.py": "from . import sibling\nfrom .sibling import value\n",
    "tools/sibling.py": "value = 1\n",
}
STRAY = "stray.py"
EDITS = [NEW, TABLE, ENVIRONMENTS, LOOKAHEAD, WORLD, TRIALS, ROWS, LRTA, POLICY, *OWN, STRAY]


@pytest.fixture(scope="module")
def stamps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The stamps of all agents in a copy of the sources: as they are, and after each edit alone."""
    root = tmp_path_factory.mktemp("copy")
    for package in ("rt_gym", "agents", "training"):
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, content in OWN.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(content)
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *EDITS],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def changed(stamps: dict[str, dict[str, Any]], edit: str) -> set[str]:
    return {name for name, stamp in stamps[""].items() if stamps[edit][name] != stamp}


def everyone(stamps: dict[str, dict[str, Any]]) -> set[str]:
    return set(stamps[""])


def test_the_same_sources_have_the_same_stamps(stamps: dict[str, dict[str, str]]) -> None:
    assert changed(stamps, "again") == set()


@pytest.mark.parametrize("edit", [NEW, TABLE, ENVIRONMENTS])
def test_what_no_run_goes_through_leaves_the_stamps_alone(stamps: dict[str, dict[str, str]], edit: str) -> None:
    assert changed(stamps, edit) == {"own.Mine"}  # which may import anything


@pytest.mark.parametrize("edit", [WORLD, TRIALS, ROWS])
def test_what_every_run_goes_through_is_in_every_stamp(stamps: dict[str, dict[str, str]], edit: str) -> None:
    assert changed(stamps, edit) == everyone(stamps)


def test_an_edit_of_what_an_agent_imports_changes_its_stamp(stamps: dict[str, dict[str, str]]) -> None:
    assert {"lrta", "rta", "subgoal-lrta", "rule-lrta", "pdb-lrta"} <= changed(stamps, LOOKAHEAD)
    assert not {"astar", "dstar-lite", "lss-lrta", "rtaa"} & changed(stamps, LOOKAHEAD)


def test_so_does_an_edit_of_another_agent_that_it_builds_on(stamps: dict[str, dict[str, str]]) -> None:
    assert changed(stamps, LRTA) == {"lrta", "rta", "lrts", "pr-lrts", "subgoal-lrta", "own.Mine"}


def test_ready_made_policies_are_in_the_stamps_of_those_who_read_them(stamps: dict[str, dict[str, str]]) -> None:
    assert changed(stamps, POLICY) == {"classifier-lrta", "policy-lrta", "general-lrta", "think-lss", "own.Mine"}


@pytest.mark.parametrize("edit", OWN)
def test_what_a_class_of_ones_own_imports_is_in_its_stamp_and_in_no_other(
    stamps: dict[str, dict[str, str]], edit: str
) -> None:
    assert changed(stamps, edit) == {"own.Mine"}


def test_a_module_beside_it_that_it_does_not_import_is_not(stamps: dict[str, dict[str, str]]) -> None:
    assert changed(stamps, STRAY) == set()
