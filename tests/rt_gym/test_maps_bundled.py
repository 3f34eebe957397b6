import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import rt_gym
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.maps import load_map, names
from rt_gym.maps.bundled import TABLE
from rt_gym.maps.generate import GENERATORS, generate
from rt_gym.maps.movingai import format_map

FOLDER = resources.files("rt_gym.maps.bundled")


@pytest.mark.parametrize("name", names())
def test_a_stored_map_is_what_its_row_generates(name: str) -> None:
    family, parameters = TABLE[name]
    assert (FOLDER / f"{name}.map").read_bytes() == b"".join(format_map(generate(family, **parameters)))


def test_there_are_eight_maps_of_every_family_from_16_to_512_cells_and_no_stray_file() -> None:
    grids = [load_map(name) for name in names()]
    stored = {file.name for file in FOLDER.iterdir() if file.name.endswith(".map")}
    assert len(grids) == 8
    assert {family for family, _ in TABLE.values()} == GENERATORS.keys()
    assert (min(grid.width for grid in grids), max(grid.width for grid in grids)) == (16, 512)
    assert stored == {f"{name}.map" for name in names()}


@pytest.mark.parametrize("name", names())
def test_a_bundled_map_has_its_name_and_takes_the_options_of_a_grid(name: str) -> None:
    grid = load_map(name, connectivity=4, cost="unit", corner="one")
    assert (grid.name, grid.connectivity, grid.cost, grid.corner) == (name, 4, "unit", "one")
    assert load_map(Path(name)) == load_map(name)


@pytest.mark.parametrize("name", [name for name in names() if not name.startswith("random")])
def test_all_bundled_maps_but_the_random_one_are_connected(name: str) -> None:
    assert load_map(name).labels.max() == 1


def test_an_unknown_name_is_refused_with_near_misses_and_all_names() -> None:
    with pytest.raises(InputError) as refusal:
        load_map("room-64")
    message = str(refusal.value)
    assert "no bundled map is called room-64 (did you mean rooms-64" in message
    assert all(name in message for name in names())
    assert ".map, .png, .npy, .npz, .csv" in message


@pytest.mark.parametrize("name", ["", ".", "a.txt", "a\nb", "x" * 10**5, "nul\0"])
def test_odd_names_are_refused_in_one_line(name: str) -> None:
    with pytest.raises(InputError) as refusal:
        load_map(name)
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("name", [None, 5, 1.5, ["rooms-64"], b"rooms-64", Grid([[1]])])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(InputError, match="a map is given by its name or path, not by"):
        load_map(name)


def test_importing_maps_loads_neither_pillow_nor_matplotlib() -> None:
    code = "import sys, rt_gym.maps; sys.exit(bool({'PIL', 'matplotlib'} & sys.modules.keys()))"
    root = Path(rt_gym.__file__).parents[1]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
