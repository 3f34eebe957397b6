"""aLSS-LRTA*: LSS-LRTA* that avoids states whose value has been raised.

C. Hernández, J. A. Baier, "Avoiding and Escaping Depressions in Real-Time Heuristic Search", Journal of Artificial
Intelligence Research 43, 2012; first in "Real-Time Heuristic Search with Depression Avoidance", IJCAI 2011. It differs
from LSS-LRTA* in where the agent goes: to the state with the smallest f among those of the open list that are not
marked, and marked is a state once its value was raised. If all are marked, it goes where LSS-LRTA* goes. The algorithm
in plain Python: ``tests/reference/plain_a_lss_lrta.py``.

Readings:
- A mark needs no memory of its own: a state is marked if its value is above the heuristic that was given.
- Learning is that of LSS-LRTA*, and the meter and ``commit`` are as there.
- It does not converge to shortest paths: where nothing is learned any more it may still prefer an unmarked state
  to a better one that is marked.
"""

from agents.lss_lrta import LSSLRTA, look_ahead
from rt_gym.jit import kernel
from rt_gym.search.border import first_unraised
from rt_gym.search.local import frontier_update
from rt_gym.search.tree import trace


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Search, learn, and commit to the path to the best state that is not marked or to its first step."""
    best = look_ahead(terrain, trip, memory, s, t)
    if best <= 0:
        return best
    target = first_unraised(terrain, memory.local, t)
    frontier_update(terrain, trip, memory.local, memory.h, t)
    return min(trace(memory.space, target, trip.plan), memory.commit)


class ALSSLRTA(LSSLRTA):
    """aLSS-LRTA*.

    Args:
        lookahead: how many states its A* expands.
        commit: ``"all"`` the moves to the best unmarked state, or only ``"one"``.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    converges = False
