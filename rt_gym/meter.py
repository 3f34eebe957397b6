"""The meter: what a move may cost, what it did cost, and what happens beyond.

Work is counted twice. ``expansions`` follows the papers: states whose successors are all generated in a lookahead or
search. ``scans`` counts every reading of all neighbours of a cell, for whatever purpose, so that no algorithm looks
cheap because its work is counted elsewhere. Kernels spend only through ``charge`` (an expansion, which is a scan too),
``scan`` and ``learn`` below.

A refused charge is not counted: a planner that stops when it is refused has kept its budget. Overrun is work done past
the limit, or a plan that cannot be made within it; ``after_overrun`` says what becomes of the move then.
"""

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rt_gym.errors import InputError, choice, flag, quoted, whole
from rt_gym.jit import kernel, record

if TYPE_CHECKING:
    from rt_gym.trip import Trip

UNLIMITED = 1 << 62
MARK_BITS = 4  # sixteen cells share a mark

# Why an agent cannot move, in the place of a direction: it knows no way to the goal, it has overrun its budget, or its
# memory is full.
STUCK, OVERRUN, MEMORY_FULL = -2, -3, -4
# What becomes of a move: it is made, it is lost to an overrun, or the overrun ends the run.
GO, IDLE, STOP = range(3)

# The counts of the current move; the limit, which is one of scans where ``by_scans`` is 1; whether an overrun loses the
# move (``idles``) or ends the run; how many expanded cells are in the log of this move, and of the last one.
METER = record(
    expansions=int,
    scans=int,
    learning_ops=int,
    trace_steps=int,
    limit=int,
    by_scans=int,
    idles=int,
    logged=int,
    shown=int,
)

# The totals of a trial. A move that is not diagonal costs a straight step, also where it stays or bumps into a wall.
TALLY = record(
    expansions=int,
    scans=int,
    learning_ops=int,
    trace_steps=int,
    max_expansions=int,
    max_scans=int,
    first_expansions=int,
    moves=int,
    diagonals=int,
    stays=int,
    bumps=int,
    plans=int,
    raises=int,
    overruns=int,
)


@dataclass(frozen=True)
class Budget:
    """How much an agent may compute for one move.

    Args:
        limit: the largest count per move; None counts without a limit.
        count: what the limit applies to, ``"expansions"`` or ``"scans"``.
        on_overrun: ``"truncate"`` ends the run, ``"raise"`` raises BudgetExceeded, ``"idle"`` lets the world go on
            while the agent stands still.
        seconds: wall-clock limit per move for agents that do not use the meter, in single environments only.
        free_reads: let agents written in Python read the whole map (``view.passable``) without charge; otherwise that
            is an expansion of every cell.
    """

    limit: int | None = None
    count: str = "expansions"
    on_overrun: str = "truncate"
    seconds: float | None = None
    free_reads: bool = False

    def __post_init__(self) -> None:
        if self.limit is not None:
            whole("budget", self.limit, 1)
        choice("count", self.count, ("expansions", "scans"))
        choice("on_overrun", self.on_overrun, ("truncate", "raise", "idle"))
        if self.seconds is not None and not (isinstance(self.seconds, Real) and 0 < self.seconds < float("inf")):
            raise InputError(f"seconds must be a positive number or None, not {quoted(self.seconds)}")
        flag("free_reads", self.free_reads)

    @classmethod
    def of(cls, value: "Budget | int | None") -> "Budget":
        """Return a budget from a number, from nothing, or from itself."""
        if value is None:
            return _NO_LIMIT
        return value if isinstance(value, Budget) else cls(limit=value)

    def meter(self) -> NDArray[np.record]:
        """Return a meter with this limit, as it is before the first move."""
        meter = np.zeros(1, METER)
        meter["limit"] = UNLIMITED if self.limit is None else self.limit
        meter["by_scans"] = self.count == "scans"
        meter["idles"] = self.on_overrun == "idle"
        return meter


_NO_LIMIT = Budget()


@kernel(inline=True)
def spent(meter):
    """Return the count of the current move that the limit applies to."""
    return meter.scans if meter.by_scans != 0 else meter.expansions


@kernel(inline=True)
def charge(trip, cell):
    """Pay for the expansion of ``cell``; False, and nothing counted, if the budget of this move is used up."""
    meter = trip.meter[0]
    if spent(meter) >= meter.limit:
        return False
    if meter.logged < trip.log.size:
        trip.log[meter.logged] = cell
        meter.logged += 1
    meter.expansions += 1
    meter.scans += 1
    return True


@kernel(inline=True)
def scan(trip):
    """Count a reading of all neighbours of a cell that is no expansion."""
    trip.meter[0].scans += 1


@kernel(inline=True)
def learn(trip):
    """Count one operation of a learning phase, which reads all neighbours of a cell."""
    meter = trip.meter[0]
    meter.learning_ops += 1
    meter.scans += 1


@kernel
def list_raise(trip, cell, old, new):
    """List that the learned value of a cell was raised."""
    entry = trip.raised[trip.tally[0].raises]
    entry.cell, entry.old, entry.new = cell, old, new


@kernel(inline=True)
def count_raise(trip, cell, old, new):
    """Count that the learned value of a cell was raised, list it where there is room, and mark where it was."""
    if trip.tally[0].raises < trip.raised.size:
        list_raise(trip, cell, old, new)
    trip.tally[0].raises += 1
    if cell >> MARK_BITS < trip.marks.size:
        trip.marks[cell >> MARK_BITS] = 1


@kernel(inline=True)
def raise_h(trip, h, cell, value):
    """Raise a learned value, never lower it, and count the change."""
    if value > h[cell]:
        count_raise(trip, cell, h[cell], value)
        h[cell] = value


@kernel(inline=True)
def overran(trip):
    """Whether the current move has gone past the limit, or could not be planned within it."""
    meter = trip.meter[0]
    return spent(meter) > meter.limit or trip.state[0].verdict == OVERRUN


@kernel(inline=True)
def after_overrun(trip):
    """Say what becomes of the current move, and count it if it has overrun the budget: GO, IDLE or STOP.

    An agent that idles keeps its late plan for the next move.
    """
    if not overran(trip):
        return np.int64(GO)
    trip.tally[0].overruns += 1
    if trip.meter[0].idles == 0:
        return np.int64(STOP)
    trip.state[0].verdict = 0
    return np.int64(IDLE)


@kernel(inline=True)
def close_meter(trip):
    """Count a move, add what it took to the trial's totals, and begin the next one with nothing counted."""
    meter, tally = trip.meter[0], trip.tally[0]
    meter.shown = meter.logged
    tally.moves += 1
    if meter.scans + meter.trace_steps == 0:
        return
    if tally.moves == 1:
        tally.first_expansions = meter.expansions
    if meter.expansions > tally.max_expansions:
        tally.max_expansions = meter.expansions
    if meter.scans > tally.max_scans:
        tally.max_scans = meter.scans
    tally.expansions += meter.expansions
    tally.scans += meter.scans
    tally.learning_ops += meter.learning_ops
    tally.trace_steps += meter.trace_steps
    meter.expansions = meter.scans = meter.learning_ops = meter.trace_steps = 0
    meter.logged = 0


class Meter:
    """The meter as Python sees it: spend through ``charge`` and ``scan``, read the rest. It only goes up.

    What is spent through it is noted a second time, for ``tampered``.
    """

    __slots__ = ("_meter", "_noted", "_state", "_tally")

    def __init__(self, trip: "Trip") -> None:
        self._meter, self._state, self._tally = trip.meter, trip.state, trip.tally
        self._noted = (0, 0, 0)  # the move, and the expansions and scans for it

    def charge(self, count: int = 1) -> bool:
        """Pay for expansions; False, and nothing counted, if they do not fit into this move's budget."""
        if self._spent + whole("count", count, 0) > self._meter["limit"][0]:
            return False
        self._meter["expansions"] += count
        self._meter["scans"] += count
        self._note(count, count)
        return True

    def scan(self, count: int = 1) -> None:
        """Count readings of all neighbours of a cell that are no expansions."""
        self._meter["scans"] += whole("count", count, 0)
        self._note(0, count)

    def _note(self, expansions: int, scans: int) -> None:
        move, seen, read = int(self._tally["moves"][0]), *self._noted[1:]
        if move != self._noted[0]:
            seen = read = 0
        self._noted = move, seen + expansions, read + scans

    @property
    def tampered(self) -> bool:
        """Whether less is counted for the current move than was spent through this meter."""
        move, expansions, scans = self._noted
        now = self._meter[0]
        return bool(move == self._tally["moves"][0] and (now["expansions"] < expansions or now["scans"] < scans))

    @property
    def expansions(self) -> int:
        """Expansions of the current move."""
        return int(self._meter["expansions"][0])

    @property
    def scans(self) -> int:
        """Scans of the current move."""
        return int(self._meter["scans"][0])

    @property
    def limit(self) -> int | None:
        """The largest count per move, None without a limit."""
        limit = int(self._meter["limit"][0])
        return None if limit == UNLIMITED else limit

    @property
    def left(self) -> int | None:
        """What is left for this move, None without a limit."""
        return None if self.limit is None else max(0, self.limit - self._spent)

    @property
    def stuck(self) -> bool:
        """Whether the agent has said that it knows no way to the goal."""
        return bool(self._state["verdict"][0] == STUCK)

    @property
    def overrun(self) -> bool:
        """Whether the current move has gone past the limit, or could not be planned within it."""
        return bool(self._spent > self._meter["limit"][0] or self._state["verdict"][0] == OVERRUN)

    @property
    def _spent(self) -> int:
        return self.scans if self._meter["by_scans"][0] else self.expansions
