"""How large a map may be, asked before anything of that size is made."""

import os
from contextlib import suppress
from pathlib import Path

from rt_gym.errors import InputError
from rt_gym.terrain import MAX_CELLS

MAP_BYTES = 8 * MAX_CELLS + (1 << 16)  # of a file with a map: eight for every cell of the largest one, and a header
STRIP_CELLS = 1 << 22  # of the rows that are worked on at a time, where something takes several bytes per cell

_MATTERS = 1 << 27  # bytes from which on the machine is asked how many it has
_CGROUP = Path("/sys/fs/cgroup")
_GIGABYTE = 1e9


def size_problem(width: int, height: int, per_cell: int = 0) -> str:
    """Return why no grid can have this size, or not while it takes so many bytes per cell; or an empty string."""
    # The numbers are not repeated: a hostile header may hold some with thousands of digits.
    if width < 1 or height < 1:
        return "the width and height of a map must be at least 1"
    if width * height > MAX_CELLS:
        return f"the map is too large, it may have {MAX_CELLS} cells"
    problem = memory_problem(width * height, per_cell)
    return problem and f"its {width} x {height} cells {problem}"


def memory_problem(cells: int, per_cell: int) -> str:
    """Return why this machine cannot keep so many bytes per cell now, or an empty string."""
    needed = cells * per_cell
    available = available_memory() if needed >= _MATTERS else None
    if available is None or needed <= available:
        return ""
    return f"take about {needed / _GIGABYTE:.1f} GB of memory, but {available / _GIGABYTE:.1f} GB are available"


def require_memory(what: str, cells: int, per_cell: int) -> None:
    """Refuse to make ``what``, in the plural, with so many bytes per cell, if this machine cannot keep it now."""
    if problem := memory_problem(cells, per_cell):
        raise InputError(f"{what} of a map of {cells} cells {problem}")


def strips(width: int, height: int) -> list[slice]:
    """Return the rows of a map of this size in slices of at most ``STRIP_CELLS`` cells, or of one row."""
    rows = max(1, STRIP_CELLS // width)
    return [slice(top, min(top + rows, height)) for top in range(0, height, rows)]


def available_memory() -> int | None:
    """Return how many bytes can be had now without taking any from others, None where nobody can say."""
    known = [amount for amount in (_of_machine(), _of_group()) if amount is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    with suppress(OSError, ValueError, KeyError):
        return 1024 * _table(Path("/proc/meminfo"))["MemAvailable:"]
    with suppress(OSError, ValueError, AttributeError):  # all that there is, where nobody says what is in use
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _of_group() -> int | None:
    """Return what is left of the limit of a container, if there is one; cached files make room where it is needed."""
    with suppress(OSError, ValueError, KeyError):
        limit, used = (int((_CGROUP / name).read_text()) for name in ("memory.max", "memory.current"))
        return limit - used + _table(_CGROUP / "memory.stat")["inactive_file"]
    return None


def _table(path: Path) -> dict[str, int]:
    return {words[0]: int(words[1]) for words in map(str.split, path.read_text().splitlines())}
