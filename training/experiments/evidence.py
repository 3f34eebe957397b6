"""What the runs of an experiment say: numbers per problem, means with intervals, and tables of both.

The problems of every map are resampled by themselves: intervals speak of such problems on these maps.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from agents import KernelAgent
from rt_gym import Grid
from training.judge import Arena, Estimate, Score
from training.judge.scores import curve_ratios, fixed_curve, score_arena, strata_of
from training.judge.stats import Floats, estimate, resampled_sums
from training.judge.tables import MEASURES, Table, digits, interval, percent
from training.learn.fit import PredictionQuality
from training.runs import Entry, Row, Runs
from training.runs.contenders import load_agent
from training.runs.rows import Batch

Strata = NDArray[np.int64]

NO_LIMIT = "no limit"
OUTLINE = "†"  # the mark of agents that were built after outlines of their papers
_WORK = ["exp.\nmean", "95 %\ninterval", "exp.\npooled", "worst\nmove"]


class Evidence:
    """The runs of every contender, problem by problem, in the same order for all.

    Args:
        rows: the runs.
        validations: what was found in every cross-validation, by its name.
        grids: the maps, by their names.
    """

    def __init__(
        self,
        rows: Runs,
        validations: Mapping[str, PredictionQuality] | None = None,
        grids: Mapping[str, Grid] | None = None,
    ) -> None:
        self.rows = rows
        self.validations, self.grids = validations or {}, grids or {}
        self._runs = {batch.entry: batch for batch in rows.batches}

    def numbers(self, competitor: Any, name: str) -> Floats:
        """Return a number of every run of a competitor, infinite where the run failed.

        Args:
            competitor: whatever has the ``entry`` of the runs.
            name: what of a ``Row``, its ``Result``, its ``Place`` or its ``Timing``.
        """
        batch = self._runs[competitor.entry]
        return np.where(batch.solved, batch.numbers(name), np.inf)

    @cached_property
    def arena(self) -> Arena:
        """All contenders on the same resampled problems."""
        return Arena(self.rows, stratified=True)

    @cached_property
    def strata(self) -> Strata:
        """The number of every problem's map, see ``strata_of``."""
        return strata_of(self.rows.batches[0].places)

    @cached_property
    def scores(self) -> dict[Entry, Score]:
        """The score of every contender."""
        return {score.entry: score for score in score_arena(self.arena)}

    def score(self, competitor: Any) -> Score:
        """Return the score of a competitor."""
        return self.scores[competitor.entry]

    def by_map(self) -> dict[str, "Evidence"]:
        """Return the evidence of every map by itself, by the map's name."""
        places = self.rows.batches[0].places
        names = dict.fromkeys(ground.map for ground in places.grounds)
        return {name: Evidence(self.rows.on(places.maps == k), grids=self.grids) for k, name in enumerate(names)}

    def resampled_points(self, cut_off: int, meter: str) -> dict[Entry, tuple[Floats, Floats]]:
        """Return expansions per move and quality, over all problems and each resampling of them.

        Args:
            cut_off: contenders with a move of more expansions are left out, as are those with a run that was cut.
            meter: how expansions per move are averaged, ``"mean"`` or ``"pooled"``.
        """
        work = getattr(self.arena, meter)
        return {
            entry: (work[entry], self.arena.quality[entry])
            for entry, score in self.scores.items()
            if score.quality is not None and score.worst_move <= cut_off
        }

    def curve_ratios(self, competitor: Any, meter: str) -> Floats | None:
        """Return a competitor's ratio to the curve of fixed depths, over all problems and each resampling of them."""
        curve = fixed_curve(list(self.arena.samples.values()))
        return curve_ratios(self.arena, competitor.entry, curve, getattr(self.arena, meter))


def bootstrap(function: Callable[..., Floats], *columns: Floats, strata: Strata | None = None) -> Estimate | None:
    """Return a function of the means of columns over problems, with its 95 % interval.

    Every call meets the same resampled problems.

    Args:
        function: takes an array of resampled means for each column and returns one value for each resampling.
        *columns: numbers per problem.
        strata: the map of every problem.

    Returns:
        None if a number is infinite, because a run failed.
    """
    together = np.stack(columns, axis=1)
    if not np.isfinite(together).all():
        return None
    means = resampled_sums(together, 0, strata) / len(together)
    return estimate(function(*means.T), len(together))


def mean(column: Floats, strata: Strata | None = None) -> Estimate | None:
    """Return the mean of a column."""
    return bootstrap(lambda m: m, column, strata=strata)


def ratio(above: Floats, below: Floats, strata: Strata | None = None) -> Estimate | None:
    """Return the mean of one column divided by the mean of another."""
    return bootstrap(lambda a, b: a / b, above, below, strata=strata)


def exactly(value: float) -> Estimate | None:
    """Return a number that is counted, not estimated; None if it is infinite, because a run failed."""
    return Estimate(value, value, value) if isfinite(value) else None


def spearman(*means: Floats) -> Floats:
    """Return this correlation for every resampling of the means."""
    ranks = rankdata(np.stack(means, axis=1), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    order = np.arange(len(means)) - (len(means) - 1) / 2
    spread = np.sqrt((ranks**2).sum(axis=1) * (order**2).sum())
    return np.divide(ranks @ order, spread, out=np.zeros(len(ranks)), where=spread > 0)


def score_table(title: str, rows: Runs | Iterable[Row]) -> Table:
    """Return a table with a line for every contender: quality with its tail, both averages of work, failures, guards.

    A guard is told of as the problems in which it acted, how often it did in all of them, and the share of expansions
    that were made meanwhile.
    """
    runs = Runs.of(rows)
    scores = score_arena(Arena(runs, stratified=True))
    name = MEASURES[scores[0].measure]
    columns = ["\nagent", f"{name}\nmean", "95 %\ninterval", f"{name}\nmedian", f"{name}\n95th", f"{name}\nworst"]
    guards = [_guard(batch) for batch in runs.batches]
    guarded = any(guards)
    lines = [_line(score) + [guard] * guarded for score, guard in zip(scores, guards, strict=True)]
    return Table(title, [*columns, *_WORK, "\nsolved", *["\nguard"] * guarded], lines)


def _line(score: Score) -> list[str]:
    return [
        label(score.entry) + ("" if score.entry.budget == NO_LIMIT else f", {score.entry.budget}"),
        *with_interval(score.quality),
        *map(digits, (score.quality_median, score.quality_tail, score.quality_worst)),
        *with_interval(score.expansions_mean),
        digits(score.expansions_pooled.value),
        f"{score.worst_move:,}",
        score.solved,
    ]


def label(entry: Entry) -> str:
    """Return what a table calls a contender: its label, with a mark if its algorithm was built after an outline."""
    return f"{entry.label} {OUTLINE}" if getattr(load_agent(entry.agent), "after_outline", False) else entry.label


def _guard(batch: Batch) -> str:
    """Return where a guard acted, how often, and for which share of expansions; nothing for an agent without one."""
    if not _has_guard(batch.entry.agent):
        return ""
    times, work = batch.columns["guarded"], batch.columns["guarded_expansions"]
    share = work.sum() / max(1, batch.columns["expansions"].sum())
    return f"{int((times > 0).sum())} problems, {int(times.sum()):,} times, {percent(share)}"


@cache
def _has_guard(agent_id: str) -> bool:
    kind = load_agent(agent_id)
    return issubclass(kind, KernelAgent) and kind.guarded is not KernelAgent.guarded


def map_tables(title: str, runs: Runs) -> list[Table]:
    """Return the table of scores of every map by itself; none where there is one, or one for every problem."""
    places = runs.batches[0].places
    strata = strata_of(places)
    if not strata.any():
        return []
    names = dict.fromkeys(ground.map for ground in places.grounds)
    return [score_table(f"{title}{name}", runs.on(strata == k)) for k, name in enumerate(names)]


def ratio_table(title: str, rows: Runs | Iterable[Row]) -> Table:
    """Return a table of how many times their expansions the curve of fixed depths needs for the same suboptimality."""
    columns = ["\nagent", "ratio\nmean", "95 %\ninterval", "ratio\npooled", "95 %\ninterval"]
    scores = [score for score in score_arena(Arena(rows, stratified=True)) if score.entry.agent != "lrta"]
    lines = [[label(one.entry), *with_interval(one.ratio_mean), *with_interval(one.ratio_pooled)] for one in scores]
    return Table(f"{title}: ratios to the curve of fixed depths", columns, lines)


def with_interval(ours: Estimate | None) -> list[str]:
    """Return an estimate as two cells of a table: the value and its interval."""
    return ["-", "-"] if ours is None else [digits(ours.value), interval(ours)]
