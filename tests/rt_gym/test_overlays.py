"""Overlays: copies of large arrays that take memory only where they are written to."""

import copy
import gc
import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from rt_gym import Grid, Problem, World, overlays, pages
from rt_gym.overlays import Original

pytestmark = pytest.mark.plain

SIZES = (10_000, 4096, 1)
ARRAYS = [np.arange(size, dtype=np.uint8) for size in SIZES]

cells = st.integers(0, len(SIZES) - 1).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, SIZES[k] - 1)))


@pytest.fixture(params=["mapped", "where the system has no such mappings"])
def original(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Original:
    if request.param != "mapped":
        monkeypatch.setattr(overlays, "_SYSTEM", None)
    return Original(*ARRAYS)


def same(copies: list[np.ndarray]) -> bool:
    return all(np.array_equal(one, array) for one, array in zip(copies, ARRAYS, strict=True))


@given(written=st.lists(st.tuples(cells, st.integers(0, 255)), max_size=20))
@examples(50)
def test_a_copy_holds_what_was_written_to_it_and_no_other_does(written: list[tuple[tuple[int, int], int]]) -> None:
    original = Original(*ARRAYS)
    mine, other = original.copies(), original.copies()
    plain = [array.copy() for array in ARRAYS]
    for (k, cell), value in written:
        mine[k][cell] = plain[k][cell] = value
    assert all(np.array_equal(one, two) for one, two in zip(mine, plain, strict=True))
    assert same(other)
    original.renew(mine)
    assert same(mine)


def test_a_renewed_copy_is_as_new(original: Original) -> None:
    copies = original.copies()
    for one in copies:
        one[:] = 7
    original.renew(copies)
    assert same(copies)


def test_a_copy_of_a_copy_is_renewed_as_well(original: Original) -> None:
    copies = pickle.loads(pickle.dumps(original.copies()))
    copies[0][:] = 7
    original.renew(copies)
    assert same(copies)


def test_copies_outlive_their_original() -> None:
    copies = Original(*ARRAYS).copies()
    gc.collect()
    copies[0][0] = 9
    assert copies[0].tolist()[:3] == [9, 1, 2]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not list what a process has open")
def test_copies_hold_no_descriptors() -> None:
    original = Original(*ARRAYS)
    before = len(os.listdir("/proc/self/fd"))
    copies = [original.copies() for _ in range(200)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert all(map(same, copies))


@pytest.mark.parametrize("vision", [None, 1])
def test_a_large_world_that_was_edited_and_copied_begins_again_as_it_began(
    monkeypatch: pytest.MonkeyPatch, vision: int | None
) -> None:
    monkeypatch.setattr(pages, "LARGE", 0)
    problem = Problem(Grid(np.ones((5, 7), bool)), (0, 0), (6, 4), vision=vision)
    world = World(problem)
    at_first = world.kernel_view.terrain.known.tolist()
    world.set_cell((1, 1), False)
    world.step(0)
    for one in (world, copy.deepcopy(world)):
        assert not one.truth.free[problem.grid.cell((1, 1))]
        one.restart(problem)
        assert one.kernel_view.terrain.known.tolist() == at_first
        assert one.truth.free[problem.grid.cell((1, 1))]
    assert problem.grid.terrain.free[problem.grid.cell((1, 1))]
