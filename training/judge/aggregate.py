"""Scores of learners over tasks and seeds, as one number: the interquartile mean, and how likely one beats another.

A learner that is trained a few times is a sample of what it may become. Agarwal et al. (2021), Deep Reinforcement
Learning at the Edge of the Statistical Precipice, propose both measures, with intervals from a stratified bootstrap:
the seeds of every task are drawn again with replacement, the tasks stay.
"""

from collections.abc import Callable, Sequence

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
    return _bootstrapped(lambda drawn: float(trim_mean(np.concatenate(drawn), _QUARTER)), [scores], seed)


def probability_of_improvement(first: Sequence[Floats], second: Sequence[Floats], seed: int = 0) -> Estimate:
    """Return how likely a training of the first learner scores higher than one of the second, on a random task.

    Equal scores count a half.

    Args:
        first: an array per task, with a score for every seed.
        second: the same for the other learner, which may have another number of seeds.
        seed: of the resamplings.
    """
    tasks = len(first)
    return _bootstrapped(lambda drawn: _wins(drawn[:tasks], drawn[tasks:]), [first, second], seed)


def _wins(first: Sequence[Floats], second: Sequence[Floats]) -> float:
    shares = [
        (one[:, None] > other).mean() + (one[:, None] == other).mean() / 2
        for one, other in zip(first, second, strict=True)
    ]
    return float(np.mean(shares))


def _bootstrapped(measure: Callable[[list[Floats]], float], learners: list[Sequence[Floats]], seed: int) -> Estimate:
    """Return a measure of the scores of all learners and tasks, with its interval over resampled seeds."""
    scores = [np.asarray(task, np.float64) for learner in learners for task in learner]
    rng = np.random.default_rng(seed)
    drawn = ([rng.choice(task, task.size) for task in scores] for _ in range(RESAMPLINGS))
    values = np.array([measure(scores), *map(measure, drawn)])
    return estimate(values, max(task.size for task in scores))
