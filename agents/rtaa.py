"""RTAA*: a bounded A*, then one subtraction per closed state.

S. Koenig, M. Likhachev, "Real-Time Adaptive A*", AAMAS 2006.

C. Hernández, P. Meseguer, "Combining Lookahead and Propagation in Real-Time Heuristic Search", SoCS 2008, describe it
in the four columns of Figure 2; comments name the column. There are no numbered lines to refer to. The algorithm in
plain Python: ``tests/reference/plain_rtaa.py``.

Readings:
- A value is never lowered (``max``), as in Figure 2, and never raised beyond infinity.
- ``commit`` and the meter are as for LSS-LRTA*, from which only the learning differs.
"""

from typing import Any

import numpy as np

from agents.lss_lrta import LSSLRTA, look_ahead
from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.search.local import nth_closed
from rt_gym.search.tree import trace
from rt_gym.search.values import raise_value
from rt_gym.terrain import MAX_CELLS


@kernel(inline=True)
def adapt(terrain, trip, space, h, best, t):
    """Learning rule: raise h(u) to f(best) - g(u) for every closed state u."""
    f = space.g[best] + space.h[best]
    for k in range(space.state[0].closed):
        u = nth_closed(space, k)
        raise_value(trip, h, terrain, np.int64(space.cell[u]), t, min(f - space.g[u], np.int64(INF)))


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Search, learn, and commit to the path to the best frontier state or to its first step."""
    best = look_ahead(terrain, trip, memory, s, t)  # local search space
    if best <= 0:
        return best
    adapt(terrain, trip, memory.space, memory.h, best, t)  # local learning space, learning rule
    return min(trace(memory.space, best, trip.plan), memory.commit)  # control strategy


class RTAA(LSSLRTA):
    """RTAA*.

    Args:
        lookahead: how many states its A* expands.
        commit: ``"all"`` the moves to the best frontier state, or only ``"one"``.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the limit as the lookahead: learning reads no neighbours, so scans are expansions."""
        return {"lookahead": min(MAX_CELLS, limit)}
