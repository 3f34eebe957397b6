"""The lower bounds of pyproject.toml, which `make lowest` installs, and what `make newest` leaves open."""

import re
import subprocess
import sys

import pytest
from packaging.version import Version

from versions import PROJECT, TORCH, declared, lowest


def test_every_requirement_has_a_lowest_version_and_one_that_was_tested() -> None:
    tested = dict(re.findall(r"^([\w-]+)==(\S+)$", PROJECT.with_name("constraints.txt").read_text("utf-8"), re.M))
    versions = {name.lower().replace("_", "-"): Version(version) for name, version in tested.items()}
    for name, version in lowest(declared()).items():
        assert Version(version) <= versions[name], name


@pytest.mark.parametrize("line", ["numpy", "numpy==2.2", "numpy>=2,<3", "numpy>2"])
def test_a_requirement_without_a_lowest_version_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=f"name>=version, not '{re.escape(line)}'"):
        lowest(["scipy>=1.13", line])


def test_extras_of_our_own_are_no_requirements() -> None:
    assert lowest(["rt_gym[rl]", "torch>=2.5"]) == {"torch": "2.5"}


def test_pytorch_alone_is_held_at_the_version_of_our_constraints() -> None:
    script = PROJECT.with_name("tests") / "versions.py"
    lines = {
        kind: subprocess.run([sys.executable, script, kind], capture_output=True, text=True, check=True).stdout.split()
        for kind in ("lowest", "newest")
    }
    held = f"torch=={TORCH['torch']}"
    assert lines["newest"] == [held]
    assert held in lines["lowest"]
    assert len(lines["lowest"]) == len(lowest(declared()))
    assert held in PROJECT.with_name("constraints.txt").read_text("utf-8").split()
