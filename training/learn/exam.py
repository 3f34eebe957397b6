"""What candidates are judged by: problems, what LRTA* of fixed depths reaches on them, and the ratios to that curve.

The runs of a candidate are capped at the longest run of the fixed depths, none of which is cut. A candidate with a cut
run is void: what a cut run cost so far would look cheap.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

import agents
from agents.policies.networks import Network
from agents.policy_lrta import PolicyLRTA
from rt_gym import InputError, Problem
from rt_gym.terrain import h0
from training.judge import score_all
from training.judge.stats import Floats, ratio
from training.learn.select import MAX_MOVES, fixed_depths
from training.runs import Course, Plan, Task, Workers, run_plan


class Exam(NamedTuple):
    """Problems, and what LRTA* of fixed depths reaches there.

    Attributes:
        courses: the maps and problems.
        quality: float64[1, depths], the mean suboptimality of each depth.
        work: float64[2, 1, depths], its expansions per move, mean and pooled.
        cap: the moves of the longest run.
    """

    courses: tuple[Course, ...]
    quality: Floats
    work: Floats
    cap: int

    def merits(self, marks: "Marks | None") -> tuple[float, float]:
        """Return the logarithms of both ratios; of a candidate with a cut run nothing is known but that it failed."""
        if marks is None:
            return -inf, -inf
        own = np.array([marks.quality])
        mean, pooled = (
            float(np.log(ratio(curve, self.quality, np.array([work]), own)[0]))
            for curve, work in zip(self.work, marks[1:], strict=True)
        )
        return mean, pooled


class Marks(NamedTuple):
    """What a candidate reaches: mean suboptimality, and expansions per move by both meters."""

    quality: float
    mean: float
    pooled: float


def set_exam(courses: tuple[Course, ...], workers: Workers, folder: Path) -> Exam:
    """Let LRTA* of fixed depths walk all problems.

    Raises:
        InputError: if one of its runs is cut, which would leave nothing to compare with.
    """
    rows, _ = run_plan(Plan(tuple(fixed_depths()), courses, max_moves=MAX_MOVES), folder, workers)
    scores = score_all(rows)
    if any(score.quality is None for score in scores):
        raise InputError(f"LRTA* of a fixed depth does not reach every goal within {MAX_MOVES} moves on these maps")
    quality = np.array([[score.quality.value for score in scores if score.quality]])
    work = np.array([[[s.expansions_mean.value for s in scores]], [[s.expansions_pooled.value for s in scores]]])
    return Exam(courses, quality, work, max(row.result.moves for row in rows))


@dataclass(frozen=True)
class Walk:
    """One candidate on all problems of some courses."""

    number: int
    network: Network
    courses: tuple[Course, ...]
    cap: int

    @property
    def key(self) -> str:
        """What its marks are known by."""
        return str(self.number)


def walk(job: Walk) -> Marks | None:
    """Return the marks of a candidate, None as soon as a run is cut."""
    agent, marks = PolicyLRTA(job.network), []
    for problem in problems_of(job.courses):
        run = agents.run(agent, problem, max_moves=job.cap, clock=False)
        if not run.solved:
            return None
        marks.append((run.suboptimality, run.expansions_per_move, run.expansions, run.moves))
    quality, mean, expansions, moves = np.array(marks).T
    return Marks(float(quality.mean()), float(mean.mean()), float(expansions.sum() / moves.sum()))


@lru_cache(maxsize=16)
def problems_of(courses: tuple[Course, ...]) -> list[Problem]:
    """Return all problems; in a worker process the tables of their maps are made once."""
    return [course.problem(task) for course in courses for task in course.tasks]


def judge_all(networks: Sequence[Network], exam: Exam, workers: Workers) -> list[tuple[float, float]]:
    """Return the logarithms of both ratios for every network."""
    jobs = [Walk(number, network, exam.courses, exam.cap) for number, network in enumerate(networks)]
    with closing(workers.run(jobs, walk)) as finished:
        marks = dict(finished)
    return [exam.merits(marks[job.key]) for job in jobs]


def select(courses: tuple[Course, ...], problems: int) -> tuple[Course, ...]:
    """Return courses with at most ``problems`` problems in all, equally many of every map.

    The one half are the hardest of a map, by how many times the optimal cost is what the heuristic promises; the other
    half are the first of the rest. Most random problems are easy, and nothing can be learned from them.
    """
    share = max(1, problems // len(courses))
    return tuple(replace(course, tasks=tuple(_selected(course, share))) for course in courses)


def deal(courses: tuple[Course, ...], shares: int) -> list[tuple[Course, ...]]:
    """Return the courses dealt into ``shares`` parts, the problems of every map in turn; no part is empty."""
    count = min(shares, *(len(course.tasks) for course in courses))
    return [tuple(replace(course, tasks=course.tasks[k::count]) for course in courses) for k in range(count)]


def _selected(course: Course, count: int) -> list[Task]:
    grid = course.grid
    promised = [h0(grid.terrain, grid.cell(task.start), grid.cell(task.goal)) for task in course.tasks]
    misled = [task.optimal_cost / max(1, low) for task, low in zip(course.tasks, promised, strict=True)]
    hard = np.argsort(misled, kind="stable")[::-1][: count // 2].tolist()
    rest = [k for k in range(len(course.tasks)) if k not in hard]
    return [course.tasks[k] for k in sorted(hard + rest[: count - len(hard)])]
