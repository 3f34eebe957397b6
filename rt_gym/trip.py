"""A trip: where the agent is, the plan it follows, the path behind it, and the meter and clock of its moves."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.clock import Clock, make_clock
from rt_gym.jit import kernel, record
from rt_gym.meter import MEMORY_FULL, OVERRUN, STUCK, TALLY, Budget, overran

STAY = -1

# What a plan returns instead of a number of moves. WAIT stands still and thinks on at the next move, CUT could not be
# made within the budget, FULL asks for a larger memory and then for the same plan again.
NO_PATH, WAIT, CUT, FULL = 0, -1, -2, -3

# Where the agent stands; the next move of its plan, and how many were planned; how many cells are listed as changed, of
# which the first ``checked`` have been checked against the plan and the first ``reported`` given to the agent; and why
# it cannot move: STUCK, OVERRUN, MEMORY_FULL, or 0.
STATE = record(at=int, next=int, planned=int, changed=int, checked=int, reported=int, verdict=int)

# A learned value that was raised: of which cell, from what, to what.
RAISE = record(cell=int, old=int, new=int)


class Trip(NamedTuple):
    """One trial's record, shared by world and agent.

    Attributes:
        meter: METER[1], what the current move has taken, and its limit.
        tally: TALLY[1], the trial's totals.
        state: STATE[1], where on the map and in its plan the agent is.
        plan: uint8, the committed directions.
        path: int32, the cell after every move, the start first, up to the length of the array.
        log: int32, the cells expanded for the current move, or for the last one, up to the length of the array.
        raised: RAISE, the values raised in the trial, up to the length of the array.
        marks: uint8 per 2**MARK_BITS cells, 1 where a value was raised since the problem began; empty if nobody asks.
        changed: int32, the cells whose believed state changed since the last plan.
        clock: how long the moves took.
    """

    meter: NDArray[np.record]
    tally: NDArray[np.record]
    state: NDArray[np.record]
    plan: NDArray[np.uint8]
    path: NDArray[np.int32]
    log: NDArray[np.int32]
    raised: NDArray[np.record]
    marks: NDArray[np.uint8]
    changed: NDArray[np.int32]
    clock: Clock

    @property
    def held(self) -> int:
        """How many bytes it takes. Plans and lists of changes are short beside the room for them."""
        arrays = (self.meter, self.tally, self.state, self.path, self.log, self.raised, self.marks, *self.clock)
        return sum(array.nbytes for array in arrays)


def make_trip(
    plan: int,
    path: int = 0,
    log: int = 0,
    changed: int = 0,
    timed: bool = False,
    budget: Budget | None = None,
    rows: tuple[int, ...] = (),
    raised: int = 0,
    marks: int = 0,
) -> Trip:
    """Return the record of a trial, or ``rows`` of them for a batch.

    Args:
        plan: how many moves can be committed.
        path: how many cells of the path are kept.
        log: how many expanded cells are kept per move.
        changed: how many changed cells are listed.
        timed: whether moves are timed.
        budget: the limit per move; none if not given.
        rows: how many records, as the first axes of every array.
        raised: how many raised values are listed.
        marks: how many marks there are of where values were raised.
    """
    return Trip(
        meter=np.broadcast_to((budget or Budget()).meter(), (*rows, 1)).copy(),
        tally=np.zeros((*rows, 1), TALLY),
        state=np.zeros((*rows, 1), STATE),
        plan=np.empty((*rows, plan), np.uint8),
        path=np.empty((*rows, path), np.int32),
        log=np.empty((*rows, log), np.int32),
        raised=np.empty((*rows, raised), RAISE),
        marks=np.zeros((*rows, marks), np.uint8),
        changed=np.empty((*rows, changed), np.int32),
        clock=make_clock(timed, rows),
    )


def with_room(trip: Trip, room: int) -> Trip:
    """Return the trip with room for so many more changed cells. Where there is too little, each is listed once."""
    state = trip.state[0]
    begin, end = int(state.reported), int(state.changed)
    if trip.changed.size - end >= room:
        return trip
    new = np.unique(trip.changed[begin:end])
    reported = np.setdiff1d(trip.changed[:begin], new)
    state.reported, state.changed, state.checked = reported.size, reported.size + new.size, 0
    if trip.changed.size - state.changed < room:
        trip = trip._replace(changed=np.empty(2 * (int(state.changed) + room), np.int32))
    trip.changed[: state.changed] = np.concatenate([reported, new])
    return trip


@kernel(inline=True)
def restart_trip(trip, meter, s):
    """Begin a new trial in ``s``, with a meter as it is before the first move."""
    state, tally, times = trip.state[0], trip.tally[0], trip.clock.times[0]
    trip.meter[0] = meter[0]
    tally.expansions = tally.scans = tally.learning_ops = tally.trace_steps = 0
    tally.max_expansions = tally.max_scans = tally.first_expansions = 0
    tally.moves = tally.diagonals = tally.stays = tally.bumps = 0
    tally.plans = tally.raises = tally.overruns = 0
    state.at = s
    state.next = state.planned = state.verdict = 0
    forget_changes(trip)
    times.last = times.longest = times.total = times.planning = 0
    trip.clock.bins[:] = 0
    if trip.path.size > 0:
        trip.path[0] = s


@kernel
def still_legal(terrain, trip, s):
    """Whether every remaining committed step is legal on the map as it is believed now."""
    state, cell = trip.state[0], s
    for k in range(state.next, state.planned):
        d = np.int64(trip.plan[k])
        if terrain.mask[cell] >> d & 1 == 0:
            return False
        cell += terrain.offset[d]
    return True


@kernel(inline=True)
def must_plan(terrain, trip, s):
    """Whether the committed moves are used up, or one of them has turned out to be blocked."""
    state = trip.state[0]
    if state.next >= state.planned:
        return True
    if state.checked == state.changed:
        return False
    state.checked = state.changed
    return not still_legal(terrain, trip, s)


@kernel(inline=True)
def adopt(trip, n):
    """Take note of what a plan returned: the number of its moves, or NO_PATH, WAIT, CUT or FULL.

    Work past the limit is an overrun, whatever it has found. Only where an overrun loses the move, an agent that found
    no way is stuck all the same: it would lose every move that is left.
    """
    state = trip.state[0]
    trip.tally[0].plans += 1
    state.next = 0
    state.planned = max(n, np.int64(0))
    if state.changed != 0:
        forget_changes(trip)
    state.verdict = 0
    late = n == CUT or overran(trip)
    if n == FULL:
        state.verdict = MEMORY_FULL
        trip.tally[0].plans -= 1
    elif n == NO_PATH and (not late or trip.meter[0].idles != 0):
        state.verdict = STUCK
    elif late:
        state.verdict = OVERRUN


@kernel(inline=True)
def forget_changes(trip):
    """Begin a new list of changed cells."""
    state = trip.state[0]
    state.changed = state.checked = state.reported = 0


@kernel(inline=True)
def take(trip):
    """Return the next direction, STAY, STUCK, OVERRUN or MEMORY_FULL."""
    state = trip.state[0]
    if state.verdict != 0:
        return state.verdict
    if state.next >= state.planned:
        return np.int64(STAY)
    state.next += 1
    return np.int64(trip.plan[state.next - 1])
