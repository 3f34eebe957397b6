"""A stamp of the sources that a result depends on, so that results of other sources are never taken for one's own."""

import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import agents
import rt_gym
from agents.runner import trials
from rt_gym.kernel_cache import source_closure
from training.runs.contenders import load_agent

_HERE = Path(__file__).parent
_AGENTS, _RT_GYM = (Path(package.__file__ or "").parent for package in (agents, rt_gym))
_POLICY_READERS = {"agents/policies/trees.py", "agents/policies/networks.py"}
_VERSIONED = ("numpy", "numba", "joblib")


@cache
def source_stamp(agent_id: str) -> str:
    """Return a hash of all that a row of this agent depends on.

    That is its module and whatever this imports from our packages, directly or not; what runs it and makes rows; and
    the ready-made policies, if it reads such files. Other agents are left out, so that work on one of them leaves the
    results of this one alone. A class of one's own may import anything: all sources count.
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
    yield from map(_identity, [_HERE / "agent_runs.py", _HERE / "rows.py"])
    if _POLICY_READERS & {name for name, _ in closure}:
        yield from map(_identity, _policies())


def _all_parts(agent_id: str) -> Iterator[tuple[str, str]]:
    """Yield name and hash of all sources and policies, and of the file of a class of one's own."""
    own = getattr(sys.modules[load_agent(agent_id).__module__], "__file__", None)
    files = [path for folder in (_RT_GYM, _AGENTS) for path in sorted(folder.rglob("*.py"))]
    files += [*_policies(), _HERE / "agent_runs.py", _HERE / "rows.py"]
    yield from map(_identity, files + ([Path(own)] if own else []))


def _policies() -> list[Path]:
    return [path for path in sorted((_AGENTS / "policies").iterdir()) if path.suffix in (".json", ".npz")]


def _identity(file: Path) -> tuple[str, str]:
    return file.name, sha256(file.read_bytes()).hexdigest()


def versions() -> dict[str, Any]:
    """Return the versions of all that a result may depend on."""
    import importlib.metadata
    import platform

    found = {name: importlib.metadata.version(name) for name in _VERSIONED}
    return {"rt_gym": rt_gym.__version__, "python": platform.python_version(), **found}
