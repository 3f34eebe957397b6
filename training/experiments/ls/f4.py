"""LS-F4 and LS-F4B: LRTA*_LS(k, d), Koenig's LRTA* and RTAA* over their lookahead: cost and time.

Figure 4 plots Maze and Baldur's Gate, for the first trial and for convergence. LS-F4B puts the same statements to the
two benchmarks without a plot, of which the paper says that they are similar: Grid35 is set against what it says of
Maze, WarCraft III against what it says of Baldur's Gate.
"""

from collections.abc import Sequence
from functools import partial

from training.experiments import ls
from training.experiments.evidence import Evidence
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.ls.curves import (
    BETTER_AT_THE_END,
    COSTS,
    SETTINGS,
    SIMILAR_AT_THE_END,
    efforts,
    tables_of,
)
from training.judge.tables import Table

# what the paper says of the first trial and of convergence, first of Maze, then of Baldur's Gate
STATEMENTS = (
    (*COSTS, *SIMILAR_AT_THE_END, *efforts(falls=False)),
    (*COSTS, *SIMILAR_AT_THE_END, *efforts(falls=True)),
    (*COSTS, *BETTER_AT_THE_END, *efforts(falls=False)),
    (*COSTS, *BETTER_AT_THE_END, *efforts(falls=False)),
)
READINGS = (
    "LRTA* is Koenig's, which is LSS-LRTA*. It and RTAA* walk all the way to the best state of their frontier."
    " LRTA*_LS has dynamic lookahead and dynamic control.",
    "The figure has no numbers.",
)
CHANGES = (
    "what the paper says of time is also said of scans, which do not depend on the machine. A first trial takes"
    " milliseconds, and such times are noisy.",
    "the two statements on the plot's scale were added. The bar of 35 % is ours; a reader of the plots sees cost on a"
    " scale that LRTA* and RTAA* set with d = 2, on which the other curves are flat and close.",
)


def _claims(parts: Sequence[Part]) -> tuple[Claim, ...]:
    said = zip(parts, STATEMENTS, strict=True)
    return tuple(one.on(part.name, number) for number, (part, each) in enumerate(said) for one in each)


def _tables(parts: Sequence[Part], *evidence: Evidence) -> list[Table]:
    return [table for part, found in zip(parts, evidence, strict=True) for table in tables_of(part.name, found)]


PLOTTED = (*ls.MAZE.parts(*SETTINGS), *ls.BALDURS_GATE.parts(*SETTINGS))
OTHERS = (*ls.GRID35.parts(*SETTINGS), *ls.WARCRAFT.parts(*SETTINGS))

F4 = Experiment(
    id="ls-f4",
    title="LRTA*_LS(k, d), LRTA* and RTAA*: cost and time over lookahead",
    paper=f"{ls.PAPER}, Figure 4",
    parts=PLOTTED,
    seed=ls.SEED,
    claims=_claims(PLOTTED),
    tables=partial(_tables, PLOTTED),
    notes=(
        *READINGS,
        "The five maps of Baldur's Gate have the paper's numbers of free cells.",
        "Until convergence, the paper says, times on Baldur's Gate have the shape of the first trial: they should fall"
        " and rise. On Maze they should only fall.",
        *ls.NOTES,
    ),
    changes=CHANGES,
)
F4B = Experiment(
    id="ls-f4b",
    title="The same on Grid35 and WarCraft III",
    paper=f"{ls.PAPER}, the two benchmarks that Figure 4 leaves out as similar",
    parts=OTHERS,
    seed=ls.SEED,
    claims=_claims(OTHERS),
    tables=partial(_tables, OTHERS),
    notes=(
        *READINGS,
        "The paper says no more than that these two are similar, so the statements about Maze and about Baldur's Gate"
        " are put to them.",
        "The paper's maps of WarCraft III have 10,242, 10,691 and 19,253 free cells and are not named. These are three"
        f" of the public 512 x 512 set, scaled down to {ls.SIDE} x {ls.SIDE} by nearest neighbour.",
        *ls.NOTES,
    ),
    changes=CHANGES,
)
