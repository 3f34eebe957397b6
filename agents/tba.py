"""TBA*: one A* in slices, and an agent that walks along its most promising path meanwhile.

Y. Björnsson, V. Bulitko, N. Sturtevant, "TBA*: Time-Bounded A*", IJCAI 2009, Algorithm 1 with both enhancements.

Deviations and readings:
- Line 22: the step leads to the cell after the current one, and what lies before it is dropped, so that an agent that
  has stepped back from the end of its path goes on stepping back. Lines 27 and 30: ``last`` is the cell that was left.
- A trace that spans slices is complete as soon as the agent stands on it.
- In the slice that finds the solution the trace has its usual share; in later ones all of R.
- ``threshold``: a new path is followed if its end has no smaller g than that of the old one had when its trace began,
  if the old one has been walked to its end, or if it leads to the goal.
- ``first``: the first slice expands no more states than can be traced ("count"), or stops when the next state to be
  expanded is as many steps away ("length").
- ``shortcut``: tried before every step back once the solution is traced. Finding where the way back meets the solution
  counts as tracing; the search takes at most what is left of R and must lead to a cheaper way.
- The open list is that of ``rt_gym.search.astar``, buckets by f.
- When a cell that was expanded, or one beside it, has changed in the believed map, the search is void and starts anew
  from where the agent stands, with a first slice.
"""

from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from rt_gym.errors import InputError, flag, quoted, whole
from rt_gym.grid import h0
from rt_gym.jit import kernel
from rt_gym.meter import charge
from rt_gym.search.astar import EXHAUSTED, FOUND, INTERRUPTED, SHUT, Buckets, begin_astar, make_buckets, resume_astar
from rt_gym.search.heap import Heap, lower, pop, push
from rt_gym.search.layers import direction
from rt_gym.search.space import NONE, OPEN, Space, discover, forget, make_space, outdated, reach, slot_of
from rt_gym.trip import NO_PATH, WAIT
from rt_gym.world import View

MAX_R = 10**9
FIRST = ("count", "length")

# Entries of TBAMemory.state: flags, which of the two paths is followed, where the search and the last step began.
STARTED, SOLVED, TRACED, TRACING, FOLLOWED, START, LAST = range(7)
# Entries of TBAMemory.limit: expansions and trace steps per slice, R, trace steps once solved, and the options.
EXPAND, TRACE, ALL, TRACE_ALL, THRESHOLD, SHORTCUT, BY_LENGTH = range(7)
# Entries of a row of Paths.info.
COUNT, EDITION, FRONT, G = range(4)


class Paths(NamedTuple):
    """Two paths, each from its end backwards: one is followed, the other one traced.

    Attributes:
        cell: int32[2, n], the cells, the end first.
        at: int64[2, n], per cell of the map, edition * 2**32 + place.
        info: int64[2, 4], how many cells there are, the edition, the last place not yet passed, the g of the end.
    """

    cell: NDArray[np.int32]
    at: NDArray[np.int64]
    info: NDArray[np.int64]


class TBAMemory(NamedTuple):
    """The search, how many steps away the states of its first slice are, the paths, and the search for a shortcut."""

    buckets: Buckets
    depth: NDArray[np.int32]
    paths: Paths
    shortcut: Space
    queue: Heap
    limit: NDArray[np.int64]
    state: NDArray[np.int64]


@kernel(inline=True)
def clear(paths, row):
    """Make a path empty."""
    info = paths.info[row]
    info[COUNT] = info[G] = 0
    info[FRONT] = NONE
    info[EDITION] += 1


@kernel(inline=True)
def put(paths, row, place, cell):
    """Enter a cell at a place of a path."""
    paths.cell[row, place] = cell
    paths.at[row, cell] = (paths.info[row, EDITION] << 32) + place


@kernel(inline=True)
def place_of(paths, row, cell):
    """Return the place of a cell on a path, a negative number if it is not there."""
    return paths.at[row, cell] - (paths.info[row, EDITION] << 32)


@kernel
def search(terrain, trip, buckets, depth, limit, t):
    """Lines 6-8: A* for one slice; the first one ends before a path is longer than can be traced at once."""
    space, left, portion = buckets.space, limit[EXPAND], limit[EXPAND]
    first = space.state[0].closed == 0
    if first:
        left, portion = (left, np.int64(1)) if limit[BY_LENGTH] != 0 else (min(left, limit[TRACE]), left)
    end = np.int64(INTERRUPTED)
    while left > 0 and end == INTERRUPTED:
        if portion == 1 and first:
            u = np.int64(buckets.lowest.item[0])
            depth[u] = 0 if space.parent[u] == NONE else depth[space.parent[u]] + 1
            if depth[u] >= limit[TRACE]:
                break
        closed = space.state[0].closed
        end = np.int64(resume_astar(terrain, trip, buckets, t, min(portion, left)))
        if space.state[0].closed == closed:
            break
        left -= portion
    return end


@kernel
def trace_back(trip, space, top, paths, state, s, steps):
    """Lines 10-13: trace the path to the most promising state, at most so many steps; True once it is complete."""
    row = 1 - state[FOLLOWED]
    if state[TRACING] == 0:
        clear(paths, row)
        put(paths, row, 0, np.int64(space.cell[top]))
        paths.info[row, COUNT], paths.info[row, G] = 1, space.g[top]
        state[TRACING] = 1
    count = paths.info[row, COUNT]
    cell = np.int64(paths.cell[row, count - 1])
    while steps > 0 and cell != state[START] and place_of(paths, row, s) < 0:
        cell = np.int64(space.cell[space.parent[slot_of(space, cell)]])
        put(paths, row, count, cell)
        count += 1
        trip.meter[0].trace_steps += 1
        steps -= 1
    paths.info[row, COUNT] = count
    return cell == state[START] or place_of(paths, row, s) >= 0


@kernel
def seek(terrain, trip, space, queue, s, size, most):
    """A* from the seeds, which are the first ``size`` slots, to ``s``; return its slot, NONE without success."""
    base = space.state[0].stamp << 32
    for _ in range(most):
        u = np.int64(queue.item[0])
        cell = np.int64(space.cell[u])
        if cell == s or not charge(trip, cell):
            break
        pop(queue)
        space.role[u] = SHUT
        moves = terrain.mask[cell]
        for d in range(8):
            if moves >> d & 1:
                v, g = cell + terrain.offset[d], space.g[u] + terrain.cost[d]
                w = space.seat[v] - base
                if w < 0:
                    w = size
                    size += 1
                    discover(space, base, w, v, h0(terrain, v, s))
                    reach(space, u, d, w, g)
                    push(queue, w)
                elif g < space.g[w] and space.role[w] == OPEN:
                    reach(space, u, d, w, g)
                    lower(queue, w)
    u = np.int64(queue.item[0])
    return u if space.cell[u] == s else np.int64(NONE)


@kernel
def take_shortcut(terrain, trip, memory, s):
    """Follow a way to the goal that is cheaper than stepping back to the solution, if one is found.

    The search begins on the solution, between the goal and where the way back meets it, with the costs to the goal.
    """
    tree, space, paths, row = memory.buckets.space, memory.shortcut, memory.paths, memory.state[FOLLOWED]
    here = slot_of(tree, s)
    u = here
    while place_of(paths, row, np.int64(tree.cell[u])) < 0:
        u = np.int64(tree.parent[u])
        trip.meter[0].trace_steps += 1
    cost = tree.g[slot_of(tree, np.int64(paths.cell[row, 0]))]
    base, meet = forget(space), place_of(paths, row, np.int64(tree.cell[u]))
    memory.queue.size[0] = 0
    for k in range(meet + 1):
        cell = np.int64(paths.cell[row, k])
        discover(space, base, k, cell, h0(terrain, cell, s))
        reach(space, np.int64(NONE), 0, k, cost - tree.g[slot_of(tree, cell)])
        push(memory.queue, k)
    most = memory.limit[ALL] - trip.meter[0].expansions
    v = seek(terrain, trip, space, memory.queue, s, meet + 1, most)
    if v == NONE or space.g[v] >= tree.g[here] + cost - 2 * tree.g[u]:
        return
    length, w = np.int64(0), v
    while space.parent[w] != NONE:
        w = np.int64(space.parent[w])
        length += 1
    clear(paths, 1 - row)
    for k in range(w):
        put(paths, 1 - row, k, np.int64(paths.cell[row, k]))
    for k in range(w + length, w - 1, -1):
        put(paths, 1 - row, k, np.int64(space.cell[v]))
        v = np.int64(space.parent[v])
    paths.info[1 - row, COUNT], paths.info[1 - row, FRONT] = w + length + 1, w + length
    memory.state[FOLLOWED] = 1 - row


@kernel
def step(terrain, space, paths, state, s):
    """Lines 21-29: return the next cell along the path, or back, or where the agent came from; NONE for none."""
    row = state[FOLLOWED]
    place = place_of(paths, row, s)
    if 0 < place <= paths.info[row, FRONT]:
        paths.info[row, FRONT] = place - 1
        return np.int64(paths.cell[row, place - 1])
    if place == 0:
        paths.info[row, G] = NONE  # walked to its end: any other path is as good
    if s != state[START]:
        return np.int64(space.cell[space.parent[slot_of(space, s)]])
    return state[LAST]


@kernel
def plan(terrain, trip, memory, s, t):
    """One time slice."""
    buckets, paths, limit, state = memory.buckets, memory.paths, memory.limit, memory.state
    space = buckets.space
    if state[STARTED] == 0 or outdated(terrain, trip, space):
        begin_astar(terrain, buckets, s, t)
        clear(paths, 0)
        clear(paths, 1)
        state[:] = 0
        state[STARTED], state[START], state[LAST] = 1, s, NONE
    steps = limit[TRACE] if state[SOLVED] == 0 else limit[TRACE_ALL]
    if state[SOLVED] == 0:
        end = search(terrain, trip, buckets, memory.depth, limit, t)
        if end == EXHAUSTED:
            return np.int64(NO_PATH)
        state[SOLVED] = end == FOUND
    if state[TRACED] == 0 and trace_back(trip, space, np.int64(buckets.lowest.item[0]), paths, state, s, steps):
        old, new = paths.info[state[FOLLOWED]], paths.info[1 - state[FOLLOWED]]
        goal = paths.cell[1 - state[FOLLOWED], 0] == t
        state[TRACING], state[TRACED] = 0, goal
        if limit[THRESHOLD] == 0 or goal or new[G] >= old[G]:
            new[FRONT] = new[COUNT] - 1
            state[FOLLOWED] = 1 - state[FOLLOWED]
            space.state[0].best = slot_of(space, np.int64(paths.cell[state[FOLLOWED], 0]))
    if limit[SHORTCUT] != 0 and state[TRACED] != 0 and place_of(paths, state[FOLLOWED], s) < 0:
        take_shortcut(terrain, trip, memory, s)
    to = step(terrain, space, paths, state, s)
    if to == NONE:
        return np.int64(WAIT)
    state[LAST] = s
    trip.plan[0] = direction(terrain, s, to)
    return np.int64(1)


def share(R: int, r: float) -> int:
    """Return how many of R units of a move go to expansions: the fraction r of them, at least one."""
    units = whole("R", R, 1, MAX_R)
    if isinstance(r, bool) or not isinstance(r, Real) or not 0 < r < 1:
        raise InputError(f"r must be a number above 0 and below 1, not {quoted(r)}")
    return max(1, int(units * Fraction(float(r)) + Fraction(1, 10**9)))


class TBA(KernelAgent):
    """TBA*.

    Args:
        R: the units of a move; an expansion takes one.
        r: which fraction of them goes to expansions; the others go to tracing.
        c: how many trace steps a unit is worth.
        threshold: whether to keep to a path until another one leads as far.
        shortcut: whether to look for a shorter way before stepping back, once the solution is known.
        first: how the first slice is kept short enough to be traced at once, by ``"count"`` or by ``"length"``.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    def __init__(
        self,
        R: int = 100,
        r: float = 0.9,
        c: int = 10,
        threshold: bool = False,
        shortcut: bool = False,
        first: str = "count",
        tie: str = "first",
    ) -> None:
        super().__init__(tie)
        self.expansions = share(R, r)
        self.R, self.r, self.c = int(R), float(r), whole("c", c, 1, 10**6)
        if self.expansions == self.R:
            raise InputError(f"R={self.R} and r={self.r} leave nothing for tracing: R must be larger or r smaller")
        self.threshold, self.shortcut = flag("threshold", threshold), flag("shortcut", shortcut)
        if first not in FIRST:
            raise InputError(f'first must be "count" or "length", not {quoted(first)}')
        self.first = first

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the limit as R; two is the least."""
        return {"R": min(MAX_R, max(2, limit))}

    @property
    def bound(self) -> int:
        """The most expansions that a move can take."""
        return self.R if self.shortcut else self.expansions

    @property
    def space(self) -> Space:
        """The states of the search."""
        return self.memory.buckets.space

    def make_memory(self, view: View) -> TBAMemory:
        """Return room for a search of the whole map, for two paths, and for another search if shortcuts are wanted."""
        cells, traces = view.terrain.mask.size, (self.R - self.expansions) * self.c
        options = [self.threshold, self.shortcut, self.first == "length"]
        other = make_space(cells if self.shortcut else 1)
        return TBAMemory(
            buckets=make_buckets(view.terrain),
            depth=np.zeros(cells, np.int32),
            paths=Paths(np.empty((2, cells), np.int32), np.zeros((2, cells), np.int64), np.zeros((2, 4), np.int64)),
            shortcut=other,
            queue=Heap(other.item, other.at, other.f, other.minus_g, other.rank, np.zeros(1, np.int64)),
            limit=np.array([self.expansions, traces, self.R, self.R * self.c, *options], np.int64),
            state=np.zeros(LAST + 1, np.int64),
        )

    def clear_memory(self, view: View, seed: int) -> None:
        """Forget the search."""
        self.memory.buckets.space.random[0] = self.memory.shortcut.random[0] = seed
        self.begin_trial()

    def begin_trial(self) -> None:
        """Forget the search."""
        self.memory.state[STARTED] = 0
