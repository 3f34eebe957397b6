"""Exact costs against arithmetic with 80 decimal digits."""

import math
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_gym.cost import DIAGONAL, INF, SQRT2, STRAIGHT, decode, encode, to_float, to_floats

STEPS = st.integers(0, 2**20)
MOST_DIAGONALS = INF // DIAGONAL
LARGEST_DIFFERENCE = 470_832  # the largest denominator below 7e5 of a best approximation of sqrt(2)


def real(straight: int, diagonal: int) -> Decimal:
    """Return the length of so many straight and diagonal steps to 80 digits."""
    with localcontext() as context:
        context.prec = 80
        return straight + diagonal * Decimal(2).sqrt()


def sign(value: Decimal | int) -> int:
    return (value > 0) - (value < 0)


def best_approximations() -> list[tuple[int, int]]:
    """Return the fractions nearest to sqrt(2) for their size, 1/1 3/2 7/5 ..., as far as the order is promised."""
    p, q, found = 1, 1, []
    while q <= LARGEST_DIFFERENCE:
        found.append((p, q))
        p, q = p + 2 * q, p + q
    return found


def test_a_diagonal_step_is_sqrt_2_to_twelve_digits_and_odd() -> None:
    assert DIAGONAL % 2 == 1
    assert abs(Decimal(DIAGONAL) - real(0, STRAIGHT)) < 1


@given(STEPS, STEPS)
def test_the_two_counts_can_be_read_back(straight: int, diagonal: int) -> None:
    assert decode(encode(straight, diagonal)) == (straight, diagonal)


@st.composite
def longest_paths(draw: st.DrawFn) -> tuple[int, int]:
    """Return straight and diagonal steps of any path that is not too long, up to the very limit."""
    diagonal = draw(st.integers(0, MOST_DIAGONALS) | st.integers(MOST_DIAGONALS - 9, MOST_DIAGONALS))
    most = (INF - 1 - diagonal * DIAGONAL) // STRAIGHT
    return draw(st.integers(0, most) | st.integers(max(0, most - 9), most)), diagonal


@given(longest_paths())
def test_the_counts_of_every_path_below_infinity_can_be_read_back(path: tuple[int, int]) -> None:
    straight, diagonal = path
    cost = straight * STRAIGHT + diagonal * DIAGONAL
    assert 0 <= cost == encode(straight, diagonal) < INF
    assert decode(cost) == path
    length = straight + diagonal * SQRT2
    assert to_float(cost) == to_floats(np.array([cost]))[0] == length


@given(longest_paths(), longest_paths())
def test_paths_with_other_counts_have_other_costs_in_the_order_of_their_lengths_to_two_millionths_of_a_step(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    assert (encode(*one) == encode(*other)) == (one == other)
    difference = real(*one) - real(*other)
    if abs(difference) > Decimal("2e-6"):
        assert sign(encode(*one) - encode(*other)) == sign(difference)


@given(STEPS, STEPS, STEPS, STEPS)
def test_costs_add_up_like_their_counts(a: int, b: int, c: int, d: int) -> None:
    assert encode(a, b) + encode(c, d) == encode(a + c, b + d)


@given(STEPS, STEPS, STEPS, st.integers(0, LARGEST_DIFFERENCE))
def test_the_order_of_costs_is_the_order_of_lengths(a: int, b: int, c: int, more: int) -> None:
    difference = real(a, b) - real(c, b + more)
    assert sign(encode(a, b) - encode(c, b + more)) == sign(difference)


@pytest.mark.parametrize(("p", "q"), best_approximations())
def test_the_order_holds_where_it_is_hardest_to_tell(p: int, q: int) -> None:
    # p straight steps and q diagonal ones are as nearly equal as such numbers can be.
    for straight in (p - 1, p, p + 1):
        assert sign(encode(straight) - encode(0, q)) == sign(real(straight, 0) - real(0, q)) != 0


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=2, max_size=20))
def test_sorting_by_cost_is_sorting_by_length(steps: list[tuple[int, int]]) -> None:
    ordered = sorted(steps, key=lambda pair: encode(*pair))
    assert all(real(*a) <= real(*b) for a, b in pairwise(ordered))


@given(STEPS, STEPS)
def test_floats_are_the_nearest_to_the_length(straight: int, diagonal: int) -> None:
    assert to_float(encode(straight, diagonal)) == pytest.approx(float(real(straight, diagonal)), rel=1e-15)


@given(st.lists(st.tuples(STEPS, STEPS), min_size=1, max_size=20))
def test_an_array_of_costs_becomes_what_each_of_them_does(steps: list[tuple[int, int]]) -> None:
    costs = [min(encode(*pair), INF) for pair in steps]
    assert to_floats(np.array(costs, np.int64)).tolist() == [to_float(cost) for cost in costs]


def test_floats_are_exact_where_lengths_are_whole() -> None:
    assert to_float(encode(17)) == 17.0
    assert to_float(encode(0, 1)) == SQRT2 == math.sqrt(2)


def test_what_was_not_reached_is_infinitely_far() -> None:
    assert to_float(INF) == to_float(INF + STRAIGHT) == math.inf
    assert to_floats(np.array([0, INF - 1, INF, 2**63 - 1], np.int64)).tolist()[2:] == [math.inf, math.inf]
    assert np.isfinite(to_floats(np.array([0, encode(2**20, 2**20)], np.int64))).all()


def test_an_array_keeps_its_shape() -> None:
    assert to_floats(np.zeros((2, 3), np.int64)).shape == (2, 3)


@pytest.mark.parametrize("share", [0.5, 0.3, 1 / 3, 0.999, 7.25])
def test_a_weighted_cost_is_shown_as_what_it_is(share: float) -> None:
    cost = int(share * encode(3, 2))
    assert to_float(cost) == pytest.approx(share * (3 + 2 * SQRT2), rel=1e-9)
    assert to_floats(np.array([cost]))[0] == to_float(cost)
