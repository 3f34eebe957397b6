"""From runs to what tables, plots and recommendations show: one score per contender.

Failures are counted and never dropped. A contender with a failed run or with a move beyond its budget has no mean
quality, lies on no front, and is compared with nothing: what a cut run cost so far would look cheap.

Intervals are given twice. Those over problems say how sure a number is for such problems on these maps; those over
maps, each with all its problems, say it for such maps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym import InputError
from training.judge.stats import Estimate, Floats, estimate, pareto_front, ratio, resampled_sums
from training.runs.rows import OUTCOMES, Batch, Entry, Places, Row, Runs

SUBOPTIMALITY, COST, TOTAL = "suboptimality", "cost", "total cost"
TAIL = 0.95  # the quantile that is shown beside a mean
_CURVE = "lrta"  # the agent whose depths make the curve that ratios are against


@dataclass(frozen=True, eq=False)
class Sample:
    """All runs of one contender, as numbers per problem; where a problem was run repeatedly, its means over repeats."""

    batch: Batch

    def __post_init__(self) -> None:
        if len(self.batch) % self.batch.places.repeats:
            raise InputError("the problems were not all repeated equally often")

    @property
    def entry(self) -> Entry:
        """Which contender."""
        return self.batch.entry

    @cached_property
    def places(self) -> Places:
        """The problems, each once."""
        return self.batch.places.take(slice(len(self.batch) // self.batch.places.repeats))

    @cached_property
    def failures(self) -> dict[str, int]:
        """Outcomes other than the goal, and how many runs had them."""
        codes, first, counts = np.unique(self.batch.columns["outcome"], return_index=True, return_counts=True)
        found = sorted(zip(first.tolist(), codes.tolist(), counts.tolist(), strict=True))
        return {OUTCOMES[code]: count for _, code, count in found if OUTCOMES[code] != "goal"}

    @cached_property
    def worst_move(self) -> int:
        """The most that one move took, of what the budget counts."""
        return int(self.batch.columns[f"max_{self.entry.counted}"].max())

    @property
    def disqualified(self) -> bool:
        """Whether a move exceeded the budget, or could not be made within it."""
        limit = self.entry.limit
        return "overrun" in self.failures or (limit is not None and self.worst_move > limit)

    @property
    def comparable(self) -> bool:
        """Whether its numbers may be set against those of others: no run failed, no move exceeded the budget."""
        return not self.failures and not self.disqualified

    @cached_property
    def measure(self) -> str:
        """How good a run is, less being better.

        Its ``"suboptimality"``; where the map changes its ``"cost"``; and where trials end with convergence, the
        ``"total cost"`` of all of them, in optimal costs on a map that does not change.
        """
        if any(ground.trials == "converge" for ground in self.places.grounds):
            return TOTAL
        return COST if np.isnan(self.places.optimal).any() else SUBOPTIMALITY

    @cached_property
    def quality(self) -> Floats:
        """The measure of every problem, infinite where a run failed."""
        return self._per_problem(np.where(self.batch.solved, self._measured(), inf))

    def _measured(self) -> Floats:
        if self.measure == SUBOPTIMALITY:
            return self.batch.suboptimality
        cost, optimal = self.batch.columns["cost"], self.batch.places.optimal
        if self.measure == COST:
            return cost / self.batch.columns["trials_run"]
        return cost if np.isnan(optimal).any() else np.divide(cost, optimal, out=np.ones_like(cost), where=optimal > 0)

    @cached_property
    def suboptimality(self) -> Floats:
        """The cost of a trial divided by the optimal cost, infinite where a run failed."""
        return self._per_problem(np.where(self.batch.solved, self.batch.suboptimality, inf))

    @cached_property
    def solved(self) -> NDArray[np.bool_]:
        """Whether all runs of a problem reached the goal."""
        return np.all(self.batch.solved.reshape(self.batch.places.repeats, -1), axis=0)

    def most(self, name: str) -> int:
        """Return the largest of one number of all results."""
        return int(self.batch.columns[name].max(initial=0))

    def column(self, name: str) -> Floats:
        """Return one number of every problem's result."""
        return self._per_problem(self.batch.columns[name].astype(np.float64))

    def _per_problem(self, values: Floats) -> Floats:
        repeats = self.batch.places.repeats
        return values if repeats == 1 else values.reshape(repeats, -1).mean(axis=0)

    @cached_property
    def expansions(self) -> Floats:
        """Expansions of every problem."""
        return self.column("expansions")

    @cached_property
    def moves(self) -> Floats:
        """Moves of every problem."""
        return self.column("moves")

    @cached_property
    def expansions_per_move(self) -> Floats:
        """Expansions per move of every problem, those that failed included."""
        columns = self.batch.columns
        return self._per_problem(columns["expansions"] / np.maximum(columns["moves"], 1))


def collect(runs: Runs | Iterable[Row]) -> list[Sample]:
    """Return a sample of every contender, in the order of their first rows."""
    return [Sample(batch) for batch in Runs.of(runs).batches]


def collect_alike(runs: Runs | Iterable[Row]) -> list[Sample]:
    """Return a sample of every contender.

    Raises:
        InputError: if there are none, or they did not meet the same problems.
    """
    samples = collect(runs)
    if not samples:
        raise InputError("there are no runs to compare")
    if not all(sample.batch.places.same_as(samples[0].batch.places) for sample in samples):
        raise InputError("the agents were not run on the same problems")
    return samples


@dataclass(frozen=True)
class Score:
    """One contender over all problems.

    Expansions per move are given both ways: ``mean`` is per problem, then over problems; ``pooled`` divides all
    expansions by all moves.

    Attributes:
        entry: which contender.
        problems: how many problems there were; failures: outcomes other than the goal, and how often.
        disqualified: whether a move exceeded the budget.
        measure: what the quality is, see ``Sample.measure``; less is better.
        quality: its mean; None where a run failed or the contender is disqualified.
        quality_median: its median, infinite if half of the runs failed; quality_tail: its 95th percentile;
            quality_worst: the worst.
        expansions_mean, expansions_pooled, scans_pooled: work per move.
        worst_move: the most that one move took, of what the budget counts.
        stays: the share of all moves that stood still.
        states, state_bytes: the most states that it held on a problem, and the most bytes.
        fronts: the Pareto fronts it lies on, of ``"mean"`` and ``"pooled"`` expansions per move.
        difference: its quality minus that of the baseline, problem by problem; None without a baseline, or where one
            of the two has no mean quality.
        expansions_difference: this difference in expansions per move.
        ratio_mean, ratio_pooled: how many times its expansions the curve of fixed depths needs for its suboptimality;
            None where there is no curve or a run failed.
        beyond_curve: whether it is better than the whole curve, so that the true ratio is even larger.
        repeats: how often every problem was run.
        by_maps: the same estimates by their names, with intervals over maps; empty where there is one map.
    """

    entry: Entry
    problems: int
    failures: dict[str, int]
    disqualified: bool
    measure: str
    quality: Estimate | None
    quality_median: float
    quality_tail: float
    quality_worst: float
    expansions_mean: Estimate
    expansions_pooled: Estimate
    scans_pooled: float
    worst_move: int
    stays: float = 0.0
    states: int = 0
    state_bytes: int = 0
    fronts: tuple[str, ...] = ()
    difference: Estimate | None = None
    expansions_difference: Estimate | None = None
    ratio_mean: Estimate | None = None
    ratio_pooled: Estimate | None = None
    beyond_curve: bool = False
    repeats: int = 1
    by_maps: dict[str, Estimate] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many runs did not reach the goal."""
        return sum(self.failures.values())

    @property
    def solved(self) -> str:
        """How many of all runs reached the goal, for people."""
        runs = self.problems * self.repeats
        return f"{runs - self.failed}/{runs}"


@dataclass(frozen=True, eq=False)
class Resampled:
    """Means of every contender: first over all problems, then over each resampling.

    Attributes:
        units: how many problems, or maps, were drawn from.
        quality: the mean quality.
        mean, pooled: expansions per move, see ``Score``.
    """

    units: int
    quality: dict[Entry, Floats]
    mean: dict[Entry, Floats]
    pooled: dict[Entry, Floats]

    def estimate(self, values: Floats) -> Estimate:
        """Return a value with its interval."""
        return estimate(values, self.units)


def strata_of(places: Places) -> NDArray[np.int64]:
    """Return the map of every problem where each map has several, else the same stratum for all.

    Resampled map by map, an interval speaks of such problems on these maps. Where every problem has a map of its own,
    the maps are a sample, too.
    """
    maps = places.maps
    return maps if np.bincount(maps).min() > 1 else np.zeros_like(maps)


class Arena:
    """All contenders on the same problems, and the same resamplings of them.

    Args:
        runs: the runs.
        seed: for the resamplings.
        stratified: whether the problems of every map are resampled by themselves, see ``strata_of``.

    Attributes:
        samples: the runs of every contender.
        problems: how many problems there are.
        by_problems: means over resampled problems.
        by_maps: means over resampled maps, each with all its problems; None where there is one map.
        quality, mean, pooled: those of ``by_problems``.

    Raises:
        InputError: if the contenders did not meet the same problems.
    """

    def __init__(self, runs: Runs | Iterable[Row], seed: int = 0, stratified: bool = False) -> None:
        self.samples = {sample.entry: sample for sample in collect_alike(runs)}
        places = next(iter(self.samples.values())).places
        self.problems = len(places)
        parts = np.concatenate([self._parts(sample) for sample in self.samples.values()], axis=1)
        sums = resampled_sums(parts, seed, strata_of(places) if stratified else None)
        self.by_problems = self._resampled(sums, self.problems, self.problems)
        self.by_maps = self._over_maps(parts, places.maps, seed)
        self.quality, self.mean, self.pooled = (
            self.by_problems.quality,
            self.by_problems.mean,
            self.by_problems.pooled,
        )

    @staticmethod
    def _parts(sample: Sample) -> Floats:
        """Return the four columns whose sums everything else follows from."""
        quality = sample.quality if sample.comparable else np.zeros(len(sample.quality))
        return np.stack([quality, sample.expansions_per_move, sample.expansions, sample.moves], axis=1)

    def _over_maps(self, parts: Floats, maps: NDArray[np.int64], seed: int) -> Resampled | None:
        """Resample maps: a sum over problems is the sum over maps of their sums, and so is the number of problems."""
        count = int(maps.max()) + 1
        if count == 1:
            return None
        columns = np.concatenate([parts, np.ones((len(parts), 1))], axis=1)
        sums: Floats = np.stack([np.bincount(maps, column, count) for column in columns.T], axis=1).astype(np.float64)
        drawn = resampled_sums(sums, seed)
        return self._resampled(drawn[:, :-1], drawn[:, -1], count)

    def _resampled(self, sums: Floats, problems: Any, units: int) -> Resampled:
        cut = {entry: sums[:, 4 * k : 4 * k + 4] for k, entry in enumerate(self.samples)}
        return Resampled(
            units,
            {entry: part[:, 0] / problems for entry, part in cut.items()},
            {entry: part[:, 1] / problems for entry, part in cut.items()},
            {entry: part[:, 2] / np.maximum(part[:, 3], 1) for entry, part in cut.items()},
        )

    def estimate(self, values: Floats) -> Estimate:
        """Return a value with its interval over problems."""
        return self.by_problems.estimate(values)

    def differences(self, one: Entry, other: Entry) -> tuple[Estimate, Estimate] | tuple[None, None]:
        """Return the quality and the expansions per move of one minus those of the other; None if a run was cut."""
        if not (self.samples[one].comparable and self.samples[other].comparable):
            return None, None
        return _differences(self.by_problems, one, other)


def _differences(means: Resampled, one: Entry, other: Entry) -> tuple[Estimate, Estimate]:
    parts = means.quality[one] - means.quality[other], means.mean[one] - means.mean[other]
    return means.estimate(parts[0]), means.estimate(parts[1])


def score_all(runs: Runs | Iterable[Row], baseline: Mapping[Entry, Entry] | None = None, seed: int = 0) -> list[Score]:
    """Return the score of every contender, in the order of the runs.

    Args:
        runs: every contender on the same problems.
        baseline: the contender that each one is compared with, see ``choose_baseline``.
        seed: for the resamplings.
    """
    return score_arena(Arena(runs, seed), baseline)


def score_arena(arena: Arena, baseline: Mapping[Entry, Entry] | None = None) -> list[Score]:
    """Return the score of every contender of an arena, in its order; ``baseline`` as in ``score_all``."""
    fronts = {name: _front(arena, work) for name, work in (("mean", arena.mean), ("pooled", arena.pooled))}
    curve = fixed_curve(list(arena.samples.values()))
    return [_score(arena, entry, fronts, (baseline or {}).get(entry), curve) for entry in arena.samples]


def _front(arena: Arena, work: Mapping[Entry, Floats]) -> set[Entry]:
    entries = [entry for entry, sample in arena.samples.items() if sample.comparable]
    points = [(float(work[entry][0]), float(arena.quality[entry][0])) for entry in entries]
    return {entry for entry, best in zip(entries, pareto_front(points), strict=True) if best}


def fixed_curve(samples: Sequence[Sample]) -> list[Entry]:
    """Return the settings of the fixed-depth curve, depth 1 and deeper; none if a run of one of them was cut.

    A depth beyond the budget is no part of it.
    """
    found = {s.entry.setting: s for s in samples if _is_plain(s.entry) and not s.disqualified}
    whole = all(sample.comparable and sample.measure == SUBOPTIMALITY for sample in found.values())
    return [sample.entry for sample in found.values()] if whole and "depth=1" in found and len(found) > 1 else []


def cut_curve_runs(scores: Sequence[Score]) -> int:
    """Return how many runs of the fixed-depth curve failed; with one or more, there are no ratios."""
    return sum(score.failed for score in scores if _is_plain(score.entry) and not score.disqualified)


def _is_plain(entry: Entry) -> bool:
    return entry.agent == _CURVE and entry.setting.startswith("depth=") and ":" not in entry.setting


def _score(
    arena: Arena, entry: Entry, fronts: Mapping[str, set[Entry]], baseline: Entry | None, curve: list[Entry]
) -> Score:
    sample = arena.samples[entry]
    rival = baseline if baseline is None or arena.samples[baseline].comparable else None
    own: dict[str, Any] = _estimates(arena.by_problems, sample, rival, curve)
    return Score(
        entry=entry,
        problems=arena.problems,
        failures=sample.failures,
        disqualified=sample.disqualified,
        measure=sample.measure,
        quality=own.pop("quality", None),
        quality_median=float(np.median(sample.quality)),
        quality_tail=float(np.sort(sample.quality)[ceil(TAIL * (arena.problems - 1))]),
        quality_worst=float(sample.quality.max()),
        scans_pooled=float(sample.column("scans").sum()) / max(1.0, float(sample.moves.sum())),
        worst_move=sample.worst_move,
        stays=float(sample.column("stays").sum()) / max(1.0, float(sample.moves.sum())),
        states=sample.most("memory"),
        state_bytes=sample.most("memory_bytes"),
        fronts=tuple(name for name, front in fronts.items() if entry in front),
        beyond_curve=bool(curve) and sample.comparable and _is_beyond(arena, entry, curve),
        repeats=sample.batch.places.repeats,
        by_maps=_estimates(arena.by_maps, sample, rival, curve) if arena.by_maps else {},
        **own,
    )


def _estimates(means: Resampled, sample: Sample, baseline: Entry | None, curve: list[Entry]) -> dict[str, Estimate]:
    """Return all that is estimated of a contender, by the names of ``Score``; what there is not is left out."""
    entry = sample.entry
    found = {"expansions_mean": means.mean[entry], "expansions_pooled": means.pooled[entry]}
    if sample.comparable:
        found["quality"] = means.quality[entry]
        if baseline is not None:
            found["difference"] = means.quality[entry] - means.quality[baseline]
            found["expansions_difference"] = means.mean[entry] - means.mean[baseline]
        if curve:
            found["ratio_mean"] = _curve_ratios(means, entry, curve, means.mean)
            found["ratio_pooled"] = _curve_ratios(means, entry, curve, means.pooled)
    return {name: means.estimate(values) for name, values in found.items()}


def curve_ratios(arena: Arena, entry: Entry, curve: list[Entry], work: Mapping[Entry, Floats]) -> Floats | None:
    """Return a contender's ratio to the curve, first over all problems, then over each resampling of them.

    Args:
        arena: all contenders.
        entry: which of them.
        curve: the fixed depths, see ``fixed_curve``.
        work: ``arena.mean`` or ``arena.pooled``.

    Returns:
        None where there is no curve or a run failed.
    """
    if not curve or not arena.samples[entry].comparable:
        return None
    return _curve_ratios(arena.by_problems, entry, curve, work)


def _curve_ratios(means: Resampled, entry: Entry, curve: list[Entry], work: Mapping[Entry, Floats]) -> Floats:
    spent = np.stack([work[point] for point in curve], axis=1)
    reached = np.stack([means.quality[point] for point in curve], axis=1)
    return ratio(spent, reached, work[entry], means.quality[entry])


def _is_beyond(arena: Arena, entry: Entry, curve: list[Entry]) -> bool:
    return bool(arena.quality[entry][0] < min(arena.quality[point][0] for point in curve))
