"""LRTA* with an oracle for the depth: the smallest lookahead that decides as the largest would.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007. No real agent: it shows what a perfect classifier of the depth would reach.

Deviations and readings:
- The label is the depth from which on all depths up to ``d_max`` make the same move.
- Only the search of the chosen depth is charged, as in the paper. The searches that find the label are scans.
- Learning happens at the chosen depth, so its values differ from those of LRTA* with depth ``d_max``.
"""

import numpy as np

from agents.policies.depth_control import D_MAX, HISTORY, DepthControl, attend, recording, remember, search
from rt_gym.features.decision import write_situation
from rt_gym.jit import kernel
from rt_gym.search.deepening import label
from rt_gym.trip import NO_PATH


@kernel
def plan(terrain, trip, control, s, t):
    """Ask for the depth, then look that far ahead."""
    if recording(control):
        attend(terrain, trip, control, s)
        write_situation(control.situation, terrain, trip, control.h, s, t, control.inputs)
        depth = remember(terrain, trip, control, s, t)
    else:
        d_max, no_ties = control.state[D_MAX], control.ladder.action[:0]
        depth = label(terrain, trip, control.shadow, control.space, control.ladder, control.h, s, t, d_max, no_ties)
    if depth == 0:
        return np.int64(NO_PATH)
    return search(terrain, trip, control, s, t, depth)


class OracleLRTA(DepthControl):
    """LRTA* with an oracle for the depth.

    Args:
        d_max: the largest depth; the move is always the one that a lookahead of this depth would make.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)

    def __init__(self, d_max: int = 10, tie: str = "first") -> None:
        super().__init__(d_max, HISTORY, tie)
