"""The kinds of files that hold maps, problems on them, or changes of them; see ``fuzz.kinds``."""

from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from fuzz.kind import INPUT, Kind, small_grid
from rt_gym import load_map, load_scenarios, save_map
from rt_gym.maps import Scenario, load_dynamic_scenarios, write_scenarios
from rt_gym.maps.fetch import read_digests, unpack
from rt_gym.maps.gppc import read_patches
from training.runs.courses import read_changes


def _map(suffix: str) -> Kind:
    def make(folder: Path) -> Path:
        save_map(small_grid(), path := folder / f"small{suffix}")
        return path

    return Kind(f"map {suffix}", INPUT, "load_map; the maps of every command", make, load_map)


def _map_text(suffix: str, text: str) -> Kind:
    def make(folder: Path) -> Path:
        (path := folder / f"small{suffix}").write_text(text, encoding="utf-8")
        return path

    return Kind(f"map {suffix}", INPUT, "load_map; the maps of every command", make, load_map)


_LAYER = "AAAAAAEAAAAAAAAAAgAAAAAAAAAAAAAAAwAAAAAAAAA="  # eight tiles of four bytes each
_TMX = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<map version="1.10" width="4" height="2" infinite="0">\n'
    '<tileset firstgid="1" source="a.tsx"/>\n<layer id="1" name="ground" width="4" height="2">\n'
    '<data encoding="csv">\n1,1,1,1,\n1,1,1,1\n</data></layer>\n<layer id="2" name="walls" width="4" height="2">\n'
    f'<data encoding="base64">{_LAYER}</data></layer></map>\n'
)
_TMJ = (
    '{"width": 4, "height": 2, "infinite": false, "layers": [{"type": "tilelayer", "name": "walls", "width": 4,'
    ' "height": 2, "data": [0, 1, 0, 0, 2147483650, 0, 0, 3]}, {"type": "objectgroup", "name": "things"}]}'
)
_PATCHES = "type patch\npatches 2\npatch 0\nheight 2\nwidth 1\nmap\n@\n@\npatch 1\nheight 1\nwidth 3\nmap\n.@.\n"
_DYNAMIC = (
    "version 2\nheight 4\nwidth 5\ncost 1 octile\npatch small.patch\ncommands\nQ 0 0 0 4 3 5.24264\n"
    "P 1 0 2 1\nQ 1 0 1 4 1 4.8284\nP 2 1 1 3\nQ 2 0 0 0 3 3\n"
)


def _make_patches(folder: Path) -> Path:
    (path := folder / "small.patch").write_text(_PATCHES)
    return path


def _make_dynamic(folder: Path) -> Path:
    _make_patches(folder)
    (path := folder / "small.scen").write_text(_DYNAMIC)
    return path


def _read_dynamic(path: Path) -> Any:
    snapshots = load_dynamic_scenarios(path).snapshots()
    return [query.fits(grid) for grid, queries in snapshots for query in queries]


def _make_digests(folder: Path) -> Path:
    (path := folder / "digests.txt").write_text(f"a-map.zip sha256:{'0a' * 32}\na-scen.zip sha256:{'b1' * 32}\n")
    return path


def _make_set(folder: Path) -> Path:
    save_map(small_grid(), folder / "small.map")
    with ZipFile(path := folder / "a-map.zip", "w", ZIP_DEFLATED) as archive:
        archive.write(folder / "small.map", "maps/small.map")
        archive.writestr("maps/small.map.scen", "version 1\n")
    return path


def _read_set(path: Path) -> Any:
    (folder := path.parent / "unpacked").mkdir(exist_ok=True)
    return list(unpack(path, folder))


def _make_scenarios(folder: Path) -> Path:
    problems = [Scenario(i, "small", 13, 9, (i, 0), (12, 8), 1.5 * i) for i in range(5)]
    write_scenarios(problems, path := folder / "small.map.scen")
    return path


def _changes(suffix: str, text: str) -> Kind:
    def make(folder: Path) -> Path:
        (path := folder / f"changes{suffix}").write_text(text, encoding="utf-8")
        return path

    return Kind(f"changes {suffix}", INPUT, "--changes of compare and play", make, read_changes)


MAP_KINDS = (
    *map(_map, (".map", ".png", ".npy", ".npz", ".csv")),
    _map_text(".txt", "..#.\n.#..\n....\n"),
    _map_text(".tmx", _TMX),
    _map_text(".tmj", _TMJ),
    Kind("scenarios", INPUT, "load_scenarios; --scenarios of every command", _make_scenarios, load_scenarios),
    Kind("scenarios of version 2", INPUT, "bench --scen", _make_dynamic, _read_dynamic),
    Kind("patches", INPUT, "bench --scen", _make_patches, read_patches),
    Kind("digests of archives", INPUT, "maps fetch", _make_digests, read_digests),
    Kind("archive of maps", INPUT, "maps fetch", _make_set, _read_set),
    _changes(".json", '[{"time": 3, "x": 1, "y": 2, "free": false}, [4, 1, 2, 1]]'),
    _changes(".csv", "time,x,y,free\n3,1,2,0\n4,1,2,1\n"),
)
