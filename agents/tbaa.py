"""TBAA*: TBA* that learns from a search before it starts it anew, for unknown terrain.

C. Hernández, J. A. Baier, T. Uras, S. Koenig, "Time-Bounded Adaptive A*", AAMAS 2012, known to us by its idea: when the
map turns out to be another one, TBA* searches anew from where the agent stands, and Adaptive A* lets the next search
know what the last one found out, h(u) = f(first of the open list) - g(u) for every state u that it expanded.

The lines in braces are those of TBA* (``agents.tba``), of which it is a slice with another search. The algorithm in
plain Python: ``tests/reference/plain_tbaa.py``.

Readings:
- It starts anew when TBA* does here: when a cell that was expanded, or one beside it, has changed in the believed map.
  That is more often than the outline asks for, which waits until the path that is followed is blocked. On a known map
  that stays as it is it never does, learns nothing, and is TBA* move by move.
- All values are raised at once, before the new search. That reads no neighbours, as in RTAA*, and is not charged, but
  takes time for every state that was expanded.
- A value is never lowered. While cells only close, as in fog, values stay consistent and never overestimate. After a
  cell has opened they may; the solution is then not always a shortest path, but is found all the same
  (``rt_gym.search.adaptive``).
- A search that runs out of states has shown that there is no path, and teaches nothing.
- The search for a shortcut has the heuristic towards the agent, about which nothing is learned.
- Values serve one trial, as the search does.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.kernels.tba_memory import Limits
from agents.kernels.tba_paths import Paths
from agents.kernels.tba_shortcut import Shortcut
from agents.tba import TBA, initialize, trace_and_step
from rt_gym.jit import kernel
from rt_gym.search.adaptive import begin_adaptive, learn_from_search, resume_adaptive
from rt_gym.search.astar import EXHAUSTED, FOUND
from rt_gym.search.buckets import Buckets
from rt_gym.search.nodes import Nodes
from rt_gym.search.paged_values import PagedValues, make_values, reset_values
from rt_gym.search.tree import outdated
from rt_gym.trip import NO_PATH
from rt_gym.views import KernelView


class TBAAMemory(NamedTuple):
    """What the plan works on: learned values beside what TBA* has (see ``TBAMemory``)."""

    space: Nodes
    buckets: Buckets
    state: NDArray[np.record]
    paths: Paths
    shortcut: Shortcut
    limits: Limits
    h: NDArray[np.int64] | PagedValues


@kernel(inline=True)
def search(terrain, trip, memory, goal):
    """{7}: A* with the learned values for one slice; the first one expands no more states than can be traced."""
    n_e = memory.limits.n_e
    if memory.space.state[0].closed == 0:
        n_e = min(n_e, memory.limits.n_t)
    return np.int64(resume_adaptive(terrain, trip, memory.buckets, memory.h, goal, n_e))


@kernel
def plan(terrain, trip, memory, loc, goal):
    """One time slice, which begins with another search, and with what the last one taught, where the map changed."""
    state, limits = memory.state[0], memory.limits
    if state.begun == 0 or outdated(terrain, trip, memory.space):
        if state.begun != 0:
            learn_from_search(terrain, trip, memory.buckets, memory.h, goal)
        begin_adaptive(terrain, memory.buckets, memory.h, loc, goal)
        initialize(memory, loc)  # {1}-{4}
    n_t = limits.n_t if state.solution_found == 0 else limits.n_t_solved
    if state.solution_found == 0:  # {6}
        end = search(terrain, trip, memory, goal)  # {7}
        if end == EXHAUSTED:
            return np.int64(NO_PATH)
        state.solution_found = np.int64(end == FOUND)
    # {8}
    return trace_and_step(terrain, trip, memory, loc, goal, n_t)


class TBAA(TBA):
    """TBAA*. Built after an outline of its paper.

    Args:
        R: the units of a move; an expansion takes one.
        r: which fraction of them goes to expansions; the others go to tracing.
        c: how many trace steps a unit is worth.
        threshold: whether to keep to a path until another one leads as far.
        shortcut: whether to look for a shorter way before stepping back, once the solution is known.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    forgets = True
    after_outline = True
    memory_type: ClassVar[Any] = TBAAMemory

    def __init__(
        self,
        R: int = 100,
        r: float = 0.9,
        c: int = 10,
        threshold: bool = False,
        shortcut: bool = False,
        tie: str = "first",
    ) -> None:
        super().__init__(R, r, c, threshold, shortcut, tie=tie)

    def own_memory(self, view: KernelView) -> dict[str, Any]:
        """Return what TBA* has, but for the depths of states, which it does not ask for, and the values."""
        own = super().own_memory(view)
        del own["depth"]
        return own | {"h": make_values(view.terrain.mask.size)}

    def begin_trial(self) -> None:
        """Forget the search and what was learned from those before it."""
        super().begin_trial()
        reset_values(self.memory.h, self.view.terrain, self.view.goal_cell)

    def count_states(self) -> int:
        """Return how many states its largest search had, or how many values differ from the heuristic if more."""
        return max(super().count_states(), self.count_learned())
