"""daRTAA*: RTAA* that moves to the border of a depression.

C. Hernández, J. A. Baier, "Avoiding and Escaping Depressions in Real-Time Heuristic Search", Journal of Artificial
Intelligence Research 43, 2012. It differs from RTAA* in where the agent goes: to the state of the open list whose value
was raised least, and of these to the one with the smallest f. The algorithm in plain Python:
``tests/reference/plain_da_rtaa.py``.

Readings:
- Values are raised by the smallest f of the open list, as in RTAA*, not by that of the state the agent goes to: else
  they could overestimate. With a lookahead of one it is daLSS-LRTA*.
- Of equal ones the order of the open list decides: smaller f, larger g, first generated.
- It does not converge to shortest paths: where nothing is learned any more it may still prefer a state that was
  raised less to a better one.
"""

from agents.lss_lrta import look_ahead
from agents.rtaa import RTAA, adapt
from rt_gym.jit import kernel
from rt_gym.search.border import least_raised
from rt_gym.search.tree import trace


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Search, learn, and commit to the path to the border of the depression or to its first step."""
    best = look_ahead(terrain, trip, memory, s, t)
    if best <= 0:
        return best
    target = least_raised(terrain, memory.local, t)
    adapt(terrain, trip, memory.space, memory.h, best, t)
    return min(trace(memory.space, target, trip.plan), memory.commit)


class DARTAA(RTAA):
    """daRTAA*.

    Args:
        lookahead: how many states its A* expands.
        commit: ``"all"`` the moves to the border, or only ``"one"``.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    converges = False
