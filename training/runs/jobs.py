"""Work on many items of one map, in pieces that any process can do in any order.

A ``Work`` says what is done to items, a ``Series`` is a work with its map and all its items, and a ``Job`` is a stretch
of a series on its way to a worker. It travels as plain values: ids, settings, tasks. Kernels and agents are made where
they are needed, and the map is sent on its own, once (``training.runs.workers``). Results are kept under a stamp of the
sources that they depend on, so that those of other sources are never taken for one's own.
"""

import ast
import importlib.metadata
import importlib.util
import pickle
import platform
import shlex
import subprocess
import sys
import sysconfig
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from hashlib import blake2b, sha256
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

import agents
import rt_gym
from agents.runner import trials
from rt_gym import Grid, InputError
from rt_gym.files import PathLike, digest_file
from rt_gym.kernel_cache import source_closure
from training.runs.contenders import load_agent
from training.runs.rows import Arrays

_HERE = Path(__file__).parent
_AGENTS, _RT_GYM = (Path(package.__file__ or "").parent for package in (agents, rt_gym))
_POLICY_READERS = {"agents/policies/trees.py", "agents/policies/networks.py"}
_PRICES = {"agents/policies/ground.py"}  # reads the policies of a folder of their own
_VERSIONED = ("numpy", "numba", "joblib")
_COUNTED = ("rt_gym", "agents")  # all of them counts for a class of one's own anyway
_INSTALLED = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_FOLDERS = ("site-packages", "dist-packages")


@cache
def source_stamp(agent_id: str) -> str:
    """Return a hash of all that a row of this agent depends on.

    That is its module and whatever this imports from our packages, directly or not; what runs it and makes rows; and
    the ready-made policies, if it reads such files. Other agents are left out, so that work on one of them leaves the
    results of this one alone. A class of one's own may import anything: all sources count, and its own modules.
    """
    parts = _all_parts(agent_id) if "." in agent_id else _own_parts(agent_id)
    stamp = sha256(rt_gym.__version__.encode())
    for name, digest in parts:
        stamp.update(f"{name} {digest}\n".encode())
    return stamp.hexdigest()[:16]


def _own_parts(agent_id: str) -> Iterator[tuple[str, str]]:
    """Yield name and hash of what an id depends on.

    The table in ``agents/__init__.py`` is no part of it: no module of an agent names the package itself, and which
    other rows the table has makes no difference to a run.
    """
    module = sys.modules[load_agent(agent_id).__module__]
    closure = source_closure([module.__file__ or "", trials.__file__])
    yield from closure
    yield from map(_identity, [_HERE / "plan.py", _HERE / "rows.py"])
    names = {name for name, _ in closure}
    if _PRICES & names:
        yield from map(_identity, sorted((_AGENTS / "policies" / "prices").glob("*.json")))
    elif _POLICY_READERS & names:
        yield from map(_identity, _policies())


def _all_parts(agent_id: str) -> Iterator[tuple[str, str]]:
    """Yield name and hash of all sources and policies, and of what a class of one's own imports besides."""
    modules = {load_agent(agent_id).__module__, agent_id.rpartition(".")[0]}
    own = {getattr(sys.modules[name], "__file__", None) or "" for name in modules} - {""}
    files = [path for folder in (_RT_GYM, _AGENTS) for path in sorted(folder.rglob("*.py"))]
    files += [*_policies(), _HERE / "plan.py", _HERE / "rows.py"]
    yield from map(_identity, files + sorted(map(Path, own)))
    yield from own_closure(modules)


def own_closure(modules: Iterable[str]) -> list[tuple[str, str]]:
    """Return name and hash of modules, by their dotted names, and of all they import that is not installed.

    Modules are found as Python would find them, and none is imported for it. Left out are those of the standard library
    and of installed distributions, what is imported under a name that is only known when it runs, and files of data.
    """
    todo, found = list(modules), dict[str, str]()
    seen = set[str]()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        todo.extend([name.rpartition(".")[0]] if "." in name else [])  # a package is imported before what is in it
        spec = _find(name)
        if spec is None or (file := _own_file(spec)) is None:
            continue
        content = file.read_bytes()
        found[name] = sha256(content).hexdigest()
        package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
        todo.extend(_imported(content, package))
    return sorted(found.items())


def _find(name: str) -> ModuleSpec | None:
    """Return where a module is, without importing the packages that it is in."""
    top, *rest = name.split(".")
    if top in sys.stdlib_module_names or top in _COUNTED:
        return None
    spec = _ask_finders(top, None)
    for number, _ in enumerate(rest, start=2):
        if spec is None or spec.submodule_search_locations is None:
            return None
        spec = _ask_finders(".".join(name.split(".")[:number]), list(spec.submodule_search_locations))
    return spec


def _ask_finders(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        ask: Any = getattr(finder, "find_spec", None)
        if ask and (spec := ask(name, path)) is not None:
            return spec
    return None


def _own_file(spec: ModuleSpec) -> Path | None:
    """Return the file of a module, None if it has none or is installed."""
    file = Path(spec.origin or "").resolve()
    if not spec.has_location or not file.is_file() or any(part in _FOLDERS for part in file.parts):
        return None
    return None if _INSTALLED & set(file.parents) else file


def _imported(content: bytes, package: str) -> Iterator[str]:
    """Yield the names that a source imports; one imported from a package may be a module or a value in it."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # an extension module, or a source for another Python: it stands for itself
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                stem = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:  # it would fail when it runs
                continue
            yield stem
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def _policies() -> list[Path]:
    return [path for path in sorted((_AGENTS / "policies").iterdir()) if path.suffix in (".json", ".npz")]


def _identity(file: Path) -> tuple[str, str]:
    return file.name, sha256(file.read_bytes()).hexdigest()


def versions() -> dict[str, Any]:
    """Return the versions of all that a result may depend on."""
    found = {name: importlib.metadata.version(name) for name in _VERSIONED}
    return {"rt_gym": rt_gym.__version__, "python": platform.python_version(), **found}


@cache
def provenance() -> dict[str, Any]:
    """Return what else a reader may ask of a result: the commit of the sources, the command line, the processor."""
    return {"commit": _commit(), "command": _command(), "processor": _cpu()}


def _command() -> str:
    """Return what was typed; ``python -m training.cli`` is ``rt-gym``."""
    name = Path(sys.argv[0]).name
    return shlex.join(["rt-gym" if name == "__main__.py" else name, *sys.argv[1:]])


def _commit() -> str | None:
    """Return the commit that is checked out, with a plus where files differ from it; None outside of a checkout."""
    root = _RT_GYM.parent
    if not (root / ".git").exists():
        return None

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        edited = git("status", "--porcelain", "--untracked-files=no", "--", "rt_gym", "agents", "training")
        return git("rev-parse", "HEAD") + "+" * bool(edited)
    except (OSError, subprocess.CalledProcessError):  # there is no git, or no commit yet
        return None


def _cpu() -> str:
    """Return the name of the processor, as well as the system knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


Item = TypeVar("Item")
Output = TypeVar("Output")

_OTHER_SOURCES = "a worker runs other sources than this command: install the same version everywhere"


class Work(ABC, Generic[Item, Output]):
    """Something that is done to every item of a list, on one map or on none.

    Subclasses are frozen dataclasses of plain values (numbers, texts, arrays, tuples, dataclasses of such): they travel
    to workers, and results are kept under a hash of them. What comes out for an item must not depend on the others of
    the same call, so that it does not matter how a series is cut.
    """

    @property
    @abstractmethod
    def agents(self) -> tuple[str, ...]:
        """Ids, or dotted names of classes, whose sources the results depend on. This module counts anyway."""

    @property
    def files(self) -> Iterable[PathLike]:
        """Files whose content the results depend on; none by default."""
        return ()

    @abstractmethod
    def do(self, grid: Grid | None, items: Sequence[Item]) -> Output:
        """Return what comes of some items, in their order; called in a worker."""

    def pack(self, result: Output) -> Arrays:
        """Return a result as arrays without Python objects, for a file. Not needed where nothing is kept."""
        raise TypeError(f"{type(self).__name__} does not say how its results are kept")

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Output:
        """Return a result from what ``pack`` made of it; raise anything if it is damaged, and it is done again."""
        raise TypeError(f"{type(self).__name__} does not say how its results are kept")


@dataclass(frozen=True)
class Series:
    """A work with its map and all its items."""

    work: Work[Any, Any]
    grid: Grid | None
    items: Sequence[Any]

    @cached_property
    def stamps(self) -> tuple[str, ...]:
        """Stamps of the sources that the results depend on."""
        return stamp_sources(self.work.agents, type(self.work).__module__)

    @cached_property
    def key(self) -> str:
        """A hash of all that the results depend on but the items."""
        content = [digest_file(path) for path in self.work.files]
        parts = self.work, content, None if self.grid is None else self.grid.digest, self.stamps
        return sha256(canonical(parts).encode()).hexdigest()[:32]

    def job(self, number: int, begin: int, end: int) -> "Job":
        """Return the items from ``begin`` to before ``end`` as a job; ``number`` is that of the series."""
        return Job(
            series=number,
            begin=begin,
            end=end,
            map=None if self.grid is None else self.grid.digest,
            agents=self.work.agents,
            module=type(self.work).__module__,
            stamps=self.stamps,
            content=pickle.dumps((self.work, self.items[begin:end])),
        )


def stamp_sources(agents: Iterable[str], module: str) -> tuple[str, ...]:
    """Return stamps of what agents depend on, and one of a module."""
    path = getattr(sys.modules.get(module) or import_module(module), "__file__", None)
    return (*map(source_stamp, agents), sha256(Path(path).read_bytes()).hexdigest() if path else "")


def canonical(value: Any) -> str:
    """Return a text that is equal for equal values, in whichever process; arrays and dataclasses by their content."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = (f"{part.name}={canonical(getattr(value, part.name))}" for part in fields(value))
        return f"{type(value).__qualname__}({','.join(inner)})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, (tuple, list)):
        return f"({','.join(map(canonical, value))})"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{canonical(key)}:{canonical(value[key])}' for key in sorted(value))}}}"
    return repr(value)


def digest_items(items: Sequence[Any]) -> NDArray[np.uint64]:
    """Return a hash of every item. Parts that many items share, such as a schedule of changes, are read once."""
    known: dict[int, str] = {}

    def text(part: Any) -> str:
        if (found := known.get(id(part))) is None:
            known[id(part)] = found = canonical(part)
        return found

    parts = (",".join(map(text, item)) if isinstance(item, tuple) else canonical(item) for item in items)
    hashes = b"".join(blake2b(part.encode(), digest_size=8).digest() for part in parts)
    return np.frombuffer(hashes, np.uint64)


@dataclass(frozen=True)
class Job:
    """A stretch of a series as it travels; ``content``, work and items, is read only where the sources are the same."""

    series: int
    begin: int
    end: int
    map: str | None
    agents: tuple[str, ...]
    module: str
    stamps: tuple[str, ...]
    content: bytes


@dataclass(frozen=True)
class Done:
    """What came of the items from ``begin`` to before ``end`` of a series, and how long it took."""

    series: int
    begin: int
    end: int
    seconds: float
    result: Any


def run_job(job: Job, grid: Grid | None) -> Done:
    """Do a job in this process.

    Raises:
        InputError: if this process has other sources than the one that made the job, or lacks an agent of one's own.
    """
    if not _has_sources(job):
        raise InputError(_OTHER_SOURCES)
    work, items = pickle.loads(job.content)
    began = time.perf_counter()
    result = work.do(grid, items)
    return Done(job.series, job.begin, job.end, time.perf_counter() - began, result)


def _has_sources(job: Job) -> bool:
    try:
        return stamp_sources(job.agents, job.module) == job.stamps
    except InputError as error:
        raise InputError(f"{error}: a worker must find it, too") from None
    except ImportError:  # of a module that this version does not have
        return False
