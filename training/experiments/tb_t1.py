"""TB-T1 and the LRTA* curve of TB-F3: A* that thinks before it acts, and LRTA*. Other agents are further entrants.

An A* that thinks in slices and acts late loses about ``E / N`` moves, ``E`` being its expansions and ``N`` those of a
slice, so that its suboptimality is about ``1 + c E / (N C)``, ``C`` being the optimal cost and ``c`` that of a lost
move: 1.2 for walking to and fro as in the paper, 1 for standing still as A* does here.

The bars were set before the first full run: 15 % around the formula, and a factor of 1.5 around the expansions of A*,
because the maps are not the paper's.
"""

import numpy as np

from training.compare import Allowance
from training.compare.stats import Floats
from training.compare.table import Table, digits
from training.experiments.evidence import Evidence, exactly, mean, ratio, score_table, trend, with_interval
from training.experiments.frame import Claim, Experiment, Ground

# R -> the suboptimality of late acting, as printed
LATE = {10: 4.21, 25: 2.32, 50: 1.64, 75: 1.43, 100: 1.30, 200: 1.15, 500: 1.06, 1000: 1.02}
DEPTHS = range(4, 17)
EXPANSIONS = 6300  # 700 slices of 9 at R = 10
OPTIMAL = 275  # the middle of 230 to 320
TO_AND_FRO = 1.2  # the mean of a straight and a diagonal step

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def slice_of(R: int) -> int:
    """Return how many of the R units of a move go to expansions: the share 0.9, as in the paper."""
    return 9 * R // 10


def _budget(R: int) -> str:
    return f"R={R}"


def _claims(evidence: Evidence) -> list[Claim]:
    return [
        Claim(
            "A* expands about as many states per problem",
            f"about {EXPANSIONS}",
            mean(evidence.numbers("astar", "expansions")),
            low=EXPANSIONS / 1.5,
            high=EXPANSIONS * 1.5,
        ),
        *(_late_claim(evidence, R) for R in LATE),
        Claim(
            "suboptimality of LRTA* falls with depth: rank correlation over depths 4 to 16",
            "the curve falls",
            trend(_lrta(evidence, "suboptimality")),
            high=-0.9,
        ),
        Claim(
            "the worst move of LRTA* takes exactly (2d-1)² expansions: at how many of 13 depths",
            "13: depth 16 is the last below 1000",
            exactly(_depths_at_their_bound(evidence)),
            low=len(DEPTHS),
            high=len(DEPTHS),
        ),
    ]


def _late_claim(evidence: Evidence, R: int) -> Claim:
    lost = evidence.numbers("astar", "suboptimality", _budget(R)) - 1
    printed = (LATE[R] - 1) * slice_of(R) * OPTIMAL / (EXPANSIONS * TO_AND_FRO)
    return Claim(
        f"acting late at R = {R} costs what the formula says: loss over formula",
        f"{printed:.2f}, from {LATE[R]:.2f}",
        ratio(lost, _formula(evidence, R)),
        low=0.85,
        high=1.15,
    )


def _formula(evidence: Evidence, R: int) -> Floats:
    """Return for every problem by how much the suboptimality should exceed 1 if a lost move costs 1."""
    return evidence.numbers("astar", "expansions") / evidence.numbers("astar", "optimal") / slice_of(R)


def _lrta(evidence: Evidence, name: str) -> list[Floats]:
    return [evidence.numbers(f"lrta depth={depth}", name) for depth in DEPTHS]


def _depths_at_their_bound(evidence: Evidence) -> float:
    worst = np.array([column.max() for column in _lrta(evidence, "max_expansions")])
    bound = np.array([(2 * depth - 1) ** 2 for depth in DEPTHS])
    return float((worst == bound).sum()) if np.isfinite(worst).all() else np.inf


def _tables(evidence: Evidence) -> list[Table]:
    printed = {"expansions": EXPANSIONS, "optimal": OPTIMAL}
    astar = [
        [name, *with_interval(mean(evidence.numbers("astar", name))), f"about {printed[name]}"] for name in printed
    ]
    late = ["R", "slice", "subopt.", "95 % interval", "formula, c = 1", "formula, c = 1.2", "paper, c = 1.2"]
    return [
        Table("A*, means over problems", ["", "ours", "95 % interval", "paper"], astar),
        Table("A* that stands still while it thinks", late, [_late_line(evidence, R) for R in LATE]),
        score_table("LRTA* with a fixed depth", (row for row in evidence.rows if row.entry.agent == "lrta")),
    ]


def _late_line(evidence: Evidence, R: int) -> list[str]:
    ours = mean(evidence.numbers("astar", "suboptimality", _budget(R)))
    lost = float(_formula(evidence, R).mean())
    formula = (digits(1 + c * lost) for c in (1, TO_AND_FRO))
    return [str(R), str(slice_of(R)), *with_interval(ours), *formula, f"{LATE[R]:.2f}"]


EXPERIMENT = Experiment(
    id="tb-t1",
    title="A* that acts late, and LRTA*",
    paper="Björnsson, Bulitko, Sturtevant, TBA*: Time-Bounded A*, IJCAI 2009, Table 1 (row L) and Figure 3 (LRTA*)",
    grounds=tuple(Ground(f"wc3maps512/{name}", 512, 512) for name in ("battleground", "blastedlands", "plunderisle")),
    problems={"smoke": 5, "record": 100, "full": 100},
    optimal=(230, 320),
    seed=2009,
    entrants=(
        ("astar", Allowance.of(None)),
        *(("astar", Allowance(_budget(R), slice_of(R))) for R in LATE),
        (f"lrta:depth={DEPTHS[0]}..{DEPTHS[-1]}", Allowance.of(None)),
    ),
    claims=_claims,
    tables=_tables,
    notes=(
        "The paper's three maps are not named; these are three Warcraft III maps of the public 512 x 512 set.",
        "The paper's A* walks to and fro while it thinks, which costs about c = 1.2 a move; ours stands still, c = 1."
        " By the formula the suboptimality exceeds 1 by c E / (N C), with E expansions in slices of N = 0.9 R and the"
        f" optimal cost C. For the paper's own figures E = {EXPANSIONS}, which its numbers of slices give, and"
        f" C = {OPTIMAL}, the middle of its range; at R = 1000 its two decimals leave 0.49 to 0.82.",
        "A* is a baseline: its claims set it against the formula with its own expansions. They test the formula, not"
        " the paper's row, which takes an agent that walks to and fro.",
        "Figure 3 has no numbers.",
    ),
    changes=CHANGES,
)
