"""LS-T1: LRTS on mazes, beside LRTA*_LS(k, d) at all its settings.

The bars were set before the first full run: wide ones around the printed means, because these do not follow the depth
and come from a distribution with a long tail.
"""

import numpy as np

from training.experiments.evidence import Evidence, bootstrap, mean, with_interval
from training.experiments.frame import Claim, Experiment
from training.experiments.ls.benchmarks import CONVERGENCE, FIRST, MAZE, NOTES, PAPER, SEED
from training.experiments.ls.curves import DS, KS, LS_SPEC
from training.judge import Estimate
from training.judge.stats import Floats
from training.judge.tables import Table

# depth -> cost and ms, first trial and convergence, as printed
PRINTED = {
    2: {FIRST: (286_298, 384.8), CONVERGENCE: (9_342_178, 12_495.8)},
    3: {FIRST: (318_745, 411.0), CONVERGENCE: (13_484_605, 17_103.7)},
    4: {FIRST: (346_512, 439.7), CONVERGENCE: (6_213_025, 7_692.1)},
    6: {FIRST: (349_338, 445.0), CONVERGENCE: (6_925_468, 8_431.9)},
}
BARS = {FIRST: (200_000, 450_000), CONVERGENCE: (4_000_000, 18_000_000)}
TIES = {"first": "", "random": " tie=random"}
LS = [f"lrta-ls-kd k={k} d={d}" for k in KS for d in DS]

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def _lrts(depth: int, tie: str = "first") -> str:
    return f"lrts depth={depth} gamma=1.0{TIES[tie]}"


def _claims(first: Evidence, convergence: Evidence) -> list[Claim]:
    parts = {FIRST: first, CONVERGENCE: convergence}
    means = [
        Claim(
            f"mean cost of LRTS, {text}, depth {depth}",
            f"{PRINTED[depth][text][0]:,}",
            mean(evidence.numbers(_lrts(depth), "cost")),
            *BARS[text],
        )
        for text, evidence in parts.items()
        for depth in PRINTED
    ]
    worse = [
        Claim(
            f"LRTS is worse than LRTA*_LS(k, d) in {text} of {name}: the best depth over the worst k and d",
            "worse at every setting",
            _worse(evidence, column),
            low=1,
        )
        for name, evidence in parts.items()
        for text, column in (("cost", "cost"), ("time", "seconds"))
    ]
    return means + worse


def _worse(evidence: Evidence, column: str) -> Estimate | None:
    def ratio(*means: Floats) -> Floats:
        return np.min(means[: len(PRINTED)], axis=0) / np.max(means[len(PRINTED) :], axis=0)

    labels = *map(_lrts, PRINTED), *LS
    return bootstrap(ratio, *(evidence.numbers(label, column) for label in labels))


def _tables(first: Evidence, convergence: Evidence) -> list[Table]:
    columns = ["depth", "ties", "cost", "95 % interval", "paper", "time in ms", "95 % interval", "paper"]
    return [
        Table(f"LRTS, {text}", columns, [_line(evidence, text, depth, tie) for tie in TIES for depth in PRINTED])
        for text, evidence in ((FIRST, first), (CONVERGENCE, convergence))
    ]


def _line(evidence: Evidence, text: str, depth: int, tie: str) -> list[str]:
    cost, ms = PRINTED[depth][text]
    label = _lrts(depth, tie)
    found = evidence.numbers(label, "cost"), 1000 * evidence.numbers(label, "seconds")
    ours = [with_interval(mean(column)) for column in found]
    return [str(depth), tie, *ours[0], f"{cost:,}", *ours[1], f"{ms:,}"]


EXPERIMENT = Experiment(
    id="ls-t1",
    title="LRTS on mazes",
    paper=f"{PAPER}, Table 1",
    parts=MAZE.parts(f"lrts:depth={','.join(map(str, PRINTED))}:tie=first,random", LS_SPEC),
    seed=SEED,
    claims=_claims,
    tables=_tables,
    notes=(
        "gamma is 1 and the quota is not limited, as in the paper. It does not say how ties are broken; the claims are"
        " about the first of equals, as everywhere here, and the tables have random ties as well.",
        "The runs of LRTA*_LS(k, d) are those of LS-F4.",
        *NOTES,
    ),
    changes=CHANGES,
)
