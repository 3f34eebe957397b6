"""DC-F8: D LRTA* among its rivals, none of which may take more than 1000 expansions for any move.

The bars were set before the first full run. The paper's headline is nine times less computation for solutions as good,
or solutions four times as good for as much computation; the bars are five, and two and a half.
"""

from math import inf

import numpy as np

from training.experiments import dc, tb
from training.experiments.evidence import Evidence, ratio_table, score_table
from training.experiments.frame import Claim, Entrant, Experiment, Part, entrant, sweep
from training.experiments.quantities import Column, CurveRatio, FunctionOfMeans, OnFront, Ratio
from training.judge.stats import Floats, needed
from training.judge.tables import Table

LEVELS = range(3, 8)
FIXED = sweep("lrta", depth=range(1, dc.CAP + 1))
_LEAST = 1e-9  # of what a path costs too much, where its logarithm is needed


def _d_lrta(mode: str, level: int) -> Entrant:
    return dc.d_lrta(mode, level, dc.CAP)


D_LRTA, PR_LRTS = _d_lrta("I", 4), entrant("pr-lrts", level=4, depth=5, gamma=1.0)


def _d_lrta_over_pr_lrts(name: str) -> Ratio:
    return Ratio(Column(D_LRTA, name), Column(PR_LRTS, name))


def _better() -> FunctionOfMeans:
    """Return what fixed depths reach with D LRTA*'s expansions, interpolated by a power law, over what it reaches."""
    agents = *FIXED, D_LRTA
    columns = (Column(agent, name) for name in ("expansions_per_move", "suboptimality") for agent in agents)
    return FunctionOfMeans(_factor, tuple(columns))


def _factor(*means: Floats) -> Floats:
    """Return this factor; work comes first, then suboptimality, the last of both is D LRTA*'s."""
    spent, reached = np.split(np.stack(means, axis=1), 2, axis=1)
    # The same curve read the other way: a suboptimality for an amount of work. It is 1 + exp of a logarithm.
    loss = np.maximum(reached[:, :-1] - 1, _LEAST)
    logs = needed(loss, spent[:, :-1] + 1, spent[:, -1] + 1)
    return (1 + np.exp(logs)) / reached[:, -1]


CLAIMS = (
    Claim(
        "D LRTA* with mode I and level 4 is on the Pareto front",
        "yes (1)",
        OnFront((D_LRTA,), tb.CUT_OFF),
        low=1,
        headline=True,
    ),
    Claim(
        "PR LRTS with level 4, depth 5, gamma 1 is on the Pareto front",
        "yes (1)",
        OnFront((PR_LRTS,), tb.CUT_OFF),
        low=1,
        headline=True,
    ),
    Claim(
        "the two are close: expansions per move of D LRTA* over those of PR LRTS",
        "about 1",
        _d_lrta_over_pr_lrts("expansions_per_move"),
        low=0.5,
        high=2,
    ),
    Claim(
        "the two are close: suboptimality of D LRTA* over that of PR LRTS",
        "somewhat below 1",
        _d_lrta_over_pr_lrts("suboptimality"),
        low=0.85,
        high=1,
        direction=(-inf, 1),
    ),
    Claim(
        "for solutions as good: expansions that fixed depths need over those of D LRTA*, mean",
        "9",
        CurveRatio(D_LRTA),
        low=5,
        headline=True,
        direction=(1, inf),
    ),
    Claim(
        "for as much computation: suboptimality of fixed depths over that of D LRTA*",
        "4",
        _better(),
        low=2.5,
        headline=True,
        direction=(1, inf),
    ),
)


def _tables(evidence: Evidence) -> list[Table]:
    kept = evidence.points(tb.CUT_OFF)
    rows = [row for row in evidence.rows if row.entry in kept]
    title = f"Settings whose worst move takes at most {tb.CUT_OFF} expansions"
    return [make(title, rows) for make in (score_table, ratio_table)]


EXPERIMENT = Experiment(
    id="dc-f8",
    title="D LRTA* beside K LRTA*, P LRTA* and PR LRTS, at most 1000 expansions for any move",
    paper=f"{dc.PAPER}, Figure 8",
    parts=(
        Part(
            grounds=tb.MAPS,
            problems=dc.PROBLEMS,
            entrants=(
                *FIXED,
                *(_d_lrta("I", level) for level in LEVELS),
                *(_d_lrta("GI", level) for level in LEVELS[1:]),
                *sweep("p-lrta", queue=tb.QUEUES),
                *sweep("lss-lrta", lookahead=tb.LOOKAHEADS, commit=("one",)),
                *dc.REFINED,
            ),
            optimal=tb.RANGE,
            max_moves=dc.MAX_MOVES,
        ),
    ),
    seed=dc.SEED,
    claims=CLAIMS,
    tables=_tables,
    notes=(
        "Maps and problems are those of DC-F7.",
        f"The cap is {dc.CAP}: with the paper's 30 a single lookahead may take 3481 expansions, and be cut off.",
    ),
    changes=("100 instead of 25 problems on each map: intervals were wide. No verdict changed.",),
)
