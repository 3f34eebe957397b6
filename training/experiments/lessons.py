"""Policies that an experiment trains before it runs: on maps and problems of their own, with prices chosen apart."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from training.learn.evolve import Evolution, evolve
from training.learn.fit import Recipe
from training.learn.log import Logging
from training.learn.rl import Training
from training.learn.rl import train as train_network
from training.learn.select import School, candidates, choose, contend
from training.learn.validate import Quality
from training.runs import Allowance, Contender, Course, Entry, Workers, enlist

STATES = 1000  # of a problem that are logged


def entry_of(agent: str, name: str) -> Entry:
    """Return what the rows of an agent that follows a trained policy begin with; ``name`` is the policy's in tables."""
    unlimited = Allowance.of(None)
    return Entry(agent, f"policy={name}", unlimited.text, unlimited.limit, unlimited.count)


@dataclass(frozen=True)
class Lesson:
    """A policy of trees to be trained.

    Attributes:
        name: its name in tables.
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

    @property
    def entry(self) -> Entry:
        """What the rows of its runs begin with."""
        return entry_of("classifier-lrta", self.name)

    def attend(self, school: School) -> Contender:
        """Return the contender that follows the trained policy."""
        best = choose(school, candidates(self.recipe, None, None), lambda amount, text: None)[0]
        (contender,) = contend([best.policy], school.folder)
        return contender


@dataclass(frozen=True)
class Upbringing:
    """A network to be evolved.

    Attributes:
        name: its name in tables.
        d_max: the largest depth.
        evolution: the settings.
        dagger: always 0, as no states are labelled.
        history: how many steps back the features reach.
    """

    name: str
    d_max: int
    evolution: Evolution
    dagger: int = field(default=0, init=False)
    history: int = 20

    @property
    def entry(self) -> Entry:
        """What the rows of its runs begin with."""
        return entry_of("policy-lrta", self.name)

    def attend(self, school: School) -> Contender:
        """Return the contender that follows the evolved network; all of them share the runs of fixed depths."""
        shared = replace(school, folder=school.folder.parent)
        file = shared.folder / f"{self.name}.npz"
        evolve(shared, self.evolution, lambda amount, text: None).save(file)
        return enlist("policy-lrta", {"policy": str(file)}, Allowance.of(None))


@dataclass(frozen=True)
class Reinforcement:
    """A network to be trained by reinforcement.

    Attributes:
        name: its name in tables.
        training: the settings.
        dagger: always 0, as no states are labelled.
    """

    name: str
    training: Training
    dagger: int = field(default=0, init=False)

    @property
    def d_max(self) -> int:
        """The largest depth."""
        return self.training.d_max

    @property
    def history(self) -> int:
        """How many steps back the features reach."""
        return self.training.history

    @property
    def entry(self) -> Entry:
        """What the rows of its runs begin with."""
        return entry_of("policy-lrta", self.name)

    def attend(self, school: School) -> Contender:
        """Return the contender that follows the trained network; all of them share the runs of fixed depths."""
        shared = school.folder.parent
        network, _ = train_network(self.training, school.train, school.validation, shared, school.workers)
        file = shared / f"{self.name}.npz"
        network.save(file)
        return enlist("policy-lrta", {"policy": str(file)}, Allowance.of(None))


class Taught(NamedTuple):
    """The result of a lesson or an exam: the contender, and its cross-validation, if there was one."""

    name: str
    contender: Contender
    quality: Quality | None = None


def room(folder: Path, *schools: tuple[Course, ...]) -> Path:
    """Return the folder for these maps with these problems; others get another folder."""
    content = repr([(course.digest, course.tasks) for courses in schools for course in courses])
    return folder / sha256(content.encode()).hexdigest()[:12]


def teach(
    lessons: tuple[Lesson | Upbringing | Reinforcement, ...],
    train: tuple[Course, ...],
    validation: tuple[Course, ...],
    folder: Path,
    workers: Workers,
) -> Iterator[Taught]:
    """Train every policy and yield the contender that follows it."""
    for lesson in lessons:
        home = folder / lesson.name
        logging = Logging(lesson.d_max, lesson.history, STATES)
        contender = lesson.attend(School(train, validation, logging, lesson.dagger, workers, home))
        yield Taught(lesson.name, replace(contender, entry=lesson.entry))
