"""Cross-validation as a part of an experiment: how well a tree predicts the labels of a log, read in a certain way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agents.policies.depth_control import HISTORY
from agents.policies.trees import LEAF, Forest, Policy
from rt_gym.features.history import FEATURES
from training.experiments.label_rules import RULES
from training.experiments.lessons import STATES, Taught, entry_of
from training.learn.fit import Recipe, fit_policy
from training.learn.log import Logging, Samples, collect
from training.learn.select import contend
from training.learn.validate import Quality, cross_validate
from training.runs import Course, Entry, Workers

FOLDS = 10
PAPER = Recipe(labels="class", features="paper")


@dataclass(frozen=True)
class Exam:
    """A log and how it is labelled, for cross-validation; the policy learned from it takes part in the runs.

    Attributes:
        name: its name in tables.
        d_max: the largest depth.
        recipe: how it is learned.
        history: how many steps back the features reach.
        rule: how the log is labelled, a key of ``RULES``.
        walk: the agent that walks while states are logged, the ``"oracle"`` or LRTA* with the ``"deepest"`` lookahead.
        log: the largest depth of that walk where it is not ``d_max``: its states are labelled as if it were.
        by_problem: whether folds keep the states of a problem together.
    """

    name: str
    d_max: int
    recipe: Recipe = PAPER
    history: int = HISTORY
    rule: str = "paper"
    walk: str = "oracle"
    log: int | None = None
    by_problem: bool = True

    @property
    def entry(self) -> Entry:
        """What the rows of its policy's runs begin with."""
        return entry_of("classifier-lrta", self.name)

    def samples(self, courses: tuple[Course, ...], workers: Workers, folder: Path) -> Samples:
        """Return the log as this exam reads it; the states are kept in a folder."""
        depth = self.log or self.d_max
        logging = Logging(depth, self.history, STATES)
        walker = None if self.walk == "oracle" else always(depth, self.history)
        return RULES[self.rule](collect(courses, logging, walker, workers, folder).capped(self.d_max))


def always(depth: int, history: int) -> Policy:
    """Return the policy that always chooses this depth."""
    root, leaf = np.zeros(1, np.int32), np.full(1, LEAF, np.int32)
    tree = Forest(root, leaf, np.zeros(1), leaf, leaf, np.ones((1, 1)))
    return Policy("depth", FEATURES, history, depth, (depth,), 0.5, tree)


@dataclass(frozen=True)
class Sitting:
    """An exam with its samples, as a job for a worker."""

    exam: Exam
    samples: Samples

    @property
    def key(self) -> str:
        """The name of the exam."""
        return self.exam.name


def sit(sitting: Sitting) -> tuple[Quality, Policy]:
    """Cross-validate the samples, then learn from all of them."""
    exam, samples = sitting.exam, sitting.samples
    quality = cross_validate(samples, exam.recipe, FOLDS, exam.by_problem)
    return quality, fit_policy(samples, exam.recipe)


def examine(exams: tuple[Exam, ...], train: tuple[Course, ...], folder: Path, workers: Workers) -> Iterator[Taught]:
    """Hold all exams and yield what came of each, in any order."""
    sittings = [Sitting(exam, exam.samples(train, workers, folder / "samples")) for exam in exams]
    entries = {exam.name: exam.entry for exam in exams}
    for name, (quality, policy) in workers.run(sittings, sit):
        (contender,) = contend([policy], folder / name)
        yield Taught(name, replace(contender, entry=entries[name]), quality)
