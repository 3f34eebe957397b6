"""TBA*: one A* in slices, and an agent that walks along its most promising path meanwhile.

Y. Björnsson, V. Bulitko, N. Sturtevant, "TBA*: Time-Bounded A*", IJCAI 2009, Algorithm 1 with both enhancements. With a
weight above 1 it is TB(WA*) of C. Hernández, J. A. Baier, R. Asín, "Time-Bounded Best-First Search for Reversible and
Non-reversible Search Graphs", Journal of Artificial Intelligence Research 56, 2016, known to us by its idea: the same
slices around weighted A*.

The numbers in braces are the lines of Algorithm 1, and the names are its own: N_E is ``n_e``; of the two ``paths``,
number ``follow`` is pathFollow and the other pathNew. The algorithm in plain Python: ``tests/reference/plain_tba.py``.

Deviations and readings:
- {22} The step leads to the cell after the current one, and what lies before it is dropped, so that an agent that has
  stepped back from the end of its path goes on stepping back. {27}, {30} ``last`` is the cell that was left.
- {13} A trace that spans slices is complete as soon as the agent stands on it.
- {13} In the slice that finds the solution the trace has its usual share; in later ones all of R.
- {15} ``threshold``: a new path is followed if its end has no smaller g than that of the old one had when its trace
  began, if the old one has been walked to its end, or if it leads to the goal.
- {7} ``first``: the first slice expands no more states than can be traced ("count"), or stops when the next state to be
  expanded is as many steps away ("length").
- {25} ``shortcut``: tried before every step back once the solution is traced. Finding where the way back meets the
  solution counts as tracing; the search takes at most what is left of R and must lead to a cheaper way.
- ``weight``: the search of the slices is that of ``weighted-astar``, which does not reopen closed states. Parents stay,
  then, and the agent can step back along them. The solution costs at most ``weight`` times the optimum; the agent walks
  more, because it walks while it searches. The threshold compares g, and the search for a shortcut has no weight.
- When a cell that was expanded, or one beside it, has changed in the believed map, the search is void and starts anew
  from where the agent stands, with a first slice.
"""

from fractions import Fraction
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from agents.base import Searcher, exact_weight
from agents.kernels.tba_memory import VARIABLES, Limits, TBAMemory
from agents.kernels.tba_paths import clear, forget_paths, make_paths, place_of, put
from agents.kernels.tba_shortcut import make_shortcut, take_shortcut
from rt_gym.errors import InputError, choice, flag, quoted, whole
from rt_gym.jit import kernel
from rt_gym.pages import arrays_for
from rt_gym.search.astar import EXHAUSTED, FOUND, INTERRUPTED, begin_astar, resume_astar
from rt_gym.search.buckets import first_slot
from rt_gym.search.layers import direction
from rt_gym.search.nodes import came_from
from rt_gym.search.space import NONE, begin_problem, slot_of
from rt_gym.search.tree import outdated
from rt_gym.trip import NO_PATH, WAIT
from rt_gym.views import KernelView

MAX_R, FIRST = 10**9, ("count", "length")


@kernel
def initialize(memory, start):
    """{1}-{4}, but for the lists of A*; ``loc`` is where the trip is."""
    state = memory.state[0]
    clear(memory.paths, 0)
    clear(memory.paths, 1)
    state.solution_found = 0  # {1}
    state.solution_found_and_traced = 0  # {2}
    state.done_trace = 1  # {3}
    state.start = start  # {4}
    state.last = NONE
    state.follow = 0
    state.begun = 1


@kernel(inline=True)
def search(terrain, trip, memory, goal):
    """{7}: A* for one slice; the first one ends before a path is longer than can be traced at once."""
    limits, n_e = memory.limits, memory.limits.n_e
    if memory.space.state[0].closed == 0:
        if limits.by_length != 0:
            return search_by_length(terrain, trip, memory, goal)
        n_e = min(n_e, limits.n_t)
    return np.int64(resume_astar(terrain, trip, memory.buckets, goal, n_e))


@kernel
def search_by_length(terrain, trip, memory, goal):
    """{7}, the first slice by the length of its paths: one state after the other, until the next is too far away."""
    space, buckets, depth, end = memory.space, memory.buckets, memory.depth, np.int64(INTERRUPTED)
    for expanded in range(memory.limits.n_e):
        u = first_slot(buckets)
        depth[u] = 0 if space.node[u].parent == NONE else depth[space.node[u].parent] + 1
        if depth[u] >= memory.limits.n_t:
            break
        end = np.int64(resume_astar(terrain, trip, buckets, goal, 1))
        if end != INTERRUPTED or space.state[0].closed == expanded:
            break
    return end


@kernel(inline=True)
def begin_trace(memory):
    """{11}: let pathNew begin with the most promising state, the first of the open list."""
    top, paths, new = memory.space.node[first_slot(memory.buckets)], memory.paths, 1 - memory.state[0].follow
    clear(paths, new)
    put(paths, new, 0, np.int64(top.cell))
    paths.info[new].count = 1
    paths.info[new].g = top.g


@kernel(inline=True)
def trace_back(trip, memory, loc, n_t):
    """{13}: trace pathNew back to ``loc`` or the start, at most ``n_t`` steps; return 1 once it is complete, else 0."""
    space, paths, start, new = memory.space, memory.paths, memory.state[0].start, 1 - memory.state[0].follow
    count = paths.info[new].count
    cell = np.int64(paths.cell[new, count - 1])
    while n_t > 0 and cell != start and place_of(paths, new, loc) < 0:
        cell = came_from(space, cell)
        put(paths, new, count, cell)
        count += 1
        trip.meter[0].trace_steps += 1
        n_t -= 1
    paths.info[new].count = count
    return np.int64(cell == start or place_of(paths, new, loc) >= 0)


@kernel(inline=True)
def follow_new(memory, goal):
    """{15}-{18}: let pathNew become pathFollow, unless the threshold is against it."""
    paths, state, space = memory.paths, memory.state[0], memory.space
    new = 1 - state.follow
    solution = paths.cell[new, 0] == goal
    if memory.limits.threshold == 0 or solution or paths.info[new].g >= paths.info[state.follow].g:
        paths.info[new].front = paths.info[new].count - 1
        state.follow = new  # {15}
        space.state[0].best = slot_of(space, np.int64(paths.cell[new, 0]))
        if solution:  # {16}
            state.solution_found_and_traced = 1  # {17}


@kernel(inline=True)
def next_loc(memory, loc):
    """{21}-{29}: return the next cell along pathFollow, or back, or where the agent came from; NONE for none."""
    space, paths, state = memory.space, memory.paths, memory.state[0]
    info, place = paths.info[state.follow], place_of(paths, state.follow, loc)
    if 0 < place <= info.front:  # {21}
        info.front = place - 1
        return np.int64(paths.cell[state.follow, place - 1])  # {22}
    if place == 0:
        info.g = NONE  # walked to its end: any other path is as good
    if loc != state.start:  # {24}
        return came_from(space, loc)  # {25}
    return np.int64(state.last)  # {27}


@kernel(inline=True)
def trace_and_step(terrain, trip, memory, loc, goal, n_t):
    """{9}-{31}: trace at most ``n_t`` steps and take the next one along the path that is followed."""
    state, limits = memory.state[0], memory.limits
    if state.solution_found_and_traced == 0:  # {9}
        if state.done_trace != 0:  # {10}
            begin_trace(memory)  # {11}
        # {12}
        state.done_trace = trace_back(trip, memory, loc, n_t)  # {13}
        if state.done_trace != 0:  # {14}
            follow_new(memory, goal)  # {15}-{18}
    # {19}-{20}
    if limits.shortcut != 0 and state.solution_found_and_traced != 0 and place_of(memory.paths, state.follow, loc) < 0:
        take_shortcut(terrain, trip, memory, loc)
    to = next_loc(memory, loc)  # {21}-{29}
    if to == NONE:
        return np.int64(WAIT)
    state.last = loc  # {30}
    trip.plan[0] = direction(terrain, loc, to)  # {31}
    return np.int64(1)


@kernel
def plan(terrain, trip, memory, loc, goal):
    """{6}-{31}: one time slice, one pass of the loop {5}-{32}, which is the trial loop."""
    state, limits = memory.state[0], memory.limits
    if state.begun == 0 or outdated(terrain, trip, memory.space):
        begin_astar(terrain, memory.buckets, loc, goal)
        initialize(memory, loc)  # {1}-{4}
    n_t = limits.n_t if state.solution_found == 0 else limits.n_t_solved
    if state.solution_found == 0:  # {6}
        end = search(terrain, trip, memory, goal)  # {7}
        if end == EXHAUSTED:
            return np.int64(NO_PATH)
        state.solution_found = np.int64(end == FOUND)
    # {8}
    return trace_and_step(terrain, trip, memory, loc, goal, n_t)


def share(R: int, r: float) -> int:
    """Return how many of R units of a move go to expansions: the fraction r of them, at least one."""
    units = whole("R", R, 1, MAX_R)
    if isinstance(r, bool) or not isinstance(r, Real) or not 0 < r < 1:
        raise InputError(f"r must be a number above 0 and below 1, not {quoted(r)}")
    return max(1, int(units * Fraction(float(r)) + Fraction(1, 10**9)))


class TBA(Searcher):
    """TBA*.

    Args:
        R: the units of a move; an expansion takes one.
        r: which fraction of them goes to expansions; the others go to tracing.
        c: how many trace steps a unit is worth.
        threshold: whether to keep to a path until another one leads as far.
        shortcut: whether to look for a shorter way before stepping back, once the solution is known.
        first: how the first slice is kept short enough to be traced at once, by ``"count"`` or by ``"length"``.
        weight: of the heuristic, at least 1; taken as the nearest fraction with a denominator of at most 1000.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    pooled = True
    memory_type: ClassVar[Any] = TBAMemory
    state_type = VARIABLES

    def __init__(
        self,
        R: int = 100,
        r: float = 0.9,
        c: int = 10,
        threshold: bool = False,
        shortcut: bool = False,
        first: str = "count",
        weight: float = 1,
        tie: str = "first",
    ) -> None:
        super().__init__(tie)
        self.expansions = share(R, r)
        self.R, self.r, self.c = int(R), float(r), whole("c", c, 1, 10**6)
        if self.expansions == self.R:
            raise InputError(f"R={self.R} and r={self.r} leave nothing for tracing: R must be larger or r smaller")
        self.threshold, self.shortcut = flag("threshold", threshold), flag("shortcut", shortcut)
        self.first = choice("first", first, FIRST)
        self.weight = exact_weight(weight)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the limit as R; two is the least."""
        return {"R": min(MAX_R, max(2, limit))}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return self.R if self.shortcut else self.expansions

    def own_memory(self, view: KernelView) -> dict[str, Any]:
        """Return the memory of two paths and, for shortcuts, of another search; and the limits."""
        cells = view.terrain.mask.size
        limits = Limits(
            n_e=self.expansions,
            n_t=(self.R - self.expansions) * self.c,
            all=self.R,
            n_t_solved=self.R * self.c,
            threshold=int(self.threshold),
            shortcut=int(self.shortcut),
            by_length=int(self.first == "length"),
        )
        return {
            "depth": arrays_for(cells, cells, np.int32)[0],
            "paths": make_paths(cells),
            "shortcut": make_shortcut(cells if self.shortcut else 1),
            "limits": limits,
        }

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget the search; seed 0 breaks ties by order of generation."""
        super().clear_memory(view, seed)
        begin_problem(self.memory.shortcut.space, seed)
        forget_paths(self.memory.paths)
