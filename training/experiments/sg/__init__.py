"""SG: the maps, problems and figures of the paper on subgoals.

C. Hernández, J. A. Baier, "Fast Subgoaling for Pathfinding via Real-Time Search", ICAPS 2011.
"""

from typing import NamedTuple

from training.experiments.frame import Entrant, Ground, entrant

PAPER = "Hernández, Baier, Fast Subgoaling for Pathfinding via Real-Time Search, ICAPS 2011"
SIDE = 171
MAPS = (
    Ground("bg/AR0411SR", 232, 272),
    Ground("bg/AR0701SR", 204, 235),
    Ground("wc3maps512/battleground", SIDE, SIDE, scaled=True),
    Ground("wc3maps512/blastedlands", SIDE, SIDE, scaled=True),
    Ground("dao/lak304d", 193, 194),
    Ground("dao/ost003d", 194, 194),
    Ground("dao/den520d", 256, 257),
    Ground("dao/brc202d", 530, 481),
)
PROBLEMS = {"smoke": 10, "record": 500, "full": 500}
SEED = 2011
MAPS_NOTE = (
    "The paper's eight maps are not named: two of Baldur's Gate, two of Warcraft, four of Dragon Age: Origins, with"
    " 17,789 free cells on average. Ours have 19,700 and were chosen by that number: with the arena in place of"
    " brc202d, and the two largest Warcraft maps at hand, it would be 15,700. The two of Baldur's Gate are at"
    f" original scale, the two of Warcraft III are scaled from 512 x 512 to {SIDE} x {SIDE} by nearest neighbour."
)
OUTLINE_NOTE = (
    "kNN LRTA* is built after the abstracts of its papers and what this one says of it: its rows carry a dagger."
)
PROBLEMS_NOTE = "Start and goal are drawn at random, the goal from the cells that can be reached."

ASTAR, LRTA, NEAREST = entrant("astar"), entrant("lrta", depth=1), entrant("subgoal-lrta")


class Printed(NamedTuple):
    """A line of Figure 2: the cost, and microseconds of the first search and in total."""

    cost: int
    first: int
    total: int


PRINTED = {ASTAR: Printed(198, 3101, 3101), LRTA: Printed(39_232, 1, 34_446), NEAREST: Printed(220, 24, 251)}

NODES, LARGEST, SMALLEST = 198, 255, 0  # of a tree without its root: the mean, and of all trees
FREE_CELLS = 17_789  # of a map, the mean
ALL_TREES, SAME_MAPS = 73.5, 51.6  # seconds for all trees of a map, the mean of all maps and of the first four
# by map: free cells, trees, their nodes without the root, the largest, the smallest, % of cells, seconds for all trees
TREES = (f"{FREE_CELLS:,}", "all", str(NODES), str(LARGEST), str(SMALLEST), "1.11", str(ALL_TREES))


def knn(records: int) -> Entrant:
    """Return kNN LRTA* with this many records."""
    return entrant("knn-lrta", records=records)


DATABASES = (knn(10_000), knn(1000))
# percent above optimal, the best first
EXCESS = {NEAREST: 13, DATABASES[0]: 19.52, DATABASES[1]: 49.91}
SECONDS = {DATABASES[0]: 373.8, DATABASES[1]: SAME_MAPS}  # of precomputation; with 1000 records "comparable" to it
MORE_EXPANSIONS = 19.98  # of D LRTA* at level 5 than with subgoals, on average
