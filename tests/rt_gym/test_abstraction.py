"""Regions of maps against a second, plain reading, and against the sizes that the depth-control paper implies."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import plain_abstraction, plain_grid
from reference.plain_oracle import grids
from reference.small_maps import drawn
from rt_gym import Grid, InputError, load_map
from rt_gym.abstraction import KINDS, Abstraction, abstract
from rt_gym.abstraction.regions import centroid_gap

# The square roots of the entry counts in Table 2, levels 1 to 7, for a map of 105 thousand cells.
IMPLIED = [27_200, 7_700, 2_500, 927, 387, 176, 80]

kinds = st.sampled_from(KINDS)
levels = st.integers(0, 4)


def members(grid: Grid, abstraction: Abstraction) -> list[frozenset[tuple[int, int]]]:
    """Return the positions of every region."""
    cells = [np.flatnonzero(abstraction.region == r) for r in range(abstraction.regions)]
    return [frozenset(grid.position(int(cell)) for cell in inside) for inside in cells]


def edges(abstraction: Abstraction) -> list[tuple[int, int]]:
    """Return the pairs of adjacent regions, both ways round, in the order in which they are stored."""
    begin, near = abstraction.begin, abstraction.near
    return [(r, int(near[k])) for r in range(abstraction.regions) for k in range(begin[r], begin[r + 1])]


@pytest.mark.plain
@given(grids(), kinds, levels)
def test_regions_neighbours_and_representatives_are_those_of_the_plain_reading(
    grid: Grid, kind: str, level: int
) -> None:
    abstraction = abstract(grid, kind, level)
    regions, joined = plain_abstraction.regions(grid, kind, level)
    assert members(grid, abstraction) == regions
    assert edges(abstraction) == sorted((a, b) for edge in joined for a in edge for b in edge - {a})
    chosen = [plain_abstraction.representative(region) for region in regions]
    assert [grid.position(int(cell)) for cell in abstraction.representatives] == chosen


@given(grids(), kinds, levels)
def test_every_free_cell_is_in_one_region_and_every_region_is_connected(grid: Grid, kind: str, level: int) -> None:
    abstraction = abstract(grid, kind, level)
    assert np.array_equal(abstraction.region >= 0, grid.terrain.free == 1)
    assert abstraction.sizes.sum() == grid.free_cells
    for region in members(grid, abstraction):
        # With the corner rule of the whole map: a diagonal step may need a cell of another region.
        world, start = plain_grid.Map.of(grid), min(region)
        reached, todo = {start}, [start]
        while todo:
            near = {n for n, _ in world.neighbours(todo.pop())} & region - reached
            reached |= near
            todo += near
        assert reached == region


@given(grids(), kinds, levels)
def test_neighbours_are_the_regions_that_one_move_leads_to(grid: Grid, kind: str, level: int) -> None:
    abstraction = abstract(grid, kind, level)
    world, region = plain_grid.Map.of(grid), grid.inner(abstraction.region)
    moves = {(int(region[y, x]), int(region[b, a])) for x, y in world.free for (a, b), _ in world.neighbours((x, y))}
    assert edges(abstraction) == sorted(pair for pair in moves if pair[0] != pair[1])


@given(grids(), kinds, levels)
def test_sizes_centroids_and_parents_describe_the_regions(grid: Grid, kind: str, level: int) -> None:
    abstraction = abstract(grid, kind, level)
    regions = members(grid, abstraction)
    assert abstraction.sizes.tolist() == [len(region) for region in regions]
    assert np.allclose(abstraction.centroids, [np.mean(sorted(region), axis=0) for region in regions])
    node = np.arange(grid.free_cells)
    for parent in abstraction.parents:
        node = parent[node]
    assert len(abstraction.parents) == level
    assert np.array_equal(node, abstraction.region[abstraction.region >= 0])


@given(grids(), kinds, levels)
def test_no_two_neighbours_have_the_same_colour(grid: Grid, kind: str, level: int) -> None:
    abstraction = abstract(grid, kind, level)
    assert all(abstraction.colours[a] != abstraction.colours[b] for a, b in edges(abstraction))


@pytest.mark.plain
@given(grids(), kinds)
def test_on_level_0_every_cell_is_its_own_region_and_weights_are_the_costs_of_moves(grid: Grid, kind: str) -> None:
    abstraction = abstract(grid, kind, 0)
    cells = np.flatnonzero(grid.terrain.free)
    assert np.array_equal(abstraction.representatives, cells)
    assert np.array_equal(abstraction.region[cells], np.arange(cells.size))
    for (a, b), weight in zip(edges(abstraction), abstraction.weights, strict=True):
        near, goal = grid.position(int(cells[a])), grid.position(int(cells[b]))
        assert weight == plain_grid.step_cost(grid, near, goal)


@given(grids(), kinds, levels)
def test_weights_are_the_heuristic_between_centroids_and_equal_both_ways(grid: Grid, kind: str, level: int) -> None:
    abstraction, metric = abstract(grid, kind, level), grid.terrain.metric
    weights = dict(zip(edges(abstraction), abstraction.weights.tolist(), strict=True))
    for (a, b), weight in weights.items():
        low, high = sorted(np.abs(abstraction.centroids[a] - abstraction.centroids[b]))
        assert weight == pytest.approx((high - low) * metric[0].per_straight + low * metric[0].per_diagonal)
        assert weight == weights[b, a] == centroid_gap(abstraction.centroids, metric, a, b)


@pytest.mark.parametrize("kind", KINDS)
def test_an_isolated_cell_stays_a_region_on_every_level(kind: str) -> None:
    grid = Grid([[1, 0, 1, 1], [0, 0, 1, 1]])
    assert [sorted(abstract(grid, kind, level).sizes) for level in (1, 2, 5)] == [[1, 4]] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_map_without_free_cells_has_no_regions(kind: str) -> None:
    abstraction = abstract(Grid([[0, 0], [0, 0]]), kind, 3)
    assert abstraction.regions == abstraction.near.size == abstraction.colours.size == 0


def test_a_tile_that_a_wall_divides_is_two_regions() -> None:
    rows = ["..#.", "..#.", "..#.", "...."]
    grid = drawn(*rows)
    assert abstract(grid, "tiles", 2).regions == 1
    assert abstract(grid.replace(passable=grid.passable[:3]), "tiles", 2).sizes.tolist() == [6, 3]


def test_cliques_of_an_open_square_are_its_quarters() -> None:
    square = abstract(Grid(np.ones((4, 4))), "clique", 1)
    assert square.sizes.tolist() == [4, 4, 4, 4]
    assert np.array_equal(square.region, abstract(Grid(np.ones((4, 4))), "tiles", 1).region)


@pytest.mark.parametrize("copied", [lambda made: made, lambda made: pickle.loads(pickle.dumps(made))])
def test_an_abstraction_cannot_be_changed(copied: Callable[[Abstraction], Abstraction]) -> None:
    abstraction = copied(abstract(Grid([[1, 1]]), level=1))
    with pytest.raises(ValueError, match="read-only"):
        abstraction.region[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        abstraction.parents[0][0] = 1


@pytest.mark.parametrize("wrong", [{"kind": "sectors"}, {"level": -1}, {"level": 15}, {"level": 1.5}, {"kind": None}])
def test_an_unknown_kind_or_level_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"abstraction must be|level must be"):
        abstract(Grid([[1]]), **wrong)  # type: ignore[arg-type]


def test_levels_of_a_real_map_are_as_large_as_the_paper_implies(shared_maps: Path) -> None:
    grid = load_map(shared_maps / "wc3maps512" / "battleground.map")
    found = [abstract(grid, "clique", level).regions for level in range(1, 8)]
    assert found == pytest.approx(IMPLIED, rel=0.3)
