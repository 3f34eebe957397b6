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
from rt_gym.maps.gppc import DynamicScenarios, load_dynamic_scenarios
from rt_gym.maps.movingai import Scenario, load_scenarios, parse_map, read_map, write_map, write_scenarios
from rt_gym.maps.pictures import read_png, write_png
from rt_gym.maps.text import read_text
from rt_gym.maps.tiled import read_tiled_json, read_tmx

__all__ = [
    "DynamicScenarios",
    "Scenario",
    "load_dynamic_scenarios",
    "load_map",
    "load_scenarios",
    "names",
    "save_map",
    "write_scenarios",
]

_READERS: dict[str, Callable[..., Grid]] = {
    ".map": read_map,
    ".png": read_png,
    ".npy": read_npy,
    ".npz": read_npz,
    ".csv": read_csv,
    ".txt": read_text,
    ".tmx": read_tmx,
    ".tmj": read_tiled_json,
    ".json": read_tiled_json,
}
_TILED = ("layer", "walls")
_OPTIONS = {".png": ("wall_below", "invert"), ".tmx": _TILED, ".tmj": _TILED, ".json": _TILED}
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


def load_map(name_or_path: PathLike, **options: Any) -> Grid:
    """Return a bundled map or the map in a file.

    Args:
        name_or_path: one of ``names()``, or a path that ends in ``.map``, ``.png``, ``.npy``, ``.npz``, ``.csv``,
            ``.txt``, ``.tmx``, ``.tmj`` or ``.json``.
        **options: ``connectivity``, ``cost`` and ``corner`` of the ``Grid``; for a picture ``wall_below`` and
            ``invert`` (see ``rt_gym.maps.pictures``), for a map of Tiled ``layer`` and ``walls`` (see
            ``rt_gym.maps.tiled``).

    Example:
        >>> load_map("rooms-64", connectivity=4)
        <Grid 'rooms-64' 64 x 64, 4 neighbours, octile, strict>
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise InputError(f"a map is given by its name or path, not by {type(name_or_path).__name__}")
    name = os.fspath(name_or_path)
    if name in TABLE:
        _check_options(name, "", options)
        return _load_bundled(name, **options)
    ending = Path(name).suffix.lower()
    read = _READERS.get(ending)
    if read is None:
        raise InputError(_unknown(shown(name)))
    _check_options(name, ending, options)
    return read(name, **options)


def _check_options(name: str, ending: str, options: dict[str, Any]) -> None:
    """Refuse options that say how files of another kind are read."""
    for option in sorted(options.keys() & {*sum(_OPTIONS.values(), ())} - {*_OPTIONS.get(ending, ())}):
        kinds = " and ".join(kind for kind, own in _OPTIONS.items() if option in own)
        raise InputError(f"{option} says how {kinds} files are read, and {shown(name)} is none")


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
