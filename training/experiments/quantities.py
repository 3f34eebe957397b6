"""The numbers that claims are about, as data: columns of runs, and what is estimated from them.

A ``Column`` has one number per problem, infinite where the run failed; columns can be added, subtracted, multiplied and
divided. A ``Quantity`` makes one number of them, with its 95 % interval. The arithmetic of all claims is here.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from training.experiments.evidence import CrossValidation, Evidence, Strata, bootstrap, exactly, mean, ratio, spearman
from training.judge import Estimate
from training.judge.stats import Floats
from training.runs import Entry

Parts = Sequence[Evidence]
METERS = ("mean", "pooled")  # averages of work per move: over problems, and of all work over all moves
SPLIT = 3  # nodes of a tree that asks one question


class Competitor(Protocol):
    """Whatever takes part in runs: an ``Entrant``, or a policy that the experiment trains."""

    @property
    def entry(self) -> Entry:
        """What its rows begin with."""


class Numbers(ABC):
    """One number per problem."""

    @abstractmethod
    def values(self, parts: Parts) -> Floats:
        """Return the numbers, infinite or nan where a run failed."""

    def strata(self, parts: Parts) -> Strata | None:
        """Return the map of every problem, see ``strata_of``; None where all problems are one stratum."""
        return None

    def __add__(self, other: "Numbers | float") -> "Numbers":
        return Combined(operator.add, self, other)

    def __sub__(self, other: "Numbers | float") -> "Numbers":
        return Combined(operator.sub, self, other)

    def __mul__(self, other: "Numbers | float") -> "Numbers":
        return Combined(operator.mul, self, other)

    def __truediv__(self, other: "Numbers | float") -> "Numbers":
        return Combined(operator.truediv, self, other)


@dataclass(frozen=True)
class Column(Numbers):
    """A number of every run of a competitor.

    Attributes:
        competitor: whose runs.
        name: what of a ``Row``, its ``Result``, its ``Place`` or its ``Timing``.
        part: of which part of the experiment.
    """

    competitor: Competitor
    name: str
    part: int = 0

    def values(self, parts: Parts) -> Floats:
        """Return this number of every run."""
        return parts[self.part].numbers(self.competitor, self.name)

    def strata(self, parts: Parts) -> Strata:
        """Return the map of every run."""
        return parts[self.part].strata


@dataclass(frozen=True)
class CrossValidated(Numbers):
    """A count of a cross-validation in every problem that was logged.

    Attributes:
        validation: which one.
        counted: ``"states"``, or ``"hits"``: those whose label was predicted.
        part: of which part of the experiment.
    """

    validation: CrossValidation
    counted: str
    part: int = 0

    def values(self, parts: Parts) -> Floats:
        """Return this count of every problem."""
        counts: Floats = getattr(parts[self.part].validations[self.validation.name], self.counted)
        return counts


@dataclass(frozen=True)
class OnMap(Numbers):
    """The numbers of the problems on one map.

    Attributes:
        of: the numbers on all maps.
        map: which map, in the order of the part's.
    """

    of: Numbers
    map: int = 0

    def values(self, parts: Parts) -> Floats:
        """Return the numbers there; all of them where problems are one stratum."""
        values, strata = self.of.values(parts), self.of.strata(parts)
        return values if strata is None else values[strata == self.map]


@dataclass(frozen=True)
class Combined(Numbers):
    """Two columns, or a column and a number, combined problem by problem."""

    combine: Callable[[Any, Any], Any]
    left: Numbers
    right: Numbers | float

    def values(self, parts: Parts) -> Floats:
        """Return both combined."""
        right = self.right.values(parts) if isinstance(self.right, Numbers) else self.right
        with np.errstate(invalid="ignore", divide="ignore"):  # of failed runs, which leave no estimate
            combined = self.combine(self.left.values(parts), right)
        return np.where(np.isinf(right), np.nan, combined)  # else a quotient by a failed run would be 0, and look good

    def strata(self, parts: Parts) -> Strata | None:
        """Return those of the left column."""
        return self.left.strata(parts)


@dataclass(frozen=True)
class Derived(Numbers):
    """A function of columns, problem by problem; infinite where one of them is."""

    function: Callable[..., Floats]
    columns: tuple[Numbers, ...]

    def values(self, parts: Parts) -> Floats:
        """Return the function of every problem's numbers."""
        found = [column.values(parts) for column in self.columns]
        return np.where(np.isfinite(found).all(axis=0), self.function(*found), np.inf)

    def strata(self, parts: Parts) -> Strata | None:
        """Return those of the first column."""
        return self.columns[0].strata(parts)


class Quantity(ABC):
    """One number with its interval."""

    @abstractmethod
    def estimate(self, parts: Parts) -> Estimate | None:
        """Return it, None where a run failed, which leaves no mean."""


@dataclass(frozen=True)
class Mean(Quantity):
    """The mean of a column."""

    of: Numbers

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the mean."""
        return mean(self.of.values(parts), self.of.strata(parts))


@dataclass(frozen=True)
class Ratio(Quantity):
    """The mean of one column over the mean of another."""

    above: Numbers
    below: Numbers

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the ratio."""
        return ratio(self.above.values(parts), self.below.values(parts), self.above.strata(parts))


def work_ratio(above: Competitor, below: Competitor, meter: str = "mean", part: int = 0) -> Quantity:
    """Return the expansions per move of one competitor over those of another, ``"mean"`` or ``"pooled"``."""
    if meter == "mean":
        return Ratio(*(Column(one, "expansions_per_move", part) for one in (above, below)))
    names = ("expansions", "moves")
    return FunctionOfMeans(
        quotient_of_shares, tuple(Column(one, name, part) for one in (above, below) for name in names)
    )


def quotient_of_shares(above: Floats, moves_above: Floats, below: Floats, moves_below: Floats) -> Floats:
    """Return work over moves, divided by that of another."""
    return (above / moves_above) / (below / moves_below)


def _bootstrap(function: Callable[..., Floats], columns: Sequence[Numbers], parts: Parts) -> Estimate | None:
    values = (column.values(parts) for column in columns)
    return bootstrap(function, *values, strata=columns[0].strata(parts))


@dataclass(frozen=True)
class Trend(Quantity):
    """Spearman's rank correlation of the columns' means with their order; -1 if they only fall."""

    of: tuple[Numbers, ...]

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the correlation."""
        return _bootstrap(spearman, self.of, parts)


@dataclass(frozen=True)
class FunctionOfMeans(Quantity):
    """A function of the means of columns: it takes an array of resampled means for each, and returns one of values."""

    function: Callable[..., Floats]
    of: tuple[Numbers, ...]

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the function's value."""
        return _bootstrap(self.function, self.of, parts)


@dataclass(frozen=True)
class Largest(Quantity):
    """The largest number of all columns, which is counted and not estimated."""

    of: tuple[Numbers, ...]

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the largest number."""
        return exactly(max(float(column.values(parts).max()) for column in self.of))


@dataclass(frozen=True)
class Counted(Quantity):
    """A number that is counted in the evidence of all parts, and not estimated; an infinite one stands for failure."""

    count: Callable[..., float]

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the count."""
        return exactly(self.count(*parts))


@dataclass(frozen=True)
class CurveRatio(Quantity):
    """The expansions that fixed depths need for the same suboptimality, over a competitor's own.

    Attributes:
        competitor: whose.
        meter: how expansions per move are averaged, ``"mean"`` or ``"pooled"``.
        part: in which part of the experiment.
    """

    competitor: Competitor
    meter: str = "mean"
    part: int = 0

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the ratio."""
        score = parts[self.part].score(self.competitor)
        return score.ratio_mean if self.meter == "mean" else score.ratio_pooled


@dataclass(frozen=True)
class Advantage(Quantity):
    """A competitor's ratio to the curve of fixed depths over that of the best of its rivals, resampled together."""

    competitor: Competitor
    rivals: tuple[Competitor, ...]
    meter: str = "mean"
    part: int = 0

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the quotient of both ratios; rivals without a ratio are left out."""
        evidence = parts[self.part]
        own = evidence.curve_ratios(self.competitor, self.meter)
        others = [evidence.curve_ratios(rival, self.meter) for rival in self.rivals]
        known = [found for found in others if found is not None]
        if own is None or not known:
            return None
        return evidence.arena.estimate(own / max(known, key=lambda found: float(found[0])))


@dataclass(frozen=True)
class FunctionOfRatios(Quantity):
    """A function of competitors' ratios to the curve of fixed depths, which are resampled together.

    Attributes:
        function: takes an array of resampled ratios for each competitor, and returns one of values.
        competitors: whose ratios.
        meter: how expansions per move are averaged, ``"mean"`` or ``"pooled"``.
        part: in which part of the experiment.
    """

    function: Callable[..., Floats]
    competitors: tuple[Competitor, ...]
    meter: str = "mean"
    part: int = 0

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the function's value; None where a competitor has no ratio."""
        evidence = parts[self.part]
        found = [evidence.curve_ratios(competitor, self.meter) for competitor in self.competitors]
        known = [ratios for ratios in found if ratios is not None]
        return evidence.arena.estimate(self.function(*known)) if len(known) == len(found) else None


@dataclass(frozen=True)
class IfGrown(Quantity):
    """A quantity that says nothing where a cross-validated tree is a single leaf.

    Attributes:
        validations: whose trees it speaks of.
        quantity: what is said of them.
        part: in which part of the experiment.
    """

    validations: tuple[CrossValidation, ...]
    quantity: Quantity
    part: int = 0

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the quantity; None if there is a tree of one leaf."""
        sizes = (parts[self.part].validations[one.name].nodes for one in self.validations)
        return self.quantity.estimate(parts) if min(sizes) >= SPLIT else None


@dataclass(frozen=True)
class OnFront(Quantity):
    """How many competitors are on the Pareto front of suboptimality and expansions per move, in every resampling.

    Attributes:
        competitors: who is asked about.
        cut_off: settings with a move of more expansions are left out.
        slack: a rival beats a setting only if it is better in both by this factor.
        meter: how expansions per move are averaged, ``"mean"`` or ``"pooled"``.
        part: in which part of the experiment.
    """

    competitors: tuple[Competitor, ...]
    cut_off: int
    slack: float = 1.0
    meter: str = "mean"
    part: int = 0

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the count, with its interval over resamplings."""
        points = parts[self.part].resampled_points(self.cut_off, self.meter)
        inside = [competitor.entry for competitor in self.competitors if competitor.entry in points]
        if not inside:
            return exactly(0)
        counts = np.sum([self._is_on_front(points, entry) for entry in inside], axis=0)
        return parts[self.part].arena.estimate(counts)

    def _is_on_front(self, points: Mapping[Entry, tuple[Floats, Floats]], entry: Entry) -> NDArray[np.bool_]:
        """Return in which resamplings no other setting beats this one."""
        work, quality = points[entry]
        beaten = np.zeros(work.shape, bool)
        for other, (w, q) in points.items():
            if other != entry:
                beaten |= (w * self.slack <= work) & (q * self.slack <= quality) & ((w != work) | (q != quality))
        return ~beaten


@dataclass(frozen=True)
class Dominating(Quantity):
    """How many rivals need no more expansions per move than a competitor and are as good, in every resampling.

    Attributes:
        competitor: who is compared.
        rivals: with whom; one with a move of more than ``cut_off`` expansions is left out.
        cut_off: see above.
        meter: how expansions per move are averaged, ``"mean"`` or ``"pooled"``.
        part: in which part of the experiment.
    """

    competitor: Competitor
    rivals: tuple[Competitor, ...]
    cut_off: int
    meter: str = "mean"
    part: int = 0

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the count, with its interval over resamplings; all of them if the competitor itself is left out."""
        points = parts[self.part].resampled_points(self.cut_off, self.meter)
        if self.competitor.entry not in points:
            return exactly(len(self.rivals))
        work, quality = points[self.competitor.entry]
        rivals = [points[rival.entry] for rival in self.rivals if rival.entry in points]
        better = [(w <= work) & (q <= quality) for w, q in rivals]
        return parts[self.part].arena.estimate(np.sum(better, axis=0)) if better else exactly(0)
