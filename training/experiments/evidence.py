"""What the claims of an experiment rest on: policies that are trained for it, cross-validations, and what its runs say.

A policy is trained on maps and problems of its own, with prices chosen apart, before anything is run; then it takes
part like any other agent. A cross-validation is of the log that such a policy learns from.

Of the runs there are numbers per problem, and means with intervals. The problems of every map are resampled by
themselves: intervals speak of such problems on these maps.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from agents.policies.depth_control import HISTORY
from agents.policies.trees import LEAF, Forest, Policy
from rt_gym import Grid
from rt_gym.features.history import FEATURES
from rt_gym.kernel_cache import source_closure
from training.judge import Arena, Estimate, Score
from training.judge.scores import curve_ratios, fixed_curve, score_arena, strata_of
from training.judge.stats import Floats, estimate, resampled_sums
from training.learn import TrainingSetup, fit
from training.learn.blocks import BlocksConfig, evolve_genes
from training.learn.evolve import EvolutionConfig, evolve
from training.learn.fit import FOLDS, PredictionQuality, cross_validate, fit_policy
from training.learn.log import Logging, Samples, log_samples
from training.learn.rl import RLConfig, train_network
from training.learn.select import DepthConfig, choose, contenders_of
from training.learn.targets import LABEL_RULES, Recipe
from training.runs import Allowance, Contender, Course, Entry, Runs, Workers, enlist
from training.runs.execution import Store, run_all
from training.runs.jobs import Series, Work
from training.runs.rows import Arrays

STATES = 1000  # of a problem that are logged
PAPERS_RECIPE = Recipe(labels="class", features="paper")
FEW = 100  # problems: with fewer to learn from, those of the smallest size, a network is trained up to its first check
_ROOT = Path(__file__).parents[2]
_UNLIMITED = Allowance.of(None)
_ARRAYS = ("confusion", "hits", "states")  # of what was predicted


def entry_of(agent: str, name: str, allowance: Allowance = _UNLIMITED) -> Entry:
    """Return what the rows of an agent that follows a trained policy begin with; ``name`` is the policy's in tables."""
    return Entry(agent, f"policy={name}", allowance.text, allowance.limit, allowance.count)


def _has_few(setup: TrainingSetup) -> bool:
    return sum(len(course.tasks) for course in setup.train) < FEW


@dataclass(frozen=True)
class TreeTraining:
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
    history: int = HISTORY

    @property
    def entry(self) -> Entry:
        """What the rows of its runs begin with."""
        return entry_of("classifier-lrta", self.name)

    def train(self, setup: TrainingSetup) -> Contender:
        """Return the contender that follows the trained policy."""
        own = replace(setup, folder=setup.folder / self.name)
        config = DepthConfig(self.recipe, Logging(self.d_max, self.history, STATES), self.dagger)
        best = choose(own, config, lambda amount, text: None)[0]
        (contender,) = contenders_of([best.policy], own.folder)
        return contender


@dataclass(frozen=True)
class EvolutionTraining:
    """A network to be evolved.

    Attributes:
        name: its name in tables.
        d_max: the largest depth.
        evolution: how to evolve.
        history: how many steps back the features reach.
    """

    name: str
    d_max: int
    evolution: EvolutionConfig
    history: int = HISTORY

    @property
    def entry(self) -> Entry:
        """What the rows of its runs begin with."""
        return entry_of("policy-lrta", self.name)

    def train(self, setup: TrainingSetup) -> Contender:
        """Return the contender that follows the evolved network; all of them share the runs of fixed depths."""
        file = setup.folder / f"{self.name}.npz"
        config = replace(self.evolution, generations=self.evolution.check) if _has_few(setup) else self.evolution
        evolve(setup, config, self.d_max, self.history, lambda amount, text: None).save(file)
        return enlist("policy-lrta", {"policy": str(file)}, Allowance.of(None))


@dataclass(frozen=True)
class RLTraining:
    """A network to be trained by reinforcement.

    Attributes:
        name: its name in tables.
        config: how to train.
    """

    name: str
    config: RLConfig

    @property
    def d_max(self) -> int:
        """The largest depth."""
        return self.config.d_max

    @property
    def entry(self) -> Entry:
        """What the rows of its runs begin with."""
        return entry_of("policy-lrta", self.name)

    def train(self, setup: TrainingSetup) -> Contender:
        """Return the contender that follows the trained network; all of them share the runs of fixed depths."""
        config = replace(self.config, steps=self.config.every) if _has_few(setup) else self.config
        network, _ = train_network(config, setup)
        file = setup.folder / f"{self.name}.npz"
        network.save(file)
        return enlist("policy-lrta", {"policy": str(file)}, Allowance.of(None))


@dataclass(frozen=True)
class BlocksTraining:
    """Genes to be evolved.

    Attributes:
        name: what they are called in tables.
        config: how to evolve; with the few problems of the smallest size there is one generation.
    """

    name: str
    config: BlocksConfig

    @property
    def entry(self) -> Entry:
        """What the rows of its runs begin with."""
        allowance = Allowance.of(self.config.limit, self.config.count)
        return entry_of("building-block-lrta", self.name, allowance)

    def train(self, setup: TrainingSetup) -> Contender:
        """Return the contender with the evolved genes."""
        few = sum(len(course.tasks) for course in setup.train) < self.config.population
        config = replace(self.config, generations=1) if few else self.config
        best = evolve_genes(setup, config, lambda amount, text: None)[0]
        vision = setup.train[0].vision
        file = setup.folder / f"{self.name}-{config.limit}-{config.count}-{'known' if vision is None else vision}.json"
        best.genes.save(file, {"training": best.train, "validation": best.validation})
        allowance = Allowance.of(config.limit, config.count)
        return enlist("building-block-lrta", {"policy": str(file)}, allowance)


Training = TreeTraining | EvolutionTraining | RLTraining | BlocksTraining


class Trained(NamedTuple):
    """What came of a training or a cross-validation: the contender, and what was predicted, if it was validated."""

    name: str
    contender: Contender
    quality: PredictionQuality | None = None


def policies_folder(folder: Path, *parts: tuple[Course, ...]) -> Path:
    """Return the folder for the policies of these maps with these problems; others get another folder."""
    content = repr([(course.digest, course.tasks) for courses in parts for course in courses])
    return folder / sha256(content.encode()).hexdigest()[:12]


def train_all(trainings: Sequence[Training], setup: TrainingSetup) -> Iterator[Trained]:
    """Train every policy and yield the contender that follows it."""
    for training in trainings:
        yield Trained(training.name, replace(training.train(setup), entry=training.entry))


@dataclass(frozen=True)
class CrossValidation:
    """A log and how it is labelled, for cross-validation; the policy learned from it takes part in the runs.

    Attributes:
        name: its name in tables.
        d_max: the largest depth.
        recipe: how it is learned.
        history: how many steps back the features reach.
        rule: how the log is labelled, a key of ``LABEL_RULES``.
        walk: the agent that walks while states are logged, the ``"oracle"`` or LRTA* with the ``"deepest"`` lookahead.
        log: the largest depth of that walk where it is not ``d_max``: its states are labelled as if it were.
        by_problem: whether folds keep the states of a problem together.
    """

    name: str
    d_max: int
    recipe: Recipe = PAPERS_RECIPE
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
        """Return the log as it is read here; the states are kept in a folder."""
        depth = self.log or self.d_max
        logging = Logging(depth, self.history, STATES)
        walker = None if self.walk == "oracle" else always(depth, self.history)
        return LABEL_RULES[self.rule](log_samples(courses, logging, walker, workers, folder).capped(self.d_max))


def always(depth: int, history: int) -> Policy:
    """Return the policy that always chooses this depth."""
    root, leaf = np.zeros(1, np.int32), np.full(1, LEAF, np.int32)
    tree = Forest(root, leaf, np.zeros(1), leaf, leaf, np.ones((1, 1)))
    return Policy("depth", FEATURES, history, depth, (depth,), 0.5, tree)


@dataclass(frozen=True)
class Validating(Work[Samples, tuple[PredictionQuality, Policy]]):
    """Cross-validate samples, then learn from all of them."""

    recipe: Recipe
    by_problem: bool
    learners: str = field(default_factory=partial(version, "scikit-learn"))

    @property
    def agents(self) -> tuple[str, ...]:
        """None: no agent walks."""
        return ()

    @property
    def files(self) -> Iterable[Path]:
        """The sources of learning and of whatever they import of ours."""
        return [_ROOT / name for name, _ in source_closure([fit.__file__])]

    def do(self, grid: Grid | None, items: Sequence[Samples]) -> tuple[PredictionQuality, Policy]:
        """Return what was predicted of the samples, and the policy."""
        (samples,) = items
        return cross_validate(samples, self.recipe, FOLDS, self.by_problem), fit_policy(samples, self.recipe)

    def pack(self, result: tuple[PredictionQuality, Policy]) -> Arrays:
        """Return the arrays of both, and all else as a text."""
        quality, policy = (vars(one) for one in result)
        arrays = policy["forest"]._asdict() | {name: quality[name] for name in _ARRAYS}
        plain = [{name: one[name] for name in one if name not in {*_ARRAYS, "forest"}} for one in (quality, policy)]
        return arrays | {"plain": np.frombuffer(json.dumps(plain).encode(), np.uint8)}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> tuple[PredictionQuality, Policy]:
        """Return both; what was a tuple is one again."""
        quality, policy = map(_with_tuples, json.loads(arrays["plain"].tobytes()))
        forest = Forest(**{name: arrays[name] for name in Forest._fields})
        quality |= {name: arrays[name] for name in _ARRAYS}
        return PredictionQuality(**quality), Policy(**policy, forest=forest)


def _with_tuples(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}


def cross_validate_all(
    validations: Sequence[CrossValidation], train: tuple[Course, ...], folder: Path, workers: Workers
) -> Iterator[Trained]:
    """Validate all logs and yield what came of each; what is finished is kept in the folder."""
    series = [
        Series(Validating(one.recipe, one.by_problem), None, (one.samples(train, workers, folder / "samples"),))
        for one in validations
    ]
    for one, ((quality, policy),) in zip(validations, run_all(series, Store(folder), workers), strict=True):
        (contender,) = contenders_of([policy], folder / one.name)
        yield Trained(one.name, replace(contender, entry=one.entry), quality)


Strata = NDArray[np.int64]


class Evidence:
    """The runs of every contender, problem by problem, in the same order for all.

    Args:
        rows: the runs.
        validations: what was found in every cross-validation, by its name.
        grids: the maps, by their names.
    """

    def __init__(
        self,
        rows: Runs,
        validations: Mapping[str, PredictionQuality] | None = None,
        grids: Mapping[str, Grid] | None = None,
    ) -> None:
        self.rows = rows
        self.validations, self.grids = validations or {}, grids or {}
        self._runs = {batch.entry: batch for batch in rows.batches}

    def numbers(self, competitor: Any, name: str) -> Floats:
        """Return a number of every run of a competitor, infinite where the run failed.

        Args:
            competitor: whatever has the ``entry`` of the runs.
            name: what of a ``Row``, its ``Result``, its ``Place`` or its ``Timing``.
        """
        batch = self._runs[competitor.entry]
        return np.where(batch.solved, batch.numbers(name), np.inf)

    @cached_property
    def arena(self) -> Arena:
        """All contenders on the same resampled problems."""
        return Arena(self.rows, stratified=True)

    @cached_property
    def strata(self) -> Strata:
        """The number of every problem's map, see ``strata_of``."""
        return strata_of(self.rows.batches[0].places)

    @cached_property
    def scores(self) -> dict[Entry, Score]:
        """The score of every contender."""
        return {score.entry: score for score in score_arena(self.arena)}

    def score(self, competitor: Any) -> Score:
        """Return the score of a competitor."""
        return self.scores[competitor.entry]

    def by_map(self) -> dict[str, "Evidence"]:
        """Return the evidence of every map by itself, by the map's name."""
        places = self.rows.batches[0].places
        names = dict.fromkeys(ground.map for ground in places.grounds)
        return {name: Evidence(self.rows.on(places.maps == k), grids=self.grids) for k, name in enumerate(names)}

    def resampled_points(self, cut_off: int, meter: str) -> dict[Entry, tuple[Floats, Floats]]:
        """Return expansions per move and quality, over all problems and each resampling of them.

        Args:
            cut_off: contenders with a move of more expansions are left out, as are those with a run that was cut.
            meter: how expansions per move are averaged, ``"mean"`` or ``"pooled"``.
        """
        work = getattr(self.arena, meter)
        return {
            entry: (work[entry], self.arena.quality[entry])
            for entry, score in self.scores.items()
            if score.quality is not None and score.worst_move <= cut_off
        }

    def curve_ratios(self, competitor: Any, meter: str) -> Floats | None:
        """Return a competitor's ratio to the curve of fixed depths, over all problems and each resampling of them."""
        curve = fixed_curve(list(self.arena.samples.values()))
        return curve_ratios(self.arena, competitor.entry, curve, getattr(self.arena, meter))


def bootstrap(function: Callable[..., Floats], *columns: Floats, strata: Strata | None = None) -> Estimate | None:
    """Return a function of the means of columns over problems, with its 95 % interval.

    Every call meets the same resampled problems.

    Args:
        function: takes an array of resampled means for each column and returns one value for each resampling.
        *columns: numbers per problem.
        strata: the map of every problem.

    Returns:
        None if a number is infinite, because a run failed.
    """
    together = np.stack(columns, axis=1)
    if not np.isfinite(together).all():
        return None
    means = resampled_sums(together, 0, strata) / len(together)
    return estimate(function(*means.T), len(together))


def mean(column: Floats, strata: Strata | None = None) -> Estimate | None:
    """Return the mean of a column."""
    return bootstrap(lambda m: m, column, strata=strata)


def ratio(above: Floats, below: Floats, strata: Strata | None = None) -> Estimate | None:
    """Return the mean of one column divided by the mean of another."""
    return bootstrap(lambda a, b: a / b, above, below, strata=strata)


def exactly(value: float) -> Estimate | None:
    """Return a number that is counted, not estimated; None if it is infinite, because a run failed."""
    return Estimate(value, value, value) if isfinite(value) else None


def spearman(*means: Floats) -> Floats:
    """Return this correlation for every resampling of the means."""
    ranks = rankdata(np.stack(means, axis=1), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    order = np.arange(len(means)) - (len(means) - 1) / 2
    spread = np.sqrt((ranks**2).sum(axis=1) * (order**2).sum())
    return np.divide(ranks @ order, spread, out=np.zeros(len(ranks)), where=spread > 0)
