"""The meter: what a move may cost, what it did cost, and what happens beyond.

Work is counted twice. ``expansions`` follows the papers: states whose successors are all generated in a lookahead or
search. ``scans`` counts every reading of all neighbours of a cell, for whatever purpose, so that no algorithm looks
cheap because its work is booked elsewhere. Kernels spend only through ``charge`` (an expansion, which is a scan too),
``scan`` and ``learn`` below.

A refused charge does not count: a planner that is refused and obeys has kept its budget. Overrun is work done past
the limit, or a plan that cannot be made within it.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym import clock
from rt_gym.errors import InputError, quoted, whole
from rt_gym.jit import kernel

UNLIMITED = 1 << 62
STAY = -1

# Entries of Trip.meter and Trip.tally; the first four stand in both, for the current move and for the trial.
EXPANSIONS, SCANS, LEARNING_OPS, TRACE_STEPS = range(4)
COUNT, LIMIT, IDLE, NEXT, PLANNED, LOGGED, SHOWN, CHANGED, CHECKED, TOLD, VERDICT, AT = range(4, 16)
MAX_EXPANSIONS, MAX_SCANS, MOVES, STRAIGHTS, DIAGONALS, STAYS, BUMPS, PLANS, FIRST, RAISES, OVERRUNS = range(4, 15)

# What a plan returns instead of a number of moves; FULL asks for a larger memory and then for the same plan again.
NO_PATH, WAIT, CUT, FULL = 0, -1, -2, -3
# Why an episode cannot go on, beside STAY and the directions.
STUCK, OVERRUN, CRAMPED = -2, -3, -4


class Trip(NamedTuple):
    """One trial's record, shared by world and agent.

    Attributes:
        meter: int64, this move's counts, the limit, and where in its plan and on the map the agent is.
        tally: int64, the trial's totals.
        plan: uint8, the committed directions.
        path: int32, the cell after every move, the start first; as long as there is room.
        log: int32, the cells expanded for the current move, or for the last one; as long as there is room.
        changed: int32, the cells whose believed state changed since the last plan.
        clock: int64, see ``rt_gym.clock``.
    """

    meter: NDArray[np.int64]
    tally: NDArray[np.int64]
    plan: NDArray[np.uint8]
    path: NDArray[np.int32]
    log: NDArray[np.int32]
    changed: NDArray[np.int32]
    clock: NDArray[np.int64]


def make_trip(cells: int, path: int = 0, log: int = 0, changes: int = 0, timed: bool = False) -> Trip:
    """Return a record without a limit.

    Args:
        cells: size of the flat, bordered map.
        path: how many cells of the path are kept.
        log: how many expanded cells are kept per move.
        changes: how often the true map will change.
        timed: whether moves are timed.
    """
    trip = Trip(
        meter=np.zeros(AT + 1, np.int64),
        tally=np.zeros(OVERRUNS + 1, np.int64),
        plan=np.empty(cells, np.uint8),
        path=np.empty(path, np.int32),
        log=np.empty(log, np.int32),
        changed=np.empty(cells + changes, np.int32),
        clock=np.zeros(clock.SIZE if timed else 0, np.int64),
    )
    trip.meter[LIMIT] = UNLIMITED
    return trip


@kernel(inline=True)
def charge(trip, cell):
    """Pay for the expansion of ``cell``; False, and nothing counted, if the budget of this move is used up."""
    meter = trip.meter
    if meter[meter[COUNT]] >= meter[LIMIT]:
        return False
    if meter[LOGGED] < trip.log.size:
        trip.log[meter[LOGGED]] = cell
        meter[LOGGED] += 1
    meter[EXPANSIONS] += 1
    meter[SCANS] += 1
    return True


@kernel(inline=True)
def scan(trip):
    """Count a reading of all neighbours of a cell that is no expansion."""
    trip.meter[SCANS] += 1


@kernel(inline=True)
def learn(trip):
    """Count one operation of a learning phase, which reads all neighbours of a cell."""
    trip.meter[LEARNING_OPS] += 1
    trip.meter[SCANS] += 1


@kernel(inline=True)
def raise_h(trip, h, cell, value):
    """Raise a learned value, never lower it, and count the change."""
    if value > h[cell]:
        h[cell] = value
        trip.tally[RAISES] += 1


@kernel
def still_legal(terrain, trip, s):
    """Whether every remaining committed step is legal on the map as it is believed now."""
    cell = s
    for k in range(trip.meter[NEXT], trip.meter[PLANNED]):
        d = np.int64(trip.plan[k])
        if terrain.mask[cell] >> d & 1 == 0:
            return False
        cell += terrain.offset[d]
    return True


@kernel(inline=True)
def must_plan(terrain, trip, s):
    """Whether the committed moves are used up, or one of them has turned out to be blocked."""
    meter = trip.meter
    if meter[NEXT] >= meter[PLANNED]:
        return True
    if meter[CHECKED] == meter[CHANGED]:
        return False
    meter[CHECKED] = meter[CHANGED]
    return not still_legal(terrain, trip, s)


@kernel(inline=True)
def adopt(trip, n):
    """Take note of what a plan returned: so many moves, or NO_PATH, WAIT, CUT or FULL."""
    meter, tally = trip.meter, trip.tally
    tally[PLANS] += 1
    meter[NEXT] = 0
    meter[PLANNED] = max(n, np.int64(0))
    meter[CHANGED] = meter[CHECKED] = meter[TOLD] = 0
    meter[VERDICT] = 0
    if n == NO_PATH:
        meter[VERDICT] = STUCK
    elif n == FULL:
        meter[VERDICT] = CRAMPED
        tally[PLANS] -= 1
    elif n == CUT or meter[meter[COUNT]] > meter[LIMIT]:
        meter[VERDICT] = OVERRUN


@kernel(inline=True)
def take(trip):
    """Return the next direction, STAY, STUCK, OVERRUN or CRAMPED."""
    meter = trip.meter
    if meter[VERDICT] != 0:
        return meter[VERDICT]
    if meter[NEXT] >= meter[PLANNED]:
        return np.int64(STAY)
    meter[NEXT] += 1
    return np.int64(trip.plan[meter[NEXT] - 1])


@kernel(inline=True)
def may_idle(trip):
    """Count an overrun; True if the agent only loses the move by it. It keeps its late plan for the next one."""
    if trip.meter[VERDICT] != OVERRUN:
        return False
    trip.tally[OVERRUNS] += 1
    trip.meter[VERDICT] = 0
    return trip.meter[IDLE] != 0


@kernel(inline=True)
def close_move(trip):
    """Add this move's counts to the trial's and begin the next move with none."""
    meter, tally = trip.meter, trip.tally
    meter[SHOWN] = meter[LOGGED]
    tally[MOVES] += 1
    if meter[SCANS] + meter[TRACE_STEPS] == 0:
        return
    if tally[MOVES] == 1:
        tally[FIRST] = meter[EXPANSIONS]
    if meter[EXPANSIONS] > tally[MAX_EXPANSIONS]:
        tally[MAX_EXPANSIONS] = meter[EXPANSIONS]
    if meter[SCANS] > tally[MAX_SCANS]:
        tally[MAX_SCANS] = meter[SCANS]
    for k in range(4):
        tally[k] += meter[k]
        meter[k] = 0
    meter[LOGGED] = 0


@dataclass(frozen=True)
class Budget:
    """How much an agent may compute for one move.

    Args:
        limit: the largest count per move; None counts without a limit.
        count: what the limit applies to, ``"expansions"`` or ``"scans"``.
        on_overrun: ``"truncate"`` ends the run, ``"raise"`` raises BudgetExceeded, ``"idle"`` lets the world go on
            while the agent stands still.
        seconds: wall-clock limit per move for agents that do not use the meter, in single environments only.
    """

    limit: int | None = None
    count: str = "expansions"
    on_overrun: str = "truncate"
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.limit is not None:
            whole("budget", self.limit, 1)
        if self.count not in ("expansions", "scans"):
            raise InputError(f'count must be "expansions" or "scans", not {quoted(self.count)}')
        if self.on_overrun not in ("truncate", "raise", "idle"):
            raise InputError(f'on_overrun must be "truncate", "raise" or "idle", not {quoted(self.on_overrun)}')
        if self.seconds is not None and not (isinstance(self.seconds, Real) and 0 < self.seconds < float("inf")):
            raise InputError(f"seconds must be a positive number or None, not {quoted(self.seconds)}")

    @classmethod
    def of(cls, value: "Budget | int | None") -> "Budget":
        """Return a budget from a number, from nothing, or from itself."""
        return value if isinstance(value, Budget) else cls(limit=value)


class Meter:
    """The meter as Python sees it: spend through ``charge`` and ``scan``, read the rest."""

    def __init__(self, trip: Trip) -> None:
        self._trip = trip

    def charge(self, count: int = 1) -> bool:
        """Pay for expansions; False, and nothing counted, if they do not fit into this move's budget."""
        meter = self._trip.meter
        if meter[meter[COUNT]] + whole("count", count, 0) > meter[LIMIT]:
            return False
        meter[EXPANSIONS] += count
        meter[SCANS] += count
        return True

    def scan(self, count: int = 1) -> None:
        """Count readings of all neighbours of a cell that are no expansions."""
        self._trip.meter[SCANS] += whole("count", count, 0)

    @property
    def expansions(self) -> int:
        """Expansions of the current move."""
        return int(self._trip.meter[EXPANSIONS])

    @property
    def scans(self) -> int:
        """Scans of the current move."""
        return int(self._trip.meter[SCANS])

    @property
    def limit(self) -> int | None:
        """The largest count per move, None without a limit."""
        limit = int(self._trip.meter[LIMIT])
        return None if limit == UNLIMITED else limit

    @property
    def left(self) -> int | None:
        """What is left for this move, None without a limit."""
        meter: Any = self._trip.meter
        return None if self.limit is None else max(0, int(meter[LIMIT] - meter[meter[COUNT]]))

    @property
    def stuck(self) -> bool:
        """Whether the agent has said that it knows no way to the goal."""
        return bool(self._trip.meter[VERDICT] == STUCK)

    @property
    def overrun(self) -> bool:
        """Whether the current move has gone past the limit, or could not be planned within it."""
        meter: Any = self._trip.meter
        return bool(meter[meter[COUNT]] > meter[LIMIT] or meter[VERDICT] == OVERRUN)
