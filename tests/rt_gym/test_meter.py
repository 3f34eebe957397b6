"""The meter: what is counted, what is refused, and what an overrun is."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt_gym import STAY, Budget, Grid, InputError, Meter
from rt_gym.meter import (
    GO,
    IDLE,
    OVERRUN,
    STOP,
    STUCK,
    UNLIMITED,
    after_overrun,
    charge,
    close_meter,
    learn,
    raise_h,
    scan,
)
from rt_gym.trip import CUT, NO_PATH, WAIT, Trip, adopt, make_trip, must_plan, take

pytestmark = pytest.mark.plain

CELL = np.int64(7)
COUNTS = ("expansions", "scans", "learning_ops", "trace_steps")
EAST, SOUTH = 0, 1


def trip_with(limit: int = UNLIMITED, count: str = "expansions", idle: bool = False) -> Trip:
    """Return a record with a limit; it logs four expansions per move."""
    trip = make_trip(100, log=4)
    trip.meter[0].limit, trip.meter[0].by_scans, trip.meter[0].idles = limit, count == "scans", idle
    return trip


def commit(trip: Trip, *directions: int) -> None:
    """Adopt a plan of these directions."""
    trip.plan[: len(directions)] = directions
    adopt(trip, np.int64(len(directions)))


class TestCharge:
    def test_an_expansion_is_a_scan_too(self) -> None:
        trip = trip_with()
        assert charge(trip, CELL)
        assert (trip.meter[0].expansions, trip.meter[0].scans, trip.meter[0].learning_ops) == (1, 1, 0)

    def test_a_scan_and_a_learning_operation_are_no_expansions(self) -> None:
        trip = trip_with()
        scan(trip)
        learn(trip)
        assert (trip.meter[0].expansions, trip.meter[0].scans, trip.meter[0].learning_ops) == (0, 2, 1)

    @pytest.mark.parametrize("limit", [1, 2, 25])
    def test_exactly_the_limit_is_granted(self, limit: int) -> None:
        trip = trip_with(limit)
        assert [bool(charge(trip, CELL)) for _ in range(limit + 2)] == [True] * limit + [False, False]
        assert trip.meter[0].expansions == trip.meter[0].scans == limit

    def test_a_limit_on_scans_counts_every_scan(self) -> None:
        trip = trip_with(4, "scans")
        assert charge(trip, CELL)
        scan(trip)
        learn(trip)
        assert charge(trip, CELL)
        assert not charge(trip, CELL)
        assert (trip.meter[0].expansions, trip.meter[0].scans) == (2, 4)

    def test_a_limit_on_expansions_does_not_mind_scans(self) -> None:
        trip = trip_with(1)
        for _ in range(9):
            scan(trip)
            learn(trip)
        assert charge(trip, CELL)
        assert not charge(trip, CELL)

    def test_the_log_holds_the_expanded_cells_as_far_as_there_is_room(self) -> None:
        trip = trip_with(5)
        for cell in range(10, 18):
            charge(trip, np.int64(cell))
        assert trip.log.tolist() == [10, 11, 12, 13]
        assert trip.meter[0].expansions == 5

    def test_values_are_raised_and_never_lowered(self) -> None:
        trip, h = trip_with(), np.array([5, 5, 5], np.int64)
        raise_h(trip, h, 0, 6)
        raise_h(trip, h, 1, 5)
        raise_h(trip, h, 2, 4)
        assert (h.tolist(), int(trip.tally[0].raises)) == ([6, 5, 5], 1)


class TestPlans:
    GRID = Grid([[1, 1, 1, 1], [1, 1, 0, 1]], connectivity=4)

    def test_without_committed_moves_there_must_be_a_plan(self) -> None:
        trip = trip_with()
        assert must_plan(self.GRID.terrain, trip, self.GRID.cell((0, 0)))
        commit(trip, EAST)
        assert not must_plan(self.GRID.terrain, trip, self.GRID.cell((0, 0)))
        assert take(trip) == EAST
        assert must_plan(self.GRID.terrain, trip, self.GRID.cell((1, 0)))

    @pytest.mark.parametrize(("directions", "broken"), [((EAST, EAST, EAST), False), ((EAST, EAST, SOUTH), True)])
    def test_news_break_a_plan_only_if_a_step_of_it_is_blocked(self, directions: tuple[int, ...], broken: bool) -> None:
        # However far ahead: (2,1) has become a wall, and the way goes south into it or past it.
        trip, start = trip_with(), self.GRID.cell((0, 0))
        commit(trip, *directions)
        trip.state[0].changed += 1
        assert bool(must_plan(self.GRID.terrain, trip, start)) == broken

    def test_moves_are_taken_in_order_and_then_it_stays(self) -> None:
        trip = trip_with()
        commit(trip, SOUTH, EAST, EAST)
        assert [int(take(trip)) for _ in range(5)] == [SOUTH, EAST, EAST, STAY, STAY]
        assert (trip.tally[0].plans, trip.state[0].planned, trip.state[0].next) == (1, 3, 3)

    @pytest.mark.parametrize(("returned", "next_move"), [(WAIT, STAY), (NO_PATH, STUCK), (CUT, OVERRUN)])
    def test_what_a_plan_returns_instead_of_moves(self, returned: int, next_move: int) -> None:
        trip = trip_with(10)
        adopt(trip, np.int64(returned))
        assert take(trip) == next_move
        meter = Meter(trip)
        assert (meter.stuck, meter.overrun) == (returned == NO_PATH, returned == CUT)

    def test_a_plan_that_went_past_the_limit_is_an_overrun(self) -> None:
        trip = trip_with(2, "scans")
        for _ in range(3):
            learn(trip)
        commit(trip, EAST)
        assert take(trip) == OVERRUN
        assert Meter(trip).overrun

    def test_a_plan_at_the_limit_is_none(self) -> None:
        trip = trip_with(3, "scans")
        for _ in range(3):
            learn(trip)
        commit(trip, EAST)
        assert take(trip) == EAST

    @pytest.mark.parametrize("idle", [True, False])
    def test_an_overrun_is_counted_and_may_cost_the_move_only(self, idle: bool) -> None:
        trip = trip_with(1, idle=idle)
        adopt(trip, np.int64(CUT))
        assert after_overrun(trip) == (IDLE if idle else STOP)
        assert trip.tally[0].overruns == 1

    def test_a_late_plan_is_kept_for_the_next_move(self) -> None:
        trip = trip_with(2, "scans", idle=True)
        for _ in range(3):
            learn(trip)
        commit(trip, EAST, SOUTH)
        assert take(trip) == OVERRUN
        assert after_overrun(trip) == IDLE
        close_meter(trip)
        assert [int(take(trip)), int(take(trip))] == [EAST, SOUTH]

    def test_who_is_stuck_does_not_idle(self) -> None:
        trip = trip_with(1, idle=True)
        adopt(trip, np.int64(NO_PATH))
        assert after_overrun(trip) == GO
        assert trip.tally[0].overruns == 0


class TestTally:
    @given(st.lists(st.tuples(*[st.integers(0, 6)] * 4), min_size=1, max_size=8))
    def test_moves_are_added_up(self, moves: list[tuple[int, int, int, int]]) -> None:
        trip = trip_with()
        for expansions, scans, learned, traced in moves:
            for _ in range(expansions):
                charge(trip, CELL)
            for _ in range(scans):
                scan(trip)
            for _ in range(learned):
                learn(trip)
            trip.meter[0].trace_steps += traced
            close_meter(trip)
            assert [int(trip.meter[0][name]) for name in COUNTS] == [0] * 4
        tally = trip.tally[0]
        all_scans = [sum(move[:3]) for move in moves]
        assert [int(tally[name]) for name in COUNTS] == [
            sum(move[0] for move in moves),
            sum(all_scans),
            sum(move[2] for move in moves),
            sum(move[3] for move in moves),
        ]
        assert (tally.max_expansions, tally.max_scans) == (max(move[0] for move in moves), max(all_scans))
        assert (tally.moves, tally.first_expansions) == (len(moves), moves[0][0])


class TestBudget:
    def test_a_budget_limits_nothing_by_default(self) -> None:
        budget = Budget()
        assert (budget.limit, budget.count, budget.on_overrun, budget.seconds) == (None, "expansions", "truncate", None)

    def test_a_number_nothing_or_itself_make_a_budget(self) -> None:
        assert Budget.of(7) == Budget(limit=7)
        assert Budget.of(None) == Budget()
        budget = Budget(3, "scans")
        assert Budget.of(budget) is budget

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("limit", value) for value in (0, -5, 1.0, "9", True, math.inf, 10**30)),
            *(("count", value) for value in ("moves", None, 1)),
            *(("on_overrun", value) for value in ("stop", None, True)),
            *(("seconds", value) for value in (0, -1.0, math.nan, math.inf, "1", 1j)),
        ],
    )
    def test_what_cannot_be_is_refused_in_one_sentence(self, name: str, value: Any) -> None:
        with pytest.raises(InputError, match="must be") as refusal:
            Budget(**{name: value})
        assert repr(value) in str(refusal.value)
        assert "\n" not in str(refusal.value)

    def test_numpy_numbers_are_taken(self) -> None:
        assert Budget(np.int64(5), seconds=np.float64(0.003)).limit == 5


class TestMeter:
    def test_the_meter_counts_and_refuses_like_the_kernel(self) -> None:
        trip = trip_with(5)
        meter = Meter(trip)
        assert meter.charge(3)
        assert not meter.charge(3)
        assert meter.charge(2)
        assert not meter.charge()
        meter.scan(4)
        assert (meter.expansions, meter.scans, meter.limit, meter.left) == (5, 9, 5, 0)
        assert not meter.overrun

    def test_without_a_limit_nothing_is_refused(self) -> None:
        meter = Meter(trip_with())
        assert meter.charge(10**9)
        assert (meter.limit, meter.left, meter.overrun) == (None, None, False)

    def test_scans_past_their_limit_are_an_overrun(self) -> None:
        meter = Meter(trip_with(3, "scans"))
        meter.scan(3)
        assert (meter.left, meter.overrun) == (0, False)
        meter.scan()
        assert (meter.left, meter.overrun) == (0, True)
