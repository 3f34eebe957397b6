"""DC-F5: what can be gained over a fixed lookahead depth. Here the fixed depths; other agents are further entrants.

The bars were set before the first full run. The paper prints a curve without numbers, so the claims are about its shape
and about the count that its horizontal axis rests on.
"""

import numpy as np

from training.experiments.evidence import Evidence, bootstrap, exactly, score_table, trend
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.grounds import Ground
from training.judge.stats import Floats
from training.judge.tables import Table
from training.runs import Allowance

DEPTHS = (*range(1, 15), 16, 20)
BALLS = np.array([(2 * depth - 1) ** 2 for depth in DEPTHS])  # states that a lookahead expands in open terrain
SIDE = 171

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def _claims(evidence: Evidence) -> list[Claim]:
    worst = np.array([column.max() for column in _columns(evidence, "max_expansions")])
    return [
        Claim(
            f"suboptimality falls with depth: rank correlation over depths {DEPTHS[0]} to {DEPTHS[-1]}",
            "the curve falls, depths 4 to 14",
            trend(_columns(evidence, "suboptimality")),
            high=-0.9,
        ),
        Claim(
            "no move expands more than (2d-1)² states: the worst move over (2d-1)², largest of all depths",
            "at most 1, by counting",
            exactly(float((worst / BALLS).max())),
            high=1,
        ),
        Claim(
            "at least half of the ball is open: expansions per move (mean) over (2d-1)², least of all depths",
            "not printed",
            bootstrap(_least_share, *_columns(evidence, "expansions_per_move")),
            low=0.5,
        ),
        Claim(
            "the same, expansions per move (pooled)",
            "not printed",
            bootstrap(_least_pooled_share, *_columns(evidence, "expansions"), *_columns(evidence, "moves")),
            low=0.5,
        ),
    ]


def _columns(evidence: Evidence, name: str) -> list[Floats]:
    return [evidence.numbers(f"lrta depth={depth}", name) for depth in DEPTHS]


def _least_share(*means: Floats) -> Floats:
    return (np.stack(means, axis=1) / BALLS).min(axis=1)


def _least_pooled_share(*means: Floats) -> Floats:
    expansions, moves = np.split(np.stack(means, axis=1), 2, axis=1)
    return (expansions / moves / BALLS).min(axis=1)


def _tables(evidence: Evidence) -> list[Table]:
    return [score_table("LRTA* with a fixed depth", evidence.rows)]


EXPERIMENT = Experiment(
    id="dc-f5",
    title="Fixed lookahead depths: suboptimality over expansions per move",
    paper="Bulitko, Björnsson, Luštrek, Schaeffer, Sigmundarson, Dynamic Control in Path-Planning with Real-Time"
    " Heuristic Search, ICAPS 2007, Figure 5",
    parts=(
        Part(
            grounds=tuple(
                Ground(f"wc3maps512/{name}", SIDE, SIDE, scaled=True)
                for name in ("battleground", "blastedlands", "plunderisle")
            ),
            problems={"smoke": 10, "record": 100, "full": 100},
            entrants=((f"lrta:depth={','.join(map(str, DEPTHS))}", Allowance.of(None)),),
            optimal=(90, 100),
        ),
    ),
    seed=2007,
    claims=_claims,
    tables=_tables,
    notes=(
        "The paper's three maps, 161 x 161 to 193 x 193, are not named. These are three Warcraft III maps of the public"
        f" 512 x 512 set, scaled down to {SIDE} x {SIDE} by nearest neighbour.",
        "Its curve has depths 4 to 14, and 20 is its largest depth of any agent.",
    ),
    changes=CHANGES,
)
