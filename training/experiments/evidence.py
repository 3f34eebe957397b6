"""What the runs of an experiment say: numbers per problem, means with intervals, and tables of both."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from scipy.stats import rankdata

from rt_gym import Grid
from training.judge import Arena, Estimate, Score, score_all
from training.judge.scores import curve_ratios, fixed_curve, score_arena
from training.judge.stats import Floats, estimate, resampled_sums
from training.judge.tables import Table, digits, interval
from training.learn.validate import PredictionQuality
from training.runs import Entry, Row, Runs

NO_LIMIT = "no limit"
_COLUMNS = ["\nagent", "subopt.\nmean", "95 %\ninterval", "subopt.\nmedian", "exp.\nmean", "95 %\ninterval"]
_COLUMNS += ["exp.\npooled", "worst\nmove", "\nsolved"]


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
        return Arena(self.rows)

    @cached_property
    def scores(self) -> dict[Entry, Score]:
        """The score of every contender."""
        return {score.entry: score for score in score_arena(self.arena)}

    def score(self, competitor: Any) -> Score:
        """Return the score of a competitor."""
        return self.scores[competitor.entry]

    def points(self, cut_off: int) -> dict[Entry, tuple[float, float]]:
        """Return expansions per move and quality of all contenders that were never cut and whose moves keep a limit."""
        return {
            entry: (score.expansions_mean.value, score.quality.value)
            for entry, score in self.scores.items()
            if score.quality is not None and score.worst_move <= cut_off
        }

    def curve_ratios(self, competitor: Any, meter: str) -> Floats | None:
        """Return a competitor's ratio to the curve of fixed depths, over all problems and each resampling of them."""
        curve = fixed_curve(list(self.arena.samples.values()))
        return curve_ratios(self.arena, competitor.entry, curve, getattr(self.arena, meter))


def bootstrap(function: Callable[..., Floats], *columns: Floats) -> Estimate | None:
    """Return a function of the means of columns over problems, with its 95 % interval.

    Every call meets the same resampled problems.

    Args:
        function: takes an array of resampled means for each column and returns one value for each resampling.
        *columns: numbers per problem.

    Returns:
        None if a number is infinite, because a run failed.
    """
    together = np.stack(columns, axis=1)
    if not np.isfinite(together).all():
        return None
    means = resampled_sums(together, seed=0) / len(together)
    return estimate(function(*means.T), len(together))


def mean(column: Floats) -> Estimate | None:
    """Return the mean of a column."""
    return bootstrap(lambda m: m, column)


def ratio(above: Floats, below: Floats) -> Estimate | None:
    """Return the mean of one column divided by the mean of another."""
    return bootstrap(lambda a, b: a / b, above, below)


def exactly(value: float) -> Estimate | None:
    """Return a number that is counted, not estimated; None if it is infinite, because a run failed."""
    return Estimate(value, value, value) if isfinite(value) else None


def trend(columns: Iterable[Floats]) -> Estimate | None:
    """Return Spearman's rank correlation of the columns' means with the order of the columns; -1 if they only fall."""
    return bootstrap(spearman, *columns)


def spearman(*means: Floats) -> Floats:
    """Return this correlation for every resampling of the means."""
    ranks = rankdata(np.stack(means, axis=1), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    order = np.arange(len(means)) - (len(means) - 1) / 2
    spread = np.sqrt((ranks**2).sum(axis=1) * (order**2).sum())
    return np.divide(ranks @ order, spread, out=np.zeros(len(ranks)), where=spread > 0)


def score_table(title: str, rows: Runs | Iterable[Row]) -> Table:
    """Return a table with a line for every contender: quality, both averages of expansions per move, failures."""
    return Table(title, _COLUMNS, [_line(score) for score in score_all(rows)])


def _line(score: Score) -> list[str]:
    return [
        score.entry.label + ("" if score.entry.budget == NO_LIMIT else f", {score.entry.budget}"),
        *with_interval(score.quality),
        digits(score.quality_median),
        *with_interval(score.expansions_mean),
        digits(score.expansions_pooled.value),
        f"{score.worst_move:,}",
        score.solved,
    ]


def ratio_table(title: str, rows: Runs | Iterable[Row]) -> Table:
    """Return a table of how many times their expansions the curve of fixed depths needs for the same suboptimality."""
    columns = ["\nagent", "ratio\nmean", "95 %\ninterval", "ratio\npooled", "95 %\ninterval"]
    scores = [score for score in score_all(rows) if score.entry.agent != "lrta"]
    lines = [[one.entry.label, *with_interval(one.ratio_mean), *with_interval(one.ratio_pooled)] for one in scores]
    return Table(f"{title}: ratios to the curve of fixed depths", columns, lines)


def with_interval(ours: Estimate | None) -> list[str]:
    """Return an estimate as two cells of a table: the value and its interval."""
    return ["-", "-"] if ours is None else [digits(ours.value), interval(ours)]
