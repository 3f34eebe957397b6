"""Handles and the tuples behind them: what kernels read through one is what Python put in, and copies are copies."""

import copy
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import config
from numpy.typing import NDArray

from rt_gym.handles import KeptHandle, handle, trusting
from rt_gym.jit import absent, kernel, merge, record, row, write_fields

pytestmark = pytest.mark.plain

COUNTS = record(first=int, second=float)


class Inner(NamedTuple):
    plane: NDArray[np.int32]
    counts: NDArray[np.record]


@trusting
class Line(NamedTuple):
    cells: NDArray[np.int32]


class Outer(NamedTuple):
    bits: NDArray[np.uint8]
    inner: Inner
    nothing: None
    weight: float
    limit: int


@kernel
def read(parts, i, j):
    """Return one number of every part, and write through the handle."""
    outer, line = parts.outer, parts.line
    counts = outer.inner.counts[0]
    counts.first += 1
    counts.second = outer.weight
    return outer.bits[i], outer.inner.plane[i, j], outer.inner.plane.shape, line[j], line.size, outer.limit


@kernel
def cut(tuples, i):
    """Return a number of a row, and write into it."""
    inner = row(tuples.inner, i)
    inner.counts[0].first = 10 * i
    return inner.plane[1]


@kernel
def joined(first, second):
    """Return numbers of both."""
    both = merge(first, second)
    return both.plane[0], both.counts[0].first


@kernel
def write_both(values, out):
    """Write a tuple of numbers."""
    write_fields(values, out, 1)


@kernel
def first_cell(line):
    """Return a number of a tuple that came without a handle."""
    return line.cells[0]


class Pair(NamedTuple):
    left: int
    right: float


def make_parts() -> dict[str, Any]:
    inner = Inner(np.arange(12, dtype=np.int32).reshape(3, 4), np.zeros(1, COUNTS))
    return {"outer": Outer(np.array([3, 4, 5], np.uint8), inner, None, 2.5, 7), "line": np.arange(9.0)[::2]}


def test_a_kernel_reads_what_was_put_in() -> None:
    parts = make_parts()
    episode = handle(**parts)
    assert read(episode, 2, 1) == (5, 9, (3, 4), 2.0, 5, 7)
    assert read(episode, 0, 3) == (3, 3, (3, 4), 6.0, 5, 7)
    assert parts["outer"].inner.counts.tolist() == [(2, 2.5)]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_a_tuple_that_nothing_may_write_to_is_no_second_type() -> None:
    shared = np.arange(5, 8, dtype=np.int32)
    shared.flags.writeable = False
    assert [first_cell(Line(cells)) for cells in (shared, np.arange(3, dtype=np.int32))] == [5, 0]
    assert len(first_cell.signatures) == 1
    assert not shared.flags.writeable


def test_a_handle_keeps_its_arrays_alive() -> None:
    episodes = [handle(**make_parts()) for _ in range(50)]
    assert {read(episode, 1, 1)[1] for episode in episodes} == {5}


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda parts: pickle.loads(pickle.dumps(parts))])
def test_a_copy_is_a_handle_of_copies(copied: Any) -> None:
    parts = make_parts()
    original = {"parts": parts, "handle": handle(**parts)}
    other = copied(original)
    read(other["handle"], 0, 0)
    assert other["parts"]["outer"].inner.counts[0].first == 1
    assert parts["outer"].inner.counts[0].first == 0


def test_a_kept_handle_is_made_anew_only_when_a_part_is_replaced() -> None:
    kept, parts = KeptHandle(), make_parts()
    first = kept.of(**parts)
    assert kept.of(**parts) is first
    parts["line"] = np.zeros(4)
    second = kept.of(**parts)
    assert second is not first
    assert read(second, 0, 3) == (3, 3, (3, 4), 0.0, 4, 7)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="without the compiler anything can be a part")
@pytest.mark.parametrize("wrong", [True, "text", [1, 2], np.float32(1)])
def test_what_a_kernel_could_not_read_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a handle holds arrays"):
        handle(part=wrong)


def test_rows_are_cut_from_every_array() -> None:
    batch = handle(inner=Inner(np.arange(6, dtype=np.int32).reshape(3, 2), np.zeros((3, 1), COUNTS)))
    assert [cut(batch, i) for i in range(3)] == [1, 3, 5]


def test_a_row_of_nothing_is_nothing() -> None:
    assert row(absent(Inner)._replace(plane=np.arange(3)), 1) == (1, None)


def test_what_one_tuple_lacks_comes_from_the_other() -> None:
    counts = np.array([(4, 0.5)], COUNTS)
    first = absent(Inner)._replace(plane=np.array([6], np.int32))
    assert joined(first, absent(Inner)._replace(counts=counts)) == (6, 4)
    assert joined(first._replace(counts=counts), Inner(np.zeros(1, np.int32), np.zeros(1, COUNTS))) == (6, 4)


def test_fields_are_written_in_their_order() -> None:
    out = np.zeros(4, np.float32)
    write_both(Pair(left=3, right=0.25), out)
    assert out.tolist() == [0, 3, 0.25, 0]


@pytest.mark.parametrize("name", ["size", "flat", "all", "base", "item"])
def test_a_record_has_no_field_that_numpy_reads_otherwise(name: str) -> None:
    with pytest.raises(ValueError, match=f"cannot have the fields {name}"):
        record(**{name: int})
