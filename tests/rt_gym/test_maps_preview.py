import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rt_gym.abstraction import abstract
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.maps.preview import preview_image, preview_text, regions_text

free_cells = arrays.arrays(bool, st.tuples(st.integers(1, 40), st.integers(1, 40)))


def test_a_small_map_is_drawn_cell_by_cell() -> None:
    grid = Grid([[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 0, 1]])
    assert preview_text(grid) == " ▀▄█\n▀ ▀ "


def test_marks_lie_over_the_map_and_the_goal_over_the_path() -> None:
    grid = Grid(np.ones((4, 5)))
    path = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)]
    assert preview_text(grid, path=path, start=(0, 0), goal=(4, 3)) == "S·   \n  ··G"


@given(free_cells, st.integers(1, 30), st.integers(1, 20))
def test_text_fits_the_terminal(cells: np.ndarray, columns: int, rows: int) -> None:
    lines = preview_text(Grid(cells), columns, rows).split("\n")
    assert len(lines) <= rows
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) <= columns


@given(st.integers(0, 199), st.booleans())
def test_a_wall_one_cell_thick_stays_unbroken_at_any_scale(at: int, upright: bool) -> None:
    free = np.ones((200, 200), bool)
    free[at] = False
    grid = Grid(free.T if upright else free)
    lines = preview_text(grid, 40, 20).split("\n")
    across = zip(*lines, strict=True) if upright else lines
    assert [set(line) for line in across if set(line) != {" "}] in ([{"█"}], [{"▀"}], [{"▄"}])


def test_open_ground_is_blank() -> None:
    assert preview_text(Grid(np.ones((100, 100))), 20, 10).strip() == ""


def test_a_picture_has_so_many_pixels_per_cell() -> None:
    grid = Grid([[1, 0, 1], [1, 1, 0]])
    assert preview_image(grid, scale=4).size == (12, 8)
    assert preview_image(Grid(np.ones((512, 100)))).size == (100, 512)
    assert preview_image(Grid(np.ones((100, 50)))).size == (400, 800)


@given(free_cells)
def test_free_cells_are_lighter_than_blocked_ones(cells: np.ndarray) -> None:
    light = np.asarray(preview_image(Grid(cells), scale=1).convert("L"))
    assert np.array_equal(light > 140, cells)


def test_path_start_and_goal_are_drawn_where_they_are() -> None:
    grid = Grid(np.ones((20, 20)))
    plain = np.asarray(preview_image(grid, 10)).astype(int)
    drawn = np.asarray(preview_image(grid, 10, [(2, 2), (17, 2)], (2, 2), (17, 2))).astype(int)
    ys, xs = np.nonzero(np.abs(plain - drawn).sum(axis=2))
    assert 18 <= ys.min() <= ys.max() <= 32
    assert 18 <= xs.min() <= xs.max() <= 182
    assert len({tuple(drawn[25, x]) for x in (25, 100, 175)}) == 3


@pytest.mark.parametrize("marks", [{"path": [(0, 0), (3, 0)]}, {"start": (-1, 0)}, {"goal": (0, 2)}])
def test_marks_outside_the_map_are_refused(marks: dict[str, object]) -> None:
    grid = Grid(np.ones((2, 3)))
    for preview in (preview_text, preview_image):
        with pytest.raises(InputError, match="lies outside the 3 x 2 map"):
            preview(grid, **marks)


@pytest.mark.parametrize("scale", [0, -1, 10**9])
def test_an_impossible_scale_is_refused(scale: int) -> None:
    with pytest.raises(InputError, match="the scale of a preview must be at least 1"):
        preview_image(Grid([[1]]), scale)


@pytest.mark.parametrize(("columns", "rows"), [(0, 5), (5, 0), (-1, 5)])
def test_an_impossible_terminal_is_refused(columns: int, rows: int) -> None:
    with pytest.raises(InputError, match="at least one column and one row"):
        preview_text(Grid([[1]]), columns, rows)


def test_a_huge_map_is_drawn_smaller_with_its_walls_and_marks() -> None:
    cells = np.ones((2100, 6000), bool)
    cells[:, 3001] = False
    picture = np.asarray(preview_image(Grid(cells), start=(30, 2090), goal=(5990, 6)))
    assert picture.shape == (700, 2000, 3)
    ground, wall = picture[350, 500].astype(int), picture[:, 1000].astype(int)
    assert (wall.sum(axis=1) < ground.sum()).all()
    assert tuple(picture[696, 10]) != tuple(ground) != tuple(picture[2, 1996])


class TestRegions:
    def test_every_region_has_one_tint_and_its_neighbours_have_others(self) -> None:
        grid = Grid(np.ones((12, 12)))
        regions = abstract(grid, "clique", 2)
        pixels, region = np.asarray(preview_image(grid, 1, abstraction=regions)).astype(int), grid.inner(regions.region)
        dots = np.isin(np.arange(region.size).reshape(region.shape), _flat(grid, regions.representatives))
        tints = [np.unique(pixels[(region == r) & ~dots], axis=0) for r in range(regions.regions)]
        assert all(len(tint) == 1 for tint in tints)
        for r in range(regions.regions):
            for near in regions.near[regions.begin[r] : regions.begin[r + 1]]:
                assert (tints[r] != tints[near]).any()

    @given(free_cells)
    def test_walls_are_drawn_as_without_regions(self, cells: np.ndarray) -> None:
        grid = Grid(cells)
        bare, tinted = (np.asarray(preview_image(grid, 1, abstraction=a)) for a in (None, abstract(grid, "tiles", 2)))
        assert np.array_equal(bare[~cells], tinted[~cells])

    def test_a_dot_marks_each_representative_and_a_seam_each_border(self) -> None:
        grid = Grid(np.ones((4, 8)))
        regions = abstract(grid, "tiles", 2)
        light = np.asarray(preview_image(grid, 10, abstraction=regions).convert("L")).astype(int)
        for x, y in grid.positions(regions.representatives).tolist():
            assert light[10 * y + 5, 10 * x + 5] < 80
        assert light[2, 40] < light[2, 38] - 10
        assert light[2, 40] < light[2, 42] - 10

    @given(free_cells, st.integers(1, 30), st.integers(1, 20))
    def test_text_fits_the_terminal(self, cells: np.ndarray, columns: int, rows: int) -> None:
        grid = Grid(cells)
        lines = regions_text(grid, abstract(grid, level=2), columns, rows).split("\n")
        assert len(lines) <= rows
        assert {line.count("▀") + line.count("•") for line in lines} == {
            len(preview_text(grid, columns, rows).split("\n")[0])
        }

    def test_dots_are_left_out_of_a_text_that_they_would_fill(self) -> None:
        grid = Grid(np.ones((16, 16)))
        dots = [regions_text(grid, abstract(grid, "tiles", level)).count("•") for level in (1, 2, 3, 4)]
        assert dots == [0, 16, 4, 1]

    def test_no_room_is_refused(self) -> None:
        with pytest.raises(InputError, match="at least one column and one row"):
            regions_text(Grid([[1]]), abstract(Grid([[1]])), 0, 5)


def _flat(grid: Grid, cells: np.ndarray) -> np.ndarray:
    x, y = grid.positions(cells).T
    return y * grid.width + x
