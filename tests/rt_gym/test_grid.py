"""Grids against a naive reading of their rules, and against networkx."""

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from reference import plain_grid
from reference.plain_oracle import grids, random_grid, scatter
from reference.small_maps import drawn
from rt_gym import DIRECTIONS, Grid, InputError, sizes
from rt_gym.cost import DIAGONAL, SQRT2, STRAIGHT
from rt_gym.terrain import METRIC, OPPOSITE, STEPS, fill_h0, gap, h0, set_free

COMPASS = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0)}


def naive_exits(grid: Grid, free: Any, x: int, y: int) -> Iterator[int]:
    """Yield the legal directions out of a cell, from the compass names and the words of the corner rule."""

    def is_free(column: int, row: int) -> bool:
        return 0 <= column < grid.width and 0 <= row < grid.height and bool(free[row][column])

    if not is_free(x, y):
        return
    for d, name in enumerate(DIRECTIONS):
        letters = [COMPASS[letter] for letter in name]
        dx, dy = sum(step[0] for step in letters), sum(step[1] for step in letters)
        if not is_free(x + dx, y + dy):
            continue
        if len(name) == 1:
            yield d
        elif grid.connectivity == 8:
            beside = [is_free(x + step[0], y + step[1]) for step in letters]
            if {"strict": all(beside), "one": any(beside), "free": True}[grid.corner]:
                yield d


def naive_masks(grid: Grid, free: Any) -> list[list[int]]:
    """Return the mask of every cell, row by row."""
    return [[sum(1 << d for d in naive_exits(grid, free, x, y)) for x in range(grid.width)] for y in range(grid.height)]


class TestMasks:
    def test_directions_steps_and_offsets_belong_together(self) -> None:
        grid = Grid(np.ones((4, 7)))
        for d, name in enumerate(DIRECTIONS):
            letters = [COMPASS[letter] for letter in name]
            assert STEPS[d] == (sum(step[0] for step in letters), sum(step[1] for step in letters))
            assert STEPS[OPPOSITE[d]] == (-STEPS[d][0], -STEPS[d][1])
            x, y = 3 + STEPS[d][0], 2 + STEPS[d][1]
            assert grid.cell((x, y)) - grid.cell((3, 2)) == grid.terrain.offset[d]

    @given(grids(max_side=9))
    def test_masks_follow_the_rules(self, grid: Grid) -> None:
        assert grid.inner(grid.terrain.mask).tolist() == naive_masks(grid, grid.passable)

    def test_the_border_is_blocked_and_without_exits(self) -> None:
        grid = Grid(np.ones((3, 5)))
        for flat in (grid.terrain.mask, grid.terrain.free):
            framed = flat.reshape(5, 7).copy()
            framed[1:-1, 1:-1] = 0
            assert not framed.any()

    @given(grids(max_side=9))
    def test_every_move_can_be_undone(self, grid: Grid) -> None:
        terrain = grid.terrain
        for cell in np.flatnonzero(terrain.mask):
            for d in range(8):
                if terrain.mask[cell] >> d & 1:
                    assert terrain.mask[cell + terrain.offset[d]] >> OPPOSITE[d] & 1

    @pytest.mark.plain
    @given(grid=grids(max_side=8), seed=st.integers(0, 2**32 - 1))
    @examples(40)
    def test_edits_leave_the_masks_of_a_fresh_map(self, grid: Grid, seed: int) -> None:
        rng = np.random.default_rng(seed)
        terrain = grid.terrain._replace(mask=grid.terrain.mask.copy(), free=grid.terrain.free.copy())
        for _ in range(15):
            position = int(rng.integers(grid.width)), int(rng.integers(grid.height))
            set_free(terrain, grid.cell(position), np.uint8(rng.integers(2)))
            fresh = grid.replace(passable=grid.inner(terrain.free))
            assert terrain.mask.tolist() == fresh.terrain.mask.tolist()

    def test_neighbours_by_hand(self) -> None:
        grid = drawn("..#", "...", "#..")
        assert grid.neighbours((1, 1)) == [
            ("E", (2, 1), 1.0),
            ("S", (1, 2), 1.0),
            ("W", (0, 1), 1.0),
            ("N", (1, 0), 1.0),
            ("SE", (2, 2), SQRT2),
            ("NW", (0, 0), SQRT2),
        ]
        assert grid.neighbours((0, 0)) == [("E", (1, 0), 1.0), ("S", (0, 1), 1.0), ("SE", (1, 1), SQRT2)]
        assert grid.neighbours((2, 0)) == []

    @pytest.mark.parametrize(("cost", "price"), [("octile", DIAGONAL), ("unit", STRAIGHT)])
    def test_prices_of_steps(self, cost: str, price: int) -> None:
        assert Grid([[1]], cost=cost).terrain.cost.tolist() == [STRAIGHT] * 4 + [price] * 4


class TestHeuristic:
    @pytest.mark.plain
    @given(grids(max_side=8), st.data())
    def test_h0_is_manhattan_octile_or_chebyshev(self, grid: Grid, data: st.DataObject) -> None:
        cells = st.sampled_from(plain_grid.cells(grid))
        a, b = data.draw(cells), data.draw(cells)
        assert h0(grid.terrain, grid.cell(a), grid.cell(b)) == plain_grid.h0(grid, a, b)

    @given(grids(max_side=8), st.data())
    def test_fill_h0_writes_the_heuristic_of_every_cell(self, grid: Grid, data: st.DataObject) -> None:
        goal = data.draw(st.sampled_from(plain_grid.cells(grid)))
        h = np.empty(grid.terrain.mask.size, np.int64)
        fill_h0(grid.terrain, grid.cell(goal), h)
        for cell, value in plain_grid.initial_heuristic(grid, goal).items():
            assert h[grid.cell(cell)] == value

    def test_gap_takes_any_prices(self) -> None:
        grid = Grid(np.ones((9, 9)))
        prices = np.array([(10, 17)], METRIC)
        assert gap(grid.terrain, prices, grid.cell((1, 2)), grid.cell((8, 4))) == 5 * 10 + 2 * 17

    @given(grids(max_side=8), st.data())
    def test_h0_is_consistent(self, grid: Grid, data: st.DataObject) -> None:
        goal = data.draw(st.sampled_from(plain_grid.cells(grid)))
        view = plain_grid.Map.of(grid)
        h = {cell: int(h0(grid.terrain, grid.cell(cell), grid.cell(goal))) for cell in view.free}
        assert all(h[cell] <= price + h[near] for cell in view.free for near, price in view.neighbours(cell))


class TestComponents:
    @given(grids(max_side=14))
    def test_components_are_those_of_networkx(self, grid: Grid) -> None:
        view = plain_grid.Map.of(grid)
        graph = networkx.Graph()
        graph.add_nodes_from(view.free)
        graph.add_edges_from((cell, near) for cell in view.free for near, _ in view.neighbours(cell))
        labels: dict[int, set[tuple[int, int]]] = {}
        for cell in view.free:
            labels.setdefault(int(grid.labels[grid.cell(cell)]), set()).add(cell)
        assert set(map(frozenset, labels.values())) == set(map(frozenset, networkx.connected_components(graph)))
        assert sorted(labels) == list(range(1, len(labels) + 1))

    def test_blocked_cells_and_the_border_have_no_component(self) -> None:
        grid = drawn(".#.", "##.")
        assert (grid.labels > 0).tolist() == (grid.terrain.free > 0).tolist()

    @pytest.mark.parametrize(("corner", "count"), [("strict", 2), ("one", 2), ("free", 1)])
    def test_the_corner_rule_connects_or_parts(self, corner: str, count: int) -> None:
        assert drawn(".#", "#.", corner=corner).labels.max() == count

    def test_a_long_snake_is_one_component(self) -> None:
        rows = ["." * 60 if y % 2 == 0 else ("#" * 59 + "." if y % 4 == 1 else "." + "#" * 59) for y in range(61)]
        assert drawn(*rows, connectivity=4).labels.max() == 1


class TestValue:
    @given(grids(max_side=6), st.data())
    def test_cells_and_positions_are_one_to_one(self, grid: Grid, data: st.DataObject) -> None:
        positions = plain_grid.cells(grid)
        cells = [grid.cell(position) for position in positions]
        assert [grid.position(cell) for cell in cells] == positions
        assert grid.positions(np.array(cells)).tolist() == [list(position) for position in positions]
        assert grid.terrain.free[cells].tolist() == grid.passable.ravel().tolist()

    def test_a_grid_contains_the_cells_inside_its_edges(self) -> None:
        grid = Grid(np.ones((2, 3)))
        inside = [(x, y) for x in range(-1, 4) for y in range(-1, 3) if grid.contains((x, y))]
        assert inside == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]

    def test_a_grid_counts_its_free_cells_and_actions(self) -> None:
        assert (drawn("..#", "#..").free_cells, drawn(".").actions, drawn(".", connectivity=4).actions) == (4, 8, 4)

    def test_equal_content_is_equal_whatever_the_name(self) -> None:
        one, two = drawn("..#", name="one"), drawn("..#", name="two")
        assert one == two
        assert hash(one) == hash(two)
        assert one.digest == two.digest

    def test_other_cells_rules_or_shapes_are_not_equal(self) -> None:
        grid = drawn("....")
        others = [
            drawn("...#"),
            drawn("..", ".."),
            drawn("....", connectivity=4),
            drawn("....", cost="unit"),
            drawn("....", corner="one"),
        ]
        assert all(grid != other for other in others)
        assert len({other.digest for other in [grid, *others]}) == 6
        assert grid != "...."

    def test_replace_changes_what_it_is_told(self) -> None:
        grid = drawn("..#", name="a").replace(connectivity=4, corner="free")
        assert (grid.connectivity, grid.corner, grid.cost, grid.name) == (4, "free", "octile", "a")
        assert grid.passable.tolist() == [[True, True, False]]

    def test_a_grid_survives_pickling_and_copying(self) -> None:
        grid = random_grid(np.random.default_rng(4), 12)
        for twin in (pickle.loads(pickle.dumps(grid)), copy.copy(grid), copy.deepcopy(grid)):
            assert twin == grid
            assert twin.name == grid.name

    def test_a_grid_does_not_follow_the_array_it_was_made_from(self) -> None:
        cells = scatter(np.random.default_rng(0), 5, 5, 0.3)
        grid = Grid(cells)
        before = grid.passable.tolist()
        cells[:] = ~cells
        assert grid.passable.tolist() == before

    def test_a_grid_cannot_be_written_to(self) -> None:
        with pytest.raises(ValueError, match="read-only"):
            drawn("..").passable[0, 0] = False

    def test_the_repr_says_what_it_is(self) -> None:
        assert repr(drawn("..", "..", name="yard")) == "<Grid 'yard' 2 x 2, 8 neighbours, octile, strict>"


class TestRefusals:
    @pytest.mark.parametrize("cells", [[], [[]], [1, 0], 1, [[[1]]], np.ones((0, 5)), [[1, 1], [1]], None, "..#"])
    def test_what_is_no_map_is_refused(self, cells: Any) -> None:
        with pytest.raises(InputError, match="a grid needs"):
            Grid(cells)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("connectivity", value) for value in (6, 0, "8", None)),
            *(("cost", value) for value in ("euclid", None, 1)),
            *(("corner", value) for value in ("none", None, 2)),
        ],
    )
    def test_an_unknown_rule_is_refused(self, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=f"{name} must be .* not {value!r}"):
            Grid([[1]], **{name: value})

    @pytest.mark.parametrize("name", ["connectivity", "cost", "corner", "name"])
    @pytest.mark.parametrize("value", [np.ones(3), np.ones((2, 2)), [8], {"a": 1}, 8j, b"unit"], ids=str)
    def test_a_rule_of_a_wrong_type_is_refused(self, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=f"^{name} must be "):
            Grid([[1]], **{name: value})

    @pytest.mark.parametrize(
        ("cells", "where", "value"),
        [([[1, -5], [1, 1]], (1, 0), "-5"), ([[1, 0], [np.nan, 1]], (0, 1), "nan"), ([[0.5]], (0, 0), "0.5")],
    )
    def test_a_cell_that_is_neither_free_nor_blocked_is_refused(self, cells: Any, where: Any, value: str) -> None:
        with pytest.raises(InputError) as refusal:
            Grid(cells)
        assert str(refusal.value) == f"the cell at {where} is {value}, not 0 (blocked) or 1 (free)"

    def test_zeros_and_ones_of_every_type_are_cells(self) -> None:
        grids = [Grid(np.array([[1, 0]], kind)) for kind in (bool, np.int8, np.uint64, np.float16, float)]
        assert all(grid == grids[0] for grid in grids)

    def test_the_largest_square_has_16384_cells_along_each_side(self) -> None:
        assert Grid(np.broadcast_to(True, (2048, 2048))).free_cells == 2048 * 2048
        assert sizes.size_problem(16_384, 16_384) == ""
        with pytest.raises(InputError, match="a grid of 16384 x 16385: the map is too large, it may have 268435456"):
            Grid(np.broadcast_to(True, (16_385, 16_384)))

    def test_arrays_that_the_memory_cannot_hold_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        grid = Grid(np.broadcast_to(True, (6000, 6000)))
        monkeypatch.setattr(sizes, "available_memory", lambda: 10**8)
        with pytest.raises(InputError, match=r"of a map of 36024004 cells take about 0.2 GB of memory, but 0.1 GB are"):
            _ = grid.terrain
