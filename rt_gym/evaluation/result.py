"""What came of an evaluation: a row per problem, their summary, and the paired comparison of two.

A run that did not reach its goal has a cost, but no suboptimality: means of suboptimality are over what was solved, and
how many were not is said beside them. What a cut run cost so far would look cheap.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.bootstrap import Estimate, Floats, estimate, resampled_medians, resampled_sums
from rt_gym.errors import InputError, quoted
from rt_gym.evaluation.runs import Columns, Walk
from rt_gym.files import PathLike, atomic_write
from rt_gym.problem import Problem

COLUMNS = (
    "index",
    "map",
    "start",
    "goal",
    "solved",
    "cost",
    "optimal",
    "suboptimality",
    "moves",
    "steps",
    "return",
    "expansions",
    "scans",
    "seconds",
)


@dataclass(frozen=True)
class Summary:
    """The numbers of an evaluation, each with its 95 % bootstrap interval over problems.

    Attributes:
        problems: how many there were.
        unsolved: how many of them did not reach the goal.
        solved: the share that did.
        suboptimality: the mean of those that did, nan where there are none, or where the map changes.
        suboptimality_median: their median.
        cost: the mean cost of those that did.
        episode_return: the mean return, of all.
        moves: the mean number of moves, of all.
        expansions_mean: expansions per move, by problem, and then the mean over problems.
        expansions_pooled: all expansions divided by all moves.
        scans_pooled: all scans divided by all moves.
    """

    problems: int
    unsolved: int
    solved: Estimate
    suboptimality: Estimate
    suboptimality_median: Estimate
    cost: Estimate
    episode_return: Estimate
    moves: Estimate
    expansions_mean: Estimate
    expansions_pooled: Estimate
    scans_pooled: Estimate


@dataclass(frozen=True)
class Comparison:
    """Two evaluations on the same problems: the first minus the second, with paired 95 % bootstrap intervals.

    Attributes:
        problems: how many there were.
        both: how many both solved; only these have a difference of suboptimality.
        only_first: how many only the first solved.
        only_second: how many only the second solved.
        better: on how many of those that both solved the first had the lower cost.
        worse: on how many the higher one.
        solved: the difference of the shares solved.
        suboptimality: the mean difference, of those that both solved.
        episode_return: the mean difference of returns, of all.
        expansions_per_move: the mean difference of expansions per move, of all.
    """

    problems: int
    both: int
    only_first: int
    only_second: int
    better: int
    worse: int
    solved: Estimate
    suboptimality: Estimate
    episode_return: Estimate
    expansions_per_move: Estimate

    def __str__(self) -> str:
        """Return the comparison as a table."""
        lines = [
            (
                "solved",
                f"{_percent(self.solved)} ({self.only_first} only by the first, {self.only_second} by the other)",
            ),
            ("suboptimality", f"{_shown(self.suboptimality)} on {self.both} that both solved"),
            (
                "cost",
                f"lower on {self.better}, higher on {self.worse}, equal on {self.both - self.better - self.worse}",
            ),
            ("return", _shown(self.episode_return)),
            ("expansions per move", _shown(self.expansions_per_move)),
        ]
        return "\n".join([f"difference on {self.problems} problems", *(f"  {name:<20} {text}" for name, text in lines)])


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a policy reached on problems, one row for each, in their order.

    Attributes:
        env_id: the environment.
        policy: what tables call the policy.
        split: the name of the split, "" for a list of problems.
        max_moves: after how many moves, or ticks of a squad, an episode was cut.
        problems: the problems.
        columns: arrays by name, see ``COLUMNS``; those of the problems themselves are made from ``problems``.
        seconds: how long all of it took.
        settings: what else was given to the environment.
        walks: the first steps of every episode, if that was asked for.
    """

    env_id: str
    policy: str
    split: str
    max_moves: int
    problems: tuple[Problem, ...] = field(repr=False)
    columns: Columns = field(repr=False)
    seconds: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    walks: tuple[Walk, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        """Return how many problems there are."""
        return len(self.problems)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column."""
        if name not in self.columns:
            raise InputError(f"there is no column {quoted(name)}; there are {', '.join(self.columns)}")
        return self.columns[name]

    def as_rows(self) -> list[dict[str, Any]]:
        """Return a dict for every problem, by the names of ``COLUMNS``; None for what there is not."""
        places = zip(
            range(len(self)), self.problems, *(self.columns[name].tolist() for name in COLUMNS[4:]), strict=True
        )
        return [
            dict(zip(COLUMNS, (k, one.grid.name, one.start, one.goal, *map(_or_none, rest)), strict=True))
            for k, one, *rest in places
        ]

    def to_csv(self, path: PathLike) -> None:
        """Write the rows to a file; start and goal are two columns each."""
        names = [
            part for name in COLUMNS for part in ((f"{name}_x", f"{name}_y") if name in ("start", "goal") else (name,))
        ]
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(names)
        for row in self.as_rows():
            writer.writerow(
                [part for value in row.values() for part in (value if isinstance(value, tuple) else (value,))]
            )
        atomic_write(path, text.getvalue().encode())

    @cached_property
    def summary(self) -> Summary:
        """The numbers of all problems together."""
        solved, ones = self["solved"].astype(np.float64), np.ones(len(self))
        known, moves = ~np.isnan(self["suboptimality"]), self["moves"].astype(np.float64)
        ratios = {
            "solved": (solved, ones),
            "suboptimality": (np.where(known, self["suboptimality"], 0.0), known.astype(np.float64)),
            "cost": (np.where(self["solved"], self["cost"], 0.0), solved),
            "episode_return": (self["return"], ones),
            "moves": (moves, ones),
            "expansions_mean": (self.expansions_per_move, ones),
            "expansions_pooled": (self["expansions"].astype(np.float64), moves),
            "scans_pooled": (self["scans"].astype(np.float64), moves),
        }
        found: dict[str, Any] = ratio_estimates(ratios)
        median = _estimate(resampled_medians(self["suboptimality"], 0), len(self))
        return Summary(len(self), int((~self["solved"]).sum()), suboptimality_median=median, **found)

    @property
    def expansions_per_move(self) -> Floats:
        """Expansions per move of every problem."""
        per_move: Floats = self["expansions"] / np.maximum(self["moves"], 1)
        return per_move

    def against(self, other: "Evaluation") -> Comparison:
        """Compare with another evaluation, problem by problem.

        Raises:
            InputError: if the other one had other problems, in another order, or another limit of moves.
        """
        self._check_pairs(other)
        both = self["solved"] & other["solved"]
        scored = both & ~np.isnan(self["suboptimality"])
        better, worse = (both & (one["cost"] < two["cost"]) for one, two in ((self, other), (other, self)))
        ones, gap = np.ones(len(self)), self["suboptimality"] - other["suboptimality"]
        ratios = {
            "solved": (self["solved"].astype(np.float64) - other["solved"], ones),
            "suboptimality": (np.where(scored, gap, 0.0), scored.astype(np.float64)),
            "episode_return": (self["return"] - other["return"], ones),
            "expansions_per_move": (self.expansions_per_move - other.expansions_per_move, ones),
        }
        alone = (self["solved"] & ~other["solved"], other["solved"] & ~self["solved"])
        counts: list[Any] = [int(part.sum()) for part in (both, *alone, better, worse)]
        found: dict[str, Any] = ratio_estimates(ratios)
        return Comparison(len(self), *counts, **found)

    def _check_pairs(self, other: Any) -> None:
        if not isinstance(other, Evaluation):
            raise InputError(f"an evaluation is compared with another one, not with {quoted(other)}")
        if list(map(_key, self.problems)) != list(map(_key, other.problems)):
            raise InputError("the two evaluations must have the same problems in the same order, and they do not")
        if self.max_moves != other.max_moves:
            raise InputError(
                f"the two evaluations must have the same limit of moves, not {self.max_moves} and {other.max_moves}"
            )

    def __str__(self) -> str:
        """Return the summary as a table."""
        found, where = self.summary, self.split or "a list of problems"
        solved = found.problems - found.unsolved
        lines = [
            ("solved", f"{solved} of {found.problems}, {_percent(found.solved)}"),
            ("suboptimality", f"{_shown(found.suboptimality)}, of {solved} solved; {found.unsolved} unsolved"),
            ("  median", _shown(found.suboptimality_median)),
            ("moves", _shown(found.moves)),
            ("return", _shown(found.episode_return)),
            ("expansions per move", _shown(found.expansions_mean)),
            ("  pooled", f"{_shown(found.expansions_pooled)}, scans {_shown(found.scans_pooled)}"),
        ]
        title = f"{self.policy} in {self.env_id} on {where}: at most {self.max_moves} moves, {self.seconds:.1f} s"
        return "\n".join([title, *(f"  {name:<20} {text}" for name, text in lines)])


def ratio_estimates(ratios: Mapping[str, tuple[Floats, Floats]]) -> dict[str, Estimate]:
    """Return sums divided by sums, with their intervals over the same resampled problems."""
    sums = resampled_sums(np.stack([column for pair in ratios.values() for column in pair], axis=1), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            name: _estimate(sums[:, 2 * k] / sums[:, 2 * k + 1], len(ratios[name][0])) for k, name in enumerate(ratios)
        }


def _estimate(values: Floats, problems: int) -> Estimate:
    """Return an estimate from the resamplings that have a value: one without any solved problem has none."""
    rest = values[1:][~np.isnan(values[1:])]
    known = np.concatenate([values[:1], rest])
    return estimate(known, problems if rest.size else 0)


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def _key(problem: Problem) -> tuple[Any, ...]:
    return problem.grid.digest, problem.start, problem.goal, problem.vision, problem.changes


def _shown(found: Estimate) -> str:
    return "none" if np.isnan(found.value) else f"{found.value:.4g} ({found.low:.4g} to {found.high:.4g})"


def _percent(found: Estimate) -> str:
    return f"{100 * found.value:.1f} % ({100 * found.low:.1f} to {100 * found.high:.1f})"
