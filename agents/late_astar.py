"""Late-acting A*: A* in slices, and an agent that steps to and fro until the path is known.

Y. Björnsson, V. Bulitko, N. Sturtevant, "TBA*: Time-Bounded A*", IJCAI 2009, section 4.3: what acting early is measured
against.

The section describes it in words. The algorithm in plain Python: ``run_late`` in ``tests/reference/plain_tba.py``.

Readings:
- A slice expands as many states as one of TBA* with the same ``R`` and ``r``, so that the two differ in acting alone.
- Meanwhile the agent steps from the start to a random neighbour and back. When the path is found it returns to the
  start first. ``tie="first"`` draws the same neighbours in every run, ``"random"`` draws by the seed.
- Where the believed map makes the search void (see TBA*), or blocks the path, all starts anew from where the agent
  stands.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Searcher
from agents.tba import MAX_R, share
from rt_gym.jit import kernel, record
from rt_gym.meter import scan
from rt_gym.search.astar import EXHAUSTED, FOUND, begin_astar, resume_astar
from rt_gym.search.buckets import Buckets
from rt_gym.search.nodes import Nodes
from rt_gym.search.space import NONE, draw
from rt_gym.search.tree import outdated, trace
from rt_gym.terrain import OPPOSITE
from rt_gym.trip import NO_PATH, WAIT
from rt_gym.views import KernelView

# What the agent is doing, and the direction of its step away from the start, or NONE.
PROGRESS = record(phase=int, away=int)
NO_SEARCH, SEARCHING, READY = range(3)


class LateMemory(NamedTuple):
    """The search and its states, PROGRESS[1], the state of the random steps, and how many states a slice expands."""

    space: Nodes
    buckets: Buckets
    state: NDArray[np.record]
    random: NDArray[np.uint64]
    expansions: int


@kernel
def any_step(terrain, trip, random, s):
    """Return a random legal direction, NONE if there is none."""
    scan(trip)
    moves, chosen, ways = terrain.mask[s], np.int64(NONE), np.int64(0)
    for d in range(8):
        if moves >> d & 1:
            ways += 1
            if draw(random) % ways == 0:
                chosen = np.int64(d)
    return chosen


@kernel
def plan(terrain, trip, memory, s, t):
    """One time slice: search on, then step to or fro, or commit to the path."""
    buckets, space, state = memory.buckets, memory.space, memory.state[0]
    if state.phase == NO_SEARCH or outdated(terrain, trip, space):
        begin_astar(terrain, buckets, s, t)
        state.phase = SEARCHING
        state.away = NONE
    if state.phase == SEARCHING:
        end = resume_astar(terrain, trip, buckets, t, memory.expansions)
        if end == EXHAUSTED:
            return np.int64(NO_PATH)
        if end == FOUND:
            state.phase = READY
    if state.away != NONE:
        trip.plan[0] = OPPOSITE[state.away]
        state.away = NONE
        return np.int64(1)
    if state.phase == READY:
        state.phase = NO_SEARCH
        return trace(space, space.state[0].best, trip.plan)
    d = any_step(terrain, trip, memory.random, s)
    if d == NONE:
        return np.int64(WAIT)
    state.away = d
    trip.plan[0] = d
    return np.int64(1)


class LateAStar(Searcher):
    """Late-acting A*.

    Args:
        R: the units of a move, as for TBA*.
        r: which fraction of them goes to expansions; the others are not used.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    restless = True
    memory_type: ClassVar[Any] = LateMemory
    state_type = PROGRESS

    def __init__(self, R: int = 100, r: float = 0.9, tie: str = "first") -> None:
        super().__init__(tie)
        self.expansions = share(R, r)
        self.R, self.r = int(R), float(r)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return R such that a move keeps the limit; of scans one is kept for the step."""
        return {"R": min(MAX_R, max(1, limit if count == "expansions" else limit - 1))}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return self.expansions

    def own_memory(self, view: KernelView) -> dict[str, Any]:
        """Return the state of the random steps and the length of a slice."""
        return {"random": np.ones(1, np.uint64), "expansions": self.expansions}

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget the search; seed 0 takes the same random steps in every run."""
        super().clear_memory(view, seed)
        self.memory.random[0] = seed or 1
