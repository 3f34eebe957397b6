"""LS-F4 on the two benchmarks without a plot, Grid35 and WarCraft III, of which the paper says that they are similar.

Grid35 is set against what the paper says of Maze, WarCraft III against what it says of Baldur's Gate.
"""

from functools import partial

from training.experiments.frame import Experiment
from training.experiments.ls.benchmarks import GRID35, NOTES, PAPER, SEED, SIDE, WARCRAFT
from training.experiments.ls.curves import SPECS
from training.experiments.ls.f4 import CHANGES, READINGS, claims_on, tables_on

PARTS = (*GRID35.parts(*SPECS), *WARCRAFT.parts(*SPECS))


EXPERIMENT = Experiment(
    id="ls-f4b",
    title="The same on Grid35 and WarCraft III",
    paper=f"{PAPER}, the two benchmarks that Figure 4 leaves out as similar",
    parts=PARTS,
    seed=SEED,
    claims=partial(claims_on, PARTS),
    tables=partial(tables_on, PARTS),
    notes=(
        *READINGS,
        "The paper says no more than that these two are similar, so the statements about Maze and about Baldur's Gate"
        " are put to them.",
        "The paper's maps of WarCraft III have 10,242, 10,691 and 19,253 free cells and are not named. These are three"
        f" of the public 512 x 512 set, scaled down to {SIDE} x {SIDE} by nearest neighbour.",
        *NOTES,
    ),
    changes=CHANGES,
)
