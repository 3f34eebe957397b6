"""DC: the maps, problems and figures of the paper on dynamic control.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007.
"""

from typing import Any

from training.experiments import tb
from training.experiments.evidence import PAPERS_RECIPE, TreeTraining
from training.experiments.frame import Entrant, Ground, entrant, sweep

PAPER = (
    "Bulitko, Björnsson, Luštrek, Schaeffer, Sigmundarson, Dynamic Control in Path-Planning with Real-Time Heuristic"
    " Search, ICAPS 2007"
)
SEED = 2007

SIDE = 171  # of maps that are scaled down
RANGE = (90, 100)  # of the optimal costs on maps of that size


def scaled(*files: str) -> tuple[Ground, ...]:
    """Return public maps, scaled down."""
    return tuple(Ground(file, SIDE, SIDE, scaled=True) for file in files)


MAPS = scaled(*(ground.file for ground in tb.MAPS))  # the large maps are those of TB as they are
TRAIN_ON = (*MAPS, *scaled("sc1/Aftershock", "bg512/AR0012SR", "bg512/AR0700SR"))
# with deep depressions: even the oracle of d_max 20 takes twice as many steps there as a shortest path
DEEP = (Ground("bg512/AR0012SR", 512, 512), Ground("bg/AR0516SR", 244, 187), Ground("dao/brc202d", 530, 481))
CHOOSE_ON = (*scaled("bg512/AR0044SR", "bg512/AR0411SR"), Ground("dao/den520d", 256, 257))
UNSEEN = (
    Ground("sc1/BlackLotus", 192, 192, scaled=True),
    Ground("dao/lak304d", 193, 194),
    Ground("dao/ost003d", 194, 194),
    Ground("bg/AR0603SR", 236, 267),
    Ground("bg/AR0701SR", 204, 235),
)
# What agents are judged on that are no classifiers: the same and two larger ones.
GAMES = (*UNSEEN, Ground("wc3maps512/plunderisle", 512, 512), Ground("dao/den520d", 256, 257))
PROBLEMS = {"smoke": 5, "record": 100, "full": 100}  # on each of the large maps
MAX_MOVES = 1_000_000

DEPTHS = (*range(1, 15), 16, 20)  # of the curve of Figure 5; the paper's has 4 to 14, and 20 is its largest depth
FIXED = sweep("lrta", depth=DEPTHS)
SPARSE = sweep("lrta", depth=(1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 26))  # the curve beside what is learned
SPARSE_TO_30 = (*SPARSE, entrant("lrta", depth=30))  # on large maps: there 30 is the paper's largest
CAP = 16  # of the depth in Figure 8: the largest whose worst move keeps the cut-off
REFINED = sweep("pr-lrts", level=(3, 4, 5, 6, 7), depth=(1, 3, 5, 10, 15), gamma=(0.2, 0.4, 0.6, 1.0))

ACCURACY = {5: 0.72, 20: 0.44}  # of the classifier, by d_max
SAMPLES = {"smoke": 4, "record": 420, "full": 420}  # problems on each map of DEEP that leave some 140,000 samples
# Regions of the paper's large map by level, the square roots of its numbers of entries in Table 1.
REGIONS = {1: 27_200, 2: 7_700, 3: 2_470, 4: 927, 5: 387, 6: 176, 7: 80}
# Suboptimality and expansions per move of mode I there, by level, as Table 2 prints them.
FOUND = {3: (1.09, 5), 4: (1.11, 16), 5: (1.65, 111), 6: (1.99, 253), 7: (3.12, 529)}

RECIPE = PAPERS_RECIPE  # of the classifier: J48 over its four features
RATIO = "expansions that fixed depths need for the same suboptimality, over its own"


def d_lrta(mode: str, level: int, cap: int, **settings: Any) -> Entrant:
    """Return D LRTA*: LRTA* with a pattern database."""
    return entrant("pdb-lrta", mode=mode, level=level, cap=cap, **settings)


def as_printed(mode: str, level: int, cap: int) -> Entrant:
    """Return D LRTA* to the letter: the first other region on the path, looked up anew at every move."""
    return d_lrta(mode, level, cap, subgoal="first", keep=False)


def unguarded(mode: str, level: int, cap: int) -> Entrant:
    """Return D LRTA* without our guard against going back and forth."""
    return d_lrta(mode, level, cap, guard=False)


READINGS_NOTE = (
    "A subgoal is read as the representative of the first region on the path whose own representative is nearer to the"
    " goal, and is kept until its region is entered. Rows with subgoal=first keep=False read the paper to the letter:"
    " the first other region, looked up at every move, so that two regions may send the agent back and forth until our"
    " guard acts. Which reading is the default was decided on maps that no experiment has so large."
)


def oracle(d_max: int) -> Entrant:
    """Return the oracle, which searches as deep as makes the move of the largest depth."""
    return entrant("oracle-lrta", d_max=d_max)


def tree(d_max: int) -> TreeTraining:
    """Return the paper's classifier, which takes part in the runs."""
    return TreeTraining(f"paper-{d_max}", d_max, RECIPE)
