"""TB-T1: what it is worth to act before the path is known: TBA* beside an A* in slices that acts late.

An A* that thinks in slices and acts late loses about ``E / N`` moves, ``E`` being its expansions and ``N`` those of a
slice, so that its suboptimality is about ``1 + c E / (N C)``, ``C`` being the optimal cost and ``c`` = 1.2 that of a
step to or fro. Divided by ``E / (N C)``, what an agent loses no longer depends on the size of the problems, and can be
set against the paper's.

The bars were set before the first full run: 15 % around what the printed figures allow, which have two decimals; and a
factor of 1.5 around the expansions of A*, because the maps are not the paper's.
"""

from math import inf

from training.experiments import tb
from training.experiments.evidence import Evidence, mean, with_interval
from training.experiments.frame import Claim, Entrant, Experiment, Part, entrant
from training.experiments.quantities import Column, Mean, Numbers, Ratio, Trend
from training.judge.tables import Table, digits

ASTAR = entrant("astar")
BARS = {R: (1.02, 1.18) if R <= 200 else (1, 1.06) for R in tb.RS}  # of acting late over acting early


def _loss_unit(R: int) -> Numbers:
    """Return how many slices A* takes, over the optimal cost."""
    return Column(ASTAR, "expansions") / Column(ASTAR, "optimal") / tb.slice_of(R)


def _scaled(name: str, agent: Entrant, R: int, printed: float) -> Claim:
    """Return the claim that an agent loses what the paper's loses, for problems of the same size."""
    theirs, unit = printed - 1, tb.EXPANSIONS / tb.OPTIMAL / tb.slice_of(R)
    return Claim(
        f"{name} at R = {R}: loss over E / (N C)",
        f"{theirs / unit:.2f}, from {printed:.2f}",
        Ratio(Column(agent, "suboptimality") - 1, _loss_unit(R)),
        low=round(0.85 * (theirs - tb.ROUNDING) / unit, 2),
        high=round(1.15 * (theirs + tb.ROUNDING) / unit, 2),
    )


CLAIMS = (
    Claim(
        "A* expands about as many states per problem",
        f"about {tb.EXPANSIONS}",
        Mean(Column(ASTAR, "expansions")),
        low=tb.EXPANSIONS / 1.5,
        high=tb.EXPANSIONS * 1.5,
    ),
    *(
        Claim(
            f"the suboptimality of {name} falls with R: rank correlation",
            "falls at every step",
            Trend(tuple(Column(agent(R), "suboptimality") for R in tb.RS)),
            high=-1,
            headline=True,
        )
        for name, agent in (("TBA*", tb.tba), ("late-acting A*", tb.late))
    ),
    *(
        Claim(
            f"acting late costs about 10 % more, and with R the difference vanishes: late over early at R = {R}",
            f"{tb.LATE[R] / tb.EARLY[R]:.2f}",
            Ratio(Column(tb.late(R), "suboptimality"), Column(tb.tba(R), "suboptimality")),
            low=BARS[R][0],
            high=BARS[R][1],
            headline=True,
            direction=(1, inf),
        )
        for R in tb.RS
    ),
    *(_scaled("TBA*", tb.tba(R), R, tb.EARLY[R]) for R in tb.RS),
    *(_scaled("late-acting A*", tb.late(R), R, tb.LATE[R]) for R in tb.RS),
)


def _tables(evidence: Evidence) -> list[Table]:
    printed = {"expansions": tb.EXPANSIONS, "optimal": tb.OPTIMAL}
    astar = [[name, *with_interval(mean(evidence.numbers(ASTAR, name))), f"about {printed[name]}"] for name in printed]
    columns = ["R", "slice", "early", "95 % interval", "paper", "late", "95 % interval", "formula", "paper"]
    return [
        Table("A*, means over problems", ["", "ours", "95 % interval", "paper"], astar),
        Table("Suboptimality of acting early and late", columns, [_line(evidence, R) for R in tb.RS]),
    ]


def _line(evidence: Evidence, R: int) -> list[str]:
    ours, theirs = (mean(evidence.numbers(agent(R), "suboptimality")) for agent in (tb.tba, tb.late))
    formula = digits(1 + tb.TO_AND_FRO * float(_loss_unit(R).values([evidence]).mean()))
    early_cells = [*with_interval(ours), f"{tb.EARLY[R]:.2f}"]
    return [str(R), str(tb.slice_of(R)), *early_cells, *with_interval(theirs), formula, f"{tb.LATE[R]:.2f}"]


EXPERIMENT = Experiment(
    id="tb-t1",
    title="Acting early and acting late",
    paper=f"{tb.PAPER}, Table 1",
    parts=(
        Part(
            grounds=tb.MAPS,
            problems=tb.PROBLEMS,
            entrants=(ASTAR, *map(tb.tba, tb.RS), *map(tb.late, tb.RS)),
            optimal=tb.RANGE,
        ),
    ),
    seed=tb.SEED,
    claims=CLAIMS,
    tables=_tables,
    notes=(
        tb.MAPS_NOTE,
        "Larger problems lose more. The last claims therefore divide what an agent loses by E / (N C), with the"
        " expansions E of A*, slices of N = 0.9 R and the optimal cost C, for the paper as for ours. For the paper"
        f" E = {tb.EXPANSIONS}, which its numbers of slices give, and C = {tb.OPTIMAL}, the middle of its range.",
        "The bar is 15 % around the paper's figure and half a unit of its last decimal, which at R = 1000 is much.",
        f"The formula for acting late is 1 + c E / (N C) with c = {tb.TO_AND_FRO}, the mean of a straight and a"
        " diagonal step.",
    ),
    changes=(
        "LRTA* and its two claims stand in TB-F3, beside the agents that Figure 3 sets against it.",
        "Row L is that of an agent that walks to and fro, as in the paper, and row E is new. Before, A* that stands"
        " still stood in for row L, and was set against the formula alone.",
    ),
)
