"""DC-F5 and DC-F6, the pattern databases: depths alone (G), subgoals where depths are too large (GI), subgoals (I).

The bars were set before the first full run. The figures have no numbers; the text says that G saves a factor of four at
level 2, and GI and I an order of magnitude. The bars leave them a factor of 3, and of 8.
"""

from math import inf

from training.experiments import dc
from training.experiments.evidence import Evidence, ratio_table, score_table
from training.experiments.frame import Claim, Entrant, Experiment, Part
from training.experiments.quantities import Advantage, Column, CurveRatio, Ratio, Trend
from training.judge.tables import Table

LEVELS = range(6)
MODES = ("G", "GI", "I")
CAP = 20
TREES = tuple(map(dc.tree, (5, 10, 15)))  # the paper's trees that the databases are set against


def _d_lrta(mode: str, level: int) -> Entrant:
    return dc.d_lrta(mode, level, CAP)


DEPTH_CLAIMS = (
    *(
        Claim(
            f"G at level {level} lies below the curve of fixed depths: {dc.RATIO}, mean",
            "above 1",
            CurveRatio(_d_lrta("G", level)),
            low=1,
        )
        for level in LEVELS
    ),
    Claim(
        f"G at level 2: {dc.RATIO}, mean", "4", CurveRatio(_d_lrta("G", 2)), low=3, headline=True, direction=(1, inf)
    ),
    *(
        Claim(
            f"G at level {level} beats the classifier: its ratio over that of the best tree",
            "above 1",
            Advantage(_d_lrta("G", level), TREES),
            low=1,
        )
        for level in range(4)
    ),
)
GOAL_CLAIMS = (
    *(
        Claim(
            f"suboptimality of {mode} rises with the level: rank correlation",
            "rises",
            Trend(tuple(Column(_d_lrta(mode, level), "suboptimality") for level in LEVELS)),
            low=0.9,
            direction=(0, 1),
        )
        for mode in ("GI", "I")
    ),
    *(
        Claim(
            f"{better} needs fewer expansions than {worse} for the same suboptimality, level {level}: its ratio over"
            f" that of {worse}",
            "above 1",
            Advantage(_d_lrta(better, level), (_d_lrta(worse, level),)),
            low=1,
        )
        for better, worse in (("I", "GI"), ("GI", "G"))
        for level in LEVELS
    ),
    *(
        Claim(
            f"I at level 5 is like GI at level 2: {text}, over that of GI",
            "about 1",
            Ratio(Column(_d_lrta("I", 5), name), Column(_d_lrta("GI", 2), name)),
            low=1 / 1.3,
            high=1.3,
        )
        for text, name in (("suboptimality", "suboptimality"), ("expansions per move", "expansions_per_move"))
    ),
    *(
        Claim(
            f"{mode} at level {level}: {dc.RATIO}, mean",
            "about 10",
            CurveRatio(_d_lrta(mode, level)),
            low=8,
            headline=True,
            direction=(1, inf),
        )
        for mode, level in (("I", 5), ("GI", 2))
    ),
)


def _tables(evidence: Evidence) -> list[Table]:
    return [make("Pattern databases", evidence.rows) for make in (score_table, ratio_table)]


EXPERIMENT = Experiment(
    id="dc-f6",
    title="Pattern databases for depth and goal, beside fixed depths and the classifier",
    paper=f"{dc.PAPER}, Figures 5 and 6",
    parts=(
        Part(
            grounds=dc.MAPS,
            problems={"smoke": 4, "record": 100, "full": 100},
            entrants=(*dc.FIXED, *(_d_lrta(mode, level) for mode in MODES for level in LEVELS)),
            optimal=dc.RANGE,
            max_moves=dc.MAX_MOVES,
            lessons=TREES,
            taught_on=dc.MAPS,
        ),
    ),
    seed=dc.SEED,
    claims=(*DEPTH_CLAIMS, *GOAL_CLAIMS),
    tables=_tables,
    notes=(
        "Maps and problems are those of DC-F5.",
        "A run prepares only what its goal needs, in memory and timed apart; the entries are those of a full database.",
        "The guard against cycles is ours, and so is its patience of 3. It was chosen on generated maps, after runs on"
        " battleground at full size, among other maps, had shown that 50 is too much.",
    ),
    changes=("Before the first run of this size, what comes out at smoke size had been seen.",),
)
