import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from profiles import examples
from rt_gym import sizes
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.maps import generate as maps
from rt_gym.maps.passages import carve_maze

CALLS: dict[str, dict[str, Any]] = {
    "random": {"width": 20, "height": 12, "density": 0.3, "seed": 3},
    "maze": {"size": 21, "seed": 3},
    "maze-holes": {"size": 21, "holes": 30, "seed": 3},
    "rooms": {"width": 31, "height": 22, "room": 4, "doors": 0.5, "seed": 3},
    "caves": {"width": 40, "height": 30, "density": 0.48, "steps": 4, "seed": 3},
    "terrain": {"width": 50, "height": 40, "seed": 3},
}

seeds = st.integers(0, 2**63 - 1)
shares = st.floats(0, 1)


def parts(grid: Grid) -> int:
    return int(grid.labels.max())


def links(grid: Grid) -> int:
    """How many pairs of free cells lie side by side."""
    free = grid.passable
    return int((free[1:] & free[:-1]).sum() + (free[:, 1:] & free[:, :-1]).sum())


def test_every_family_has_a_call_in_these_tests() -> None:
    assert CALLS.keys() == maps.GENERATORS.keys()


@pytest.mark.parametrize("family", CALLS)
def test_the_same_seed_gives_the_same_map_and_another_seed_another(family: str) -> None:
    call = CALLS[family]
    assert maps.generate(family, **call) == maps.generate(family, **call)
    assert maps.generate(family, **call) != maps.generate(family, **(call | {"seed": 4}))


@pytest.mark.parametrize("family", CALLS)
def test_a_map_has_the_size_and_name_of_its_call(family: str) -> None:
    call, grid = CALLS[family], maps.generate(family, **CALLS[family])
    size = call.get("width", call.get("size")), call.get("height", call.get("size"))
    assert (grid.width, grid.height) == size
    assert grid.name == f"{family}-{size[0]}x{size[1]}-s3"


@pytest.mark.parametrize("family", CALLS)
def test_a_map_does_not_depend_on_how_many_rows_are_worked_on_at_a_time(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = maps.generate(family, **CALLS[family])
    monkeypatch.setattr(sizes, "STRIP_CELLS", 130)
    assert maps.generate(family, **CALLS[family]) == at_once


@pytest.mark.parametrize("family", CALLS)
def test_a_map_that_the_memory_cannot_hold_is_refused_before_it_is_made(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "available_memory", lambda: 10**8)
    sides = {side: 9001 for side in ("width", "height", "size") if side in CALLS[family]}
    with pytest.raises(InputError, match=r"9001 x 9001 cells take about .* GB of memory, but 0.1 GB are available"):
        maps.generate(family, **(CALLS[family] | sides))


def test_more_rooms_than_the_memory_can_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "available_memory", lambda: 10**8)
    with pytest.raises(InputError, match=r"so many rooms take about 0.2 GB of memory"):
        maps.rooms(1000, 1000, room=1, doors=0.5, seed=0)


@pytest.mark.parametrize(
    ("family", "change", "message"),
    [
        ("random", {"width": 0}, "width must be a whole number from 1 to "),
        ("random", {"width": 10**5000}, "width must be a whole number from 1 to "),
        ("random", {"height": 2.5}, "height must be a whole number from 1 to .*, not 2.5"),
        ("random", {"width": 10**5, "height": 10**5}, "width 100000 and height 100000 are refused: the map"),
        ("random", {"density": -0.1}, "density must be a number from 0 to 1"),
        ("random", {"density": math.nan}, "density must be a number from 0 to 1"),
        ("random", {"density": "0.5"}, "density must be a number from 0 to 1"),
        ("random", {"density": 10**5000}, "density must be a number from 0 to 1"),
        ("random", {"seed": -1}, "seed must be a whole number from 0 to "),
        ("random", {"seed": None}, "seed must be a whole number from 0 to .*, not None"),
        ("maze", {"size": 20}, "size must be odd, not 20"),
        ("maze", {"size": 1}, "size must be a whole number from 3 to 16384"),
        ("maze", {"size": 16385}, "size must be a whole number from 3 to 16384"),
        ("maze-holes", {"holes": -1}, "holes must be a whole number from 0 to "),
        ("maze-holes", {"holes": 163}, "holes must be a whole number from 0 to 162"),
        ("rooms", {"room": 0}, "room must be a whole number from 1 to 31"),
        ("rooms", {"doors": 1.1}, "doors must be a number from 0 to 1"),
        ("rooms", {"height": 2}, "height must be a whole number from 3 to "),
        ("caves", {"steps": 101}, "steps must be a whole number from 0 to 100"),
        ("terrain", {"width": 31}, "width must be a whole number from 32 to "),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_refused_by_name_and_range(family: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        maps.generate(family, **(CALLS[family] | change))


@pytest.mark.parametrize("parameters", [{}, {"size": 5}, {"size": 5, "seed": 1, "colour": 2}])
def test_missing_and_unknown_parameters_are_refused_with_the_known_ones(parameters: dict[str, int]) -> None:
    with pytest.raises(InputError, match="a maze map takes the parameters size, seed, but was given"):
        maps.generate("maze", **parameters)


def test_an_unknown_family_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="unknown map family 'mace', known are random, maze, maze-holes, rooms"):
        maps.generate("mace", seed=1)


@pytest.mark.parametrize("family", [None, ["maze"], {"maze"}, slice(3)])
def test_a_family_that_is_no_word_is_refused(family: Any) -> None:
    with pytest.raises(InputError, match="unknown map family "):
        maps.generate(family, size=9, seed=0)


def test_the_density_is_the_share_of_blocked_cells() -> None:
    assert maps.random_obstacles(300, 300, 0.35, 1).free_cells == pytest.approx(0.65 * 300 * 300, rel=0.02)
    assert maps.random_obstacles(30, 30, 0.0, 1).passable.all()
    assert not maps.random_obstacles(30, 30, 1.0, 1).passable.any()


@given(st.integers(1, 20).map(lambda half: 2 * half + 1), seeds)
def test_a_maze_joins_all_its_rooms_without_cycles(size: int, seed: int) -> None:
    grid = maps.maze(size, seed)
    assert grid.passable[1::2, 1::2].all()
    assert not grid.passable[::2, ::2].any()
    assert not grid.passable[[0, -1]].any()
    assert not grid.passable[:, [0, -1]].any()
    assert parts(grid) == 1
    assert links(grid) == grid.free_cells - 1


def test_a_large_maze_is_carved() -> None:
    grid = maps.maze(4095, 0)
    assert grid.free_cells == 2 * 2047**2 - 1


@given(st.integers(0, 162), seeds)
def test_holes_free_so_many_cells_inside_the_maze_of_the_same_seed(holes: int, seed: int) -> None:
    closed, grid = maps.maze(21, seed), maps.maze_with_holes(21, holes, seed)
    assert grid.free_cells == closed.free_cells + holes
    assert grid.passable[closed.passable].all()
    assert not grid.passable[[0, -1]].any()
    assert not grid.passable[:, [0, -1]].any()


@given(st.integers(0, 162), seeds, st.integers(19, 400))
@examples(60)
def test_holes_are_where_the_smallest_draws_of_all_walls_are(holes: int, seed: int, strip: int) -> None:
    rng = np.random.default_rng(seed)
    cells = carve_maze(21, rng)
    walls = np.flatnonzero(~cells[1:-1, 1:-1])
    chosen = walls[np.argsort(rng.random(walls.size), kind="stable")[:holes]]
    cells[1:-1, 1:-1].flat[chosen] = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sizes, "STRIP_CELLS", strip)
        assert np.array_equal(maps.maze_with_holes(21, holes, seed).passable, cells)


def test_a_few_holes_take_no_list_of_all_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    maps.maze_with_holes(21, 3, 0)  # compiles
    monkeypatch.setattr(sizes, "STRIP_CELLS", 10_000)
    tracemalloc.start()
    try:
        maps.maze_with_holes(501, 3, 0)
        assert tracemalloc.get_traced_memory()[1] < 6 * 501**2
    finally:
        tracemalloc.stop()


def test_holes_are_also_made_where_posts_stood() -> None:
    assert maps.maze_with_holes(21, 60, 0).passable[2:-1:2, 2:-1:2].any()


@given(st.integers(3, 40), st.integers(3, 40), st.integers(1, 12), shares, seeds)
def test_rooms_are_connected_at_any_size(width: int, height: int, room: int, doors: float, seed: int) -> None:
    assert parts(maps.rooms(width, height, min(room, max(width, height)), doors, seed)) == 1


@pytest.mark.parametrize(("doors", "count"), [(0.0, 15), (1.0, 24)])
def test_sixteen_rooms_have_a_door_per_wall_or_just_enough(doors: float, count: int) -> None:
    grid = maps.rooms(25, 25, 5, doors, 1)
    assert grid.free_cells == 16 * 25 + count


@given(st.integers(3, 40), st.integers(3, 40), shares, st.integers(0, 6), seeds)
def test_caves_are_connected(width: int, height: int, density: float, steps: int, seed: int) -> None:
    assert parts(maps.caves(width, height, density, steps, seed)) <= 1


def test_caves_of_a_middle_density_have_walls_and_room() -> None:
    assert 0.3 < maps.caves(128, 128, 0.48, 5, 1).passable.mean() < 0.8


@given(st.integers(32, 90), st.integers(32, 90), seeds)
def test_terrain_is_connected_and_neither_empty_nor_full(width: int, height: int, seed: int) -> None:
    grid = maps.terrain(width, height, seed)
    assert parts(grid) == 1
    assert 0.1 < grid.passable.mean() < 0.9


def test_long_and_narrow_terrain_is_connected() -> None:
    assert parts(maps.terrain(32, 700, 1)) == 1


@given(arrays.arrays(bool, st.tuples(st.integers(1, 8), st.integers(1, 8))), st.integers(1, 5), st.integers(1, 5))
def test_scaling_up_repeats_cells_and_scaling_back_restores_them(cells: np.ndarray, across: int, down: int) -> None:
    grid = Grid(cells, connectivity=4, name="a")
    scaled = maps.scale(grid, grid.width * across, grid.height * down)
    assert np.array_equal(scaled.passable, cells.repeat(down, axis=0).repeat(across, axis=1))
    assert scaled.connectivity == 4
    assert scaled.name == f"a-{scaled.width}x{scaled.height}"
    assert maps.scale(scaled, grid.width, grid.height) == grid


@given(st.integers(1, 30), st.integers(1, 30))
def test_scaling_takes_the_cell_that_holds_the_new_centre(old: int, new: int) -> None:
    for cell in range(old):
        grid = Grid(np.arange(old)[None] == cell)
        centres = (np.arange(new) + 0.5) * old / new
        assert np.array_equal(maps.scale(grid, new, 1).passable[0], np.floor(centres + 1e-9) == cell)


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (10**6, 10**6), ("a", 5)])
def test_an_impossible_scale_is_refused(size: tuple[Any, Any]) -> None:
    with pytest.raises(InputError):
        maps.scale(Grid([[1]]), *size)
