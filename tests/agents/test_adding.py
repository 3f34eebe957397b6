"""Adding an algorithm is three edits: its file, its row in the table of agents, and its plain reference.

In a copy of the packages and tests these three are made for an algorithm that is not there yet; then the contract and
the comparison with the reference are run for it, in a process of their own. ``AGENT`` and ``REFERENCE`` are also an
example to begin with.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("agents", "tests/agents", "tests/reference", "tests/conftest.py", "tests/profiles.py", "pyproject.toml")
ASKED = ("contract", "contract_budget", "contract_learning", "against_reference", "parameters", "newly_unsolvable")

AGENT = '''\
"""daLRTA*: LRTA* that moves where the least was learned, and so leaves a depression sooner.

C. Hernández, J. Baier, "Avoiding and Escaping Depressions in Real-Time Heuristic Search", Journal of Artificial
Intelligence Research 43, 2012: daLSS-LRTA* with a lookahead of one. The same in plain Python:
``tests/reference/plain_da_lrta.py``.

Readings:
- Ties: smaller c + h, then larger c, then the order of directions.
- A value is never lowered.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Learner
from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.meter import charge, raise_h
from rt_gym.search.space import NONE, Space, draw
from rt_gym.terrain import fill_h0
from rt_gym.trip import CUT, NO_PATH
from rt_gym.views import View


class DAMemory(NamedTuple):
    """Learned values, the random state, and the values before anything was learned."""

    h: NDArray[np.int64]
    space: Space
    first: NDArray[np.int64]


@kernel
def least_depressed(terrain, memory, s):
    """Return the step whose end has risen least, and the smallest c + h of all steps."""
    h, first, random = memory.h, memory.first, memory.space.random
    y, least, ties = np.int64(NONE), np.int64(INF), 0
    best_rise, best_f, best_c = np.int64(INF), np.int64(INF), np.int64(0)
    for d in range(8):
        n = s + terrain.offset[d]
        if terrain.mask[s] >> d & 1 == 0 or h[n] >= INF:
            continue
        rise, f, c = h[n] - first[n], terrain.cost[d] + h[n], terrain.cost[d]
        least = min(least, f)
        if rise == best_rise and f == best_f and c == best_c:
            ties += 1
            if random[0] != 0 and draw(random) % ties == 0:
                y = np.int64(d)
        elif rise < best_rise or (rise == best_rise and (f < best_f or (f == best_f and c > best_c))):
            y, best_rise, best_f, best_c, ties = np.int64(d), rise, f, np.int64(c), 1
    return y, least


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Learn the value of the state, then commit to one step."""
    if not charge(trip, s):
        return np.int64(CUT)
    y, f = least_depressed(terrain, memory, s)
    if y == NONE:
        return np.int64(NO_PATH)
    raise_h(trip, memory.h, s, min(f, np.int64(INF)))
    trip.plan[0] = y
    return np.int64(1)


class DALRTA(Learner):
    """daLRTA*.

    Args:
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    converges = False
    memory_type: ClassVar[Any] = DAMemory

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return 1

    def own_memory(self, space: Space, view: View) -> dict[str, Any]:
        """Return room for the heuristic."""
        return {"first": np.empty(view.terrain.mask.size, np.int64)}

    def clear_memory(self, view: View, seed: int) -> None:
        """Note the heuristic beside the values that start at it."""
        super().clear_memory(view, seed)
        fill_h0(view.terrain, view.goal_cell, self.memory.first)
'''

ROW = '    "da-lrta": ("da_lrta", "DALRTA"),\n'

REFERENCE = '''\
"""daLRTA* in plain Python."""

from reference.plain_grid import MAX_MOVES, Plan, h0, learner_trial
from reference.plain_lrta import learn


def run(grid, start, goal, vision=None, changes=(), max_moves=MAX_MOVES, after=None):
    """Run one trial; ``after`` is the trial whose heuristic and believed map it goes on with."""

    def plan(view, s, h):
        around = view.neighbours(s)
        if not around:
            return Plan(expanded=[s])
        y, _ = min(around, key=lambda near: (h[near[0]] - h0(grid, near[0], goal), near[1] + h[near[0]], -near[1]))
        return Plan([y], [s], raised=learn(h, s, min(cost + h[near] for near, cost in around)))

    return learner_trial(grid, start, goal, plan, vision, changes, max_moves, after)
'''

USE = """
import agents
from rt_gym import Grid, Problem

problem = Problem(Grid([[1, 1, 1]]), (0, 0), (2, 0))
print(type(agents.make("da-lrta", budget=5)).__name__, agents.run("da-lrta", problem).cost)
"""


def files(root: Path) -> dict[str, bytes]:
    """Return what every file holds that was copied or added, caches left out."""
    found = [
        path for name in COPIED for path in ([root / name] if (root / name).is_file() else (root / name).rglob("*"))
    ]
    kept = (path for path in found if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in kept}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which the three edits have been made."""
    root = tmp_path_factory.mktemp("copied")
    for name in COPIED:
        (root / name).parent.mkdir(exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, root / name)
    (root / "rt_gym").symlink_to(ROOT / "rt_gym")  # its compiled kernels are found there
    (root / "agents" / "da_lrta.py").write_text(AGENT, encoding="utf-8")
    table = root / "agents" / "__init__.py"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("_TABLE = {\n", "_TABLE = {\n" + ROW, 1), encoding="utf-8")
    (root / "tests" / "reference" / "plain_da_lrta.py").write_text(REFERENCE, encoding="utf-8")
    return root


def python(copied: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(copied)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=copied, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_no_more_than_three_files_were_touched(copied: Path) -> None:
    before, after = files(ROOT), files(copied)
    touched = {name for name in before | after if before.get(name) != after.get(name)}
    assert touched == {"agents/da_lrta.py", "agents/__init__.py", "tests/reference/plain_da_lrta.py"}


def test_the_agent_is_made_and_run_by_its_id(copied: Path) -> None:
    assert python(copied, "-c", USE).split() == ["DALRTA", "2.0"]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="takes too long without the compiler")
def test_contract_and_reference_are_asked_of_it_without_being_told(copied: Path) -> None:
    asked = [f"tests/agents/test_{name}.py" for name in ASKED]
    said = python(copied, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "da-lrta", *asked)
    passed = re.search(r"(\d+) passed", said)
    assert passed is not None
    assert int(passed[1]) > 20
    assert "failed" not in said
