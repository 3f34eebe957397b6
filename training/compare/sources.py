"""A stamp of the sources that a result depends on, so that results of other sources are never taken for one's own."""

import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import agents
import rt_gym
from training.compare.contenders import load_agent

_HERE = Path(__file__).parent
_VERSIONED = ("numpy", "numba", "joblib")


@cache
def source_stamp(agent_id: str) -> str:
    """Return a hash of the world's and the agents' sources and policies, of what makes rows, and of one's own class."""
    folders = [Path(package.__file__ or "").parent for package in (rt_gym, agents)]
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    files += [path for path in sorted(folders[-1].joinpath("policies").iterdir()) if path.is_file()]
    files += [_HERE / "jobs.py", _HERE / "rows.py", *_own_file(agent_id)]
    stamp = sha256(rt_gym.__version__.encode())
    for path in files:
        stamp.update(path.name.encode() + path.read_bytes())
    return stamp.hexdigest()[:16]


def _own_file(agent_id: str) -> list[Path]:
    if "." not in agent_id:
        return []
    file = getattr(sys.modules[load_agent(agent_id).__module__], "__file__", None)
    return [Path(file)] if file else []


def versions() -> dict[str, Any]:
    """Return the versions of all that a result may depend on."""
    import importlib.metadata
    import platform

    found = {name: importlib.metadata.version(name) for name in _VERSIONED}
    return {"rt_gym": rt_gym.__version__, "python": platform.python_version(), **found}
