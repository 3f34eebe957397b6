"""Train a depth policy from nothing: log, learn, let it walk and learn from that, choose on validation maps, judge.

What is chosen (the price of work, the threshold to act) is chosen on validation maps only; test maps are seen once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any

from agents.policies.trees import Policy
from rt_gym import InputError
from training.judge import Score, score_all
from training.learn.fit import Recipe, act_from, fit_policy
from training.learn.log import Logging, Samples, collect
from training.runs import Allowance, Contender, Course, Plan, Workers, enlist_all, run_plan

STATES = 400  # how many states of a problem are labelled when a policy walks
CURVE = "1,2,3,4,5,6,8,10,12,14,16,20,26"  # the depths of the curve that policies are measured by
RULES = ("rule-lrta:rule=update,revisit,settle:d_max=10", "rule-lrta:rule=update,revisit,settle:d_max=20")
PRICES = (0.0005, 0.001, 0.002, 0.004)
THRESHOLDS = (0.5, 0.7, 0.9)
MAX_MOVES = 1_000_000

OnProgress = Callable[[float, str], Any]


@dataclass(frozen=True)
class School:
    """Where and how policies are trained.

    Attributes:
        train, validation: maps with problems, disjoint.
        logging: how states are logged.
        dagger: how many rounds of labelling the states that its own policy visits.
        workers: what runs the jobs.
        folder: where jobs and candidates are kept.
    """

    train: tuple[Course, ...]
    validation: tuple[Course, ...]
    logging: Logging
    dagger: int
    workers: Workers
    folder: Path


@dataclass(frozen=True)
class Candidate:
    """A policy with how it was made and what it is worth on the validation maps."""

    recipe: Recipe
    policy: Policy
    samples: Samples
    score: Score | None = None

    @property
    def merit(self) -> float:
        """The mean of the logarithms of both ratios; a candidate whose runs failed has none."""
        if self.score is None or self.score.ratio_mean is None or self.score.ratio_pooled is None:
            return float("-inf")
        return 0.5 * (log(self.score.ratio_mean.value) + log(self.score.ratio_pooled.value))


def train(school: School, recipe: Recipe, on_progress: OnProgress) -> Candidate:
    """Learn from the oracle's states, then from those of the policy itself."""
    jobs = school.folder / "samples"
    on_progress(0, "the oracle walks")
    samples = collect(school.train, school.logging, None, school.workers, jobs)
    policy = fit_policy(samples, recipe)
    for number in range(school.dagger):
        on_progress(1, f"its own states, round {number + 1} of {school.dagger}")
        logging = replace(school.logging, per_problem=min(STATES, school.logging.per_problem))
        samples += collect(school.train, logging, policy, school.workers, jobs)
        policy = fit_policy(samples, recipe)
    return Candidate(recipe, policy, samples)


def candidates(recipe: Recipe, price: float | None, threshold: float | None) -> list[Recipe]:
    """Return the recipes among which validation chooses: with the prices or thresholds that are not given."""
    prices = [price] if price is not None else PRICES if recipe.labels == "cost" else [recipe.price]
    found = [replace(recipe, price=one) for one in prices]
    if recipe.decide == "depth":
        return found
    if recipe.labels == "cost":
        return [replace(one, threshold=threshold or 0.0) for one in found]
    thresholds = [threshold] if threshold is not None else THRESHOLDS
    return [replace(one, threshold=value) for one in found for value in thresholds]


def choose(school: School, recipes: Sequence[Recipe], on_progress: OnProgress) -> list[Candidate]:
    """Train every recipe, judge all of them on the validation maps and return them, the best first.

    Raises:
        InputError: if no candidate reaches all goals.
    """
    made = list(_trained(school, recipes, on_progress))
    if len(made) == 1:
        return made
    on_progress(1, "choosing on the validation maps")
    scores = judge([one.policy for one in made], school.validation, school.workers, school.folder / "validation")
    judged = [replace(one, score=score) for one, score in zip(made, scores[-len(made) :], strict=True)]
    ranked = sorted(judged, key=lambda one: -one.merit)
    if ranked[0].merit == float("-inf"):
        raise InputError("no candidate reached every goal of the validation maps within the move cap")
    return ranked


def _trained(school: School, recipes: Sequence[Recipe], on_progress: OnProgress) -> Iterator[Candidate]:
    """Train recipes; those that differ only in the threshold share all but the last step."""
    former: Candidate | None = None
    for recipe in recipes:
        if former is not None and replace(recipe, threshold=former.recipe.threshold) == former.recipe:
            policy = replace(former.policy, threshold=act_from(recipe))
            former = Candidate(recipe, policy, former.samples)
        else:
            former = train(school, recipe, on_progress)
        yield former


def judge(policies: Sequence[Policy], courses: Sequence[Course], workers: Workers, folder: Path) -> list[Score]:
    """Return the scores of the fixed depths, then of the policies, on the same problems."""
    plan = Plan((*fixed_depths(), *contend(policies, folder)), tuple(courses), max_moves=MAX_MOVES)
    rows, _ = run_plan(plan, folder, workers)
    return score_all(rows)


def fixed_depths() -> list[Contender]:
    """Return LRTA* with the fixed depths of the curve."""
    return enlist_all([f"lrta:depth={CURVE}"], [Allowance.of(None)])


def contend(policies: Sequence[Policy], folder: Path) -> list[Contender]:
    """Return policies as contenders; they are written to a folder, as workers read files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"policy-{number}.json" for number in range(1, len(policies) + 1)]
    for policy, file in zip(policies, files, strict=True):
        policy.save(file)
    return enlist_all([f"classifier-lrta:policy={file}" for file in files], [Allowance.of(None)])


def opponents(d_max: int) -> list[Contender]:
    """Return what every policy is compared with: the hand-made rules and the oracle."""
    return enlist_all([*RULES, f"oracle-lrta:d_max={d_max}"], [Allowance.of(None)])
