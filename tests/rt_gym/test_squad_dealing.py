"""The rules by which the allowance of a tick is dealt."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from rt_gym import Grid, InputError, Problem, Squad
from rt_gym.meter import UNLIMITED
from rt_gym.squad.dealing import RULES, Dealer, Situation, deal_by_weights


def situation(ready: list[int], **known: list[float]) -> Situation:
    """Return what a rule knows of units, zeros for what is not said."""
    zeros = [0] * len(ready)
    columns = {name: np.array(known.get(name, zeros)) for name in ("distance", "raised", "waited", "left")}
    asks = np.array(known.get("asks", [10] * len(ready)), np.int64)
    every = np.ones(len(ready), bool)
    return Situation(ready=np.array(ready, bool), under_way=every, asks=asks, allowance=UNLIMITED, **columns)


def test_equal_shares_go_to_those_who_must_plan() -> None:
    assert Dealer("equal", 90).deal(situation([1, 0, 1, 1])).tolist() == [30, 0, 30, 30]


def test_what_does_not_divide_goes_round() -> None:
    dealer = Dealer("equal", 4)
    assert dealer.deal(situation([1, 1, 1])).tolist() == [2, 1, 1]
    assert dealer.deal(situation([1, 1, 1])).tolist() == [1, 2, 1]
    assert dealer.deal(situation([1, 1, 1])).tolist() == [1, 1, 2]
    assert dealer.deal(situation([1, 1, 1])).tolist() == [2, 1, 1]


def test_with_less_than_one_each_all_get_something_sometimes() -> None:
    dealer = Dealer("equal", 1)
    got = [dealer.deal(situation([1, 1, 1])).tolist() for _ in range(3)]
    assert got == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_round_robin_goes_on_after_the_one_served_last() -> None:
    dealer = Dealer("round-robin", 25)
    assert dealer.deal(situation([1, 1, 1, 1, 1])).tolist() == [10, 10, 0, 0, 0]
    assert dealer.deal(situation([1, 1, 0, 1, 1])).tolist() == [0, 0, 0, 10, 10]
    assert dealer.deal(situation([0, 1, 1, 1, 1])).tolist() == [0, 10, 10, 0, 0]


def test_the_nearest_are_served_first() -> None:
    near = situation([1, 1, 1, 1], distance=[7.0, 2.0, 9.0, 2.0])
    assert Dealer("nearest", 25).deal(near).tolist() == [0, 10, 0, 10]


def test_the_neediest_have_raised_the_most_and_then_waited_longest() -> None:
    needy = situation([1, 1, 1, 1], raised=[3, 5, 3, 3], waited=[0, 0, 9, 2])
    assert Dealer("neediest", 25).deal(needy).tolist() == [0, 10, 10, 0]
    assert Dealer("neediest", 35).deal(needy).tolist() == [0, 10, 10, 10]


def test_one_that_asks_for_more_than_there_is_gets_all() -> None:
    assert Dealer("nearest", 8).deal(situation([1, 1])).tolist() == [8, 0]


def test_too_much_is_missing_from_the_next_tick() -> None:
    dealer = Dealer("equal", 10)
    dealer.settle(14)
    assert dealer.deal(situation([1])).tolist() == [6]
    dealer.settle(26)
    assert dealer.deal(situation([1])).tolist() == [0]
    dealer.settle(0)
    assert dealer.deal(situation([1])).tolist() == [0]
    dealer.settle(0)
    assert dealer.deal(situation([1])).tolist() == [10]


@pytest.mark.parametrize("rule", RULES)
def test_without_an_allowance_all_may_spend_what_they_like(rule: str) -> None:
    dealer = Dealer(rule, UNLIMITED)
    dealer.settle(10**15)
    assert dealer.deal(situation([1, 0])).tolist() == [UNLIMITED, 0]


def test_weights_are_shares_of_those_who_must_plan() -> None:
    ready = np.array([True, True, False, True])
    assert deal_by_weights([1, 3, 50, 0], 100, ready).tolist() == [25, 75, 0, 0]
    assert deal_by_weights(np.zeros(4), 100, ready).tolist() == [0, 0, 0, 0]
    assert deal_by_weights([1.0, 0.0, 1.0, 1.0], UNLIMITED, ready).tolist() == [UNLIMITED, 0, 0, UNLIMITED]


@pytest.mark.parametrize("wrong", [[1.0], [1, -1], [1, np.nan], [1, np.inf], "ab", None, [[1, 1]], [1, "a"]])
def test_weights_that_are_none_are_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="weights must be 2 finite numbers"):
        deal_by_weights(wrong, 10, np.array([True, True]))


@examples(300)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 60), st.floats(0, 1e300)), min_size=1, max_size=30),
    st.integers(1, 500),
    st.sampled_from([*RULES, "weights"]),
)
def test_no_rule_deals_more_than_there_is_or_to_one_that_need_not_plan(
    units: list[tuple[bool, int, float]], allowance: int, rule: str
) -> None:
    ready, asks, weights = (list(column) for column in zip(*units, strict=True))
    known = situation(ready, asks=asks, distance=asks, raised=asks)
    if rule == "weights":
        shares = deal_by_weights(np.array(weights) / 1e4, allowance, known.ready)
    else:
        shares = Dealer(rule, allowance).deal(known)
        assert any(ready) == (shares.sum() > 0)
    assert shares.sum() <= allowance
    assert shares.min() >= 0
    assert not shares[~known.ready].any()


def test_a_rule_may_be_a_function_of_the_situation() -> None:
    grid = Grid(np.ones((3, 9)))
    problems = [Problem(grid, (0, y), (8, y)) for y in range(3)]
    squad = Squad(problems, "lrta", 1, rule=lambda known: np.arange(3) == 2, share=1)
    with pytest.raises(InputError, match="weights must be"):
        squad.tick()
    squad = Squad(problems, "lrta", 1, rule=lambda known: (np.arange(3) == 2).astype(float), share=1)
    squad.run(8)
    assert squad.arrived.tolist() == [False, False, True]


def test_weights_may_be_given_with_the_tick() -> None:
    grid = Grid(np.ones((2, 9)))
    squad = Squad([Problem(grid, (0, y), (8, y)) for y in range(2)], "lrta", 1, share=1)
    for _ in range(8):
        squad.tick([0.0, 1.0])
    assert squad.arrived.tolist() == [False, True]
