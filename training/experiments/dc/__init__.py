"""DC: the maps, problems and figures of the paper on dynamic control.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007.
"""

from training.experiments.frame import Entrant, entrant, sweep

PAPER = (
    "Bulitko, Björnsson, Luštrek, Schaeffer, Sigmundarson, Dynamic Control in Path-Planning with Real-Time Heuristic"
    " Search, ICAPS 2007"
)
SEED = 2007
PROBLEMS = {"smoke": 5, "record": 100, "full": 100}  # on each of the large maps

CAP = 16  # of the depth in Figure 8: the largest whose worst move keeps the cut-off
REFINED = sweep("pr-lrts", level=(3, 4, 5, 6, 7), depth=(1, 3, 5, 10, 15), gamma=(0.2, 0.4, 0.6, 1.0))


def d_lrta(mode: str, level: int, cap: int) -> Entrant:
    """Return D LRTA*: LRTA* with a pattern database."""
    return entrant("pdb-lrta", mode=mode, level=level, cap=cap)
