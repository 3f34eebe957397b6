import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rt_gym import sizes
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.maps.movingai import (
    Scenario,
    format_map,
    load_scenarios,
    parse_map,
    read_map,
    write_map,
    write_scenarios,
)

SMALL = b"type octile\nheight 2\nwidth 3\nmap\n.G@\nSTW\n"
CELLS = [[True, True, False], [True, False, False]]
VERSION = b"version 1\n"
PROBLEM = b"0\tarena.map\t49\t49\t1\t11\t1\t12\t1\n"

free_cells = arrays.arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12)))
sides = st.integers(1, 2000)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    width, height = draw(sides), draw(sides)
    place = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)
    names = st.lists(words, min_size=1, max_size=3).map(" ".join)
    return Scenario(
        bucket=draw(st.integers(0, 10**9 - 1)),
        map_name=draw(names),
        width=width,
        height=height,
        start=draw(place),
        goal=draw(place),
        optimal=draw(st.floats(0, allow_infinity=False)),
    )


def refusal_of_map(data: bytes) -> str:
    with pytest.raises(InputError) as refusal:
        parse_map(data, "a.map")
    return str(refusal.value)


def refusal_of_scenarios(folder: Path, data: bytes) -> str:
    path = folder / "a.scen"
    path.write_bytes(data)
    with pytest.raises(InputError) as refusal:
        load_scenarios(path)
    return str(refusal.value).removeprefix(str(folder))


def test_ground_and_swamp_are_free_and_all_other_terrain_is_blocked() -> None:
    header = b"type octile\nheight 1\nwidth 7\nmap\n"
    assert parse_map(header + b".GS@OTW", "").tolist() == [[True] * 3 + [False] * 4]


@pytest.mark.parametrize(
    "data",
    [
        SMALL,
        SMALL.rstrip(),
        SMALL + b"\n \t\n\n",
        SMALL.replace(b"\n", b"\r\n"),
        SMALL.replace(b"\n", b"\r\n") + b"\r\n\r\n",
        SMALL.replace(b"height 2\nwidth 3", b"width 3\nheight 2"),
        SMALL.replace(b"height 2", b"  height \t 2  "),
    ],
)
def test_harmless_variants_of_a_map_read_alike(data: bytes) -> None:
    assert parse_map(data, "").tolist() == CELLS


def test_a_map_is_named_after_its_file_and_takes_the_options_of_a_grid(tmp_path: Path) -> None:
    (tmp_path / "my.first.map").write_bytes(SMALL)
    grid = read_map(tmp_path / "my.first.map", connectivity=4, cost="unit", corner="free")
    assert grid.name == "my.first"
    assert grid == Grid(CELLS, connectivity=4, cost="unit", corner="free")


@given(free_cells)
def test_formatted_maps_parse_to_the_same_cells(cells: np.ndarray) -> None:
    assert np.array_equal(parse_map(b"".join(format_map(Grid(cells))), ""), cells)


def test_a_written_map_is_read_back(tmp_path: Path) -> None:
    write_map(Grid(CELLS), tmp_path / "a.map")
    assert read_map(tmp_path / "a.map") == Grid(CELLS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.map, line 1: a map starts with 'type octile', not ''"),
        (b"\x89PNG\r\n\0\xff\xfe", "line 1: a map starts with 'type octile', not "),
        (b"\xff" * 10**6, "line 1: a map starts with 'type octile', not "),
        (SMALL.replace(b"octile", b"tile"), "line 1: a map starts with 'type octile', not 'type tile'"),
        (SMALL.replace(b"height 2", b"depth 2"), "line 2: expected 'height N' or 'width N' with a whole number N"),
        (SMALL.replace(b"height 2", b"height -2"), "line 2: expected"),
        (SMALL.replace(b"height 2", b"height 2_0"), "line 2: expected"),
        (SMALL.replace(b"height 2", b"height 2" + b" " * 90 + b"3"), "line 2: expected"),
        (SMALL.replace(b"height 2", b"height 1" + b"0" * 400), "line 2: expected"),
        (SMALL.replace(b"height 2", "height ٢".encode()), "line 2: expected"),
        (SMALL.replace(b"width 3", b"height 3"), "line 3: expected 'width N' with a whole number N, not 'height 3'"),
        (SMALL.replace(b"width 3", b"width nan"), "line 3: expected 'width N'"),
        (SMALL.replace(b"width 3", b"width 0"), "line 3: the width and height of a map must be at least 1"),
        (b"type octile\nheight 999999999\nwidth 999999999\nmap\n", "line 3: the map is too large, it may have "),
        (SMALL.replace(b"map\n", b"maps\n"), "line 4: expected 'map', not 'maps'"),
        (b"type octile\nheight 2\nwidth 3", "line 4: expected 'map', not ''"),
        (SMALL.replace(b"STW", b"STWW"), "line 6: the row has 4 letters, but the header says width 3"),
        (SMALL.replace(b"STW", b"ST"), "line 6: the row has 2 letters, but the header says width 3"),
        (SMALL.replace(b"\nSTW\n", b""), "line 5: the file ends after 1 rows, but the header says height 2"),
        (SMALL + b"...\n", "line 7: there is more text after the 2 rows"),
        (SMALL.replace(b"G", b"g"), "line 5: unknown terrain 'g' in column 2, known are . G S (free) and "),
        (SMALL.replace(b"W", b"\0"), "line 6: unknown terrain byte 0 in column 3"),
        (SMALL.replace(b"W", b"\xff"), "line 6: unknown terrain byte 255 in column 3"),
    ],
)  # fmt: skip
def test_a_malformed_map_is_refused_with_its_line_and_the_reason(data: bytes, message: str) -> None:
    assert message in refusal_of_map(data)


def test_the_largest_size_is_read_and_one_row_more_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MAX_CELLS", 64 * 32)
    header = b"type octile\nheight 32\nwidth 64\nmap\n"
    assert parse_map(header + (b"." * 64 + b"\n") * 32, "").all()
    assert "too large, it may have 2048 cells" in refusal_of_map(header.replace(b"height 32", b"height 33"))


def test_the_largest_square_has_16384_cells_along_each_side() -> None:
    header = b"type octile\nheight 16384\nwidth 16384\nmap\n"
    assert "line 5: the row has 0 letters" in refusal_of_map(header)
    assert "too large, it may have 268435456 cells" in refusal_of_map(header.replace(b"height 16384", b"height 16385"))


def test_rows_read_alike_however_each_of_their_lines_ends() -> None:
    cells = np.random.default_rng(0).random((7, 5)) < 0.5
    header, text = b"".join(format_map(Grid(cells))).split(b"map\n")
    rows = text.splitlines()
    mixed = b"".join(row + (b"\n", b"\r\n")[k % 2] for k, row in enumerate(rows))
    for variant in (
        b"\n".join(rows),
        b"\r\n".join(rows),
        mixed,
        mixed + b" \n",
        text + b"\r\n \n",
        text.rstrip() + b"\r",
    ):
        assert np.array_equal(parse_map(header + b"map\n" + variant, ""), cells)


@pytest.mark.parametrize("version", [b"version 1\n", b"version 1.0\r\n", b" version\t1 \n"])
@pytest.mark.parametrize("line", [PROBLEM, PROBLEM.replace(b"\t", b" "), PROBLEM.replace(b"\t", b" \t  ")])
@pytest.mark.parametrize("end", [b"", b"\r\n", b"\n\n \n"])
def test_harmless_variants_of_scenarios_read_alike(tmp_path: Path, version: bytes, line: bytes, end: bytes) -> None:
    (tmp_path / "a.scen").write_bytes(version + line.rstrip() + end)
    assert load_scenarios(tmp_path / "a.scen") == [Scenario(0, "arena.map", 49, 49, (1, 11), (1, 12), 1.0)]


def test_a_tab_separated_map_name_may_hold_blanks(tmp_path: Path) -> None:
    (tmp_path / "a.scen").write_bytes(VERSION + PROBLEM.replace(b"arena", b"my own arena"))
    assert load_scenarios(tmp_path / "a.scen")[0].map_name == "my own arena.map"


@given(st.lists(scenarios(), max_size=4))
def test_written_scenarios_are_read_back(tmp_path_factory: pytest.TempPathFactory, problems: list[Scenario]) -> None:
    path = tmp_path_factory.getbasetemp() / "written.scen"
    write_scenarios(problems, path)
    assert load_scenarios(path) == problems


def test_numpy_numbers_are_written_as_plain_ones(tmp_path: Path) -> None:
    one = np.int64(1)
    write_scenarios([Scenario(0, "a", 9, 9, (one, one), (one, one), np.float64(0.1))], tmp_path / "a.scen")
    assert (tmp_path / "a.scen").read_text() == "version 1\n0\ta\t9\t9\t1\t1\t1\t1\t0.1\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "/a.scen, line 1: scenarios start with 'version 1', not ''"),
        (b"version 2\n" + PROBLEM, "line 1: scenarios start with 'version 1', not 'version 2'"),
        (b"\xff\xfe\0", "line 1: the line is not UTF-8 text"),
        (VERSION + b"\n" + PROBLEM, "line 2: a problem has 9 fields, not ''"),
        (VERSION + PROBLEM + PROBLEM[:20], "line 3: a problem has 9 fields, not "),
        (VERSION + PROBLEM.replace(b"\t", b" ").replace(b"arena", b"my arena"), "line 2: a problem has 9 fields, not "),
        (VERSION + PROBLEM.replace(b"11", b"-1"), "line 2: expected a whole number below 1000000000, not '-1'"),
        (VERSION + PROBLEM.replace(b"11", b"1" + b"0" * 400), "line 2: expected a whole number below 1000000000, not "),
        (VERSION + PROBLEM.replace(b"11", b"1.5"), "line 2: expected a whole number below 1000000000, not '1.5'"),
        (VERSION + PROBLEM.replace(b"11", b"49"), "line 2: the start (1, 49) lies outside the 49 x 49 map"),
        (VERSION + PROBLEM.replace(b"12", b"49"), "line 2: the goal (1, 49) lies outside the 49 x 49 map"),
        (VERSION + PROBLEM.replace(b"49", b"999999999"), "line 2: the map is too large"),
        (VERSION + PROBLEM.replace(b"49", b"0"), "line 2: the width and height of a map must be at least 1"),
        (VERSION + PROBLEM.replace(b"\t1\n", b"\tnan\n"), "line 2: expected a number, not 'nan'"),
        (VERSION + PROBLEM.replace(b"\t1\n", b"\tinf\n"), "line 2: expected a number, not 'inf'"),
        (VERSION + PROBLEM.replace(b"\t1\n", b"\t-1\n"), "line 2: expected a number, not '-1'"),
        (VERSION + PROBLEM.replace(b"\t1\n", b"\t1_0\n"), "line 2: expected a number, not '1_0'"),
        (VERSION + PROBLEM.replace(b"\t1\n", b"\t1e400\n"), "line 2: the optimal length must be at least 0 and finite"),
        (VERSION + PROBLEM.replace(b"\t1\n", b"\t1" + b"0" * 400), "line 2: expected a number, not '1000"),
        (VERSION + PROBLEM.replace(b"arena", b"ar\0na"), "line 2: a map name must be printable text"),
        (VERSION + PROBLEM.replace(b"arena", b"ar\xffna"), "line 2: the line is not UTF-8 text"),
    ],
)  # fmt: skip
def test_malformed_scenarios_are_refused_with_their_line_and_the_reason(
    tmp_path: Path, data: bytes, message: str
) -> None:
    assert message in refusal_of_scenarios(tmp_path, data)


@pytest.mark.parametrize(
    "change", [{"map_name": "a\tb"}, {"map_name": ""}, {"map_name": " a"}, {"bucket": -1}, {"optimal": math.nan}]
)
def test_a_scenario_that_no_file_could_hold_is_refused_when_made(change: dict[str, object]) -> None:
    fields = {"bucket": 0, "map_name": "a", "width": 9, "height": 9, "start": (0, 0), "goal": (1, 1), "optimal": 1.0}
    with pytest.raises(InputError):
        Scenario(**(fields | change))


FREE_CELLS = {
    "bg/AR0600SR": 2765,
    "bg/AR0701SR": 16142,
    "bg512/AR0012SR": 78614,
    "dao/arena": 2054,
    "dao/orz900d": 96603,
    "sc1/BlackLotus": 273592,
    "wc3maps512/battleground": 92268,
    "wc3maps512/plunderisle": 171069,
}


def test_game_maps_have_the_free_cells_that_were_counted_for_them(shared_maps: Path) -> None:
    counted = {name: read_map(shared_maps / f"{name}.map").free_cells for name in FREE_CELLS}
    assert counted == FREE_CELLS


def test_all_game_maps_and_scenarios_load_and_fit_together(shared_maps: Path) -> None:
    paths = sorted(shared_maps.rglob("*.map"))
    assert paths
    for path in paths:
        grid, listed = read_map(path), path.with_suffix(".map.scen")
        for problem in load_scenarios(listed) if listed.exists() else []:
            assert (problem.width, problem.height) == (grid.width, grid.height)
            assert grid.passable[problem.start[::-1]]
            assert grid.passable[problem.goal[::-1]]
