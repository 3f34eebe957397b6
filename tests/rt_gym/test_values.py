"""The hash table of learned values against a dict and against the dense array that it stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reference.plain_oracle import problems, random_problem
from rt_gym import Grid
from rt_gym.cost import STRAIGHT
from rt_gym.jit import kernel
from rt_gym.search.deepening import LAYER_ADDED, add_layer, begin_layered, make_depth_results
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import make_space
from rt_gym.search.tables import (
    EMPTY,
    FRESH,
    TABLE,
    GoalValues,
    Learned,
    enlarged,
    forget_values,
    is_full,
    learned_towards,
    make_goal_values,
    place_of,
    raise_entered,
)
from rt_gym.search.values import raise_value, value_at, values_at
from rt_gym.terrain import fill_h0
from rt_gym.trip import Trip, make_trip

pytestmark = pytest.mark.plain

FIELD = Grid(np.ones((14, 17)))
TERRAIN = FIELD.terrain
GOAL = FIELD.cell((3, 9))
INSIDE = [FIELD.cell((x, y)) for x in range(FIELD.width) for y in range(FIELD.height)]


def fresh(places: int = 1024) -> Learned:
    """Return a fresh table in arrays that are full of rubbish."""
    cells, old_cells = np.full(places, 77, np.int32), np.full(places, 78, np.int32)
    values, old_values = np.full(places, -5), np.full(places, -6)
    learned = Learned(cells, values, old_cells, old_values, np.full(1, -1, TABLE))
    forget_values(learned)
    return learned


def heuristic(grid: Grid, goal: int) -> NDArray[np.int64]:
    h = np.empty(grid.terrain.mask.size, np.int64)
    fill_h0(grid.terrain, goal, h)
    return h


def contents(learned: Learned) -> dict[int, int]:
    places = learned.state[0].places
    taken = np.nonzero(learned.cells[:places] != EMPTY)[0]
    entries = {int(learned.cells[k]): int(learned.values[k]) for k in taken}
    assert len(entries) == taken.size == learned.state[0].taken
    return entries


def raise_by(trip: Trip, learned: Learned, cell: int, steps: int) -> None:
    """Raise a value to so many steps above the heuristic."""
    raise_entered(trip, learned, TERRAIN, cell, GOAL, heuristic(FIELD, GOAL)[cell] + steps * STRAIGHT)


@kernel
def read_all(h, terrain, t, out):
    for cell in range(out.size):
        out[cell] = value_at(h, terrain, cell, t)


@kernel
def read_at_once(h, terrain, cells, t, out):
    values_at(h, terrain, cells, 0, cells.size, t, out)


@kernel
def read_in_kernel(h, terrain, cell, t):
    return value_at(h, terrain, cell, t)


@kernel
def raise_in_kernel(trip, h, terrain, cell, t, value):
    raise_value(trip, h, terrain, cell, t, value)


def every_value(h: NDArray[np.int64] | Learned | GoalValues, grid: Grid = FIELD, goal: int = GOAL) -> NDArray[np.int64]:
    out = np.empty(grid.terrain.mask.size, np.int64)
    read_all(h, grid.terrain, goal, out)
    inside, at_once = np.flatnonzero(grid.terrain.free), np.empty(grid.terrain.mask.size, np.int64)
    read_at_once(h, grid.terrain, inside, goal, at_once)
    assert (at_once[: inside.size] == out[inside]).all()
    return out


@given(st.lists(st.tuples(st.sampled_from(INSIDE), st.integers(-3, 9)), max_size=200))
def test_the_table_holds_what_a_dict_and_a_dense_array_hold(raises: list[tuple[int, int]]) -> None:
    first = heuristic(FIELD, GOAL)
    learned, dense, plain = fresh(), first.copy(), dict[int, int]()
    trips = make_trip(0), make_trip(0)
    for cell, steps in raises:
        value = int(first[cell]) + steps * STRAIGHT
        raise_in_kernel(trips[0], learned, TERRAIN, cell, GOAL, value)
        raise_in_kernel(trips[1], dense, TERRAIN, cell, GOAL, value)
        if value > plain.get(cell, int(first[cell])):
            plain[cell] = value
        assert read_in_kernel(learned, TERRAIN, cell, GOAL) == dense[cell] == plain.get(cell, first[cell])
    assert contents(learned) == plain
    assert (every_value(learned) == dense).all()
    assert (every_value(dense) == dense).all()
    assert trips[0].tally[0].raises == trips[1].tally[0].raises


def test_a_fresh_table_is_the_heuristic_and_small() -> None:
    learned = fresh()
    assert contents(learned) == {}
    assert learned.state.tolist() == [(FRESH, 0)]
    assert (every_value(learned) == heuristic(FIELD, GOAL)).all()


def test_a_table_made_fresh_again_has_forgotten_everything() -> None:
    learned, trip = fresh(), make_trip(0)
    for cell in INSIDE:
        raise_by(trip, learned, cell, 2)
    forget_values(learned)
    assert learned.state.tolist() == [(FRESH, 0)]
    assert (every_value(learned) == heuristic(FIELD, GOAL)).all()
    raise_by(trip, learned, INSIDE[5], 1)
    assert contents(learned) == {INSIDE[5]: heuristic(FIELD, GOAL)[INSIDE[5]] + STRAIGHT}


def test_values_are_never_lowered_and_only_rises_are_counted() -> None:
    learned, trip, cell = fresh(), make_trip(0), INSIDE[40]
    counts = []
    for steps in (-1, 0, 3, 3, 2, 4):
        raise_by(trip, learned, cell, steps)
        counts.append(int(trip.tally[0].raises))
    assert counts == [0, 0, 1, 1, 1, 2]
    assert contents(learned) == {cell: heuristic(FIELD, GOAL)[cell] + 4 * STRAIGHT}


def test_a_table_doubles_when_a_value_comes_that_would_fill_more_than_half() -> None:
    learned, trip = fresh(), make_trip(0)
    sizes = []
    for cell in INSIDE[:130]:
        raise_by(trip, learned, cell, 1)
        raise_by(trip, learned, cell, 2)  # a cell that is there needs no room
        sizes.append(int(learned.state[0].places))
    assert sizes == [64] * 32 + [128] * 32 + [256] * 64 + [512] * 2
    assert contents(learned) == {cell: heuristic(FIELD, GOAL)[cell] + 2 * STRAIGHT for cell in INSIDE[:130]}


def test_a_table_without_room_to_grow_goes_on_while_a_place_is_empty() -> None:
    learned, trip = fresh(places=2 * FRESH), make_trip(0)
    for cell in INSIDE[: 2 * FRESH - 1]:
        raise_by(trip, learned, cell, 1)
    assert learned.state.tolist() == [(2 * FRESH, 2 * FRESH - 1)]
    raised = np.zeros(TERRAIN.mask.size, bool)
    raised[INSIDE[: 2 * FRESH - 1]] = True
    assert (every_value(learned) == heuristic(FIELD, GOAL) + raised * STRAIGHT).all()


def test_cells_that_want_one_place_are_kept_apart_and_stay_so_when_the_table_grows() -> None:
    learned, trip = fresh(), make_trip(0)
    wanted = {cell: int(place_of(learned, cell)) for cell in INSIDE}
    crowd = max(([c for c in INSIDE if wanted[c] == k] for k in range(FRESH)), key=len)
    last = [cell for cell in INSIDE if wanted[cell] == FRESH - 1]  # beyond the last place comes the first
    assert min(len(crowd), len(last)) > 1
    rest = [cell for cell in INSIDE if cell not in crowd + last]
    expected = {}
    for steps, cell in enumerate(dict.fromkeys([*crowd, *last, *rest]), 1):
        raise_by(trip, learned, cell, steps)
        expected[cell] = heuristic(FIELD, GOAL)[cell] + steps * STRAIGHT
        if steps in (len(crowd), len(crowd) + len(last), 32, 33, 100):
            assert contents(learned) == expected
            assert (every_value(learned)[list(expected)] == list(expected.values())).all()


def test_two_tables_may_grow_in_the_same_room() -> None:
    one, trip = fresh(), make_trip(0)
    two = fresh()._replace(old_cells=one.old_cells, old_values=one.old_values)
    for cell in INSIDE[:120]:
        raise_by(trip, one, cell, 1)
        raise_by(trip, two, cell, 3)
    first = heuristic(FIELD, GOAL)
    assert contents(one) == {cell: first[cell] + STRAIGHT for cell in INSIDE[:120]}
    assert contents(two) == {cell: first[cell] + 3 * STRAIGHT for cell in INSIDE[:120]}


def test_outside_of_kernels_the_face_is_the_same() -> None:
    learned, dense, trip = fresh(), heuristic(FIELD, GOAL), make_trip(0)
    value, cell = dense[INSIDE[7]] + 5, INSIDE[7]
    for h in (learned, dense):
        raise_value(trip, h, TERRAIN, cell, GOAL, value)
        assert [value_at(h, TERRAIN, c, GOAL) for c in (cell, INSIDE[8])] == [value, dense[INSIDE[8]]]
    assert trip.tally[0].raises == 2


def walk(grid: Grid, h: NDArray[np.int64] | Learned, s: int, t: int, depth: int) -> tuple[list[int], list[int]]:
    """Walk by General LRTA*; return the cells and all counts."""
    terrain = grid.terrain
    trip, space, path = make_trip(terrain.mask.size), make_space(terrain.mask.size), [s]
    while path[-1] != t and len(path) < 150:
        assert general_lrta(terrain, trip, space, h, path[-1], t, depth) == 1
        path.append(path[-1] + int(terrain.offset[trip.plan[0]]))
    return path, [int(trip.meter[0].expansions), int(trip.meter[0].scans), int(trip.tally[0].raises)]


@given(problem=problems(max_side=10), depth=st.integers(1, 5))
def test_general_lrta_walks_with_a_table_as_with_a_dense_array(
    problem: tuple[Grid, tuple[int, int], tuple[int, int]], depth: int
) -> None:
    grid, start, goal = problem
    s, t = grid.cell(start), grid.cell(goal)
    learned, dense = fresh(), heuristic(grid, t)
    assert walk(grid, learned, s, t, depth) == walk(grid, dense, s, t, depth)
    assert (every_value(learned, grid, t) == dense).all()


def test_a_lookahead_climbs_with_a_table_as_with_a_dense_array() -> None:
    rng, rose = np.random.default_rng(2), 0
    for _ in range(8):
        grid, start, goal = random_problem(rng, 12, density=0.3)
        s, t = grid.cell(start), grid.cell(goal)
        learned, dense = fresh(), heuristic(grid, t)
        for h in (learned, dense):
            walk(grid, h, s, t, 2)
        ladders = []
        for h in (learned, dense):
            by_depth, space, trip = make_depth_results(6), make_space(dense.size), make_trip(dense.size)
            begin_layered(space, by_depth, s, value_at(h, grid.terrain, s, t))
            while s != t and by_depth.state[0].depth < 6:
                assert add_layer(grid.terrain, trip, space, by_depth, h, t) == LAYER_ADDED
            rows = range(1, int(by_depth.state[0].depth) + 1)
            ladders.append([(by_depth.action[d], by_depth.value[d], by_depth.work[d]) for d in rows])
        assert ladders[0] == ladders[1]
        rose += int((dense > heuristic(grid, t)).any())
    assert rose > 0


class TestManyGoals:
    @given(st.lists(st.tuples(st.sampled_from(INSIDE), st.sampled_from(INSIDE), st.integers(-3, 9)), max_size=300))
    def test_the_table_holds_what_a_dense_array_per_goal_holds(self, raises: list[tuple[int, int, int]]) -> None:
        table, dense = make_goal_values(1024), {goal: heuristic(FIELD, goal) for goal in INSIDE}
        trips = make_trip(0), make_trip(0)
        for cell, goal, steps in raises:
            value = int(heuristic(FIELD, goal)[cell]) + steps * STRAIGHT
            raise_in_kernel(trips[0], table, TERRAIN, cell, goal, value)
            raise_in_kernel(trips[1], dense[goal], TERRAIN, cell, goal, value)
        for goal in {goal for _, goal, _ in raises}:
            cells, values = learned_towards(table, goal)
            assert sorted(cells) == np.flatnonzero(dense[goal] != heuristic(FIELD, goal)).tolist()
            assert (values == dense[goal][cells]).all()
            assert (every_value(table, FIELD, goal)[INSIDE] == dense[goal][INSIDE]).all()
        assert trips[0].tally[0].raises == trips[1].tally[0].raises
        assert table.state[0].taken == sum((dense[goal] != heuristic(FIELD, goal)).sum() for goal in INSIDE)

    def test_a_full_table_says_so_and_loses_nothing_when_it_is_enlarged(self) -> None:
        table, trip, first = make_goal_values(FRESH), make_trip(0), heuristic(FIELD, GOAL)
        learned = INSIDE[: FRESH // 2]
        for cell in learned:
            assert not is_full(table)
            raise_value(trip, table, TERRAIN, cell, GOAL, int(first[cell]) + STRAIGHT)
        assert is_full(table)
        table = enlarged(table)
        assert not is_full(table)
        raised = np.isin(np.arange(first.size), learned)
        assert (every_value(table)[INSIDE] == (first + STRAIGHT * raised)[INSIDE]).all()
        assert (every_value(table, FIELD, INSIDE[7]) == heuristic(FIELD, INSIDE[7])).all()
