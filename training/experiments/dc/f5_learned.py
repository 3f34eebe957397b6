"""DC-F5, the learned half: classifier and oracle against fixed depths, on maps it has learned on and on unseen ones.

The bars were set before the first full run: the paper's tree saves up to half of the expansions at small d_max; a tree
with more features, costs instead of classes and its own states among the samples has to do better, by both averages.
"""

from collections.abc import Sequence
from dataclasses import replace

from training.experiments.evidence import Evidence, ratio_table, score_table
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.grounds import Ground
from training.experiments.trained import TreeTraining
from training.judge import advantage, score_all
from training.judge.tables import Table
from training.learn.targets import Recipe
from training.runs import Allowance, Row

DEPTHS = "1,2,3,4,5,6,8,10,12,14,16,20,26"
PAPER = (5, 7, 10)
LARGEST = (5, 10, 15, 20)
ORDERED = (5, 10)
RICH = Recipe(labels="cost", features="rich")

LESSONS = (
    *(TreeTraining(f"paper-{d_max}", d_max, Recipe(labels="class", features="paper")) for d_max in LARGEST),
    TreeTraining("paper-7", 7, Recipe(labels="class", features="paper")),
    TreeTraining("rich-20", 20, RICH, dagger=2),
    *(
        TreeTraining(f"ordered-{d_max}", d_max, Recipe(labels="class", features="paper", ties="ordered"))
        for d_max in ORDERED
    ),
    TreeTraining("rich-ordered-20", 20, replace(RICH, ties="ordered"), dagger=2),
)
SMALL = 171  # side, of maps that are scaled down
TAUGHT_ON = (
    *(
        Ground(f"wc3maps512/{name}", SMALL, SMALL, scaled=True)
        for name in ("battleground", "blastedlands", "plunderisle")
    ),
    Ground("sc1/Aftershock", SMALL, SMALL, scaled=True),
    *(Ground(f"bg512/{name}", SMALL, SMALL, scaled=True) for name in ("AR0012SR", "AR0700SR")),
)
CHOSEN_ON = (
    *(Ground(f"bg512/{name}", SMALL, SMALL, scaled=True) for name in ("AR0044SR", "AR0411SR")),
    Ground("dao/den520d", 256, 257),
)
UNSEEN = (
    Ground("sc1/BlackLotus", 192, 192, scaled=True),
    Ground("dao/lak304d", 193, 194),
    Ground("dao/ost003d", 194, 194),
    Ground("bg/AR0603SR", 236, 267),
    Ground("bg/AR0701SR", 204, 235),
)
ENTRANTS = tuple(
    (spec, Allowance.of(None))
    for spec in (
        f"lrta:depth={DEPTHS}",
        "rule-lrta:rule=update,revisit,settle:d_max=20",
        f"oracle-lrta:d_max={','.join(map(str, LARGEST))}",
    )
)

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = (
    "160 instead of 80 problems on each map learned on and 200 instead of 100 on each unseen one, to learn from as well"
    " as to be judged on: several intervals contained their bars.",
    "The policies of the two parts are kept apart: those taught for the unseen maps had run on the others as well.",
    "The oracle's ratio over the tree's: both are resampled together, which before had the widest interval of the two.",
    "The paper's tree once more, with labels that read ties by the order of the directions (ordered-5, ordered-10):"
    " DC-ACCURACY had found that the reading of ties, which the paper leaves open, decides how good its tree is. The"
    " bar is that of the first reading; nothing else was changed.",
    "The tree of 24 features with the same labels (rich-ordered-20), with the bars of the other: it was better on the"
    " three maps that prices are chosen on, at every price and by both averages, before it met the maps here.",
)


def _part(name: str, grounds: tuple[Ground, ...], problems: dict[str, int]) -> Part:
    return Part(
        name=name,
        grounds=grounds,
        problems=problems,
        entrants=ENTRANTS,
        optimal=(90, 100),
        max_moves=1_000_000,
        lessons=LESSONS,
        taught_on=TAUGHT_ON,
        chosen_on=CHOSEN_ON,
    )


def _claims(seen: Evidence, unseen: Evidence) -> list[Claim]:
    return [
        claim
        for name, evidence in (("maps it learned on", seen), ("unseen maps", unseen))
        for claim in _claims_of(name, evidence.rows)
    ]


def _claims_of(name: str, rows: Sequence[Row]) -> list[Claim]:
    scores = {score.entry.label: score for score in score_all(rows)}
    paper = {d_max: scores[f"classifier-lrta policy=paper-{d_max}"] for d_max in PAPER}
    rich = {
        "": scores["classifier-lrta policy=rich-20"],
        ", ties read by order": scores["classifier-lrta policy=rich-ordered-20"],
    }
    ratio = f"on {name}, the expansions that fixed depths need for the same suboptimality, over its own"
    return [
        *(
            Claim(f"the paper's tree, d_max {d_max}: {ratio}, mean", "up to 2", paper[d_max].ratio_mean, low=1.5)
            for d_max in PAPER
        ),
        *(
            Claim(
                f"the paper's tree, ties read by order, d_max {d_max}: {ratio}, mean",
                "up to 2",
                scores[f"classifier-lrta policy=ordered-{d_max}"].ratio_mean,
                low=1.5,
            )
            for d_max in ORDERED
        ),
        *(
            claim
            for ties, score in rich.items()
            for claim in (
                Claim(f"24 features, costs, its own states{ties}, d_max 20: {ratio}, mean", "-", score.ratio_mean, 1.8),
                Claim("the same, pooled", "-", score.ratio_pooled, 1.1),
            )
        ),
        *(
            Claim(
                f"the oracle is ahead of the paper's tree, d_max {d_max}: its ratio (mean) over the tree's, on {name}",
                "above 1, growing with d_max",
                advantage(rows, f"oracle-lrta d_max={d_max}", f"classifier-lrta policy=paper-{d_max}"),
                low=1,
            )
            for d_max in LARGEST[1:]
        ),
    ]


def _tables(seen: Evidence, unseen: Evidence) -> list[Table]:
    parts = (("Maps it learned on", seen), ("Unseen maps", unseen))
    return [make(name, evidence.rows) for name, evidence in parts for make in (score_table, ratio_table)]


EXPERIMENT = Experiment(
    id="dc-f5-learned",
    title="Learned lookahead depths: classifier and oracle against fixed depths",
    paper="Bulitko, Björnsson, Luštrek, Schaeffer, Sigmundarson, Dynamic Control in Path-Planning with Real-Time"
    " Heuristic Search, ICAPS 2007, Figure 5",
    parts=(
        _part("maps it learned on", TAUGHT_ON, {"smoke": 4, "record": 160, "full": 200}),
        _part("unseen maps", UNSEEN, {"smoke": 4, "record": 200, "full": 200}),
    ),
    seed=2007,
    claims=_claims,
    tables=_tables,
    notes=(
        "The paper trains on its three maps and tests on other problems of them. Here six maps are learned on, among"
        " them three with deep depressions: on the Warcraft maps alone a depth of four is nearly optimal.",
        "Problems to learn from, to choose prices with and to be judged on are drawn with different seeds. The price of"
        " an expansion is chosen on three further maps.",
        "The paper's tree is J48 with a confidence of 0.05 and leaves of 200 samples or more, over its four features.",
        "ordered: labels for which every depth counts as making the first of its tied moves in the order of the"
        " directions. Only the labels differ; agents move as their searches say.",
    ),
    changes=CHANGES,
)
