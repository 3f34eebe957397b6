"""PR LRTS: LRTS among regions of the map, its steps refined to paths by A*.

V. Bulitko, N. Sturtevant, M. Kazakevich, "Speeding Up Learning in Real-Time Search via Automatic State Abstraction",
AAAI 2005; V. Bulitko, N. Sturtevant, J. Lu, T. Yau, "Graph Abstraction in Real-Time Heuristic Search", Journal of
Artificial Intelligence Research 30, 2007. Known to us from the outlines in V. Bulitko et al., "Dynamic Control in
Path-Planning with Real-Time Heuristic Search", ICAPS 2007, and Y. Björnsson et al., "TBA*: Time-Bounded A*", IJCAI
2009.

Readings:
- Regions are those of ``rt_gym.abstraction``. A step between regions costs the distance of their centroids, and so is
  the heuristic: both by the rule of the moves, rounded to an exact cost. gamma, the quota and the order of ties are
  those of LRTS. The neighbours of a region are read in the order of directions, by which of the eight their centroid
  lies nearest to, then by number; so that level 0 is LRTS with one move per plan, move for move.
- ``refine="first"``, as in TBA*'s paper, turns the first step of the way to the best region into a path: A* from the
  agent to the nearest cell of the next region, within the two regions. ``"path"``, as in the article of 2007, turns the
  whole way into one, within all its regions. In the goal's region A* leads to the goal.
- LRTS is complete because it goes all the way to the best state. After one step it may choose another state, and with
  more than one layer go in circles without learning anything. Guard, ours: in a region where it has already planned
  since anything was learned, it would decide as before; from there on it refines whole ways until a value rises.
- Expansions are those among regions and those of A*, on the move that plans. A lookahead that the meter does not
  allow as a whole ends with a layer that it allows (``agents.knowledge.region_graph``); A* that is refused, and a
  lookahead for which nothing is left after A* has found no way, go on at the next move, and the agent stands still.
- ``control="dynamic"`` is the control of depth that the paper of ICAPS 2007 names as work to come. Of its two
  mechanisms we read the pattern database, with the global goal: the depth of every lookahead is the smallest one that,
  before anything is learned, takes a step on a shortest way among the regions to the goal's region. It is at most
  ``depth``. The depths of all regions towards that of the goal are found at reset, as part of the preparation.
- The regions are those of the map as it was believed at reset. Where the map has changed, A* may find no way within the
  corridor. Guard, ours: a way of several regions is tried by its first step alone; a step that cannot be refined is
  closed for the rest of the trial, and another chosen at once. Where no step is left, in the goal's region without a
  way to the goal, and in a region where the agent has planned ``PATIENCE`` times since a step was first closed, it goes
  on as LRTA* on the cells for the rest of the trial, which is complete. What opens is not noticed before that.

The algorithm in plain Python: tests/reference/plain_pr_lrts.py
"""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.kernels.pr_corridor import begin_corridor, lead_along, lead_to_cell, resume_corridor
from agents.kernels.pr_guard import count_guarded, go_on_among_cells, notice_circles, retry_or_close
from agents.kernels.pr_memory import CHOOSING, ON_CELLS, REFINING, PRMemory, make_pr_memory, with_regions
from agents.knowledge.region_graph import search_regions
from agents.knowledge.regions import Regions, fill_depths, fill_values, prepare, priced
from agents.lrts import LRTS, extend_trail, go_back, mark_station, too_much
from rt_gym.abstraction import KINDS, MAX_LEVEL
from rt_gym.cost import INF, to_floats
from rt_gym.errors import choice, whole
from rt_gym.jit import kernel
from rt_gym.meter import count_raise
from rt_gym.search.astar import FOUND, INTERRUPTED
from rt_gym.search.layers import max_of_min
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import NONE, Space, begin_problem
from rt_gym.search.tree import trace
from rt_gym.terrain import count_learned
from rt_gym.trip import CUT, WAIT, make_trip
from rt_gym.views import KernelView, View, kernel_view

PATIENCE = 50


@kernel
def choose(terrain, trip, memory, s, t):
    """Choose the next region as LRTS does, and mark the corridor to it.

    Returns:
        0 if a corridor is marked; the moves back if too much was learned; NONE if no region leads on; CUT.
    """
    state, values = memory.state[0], memory.values
    a, b = np.int64(memory.corridor.region[s]), np.int64(memory.corridor.region[t])
    if a == NONE or b == NONE:
        return np.int64(NONE)
    if a == b:
        lead_to_cell(terrain, memory.corridor, t)
        state.length = 0
        return np.int64(0)
    visits = memory.visits[a] + (state.closed_edges > 0)
    if memory.depths[a] == 0 or visits > PATIENCE:
        return np.int64(NONE)
    count = search_regions(memory.graph, trip, memory.space, memory.layers, values, s, a, b, memory.depths[a])
    if count < 0:
        return count
    memory.visits[a] = visits
    value = max_of_min(memory.space, memory.layers, count)
    if value >= INF:
        return np.int64(NONE)
    change, moves = max(value - values[a], np.int64(0)), np.int64(0)
    if change > 0:
        count_raise(trip, s, values[a], value)  # the value of a region is that of all its cells
        values[a] = value
    notice_circles(memory, a, change)
    if too_much(memory.trail, change):
        moves = go_back(terrain, trip, memory.trail, s)
    if moves == 0:
        # A cheapest way may lead through more regions than there are layers.
        lead_along(memory, memory.space.state[0].slots if memory.whole_way + state.circling > 0 else np.int64(1))
    return moves


@kernel
def refine(terrain, trip, memory, s, t):
    """Choose a region, then commit to the path to it; where there is none choose again."""
    state, corridor = memory.state[0], memory.corridor
    extend_trail(trip, memory.trail)
    if state.doing == REFINING and trip.state[0].changed > 0:
        begin_corridor(terrain, corridor, s)
    while state.doing != ON_CELLS:
        if state.doing == CHOOSING:
            result = choose(terrain, trip, memory, s, t)
            if result == CUT or result > 0:
                return result
            if result == NONE:
                go_on_among_cells(terrain, memory, t)
                break
            state.doing = REFINING
            begin_corridor(terrain, corridor, s)
        end = resume_corridor(terrain, trip, corridor, t)
        if end == INTERRUPTED:
            return np.int64(WAIT)
        if end == FOUND:
            state.doing = CHOOSING
            mark_station(memory.trail)
            return trace(corridor.local.space, corridor.local.space.state[0].best, trip.plan)
        if not retry_or_close(memory):
            go_on_among_cells(terrain, memory, t)
        elif state.doing == REFINING:
            begin_corridor(terrain, corridor, s)
    return general_lrta(terrain, trip, corridor.local.space, memory.cell_values, s, t, 1)


@kernel
def plan(terrain, trip, memory, s, t):
    """Commit to a path to the next region, and count what the guards take; what is refused goes on at the next move."""
    before = trip.meter[0].expansions
    result = refine(terrain, trip, memory, s, t)
    count_guarded(trip, memory, before)
    return np.int64(WAIT) if result == CUT else result


class PRLRTS(LRTS):
    """PR LRTS.

    Built after outlines: section 4.2 of Y. Björnsson et al., "TBA*: Time-Bounded A*", IJCAI 2009, and the text around
    Figure 8 of V. Bulitko et al., "Dynamic Control in Path-Planning with Real-Time Heuristic Search", ICAPS 2007. They
    pin down a search of fixed depth on one level of a clique abstraction, that the first action is refined by A* on the
    cells within a corridor, the parameters level, depth and gamma, and level 4, depth 5, gamma 1 as the best of them.
    The readings above are ours: values and prices of regions, which cells the corridor has, the guards, and that LRTS
    decides among the regions. Both outlines call that LRTA*; the name of the algorithm and gamma are those of LRTS.

    Args:
        level: how coarse the regions are; 0 for the cells themselves.
        depth: how many regions ahead it looks, or at most looks.
        gamma: weight of the costs, above 0 and at most 1.
        quota: how much may be learned, in straight steps, before changes send it back; None for any amount.
        refine: ``"first"`` makes a path of the first step among the regions, ``"path"`` of all up to the depth.
        abstraction: ``"clique"`` or ``"tiles"``.
        control: ``"fixed"`` always looks ``depth`` regions ahead, ``"dynamic"`` as far as the place demands.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    precomputes = True
    after_outline = True

    def __init__(
        self,
        level: int = 4,
        depth: int = 5,
        gamma: float = 1.0,
        quota: float | None = None,
        refine: str = "first",
        abstraction: str = "clique",
        control: str = "fixed",
        tie: str = "first",
    ) -> None:
        super().__init__(depth, gamma, quota, tie)
        self.level = whole("level", level, 0, MAX_LEVEL)
        self.refine = choice("refine", refine, ("first", "path"))
        self.abstraction = choice("abstraction", abstraction, KINDS)
        self.control = choice("control", control, ("fixed", "dynamic"))
        self.precompute_seconds = 0.0
        self.regions: Any = None

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return nothing: the lookahead ends, and the search waits, where the meter refuses."""
        return {}

    @property
    def bound(self) -> int | None:
        """There is none: how many regions and cells are near depends on the map."""
        return None

    @property
    def by_waypoints(self) -> bool:
        """Whether it heads for subgoals or regions that may lie off every shortest path, even on open ground."""
        return self.level > 0

    @property
    def space(self) -> Space:
        """The states of the search among the cells."""
        return self.memory.corridor.local.space

    @property
    def closed(self) -> int:
        """How many steps between regions could not be refined in this trial."""
        return int(self.memory.state[0].closed_edges)

    @property
    def grounded(self) -> bool:
        """Whether the agent goes on as LRTA* on the cells in this trial."""
        return bool(self.memory.state[0].doing == ON_CELLS)

    @property
    def guarded(self) -> int:
        """How often it began to refine whole ways because of circles, or to go on among the cells, since reset."""
        return int(self.memory.guarded[0].times)

    @property
    def guarded_expansions(self) -> int:
        """The expansions of all moves meanwhile."""
        return int(self.memory.guarded[0].expansions)

    def reset(self, view: View | KernelView, seed: int | None = None) -> None:
        """Begin a new problem; the regions are found anew where the map is another than before."""
        began = time.perf_counter()
        regions: Regions = prepare(kernel_view(view).as_grid(), self.abstraction, self.level)
        if self.regions is not regions:
            self.regions, self._prices = regions, priced(regions.graph.prices, self.gamma)
        self.precompute_seconds = time.perf_counter() - began
        super().reset(view, seed)

    def make_memory(self, view: KernelView) -> PRMemory:
        """Return the memory of searches among the cells; ``clear_memory`` adds what depends on the regions."""
        return make_pr_memory(view.terrain.mask.size, self.quota, self.refine == "path")

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Bring in the regions, and let their values start at the heuristic."""
        began = time.perf_counter()
        self.memory = memory = with_regions(self.memory, self.regions, self.depth)
        memory.values[:] = self._initial_values(view)
        memory.depths[:] = np.where(np.diff(memory.graph.begin) > 0, self.depth, 0)
        memory.corridor.state[:] = 0
        memory.corridor.marks[:] = 0
        memory.cell_values[view.goal_cell] = INF  # not filled yet
        memory.guarded[:] = 0
        self.begin_trial()
        if self.control == "dynamic":
            self._lower_depths(view)
        begin_problem(memory.space, seed)
        begin_problem(memory.corridor.local.space, seed)
        self.precompute_seconds += time.perf_counter() - began

    def _lower_depths(self, view: KernelView) -> None:
        """Look no farther from any region than the way to the goal's demands."""
        memory, b = self.memory, int(self.regions.abstraction.region[view.goal_cell])
        if b != NONE:
            plain, distances = self.regions.graph, np.empty(memory.values.size, np.int64)
            search = (memory.space, memory.layers, memory.values)
            fill_depths(memory.graph, plain, make_trip(0), *search, b, distances, memory.depths)

    def _initial_values(self, view: KernelView) -> NDArray[np.int64]:
        found = self.regions.abstraction
        values, b = np.zeros(found.regions, np.int64), int(found.region[view.goal_cell])
        if b != NONE:
            fill_values(found.centroids, view.terrain.metric, b, values)
        return values

    def begin_trial(self) -> None:
        """Begin with the whole quota, without a trail, and with all steps open."""
        super().begin_trial()
        self.memory.state[:] = 0
        self.memory.graph.prices[:] = self._prices
        self.memory.planned[:] = -1
        self.memory.visits[:] = 0

    def value_of(self, cell: int) -> int | None:
        """Return the value of a cell's region, or of the cell itself where that is what is learned."""
        if self.grounded:
            return int(self.memory.cell_values[cell])
        r = int(self.regions.abstraction.region[cell])
        return None if r == NONE else int(self.memory.values[r])

    def count_learned(self) -> int:
        """Return how many values of regions, and of cells, differ from the heuristic."""
        view, values = self.view, self.memory.cell_values
        regions = int((self.memory.values != self._initial_values(view)).sum())
        on_cells = count_learned(view.terrain, view.goal_cell, values) if values[view.goal_cell] == 0 else 0
        return regions + int(on_cells)

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: ``regions``, as numbers that differ between neighbours, and what they learned."""
        found, view = self.regions.abstraction, self.view
        risen = np.append(to_floats(self.memory.values) - to_floats(self._initial_values(view)), 0.0)
        colours = np.append(found.colours, NONE)  # the last for what is in no region
        drawn = {"h": view.inner(risen[found.region]), "regions": view.inner(colours[found.region])}
        return super().layers() | drawn
