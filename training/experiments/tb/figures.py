"""TB-F3: what LRTA*, P LRTA*, K LRTA* and TBA* reach for their expansions per move.

K LRTA* is LSS-LRTA* that replans after every move, because the figure counts expansions per action.

The figure has no numbers. The text says that P LRTA* and K LRTA* need about half of what LRTA* needs for solutions as
good, that TBA* needs a hundredth of that, and is there after a twentieth of the actions for as much work: bands of a
factor of 1.5. Of TBA* and the others it says more than an order of magnitude.

TB-F4: TBA* beside what prepares itself for a map, PR LRTS and D LRTA*. The paper says "on par", and that D LRTA* is
somewhat better. The bars were set before the first full run: TBA* is on the common Pareto front or within 20 % of it,
and D LRTA* at level 3 is not dominated by it.

TB-WA: the paper's last sentence, that its slices suit other searches than A*: TBA* around weighted A*.
"""

from functools import partial
from math import inf

import numpy as np

from training.experiments import dc, tb
from training.experiments.evidence import Evidence
from training.experiments.frame import Claim, Entrant, Experiment, Part, near, sweep
from training.experiments.quantities import (
    METERS,
    Column,
    Competitor,
    Counted,
    Dominating,
    FunctionOfMeans,
    Largest,
    Numbers,
    OnFront,
    Quantity,
    Ratio,
    Trend,
)
from training.judge import Score
from training.judge.stats import Floats, needed
from training.judge.tables import Table, digits, label, score_table, with_interval

DEPTHS = range(4, 17)
LRTA = sweep("lrta", depth=DEPTHS)
# what the paper calls an agent -> its settings
CURVES = {
    "P LRTA*": sweep("p-lrta", queue=tb.QUEUES),
    "K LRTA*": sweep("lss-lrta", lookahead=tb.LOOKAHEADS, commit=("one",)),
}
TBA = tuple(map(tb.tba, tb.UNITS))
RIVALS = {"LRTA*": LRTA, **CURVES}


def _per_move(agent: Competitor, work: str) -> Numbers:
    return Column(agent, work) / Column(agent, "moves")


def _over(above: Competitor, below: Competitor, work: str, meter: str) -> Quantity:
    """Return the work per move of one agent over that of another."""
    if meter == "mean":
        return Ratio(_per_move(above, work), _per_move(below, work))
    agents = (above, below)
    return FunctionOfMeans(_pooled_ratio, tuple(Column(agent, name) for name in (work, "moves") for agent in agents))


def _pooled_ratio(work: Floats, others: Floats, moves: Floats, others_moves: Floats) -> Floats:
    return work / moves / (others / others_moves)


def _depths_at_their_bound(evidence: Evidence) -> float:
    worst = np.array([evidence.numbers(agent, "max_expansions").max() for agent in LRTA])
    bound = np.array([(2 * depth - 1) ** 2 for depth in DEPTHS])
    return float((worst == bound).sum()) if np.isfinite(worst).all() else np.inf


def _share(curve: tuple[Entrant, ...], rival: tuple[Entrant, ...], work: str, meter: str) -> FunctionOfMeans:
    """Return what a curve needs for the suboptimality of a rival, over what the rival needs: the most of its settings.

    A setting that the curve's smallest one surpasses says nothing: a smaller one would do. If it surpasses all of
    them, the rival's largest is taken.
    """
    agents = *curve, *rival
    reached = tuple(Column(agent, "suboptimality") for agent in agents)
    if meter == "mean":
        return FunctionOfMeans(partial(_most, len(curve)), (*(_per_move(agent, work) for agent in agents), *reached))
    totals = (Column(agent, name) for name in (work, "moves") for agent in agents)
    return FunctionOfMeans(partial(_most_pooled, len(curve)), (*totals, *reached))


def _most_pooled(size: int, *means: Floats) -> Floats:
    """Return the same for the pooled average: work comes first, then moves, then suboptimality."""
    agents = len(means) // 3
    work, moves, reached = (means[start : start + agents] for start in range(0, len(means), agents))
    return _most(size, *(all_work / all_moves for all_work, all_moves in zip(work, moves, strict=True)), *reached)


def _most(size: int, *means: Floats) -> Floats:
    """Return that share; the first ``size`` settings are the curve's, work comes first, then suboptimality."""
    spent, reached = np.split(np.stack(means, axis=1), 2, axis=1)
    mine, theirs = slice(0, size), slice(size, None)
    targets = reached[:, theirs].T
    logs = [needed(spent[:, mine], reached[:, mine], target) for target in targets]
    shares = np.exp(np.stack(logs, axis=1)) / spent[:, theirs]
    telling = reached[:, theirs] <= reached[:, :1]
    telling[:, -1] = True
    return np.where(telling, shares, -np.inf).max(axis=1)


BY = {"expansions": "", "scans": "by scans, "}
WORKS = [(work, meter) for work in ("expansions", "scans") for meter in METERS]

F3_CLAIMS = (
    Claim(
        f"suboptimality of LRTA* falls with depth: rank correlation over depths {DEPTHS[0]} to {DEPTHS[-1]}",
        "the curve falls",
        Trend(tuple(Column(agent, "suboptimality") for agent in LRTA)),
        high=-0.9,
    ),
    Claim(
        f"the worst move of LRTA* takes exactly (2d-1)² expansions: at how many of {len(DEPTHS)} depths",
        f"{len(DEPTHS)}: depth 16 is the last below {tb.CUT_OFF}",
        Counted(_depths_at_their_bound),
        low=len(DEPTHS),
        high=len(DEPTHS),
        check=True,
    ),
    Claim(
        "no setting of P LRTA*, K LRTA* and TBA* is cut off: the most expansions of any move",
        f"at most {tb.CUT_OFF}",
        Largest(tuple(Column(agent, "max_expansions") for curve in (*CURVES.values(), TBA) for agent in curve)),
        high=tb.CUT_OFF,
        check=True,
    ),
    *(
        Claim(
            f"{BY[work]}{name} needs less than LRTA*: {work} per move for the same suboptimality, over LRTA*'s own, the"
            f" most of all depths that it does not surpass with its smallest setting; {meter}",
            f"about {tb.HALF}",
            _share(curve, LRTA, work, meter),
            **near(tb.HALF),
            headline=work == "expansions",
            direction=(0, 1),
        )
        for work, meter in WORKS
        for name, curve in CURVES.items()
    ),
    *(
        Claim(
            f"{BY[work]}TBA* needs far less than {name}: {work} per move for the same suboptimality, over {name}'s own,"
            f" the most of all its settings that TBA* does not surpass with R = 10; {meter}",
            f"{tb.LESS}" if curve is LRTA else f"below {tb.MAGNITUDE}",
            _share(TBA, curve, work, meter),
            **(near(tb.LESS) if curve is LRTA else {"high": tb.MAGNITUDE}),
            headline=work == "expansions",
            direction=(0, tb.MAGNITUDE if curve is LRTA else 1),
        )
        for work, meter in WORKS
        for name, curve in RIVALS.items()
    ),
    Claim(
        f"with no more expansions per move, TBA* is much sooner there: moves of LRTA*({DEPTHS[0]}) over those of"
        f" TBA* with R = {tb.UNITS[-1]}",
        f"{tb.SOONER}",
        Ratio(Column(LRTA[0], "moves"), Column(TBA[-1], "moves")),
        **near(tb.SOONER),
        headline=True,
        direction=(1, inf),
    ),
    *(
        Claim(
            f"these two spend as much, or TBA* less: expansions per move, TBA* with R = {tb.UNITS[-1]} over"
            f" LRTA*({DEPTHS[0]}); {meter}",
            "the same",
            _over(TBA[-1], LRTA[0], "expansions", meter),
            high=1.1,
        )
        for meter in METERS
    ),
)

_COLUMNS = ["\nagent", "subopt.\nmean", "95 %\ninterval", "exp.\nmean", "exp.\npooled", "worst\nmove", "learning\nops"]
_COLUMNS += ["\nscans", "\nsolved"]


def _line(evidence: Evidence, score: Score) -> list[str]:
    return [
        label(score.entry),
        *with_interval(score.quality),
        digits(score.expansions_mean.value),
        digits(score.expansions_pooled.value),
        f"{score.worst_move:,}",
        *(digits(float(_per_move(score, work).values([evidence]).mean())) for work in ("learning_ops", "scans")),
        f"{score.problems - score.failed}/{score.problems}",
    ]


def _f3_tables(evidence: Evidence) -> list[Table]:
    lines = [_line(evidence, score) for score in evidence.scores.values()]
    table = Table("All settings, learning operations and scans per move", _COLUMNS, lines)
    return [table, score_table("All measures", evidence.rows)]


F3 = Experiment(
    id="tb-f3",
    title="LRTA*, P LRTA*, K LRTA* and TBA*: suboptimality over expansions per move",
    paper=f"{tb.PAPER}, Figure 3",
    parts=(
        Part(
            grounds=tb.MAPS,
            problems=tb.PROBLEMS,
            entrants=(*LRTA, *(agent for curve in CURVES.values() for agent in curve), *TBA),
            optimal=tb.RANGE,
        ),
    ),
    seed=tb.SEED,
    claims=F3_CLAIMS,
    tables=_f3_tables,
    notes=(
        tb.MAPS_NOTE,
        "Figure 3 has no numbers. What an agent needs for a suboptimality is interpolated between its settings, by a"
        " power law.",
        "Every update of P LRTA* is an expansion here. The learning of K LRTA* is not, so the claims are repeated with"
        " scans, which count every reading of a cell's neighbours for whatever purpose. The paper does not say what it"
        " counted. Steps back along the search tree of TBA* are neither: of these a unit buys ten.",
        tb.OUTLINE_NOTE.format("P LRTA*"),
    ),
    changes=(
        "All bars are bands around the paper's words: about 0.5 for P LRTA* and K LRTA*, before at most 0.7; 0.01 for"
        " LRTA*, before at most 0.033; an order of magnitude for the others, before 0.25; 20 for the actions, before at"
        " least 10. All claims about work are repeated for the pooled average.",
    ),
)


SLACK = 1.2
D_LRTA = tuple(dc.d_lrta("I", level, dc.CAP) for level in (3, 4))
LETTER = tuple(dc.as_printed("I", level, dc.CAP) for level in (3, 4))


F4_CLAIMS = (
    *(
        Claim(
            f"TBA* is on the common Pareto front, or within 20 % of it: at how many of {len(TBA)} R; {meter}",
            f"on par: {len(TBA)}",
            OnFront(TBA, tb.CUT_OFF, SLACK, meter),
            low=len(TBA),
            headline=True,
            direction=(1, len(TBA)),
        )
        for meter in METERS
    ),
    *(
        Claim(
            f"D LRTA* at level 3 is somewhat better: how many settings of TBA* are as good as it in both; {meter}",
            "0",
            Dominating(D_LRTA[0], TBA, tb.CUT_OFF, meter),
            high=0,
            headline=True,
        )
        for meter in METERS
    ),
)


def _f4_tables(evidence: Evidence) -> list[Table]:
    return [score_table("All settings", evidence.rows)]


F4 = Experiment(
    id="tb-f4",
    title="TBA* beside PR LRTS and D LRTA*, which prepare themselves for a map",
    paper=f"{tb.PAPER}, Figure 4",
    parts=(
        Part(
            grounds=tb.MAPS,
            problems=dc.PROBLEMS,
            entrants=(*TBA, *D_LRTA, *LETTER, *dc.REFINED),
            optimal=tb.RANGE,
            max_moves=1_000_000,
        ),
    ),
    seed=dc.SEED,  # the problems of DC-F8, whose runs of PR LRTS serve here, too
    claims=F4_CLAIMS,
    tables=_f4_tables,
    notes=(
        tb.MAPS_NOTE,
        f"Settings whose worst move takes more than {tb.CUT_OFF} expansions have no place in the figure.",
        "The figure has no numbers, so that the bars are ours. How many R are near the front is counted in every"
        " resampling of the problems.",
        tb.OUTLINE_NOTE.format("PR LRTS"),
    ),
    changes=(
        "The counts have intervals, and are repeated for the pooled average.",
        "100 instead of 25 problems on each map, as in DC-F8. With 25, TBA* was near the front at 6 of 7 R.",
    ),
)


WEIGHTS = (1.5, 2, 3)


def _wa(R: int, weight: float) -> Entrant:
    return tb.tba(R, weight=weight)


def _wa_quality(R: int, weight: float) -> Ratio:
    return Ratio(Column(_wa(R, weight), "suboptimality"), Column(tb.tba(R), "suboptimality"))


LEAST, MOST = tb.UNITS[0], tb.UNITS[-1]
WA_CLAIMS = (
    *(
        Claim(
            f"a weight of {weight} pays where thinking is short: suboptimality at R = {LEAST} over that of weight 1",
            "not in the paper",
            _wa_quality(LEAST, weight),
            high=1,
            headline=True,
        )
        for weight in WEIGHTS
    ),
    *(
        Claim(
            f"a weight of {weight} costs where it is long: suboptimality at R = {MOST} over that of weight 1",
            "not in the paper",
            _wa_quality(MOST, weight),
            low=1,
            headline=True,
        )
        for weight in WEIGHTS
    ),
    *(
        Claim(
            f"a weight of {weight} spends less: expansions per move at R = {LEAST} over those of weight 1; {meter}",
            "not in the paper",
            _over(_wa(LEAST, weight), tb.tba(LEAST), "expansions", meter),
            high=1,
        )
        for weight in WEIGHTS
        for meter in METERS
    ),
)


def _wa_tables(evidence: Evidence) -> list[Table]:
    columns = ["R", *(f"weight {weight}" for weight in (1, *WEIGHTS))]
    lines = [[str(R), *(_mean(evidence, _wa(R, weight)) for weight in (1, *WEIGHTS))] for R in tb.UNITS]
    return [Table("Suboptimality by R and weight", columns, lines), score_table("All settings", evidence.rows)]


def _mean(evidence: Evidence, agent: Entrant) -> str:
    return " ".join(with_interval(evidence.score(agent).quality))


WA = Experiment(
    id="tb-wa",
    title="TB(WA*): the slices of TBA* around weighted A*",
    paper=f"{tb.PAPER}, section 5, its last sentence",
    parts=(
        Part(
            grounds=tb.MAPS,
            problems=tb.PROBLEMS,
            entrants=(*TBA, *(_wa(R, weight) for weight in WEIGHTS for R in tb.UNITS)),
            optimal=tb.RANGE,
        ),
    ),
    seed=tb.SEED,
    claims=WA_CLAIMS,
    tables=_wa_tables,
    notes=(
        tb.MAPS_NOTE,
        "The paper says that its slices are not limited to A*, and tries no other search. The claims are what one would"
        " expect of a search that is in a hurry; they and their bars are ours, and were set before the first run.",
        "Weighted A* orders its open list by g + w h and never opens a closed state again, so that its path costs at"
        " most w times the optimum.",
    ),
)
