"""LRTS: look ahead layer by layer, learn, walk to the best state of the last layer, or back if that was too much.

V. Bulitko, G. Lee, "Learning in Real-Time Search: A Unifying Framework", Journal of Artificial Intelligence Research
25, 2006.

C. Hernández, P. Meseguer, "Combining Lookahead and Propagation in Real-Time Heuristic Search", SoCS 2008, describe it,
without a quota, in the four columns of Figure 2; comments name the column. There are no numbered lines to refer to.
The algorithm in plain Python: ``tests/reference/plain_lrts.py``.

Readings:
- Those of the lookahead are listed in ``rt_gym.search.layers``.
- gamma * g is exact: every step is priced at gamma times its cost, rounded down to the unit of costs (2**-40 of a
  straight step) but at least one unit. So values stay admissible, and gamma = 1 changes no price.
- The agent walks the whole way to the chosen state, and plans earlier only where that has turned out to be blocked.
- Once ``quota`` is used up, every further change sends the agent back along its own trail to where it planned before.
  Without a trail it goes forward. A trail that is blocked, or longer than the map has cells, is forgotten.
- The way back is checked step by step, which is a scan each.
- Depth one has no code of its own, as it has in LRTA*, and takes several times as long; deeper lookaheads take as long
  as those of LRTA*.
"""

import math
from fractions import Fraction
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.lrta import LRTA
from rt_gym.cost import INF, STRAIGHT
from rt_gym.errors import InputError, quoted
from rt_gym.jit import kernel, record
from rt_gym.meter import UNLIMITED, scan
from rt_gym.search.layers import look_by_layers, max_of_min, trace_best
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.space import NONE, Space
from rt_gym.search.values import raise_value, value_at
from rt_gym.terrain import OPPOSITE
from rt_gym.trip import CUT, NO_PATH
from rt_gym.views import KernelView

MAX_QUOTA = INF // STRAIGHT - 1

# What was learned, how many steps and stations the trail has, and where the plan leads.
PROGRESS = record(learned=int, steps=int, stations=int, heading=int)
NOWHERE, FORWARD, BACK = range(3)


class Trail(NamedTuple):
    """The way back, and how much may be learned before it is taken.

    Attributes:
        direction: uint8, the directions of the steps made.
        station: int32, how many steps there were before each plan that went forward.
        state: PROGRESS[1].
        quota: how much may be learned, or UNLIMITED.
    """

    direction: NDArray[np.uint8]
    station: NDArray[np.int32]
    state: NDArray[np.record]
    quota: int


def make_trail(cells: int, quota: float | None) -> Trail:
    """Return an empty trail on a map with this many cells, for a quota in straight steps or None."""
    return Trail(
        direction=np.empty(cells, np.uint8),
        station=np.empty(cells + 1, np.int32),
        state=np.zeros(1, PROGRESS),
        quota=UNLIMITED if quota is None else int(Fraction(quota) * STRAIGHT),
    )


class LRTSMemory(NamedTuple):
    """Learned values, the lookahead with the first slots of its layers and its prices, the depth, and the trail."""

    h: NDArray[np.int64] | PagedValues
    space: Space
    layers: NDArray[np.int64]
    prices: NDArray[np.int64]
    depth: int
    trail: Trail


@kernel
def extend_trail(trip, trail):
    """Enter the moves made since the last plan: forward they make the trail longer, back shorter."""
    state, made = trail.state[0], trip.state[0].next
    if state.heading == BACK:
        state.steps -= made
    elif state.heading == FORWARD:
        if state.steps + made > trail.direction.size:
            state.steps = state.stations = made = np.int64(0)
        for k in range(made):
            trail.direction[state.steps + k] = trip.plan[k]
        state.steps += made
    while state.stations > 0 and trail.station[state.stations - 1] >= state.steps:
        state.stations -= 1
    state.heading = NOWHERE


@kernel
def go_back(terrain, trip, trail, s):
    """Commit to the way back to the last station; 0 if there is none, or none any more."""
    state, cell = trail.state[0], s
    if state.stations == 0:
        return np.int64(0)
    count = state.steps - trail.station[state.stations - 1]
    for k in range(count):
        d = np.int64(OPPOSITE[trail.direction[state.steps - 1 - k]])
        scan(trip)
        if terrain.mask[cell] >> d & 1 == 0:
            state.steps = state.stations = 0
            return np.int64(0)
        trip.plan[k] = d
        cell += terrain.offset[d]
    state.heading = BACK
    return count


@kernel
def mark_station(trail):
    """Make this place, from where the agent goes forward, a station; without a quota it will never go back."""
    state = trail.state[0]
    if trail.quota != UNLIMITED:
        trail.station[state.stations] = state.steps
        state.stations += 1
        state.heading = FORWARD


@kernel
def too_much(trail, change):
    """Add to what was learned, and say whether it is beyond the quota."""
    state, quota = trail.state[0], trail.quota
    if quota == UNLIMITED:
        return False
    state.learned += change
    if state.learned <= quota:
        return False
    state.learned = quota
    return True


@kernel
def plan(terrain, trip, memory, s, t):
    """Learn, then commit to the way forward or, after a change beyond the quota, back."""
    h, space, trail = memory.h, memory.space, memory.trail
    extend_trail(trip, trail)
    count = look_by_layers(terrain, trip, memory.prices, space, memory.layers, h, s, t, memory.depth)  # search space
    if count == CUT:
        return np.int64(CUT)
    value = np.int64(INF) if count == NONE else max_of_min(space, memory.layers, count)
    if value >= INF:
        return np.int64(NO_PATH)
    change, moves = max(value - value_at(h, terrain, s, t), np.int64(0)), np.int64(0)
    raise_value(trip, h, terrain, s, t, value)  # local learning space, learning rule
    if too_much(trail, change):
        moves = go_back(terrain, trip, trail, s)
    if moves > 0:
        return moves
    mark_station(trail)
    return trace_best(terrain, space, trip.plan)  # control strategy


class LRTS(LRTA):
    """LRTS.

    Args:
        depth: how many actions ahead it looks; it expands at most (2 depth - 1)**2 states per plan.
        gamma: weight of the costs, above 0 and at most 1; in the end paths cost at most 1 / gamma times the optimum.
        quota: how much may be learned, in straight steps, before changes send it back; None for any amount.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    memory_type: ClassVar[Any] = LRTSMemory

    def __init__(self, depth: int = 1, gamma: float = 1.0, quota: float | None = None, tie: str = "first") -> None:
        super().__init__(depth, tie)
        if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0 < gamma <= 1:
            raise InputError(f"gamma must be a number above 0 and at most 1, not {quoted(gamma)}")
        self.gamma: float = float(gamma)
        self.quota: float | None = _checked_quota(quota)

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return what the lookahead needs beside its states, and the trail."""
        gamma = Fraction(self.gamma)
        return {
            "layers": np.zeros(self.depth + 2, np.int64),
            "prices": np.array([max(1, int(int(cost) * gamma)) for cost in view.terrain.cost], np.int64),
            "depth": self.depth,
            "trail": make_trail(view.terrain.mask.size, self.quota),
        }

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Let the values start at the heuristic."""
        super().clear_memory(view, seed)
        self.begin_trial()

    def begin_trial(self) -> None:
        """Begin with the whole quota and without a trail."""
        self.memory.trail.state[:] = 0


def _checked_quota(quota: Any) -> float | None:
    """Return a quota that is no more than the values can hold; None for one without a limit."""
    number = isinstance(quota, Real) and not isinstance(quota, bool)
    if quota is None or (number and quota == math.inf):
        return None
    if not number or not 0 <= quota <= MAX_QUOTA:
        raise InputError(f"quota must be a number from 0 to {MAX_QUOTA}, or None for no limit, not {quoted(quota)}")
    return float(quota)
