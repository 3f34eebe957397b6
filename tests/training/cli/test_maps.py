"""``rt-gym maps``."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from rt_gym import load_map
from rt_gym.maps import names
from rt_gym.maps.bundled import TABLE
from rt_gym.maps.generate import GENERATORS
from training.cli import app, maps

runner = CliRunner()


def test_the_list_has_every_bundled_map() -> None:
    entries = json.loads(runner.invoke(app, ["maps", "list", "--json"]).stdout)
    assert [entry["name"] for entry in entries] == names()
    assert entries[0] == {"name": "open-16", "width": 16, "height": 16, "free": 256, "family": "random"}
    table = runner.invoke(app, ["maps", "list"])
    assert table.exit_code == 0
    assert all(name in table.stdout for name in names())


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (30, 10), (1, 1)])
def test_a_map_is_shown_as_large_as_the_terminal(columns: int, lines: int) -> None:
    size = {"COLUMNS": str(columns), "LINES": str(lines)}
    result = runner.invoke(app, ["maps", "show", "caves-128"], env=size)
    *picture, caption = result.stdout.splitlines()
    assert caption == "caves-128, 128 x 128, 9,035 free cells"
    assert max(map(len, picture)) <= columns
    assert len(picture) <= max(1, lines - 1)


def test_a_map_is_drawn_as_a_picture(tmp_path: Path) -> None:
    file = tmp_path / "rooms.png"
    result = runner.invoke(app, ["maps", "show", "rooms-64", "--png", str(file)])
    assert str(file) in result.stdout
    with Image.open(file) as picture:
        assert picture.size == (768, 768)


def test_regions_are_counted_and_drawn(tmp_path: Path) -> None:
    file = tmp_path / "regions.png"
    shown = ["maps", "show", "open-16", "--abstraction", "tiles", "--level", "2", "--png", str(file)]
    result = runner.invoke(app, shown)
    assert "open-16, 16 x 16, 256 free cells, 16 regions (tiles, level 2), drawn in" in result.stdout
    with Image.open(file) as picture:
        assert picture.size == (1600, 1600)
    coloured = runner.invoke(app, shown, env={"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm"})
    assert "\x1b[38;2;" in coloured.stdout
    assert "\x1b[" not in runner.invoke(app, shown, env={"NO_COLOR": "1", "FORCE_COLOR": "1"}).stdout


@pytest.mark.parametrize("wrong", [["--abstraction", "sectors"], ["--abstraction", "clique", "--level", "99"]])
def test_regions_of_an_unknown_kind_are_refused(wrong: list[str]) -> None:
    result = runner.invoke(app, ["maps", "show", "open-16", *wrong])
    assert result.exit_code == 2
    assert "must be" in result.stderr


@pytest.mark.parametrize("name", [name for name in TABLE if name != "terrain-512"])
def test_every_family_is_generated_from_its_options(name: str, tmp_path: Path) -> None:
    family, parameters = TABLE[name]
    options = [text for key, value in parameters.items() for text in (f"--{key}", str(value))]
    result = runner.invoke(app, ["maps", "generate", family, *options, "--out", str(tmp_path / "made.map")])
    assert result.exit_code == 0
    assert np.array_equal(load_map(tmp_path / "made.map").passable, load_map(name).passable)


def test_every_parameter_of_a_generator_is_an_option_and_every_family_is_named_in_the_help() -> None:
    options = set(inspect.signature(maps.generate).parameters) - {"family", "out"}
    assert options == {name for make in GENERATORS.values() for name in inspect.signature(make).parameters}
    text = runner.invoke(app, ["maps", "generate", "--help"]).stdout
    assert all(family in text for family in GENERATORS)


@pytest.mark.parametrize("ending", ["map", "png", "npy", "npz", "csv"])
def test_a_map_survives_conversion_to_every_format(ending: str, tmp_path: Path) -> None:
    there, back = tmp_path / f"copy.{ending}", tmp_path / "back.map"
    assert runner.invoke(app, ["maps", "convert", "random-48", str(there)]).exit_code == 0
    assert runner.invoke(app, ["maps", "convert", str(there), str(back)]).exit_code == 0
    assert np.array_equal(load_map(back).passable, load_map("random-48").passable)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["show", "caves-129"], "caves-128"),
        (["show", "missing.map"], "missing.map: cannot be read"),
        (["convert", "missing.npy", "out.map"], "missing.npy: cannot be read"),
        (["convert", "open-16", "out.txt"], "out.txt"),
        (["convert", "open-16", "no-such-folder/out.map"], "cannot be written"),
        (["generate", "swamp", "--out", "out.map"], "swamp"),
        (["generate", "maze", "--width", "31", "--out", "out.map"], "takes the parameters size, seed"),
        (["generate", "maze", "--size", "30", "--out", "out.map"], "odd"),
        (["generate", "terrain", "--width", "99999", "--height", "99999", "--out", "out.map"], "too large"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(
    arguments: list[str], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["maps", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert part in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", ["-1", "1.5", "many"])
def test_a_bad_seed_is_wrong_usage(seed: str, tmp_path: Path) -> None:
    file = tmp_path / "out.map"
    result = runner.invoke(app, ["maps", "generate", "maze", "--size", "31", "--seed", seed, "--out", str(file)])
    assert result.exit_code == 2
    assert not file.exists()
