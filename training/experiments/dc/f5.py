"""DC-F5: what can be gained over a fixed lookahead depth. Here the fixed depths; other agents are further entrants.

The bars were set before the first full run. The paper prints a curve without numbers, so the claims are about its shape
and about the count that its horizontal axis rests on.
"""

import numpy as np

from training.experiments import dc
from training.experiments.evidence import Evidence, score_table
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.quantities import Column, FunctionOfMeans, Largest, Numbers, Trend
from training.judge.stats import Floats
from training.judge.tables import Table

BALLS = np.array([(2 * depth - 1) ** 2 for depth in dc.DEPTHS])  # states that a lookahead expands in open terrain


def _columns(name: str) -> tuple[Numbers, ...]:
    return tuple(Column(agent, name) for agent in dc.FIXED)


def _least_share(*means: Floats) -> Floats:
    return (np.stack(means, axis=1) / BALLS).min(axis=1)


def _least_pooled_share(*means: Floats) -> Floats:
    expansions, moves = np.split(np.stack(means, axis=1), 2, axis=1)
    return (expansions / moves / BALLS).min(axis=1)


CLAIMS = (
    Claim(
        f"suboptimality falls with depth: rank correlation over depths {dc.DEPTHS[0]} to {dc.DEPTHS[-1]}",
        "the curve falls, depths 4 to 14",
        Trend(_columns("suboptimality")),
        high=-0.9,
        headline=True,
        direction=(-1, 0),
    ),
    Claim(
        "no move expands more than (2d-1)² states: the worst move over (2d-1)², largest of all depths",
        "at most 1, by counting",
        Largest(tuple(worst / int(ball) for worst, ball in zip(_columns("max_expansions"), BALLS, strict=True))),
        high=1,
    ),
    Claim(
        "at least half of the ball is open: expansions per move (mean) over (2d-1)², least of all depths",
        "not printed",
        FunctionOfMeans(_least_share, _columns("expansions_per_move")),
        low=0.5,
    ),
    Claim(
        "at least half of the ball is open: expansions per move (pooled) over (2d-1)², least of all depths",
        "not printed",
        FunctionOfMeans(_least_pooled_share, (*_columns("expansions"), *_columns("moves"))),
        low=0.5,
    ),
)


def _tables(evidence: Evidence) -> list[Table]:
    return [score_table("LRTA* with a fixed depth", evidence.rows)]


EXPERIMENT = Experiment(
    id="dc-f5",
    title="Fixed lookahead depths: suboptimality over expansions per move",
    paper=f"{dc.PAPER}, Figure 5",
    parts=(
        Part(
            grounds=dc.MAPS,
            problems={"smoke": 10, "record": 100, "full": 100},
            entrants=dc.FIXED,
            optimal=dc.RANGE,
        ),
    ),
    seed=dc.SEED,
    claims=CLAIMS,
    tables=_tables,
    notes=(
        "The paper's three maps, 161 x 161 to 193 x 193, are not named. These are three Warcraft III maps of the public"
        f" 512 x 512 set, scaled down to {dc.SIDE} x {dc.SIDE} by nearest neighbour.",
        "Its curve has depths 4 to 14, and 20 is its largest depth of any agent.",
    ),
)
