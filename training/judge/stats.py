"""Means with their intervals, Pareto fronts, the ratio against a curve, and what learners reach over tasks and seeds.

Intervals are those of ``rt_gym.bootstrap``, over problems, over those of each map, or over maps. All that is estimated
of a comparison is a function of sums.

``scipy.stats.bootstrap`` would fit a single mean or one paired difference, as in ``against``. It resamples for every
statistic anew, though, where a table of twenty contenders has some hundred estimates that here share one resampling,
and a ratio to a curve is a function of all of them. The jackknife of its BCa intervals evaluates a statistic once more
for each of n problems, over the n - 1 others: n * n numbers. And it changes little. For costs with a long tail (a
lognormal of sigma 1.5) both ends of a mean's interval lie 5 % higher with 100 problems, 2 % with 1,000, and less than
0.5 % with 10,000.

A learner that is trained a few times is a sample of what it may become. Agarwal et al. (2021), Deep Reinforcement
Learning at the Edge of the Statistical Precipice, propose two measures: the interquartile mean, and how likely one
learner beats another. Their intervals are from a stratified bootstrap: the seeds of every task are drawn again with
replacement, the tasks stay.
"""

from collections.abc import Sequence

import numpy as np

from rt_gym.bootstrap import RESAMPLINGS, Estimate, Floats, estimate, resampled_sums

__all__ = [
    "RESAMPLINGS",
    "Estimate",
    "Floats",
    "estimate",
    "interquartile_mean",
    "needed",
    "pareto_front",
    "probability_of_improvement",
    "ratio",
    "resampled_sums",
]

_LEAST = 1e-9  # what is left of a suboptimality of exactly one, where its logarithm is needed


def pareto_front(points: list[tuple[float, float]]) -> list[bool]:
    """Return which points no other beats: as good in both coordinates and better in one, less being better."""
    return [not any(_beats(other, point) for other in points) for point in points]


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[0] and one[1] <= other[1] and one != other


def needed(work: Floats, suboptimality: Floats, target: Floats) -> Floats:
    """Return the logarithm of the work that a curve needs for a target, row by row.

    The curve is made monotone first: settings that another beats are left out. Between its points, work and
    suboptimality - 1 are taken to follow a power law. A target worse than the curve's cheapest point needs the work of
    that point; one better than its best point is given the work of that point, which is too little.

    Args:
        work: B x D, what each of the D settings of the curve spends.
        suboptimality: B x D, what it reaches.
        target: B, the suboptimality to be reached.
    """
    order = np.argsort(work, axis=1, kind="stable")
    spent = np.log(np.take_along_axis(work, order, axis=1))
    best = np.minimum.accumulate(np.take_along_axis(suboptimality, order, axis=1), axis=1)
    rows, reachable = np.arange(len(target)), np.maximum(target, best[:, -1])
    after = (best > reachable[:, None]).sum(axis=1)  # the cheapest setting that is good enough
    level = best[rows, np.maximum(after - 1, 0)]
    before = (best > level[:, None]).sum(axis=1)  # the cheapest of those that are nearly
    x, x_after, x_before = (np.log(np.maximum(s - 1, _LEAST)) for s in (reachable, best[rows, after], level))
    gap = x_before - x_after
    share = np.divide(x - x_after, gap, out=np.zeros_like(gap), where=gap > 0).clip(0, 1)
    # The share is exactly 0 at a point of the curve: a policy that is one of its settings scores exactly 1.
    return spent[rows, after] + share * (spent[rows, before] - spent[rows, after])


def ratio(work: Floats, suboptimality: Floats, own_work: Floats, own_suboptimality: Floats) -> Floats:
    """Return how many times its own work a curve needs for a policy's suboptimality, row by row; above 1 is a win."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a policy, or a curve in a file, may do without any work
        return np.exp(needed(work, suboptimality, own_suboptimality) - np.log(own_work))


_QUARTER = 0.25


def interquartile_mean(scores: Sequence[Floats], seed: int = 0) -> Estimate:
    """Return the mean of the middle half of all scores, with its interval.

    Args:
        scores: an array per task, with a score for every seed.
        seed: of the resamplings.
    """
    from scipy.stats import trim_mean  # here, as it takes longer to import than all else of a comparison

    drawn = np.concatenate(_resampled(scores, np.random.default_rng(seed)), axis=1)
    return estimate(trim_mean(drawn, _QUARTER, axis=1), max(map(len, scores)))


def probability_of_improvement(first: Sequence[Floats], second: Sequence[Floats], seed: int = 0) -> Estimate:
    """Return how likely a training of the first learner scores higher than one of the second, on a random task.

    Equal scores count a half.

    Args:
        first: an array per task, with a score for every seed.
        second: the same for the other learner, which may have another number of seeds.
        seed: of the resamplings.
    """
    rng = np.random.default_rng(seed)
    pairs = zip(_resampled(first, rng), _resampled(second, rng), strict=True)
    wins = [(1 + np.sign(one[:, :, None] - other[:, None, :])).mean(axis=(1, 2)) / 2 for one, other in pairs]
    return estimate(np.mean(wins, axis=0), max(map(len, (*first, *second))))


def _resampled(scores: Sequence[Floats], rng: np.random.Generator) -> list[Floats]:
    """Return for every task its scores as they are in the first row, and drawn again in each of the others."""
    return [
        np.concatenate([[task], np.asarray(task)[rng.integers(len(task), size=(RESAMPLINGS, len(task)))]])
        for task in scores
    ]
