"""``rt-gym maps``."""

import inspect
import json
import sys
import zipfile
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
    options = set(inspect.signature(maps.generate).parameters) - {"family", "out", "force"}
    assert options == {name for make in GENERATORS.values() for name in inspect.signature(make).parameters}
    text = runner.invoke(app, ["maps", "generate", "--help"]).stdout
    assert all(family in text for family in GENERATORS)


@pytest.mark.parametrize("family", GENERATORS)
def test_a_family_is_enough_to_generate_a_map(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["maps", "generate", family])
    assert result.exit_code == 0, result.stderr
    (made,) = tmp_path.iterdir()
    like = load_map(maps._LIKE[family])
    assert result.stdout.startswith(f"{made.name}: {family}-{like.width}x{like.height}-s0, ")
    assert load_map(made).passable.shape == like.passable.shape


@pytest.mark.parametrize("command", [["convert", "open-16"], ["generate", "random", "--out"]])
def test_a_file_that_is_there_is_kept_unless_it_may_be_written_over(command: list[str], tmp_path: Path) -> None:
    (path := tmp_path / "mine.map").write_text("mine")
    refused = runner.invoke(app, ["maps", *command, str(path)])
    assert (refused.exit_code, path.read_text()) == (2, "mine")
    assert refused.stderr == f"rt-gym: {path}: is there already; --force writes over it\n"
    assert runner.invoke(app, ["maps", *command, str(path), "--force"]).exit_code == 0
    assert load_map(path).free_cells


def test_pictures_and_maps_of_tiled_are_read_as_the_options_say(tmp_path: Path) -> None:
    Image.fromarray(np.array([[10, 90, 200]], np.uint8)).save(tmp_path / "grey.png")
    layer = '<layer name="{}" width="3" height="1"><data encoding="csv">{}</data></layer>'
    layers = layer.format("ground", "1,2,7") + layer.format("roof", "0,0,5")
    (tmp_path / "tiles.tmx").write_text(f"<map>{layers}</map>")
    for source, options, free in (
        ("grey.png", [], [0, 0, 1]),
        ("grey.png", ["--wall-below", "50"], [0, 1, 1]),
        ("grey.png", ["--invert"], [1, 1, 0]),
        ("tiles.tmx", ["--layer", "roof"], [1, 1, 0]),
        ("tiles.tmx", ["--layer", "ground", "--walls", "1,6..8"], [0, 1, 0]),
    ):
        arguments = ["maps", "convert", str(tmp_path / source), str(tmp_path / "out.csv"), "--force", *options]
        assert runner.invoke(app, arguments).exit_code == 0
        assert load_map(tmp_path / "out.csv").passable[0].astype(int).tolist() == free


@pytest.mark.parametrize("command", ["show", "convert"])
def test_islands_and_swamp_are_told_on_standard_error(command: str, tmp_path: Path) -> None:
    (path := tmp_path / "bog.map").write_text("type octile\nheight 1\nwidth 4\nmap\n.@SS\n")
    result = runner.invoke(app, ["maps", command, str(path), *[str(tmp_path / "x.csv")] * (command == "convert")])
    assert result.stderr == (
        f"note: {path} has 2 cells of swamp (S), which are read as plain ground\n"
        "note: bog falls into 2 islands: free cells 2 and 1\n"
    )


def test_a_set_is_fetched_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pooch", reason="the extra fetch is not installed")
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("toy-map.zip", "w") as archive:
        archive.writestr("open.map", "type octile\nheight 1\nwidth 2\nmap\n..\n")
    first = runner.invoke(app, ["maps", "fetch", "toy", "--from", "."])
    assert (first.exit_code, first.stdout) == (0, "toy: 1 maps, 0 scenario files\n")
    assert first.stderr == "note: their digests were not known and are now kept in toy/digests.txt\n"
    again = runner.invoke(app, ["maps", "fetch", "toy", "--from", ".", "--digests", "toy/digests.txt"])
    assert (again.exit_code, again.stderr) == (0, "")


def test_without_pooch_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    (tmp_path / "toy-map.zip").write_bytes(b"")
    result = runner.invoke(app, ["maps", "fetch", "toy", "--from", str(tmp_path), "--out", str(tmp_path / "out")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert 'pip install "rt_gym[fetch]"' in result.stderr


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
        (["fetch", "toy", "--from", "nowhere"], "nowhere/toy-map.zip: there is no such archive"),
        (["convert", "open-16", "out.map", "--invert"], "invert says how .png files are read, and open-16 is none"),
        (["convert", "x.tmx", "out.map", "--walls", "1;2"], "--walls must be whole numbers and ranges such as 1,4..9"),
        (["convert", "x.tmx", "out.map", "--walls", "1..999999"], "--walls can name 100000 tiles at most"),
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
