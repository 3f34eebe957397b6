"""What policies of an environment reached on the same problems: their table, their files, and what a page shows of it.

Agents are compared by ``training.judge.findings``. What decides in an environment is no agent: it has neither settings
nor a budget, and it is known by its name alone.
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

from rt_gym import Problem
from rt_gym.evaluation import Walk
from rt_gym.files import atomic_write
from training.judge.stats import Estimate, Floats, estimate, resampled_sums
from training.judge.tables import Table
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
