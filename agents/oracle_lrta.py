"""LRTA* with an oracle for the depth: the smallest lookahead that decides as the largest would.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007. No real agent: it shows what a perfect classifier of the depth would reach.

Deviations and readings:
- The label is the depth from which on all depths up to ``d_max`` make the same move.
- Only the search of the chosen depth is charged, as in the paper. The searches that find the label are scans.
- Learning happens at the chosen depth, so its values differ from those of LRTA* with depth ``d_max``.

The algorithm in plain Python: tests/reference/plain_depth_control.py
"""

import numpy as np

from agents.policies.depth_control import HISTORY, DepthControl, note_move, search, write_features
from agents.policies.record_depths import label_state
from rt_gym.jit import kernel
from rt_gym.trip import NO_PATH


@kernel
def plan(terrain, trip, control, s, t):
    """Ask for the depth, then look that far ahead."""
    note_move(terrain, trip, control, s)
    write_features(terrain, trip, control, s, t)
    depth = label_state(terrain, trip, control, s, t)
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
