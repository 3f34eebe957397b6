"""aRTAA*: RTAA* that avoids states whose value has been raised.

C. Hernández, J. A. Baier, "Avoiding and Escaping Depressions in Real-Time Heuristic Search", Journal of Artificial
Intelligence Research 43, 2012; first in "Real-Time Adaptive A* with Depression Avoidance", AIIDE 2011. It differs from
RTAA* in where the agent goes: to the state with the smallest f among those of the open list that are not marked, and
marked is a state once its value was raised. If all are marked, it goes where RTAA* goes. The algorithm in plain Python:
``tests/reference/plain_a_rtaa.py``.

Readings:
- A mark needs no memory of its own: a state is marked if its value is above the heuristic that was given.
- Values are raised by the smallest f of the open list, as in RTAA*, not by that of the state the agent goes to: else
  they could overestimate.
- It does not converge to shortest paths: where nothing is learned any more it may still prefer an unmarked state
  to a better one that is marked.
"""

from agents.lss_lrta import look_ahead
from agents.rtaa import RTAA, adapt
from rt_gym.jit import kernel
from rt_gym.search.border import first_unraised
from rt_gym.search.tree import trace


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Search, learn, and commit to the path to the best state that is not marked or to its first step."""
    best = look_ahead(terrain, trip, memory, s, t)
    if best <= 0:
        return best
    target = first_unraised(terrain, memory.local, t)
    adapt(terrain, trip, memory.space, memory.h, best, t)
    return min(trace(memory.space, target, trip.plan), memory.commit)


class ARTAA(RTAA):
    """aRTAA*.

    Args:
        lookahead: how many states its A* expands.
        commit: ``"all"`` the moves to the best unmarked state, or only ``"one"``.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    converges = False
