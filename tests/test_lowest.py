"""The lower bounds of pyproject.toml, which `make lowest` installs."""

import re

import pytest
from packaging.version import Version

from lowest import PROJECT, declared, lowest


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
