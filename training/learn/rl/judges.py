"""Judges rate a network on the validation maps.

A network that controls a lookahead is compared with fixed depths, one that thinks or acts with fixed numbers of slices.
"""

from math import inf, log
from pathlib import Path
from typing import NamedTuple, Protocol

from agents.policies.networks import Network
from training.judge import Score, score_all
from training.judge.think import SLICES_TO_BEAT, evaluate, fixed_times
from training.learn.rl.course import Training, problems_of
from training.learn.select import MAX_MOVES, fixed_depths
from training.runs import Allowance, Course, Plan, Workers, enlist_all, run_plan


class Finding(NamedTuple):
    """What a judge found.

    Attributes:
        merit: the larger, the better; minus infinity where a run failed.
        figures: the numbers behind it, None where a run failed.
    """

    merit: float
    figures: list[float | None]

    @property
    def text(self) -> str:
        """The figures in words."""
        return " and ".join("failed" if figure is None else f"{figure:.2f}" for figure in self.figures)


class Judge(Protocol):
    """What rates networks."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the figures are called."""
        ...

    def level(self) -> float:
        """Return the figure of the best rival with a fixed depth or number of slices."""
        ...

    def judge(self, network: Network) -> Finding:
        """Return the merit and the figures of a network."""
        ...


def judge_for(training: Training, courses: tuple[Course, ...], folder: Path, workers: Workers) -> Judge:
    """Return the judge of a training, with the maps on which it judges."""
    if training.decide == "think":
        return TimeJudge(training, courses)
    return RatioJudge(courses, folder, workers)


class RatioJudge:
    """Judges by how many times a network's expansions fixed depths need for its suboptimality, by both meters."""

    names = ("ratio, mean", "ratio, pooled")

    def __init__(self, courses: tuple[Course, ...], folder: Path, workers: Workers) -> None:
        self.courses, self.folder, self.workers = courses, folder, workers

    def level(self) -> float:
        """Return the ratio of fixed depths themselves."""
        return 1.0

    def judge(self, network: Network) -> Finding:
        """Return the ratios; the merit is the mean of their logarithms."""
        score = self.score(network)
        if score.ratio_mean is None or score.ratio_pooled is None:
            return Finding(-inf, [None, None])
        ratios = score.ratio_mean.value, score.ratio_pooled.value
        return Finding(sum(map(log, ratios)) / 2, [*ratios])

    def score(self, network: Network) -> Score:
        """Return the score of a network beside the fixed depths on the same problems, whose runs are kept."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "candidate.npz"
        network.save(file)
        contenders = (*fixed_depths(), *enlist_all([f"policy-lrta:policy={file}"], [Allowance.of(None)]))
        rows, _ = run_plan(Plan(contenders, self.courses, max_moves=MAX_MOVES), self.folder, self.workers)
        return score_all(rows)[-1]


class TimeJudge:
    """Judges by the mean time until the goal is reached, as a multiple of the optimal cost."""

    names = ("time ratio",)

    def __init__(self, training: Training, courses: tuple[Course, ...]) -> None:
        self.problems, self.settings = problems_of(courses), training.thinking

    def level(self) -> float:
        """Return the ratio of the best fixed number of slices."""
        times = fixed_times(SLICES_TO_BEAT, self.problems, **self.settings)
        return min(time.ratio for time in times.values())

    def judge(self, network: Network) -> Finding:
        """Return the ratio of times; less time has more merit."""
        times = evaluate(network.choose, self.problems, **self.settings)
        return Finding(-times.ratio, [times.ratio]) if times.solved.all() else Finding(-inf, [None])
