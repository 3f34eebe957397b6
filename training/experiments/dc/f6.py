"""DC-F5 and DC-F6, the pattern databases: depths alone (G), subgoals where depths are too large (GI), subgoals (I).

The bars were set before the first full run. The figures have no numbers; the text says that G saves a factor of four at
level 2, and GI and I an order of magnitude. The bars leave them a factor of 3, and of 8.
"""

from agents.knowledge.guided import VISITS
from training.experiments.dc.f5 import DEPTHS, SIDE
from training.experiments.evidence import Evidence, ratio, ratio_table, score_table, trend
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.grounds import Ground
from training.experiments.trained import PAPER, TreeTraining
from training.judge import Estimate, Score, advantage, score_all
from training.judge.tables import Table
from training.runs import Allowance

LEVELS = range(6)
MODES = ("G", "GI", "I")
CAP = 20
TREES = (5, 10, 15)  # d_max of the paper's trees that the databases are set against
GROUNDS = tuple(
    Ground(f"wc3maps512/{name}", SIDE, SIDE, scaled=True) for name in ("battleground", "blastedlands", "plunderisle")
)

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ("Before the first run of this size, what comes out at smoke size had been seen.",)


def label(mode: str, level: int, cap: int = CAP) -> str:
    """Return the name of D LRTA* in tables."""
    return f"pdb-lrta level={level} cap={cap} mode={mode} patience={VISITS}"


def _claims(evidence: Evidence) -> list[Claim]:
    scores = {score.entry.label: score for score in score_all(evidence.rows)}
    return [*_depth_claims(evidence, scores), *_goal_claims(evidence, scores)]


def _depth_claims(evidence: Evidence, scores: dict[str, Score]) -> list[Claim]:
    needs = "expansions that fixed depths need for the same suboptimality, over its own, mean"
    best = max(TREES, key=lambda d_max: _value(scores[f"classifier-lrta policy=paper-{d_max}"].ratio_mean))
    return [
        *(
            Claim(
                f"G at level {level} lies below the curve of fixed depths: {needs}",
                "above 1",
                scores[label("G", level)].ratio_mean,
                low=1,
            )
            for level in LEVELS
        ),
        Claim(f"G at level 2: {needs}", "4", scores[label("G", 2)].ratio_mean, low=3),
        *(
            Claim(
                f"G at level {level} beats the classifier: its ratio over that of the best tree (d_max {best})",
                "above 1",
                advantage(evidence.rows, label("G", level), f"classifier-lrta policy=paper-{best}"),
                low=1,
            )
            for level in range(4)
        ),
    ]


def _goal_claims(evidence: Evidence, scores: dict[str, Score]) -> list[Claim]:
    return [
        *(
            Claim(
                f"suboptimality of {mode} rises with the level: rank correlation",
                "rises",
                trend(evidence.numbers(label(mode, level), "suboptimality") for level in LEVELS),
                low=0.9,
            )
            for mode in ("GI", "I")
        ),
        *(
            Claim(
                f"{better} needs fewer expansions than {worse} for the same suboptimality, level {level}: its ratio"
                f" over that of {worse}",
                "above 1",
                advantage(evidence.rows, label(better, level), label(worse, level)),
                low=1,
            )
            for better, worse in (("I", "GI"), ("GI", "G"))
            for level in LEVELS
        ),
        *(
            Claim(
                f"I at level 5 is like GI at level 2: {text}, over that of GI",
                "about 1",
                ratio(evidence.numbers(label("I", 5), name), evidence.numbers(label("GI", 2), name)),
                low=1 / 1.3,
                high=1.3,
            )
            for text, name in (("suboptimality", "suboptimality"), ("expansions per move", "expansions_per_move"))
        ),
        *(
            Claim(
                f"{mode} at level {level}: expansions that fixed depths need for the same suboptimality, over its own,"
                " mean",
                "about 10",
                scores[label(mode, level)].ratio_mean,
                low=8,
            )
            for mode, level in (("I", 5), ("GI", 2))
        ),
    ]


def _value(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else estimate.value


def _tables(evidence: Evidence) -> list[Table]:
    return [make("Pattern databases", evidence.rows) for make in (score_table, ratio_table)]


EXPERIMENT = Experiment(
    id="dc-f6",
    title="Pattern databases for depth and goal, beside fixed depths and the classifier",
    paper="Bulitko, Björnsson, Luštrek, Schaeffer, Sigmundarson, Dynamic Control in Path-Planning with Real-Time"
    " Heuristic Search, ICAPS 2007, Figures 5 and 6",
    parts=(
        Part(
            grounds=GROUNDS,
            problems={"smoke": 4, "record": 100, "full": 100},
            entrants=tuple(
                (spec, Allowance.of(None))
                for spec in (
                    f"lrta:depth={','.join(map(str, DEPTHS))}",
                    f"pdb-lrta:mode={','.join(MODES)}:level={LEVELS[0]}..{LEVELS[-1]}:cap={CAP}",
                )
            ),
            optimal=(90, 100),
            max_moves=1_000_000,
            lessons=tuple(TreeTraining(f"paper-{d_max}", d_max, PAPER) for d_max in TREES),
            taught_on=GROUNDS,
        ),
    ),
    seed=2007,
    claims=_claims,
    tables=_tables,
    notes=(
        "Maps and problems are those of DC-F5.",
        "A run prepares only what its goal needs, in memory and timed apart; the entries are those of a full database.",
        "The guard against cycles is ours, and so is its patience of 3. It was chosen on generated maps, after runs on"
        " battleground at full size, among other maps, had shown that 50 is too much.",
    ),
    changes=CHANGES,
)
