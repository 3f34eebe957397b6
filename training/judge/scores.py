"""From rows to what tables, plots and recommendations show: one score per contender.

Failures are counted and never dropped. A contender with a failed run or with a move beyond its budget has no mean
quality, lies on no front, and is compared with nothing: what a cut run cost so far would look cheap.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from rt_gym import InputError
from training.judge.samples import Sample, collect
from training.judge.stats import Estimate, Floats, estimate, pareto_front, ratio, resampled_sums
from training.runs.rows import Entry, Row

_CURVE = "lrta"  # the agent whose depths make the curve that ratios are against


@dataclass(frozen=True)
class Score:
    """One contender over all problems.

    Expansions per move are given both ways: ``mean`` is per problem, then over problems; ``pooled`` divides all
    expansions by all moves.

    Attributes:
        entry: which contender.
        problems: how many problems there were; failures: outcomes other than the goal, and how often.
        disqualified: whether a move exceeded the budget.
        measure: what the quality is, ``"suboptimality"`` or ``"cost"``; less is better.
        quality: its mean; None where a run failed or the contender is disqualified.
        quality_median: its median, infinite if half of the runs failed.
        expansions_mean, expansions_pooled, scans_pooled: work per move.
        worst_move: the most that one move took, of what the budget counts.
        fronts: the Pareto fronts it lies on, of ``"mean"`` and ``"pooled"`` expansions per move.
        difference: its quality minus that of the baseline, problem by problem; None without a baseline, or where one
            of the two has no mean quality.
        expansions_difference: this difference in expansions per move.
        ratio_mean, ratio_pooled: how many times its expansions the curve of fixed depths needs for its suboptimality;
            None where there is no curve or a run failed.
        beyond_curve: whether it is better than the whole curve, so that the true ratio is even larger.
    """

    entry: Entry
    problems: int
    failures: dict[str, int]
    disqualified: bool
    measure: str
    quality: Estimate | None
    quality_median: float
    expansions_mean: Estimate
    expansions_pooled: Estimate
    scans_pooled: float
    worst_move: int
    fronts: tuple[str, ...] = ()
    difference: Estimate | None = None
    expansions_difference: Estimate | None = None
    ratio_mean: Estimate | None = None
    ratio_pooled: Estimate | None = None
    beyond_curve: bool = False

    @property
    def failed(self) -> int:
        """How many runs did not reach the goal."""
        return sum(self.failures.values())


class Arena:
    """All contenders on the same problems, and the same resamplings of them.

    Args:
        rows: the runs.
        seed: for the resamplings.

    Raises:
        InputError: if the contenders did not meet the same problems.
    """

    def __init__(self, rows: Iterable[Row], seed: int = 0) -> None:
        self.samples = {sample.entry: sample for sample in collect(rows)}
        first = next(iter(self.samples.values()), None)
        if first is None:
            raise InputError("there are no runs to compare")
        if any(sample.places != first.places for sample in self.samples.values()):
            raise InputError("the agents were not run on the same problems")
        self.problems = len(first.rows)
        parts = [self._parts(sample) for sample in self.samples.values()]
        sums = resampled_sums(np.concatenate(parts, axis=1), seed)
        width = parts[0].shape[1]
        cut = {entry: sums[:, k * width : (k + 1) * width] for k, entry in enumerate(self.samples)}
        self.quality = {entry: part[:, 0] / self.problems for entry, part in cut.items()}
        self.mean = {entry: part[:, 1] / self.problems for entry, part in cut.items()}
        self.pooled = {entry: part[:, 2] / np.maximum(part[:, 3], 1) for entry, part in cut.items()}

    @staticmethod
    def _parts(sample: Sample) -> Floats:
        """Return the four columns whose sums everything else follows from."""
        quality = sample.quality if sample.comparable else np.zeros(len(sample.rows))
        return np.stack([quality, sample.expansions_per_move, sample.expansions, sample.moves], axis=1)

    def estimate(self, values: Floats) -> Estimate:
        """Return a value with its interval."""
        return estimate(values, self.problems)

    def differences(self, one: Entry, other: Entry) -> tuple[Estimate, Estimate] | tuple[None, None]:
        """Return the quality and the expansions per move of one minus those of the other; None if a run was cut."""
        if not (self.samples[one].comparable and self.samples[other].comparable):
            return None, None
        parts = self.quality[one] - self.quality[other], self.mean[one] - self.mean[other]
        return self.estimate(parts[0]), self.estimate(parts[1])


def score_all(rows: Iterable[Row], baseline: Mapping[Entry, Entry] | None = None, seed: int = 0) -> list[Score]:
    """Return the score of every contender, in the order of the rows.

    Args:
        rows: the runs, every contender on the same problems.
        baseline: the contender that each one is compared with, see ``choose_baseline``.
        seed: for the resamplings.
    """
    return score_arena(Arena(rows, seed), baseline)


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
    whole = all(sample.comparable and sample.measure == "suboptimality" for sample in found.values())
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
    moves = max(1.0, float(sample.moves.sum()))
    difference, extra = (None, None) if baseline is None else arena.differences(entry, baseline)
    return Score(
        entry=entry,
        problems=arena.problems,
        failures=sample.failures,
        disqualified=sample.disqualified,
        measure=sample.measure,
        quality=arena.estimate(arena.quality[entry]) if sample.comparable else None,
        quality_median=median(sample.quality.tolist()),
        expansions_mean=arena.estimate(arena.mean[entry]),
        expansions_pooled=arena.estimate(arena.pooled[entry]),
        scans_pooled=float(sample.column("scans").sum()) / moves,
        worst_move=sample.worst_move,
        fronts=tuple(name for name, front in fronts.items() if entry in front),
        difference=difference,
        expansions_difference=extra,
        ratio_mean=_ratio(arena, entry, curve, arena.mean),
        ratio_pooled=_ratio(arena, entry, curve, arena.pooled),
        beyond_curve=bool(curve) and sample.comparable and _is_beyond(arena, entry, curve),
    )


def _ratio(arena: Arena, entry: Entry, curve: list[Entry], work: Mapping[Entry, Floats]) -> Estimate | None:
    found = curve_ratios(arena, entry, curve, work)
    return None if found is None else arena.estimate(found)


def curve_ratios(arena: Arena, entry: Entry, curve: list[Entry], work: Mapping[Entry, Floats]) -> Floats | None:
    """Return a contender's ratio to the curve, first over all problems, then over each resampling of them.

    Args:
        arena: all contenders.
        entry: which of them.
        curve: the fixed depths, see ``fixed_curve``.
        work: ``arena.mean`` or ``arena.pooled``.
    """
    if not curve or not arena.samples[entry].comparable:
        return None
    spent = np.stack([work[point] for point in curve], axis=1)
    reached = np.stack([arena.quality[point] for point in curve], axis=1)
    return ratio(spent, reached, work[entry], arena.quality[entry])


def _is_beyond(arena: Arena, entry: Entry, curve: list[Entry]) -> bool:
    return bool(arena.quality[entry][0] < min(arena.quality[point][0] for point in curve))
