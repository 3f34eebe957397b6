"""Train a depth policy from nothing: log, learn, let it walk and learn from that, choose on validation maps, judge.

What is chosen (the price of work, the threshold to act) is chosen on validation maps only; test maps are seen once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.policies.trees import Policy
from rt_gym import InputError
from training.judge import Findings, Score, score_all
from training.judge.stats import Floats
from training.learn import OnProgress, Parts, Reporting, TrainingSetup, silent
from training.learn.fit import (
    FOLDS,
    PredictionQuality,
    act_from,
    cross_validate,
    describe_quality,
    fit_policy,
    importances,
    learning_curve,
)
from training.learn.log import Logging, Samples, log_samples
from training.learn.merit import MAX_MOVES, compare, fixed_depths, log_ratios, merit, opponents
from training.learn.targets import Recipe
from training.runs import Allowance, Contender, Course, Plan, Workers, enlist, run_plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES = 400  # how many states of a problem are labelled when a policy walks
PRICES = (0.0005, 0.001, 0.002, 0.004)
THRESHOLDS = (0.5, 0.7, 0.9)


@dataclass(frozen=True)
class DepthConfig:
    """How a depth policy is trained.

    Attributes:
        recipe: how it is learned.
        logging: how states are logged.
        dagger: how many rounds of labelling the states that its own policy visits.
        price, threshold: those of the recipe; chosen on the validation maps where None.
    """

    recipe: Recipe
    logging: Logging
    dagger: int = 0
    price: float | None = None
    threshold: float | None = None

    def recipes(self) -> list[Recipe]:
        """Return the recipes among which validation chooses: with the prices or thresholds that are not given."""
        recipe, price, threshold = self.recipe, self.price, self.threshold
        prices = [price] if price is not None else PRICES if recipe.labels == "cost" else [recipe.price]
        found = [replace(recipe, price=one) for one in prices]
        if recipe.decide == "depth":
            return found
        if recipe.labels == "cost":
            return [replace(one, threshold=threshold or 0.0) for one in found]
        thresholds = [threshold] if threshold is not None else THRESHOLDS
        return [replace(one, threshold=value) for one in found for value in thresholds]


@dataclass(frozen=True)
class Candidate:
    """A policy with how it was made and what it is worth on the validation maps."""

    recipe: Recipe
    policy: Policy
    samples: Samples
    score: Score | None = None

    @property
    def merit(self) -> float:
        """The merit of its ratios; a candidate whose runs failed has none."""
        return merit(log_ratios(self.score))

    @property
    def ratios(self) -> list[float | None] | None:
        """Both ratios, mean and pooled, None where there is none; None if nothing had to be chosen."""
        if self.score is None:
            return None
        parts = self.score.ratio_mean, self.score.ratio_pooled
        return [None if part is None else part.value for part in parts]

    def document(self) -> dict[str, Any]:
        """Return what was chosen by, as JSON takes it."""
        return {"price": self.recipe.price, "threshold": self.recipe.threshold, "validation_ratios": self.ratios}


@dataclass(frozen=True)
class DepthResult:
    """What a training of a depth policy found.

    Attributes:
        candidates: all policies, the best first.
        quality: what the best predicts of samples that it has not learned from.
        importances: by how much its cost rises when a feature is shuffled.
        curve: the learning curve.
        findings: its runs on the test maps, beside fixed depths, rules and the oracle.
        files: what was written.
    """

    candidates: list[Candidate]
    quality: PredictionQuality
    importances: dict[str, float]
    curve: Floats
    findings: Findings
    files: list[Path] = field(default_factory=list)

    @property
    def best(self) -> Candidate:
        """The candidate that was chosen."""
        return self.candidates[0]

    @property
    def policy(self) -> Policy:
        """Its policy."""
        return self.best.policy

    def document(self) -> dict[str, Any]:
        """Return all of it, as JSON takes it."""
        size = {"nodes": self.policy.forest.feature.size, "branch": self.policy.branch}
        return self.findings.document() | {
            "policy": self.policy.about | size,
            "cross_validation": describe_quality(self.quality),
            "importances": self.importances,
            "learning_curve": self.curve.tolist(),
            "candidates": [one.document() for one in self.candidates],
            "files": [str(path) for path in self.files],
        }

    def write(self, folder: Path) -> list[Path]:
        """Write tables and plots into a folder and return where they are."""
        from training.judge.plots import save

        measure = "accuracy" if self.best.recipe.labels == "class" else "mean cost of a decision, in steps"
        figure = draw_training(self.quality.confusion, self.importances, self.curve, measure)
        tables = self.findings.write(folder, {"recipe": self.policy.about["recipe"]})
        return [*tables, save(figure, folder / "training.png")]


def train_depth(
    config: DepthConfig,
    parts: Parts,
    folder: Path,
    workers: Workers,
    reporting: Reporting = silent,
    csv: bool = False,
) -> DepthResult:
    """Train, choose, cross-validate and compare; policy, samples, tables and plots are written into a folder.

    Finished jobs are kept there: the same call goes on where it was stopped.

    Args:
        config: how to train.
        parts: the maps.
        folder: for all that is written; it must exist.
        workers: what runs the jobs.
        reporting: told of the progress.
        csv: whether samples are written as a table, too.

    Raises:
        InputError: if there are too few problems, or no candidate reaches all goals.
    """
    drawn = sum(len(course.tasks) for course in parts.train)
    if drawn < FOLDS:
        raise InputError(f"to cross-validate takes at least {FOLDS} problems on the maps to learn on, not {drawn}")
    setup = TrainingSetup(parts.train, parts.validation, workers, folder)
    with reporting("", (1 + config.dagger) * len(config.recipes()) + 1) as advance:
        ranked = choose(setup, config, lambda amount, text: advance(amount, text))
    best = ranked[0]
    names = ["samples.npz", "samples.csv"] if csv else ["samples.npz"]
    best.policy.save(folder / "policy.json")
    for name in names:
        best.samples.save(folder / name)
    with reporting("cross-validating", 3) as advance:
        quality = cross_validate(best.samples, best.recipe)
        advance(1, "shuffling features")
        weights = importances(best.samples, best.recipe)
        advance(1, "learning from less")
        curve = learning_curve(best.samples, best.recipe)
        advance()
    contenders = (*fixed_depths(), *opponents(best.policy.d_max), *contenders_of([best.policy], folder / "test"))
    findings = compare(contenders, parts.test, folder / "test", workers, reporting)
    result = DepthResult(ranked, quality, weights, curve, findings)
    return replace(result, files=[folder / "policy.json", folder / names[0], *result.write(folder)])


def choose(setup: TrainingSetup, config: DepthConfig, on_progress: OnProgress) -> list[Candidate]:
    """Train every recipe, judge all of them on the validation maps and return them, the best first.

    Raises:
        InputError: if no candidate reaches all goals.
    """
    made = list(_trained(setup, config, on_progress))
    if len(made) == 1:
        return made
    on_progress(1, "choosing on the validation maps")
    scores = score_policies([one.policy for one in made], setup.validation, setup.workers, setup.folder / "validation")
    judged = [replace(one, score=score) for one, score in zip(made, scores[-len(made) :], strict=True)]
    ranked = sorted(judged, key=lambda one: -one.merit)
    if ranked[0].merit == -inf:
        raise InputError("no candidate reached every goal of the validation maps within the move cap")
    return ranked


def _trained(setup: TrainingSetup, config: DepthConfig, on_progress: OnProgress) -> Iterator[Candidate]:
    """Train recipes; those that differ only in the threshold share all but the last step."""
    former: Candidate | None = None
    for recipe in config.recipes():
        if former is not None and replace(recipe, threshold=former.recipe.threshold) == former.recipe:
            policy = replace(former.policy, threshold=act_from(recipe))
            former = Candidate(recipe, policy, former.samples)
        else:
            former = train_recipe(setup, config, recipe, on_progress)
        yield former


def train_recipe(setup: TrainingSetup, config: DepthConfig, recipe: Recipe, on_progress: OnProgress) -> Candidate:
    """Learn from the oracle's states, then from those of the policy itself."""
    kept = setup.folder / "samples"
    on_progress(0, "the oracle walks")
    samples = log_samples(setup.train, config.logging, None, setup.workers, kept)
    policy = fit_policy(samples, recipe)
    own = replace(config.logging, per_problem=min(STATES, config.logging.per_problem))
    for number in range(config.dagger):
        on_progress(1, f"its own states, round {number + 1} of {config.dagger}")
        samples += log_samples(setup.train, own, policy, setup.workers, kept)
        policy = fit_policy(samples, recipe)
    return Candidate(recipe, policy, samples)


def score_policies(
    policies: Sequence[Policy], courses: Sequence[Course], workers: Workers, folder: Path
) -> list[Score]:
    """Return the scores of the fixed depths, then of the policies, on the same problems."""
    plan = Plan((*fixed_depths(), *contenders_of(policies, folder)), tuple(courses), max_moves=MAX_MOVES)
    return score_all(run_plan(plan, folder, workers))


def contenders_of(policies: Sequence[Policy], folder: Path) -> list[Contender]:
    """Return policies as contenders; they are written to a folder, as workers read files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"policy-{number}.json" for number in range(1, len(policies) + 1)]
    for policy, file in zip(policies, files, strict=True):
        policy.save(file)
    return [enlist("classifier-lrta", {"policy": str(file)}, Allowance.of(None)) for file in files]


_SHOWN = 10  # features


def draw_training(confusion: NDArray[np.int64], weights: Mapping[str, float], curve: Floats, measure: str) -> "Figure":
    """Draw the confusion of depths, the importance of features and the learning curve side by side.

    Args:
        confusion: how often a label (row) was predicted as a depth (column).
        weights: what shuffling a feature costs.
        curve: rows of the number of samples and the measure on them and on samples held back.
        measure: what that is.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from training.judge.plots import STYLE

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(15, 4.6), layout="constrained")
        depths, bars, lines = figure.subplots(1, 3)
        _draw_confusion(depths, confusion)
        _draw_weights(bars, weights)
        _draw_curve(lines, curve, measure)
    return figure


def _draw_confusion(axis: Any, counts: NDArray[np.int64]) -> None:
    d_max, accuracy = len(counts), np.trace(counts) / counts.sum()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    image = axis.imshow(shares, origin="lower", extent=(0.5, d_max + 0.5, 0.5, d_max + 0.5), cmap="Blues", vmin=0)
    axis.plot([0.5, d_max + 0.5], [0.5, d_max + 0.5], color="#d55e00", lw=0.8)
    axis.set_title(f"Depths: accuracy {100 * accuracy:.0f} %", loc="left", fontweight="bold")
    axis.set(xlabel="predicted depth", ylabel="label")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.yaxis.get_major_locator().set_params(integer=True)
    axis.grid(False)
    axis.figure.colorbar(image, ax=axis, shrink=0.8).set_label("share of the label")


def _draw_weights(axis: Any, weights: Mapping[str, float]) -> None:
    top = sorted(weights.items(), key=lambda pair: pair[1])[-_SHOWN:]
    axis.barh([name for name, _ in top], [value for _, value in top], color="#0072b2")
    axis.set_title("What it goes by", loc="left", fontweight="bold")
    axis.set(xlabel="mean cost added when shuffled, in steps")


def _draw_curve(axis: Any, curve: Floats, measure: str) -> None:
    axis.plot(curve[:, 0], curve[:, 1], color="#56b4e9", marker="s", label="samples it learned from")
    axis.plot(curve[:, 0], curve[:, 2], color="#0072b2", marker="o", label="problems held back")
    axis.set_title("Learning curve", loc="left", fontweight="bold")
    axis.set(xscale="log", xlabel="samples", ylabel=measure)
    axis.legend(frameon=False)
