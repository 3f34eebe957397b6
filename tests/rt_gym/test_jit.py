"""The kernel decorator, seen by fresh processes in a small tree of packages around a copy of ``jit.py``."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from rt_gym import jit, kernel_cache, terrain

jit_is_on = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

TREE = {
    "rt_gym/__init__.py": "",
    "rt_gym/cell.py": """
from rt_gym.jit import kernel

@kernel
def price(x):
    return x + 1
""",
    "agents/__init__.py": "",
    "agents/base.py": """
import types
from rt_gym.jit import kernel

def run(x):
    return plan(x) * 10

def bind(plan):
    f = types.FunctionType(run.__code__, {**globals(), "plan": plan}, "run")
    f.__qualname__ = f"run.{plan.__module__}.{plan.__qualname__}"
    f.__module__ = __name__
    return kernel(f, also=(getattr(plan, "py_func", plan).__code__.co_filename,))
""",
    "agents/weights.py": "WEIGHT = 2\n",
    "agents/scale.py": "from .weights import WEIGHT\n\nSCALE = WEIGHT\n",
    "agents/lrta.py": """
import os
from agents.base import bind
from agents.scale import SCALE
from rt_gym.cell import price
from rt_gym.jit import kernel

@kernel(inline=os.environ.get("INLINE") == "yes")
def plan(x):
    return price(x) * SCALE + 0

run = bind(plan)
""",
    "agents/bonus.py": "BONUS = 100\n",
    "agents/rta.py": """
from . import bonus
from agents.base import bind
from rt_gym.jit import kernel

@kernel
def plan(x):
    return x + bonus.BONUS

run = bind(plan)
""",
    "elsewhere.py": """
from numba import njit
from rt_gym.jit import kernel

@njit(cache=True)
def plain(x):
    return x + 5

@kernel
def ours(x):
    return x + 6
""",
}
PLAN, RUN, OTHER_RUN, PLAIN = "agents.lrta:plan", "agents.lrta:run", "agents.rta:run", "elsewhere:plain"

# Calls each "module:name" that it is given with 3; tells what came back and how the cache fared.
PROBE = """
import importlib, json, sys
answers = {}
for target in sys.argv[1:]:
    module, name = target.split(":")
    function = getattr(importlib.import_module(module), name)
    answer = {"value": function(3), "type": type(function).__name__}
    if hasattr(function, "stats"):
        answer["hits"] = sum(function.stats.cache_hits.values())
        answer["folder"] = function.stats.cache_path
    answers[target] = answer
print(json.dumps(answers))
"""


class Tree:
    """A throwaway tree of packages and the processes that use it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def files(self, pattern: str) -> list[Path]:
        return sorted(self.root.rglob(pattern))

    def python(self, code: str, *arguments: str, **environment: str) -> str:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
        # Byte code is not written: Python would not tell two edits within a second apart.
        own = {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=clean | own | environment,
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def probe(self, *targets: str, **environment: str) -> dict[str, Any]:
        return json.loads(self.python(PROBE, *targets, **environment))

    def values(self, *targets: str, **environment: str) -> list[int]:
        return [answer["value"] for answer in self.probe(*targets, **environment).values()]

    def hits(self, *targets: str, **environment: str) -> list[int]:
        return [answer["hits"] for answer in self.probe(*targets, **environment).values()]


def plant(root: Path) -> Tree:
    tree = Tree(root)
    for name, text in TREE.items():
        tree.write(name, text)
    for module in (jit, kernel_cache):
        shutil.copy(module.__file__, root / "rt_gym")
    return tree


@pytest.fixture
def fresh(tmp_path: Path) -> Tree:
    """A tree in which nothing has been compiled yet."""
    return plant(tmp_path / "tree")


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    tree = plant(tmp_path_factory.mktemp("used") / "tree")
    assert tree.hits(PLAN, RUN, OTHER_RUN, PLAIN) == [0, 0, 0, 0]
    return tree


@pytest.fixture
def tree(used: Tree, tmp_path: Path) -> Tree:
    """A tree whose kernels an earlier process has compiled, moved to another place since."""
    return Tree(shutil.copytree(used.root, tmp_path / "tree"))


def test_a_second_process_finds_every_kernel_in_the_cache(used: Tree) -> None:
    answers = used.probe(PLAN, RUN, OTHER_RUN)
    assert [(answer["value"], answer["hits"]) for answer in answers.values()] == [(8, 1), (80, 1), (1030, 1)]
    assert {answer["folder"] for answer in answers.values()} == {str(used.root / "agents" / "__pycache__")}


def test_a_moved_checkout_keeps_its_cache(tree: Tree) -> None:
    assert tree.hits(PLAN, RUN, OTHER_RUN) == [1, 1, 1]


def test_the_cache_directory_of_the_environment_is_used(fresh: Tree) -> None:
    chosen = str(fresh.root / "chosen")
    assert fresh.hits(PLAN, NUMBA_CACHE_DIR=chosen) == [0]
    assert fresh.hits(PLAN, NUMBA_CACHE_DIR=chosen) == [1]
    assert {path.parts[len(fresh.root.parts)] for path in fresh.files("*.nb?")} == {"chosen"}


def test_an_edited_callee_in_another_file_is_followed_by_its_callers(tree: Tree) -> None:
    old = {path: path.read_bytes() for path in tree.files("*.nbc")}
    tree.edit("rt_gym/cell.py", "x + 1", "x + 2")
    assert tree.values(PLAN, RUN) == [10, 100]
    assert tree.hits(PLAN, RUN) == [1, 1]
    # A process that started before the edit may write its code last, under the new index.
    for path, content in old.items():
        path.write_bytes(content)
    assert tree.values(PLAN, RUN) == [10, 100]


def test_an_edited_constant_is_followed_through_indirect_and_relative_imports(tree: Tree) -> None:
    tree.edit("agents/weights.py", "2", "3")
    tree.edit("agents/bonus.py", "100", "200")
    assert tree.values(PLAN, RUN, OTHER_RUN) == [12, 120, 2030]


def test_an_edited_plan_is_followed_by_the_loop_bound_to_it_and_by_no_other(tree: Tree) -> None:
    tree.edit("agents/lrta.py", "SCALE + 0", "SCALE + 7")  # a constant: the byte code of the plan stays the same
    answers = tree.probe(RUN, OTHER_RUN)
    assert [(answer["value"], answer["hits"]) for answer in answers.values()] == [(150, 0), (1030, 1)]


def test_a_plan_edited_and_reloaded_in_a_running_session_is_followed(tree: Tree) -> None:
    code = """
import importlib, pathlib, agents.lrta as lrta
path = pathlib.Path(lrta.__file__)
path.write_text(path.read_text().replace("SCALE + 0", "SCALE + 77"))
print(lrta.run(3), importlib.reload(lrta).run(3))
"""
    assert tree.python(code).split() == ["80", "850"]


def test_an_edited_agent_leaves_the_kernels_of_other_agents_in_the_cache(tree: Tree) -> None:
    tree.edit("agents/rta.py", "x + bonus", "x - bonus")
    tree.write("agents/__init__.py", "ROWS = 2\n")
    assert tree.hits(PLAN, RUN) == [1, 1]


def test_other_options_for_the_same_sources_are_a_miss(tree: Tree) -> None:
    assert tree.hits(PLAN, INLINE="yes") == [0]
    assert tree.hits(PLAN, INLINE="yes") == [1]
    assert tree.hits(PLAN, INLINE="yes", NUMBA_BOUNDSCHECK="1") == [0]
    assert tree.hits(PLAN, INLINE="yes", NUMBA_BOUNDSCHECK="1", NUMBA_OPT="1") == [0]
    files = tree.files("lrta.plan*.nb?")
    inner = [file for file in files if ".inner." in file.name]
    assert (len(inner), len(files)) == (2, 4)  # one index and its data each: replaced each time, not collected


def test_only_what_python_calls_is_compiled_with_an_entry_for_it(tree: Tree) -> None:
    for file in tree.files("*.nb?"):
        file.unlink()
    assert tree.probe(RUN)[RUN]["value"] == 80
    assert {".inner." in file.name for file in tree.files("*.nbc") if not file.name.startswith("base.run")} == {True}
    found = tree.probe(RUN, PLAN)
    assert [found[target]["value"] for target in (RUN, PLAN)] == [80, 8]
    assert tree.hits(RUN, PLAN) == [1, 1]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "noise": lambda content: np.random.default_rng(0).bytes(len(content)),
    "foreign": lambda content: b"\x80\x04K\x07.",  # a sound pickle, of the number 7
}


def test_broken_files_are_missed_once_and_then_hit_again(fresh: Tree) -> None:
    cases = {f"{suffix}_{name}": change for name, change in DAMAGE.items() for suffix in ("nbi", "nbc")}
    kernels = "\n".join(f"@kernel\ndef {case}(x):\n    return x + 1\n" for case in cases)
    fresh.write("agents/many.py", f"from rt_gym.jit import kernel\n\n{kernels}")
    targets = [f"agents.many:{case}" for case in cases]
    fresh.values(*targets)
    for case, change in cases.items():
        (path,) = fresh.files(f"many.{case}-*.{case[:3]}")
        path.write_bytes(change(path.read_bytes()))
    answers = fresh.probe(*targets)
    assert {name for name, answer in answers.items() if (answer["value"], answer["hits"]) != (4, 0)} == set()
    assert fresh.hits(*targets) == [1] * len(targets)


def test_altered_code_is_not_run_even_where_it_can_be_read(tmp_path: Path) -> None:
    file = kernel_cache.SealedFile(str(tmp_path), "kernel", "stamp")
    file.save("key", b"machine code")
    assert file.load("key") == b"machine code"
    (path,) = tmp_path.glob("*.nbc")
    path.write_bytes(path.read_bytes().replace(b"code", b"c0de"))
    assert file.load("key") is None


def test_code_for_another_signature_under_the_wrong_index_entry_is_not_run(fresh: Tree) -> None:
    code = "from rt_gym.cell import price; print(price(3), price(0.5))"
    assert fresh.python(code).split() == ["4", "1.5"]
    first, second = fresh.files("cell.price*.nbc")
    shutil.copy(first, second)
    assert fresh.python(code).split() == ["4", "1.5"]


def test_where_nothing_is_writable_kernels_run_uncached(fresh: Tree) -> None:
    # Files stand where the folders would be: permissions would not stop the superuser.
    for folder in ("rt_gym", "agents"):
        fresh.write(f"{folder}/__pycache__", "")
    blocked = dict.fromkeys(
        ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"), str(fresh.root / "elsewhere.py" / "x")
    )
    answers = fresh.probe(PLAN, RUN, **blocked)
    assert [(answer["value"], answer["folder"]) for answer in answers.values()] == [(8, None), (80, None)]


def test_a_folder_that_stops_being_writable_stops_no_kernel(fresh: Tree) -> None:
    code = """
import pathlib, shutil, agents.lrta as lrta
folder = pathlib.Path(lrta.run.stats.cache_path)
shutil.rmtree(folder)
folder.write_text("")
print(lrta.run(3), lrta.run(3.0))
"""
    assert fresh.python(code).split() == ["80", "80.0"]


def test_another_package_keeps_its_own_cache(tree: Tree) -> None:
    tree.edit("rt_gym/cell.py", "x + 1", "x + 2")
    assert tree.hits(PLAIN, PLAN) == [1, 0]


def test_a_kernel_in_a_file_of_someone_else_is_not_cached(fresh: Tree) -> None:
    answer = fresh.probe("elsewhere:ours")["elsewhere:ours"]
    assert (answer["value"], answer["folder"]) == (9, None)


def test_without_the_insides_of_numba_kernels_run_uncached(fresh: Tree) -> None:
    code = """
import sys, numba.core.caching as caching
sys.modules["numba.core.caching"] = None
import rt_gym.jit
sys.modules["numba.core.caching"] = caching
from agents.lrta import plan
print(plan(3), plan.stats.cache_path, "_nrt" in plan.targetoptions)
"""
    assert fresh.python(code).split() == ["8", "None", "False"]


def test_with_the_compiler_off_kernels_are_plain_functions(fresh: Tree) -> None:
    answers = fresh.probe(PLAN, RUN, NUMBA_DISABLE_JIT="1")
    assert [(answer["value"], answer["type"]) for answer in answers.values()] == [(8, "function"), (80, "function")]


@jit_is_on
def test_the_kernels_of_this_package_are_cached_under_our_stamp() -> None:
    assert isinstance(terrain.exits._cache, kernel_cache.KernelCache)
    assert terrain.exits.stats.cache_path is not None


@jit_is_on
def test_kernels_count_no_references() -> None:
    @jit.kernel(inline=True)
    def first(a):
        return a[0]

    def total(a, b):
        return first(a) + first(b)

    ours = jit.kernel(total)
    assert ours(np.array([1, 2]), np.array([3, 4])) == 4
    assert ours.targetoptions["_nrt"] is False
    assert first.targetoptions["forceinline"] is True
    assert "NRT_incref" not in next(iter(ours.inspect_llvm().values()))


@jit_is_on
def test_kernels_cannot_allocate() -> None:
    def allocate(n):
        return np.empty(n).size

    assert numba.njit(allocate)(3) == 3
    with pytest.raises(numba.core.errors.NumbaError):
        jit.kernel(allocate)(3)


@jit_is_on
def test_division_by_zero_gives_infinity_as_in_numpy() -> None:
    @jit.kernel
    def divide(a, b):
        return a / b

    assert divide(1.0, 0.0) == np.inf


@jit_is_on
@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
@pytest.mark.parametrize(("mode", "cached"), [(0o755, True), (0o1777, True), (0o777, False)])
def test_a_cache_that_others_can_write_to_is_not_used(mode: int, cached: bool, tmp_path: Path) -> None:
    (folder := tmp_path / "cache").mkdir()
    folder.chmod(mode)
    script = "from rt_gym.clock import start_clock; print(type(start_clock._cache).__name__)"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    assert (done.stdout == "KernelCache\n") == cached
    assert (f"others can write to {folder}" in done.stderr) != cached
