"""HCDPS: climb to the seed of the region, follow stored subgoals from seed to seed, climb to the goal; learn nothing.

R. Lawrence, V. Bulitko, "Taking Learning Out of Real-Time Heuristic Search for Video-Game Pathfinding", Australasian
Joint Conference on Artificial Intelligence, 2010; R. Lawrence, V. Bulitko, "Database-Driven Real-Time Heuristic Search
in Video-Game Pathfinding", IEEE Transactions on Computational Intelligence and AI in Games 5(3), 2013. The regions and
paths are those of ``agents.knowledge.hill_regions``.

Of 40 problems each on the bundled caves-128 and rooms-64 the mean suboptimality is 1.46 and 1.30 with a reach of 1,
1.14 and 1.09 with 2, 1.09 and 1.04 with 3; a step more takes two to three times as long to prepare.

Readings:
- Where the goal can be climbed to from the start no seed is visited. Else the seed of its region is passed by if the
  first subgoal behind it can be climbed to, and that of the goal's region if the goal can be from a subgoal on the path
  there. All of that is tried within the plans, the first of a trial and those on subgoals of the last path, so that
  every step of such a climb is a scan on the meter: at most the cut-off for each, and no more than a budget of scans
  has left. With one scan per move they are not tried, and the agent climbs from seed to seed.
- A climb takes the steps that were tried beforehand, see ``agents.knowledge.climb``, so ``tie="random"`` does not touch
  it. Every move is one expansion. The heuristic falls with every step of a leg: no cell of it is seen twice.
- The map of the regions is that believed at reset. In fog it has no obstacles but those in sight, and little but the
  climb to the goal is left.
- Guard, ours: on a map that turns out different, or changes, a climb may come to a cell where the heuristic does not
  fall. For the rest of the trial the agent is LRTA* towards the goal, which is complete: from the same cell on, without
  another scan. So it is from the start where the map of the regions has no way. ``guarded`` counts these trials,
  ``guarded_expansions`` the moves; ``h_updates`` are zero without them.

The algorithm in plain Python: tests/reference/plain_hcdps.py
"""

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.knowledge import hill_regions
from agents.knowledge.climb import climb, steepest
from agents.knowledge.goal_seeker import GoalSeeker
from agents.knowledge.hill_regions import CUTOFF, MAX_CUTOFF, MAX_REACH, REACH, HillRegions
from rt_gym.errors import InputError, whole
from rt_gym.handles import with_parts
from rt_gym.jit import kernel, record
from rt_gym.meter import charge
from rt_gym.search.space import NONE, Space, make_space
from rt_gym.search.step import best_step, commit
from rt_gym.search.tables import GoalValues, is_full, make_goal_values
from rt_gym.search.values import raise_value
from rt_gym.terrain import h0, positions
from rt_gym.trip import CUT, FULL
from rt_gym.views import KernelView, View

LONGEST_BUILD = 60  # seconds

# The cell that is climbed to; whether the way has been chosen; the next subgoal of the path between two seeds, and
# where that path ends; whether it has been left for LRTA*, how often, and for how many moves.
LEG = record(pursued=int, chosen=int, next=int, end=int, left=int, guarded=int, expansions=int)


class HCDPSMemory(NamedTuple):
    """What the plan works on.

    Attributes:
        values: what LRTA* has learned where climbs failed.
        space: the random ties of LRTA*.
        region, seeds, begin, cells: see ``HillRegions``.
        onward: int32 per region, the path to take from its seed towards the goal's, NONE if there is none.
        cutoff: the most steps of a climb.
        state: LEG[1].
    """

    values: GoalValues
    space: Space
    region: NDArray[np.int32]
    seeds: NDArray[np.int32]
    begin: NDArray[np.int64]
    cells: NDArray[np.int32]
    onward: NDArray[np.int32]
    cutoff: int
    state: NDArray[np.record]


@kernel
def can_climb(terrain, trip, memory, a, b):
    """Whether a climb that the budget still allows leads from ``a`` to ``b``."""
    meter, most = trip.meter[0], memory.cutoff
    if meter.by_scans != 0:
        most = min(most, meter.limit - meter.scans)
    return climb(terrain, trip, a, b, most) != NONE


@kernel
def choose_way(terrain, trip, memory, s, t):
    """Head for the goal, for the first subgoal or for the seed of this region; leave that where no way leads on."""
    state, region = memory.state[0], memory.region
    state.chosen, state.pursued = 1, t
    if can_climb(terrain, trip, memory, s, t):
        return
    a, b = np.int64(region[s]), np.int64(region[t])
    if a == NONE or b == NONE or (a != b and memory.onward[a] == NONE):
        leave(memory, t)
        return
    state.pursued = memory.seeds[a]
    if a != b:
        first = memory.begin[memory.onward[a]]
        if can_climb(terrain, trip, memory, s, np.int64(memory.cells[first])):
            state.pursued = memory.cells[first]
            state.next, state.end = first + 1, memory.begin[memory.onward[a] + 1]


@kernel
def leave(memory, t):
    """Be LRTA* for the rest of the trial."""
    state = memory.state[0]
    state.left, state.pursued = 1, t
    state.guarded += 1


@kernel
def next_leg(terrain, trip, memory, s, t):
    """Where a subgoal or a seed is reached, head for the next one, or for the goal if that can be climbed to."""
    state, region, cells = memory.state[0], memory.region, memory.cells
    while s == state.pursued:
        if state.next < state.end:
            last = region[cells[state.end - 1]] == region[t]
            if last and can_climb(terrain, trip, memory, s, t):
                state.pursued, state.next = t, state.end
            else:
                state.pursued = cells[state.next]
                state.next += 1
        elif region[s] == region[t]:
            state.pursued = t
        else:
            path = np.int64(memory.onward[region[s]])
            state.next, state.end = memory.begin[path], memory.begin[path + 1]


@kernel
def plan(terrain, trip, memory, s, t):
    """Commit to one step of a climb, or of LRTA*."""
    state = memory.state[0]
    if is_full(memory.values):
        return np.int64(FULL)
    if not charge(trip, s):
        return np.int64(CUT)
    moves = np.int64(terrain.mask[s])
    if state.chosen == 0:
        choose_way(terrain, trip, memory, s, t)
    if state.left == 0:
        next_leg(terrain, trip, memory, s, t)
        y, f = steepest(terrain, s, moves, state.pursued)
        if y != NONE and f - terrain.cost[y] < h0(terrain, s, state.pursued):
            trip.plan[0] = y
            return np.int64(1)
        leave(memory, t)
    state.expansions += 1
    y, f = best_step(terrain, memory.values, s, moves, t)
    if y != NONE:
        raise_value(trip, memory.values, terrain, s, t, f)
    return commit(terrain, trip, memory.values, memory.space.random, s, y, t)


class HCDPS(GoalSeeker):
    """HCDPS.

    Built after an outline, the abstracts of the two papers. It pins down regions in which every state and the seed can
    be climbed to from each other, optimal paths between seeds of regions near each other, dynamic programming for the
    others, subgoals like those of kNN LRTA*, and that nothing is learned. Code published by an author (R. Lawrence,
    ubco-db/database-pathfinding) agrees in compressed paths between neighbours up to a number of steps apart, which are
    joined to cheapest ways. It compresses what is joined once more, where ours visits the seeds between two paths. All
    else is our reading.

    Args:
        cutoff: the most steps of a climb, and so the radius of a region.
        reach: between regions so many steps apart there are paths of their own, the L of the paper.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    precomputes = True
    after_outline = True
    converges = False  # it is no learner: every trial takes the same way

    def __init__(self, cutoff: int = CUTOFF, reach: int = REACH, tie: str = "first") -> None:
        super().__init__(tie)
        self.cutoff = whole("cutoff", cutoff, 1, MAX_CUTOFF)
        self.reach = whole("reach", reach, 1, MAX_REACH)
        self.precompute_seconds = 0.0
        self._kept: HillRegions | None = None

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return 1

    @property
    def by_waypoints(self) -> bool:
        """It heads for seeds."""
        return True

    @property
    def guarded(self) -> int:
        """How many trials of this problem were left to LRTA*."""
        return int(self.memory.state[0].guarded)

    @property
    def guarded_expansions(self) -> int:
        """The expansions of LRTA*."""
        return int(self.memory.state[0].expansions)

    def reset(self, view: View | KernelView, seed: int | None = None) -> None:
        """Begin a new problem; regions and paths are built where the map is another than before."""
        began = time.perf_counter()
        super().reset(view, seed)
        self.precompute_seconds = time.perf_counter() - began

    def _prepare(self, view: KernelView) -> HillRegions:
        """Return the regions of the map; they stay what they are while the goal changes on the way."""
        if self._kept is not None and self.midway:
            return self._kept
        grid = view.as_grid()
        if self._kept is None or self._kept.digest != grid.digest:
            seconds = hill_regions.estimate(grid, self.cutoff)
            if seconds > LONGEST_BUILD:
                says = f"regions of a map of {grid.free_cells} cells may take {seconds:.0f} seconds"
                raise InputError(f"{says} with a cutoff of {self.cutoff}: give a smaller one")
            self._kept = hill_regions.regions_of(grid, self.cutoff, self.reach)
        return self._kept

    def make_memory(self, view: KernelView) -> HCDPSMemory:
        """Return the memory for values and ties; ``clear_memory`` brings in the regions."""
        none = np.empty(0, np.int32)
        return HCDPSMemory(
            values=make_goal_values(),
            space=make_space(view.terrain.mask.size, 1),
            region=none,
            seeds=none,
            begin=np.zeros(1, np.int64),
            cells=none,
            onward=none,
            cutoff=self.cutoff,
            state=np.zeros(1, LEG),
        )

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget all values, and bring in the regions with the ways to the goal's."""
        super().clear_memory(view, seed)
        kept = self._prepare(view)
        goal = int(kept.region[view.goal_cell])
        onward = np.full(len(kept), NONE, np.int32) if goal == NONE else hill_regions.onward_to(kept, goal)
        parts = {"region": kept.region, "seeds": kept.seeds, "begin": kept.begin, "cells": kept.cells}
        self.memory = with_parts(self.memory, onward=onward, **parts)
        self.memory.state[0].guarded = self.memory.state[0].expansions = 0
        self.begin_trial()

    def begin_trial(self) -> None:
        """Choose the way again."""
        state = self.memory.state[0]
        state.chosen = state.next = state.end = state.left = 0
        state.pursued = self.view.goal_cell

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: ``subgoals``, n x 2, as far as the next seed; ``regions`` by their numbers."""
        state, view = self.memory.state[0], self.view
        ahead = np.concatenate([[state.pursued], self.memory.cells[state.next : state.end]])
        subgoals = positions(view.terrain, ahead[ahead != view.goal_cell])
        return super().layers() | {"subgoals": subgoals, "regions": view.inner(self.memory.region)}
