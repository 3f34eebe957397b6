"""Policies that an experiment trains before it runs: on maps and problems of their own, with prices chosen apart."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from training.collect import Logging
from training.compare import Contender, Course, Workers
from training.depth import School, candidates, choose, contend
from training.learners import Recipe

_STATES = 1000  # of a problem that are logged


@dataclass(frozen=True)
class Lesson:
    """A policy to be trained.

    Attributes:
        name: what tables call it.
        d_max: the largest depth.
        recipe: how it is learned; a price is chosen on the validation maps where its labels are costs.
        dagger: rounds of labelling its own states.
        history: how many steps back the features reach.
    """

    name: str
    d_max: int
    recipe: Recipe
    dagger: int = 0
    history: int = 20


def teach(
    lessons: tuple[Lesson, ...],
    train: tuple[Course, ...],
    validation: tuple[Course, ...],
    folder: Path,
    workers: Workers,
) -> Iterator[Contender]:
    """Train every policy and yield the contender that follows it."""
    for lesson in lessons:
        home = folder / lesson.name
        logging = Logging(lesson.d_max, lesson.history, _STATES)
        school = School(train, validation, logging, lesson.dagger, workers, home)
        best = choose(school, candidates(lesson.recipe, None, None), lambda amount, text: None)[0]
        (contender,) = contend([best.policy], home)
        named = contender.entry._replace(setting=f"policy={lesson.name}")
        yield replace(contender, entry=named)
