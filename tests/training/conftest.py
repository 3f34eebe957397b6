"""Fixtures of the tests of trainings and commands."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

_SCRIPT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, *rest):
        return None if name.partition(".")[0] == {missing!r} else PathFinder.find_spec(name, *rest)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
from training.cli import main
main()
"""


@pytest.fixture
def without() -> Callable[..., Any]:
    """Return how ``rt-gym`` ends where a library is not installed: ``without("torch", "train", "rl")``."""

    def run(missing: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", _SCRIPT.format(missing=missing), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run
