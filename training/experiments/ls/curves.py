"""The curves of LS-F4 and what the paper says of their shapes.

The bars were set before the first full run. The paper prints curves without numbers: where it says "almost flat" or
"similar" the bar is 35 %, and where it says "much lower" it is one half. Those on the plot's scale were added later.
"""

from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import NamedTuple

import numpy as np

from training.experiments.evidence import Evidence, spearman
from training.experiments.frame import Claim, sweep
from training.experiments.ls import DS, KS, LRTA_LS
from training.experiments.quantities import Column, FunctionOfMeans
from training.judge.stats import Floats
from training.judge.tables import Table, digits

# what the paper calls a curve -> its settings, one for each d
CURVES = {
    **{f"LRTA*_LS({k})": curve for k, curve in LRTA_LS.items()},
    "LRTA*": sweep("lss-lrta", lookahead=DS),
    "RTAA*": sweep("rtaa", lookahead=DS),
}
SETTINGS = tuple(agent for curve in CURVES.values() for agent in curve)
LARGE_KS, LRTA, RTAA = slice(1, 3), 3, 4  # which curves these are
BOTH = slice(LRTA, RTAA + 1)
LOW_DS = slice(0, 3)  # 2, 4 and 8


def steepest(means: Floats) -> Floats:
    """Return how LRTA* and RTAA* rise with d: the larger rank correlation."""
    return np.max([spearman(*means[:, curve].T) for curve in (LRTA, RTAA)], axis=0)


def flattest(means: Floats) -> Floats:
    """Return how LRTA*_LS rises with d: the least rank correlation of all k."""
    return np.min([spearman(*means[:, curve].T) for curve in range(len(KS))], axis=0)


def unevenness(cost: Floats) -> Floats:
    """Return the largest over the least of all d, for the worse of the large k."""
    return (cost[:, LARGE_KS].max(axis=2) / cost[:, LARGE_KS].min(axis=2)).max(axis=1)


def unevenness_on_scale(cost: Floats) -> Floats:
    """Return the largest less the least of all d over the largest of the plot, for the worse of the large k."""
    return np.ptp(cost[:, LARGE_KS], axis=2).max(axis=1) / cost.max(axis=(1, 2))


def step_of_k(cost: Floats) -> Floats:
    """Return what one k costs over what the next smaller one costs, the largest of all d."""
    return (cost[:, 1:LRTA] / cost[:, : LRTA - 1]).max(axis=(1, 2))


def against_rtaa(cost: Floats) -> Floats:
    """Return what the largest k costs over what RTAA* costs, the largest of all low d."""
    return (cost[:, LRTA - 1, LOW_DS] / cost[:, RTAA, LOW_DS]).max(axis=1)


def spread_at_the_end(cost: Floats) -> Floats:
    """Return the largest over the least of all curves at the largest d."""
    return cost[:, :, -1].max(axis=1) / cost[:, :, -1].min(axis=1)


def spread_on_scale(cost: Floats) -> Floats:
    """Return the largest less the least of all curves at the largest d, over the largest of the plot."""
    return np.ptp(cost[:, :, -1], axis=1) / cost.max(axis=(1, 2))


def against_small_k(cost: Floats) -> Floats:
    """Return the worse of LRTA* and RTAA* over LRTA*_LS with the smallest k, at the largest d."""
    return cost[:, BOTH, -1].max(axis=1) / cost[:, 0, -1]


def dip(time: Floats) -> Floats:
    """Return the least in between over the lesser end, for the worse of LRTA* and RTAA*."""
    return (time[:, BOTH, 1:-1].min(axis=2) / time[:, BOTH, [0, -1]].min(axis=2)).max(axis=1)


def lrta_over_rtaa(time: Floats) -> Floats:
    """Return LRTA* over RTAA*, the least of all d."""
    return (time[:, LRTA] / time[:, RTAA]).min(axis=1)


def margin(cost: Floats, time: Floats) -> Floats:
    """Return by what factor any other setting misses the quickest of LRTA*_LS with large k and low d, in cost or time.

    Below 1 there is one that is both cheaper and quicker; time may be any effort.
    """
    ours = np.zeros(cost.shape[1:], bool)
    ours[LARGE_KS, LOW_DS] = True
    cost, time = cost.reshape(len(cost), -1), time.reshape(len(time), -1)
    best = np.arange(len(time)), np.where(ours.ravel(), time, np.inf).argmin(axis=1)
    missed = np.maximum(cost / cost[best][:, None], time / time[best][:, None])
    return np.where(ours.ravel(), np.inf, missed).min(axis=1)


class Statement(NamedTuple):
    """What the paper says of one number of a plot: a function of means, resamplings x curves x lookaheads."""

    text: str
    paper: str
    function: Callable[..., Floats]
    columns: tuple[str, ...]
    low: float = -inf
    high: float = inf
    headline: bool = False
    direction: tuple[float, float] | None = None

    def on(self, name: str, part: int) -> Claim:
        """Return this statement as a claim about a part of an experiment."""
        means = tuple(Column(agent, column, part) for column in self.columns for agent in SETTINGS)
        quantity = FunctionOfMeans(partial(_of_plots, self.function, len(self.columns)), means)
        return Claim(f"{name}: {self.text}", self.paper, quantity, self.low, self.high, self.headline, self.direction)


def _of_plots(function: Callable[..., Floats], plots: int, *means: Floats) -> Floats:
    shape = -1, plots, len(CURVES), len(DS)
    return function(*np.stack(means, axis=1).reshape(shape).swapaxes(0, 1))


FALLS, RISES = (-1, 0), (0, 1)  # the sign of a rank correlation
_COST = ("cost",)
COSTS = (
    Statement(
        "the cost of LRTA* and of RTAA* falls with d: rank correlation, the larger of the two",
        "both curves fall",
        steepest,
        _COST,
        high=-0.9,
        direction=FALLS,
    ),
    Statement(
        "the cost of LRTA*_LS hardly depends on d: the largest over the least, the worse of k = 40 and k = 160",
        "almost flat",
        unevenness,
        _COST,
        high=1.35,
    ),
    Statement(
        "on the plot's scale, the cost of LRTA*_LS hardly depends on d: the largest less the least, over the largest of"
        " the plot, the worse of k = 40 and k = 160",
        "almost flat",
        unevenness_on_scale,
        _COST,
        high=0.1,
    ),
    Statement(
        "the cost of LRTA*_LS falls with k: over that of the next smaller k, the largest of all d",
        "falls at every d",
        step_of_k,
        _COST,
        high=1,
    ),
    Statement(
        "with d up to 8, LRTA*_LS(160) costs much less than RTAA*: the ratio, the largest of all d",
        "much lower",
        against_rtaa,
        _COST,
        high=0.5,
        direction=(0, 1),
    ),
)
SIMILAR_AT_THE_END = (
    Statement(
        "at d = 128 all have a similar cost: the largest over the least", "similar", spread_at_the_end, _COST, high=1.35
    ),
    Statement(
        "on the plot's scale, all have a similar cost at d = 128: the largest less the least, over the largest of the"
        " plot",
        "similar",
        spread_on_scale,
        _COST,
        high=0.1,
    ),
)
BETTER_AT_THE_END = (
    Statement(
        "at d = 128 LRTA* and RTAA* cost less than LRTA*_LS(10): the larger of the two over it",
        "better",
        against_small_k,
        _COST,
        high=1,
    ),
)


class Effort(NamedTuple):
    """What a setting spends: its column, and how claims speak of it."""

    column: str
    word: str
    less: str
    least: str


TIME, SCANS = Effort("seconds", "time", "less", "least"), Effort("scans", "scans", "fewer", "fewest")


def efforts(falls: bool) -> tuple[Statement, ...]:
    """Return what the paper says of time, said of time and of scans.

    Args:
        falls: whether LRTA* and RTAA* only get quicker with more lookahead, or first quicker and then slower.
    """
    return tuple(statement for effort in (TIME, SCANS) for statement in _said_of(effort, falls))


def _said_of(effort: Effort, falls: bool) -> Iterator[Statement]:
    column, word, _, least = effort
    yield Statement(
        f"LRTA*_LS needs more {word} with larger d: rank correlation, the least of all k",
        "time grows",
        flattest,
        (column,),
        low=0.9,
        direction=RISES,
    )
    yield _falling(effort) if falls else _dipping(effort)
    yield Statement(
        f"LRTA* needs more {word} than RTAA*: the ratio, the least of all d",
        "more time at every d",
        lrta_over_rtaa,
        (column,),
        low=1,
    )
    yield Statement(
        f"LRTA*_LS with k from 40 and d up to 8 has the lowest cost for its {word}: the nearest other setting over the"
        f" one of these with the {least} {word}, in cost or {word}, whichever ratio is larger",
        "lowest cost with lowest time",
        margin,
        ("cost", column),
        low=1,
        headline=effort is TIME,
    )


def _falling(effort: Effort) -> Statement:
    return Statement(
        f"LRTA* and RTAA* need {effort.less} {effort.word} with larger d: rank correlation, the larger of the two",
        "time falls",
        steepest,
        (effort.column,),
        high=-0.9,
        direction=FALLS,
    )


def _dipping(effort: Effort) -> Statement:
    return Statement(
        f"LRTA* and RTAA* need {effort.less} {effort.word} with larger d, then more: the {effort.least} in between over"
        f" the {effort.least} of both ends, the larger of the two agents",
        "time falls, then rises",
        dip,
        (effort.column,),
        high=1,
    )


def tables_of(name: str, evidence: Evidence) -> list[Table]:
    """Return the two plots of a benchmark as tables of means, and a third of scans."""
    return [
        Table(f"{name}: {text}", ["d", *CURVES], [_line(evidence, column, unit, k) for k in range(len(DS))])
        for text, column, unit in (("cost", "cost", 1.0), ("time in ms", "seconds", 1e-3), ("scans", "scans", 1.0))
    ]


def _line(evidence: Evidence, column: str, unit: float, k: int) -> list[str]:
    means = (float(evidence.numbers(curve[k], column).mean()) / unit for curve in CURVES.values())
    return [str(DS[k]), *map(digits, means)]
