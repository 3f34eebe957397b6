"""Compare a wheel with the packages of this checkout: `make dist` calls it, and a file that is missing is an error."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("rt_gym", "agents", "training")


def wanted() -> set[str]:
    """Return the files of the packages that are under version control."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--", *PACKAGES]
    return set(filter(None, subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")))


def packed(wheel: Path) -> set[str]:
    """Return the files of the packages in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if name.partition("/")[0] in PACKAGES}


if __name__ == "__main__":
    here, there = wanted(), packed(Path(sys.argv[1]))
    if here != there:
        sys.exit(f"missing in the wheel: {sorted(here - there)}; not in the checkout: {sorted(there - here)}")
    print(f"{sys.argv[1]}: all {len(here)} files of {', '.join(PACKAGES)}")
