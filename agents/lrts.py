"""LRTS: look ahead layer by layer, learn, walk to the best state of the last layer, or back if that was too much.

V. Bulitko, G. Lee, "Learning in Real-Time Search: A Unifying Framework", Journal of Artificial Intelligence Research
25, 2006.

Readings:
- Those of the lookahead are listed in ``rt_gym.search.layers``.
- gamma * g is exact: every step is priced at gamma times its cost, rounded down to the unit of costs (2**-40 of a
  straight step) but at least one unit. So values stay admissible, and gamma = 1 changes no price.
- The agent walks the whole way to the chosen state, and plans earlier only where that has turned out to be blocked.
- Once ``quota`` is used up, every further change sends the agent back along its own trail to where it planned before.
  Without a trail it goes forward. A trail that is blocked, or longer than the map has cells, is forgotten.
- The way back is checked step by step, which is a scan each.
- Depth one is not written out, as it is in LRTA*, and takes several times as long; deeper lookaheads cost the same.
"""

import math
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.lrta import LRTA
from rt_gym.cost import INF, STRAIGHT
from rt_gym.errors import InputError, quoted
from rt_gym.grid import OPPOSITE
from rt_gym.jit import kernel
from rt_gym.meter import UNLIMITED, raise_h, scan
from rt_gym.search.layers import look_by_layers, max_of_min, trace_best
from rt_gym.search.space import NONE, Space, make_space
from rt_gym.trip import CUT, NO_PATH
from rt_gym.world import View

MAX_QUOTA = INF // STRAIGHT - 1

# Entries of LRTSMemory.state: what was learned, the steps and the stations of the trail, and where the plan leads.
LEARNED, STEPS, STATIONS, HEADING = range(4)
NOWHERE, FORWARD, BACK = range(3)


class LRTSMemory(NamedTuple):
    """Learned values, the lookahead with its prices, the parameters, and the trail.

    The trail holds the directions of the steps made; a station is how many there were before a plan.
    """

    h: NDArray[np.int64]
    space: Space
    layers: NDArray[np.int64]
    prices: NDArray[np.int64]
    depth: NDArray[np.int64]
    quota: NDArray[np.int64]
    trail: NDArray[np.uint8]
    stations: NDArray[np.int32]
    state: NDArray[np.int64]


@kernel
def extend_trail(trip, memory):
    """Enter the moves made since the last plan: forward they make the trail longer, back shorter."""
    state, made = memory.state, trip.state[0].next
    if state[HEADING] == BACK:
        state[STEPS] -= made
    elif state[HEADING] == FORWARD:
        if state[STEPS] + made > memory.trail.size:
            state[STEPS] = state[STATIONS] = made = np.int64(0)
        for k in range(made):
            memory.trail[state[STEPS] + k] = trip.plan[k]
        state[STEPS] += made
    while state[STATIONS] > 0 and memory.stations[state[STATIONS] - 1] >= state[STEPS]:
        state[STATIONS] -= 1
    state[HEADING] = NOWHERE


@kernel
def go_back(terrain, trip, memory, s):
    """Commit to the way back to the last station; 0 if there is none, or none any more."""
    state, cell = memory.state, s
    if state[STATIONS] == 0:
        return np.int64(0)
    count = state[STEPS] - memory.stations[state[STATIONS] - 1]
    for k in range(count):
        d = np.int64(OPPOSITE[memory.trail[state[STEPS] - 1 - k]])
        scan(trip)
        if terrain.mask[cell] >> d & 1 == 0:
            state[STEPS] = state[STATIONS] = 0
            return np.int64(0)
        trip.plan[k] = d
        cell += terrain.offset[d]
    state[HEADING] = BACK
    return count


@kernel
def mark_station(memory):
    """Make this place, from where the agent goes forward, a station; without a quota it will never go back."""
    state = memory.state
    if memory.quota[0] != UNLIMITED:
        memory.stations[state[STATIONS]] = state[STEPS]
        state[STATIONS] += 1
        state[HEADING] = FORWARD


@kernel
def too_much(memory, change):
    """Add to what was learned, and say whether it is beyond the quota."""
    state, quota = memory.state, memory.quota[0]
    if quota == UNLIMITED:
        return False
    state[LEARNED] += change
    if state[LEARNED] <= quota:
        return False
    state[LEARNED] = quota
    return True


@kernel
def plan(terrain, trip, memory, s, t):
    """Learn, then commit to the way forward or, after a change beyond the quota, back."""
    h, space = memory.h, memory.space
    extend_trail(trip, memory)
    count = look_by_layers(terrain, trip, memory.prices, space, memory.layers, h, s, t, memory.depth[0])
    if count == CUT:
        return np.int64(CUT)
    value = np.int64(INF) if count == NONE else max_of_min(space, memory.layers, count)
    if value >= INF:
        return np.int64(NO_PATH)
    change, moves = max(value - h[s], np.int64(0)), np.int64(0)
    raise_h(trip, h, s, value)
    if too_much(memory, change):
        moves = go_back(terrain, trip, memory, s)
    if moves > 0:
        return moves
    mark_station(memory)
    return trace_best(terrain, space, trip.plan)


class LRTS(LRTA):
    """LRTS.

    Args:
        depth: how many actions ahead it looks; it expands at most (2 depth - 1)**2 states per plan.
        gamma: weight of the costs, above 0 and at most 1; in the end paths cost at most 1 / gamma times the optimum.
        quota: how much may be learned, in straight steps, before changes send it back; None for any amount.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    def __init__(self, depth: int = 1, gamma: float = 1.0, quota: float | None = None, tie: str = "first") -> None:
        super().__init__(depth, tie)
        if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0 < gamma <= 1:
            raise InputError(f"gamma must be a number above 0 and at most 1, not {quoted(gamma)}")
        self.gamma: float = float(gamma)
        self.quota: float | None = _checked_quota(quota)

    def make_memory(self, view: View) -> Any:
        """Return room for the values of every cell, for the lookahead and for the trail."""
        cells, gamma = view.terrain.mask.size, Fraction(self.gamma)
        quota = UNLIMITED if self.quota is None else int(Fraction(self.quota) * STRAIGHT)
        return LRTSMemory(
            h=np.empty(cells, np.int64),
            space=make_space(cells),
            layers=np.zeros(self.depth + 2, np.int64),
            prices=np.array([max(1, int(int(cost) * gamma)) for cost in view.terrain.cost], np.int64),
            depth=np.array([self.depth]),
            quota=np.array([quota]),
            trail=np.empty(cells, np.uint8),
            stations=np.empty(cells + 1, np.int32),
            state=np.zeros(4, np.int64),
        )

    def clear_memory(self, view: View, seed: int) -> None:
        """Let the values start at the heuristic."""
        super().clear_memory(view, seed)
        self.begin_trial()

    def begin_trial(self) -> None:
        """Begin with the whole quota and without a trail."""
        self.memory.state[:] = 0


def _checked_quota(quota: Any) -> float | None:
    """Return a quota that is no more than the values can hold; None for one without a limit."""
    number = isinstance(quota, Real) and not isinstance(quota, bool)
    if quota is None or (number and quota == math.inf):
        return None
    if not number or not 0 <= quota <= MAX_QUOTA:
        raise InputError(f"quota must be a number from 0 to {MAX_QUOTA}, or None for no limit, not {quoted(quota)}")
    return float(quota)
