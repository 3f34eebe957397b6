"""TB-F4: TBA* beside what prepares itself for a map, PR LRTS and D LRTA*.

The bars were set before the first full run: TBA* is on the common Pareto front or within 20 % of it, and D LRTA* at
level 3 is not dominated by it.
"""

from training.experiments.dc.f6 import label
from training.experiments.dc.f8 import CAP, PROBLEMS, REFINED, is_on_front, kept
from training.experiments.evidence import Evidence, exactly, score_table
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.tb.f3 import UNITS
from training.experiments.tb.t1 import MAPS, MAPS_NOTE, PAPER, RANGE, early
from training.judge.tables import Table
from training.runs import Allowance

D_LRTA = label("I", 3, CAP)
SLACK = 1.2

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = (
    "100 instead of 25 problems on each map, as in DC-F8. With 25, TBA* was near the front at 6 of 7 R.",
)


def _claims(evidence: Evidence) -> list[Claim]:
    near = sum(is_on_front(evidence, early(R), SLACK) for R in UNITS)
    beaten = _dominates(evidence)
    return [
        Claim(
            f"TBA* is on the common Pareto front, or within 20 % of it: at how many of {len(UNITS)} R",
            f"{len(UNITS)}",
            exactly(near),
            low=len(UNITS),
        ),
        Claim(
            "no setting of TBA* is better than D LRTA* at level 3 in both: how many are", "0", exactly(beaten), high=0
        ),
    ]


def _dominates(evidence: Evidence) -> float:
    scores = {score.entry.label: score for score in kept(evidence)}
    mine = scores.get(D_LRTA)
    if mine is None or mine.quality is None:
        return float(len(UNITS))
    points = [scores[name] for R in UNITS if (name := early(R)) in scores]
    return float(
        sum(
            one.expansions_mean.value <= mine.expansions_mean.value and one.quality.value <= mine.quality.value
            for one in points
            if one.quality is not None
        )
    )


def _tables(evidence: Evidence) -> list[Table]:
    return [score_table("All settings", evidence.rows)]


EXPERIMENT = Experiment(
    id="tb-f4",
    title="TBA* beside PR LRTS and D LRTA*, which prepare themselves for a map",
    paper=f"{PAPER}, Figure 4",
    parts=(
        Part(
            grounds=MAPS,
            problems=PROBLEMS,
            entrants=tuple(
                (spec, Allowance.of(None))
                for spec in (
                    f"tba:R={','.join(map(str, UNITS))}",
                    f"pdb-lrta:mode=I:level=3,4:cap={CAP}",
                    "pr-lrts:" + ":".join(f"{name}={','.join(map(str, all))}" for name, all in REFINED.items()),
                )
            ),
            optimal=RANGE,
            max_moves=1_000_000,
        ),
    ),
    seed=2007,  # the problems of DC-F8, whose runs of PR LRTS serve here, too
    claims=_claims,
    tables=_tables,
    notes=(MAPS_NOTE, "Settings whose worst move takes more than 1000 expansions have no place in the figure."),
    changes=CHANGES,
)
