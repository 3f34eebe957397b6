"""TB-F3: what LRTA*, P LRTA*, K LRTA* and TBA* reach for their expansions per move.

K LRTA* is LSS-LRTA* that replans after every move, because the figure counts expansions per action.

The bars were set before the first full run. The figure has no numbers; its text says that P LRTA* and K LRTA* need
about half of what LRTA* needs for solutions as good, and the bar leaves them 0.7 of it. Of TBA* it says that it is more
than an order of magnitude better than all others, and its curves show a factor of about 100 to LRTA*; the bars are a
factor of 30 to LRTA* and, because the paper may have counted learning as work, of 4 to the others.
"""

from collections.abc import Callable

import numpy as np

from training.experiments.evidence import Evidence, bootstrap, exactly, ratio, trend, with_interval
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.tb.t1 import MAPS, MAPS_NOTE, PAPER, PROBLEMS, RANGE, SEED, early
from training.judge import Estimate, Score, score_all
from training.judge.stats import Floats, needed
from training.judge.tables import Table, digits
from training.runs import Allowance

DEPTHS = range(4, 17)
QUEUES = (10, 20, 30, 40, 100, 250)
LOOKAHEADS = (10, 20, 30, 40, 100, 250, 500, 1000)
UNITS = (10, 25, 50, 75, 100, 500, 1000)
CUT_OFF = 1000  # expansions; a setting whose worst move exceeds it has no place in the figure

LRTA = tuple(f"lrta depth={depth}" for depth in DEPTHS)
# what the paper calls an agent -> its settings
CURVES = {
    "P LRTA*": tuple(f"p-lrta queue={queue}" for queue in QUEUES),
    "K LRTA*": tuple(f"lss-lrta lookahead={lookahead} commit=one" for lookahead in LOOKAHEADS),
}
TBA = tuple(map(early, UNITS))
# what the paper calls an agent -> its settings, and the least factor between its work and that of TBA*
RIVALS = {"LRTA*": (LRTA, 30), **{name: (labels, 4) for name, labels in CURVES.items()}}

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()

Work = Callable[[Evidence, str], Floats]


def _expansions(evidence: Evidence, label: str) -> Floats:
    return evidence.numbers(label, "expansions_per_move")


def _scans(evidence: Evidence, label: str) -> Floats:
    return evidence.numbers(label, "scans") / evidence.numbers(label, "moves")


def _claims(evidence: Evidence) -> list[Claim]:
    works = {"expansions": _expansions, "scans": _scans}
    return [
        Claim(
            f"suboptimality of LRTA* falls with depth: rank correlation over depths {DEPTHS[0]} to {DEPTHS[-1]}",
            "the curve falls",
            trend(evidence.numbers(label, "suboptimality") for label in LRTA),
            high=-0.9,
        ),
        Claim(
            f"the worst move of LRTA* takes exactly (2d-1)² expansions: at how many of {len(DEPTHS)} depths",
            f"{len(DEPTHS)}: depth 16 is the last below {CUT_OFF}",
            exactly(_depths_at_their_bound(evidence)),
            low=len(DEPTHS),
            high=len(DEPTHS),
        ),
        Claim(
            "no setting of P LRTA*, K LRTA* and TBA* is cut off: the most expansions of any move",
            f"at most {CUT_OFF}",
            exactly(max(_worst(evidence, label) for labels in (*CURVES.values(), TBA) for label in labels)),
            high=CUT_OFF,
        ),
        *(
            Claim(
                f"{name} needs less than LRTA*: {text} per move for the same suboptimality, over LRTA*'s own, the most"
                " of all depths that it does not surpass with its smallest setting",
                "about 0.5",
                _share(evidence, labels, LRTA, work),
                high=0.7,
            )
            for text, work in works.items()
            for name, labels in CURVES.items()
        ),
        *(
            Claim(
                f"TBA* needs far less than {name}: {text} per move for the same suboptimality, over {name}'s own, the"
                " most of all its settings that TBA* does not surpass with R = 10",
                "about 0.01" if name == "LRTA*" else "below 0.1",
                _share(evidence, TBA, labels, work),
                high=round(1 / factor, 3),
            )
            for text, work in works.items()
            for name, (labels, factor) in RIVALS.items()
        ),
        Claim(
            f"with no more expansions per move, TBA* is much sooner there: moves of LRTA*({DEPTHS[0]}) over those of"
            f" TBA* with R = {UNITS[-1]}",
            "about 20",
            ratio(evidence.numbers(LRTA[0], "moves"), evidence.numbers(TBA[-1], "moves")),
            low=10,
        ),
        Claim(
            f"the same for expansions per move, TBA* with R = {UNITS[-1]} over LRTA*({DEPTHS[0]})",
            "about 1",
            ratio(_expansions(evidence, TBA[-1]), _expansions(evidence, LRTA[0])),
            high=1.1,
        ),
    ]


def _worst(evidence: Evidence, label: str) -> float:
    return float(evidence.numbers(label, "max_expansions").max())


def _depths_at_their_bound(evidence: Evidence) -> float:
    worst = np.array([_worst(evidence, label) for label in LRTA])
    bound = np.array([(2 * depth - 1) ** 2 for depth in DEPTHS])
    return float((worst == bound).sum()) if np.isfinite(worst).all() else np.inf


def _share(evidence: Evidence, curve: tuple[str, ...], rival: tuple[str, ...], work: Work) -> Estimate | None:
    """Return what a curve needs for the suboptimality of a rival, over what the rival needs: the most of its settings.

    A setting that the curve's smallest one surpasses says nothing: a smaller one would do. If it surpasses all of
    them, the rival's largest is taken.
    """
    labels = *curve, *rival
    columns = [work(evidence, label) for label in labels]
    columns += [evidence.numbers(label, "suboptimality") for label in labels]

    def most(*means: Floats) -> Floats:
        spent, reached = np.split(np.stack(means, axis=1), 2, axis=1)
        mine, theirs = slice(0, len(curve)), slice(len(curve), None)
        targets = reached[:, theirs].T
        logs = [needed(spent[:, mine], reached[:, mine], target) for target in targets]
        shares = np.exp(np.stack(logs, axis=1)) / spent[:, theirs]
        telling = reached[:, theirs] <= reached[:, :1]
        telling[:, -1] = True
        return np.where(telling, shares, -np.inf).max(axis=1)

    return bootstrap(most, *columns)


_COLUMNS = ["\nagent", "subopt.\nmean", "95 %\ninterval", "exp.\nmean", "exp.\npooled", "worst\nmove", "learning\nops"]
_COLUMNS += ["\nscans", "\nsolved"]


def _line(evidence: Evidence, score: Score) -> list[str]:
    label = score.entry.label
    learning = evidence.numbers(label, "learning_ops") / evidence.numbers(label, "moves")
    return [
        label,
        *with_interval(score.quality),
        digits(score.expansions_mean.value),
        digits(score.expansions_pooled.value),
        f"{score.worst_move:,}",
        digits(float(learning.mean())),
        digits(float(_scans(evidence, label).mean())),
        f"{score.problems - score.failed}/{score.problems}",
    ]


def _tables(evidence: Evidence) -> list[Table]:
    lines = [_line(evidence, score) for score in score_all(evidence.rows)]
    return [Table("All settings, learning operations and scans per move", _COLUMNS, lines)]


EXPERIMENT = Experiment(
    id="tb-f3",
    title="LRTA*, P LRTA*, K LRTA* and TBA*: suboptimality over expansions per move",
    paper=f"{PAPER}, Figure 3",
    parts=(
        Part(
            grounds=MAPS,
            problems=PROBLEMS,
            entrants=(
                (f"lrta:depth={DEPTHS[0]}..{DEPTHS[-1]}", Allowance.of(None)),
                (f"p-lrta:queue={','.join(map(str, QUEUES))}", Allowance.of(None)),
                (f"lss-lrta:lookahead={','.join(map(str, LOOKAHEADS))}:commit=one", Allowance.of(None)),
                (f"tba:R={','.join(map(str, UNITS))}", Allowance.of(None)),
            ),
            optimal=RANGE,
        ),
    ),
    seed=SEED,
    claims=_claims,
    tables=_tables,
    notes=(
        MAPS_NOTE,
        "Figure 3 has no numbers. What an agent needs for a suboptimality is interpolated between its settings, by a"
        " power law.",
        "Every update of P LRTA* is an expansion here. The learning of K LRTA* is not, so the claims are repeated with"
        " scans, which count every reading of a cell's neighbours for whatever purpose. The paper does not say what it"
        " counted. Steps back along the search tree of TBA* are neither: of these a unit buys ten.",
    ),
    changes=CHANGES,
)
