"""What a policy is worth: how many times its expansions LRTA* of fixed depths needs for the same suboptimality.

There are two such ratios, of the expansions per move as a mean over problems and pooled. The merit of a policy is the
mean of their logarithms. A policy with a cut run has none: what a cut run cost so far would look cheap.

Where a policy also chooses the goal, it leaves the curve of fixed depths far behind. There the suboptimality and the
pooled expansions per move themselves count, again by their logarithms: a tenth less work for WORK / (1 - WORK) of a
tenth less suboptimality.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

import agents
from agents.general_lrta import GeneralLRTA
from agents.policies.networks import BOTH, Network
from agents.policy_lrta import PolicyLRTA
from rt_gym import Grid, InputError
from rt_gym import evaluate as evaluate_in
from training.judge import Findings, Score, find, score_all
from training.judge.policies import weighted_share
from training.judge.stats import Floats, ratio
from training.judge.think import SLICES_TO_BEAT, evaluate, fixed_times
from training.learn import Reporting, problems_of, silent
from training.runs import Allowance, Contender, Course, Plan, Task, Workers, enlist, enlist_all, run_plan
from training.runs.courses import make_problem
from training.runs.execution import run_all
from training.runs.jobs import Series, Work

MAX_MOVES = 1_000_000
LONGEST_WALK = 20_000  # moves of a policy for depth and goal, which may go back and forth for good
WORK = 0.4  # the weight of the expansions per move beside the suboptimality
CURVE = "1,2,3,4,5,6,8,10,12,14,16,20,26"  # the depths of the curve that policies are measured by
RULES = ("rule-lrta:rule=update,revisit,settle:d_max=10", "rule-lrta:rule=update,revisit,settle:d_max=20")

STRONGEST = ("tba", "rtaa", "lss-lrta", "lrta-ls-kd")  # better than a fixed depth is not good yet

LogRatios = tuple[float, float]  # the logarithms of the ratios: mean, pooled
FAILED: LogRatios = (-inf, -inf)


def merit(logs: LogRatios, pooled: float = 0.5) -> float:
    """Return what both ratios are worth together; ``pooled`` is the weight of the pooled one, the mean has the rest."""
    return -inf if FAILED[0] in logs else (1 - pooled) * logs[0] + pooled * logs[1]


def log_ratios(score: Score | None) -> LogRatios:
    """Return the logarithms of both ratios of a score."""
    if score is None or score.ratio_mean is None or score.ratio_pooled is None:
        return FAILED
    return log(score.ratio_mean.value), log(score.ratio_pooled.value)


def fixed_depths() -> list[Contender]:
    """Return LRTA* with the fixed depths of the curve."""
    return enlist_all([f"lrta:depth={CURVE}"], [Allowance.of(None)])


def opponents(d_max: int) -> list[Contender]:
    """Return what every policy is compared with: the hand-made rules, the oracle, and agents of the field."""
    return enlist_all([*RULES, f"oracle-lrta:d_max={d_max}", *STRONGEST], [Allowance.of(None)])


def guided_opponents() -> list[Contender]:
    """Return what a policy for depth and goal is compared with: fixed pairs of these, and agents of the field."""
    subgoals = "general-lrta:goal=pdb:subgoal=first:keep=False:guard=False:depth=3,8"
    prepared = ["pdb-lrta", "subgoal-lrta"]
    return enlist_all(["lrta:depth=3,8,16", subgoals, *prepared, *STRONGEST], [Allowance.of(None)])


def compare(
    contenders: Iterable[Contender],
    courses: tuple[Course, ...],
    folder: Path,
    workers: Workers,
    reporting: Reporting = silent,
    max_moves: int = MAX_MOVES,
) -> Findings:
    """Let contenders run on maps that no policy among them has seen, and return what was found."""
    plan = Plan(tuple(contenders), courses, max_moves=max_moves)
    with reporting("running on unseen maps", plan.runs) as advance:
        runs = run_plan(plan, folder, workers, advance)
    return find(plan, runs)


# Networks by the hundred, as evolution judges them


class DepthCurve(NamedTuple):
    """Problems, and what LRTA* of fixed depths reaches there.

    Attributes:
        courses: the maps and problems.
        quality: float64[1, depths], the mean suboptimality of each depth.
        work: float64[2, 1, depths], its expansions per move, mean and pooled.
        max_moves: the moves of the longest run, none of which is cut; candidates may take no more.
    """

    courses: tuple[Course, ...]
    quality: Floats
    work: Floats
    max_moves: int

    def logs(self, runs: Floats) -> LogRatios:
        """Return the logarithms of both ratios of a candidate, of which ``runs`` has a row per problem."""
        return self.log_ratios(average(runs))

    def log_ratios(self, averages: "Averages | None") -> LogRatios:
        """Return the logarithms of both ratios of a candidate; None is one with a cut run."""
        if averages is None:
            return FAILED
        own = np.array([averages.quality])
        mean, pooled = (
            float(np.log(ratio(curve, self.quality, np.array([work]), own)[0]))
            for curve, work in zip(self.work, averages[1:], strict=True)
        )
        return mean, pooled


class Averages(NamedTuple):
    """What a candidate reaches: mean suboptimality, and expansions per move, mean and pooled."""

    quality: float
    mean: float
    pooled: float


class Walks(NamedTuple):
    """Problems for candidates that no fixed depth is a measure for.

    Attributes:
        courses: the maps and problems.
        max_moves: where a run is cut.
    """

    courses: tuple[Course, ...]
    max_moves: int = LONGEST_WALK

    def logs(self, runs: Floats) -> LogRatios:
        """Return minus the logarithms of the mean suboptimality and of the expansions per move, pooled."""
        averages = average(runs)
        return FAILED if averages is None else (-log(averages.quality), -log(averages.pooled))


def measure_curve(courses: tuple[Course, ...], workers: Workers, folder: Path) -> DepthCurve:
    """Let LRTA* of fixed depths walk all problems.

    Raises:
        InputError: if one of its runs is cut, which would leave nothing to compare with.
    """
    runs = run_plan(Plan(tuple(fixed_depths()), courses, max_moves=MAX_MOVES), folder, workers)
    scores = score_all(runs)
    if any(score.quality is None for score in scores):
        raise InputError(f"LRTA* of a fixed depth does not reach every goal within {MAX_MOVES} moves on these maps")
    quality = np.array([[score.quality.value for score in scores if score.quality]])
    work = np.array([[[s.expansions_mean.value for s in scores]], [[s.expansions_pooled.value for s in scores]]])
    return DepthCurve(courses, quality, work, max(row.result.moves for row in runs))


def follower(network: Network) -> PolicyLRTA | GeneralLRTA:
    """Return the agent that follows a network."""
    return GeneralLRTA(policy=network) if network.decide == BOTH else PolicyLRTA(network)


@dataclass(frozen=True)
class NetworkRuns(Work[Network, Floats]):
    """Every candidate on the same problems of one map."""

    tasks: tuple[Task, ...]
    max_moves: int

    @property
    def agents(self) -> tuple[str, ...]:
        """Who follows a network."""
        return "policy-lrta", "general-lrta"

    def do(self, grid: Grid | None, items: Sequence[Network]) -> Floats:
        """Return float64[networks, tasks, 4]: suboptimality, expansions per move, expansions, moves.

        From a cut run on all that follows is not a number: it makes no difference any more.
        """
        assert grid is not None, "problems have a map"
        problems = [make_problem(grid, task, None, ()) for task in self.tasks]
        found = np.full((len(items), len(problems), 4), np.nan)
        for number, network in enumerate(items):
            agent = follower(network)
            for row, problem in zip(found[number], problems, strict=True):
                run = agents.run(agent, problem, max_moves=self.max_moves, clock=False)
                if not run.solved:
                    break
                row[:] = run.suboptimality, run.expansions_per_move, run.expansions, run.moves
        return found


def average(runs: Floats) -> Averages | None:
    """Return the averages of a candidate, of which ``runs`` has a row per problem; None if a run is cut."""
    if np.isnan(runs).any():
        return None
    quality, mean, expansions, moves = np.ascontiguousarray(runs).T
    return Averages(float(quality.mean()), float(mean.mean()), float(expansions.sum() / moves.sum()))


def rate_networks(networks: Sequence[Network], curve: DepthCurve | Walks, workers: Workers) -> list[LogRatios]:
    """Return the logarithms of both figures for every network."""
    series = [Series(NetworkRuns(one.tasks, curve.max_moves), one.grid, tuple(networks)) for one in curve.courses]
    found = np.concatenate([np.concatenate(parts) for parts in run_all(series, workers=workers)], axis=1)
    return [curve.logs(runs) for runs in found]


# One network at a time, as reinforcement learning validates it


class Rating(NamedTuple):
    """What a network is worth on the validation maps.

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


class Validation(Protocol):
    """What rates networks during a training."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the figures are called."""
        ...

    def level(self) -> float:
        """Return the figure of the best opponent with a fixed depth or number of slices."""
        ...

    def rate(self, network: Network) -> Rating:
        """Return the merit and the figures of a network."""
        ...


class RatioValidation:
    """Rates a network that controls a lookahead, by its ratios to fixed depths."""

    names = ("ratio, mean", "ratio, pooled")

    def __init__(self, courses: tuple[Course, ...], folder: Path, workers: Workers) -> None:
        self.courses, self.folder, self.workers = courses, folder, workers

    def level(self) -> float:
        """Return the ratio of fixed depths themselves."""
        return 1.0

    def rate(self, network: Network) -> Rating:
        """Return the ratios, and the merit of both."""
        score = self.score(network)
        ratios = [None if part is None else part.value for part in (score.ratio_mean, score.ratio_pooled)]
        return Rating(merit(log_ratios(score)), [None, None] if None in ratios else [*ratios])

    def score(self, network: Network) -> Score:
        """Return the score of a network beside the fixed depths on the same problems, whose runs are kept."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "candidate.npz"
        network.save(file)
        contenders = (*fixed_depths(), enlist("policy-lrta", {"policy": str(file)}, Allowance.of(None)))
        runs = run_plan(Plan(contenders, self.courses, max_moves=MAX_MOVES), self.folder, self.workers)
        return score_all(runs)[-1]


class TimeValidation:
    """Rates a network that thinks or acts, by the mean time to the goal as a multiple of the optimal cost."""

    names = ("time ratio",)

    def __init__(self, courses: tuple[Course, ...], settings: dict[str, Any]) -> None:
        self.problems, self.settings = problems_of(courses), settings

    def level(self) -> float:
        """Return the ratio of the best fixed number of slices that reaches all goals; infinite if none does."""
        times = fixed_times(SLICES_TO_BEAT, self.problems, **self.settings)
        return min((time.ratio for time in times.values() if time.ratio is not None), default=inf)

    def rate(self, network: Network) -> Rating:
        """Return the ratio of times; less time has more merit."""
        ratio = evaluate(network.choose, self.problems, **self.settings).ratio
        return Rating(-inf if ratio is None else -ratio, [ratio])


class WalkValidation:
    """Rates a network that chooses depth and goal, by its suboptimality and its expansions per move."""

    names = ("suboptimality", "expansions per move, pooled")

    def __init__(self, courses: tuple[Course, ...], workers: Workers, rule: Network) -> None:
        self.walks, self.workers, self.rule = Walks(courses), workers, rule

    def level(self) -> float:
        """Return the suboptimality of the hand rule; infinite if it misses a goal."""
        return exp(-self._logs(self.rule)[0])

    def rate(self, network: Network) -> Rating:
        """Return both figures, and the merit of both; less has more merit."""
        logs = self._logs(network)
        return Rating(merit(logs, WORK), [None, None] if logs == FAILED else [exp(-part) for part in logs])

    def _logs(self, network: Network) -> LogRatios:
        return rate_networks([network], self.walks, self.workers)[0]


class PathValidation:
    """Rates a network that decides every move, by the goals that it reaches and the costs of its walks."""

    names = ("solved", "weighted by path length")

    def __init__(
        self, courses: tuple[Course, ...], env: str, settings: dict[str, Any], max_moves: int | None = None
    ) -> None:
        self.problems, self.env, self.settings, self.max_moves = problems_of(courses), env, settings, max_moves

    def level(self) -> float:
        """Return the share of goals that chance reaches."""
        return float(evaluate_in(self.env, "random", self.problems, max_moves=self.max_moves)["solved"].mean())

    def rate(self, network: Network) -> Rating:
        """Return both shares; their sum is the merit, so that a goal counts beside the way to it."""
        found = evaluate_in(self.env, network.choose, self.problems, max_moves=self.max_moves, **self.settings)
        shares = [float(found["solved"].mean()), weighted_share(found).value]
        return Rating(sum(shares), [*shares])
