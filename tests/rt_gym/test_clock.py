"""The histogram of move times, fed with times of our own; nothing here measures how fast anything is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from rt_gym import clock
from rt_gym.clock import BINS, Clock, make_clock, quantiles, start_clock, time_move, time_plan
from rt_gym.intrinsics import bit_length, ticks
from rt_gym.jit import kernel

plain = pytest.mark.skipif(not config.DISABLE_JIT, reason="the counter can only be replaced with NUMBA_DISABLE_JIT=1")


@kernel
def bits(value):
    """Return the bit length from inside a kernel."""
    return bit_length(value)


@kernel
def now():
    """Return the counter from inside a kernel."""
    return ticks()


def bin_of(spent: int) -> int:
    """Return the bin of a time: exact below 32, then 16 bins per power of two."""
    shift = max(spent.bit_length() - 5, 0)
    return 16 * shift + (spent >> shift)


def histogram(times: list[int]) -> Clock:
    """Return a clock that has seen these times."""
    made = make_clock(on=True)
    for spent in times:
        made.bins[bin_of(spent)] += 1
    made.times[0].longest, made.times[0].total = max(times), sum(times)
    return made


@given(st.integers(1, 2**63 - 1))
def test_bit_length_is_that_of_python(value: int) -> None:
    assert bits(np.int64(value)) == value.bit_length()


@given(st.integers(1, 2**62))
def test_every_time_has_a_bin_of_its_size(spent: int) -> None:
    assert 0 <= bin_of(spent) < BINS
    assert bin_of(spent) <= bin_of(spent + 1)
    assert quantiles(histogram([spent]), 1.0)[0] == pytest.approx(spent, rel=1 / 32)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=200), st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_a_quantile_is_right_to_the_width_of_a_bin(times: list[int], share: float) -> None:
    exact = float(np.quantile(times, share, method="inverted_cdf"))
    assert quantiles(histogram(times), share)[0] == pytest.approx(exact, rel=1 / 16)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=50))
def test_quantiles_rise_and_end_at_the_longest_at_most(times: list[int]) -> None:
    found = quantiles(histogram(times), 0.1, 0.5, 0.9, 0.99, 1.0)
    assert found == sorted(found)
    assert found[-1] <= max(times)


def test_small_times_are_exact() -> None:
    assert [quantiles(histogram([spent]), 0.5)[0] for spent in range(1, 32)] == list(range(1, 32))


def test_a_clock_that_has_seen_no_move_says_zero() -> None:
    assert quantiles(make_clock(on=True), 0.5) == [0.0]


def test_the_counter_does_not_run_backwards() -> None:
    readings = [int(now()) for _ in range(50)]
    assert readings == sorted(readings)


def test_a_move_is_entered_once_with_its_time() -> None:
    made = make_clock(on=True)
    start_clock(made)
    for _ in range(20):
        time_move(made)
    assert made.bins.sum() == 20
    assert made.times[0].total >= made.times[0].longest >= 1
    assert bin_of(int(made.times[0].longest)) == np.flatnonzero(made.bins)[-1]


def test_an_empty_clock_is_switched_off() -> None:
    made = make_clock(on=False)
    start_clock(made)
    time_plan(made)
    time_move(made)
    assert made.bins.size == 0
    assert made.times.tolist() == [(0, 0, 0, 0)]


@pytest.mark.plain
@plain
def test_times_between_readings_are_what_is_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [1, 31, 32, 33, 1000, 10**6, 10**12, 2**61, 7]
    readings = iter(np.cumsum([100, *times], dtype=object).tolist())
    monkeypatch.setattr(clock, "ticks", lambda: next(readings))
    made = make_clock(on=True)
    start_clock(made)
    for _ in times:
        time_move(made)
    expected = histogram(times)
    expected.times[0].last = 100 + sum(times)
    assert made.bins.tolist() == expected.bins.tolist()
    assert made.times.tolist() == expected.times.tolist()


@pytest.mark.plain
@plain
def test_a_time_too_short_for_the_counter_is_one_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "ticks", lambda: 5)
    made = make_clock(on=True)
    start_clock(made)
    time_move(made)
    assert (made.bins[1], made.times[0].total, made.times[0].longest) == (1, 1, 1)
