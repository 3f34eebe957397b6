"""DC-F7, the learned half: classifier and oracle on maps of 512 x 512, beside the same maps at a third of the size.

Fixed before the first full run: the public maps of 512 x 512 from two games, as they are and scaled down; the cap of
30; and the claims, which are the paper's. Its pattern databases are another experiment.
"""

import numpy as np

from training.experiments.dc.f5_learned import SMALL
from training.experiments.evidence import Evidence, bootstrap, ratio_table, score_table
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.grounds import Ground
from training.experiments.trained import PAPER, TreeTraining
from training.judge import Estimate, advantage, score_all
from training.judge.stats import Floats
from training.judge.tables import Table
from training.runs import Allowance

SIDE = 512
MAPS = (
    *(f"wc3maps512/{name}" for name in ("battleground", "blastedlands", "plunderisle")),
    *(f"bg512/{name}" for name in ("AR0012SR", "AR0044SR", "AR0411SR", "AR0700SR")),
)
DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 26, 30)
LARGEST = (5, 10, 15, 20, 30)
FAMILIES = {
    "LRTA* with a fixed depth": [f"lrta depth={depth}" for depth in DEPTHS],
    "the paper's tree": [f"classifier-lrta policy=paper-{d_max}" for d_max in LARGEST],
    "the oracle": [f"oracle-lrta d_max={d_max}" for d_max in LARGEST],
}

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def _part(name: str, side: int, optimal: tuple[float, float]) -> Part:
    grounds = tuple(Ground(name, side, side, scaled=side == SMALL) for name in MAPS)
    entrants = (f"lrta:depth={','.join(map(str, DEPTHS))}", f"oracle-lrta:d_max={','.join(map(str, LARGEST))}")
    return Part(
        name=name,
        grounds=grounds,
        problems={"smoke": 1, "record": 30, "full": 100},
        entrants=tuple((spec, Allowance.of(None)) for spec in entrants),
        optimal=optimal,
        lessons=tuple(TreeTraining(f"paper-{d_max}", d_max, PAPER) for d_max in LARGEST),
        taught_on=grounds,
    )


def _claims(small: Evidence, large: Evidence) -> list[Claim]:
    scores = {score.entry.label: score for score in score_all(large.rows)}
    ratio = "the expansions that fixed depths need for the same suboptimality, over its own, mean"
    return [
        *(
            Claim(
                f"{name} is worse on large maps: suboptimality there over that on small maps, least of all depths",
                "less optimal for the same depths",
                _least_growth(small, large, labels),
                low=1,
            )
            for name, labels in FAMILIES.items()
        ),
        *(
            Claim(
                f"the paper's tree still beats fixed depths, d_max {d_max}, large maps: {ratio}",
                "above 1",
                scores[f"classifier-lrta policy=paper-{d_max}"].ratio_mean,
                low=1,
            )
            for d_max in LARGEST
            if d_max <= 10
        ),
        *(
            Claim(
                f"the oracle is ahead of the paper's tree, d_max {d_max}, large maps: its ratio (mean) over the tree's",
                "not printed",
                advantage(large.rows, f"oracle-lrta d_max={d_max}", f"classifier-lrta policy=paper-{d_max}"),
                low=1,
            )
            for d_max in LARGEST
            if d_max >= 10
        ),
    ]


def _least_growth(small: Evidence, large: Evidence, labels: list[str]) -> Estimate | None:
    columns = [part.numbers(label, "suboptimality") for part in (large, small) for label in labels]
    return bootstrap(_least_quotient, *columns)


def _least_quotient(*means: Floats) -> Floats:
    large, small = np.split(np.stack(means, axis=1), 2, axis=1)
    return (large / small).min(axis=1)


def _tables(small: Evidence, large: Evidence) -> list[Table]:
    parts = (("Small maps", small), ("Large maps", large))
    return [make(name, evidence.rows) for name, evidence in parts for make in (score_table, ratio_table)]


EXPERIMENT = Experiment(
    id="dc-f7-learned",
    title="Learned lookahead depths on large maps",
    paper="Bulitko, Björnsson, Luštrek, Schaeffer, Sigmundarson, Dynamic Control in Path-Planning with Real-Time"
    " Heuristic Search, ICAPS 2007, Figure 7",
    parts=(_part("small maps", SMALL, (90, 100)), _part("large maps", SIDE, (230, 320))),
    seed=2007,
    claims=_claims,
    tables=_tables,
    notes=(
        "The paper scales its maps up to 512 x 512 and moves start and goal apart accordingly. Here the large maps are"
        f" those of the public sets, and the small ones are the same scaled down to {SMALL} x {SMALL}.",
        "sc1/Aftershock has this size, too, and is left out: in a first look at two problems on each map, its own"
        " took four times the expansions of all others together, and a mean would tell of little else.",
        "As in the paper a policy is taught on the maps it is judged on, with other problems, and for each size anew.",
        "The largest depth is 30 instead of 20, as in the paper; which depths its classifier has there is not printed.",
        "Growth from small to large maps: both have as many problems on each map, which are resampled together.",
    ),
    changes=CHANGES,
)
