"""What policies of an environment reached on the same problems, and how well those walk that decide every move.

Agents are compared by ``training.judge.findings``. What decides in an environment is no agent: it has neither settings
nor a budget, and it is known by its name alone. First their table, their files, and what a page shows of them.

Then policies of path environments, judged beside chance, rules and agents that search: functions from a batch of
observations and action masks to actions. How well one walks is the share of goals it reaches, and the *weighted* share:
a goal counts as the optimal cost divided by the cost of the walk. Anderson et al. (2018), On Evaluation of Embodied
Navigation Agents, call it SPL, success weighted by path length.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policies.networks import Network
from rt_gym import Evaluation, InputError, Problem, evaluate
from rt_gym.cost import to_float
from rt_gym.evaluation import Walk
from rt_gym.features.image import MOST
from rt_gym.files import atomic_write
from rt_gym.terrain import STEPS
from training.judge.stats import Estimate, Floats, estimate, resampled_sums
from training.judge.tables import Table, digits, interval
from training.runs import Course
from training.runs.jobs import provenance, versions

RECORDED = 1500  # steps of every episode that are kept for replays
NETWORK = "network"  # what the trained one is called


class Walked(NamedTuple):
    """The episodes of a policy as a page replays them, an entry per problem.

    Attributes:
        walks: their first steps, up to ``RECORDED``.
        steps, cost: those of whole episodes; to think or to stand still costs as much as a straight step.
    """

    walks: Sequence[Walk]
    steps: NDArray[np.int64]
    cost: Floats


@dataclass(frozen=True, eq=False)
class PolicyRuns:
    """What one policy reached, an entry per problem.

    Attributes:
        solved: whether the goal was reached.
        quality: how good the run is, less being better; infinite where a failed one has none.
        moves, expansions: how many it took.
        columns: what a row of ``results.csv`` has of it, by names.
        walked: its walks, if they were recorded.
    """

    solved: NDArray[np.bool_]
    quality: Floats
    moves: NDArray[Any]
    expansions: NDArray[Any]
    columns: Mapping[str, NDArray[Any]]
    walked: Walked | None = None

    @property
    def per_move(self) -> Floats:
        """Expansions per move of every problem."""
        found: Floats = self.expansions / np.maximum(self.moves, 1)
        return found

    def on(self, chosen: NDArray[Any]) -> "PolicyRuns":
        """Return what it reached on some problems, without walks."""
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return PolicyRuns(
            self.solved[chosen], self.quality[chosen], self.moves[chosen], self.expansions[chosen], columns
        )

    def estimates(self) -> dict[str, Estimate | None]:
        """Return quality, None if a run has none, and expansions per move, mean and pooled, with their intervals."""
        count, sound = len(self.solved), bool(np.isfinite(self.quality).all())
        columns = [self.quality if sound else np.zeros(count), self.per_move, self.expansions, self.moves]
        quality, mean, work, moves = resampled_sums(np.stack(columns, axis=1).astype(np.float64), seed=0).T
        return {
            "quality": estimate(quality / count, count) if sound else None,
            "mean": estimate(mean / count, count),
            "pooled": estimate(work / np.maximum(moves, 1.0), count),
        }


@dataclass(frozen=True, eq=False)
class PolicyFindings:
    """Policies on the problems of some maps.

    Attributes:
        env: the environment.
        measure: what the quality is called.
        notes: what it and the columns of the table mean.
        courses: the maps and problems.
        problems: the latter as the environment had them, with its sight.
        runs: what every policy reached.
        table: the same for people.
        settings: what was asked for beside these.
        linear: whether qualities are differences rather than ratios, and work may be none, so that axes are linear.
    """

    env: str
    measure: str
    notes: str
    courses: tuple[Course, ...]
    problems: Sequence[Problem]
    runs: Mapping[str, PolicyRuns]
    table: Table
    settings: Mapping[str, Any]
    linear: bool = False

    @property
    def title(self) -> str:
        """What was compared, in a few words."""
        names, count = list(dict.fromkeys(course.name for course in self.courses)), sum(map(_size, self.courses))
        where = names[0] if len(names) == 1 else f"{len(names)} maps"
        return f"{count} problem{'s' * (count > 1)} on {where}, in {self.env}"

    def tables(self) -> list[Table]:
        """Return the one table."""
        return [self.table]

    def ranked(self) -> list[str]:
        """Return the policies that have a mean quality, the best first."""
        means = {name: run.quality.mean() for name, run in self.runs.items()}
        return sorted((name for name in means if np.isfinite(means[name])), key=lambda name: float(means[name]))

    def remarks(self) -> list[str]:
        """Say how the trained network does beside the others."""
        ranked = self.ranked()
        if NETWORK not in ranked:
            return [
                f"The network has no mean {self.measure}: it failed {int((~self.runs[NETWORK].solved).sum())} problems."
            ]
        place, failed = ranked.index(NETWORK) + 1, len(self.runs) - len(ranked)
        best = "the best" if place == 1 else f"number {place}"
        others = f", and {ranked[0]} is the best" if place > 1 else ""
        lost = f"; {failed} others failed a problem" if failed else ""
        return [f"By {self.measure} the network is {best} of {len(ranked)}{others}{lost}."]

    def document(self) -> dict[str, Any]:
        """Return all settings, the seed and the versions, as JSON takes them."""
        maps = [{"map": one.name, "digest": one.digest, "problems": _size(one)} for one in self.courses]
        return {"env": self.env, "policies": list(self.runs), **self.settings, "maps": maps} | {
            **provenance(),
            "versions": versions(),
        }

    def write(self, folder: Path) -> list[Path]:
        """Write settings and results into a folder, and return where they are."""
        files = {
            "settings.json": (json.dumps(self.document(), indent=2, default=str) + "\n").encode(),
            "results.csv": self._results().encode(),
        }
        for name, content in files.items():
            atomic_write(folder / name, content)
        return [folder / name for name in files]

    def _results(self) -> str:
        """Return a CSV file with one line per policy and problem."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = next(iter(self.runs.values())).columns
        writer.writerow(("policy", "map", "problem", "start_x", "start_y", "goal_x", "goal_y", "solved", *columns))
        places = [
            (one.name, number, *task.start, *task.goal) for one in self.courses for number, task in enumerate(one.tasks)
        ]
        for name, run in self.runs.items():
            rows = zip(places, run.solved.tolist(), *(_cells(column) for column in run.columns.values()), strict=True)
            writer.writerows((name, *place, *rest) for place, *rest in rows)
        return text.getvalue()


def _size(course: Course) -> int:
    return len(course.tasks)


def _cells(column: NDArray[Any]) -> Sequence[Any]:
    """Return a column as a table has it: what is not there is empty."""
    return [None if isinstance(value, float) and np.isnan(value) else value for value in column.tolist()]


VISIT = 3.0  # straight steps that a visit weighs in the rule
LIMIT = 100  # expansions per move of the agents that are bounded
BOUNDED, UNBOUNDED = ("lrta", "rtaa", "lss-lrta"), ("astar", "dstar-lite")

Actions = NDArray[np.int64]


class LeastVisited:
    """Walk towards the goal, but rather to where one has seldom been.

    A neighbour costs the step to it, the heuristic from there to the goal, and three straight steps for each of its
    visits. So it is a real-time search with a lookahead of one whose counts of visits stand in for learned values, and
    all that it needs stands in an observation with ``visits=True``. In an open pit the counts rise until it is left.

    Args:
        problems: those of the environment, whose longest side scales its observations.
        window: of the environment, at least 3.
    """

    def __init__(self, problems: Sequence[Problem], window: int) -> None:
        grid = problems[0].grid
        self._steps = np.array(STEPS[: grid.connectivity])
        self._costs = np.array([to_float(int(cost)) for cost in grid.terrain.cost[: grid.connectivity]])
        self._diagonal = 2.0 if grid.connectivity == 4 else self._costs[-1]  # there it takes two steps
        self._side = max(max(problem.grid.width, problem.grid.height) for problem in problems)
        self._around = (window // 2 + self._steps[:, 1]) * window + window // 2 + self._steps[:, 0]
        self._cells = window**2

    def __call__(self, observations: NDArray[np.float32], masks: Any) -> Actions:
        """Return the cheapest of the moves that lead somewhere, the first of several."""
        visits = observations[:, -self._cells :][:, self._around] * MOST
        apart = np.abs(np.rint(observations[:, None, :2] * self._side) - self._steps)
        short, long = np.sort(apart, axis=2).transpose(2, 0, 1)
        worth = self._costs + long + (self._diagonal - 1) * short + VISIT * visits
        return np.where(np.asarray(masks, np.bool_), worth, np.inf).argmin(axis=1)


class Sampled:
    """Follow a network by chance: an action is as likely as its output says.

    Args:
        network: a policy for moves.
        seed: of chance.
    """

    def __init__(self, network: Network, seed: int) -> None:
        self._network, self._rng = network, np.random.default_rng(seed)

    def __call__(self, observations: NDArray[np.float32], masks: Any) -> Actions:
        """Return random actions: the largest of scores with Gumbel noise."""
        scores = self._network.scores(observations)
        scores += self._rng.gumbel(size=scores.shape)
        return np.where(np.asarray(masks, np.bool_), scores, -np.inf).argmax(axis=1)


def weighted(found: Evaluation) -> NDArray[np.float64]:
    """Return for every problem the optimal cost divided by that of the walk, or 0 where the goal was not reached."""
    ratio: NDArray[np.float64] = np.nan_to_num(1.0 / np.maximum(found["suboptimality"], 1.0))
    return ratio


def weighted_share(found: Evaluation) -> Estimate:
    """Return the weighted share of goals that were reached, with its interval over problems."""
    values = weighted(found)
    return estimate(resampled_sums(values[:, None], 0)[:, 0] / len(values), len(values))


def anchors(env: str, problems: Sequence[Problem], **limits: Any) -> dict[str, Evaluation]:
    """Return what chance, the greedy rule and agents that search reach, bounded per move and not.

    Args:
        env: the id of a path environment.
        problems: what to solve.
        limits: ``seed``, ``max_moves`` and ``record`` of ``rt_gym.evaluate``.
    """
    found = {name: evaluate(env, name, problems, **limits) for name in ("random", "greedy")}
    for name in BOUNDED:
        found[f"{name}, {LIMIT} per move"] = evaluate(env, name, problems, budget=LIMIT, **limits)
    return found | {name: evaluate(env, name, problems, budget=None, **limits) for name in UNBOUNDED}


def contest(
    env: str, network: Network, problems: Sequence[Problem], seed: int = 0, max_moves: int | None = None
) -> dict[str, Evaluation]:
    """Return what the anchors, the rule and a network reach; the network also by chance, which ends loops.

    Their walks are recorded.
    """
    settings = network.settings
    limits: dict[str, Any] = {"seed": seed, "max_moves": max_moves, "record": RECORDED}
    own = {
        "the rule": LeastVisited(problems, settings["window"]),
        "network": network.choose,
        "network, sampled": Sampled(network, seed),
    }
    walked = {name: evaluate(env, policy, problems, **limits, **settings) for name, policy in own.items()}
    return anchors(env, problems, **limits) | walked


def walks_table(found: Mapping[str, Evaluation]) -> Table:
    """Return a table with a row for every policy."""
    columns = ["\npolicy", "\nsolved", "weighted\nshare", "95 %\ninterval", "subopt.\nmean", "subopt.\nmedian"]
    return Table(
        "On the test maps", [*columns, "\nmoves", "exp. per move\npooled"], [_row(*one) for one in found.items()]
    )


def _row(name: str, found: Evaluation) -> list[str]:
    summary, share = found.summary, weighted_share(found)
    quality = (summary.suboptimality.value, summary.suboptimality_median.value)
    numbers = (*quality, summary.moves.value, summary.expansions_pooled.value)
    return [
        name,
        f"{summary.problems - summary.unsolved} of {summary.problems}",
        f"{share.value:.3f}",
        interval(share),
        *map(digits, numbers),
    ]


def document(found: Mapping[str, Evaluation]) -> dict[str, Any]:
    """Return what policies reached, as JSON takes it."""
    return {
        name: {
            "problems": one.summary.problems,
            "solved": one.summary.solved.value,
            "weighted": [_number(value) for value in weighted_share(one)],
            "suboptimality": _number(one.summary.suboptimality.value),
            "expansions_per_move": _number(one.summary.expansions_pooled.value),
        }
        for name, one in found.items()
    }


def _lack(found: Evaluation) -> NDArray[np.float64]:
    """Return what the walks lack to shortest ones, those of the same cost nothing."""
    lack: NDArray[np.float64] = 1.0 - weighted(found)
    return np.where(lack > _ROUNDING, lack, 0.0)


_ROUNDING = 1e-9  # of costs that are added up as floats
_NOTES = """\
weighted share: a goal counts as the optimal cost divided by that of the walk, one that was not reached as 0.
1 - weighted share: what a walk lacks to a shortest one; it is the quality of the plots below. subopt.: of the goals
that were reached. exp. per move: of agents that search, all expansions divided by all moves."""
_TOLD = ("optimal", "cost", "suboptimality", "moves", "steps", "return", "expansions", "scans")


def judged(found: Mapping[str, Evaluation], courses: tuple[Course, ...], settings: Mapping[str, Any]) -> PolicyFindings:
    """Return walks on the problems of some maps as files and pages take them."""
    first = next(iter(found.values()))
    runs = {
        name: PolicyRuns(
            one["solved"],
            _lack(one),
            one["moves"],
            one["expansions"],
            {told: one[told] for told in _TOLD},
            Walked(one.walks, one["steps"], one["cost"]) if one.walks else None,
        )
        for name, one in found.items()
    }
    asked = {"max_moves": first.max_moves, **settings}
    return PolicyFindings(
        first.env_id,
        "1 - weighted share",
        _NOTES,
        courses,
        first.problems,
        runs,
        walks_table(found),
        asked,
        linear=True,
    )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def check_window(window: int) -> None:
    """Refuse a window in which not all neighbours can be seen."""
    if window % 2 == 0 or not 3 <= window <= 255:
        raise InputError(f"window must be an odd number from 3 to 255, not {window}")
