"""Pages: one entry per cell in memory that grows with what is written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from rt_gym import Grid, pages
from rt_gym.pages import RUN, Holding, Paged, make_cells, read, reserve, reset_cells, write
from rt_gym.search.local import make_local
from rt_gym.search.paged_values import (
    PagedValues,
    count_raised,
    dense_values,
    make_values,
    reset_values,
    value_in_pages,
)
from rt_gym.search.space import begin_problem, give_slot, make_space
from rt_gym.search.values import raise_value, set_value, value_at
from rt_gym.terrain import count_learned, fill_h0, h0, open_distance
from rt_gym.trip import make_trip

pytestmark = pytest.mark.plain

CELLS = 5 * RUN + 3


@pytest.fixture(autouse=True, scope="module")
def _all_maps_are_large():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "LARGE", 0)
        yield


writes = st.lists(st.tuples(st.integers(0, CELLS - 1), st.integers(-5, 5)), max_size=30)


@given(rounds=st.lists(writes, max_size=3), value=st.integers(-1, 1))
def test_pages_hold_what_an_array_holds(rounds: list[list[tuple[int, int]]], value: int) -> None:
    table = make_cells(CELLS, np.int64, value)
    assert isinstance(table, Paged)
    for entries in rounds:
        dense = np.full(CELLS, value)
        for cell, entry in entries:
            write(table, cell, entry)
            dense[cell] = entry
        assert [read(table, cell) for cell in range(CELLS)] == dense.tolist()
        assert table.state[0].pages == len({cell // RUN for cell, _ in entries})
        reset_cells(table, value)
        assert [read(table, cell) for cell in range(CELLS)] == [value] * CELLS


def test_what_is_reserved_is_zero_and_takes_no_memory_of_its_own() -> None:
    first, second = reserve(1 << 34, np.int64, np.uint8)  # more than any machine of ours has
    first[-1] = second[0] = 7
    assert (first[0], first[-1], second[0], second[-1]) == (0, 7, 7, 0)


@examples(20)
@given(
    goal=st.integers(0, 62),
    raises=st.lists(st.tuples(st.integers(0, 62), st.integers(0, 40), st.booleans()), max_size=25),
)
def test_values_in_pages_are_those_in_an_array(goal: int, raises: list[tuple[int, int, bool]]) -> None:
    grid = Grid(np.ones((7, 9), bool))
    cells = [grid.cell((k % 9, k // 9)) for k in range(63)]
    t, terrain = cells[goal], grid.terrain
    trips = make_trip(0), make_trip(0, marks=terrain.mask.size)
    paged, dense = make_values(terrain.mask.size), np.empty(terrain.mask.size, np.int64)
    reset_values(paged, terrain, t)
    fill_h0(terrain, t, dense)
    assert isinstance(paged, PagedValues)
    for k, steps, raised in raises:
        for h, trip in zip((paged, dense), trips, strict=True):
            if raised:
                raise_value(trip, h, terrain, cells[k], t, np.int64(steps << 40))
            else:
                set_value(h, terrain, cells[k], np.int64(steps << 40))
    assert [value_at(paged, terrain, cell, t) for cell in cells] == dense[cells].tolist()
    assert [value_in_pages(paged, terrain, cell) for cell in cells] == dense[cells].tolist()
    assert dense_values(paged, terrain)[cells].tolist() == dense[cells].tolist()
    if all(raised for _, _, raised in raises):
        marks = trips[1].marks
        assert count_raised(dense, terrain, t, marks) == count_learned(terrain, t, dense)
    assert count_raised(paged, terrain, t, trips[0].marks) == count_learned(terrain, t, dense)
    assert trips[0].tally[0].raises == trips[1].tally[0].raises


@given(st.integers(0, 62), st.integers(0, 62), st.sampled_from([(8, "octile"), (8, "unit"), (4, "octile")]))
def test_the_heuristic_needs_no_table_of_coordinates(a: int, b: int, rules: tuple[int, str]) -> None:
    grid = Grid(np.ones((7, 9), bool), *rules)
    assert grid.terrain.xy is None
    first, second = (grid.cell((k % 9, k // 9)) for k in (a, b))
    dx, dy = abs(a % 9 - b % 9), abs(a // 9 - b // 9)
    straight, diagonal = (int(part) for part in grid.terrain.metric[0].item())
    expected = (max(dx, dy) - min(dx, dy)) * straight + min(dx, dy) * diagonal
    assert h0(grid.terrain, first, second) == open_distance(grid.terrain, first, second) == expected
    assert grid.positions(np.array([first, second])).tolist() == [[a % 9, a // 9], [b % 9, b // 9]]


def test_what_is_held_is_counted_once_and_as_far_as_it_is_used() -> None:
    space = make_space(CELLS)
    local, own = make_local(space), np.zeros(10, np.int64)
    alone = Holding(space).bytes
    begin_problem(space, 0)
    give_slot(space, np.int64(1 << 32), np.int64(0), np.int64(3))
    space.state[0].slots = 1
    once, twice = Holding(space).bytes, Holding((space, local, (space,), own)).bytes
    assert alone < once
    assert twice == once + local.held + own.nbytes
