"""Print constraints for pip: the lowest versions that pyproject.toml allows, or the newest that there are.

``python tests/versions.py lowest``, or ``newest``, which leaves everything open but PyTorch.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
TORCH = {"torch": "2.13.0"}  # others bring gigabytes for graphics cards; 2.5.0 was tried by hand


def lowest(requirements: list[str]) -> dict[str, str]:
    """Return name -> lowest version; what is neither our own extra nor ``name>=version`` is a mistake."""
    others = [line for line in requirements if not line.startswith("rt_gym[")]
    bounds = {line: re.fullmatch(r"([\w-]+)>=([\d.]+)", line) for line in others}
    if unbounded := [line for line, found in bounds.items() if found is None]:
        raise ValueError(f"every requirement is written name>=version, not {unbounded[0]!r}")
    return {found[1]: found[2] for found in bounds.values() if found}


def declared() -> list[str]:
    """Return the requirements of the package and of all its extras."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    return sum(project["optional-dependencies"].values(), project["dependencies"])


if __name__ == "__main__":
    bounds = {"lowest": lowest(declared()), "newest": {}}[sys.argv[1]]
    for name, version in (bounds | TORCH).items():
        print(f"{name}=={version}")
