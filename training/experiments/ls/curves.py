"""The curves of LS-F4 and what the paper says of their shapes.

The paper prints curves without numbers, so most statements are directions: one number is not above another. Where it
says "almost flat", "similar" or "very small" of curves that fall, the bar is a tenth of the plot's scale, which LRTA*
and RTAA* set with d = 2; where it says "much lower" or "much more", it is a factor of two, with the direction beside
it. Where a curve is to rise or fall monotonically, the bar is a rank correlation of 0.9.
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
from training.judge.stats import Floats, resampled_sums
from training.judge.tables import Table, digits, percent

# what the paper calls a curve -> its settings, one for each d
CURVES = {
    **{f"LRTA*_LS({k})": curve for k, curve in LRTA_LS.items()},
    "LRTA*": sweep("lss-lrta", lookahead=DS),
    "RTAA*": sweep("rtaa", lookahead=DS),
}
SETTINGS = tuple(agent for curve in CURVES.values() for agent in curve)
# which curves these are
LOW_K, MEDIUM_K, HIGH_K, LRTA, RTAA = (slice(number, number + 1) for number in range(len(CURVES)))
LRTA_LS_CURVES, LARGE_KS, BOTH = slice(0, len(KS)), slice(1, len(KS)), slice(len(KS), len(CURVES))
# which lookaheads these are: 2, 4 and 8; 16 and 32; 64 and 128; from 8 on; from 16 on
LOW, MEDIUM, HIGH, FROM_8, FROM_16, ALL = slice(0, 3), slice(3, 5), slice(5, 7), slice(2, 7), slice(3, 7), slice(0, 7)

Block = tuple[slice, slice]  # of a plot: some curves, some lookaheads
PROPAGATED, RTAA_MEDIUM, RTAA_HIGH, BOTH_HIGH = (LARGE_KS, LOW), (RTAA, MEDIUM), (RTAA, HIGH), (BOTH, HIGH)
LRTA_LS_160, LRTA_LS_160_LOW, LRTA_LS_40_LOW = (HIGH_K, ALL), (HIGH_K, LOW), (MEDIUM_K, LOW)


def largest_trend(curves: slice, means: Floats) -> Floats:
    """Return how curves rise with d: the largest rank correlation."""
    return _trends(means[:, curves]).max(axis=0)


def least_trend(curves: slice, lookaheads: slice, means: Floats) -> Floats:
    """Return how curves rise over some lookaheads: the least rank correlation."""
    return _trends(means[:, curves, lookaheads]).min(axis=0)


def _trends(means: Floats) -> Floats:
    return np.array([spearman(*curve.T) for curve in means.swapaxes(0, 1)])


def fall(curves: slice, means: Floats) -> Floats:
    """Return the first over the last of curves, resamplings x curves."""
    return means[:, curves, 0] / means[:, curves, -1]


def fall_over_others(cost: Floats) -> Floats:
    """Return by which factor the cost of large k falls, over that of the others: the largest over the least."""
    return fall(LARGE_KS, cost).max(axis=1) / fall(BOTH, cost).min(axis=1)


def unevenness_on_scale(curves: slice, lookaheads: slice, cost: Floats) -> Floats:
    """Return the largest less the least of a curve over the largest of the plot, for the worst of some curves."""
    return np.ptp(cost[:, curves, lookaheads], axis=2).max(axis=1) / cost.max(axis=(1, 2))


def step_of_k(cost: Floats) -> Floats:
    """Return what one k costs over what the next smaller one costs, the largest of all d."""
    return (cost[:, 1 : len(KS)] / cost[:, : len(KS) - 1]).max(axis=(1, 2))


def k_over_d(cost: Floats) -> Floats:
    """Return by which factor cost falls with k, the mean of all d, over that with d, the mean of all k."""
    with_k = (cost[:, LOW_K] / cost[:, HIGH_K]).mean(axis=(1, 2))
    return with_k / fall(LRTA_LS_CURVES, cost).mean(axis=1)


def above_below(mine: slice, others: slice, lookaheads: slice, cost: Floats) -> Floats:
    """Return the largest of some curves over the least of others at the same d, the largest of some lookaheads."""
    return (cost[:, mine, lookaheads].max(axis=1) / cost[:, others, lookaheads].min(axis=1)).max(axis=1)


def largest_over_least(mine: Block, others: Block, means: Floats) -> Floats:
    """Return the largest of some settings over the least of others."""
    return means[:, *mine].max(axis=(1, 2)) / means[:, *others].min(axis=(1, 2))


def least_over_largest(mine: Block, others: Block, means: Floats) -> Floats:
    """Return the least of some settings over the largest of others."""
    return means[:, *mine].min(axis=(1, 2)) / means[:, *others].max(axis=(1, 2))


def least_over_least(mine: Block, others: Block, means: Floats) -> Floats:
    """Return the least of some settings over the least of others."""
    return means[:, *mine].min(axis=(1, 2)) / means[:, *others].min(axis=(1, 2))


def least_over_rest(mine: tuple[Block, ...], aside: tuple[Block, ...], means: Floats) -> Floats:
    """Return the least of some settings over the least of all others but those set aside."""
    ours, left_out = (_mask(blocks, means.shape[1:]) for blocks in (mine, aside))
    return means[:, ours].min(axis=1) / means[:, ~ours & ~left_out].min(axis=1)


def _mask(blocks: tuple[Block, ...], shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    found = np.zeros(shape, bool)
    for block in blocks:
        found[block] = True
    return found


def spread_over_first(cost: Floats) -> Floats:
    """Return the largest over the least of all curves at the largest d, over that at the least d."""
    spread = cost.max(axis=1) / cost.min(axis=1)
    return spread[:, -1] / spread[:, 0]


def spread_on_scale(cost: Floats) -> Floats:
    """Return the largest less the least of all curves at the largest d, over the largest of the plot."""
    return np.ptp(cost[:, :, -1], axis=1) / cost.max(axis=(1, 2))


def dip(time: Floats) -> Floats:
    """Return the least in between over the lesser end, for the worse of LRTA* and RTAA*."""
    return (time[:, BOTH, 1:-1].min(axis=2) / time[:, BOTH, [0, -1]].min(axis=2)).max(axis=1)


def first_fall(curves: slice, lookaheads: slice, time: Floats) -> Floats:
    """Return the least of some lookaheads over the first of all, for the worst of some curves."""
    return (time[:, curves, lookaheads].min(axis=2) / time[:, curves, 0]).max(axis=1)


def lrta_over_rtaa(time: Floats) -> Floats:
    """Return LRTA* over RTAA*, the least of all d."""
    return (time[:, LRTA] / time[:, RTAA]).min(axis=(1, 2))


def margin(cost: Floats, time: Floats) -> Floats:
    """Return by what factor any other setting misses the quickest of LRTA*_LS with large k and low d, in cost or time.

    Below 1 there is one that is both cheaper and quicker; time may be any effort.
    """
    ours = _mask((PROPAGATED,), cost.shape[1:]).ravel()
    cost, time = cost.reshape(len(cost), -1), time.reshape(len(time), -1)
    best = np.arange(len(time)), np.where(ours, time, np.inf).argmin(axis=1)
    missed = np.maximum(cost / cost[best][:, None], time / time[best][:, None])
    return np.where(ours, np.inf, missed).min(axis=1)


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


MONOTONE = 0.9  # a rank correlation
FLAT = 0.1  # of the plot's scale
MUCH = 2.0  # a factor
FALLS, RISES = (-1, 0), (0, 1)  # the sign of a rank correlation
_COST = ("cost",)


def _falls(text: str, curves: slice, columns: tuple[str, ...] = _COST) -> Statement:
    function = partial(largest_trend, curves)
    return Statement(text, "falls monotonically", function, columns, high=-MONOTONE, direction=FALLS)


COSTS = (
    _falls("the cost of LRTA* and of RTAA* falls with d: rank correlation, the larger of the two", BOTH),
    Statement(
        "on the plot's scale, the cost of LRTA*_LS hardly falls with d: the largest less the least, over the largest of"
        " the plot, the worse of k = 40 and k = 160",
        "a very small decrement, almost flat",
        partial(unevenness_on_scale, LARGE_KS, ALL),
        _COST,
        high=FLAT,
    ),
    Statement(
        "from d = 2 to 128 the cost of LRTA*_LS with k from 40 falls less than that of LRTA* and RTAA*: its largest"
        " factor over their least",
        "from a high cost to a low one, in contrast to always low",
        fall_over_others,
        _COST,
        high=1,
    ),
    Statement(
        "the cost of LRTA*_LS falls with k: over that of the next smaller k, the largest of all d",
        "falls as k increases",
        step_of_k,
        _COST,
        high=1,
    ),
    Statement(
        "the cost of LRTA*_LS depends on k more than on d: its factor from k = 10 to 160, the mean of all d, over that"
        " from d = 2 to 128, the mean of all k",
        "k is crucial, d is not significant",
        k_over_d,
        _COST,
        low=1,
    ),
    Statement(
        "with d up to 8 LRTA*_LS costs least: its worst k over the better of LRTA* and RTAA*, the largest of all d",
        "the best with low lookahead",
        partial(above_below, LRTA_LS_CURVES, BOTH, LOW),
        _COST,
        high=1,
    ),
)
MAZE_COSTS = (
    *COSTS,
    _falls("the cost of LRTA*_LS falls with d: rank correlation, the largest of all k", LRTA_LS_CURVES),
    Statement(
        "with d all costs draw together: the largest over the least at d = 128, over that at d = 2",
        "similar with high lookahead",
        spread_over_first,
        _COST,
        high=1,
    ),
    Statement(
        "on the plot's scale, all have a similar cost at d = 128: the largest less the least, over the largest of the"
        " plot",
        "similar with high lookahead",
        spread_on_scale,
        _COST,
        high=FLAT,
    ),
)
MAZE_FIRST_COSTS = (
    *MAZE_COSTS,
    Statement(
        "LRTA*_LS(40) with d up to 8 costs much less than RTAA* with d = 16 and 32: its largest over the least",
        "much lower",
        partial(largest_over_least, LRTA_LS_40_LOW, RTAA_MEDIUM),
        _COST,
        high=1 / MUCH,
        direction=(0, 1),
    ),
)
MAZE_CONVERGENCE_COSTS = (
    *MAZE_COSTS,
    Statement(
        "LRTA*_LS(160) with d up to 8 costs less than LRTA* and RTAA* with d = 64 and 128: its largest over the least",
        "the best, these go next",
        partial(largest_over_least, LRTA_LS_160_LOW, BOTH_HIGH),
        _COST,
        high=1,
    ),
)
GAME_COSTS = (
    *COSTS,
    Statement(
        "on the plot's scale, the cost of LRTA*_LS is flat from d = 8 on: the largest less the least, over the largest"
        " of the plot, the worst of all k",
        "really flat after the first values of d",
        partial(unevenness_on_scale, LRTA_LS_CURVES, FROM_8),
        _COST,
        high=FLAT,
    ),
    Statement(
        "from d = 16 on LRTA* and RTAA* cost less than LRTA*_LS(10): the larger of both over it, the largest of all d",
        "better from medium to high lookahead",
        partial(above_below, BOTH, LOW_K, FROM_16),
        _COST,
        high=1,
    ),
    Statement(
        "with d = 64 and 128 LRTA* and RTAA* cost less than LRTA*_LS(10): the larger of both over it, the larger of"
        " both d",
        "better with high lookahead",
        partial(above_below, BOTH, LOW_K, HIGH),
        _COST,
        high=1,
    ),
    Statement(
        "LRTA*_LS with k from 40 and any d costs less than LRTA* and RTAA* with any d: its largest over the least",
        "the best cost, followed by these with high d",
        partial(largest_over_least, (LARGE_KS, ALL), (BOTH, ALL)),
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


TIME, SCANS = Effort("planning_seconds", "time", "less", "least"), Effort("scans", "scans", "fewer", "fewest")
Said = Callable[[Effort], Iterator[Statement]]


def of_efforts(said: Said) -> tuple[Statement, ...]:
    """Return what the paper says of time, said of time and of scans."""
    return tuple(statement for effort in (TIME, SCANS) for statement in said(effort))


def maze_first(effort: Effort) -> Iterator[Statement]:
    """Yield what the paper says of time in the first trial on mazes."""
    yield _growing(effort)
    yield _dipping(effort)
    yield from _common(effort)
    who = "LRTA*_LS with k from 40 and d up to 8, or RTAA* with d = 16 or 32,"
    yield _least(effort, who, (PROPAGATED, RTAA_MEDIUM))
    yield _much_more(effort)


def maze_convergence(effort: Effort) -> Iterator[Statement]:
    """Yield what the paper says of time until convergence on mazes."""
    column, word, less, least = effort
    yield _growing(effort, FROM_8)
    yield Statement(
        f"with small d LRTA*_LS first needs {less} {word}: the {least} at d = 4 and 8 over d = 2, the largest of all k",
        "a small decrement with small d",
        partial(first_fall, LRTA_LS_CURVES, slice(1, 3)),
        (column,),
        high=1,
    )
    yield _falls(
        f"LRTA* and RTAA* need {less} {word} with larger d: rank correlation, the larger of the two", BOTH, (column,)
    )
    yield from _common(effort)
    who = "LRTA*_LS with k from 40 and d up to 8, or LRTA* or RTAA* with d from 64,"
    yield _least(effort, who, (PROPAGATED, BOTH_HIGH))
    yield Statement(
        f"RTAA* with d = 64 or 128 needs more {word} than LRTA*_LS(160) with d up to 8, but not twice: the {least} of"
        " both",
        "higher than but close to",
        partial(least_over_least, RTAA_HIGH, LRTA_LS_160_LOW),
        (column,),
        low=1,
        high=MUCH,
    )


def game_first(effort: Effort) -> Iterator[Statement]:
    """Yield what the paper says of time in the first trial on game maps."""
    yield _growing(effort)
    yield _dipping(effort)
    yield from _common(effort)
    yield _least(effort, "LRTA*_LS with k from 40 and d up to 8", (PROPAGATED,))
    yield _much_more(effort)


def game_convergence(effort: Effort) -> Iterator[Statement]:
    """Yield what the paper says of time until convergence on game maps."""
    column, word, less, least = effort
    yield _growing(effort)
    yield Statement(
        f"LRTA* and RTAA* need {less} {word} with larger d at first: the {least} over that at d = 2, the larger"
        " of both",
        "falls first, as in the first trial",
        partial(first_fall, BOTH, slice(1, None)),
        (column,),
        high=1,
    )
    yield Statement(
        f"RTAA* is at its best with high d: its {least} {word} with d from 64 over that with smaller d",
        "RTAA* with high d",
        partial(least_over_least, RTAA_HIGH, (RTAA, slice(0, 5))),
        (column,),
        high=1,
    )
    yield from _common(effort)
    yield _least(effort, "LRTA*_LS(160) with d up to 8", (LRTA_LS_160_LOW,))
    yield _least(
        effort, "but for LRTA*_LS(160), RTAA* with d = 64 or 128", (RTAA_HIGH,), aside=(LRTA_LS_160,), paper="goes next"
    )
    yield _much_more(effort)


def _growing(effort: Effort, lookaheads: slice = ALL) -> Statement:
    since = "" if lookaheads == ALL else f", from d = {DS[lookaheads.start]} on"
    return Statement(
        f"LRTA*_LS needs more {effort.word} with larger d{since}: rank correlation, the least of all k",
        "grows monotonically",
        partial(least_trend, LRTA_LS_CURVES, lookaheads),
        (effort.column,),
        low=MONOTONE,
        direction=RISES,
    )


def _dipping(effort: Effort) -> Statement:
    return Statement(
        f"LRTA* and RTAA* need {effort.less} {effort.word} with larger d, then more: the {effort.least} in between over"
        f" the {effort.least} of both ends, the larger of the two agents",
        "falls first and rises later",
        dip,
        (effort.column,),
        high=1,
    )


def _common(effort: Effort) -> Iterator[Statement]:
    """Yield what the paper says of all plots of time."""
    yield Statement(
        f"LRTA* needs more {effort.word} than RTAA*: the ratio, the least of all d",
        "always more expensive",
        lrta_over_rtaa,
        (effort.column,),
        low=1,
    )
    yield Statement(
        f"LRTA*_LS with k from 40 and d up to 8 has the lowest cost for its {effort.word}: the nearest other setting"
        f" over the one of these with the {effort.least} {effort.word}, in cost or {effort.word}, whichever ratio is"
        " larger",
        "lowest cost with lowest time",
        margin,
        ("cost", effort.column),
        low=1,
        headline=effort is TIME,
    )


def _least(
    effort: Effort, who: str, mine: tuple[Block, ...], aside: tuple[Block, ...] = (), paper: str = "the best"
) -> Statement:
    return Statement(
        f"{who} needs {effort.less} {effort.word} than any other: the {effort.least} of these over the {effort.least}"
        " of all others",
        paper,
        partial(least_over_rest, mine, aside),
        (effort.column,),
        high=1,
    )


def _much_more(effort: Effort) -> Statement:
    return Statement(
        f"RTAA* with d = 64 or 128, where it costs as little, needs far more {effort.word} than LRTA*_LS(160) with d"
        f" up to 8: its {effort.least} over the most",
        "much more",
        partial(least_over_largest, RTAA_HIGH, LRTA_LS_160_LOW),
        (effort.column,),
        low=MUCH,
        direction=(1, inf),
    )


_MEASURES = {"cost": ("cost", 1.0), "time in ms": ("planning_seconds", 1e-3), "scans": ("scans", 1.0)}


def tables_of(name: str, evidence: Evidence) -> list[Table]:
    """Return the two plots of a benchmark as tables of means, a third of scans, and how exact they are."""
    means = [
        Table(f"{name}: {text}", ["d", *CURVES], [_line(evidence, column, unit, k) for k in range(len(DS))])
        for text, (column, unit) in _MEASURES.items()
    ]
    return [*means, _precision(name, evidence)]


def _line(evidence: Evidence, column: str, unit: float, k: int) -> list[str]:
    means = (float(evidence.numbers(curve[k], column).mean()) / unit for curve in CURVES.values())
    return [str(DS[k]), *map(digits, means)]


def _precision(name: str, evidence: Evidence) -> Table:
    """Return how wide intervals are: of means, and of the ratios of neighbours on a curve, which share problems."""
    columns = ["measure", "problems", "of a mean", "of the ratio of neighbouring d", "widest of these"]
    lines = [[text, *_half_widths(evidence, column)] for text, (column, _) in _MEASURES.items()]
    return Table(f"{name}: half the width of 95 % intervals, the median of all settings", columns, lines)


def _half_widths(evidence: Evidence, column: str) -> list[str]:
    numbers = np.stack([evidence.numbers(agent, column) for agent in SETTINGS], axis=1)
    means = resampled_sums(numbers, 0, evidence.strata).reshape(-1, len(CURVES), len(DS))
    alone, ratios = (_half_width(found) for found in (means, means[:, :, 1:] / means[:, :, :-1]))
    return [f"{len(numbers):,}", *map(percent, (np.median(alone), np.median(ratios), ratios.max()))]


def _half_width(found: Floats) -> Floats:
    low, high = np.percentile(found[1:], (2.5, 97.5), axis=0)
    width: Floats = (high - low) / 2 / found[0]
    return width
