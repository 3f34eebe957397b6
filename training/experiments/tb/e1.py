"""TB-E1: TBA* that looks for a shortcut before it steps back.

The bars were set before the first full run: 1 % for "insignificant", a factor of 2 around the paper's share, and one of
1.5 around its numbers of slices, as around the expansions of A* in TB-T1.
"""

import numpy as np

from training.experiments.evidence import Evidence, mean, ratio, with_interval
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.tb.t1 import MAPS, MAPS_NOTE, PAPER, PROBLEMS, RANGE, RS, SEED, UNITS, early, slice_of
from training.judge.stats import Floats
from training.judge.tables import Table
from training.runs import Allowance

OPTION = "shortcut=True"
SLICES = {10: 700, 100: 70, 1000: 7}  # how many the paper names
AWAY = 0.05

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def _slices(evidence: Evidence, R: int) -> Floats:
    return np.ceil(evidence.numbers(early(R), "expansions") / slice_of(R))


def _stepped_back(evidence: Evidence, R: int) -> Floats:
    """Return 1 where the agent was off the solution when that was found: only then it looks for a shortcut."""
    looked, plain = (evidence.numbers(label, "expansions") for label in (early(R, OPTION), early(R)))
    return np.where(np.isfinite(looked + plain), looked > plain, np.inf)


def _claims(evidence: Evidence) -> list[Claim]:
    return [
        *(
            Claim(
                f"shortcuts hardly matter on average: suboptimality with over without, R = {R}",
                "insignificant",
                ratio(*(evidence.numbers(label, "suboptimality") for label in (early(R, OPTION), early(R)))),
                low=0.99,
                high=1.01,
            )
            for R in RS
        ),
        *(
            Claim(
                f"the agent seldom is off the solution when it is found: share of problems, R = {R}",
                f"about {AWAY}",
                mean(_stepped_back(evidence, R)),
                low=AWAY / 2,
                high=AWAY * 2,
            )
            for R in SLICES
        ),
        *(
            Claim(
                f"slices until the solution is found, R = {R}",
                str(slices),
                mean(_slices(evidence, R)),
                low=round(slices / 1.5, 1),
                high=slices * 1.5,
            )
            for R, slices in SLICES.items()
        ),
    ]


def _tables(evidence: Evidence) -> list[Table]:
    columns = ["R", "without", "95 % interval", "with", "95 % interval", "off the solution", "slices"]
    return [Table("Suboptimality without and with shortcuts", columns, [_line(evidence, R) for R in RS])]


def _line(evidence: Evidence, R: int) -> list[str]:
    found = (mean(evidence.numbers(label, "suboptimality")) for label in (early(R), early(R, OPTION)))
    slices = with_interval(mean(_slices(evidence, R)))[0]
    away = f"{_stepped_back(evidence, R).mean():.1%}"
    return [str(R), *(cell for each in found for cell in with_interval(each)), away, slices]


EXPERIMENT = Experiment(
    id="tb-e1",
    title="TBA* with shortcuts",
    paper=f"{PAPER}, section 4.3",
    parts=(
        Part(
            grounds=MAPS,
            problems=PROBLEMS,
            entrants=tuple((f"tba:R={UNITS}{more}", Allowance.of(None)) for more in ("", ":shortcut=true")),
            optimal=RANGE,
        ),
    ),
    seed=SEED,
    claims=_claims,
    tables=_tables,
    notes=(
        MAPS_NOTE,
        "The paper's share of 5 % is for all its R together; here it is told for each. An agent counts as off the"
        " solution if it had to step back once that was traced, which it may be some slices after it was found.",
    ),
    changes=CHANGES,
)
