"""TB-E1 and TB-E2: TBA* with its two options, looking for a shortcut before it steps back, and a threshold for turning.

The bars were set before the first full run. E1: 1 % for "insignificant", a factor of 2 around the paper's share, and
one of 1.5 around its numbers of slices, as around the expansions of A* in TB-T1. E2: 1 to 4 % where the paper says
"about 2 %", and 1 % for "less of an issue".
"""

import numpy as np

from training.experiments import tb
from training.experiments.evidence import Evidence, mean, with_interval
from training.experiments.frame import Claim, Entrant, Experiment, Part
from training.experiments.quantities import Column, Derived, Mean, Numbers, Ratio
from training.judge.tables import Table

SMALL = 100  # the largest R of which the paper says that a threshold shortens paths


def _with_shortcut(R: int) -> Entrant:
    return tb.tba(R, shortcut=True)


def _with_threshold(R: int) -> Entrant:
    return tb.tba(R, threshold=True)


def _with_over_without(option: Entrant, R: int) -> Ratio:
    return Ratio(Column(option, "suboptimality"), Column(tb.tba(R), "suboptimality"))


def _slices(R: int) -> Numbers:
    return Derived(np.ceil, (Column(tb.tba(R), "expansions") / tb.slice_of(R),))


def _stepped_back(R: int) -> Numbers:
    """Return 1 where the agent was off the solution when that was found: only then it looks for a shortcut."""
    return Derived(np.greater, (Column(_with_shortcut(R), "expansions"), Column(tb.tba(R), "expansions")))


SHORTCUT_CLAIMS = (
    *(
        Claim(
            f"shortcuts hardly matter on average: suboptimality with over without, R = {R}",
            "insignificant",
            _with_over_without(_with_shortcut(R), R),
            low=0.99,
            high=1.01,
            headline=True,
        )
        for R in tb.RS
    ),
    *(
        Claim(
            f"the agent seldom is off the solution when it is found: share of problems, R = {R}",
            f"about {tb.SHARE}",
            Mean(_stepped_back(R)),
            low=tb.SHARE / 2,
            high=tb.SHARE * 2,
        )
        for R in tb.SLICES
    ),
    *(
        Claim(
            f"slices until the solution is found, R = {R}",
            str(slices),
            Mean(_slices(R)),
            low=round(slices / 1.5, 1),
            high=slices * 1.5,
        )
        for R, slices in tb.SLICES.items()
    ),
)
THRESHOLD_CLAIMS = tuple(
    Claim(
        f"suboptimality with the threshold over without, R = {R}",
        "about 0.98" if R <= SMALL else "about 1",
        _with_over_without(_with_threshold(R), R),
        low=0.96 if R <= SMALL else 0.99,
        high=0.99 if R <= SMALL else 1.01,
        headline=True,
        direction=(-np.inf, 1) if R <= SMALL else None,
    )
    for R in tb.RS
)


def _shortcut_tables(evidence: Evidence) -> list[Table]:
    columns = ["R", "without", "95 % interval", "with", "95 % interval", "off the solution", "slices"]
    lines = [[*_line(evidence, R, _with_shortcut(R)), *_searches(evidence, R)] for R in tb.RS]
    return [Table("Suboptimality without and with shortcuts", columns, lines)]


def _searches(evidence: Evidence, R: int) -> list[str]:
    away = f"{_stepped_back(R).values([evidence]).mean():.1%}"
    return [away, with_interval(mean(_slices(R).values([evidence])))[0]]


def _threshold_tables(evidence: Evidence) -> list[Table]:
    columns = ["R", "without", "95 % interval", "with", "95 % interval"]
    lines = [_line(evidence, R, _with_threshold(R)) for R in tb.RS]
    return [Table("Suboptimality without and with the threshold", columns, lines)]


def _line(evidence: Evidence, R: int, option: Entrant) -> list[str]:
    found = (mean(evidence.numbers(agent, "suboptimality")) for agent in (tb.tba(R), option))
    return [str(R), *(cell for each in found for cell in with_interval(each))]


def _part(*entrants: Entrant) -> Part:
    return Part(grounds=tb.MAPS, problems=tb.PROBLEMS, entrants=entrants, optimal=tb.RANGE)


E1 = Experiment(
    id="tb-e1",
    title="TBA* with shortcuts",
    paper=f"{tb.PAPER}, section 4.3",
    parts=(_part(*map(tb.tba, tb.RS), *map(_with_shortcut, tb.RS)),),
    seed=tb.SEED,
    claims=SHORTCUT_CLAIMS,
    tables=_shortcut_tables,
    notes=(
        tb.MAPS_NOTE,
        "The paper's share of 5 % is for all its R together; here it is told for each. An agent counts as off the"
        " solution if it had to step back once that was traced, which it may be some slices after it was found.",
    ),
)
E2 = Experiment(
    id="tb-e2",
    title="TBA* with a threshold for changing paths",
    paper=f"{tb.PAPER}, section 4.3",
    parts=(_part(*map(tb.tba, tb.RS), *map(_with_threshold, tb.RS)),),
    seed=tb.SEED,
    claims=THRESHOLD_CLAIMS,
    tables=_threshold_tables,
    notes=(
        tb.MAPS_NOTE,
        f"The paper says that paths are about 2 % shorter up to R = {SMALL} and that it matters less beyond.",
    ),
)
