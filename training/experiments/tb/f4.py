"""TB-F4: TBA* beside what prepares itself for a map, PR LRTS and D LRTA*.

The bars were set before the first full run: TBA* is on the common Pareto front or within 20 % of it, and D LRTA* at
level 3 is not dominated by it.
"""

from training.experiments import dc, tb
from training.experiments.evidence import Evidence, score_table
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.quantities import Counted, OnFront
from training.judge.tables import Table

SLACK = 1.2
TBA = tuple(map(tb.tba, tb.UNITS))
D_LRTA = tuple(dc.d_lrta("I", level, dc.CAP) for level in (3, 4))


def _dominating(evidence: Evidence) -> float:
    """Return how many settings of TBA* need no more than D LRTA* at level 3, and are as good."""
    points = evidence.points(tb.CUT_OFF)
    mine = points.get(D_LRTA[0].entry)
    if mine is None:
        return float(len(TBA))
    rivals = [points[agent.entry] for agent in TBA if agent.entry in points]
    return float(sum(work <= mine[0] and quality <= mine[1] for work, quality in rivals))


CLAIMS = (
    Claim(
        f"TBA* is on the common Pareto front, or within 20 % of it: at how many of {len(TBA)} R",
        f"{len(TBA)}",
        OnFront(TBA, tb.CUT_OFF, SLACK),
        low=len(TBA),
        headline=True,
        direction=(1, len(TBA)),
    ),
    Claim(
        "no setting of TBA* is better than D LRTA* at level 3 in both: how many are",
        "0",
        Counted(_dominating),
        high=0,
        headline=True,
    ),
)


def _tables(evidence: Evidence) -> list[Table]:
    return [score_table("All settings", evidence.rows)]


EXPERIMENT = Experiment(
    id="tb-f4",
    title="TBA* beside PR LRTS and D LRTA*, which prepare themselves for a map",
    paper=f"{tb.PAPER}, Figure 4",
    parts=(
        Part(
            grounds=tb.MAPS,
            problems=dc.PROBLEMS,
            entrants=(*TBA, *D_LRTA, *dc.REFINED),
            optimal=tb.RANGE,
            max_moves=1_000_000,
        ),
    ),
    seed=dc.SEED,  # the problems of DC-F8, whose runs of PR LRTS serve here, too
    claims=CLAIMS,
    tables=_tables,
    notes=(
        tb.MAPS_NOTE,
        f"Settings whose worst move takes more than {tb.CUT_OFF} expansions have no place in the figure.",
    ),
    changes=("100 instead of 25 problems on each map, as in DC-F8. With 25, TBA* was near the front at 6 of 7 R.",),
)
