"""Maps: files in, files out, generators, bundled maps and previews."""

import difflib
import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from rt_gym.errors import InputError
from rt_gym.files import PathLike, shown
from rt_gym.grid import Grid
from rt_gym.maps.arrays import read_csv, read_npy, read_npz, write_csv, write_npy, write_npz
from rt_gym.maps.bundled import TABLE
from rt_gym.maps.movingai import Scenario, load_scenarios, parse_map, read_map, write_map, write_scenarios
from rt_gym.maps.pictures import read_png, write_png

__all__ = ["Scenario", "load_map", "load_scenarios", "names", "save_map", "write_scenarios"]

_READERS: dict[str, Callable[..., Grid]] = {
    ".map": read_map,
    ".png": read_png,
    ".npy": read_npy,
    ".npz": read_npz,
    ".csv": read_csv,
}
_WRITERS: dict[str, Callable[[Grid, PathLike], None]] = {
    ".map": write_map,
    ".png": write_png,
    ".npy": write_npy,
    ".npz": write_npz,
    ".csv": write_csv,
}


def names() -> list[str]:
    """Return the names of the bundled maps."""
    return list(TABLE)


def load_map(name_or_path: PathLike, **grid_options: Any) -> Grid:
    """Return a bundled map or the map in a file.

    Args:
        name_or_path: one of ``names()``, or a path that ends in ``.map``, ``.png``, ``.npy``, ``.npz`` or ``.csv``.
        **grid_options: ``connectivity``, ``cost`` and ``corner`` of the ``Grid``.

    Example:
        >>> load_map("rooms-64", connectivity=4)
        <Grid 'rooms-64' 64 x 64, 4 neighbours, octile, strict>
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise InputError(f"a map is given by its name or path, not by {type(name_or_path).__name__}")
    name = os.fspath(name_or_path)
    if name in TABLE:
        return _load_bundled(name, **grid_options)
    read = _READERS.get(Path(name).suffix.lower())
    if read is None:
        raise InputError(_unknown(shown(name)))
    return read(name, **grid_options)


def save_map(grid: Grid, path: PathLike) -> None:
    """Write the cells of a grid in the format that the path ends in, all at once or not at all."""
    write = _WRITERS.get(Path(path).suffix.lower())
    if write is None:
        raise InputError(f"{shown(path)}: a map is written to a path that ends in {', '.join(_WRITERS)}")
    write(grid, path)


def _load_bundled(name: str, **grid_options: Any) -> Grid:
    data = (resources.files("rt_gym.maps.bundled") / f"{name}.map").read_bytes()
    return Grid(parse_map(data, name), name=name, **grid_options)


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name[:100], names())
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    return (
        f"no bundled map is called {name}{hint}: give one of {', '.join(names())},"
        f" or a path that ends in {', '.join(_READERS)}"
    )
