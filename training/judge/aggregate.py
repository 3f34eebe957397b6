"""Scores of learners over tasks and seeds, as one number: the interquartile mean, and how likely one beats another.

A learner that is trained a few times is a sample of what it may become. Agarwal et al. (2021), Deep Reinforcement
Learning at the Edge of the Statistical Precipice, propose both measures, with intervals from a stratified bootstrap:
the seeds of every task are drawn again with replacement, the tasks stay.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import trim_mean

from training.judge.stats import RESAMPLINGS, Estimate, Floats, estimate

_QUARTER = 0.25


def interquartile_mean(scores: Sequence[Floats], seed: int = 0) -> Estimate:
    """Return the mean of the middle half of all scores, with its interval.

    Args:
        scores: an array per task, with a score for every seed.
        seed: of the resamplings.
    """
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
