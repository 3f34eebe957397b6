"""Logs what lookaheads of every depth decide where agents really stand: the samples that depth policies learn from.

By default the oracle walks, so a state is one that the best choice of depths leads to. With a policy that policy walks
and its states are labelled (S. Ross, G. Gordon, D. Bagnell, "A Reduction of Imitation Learning and Structured
Prediction to No-Regret Online Learning", AISTATS 2011, known as DAgger).
"""

import csv
import io
import json
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import agents
from agents.classifier_lrta import ClassifierLRTA
from agents.oracle_lrta import OracleLRTA
from agents.policies.depth_control import HISTORY, DepthControl
from agents.policies.record_depths import make_record
from agents.policies.trees import Policy
from rt_gym import Grid, InputError
from rt_gym.errors import whole
from rt_gym.features.decision import SITUATION
from rt_gym.files import PathLike, atomic_write, read_bytes, shown
from rt_gym.search.distance import exact_distances
from training.runs import Course, Task, Workers
from training.runs.courses import make_problem
from training.runs.sources import source_stamp

KIND, VERSION = "rt_gym.samples", 3
_PER_JOB = 5  # problems; fixed, so that the jobs on disk fit whatever the number of workers
_COLUMNS = ("situation", "label", "action", "rise", "work", "regret", "ties", "problem")


@dataclass(frozen=True)
class Samples:
    """Labelled states, one row each; columns of the matrices belong to the depths 1 to d_max.

    Attributes:
        situation: float32[n, 24], the features, in the order of ``rt_gym.features.decision.SITUATION``.
        label: the smallest depth from which on all depths decide as d_max does.
        action: what a lookahead of each depth does.
        rise: by how much it raises the value of the state, in steps.
        work: its expansions.
        regret: by how much its move is longer than the best one, in steps.
        ties: the moves that are as good as that one, one bit per direction.
        problem: which problem the state is from, for folds that keep problems whole.
        about: settings, seed, maps.
    """

    situation: NDArray[np.float32]
    label: NDArray[np.int64]
    action: NDArray[np.uint8]
    rise: NDArray[np.float32]
    work: NDArray[np.int32]
    regret: NDArray[np.float32]
    ties: NDArray[np.uint8]
    problem: NDArray[np.int32]
    about: dict[str, Any]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def d_max(self) -> int:
        """The largest depth."""
        return self.action.shape[1]

    def __add__(self, other: "Samples") -> "Samples":
        """Return both, concatenated; equal problem numbers stand for one problem."""
        if self.d_max != other.d_max or self.about["history"] != other.about["history"]:
            raise InputError("samples of different d_max or history do not go together")
        joined = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _COLUMNS}
        return Samples(**joined, about=self.about)

    def take(self, rows: NDArray[Any]) -> "Samples":
        """Return some of the rows."""
        return Samples(**{name: getattr(self, name)[rows] for name in _COLUMNS}, about=self.about)

    def capped(self, d_max: int) -> "Samples":
        """Return what would have been labelled in the same states with a smaller largest depth."""
        if not 1 <= d_max <= self.d_max:
            raise InputError(f"these samples know the depths 1 to {self.d_max}, not {d_max}")
        action = self.action[:, :d_max]
        label = settled(action == action[:, -1:])
        cut = {name: getattr(self, name)[:, :d_max] for name in ("action", "rise", "work", "regret", "ties")}
        return replace(self, label=label, **cut, about=self.about | {"d_max": d_max})

    def save(self, path: PathLike) -> None:
        """Write the samples as ``.npz``, or as a table if the name ends in ``.csv``."""
        atomic_write(path, self._table() if str(path).endswith(".csv") else self._archive())

    def _archive(self) -> bytes:
        buffer = io.BytesIO()
        head = {"kind": KIND, "version": VERSION, "features": list(SITUATION), "about": self.about}
        np.savez_compressed(buffer, head=np.array(json.dumps(head)), **{name: getattr(self, name) for name in _COLUMNS})
        return buffer.getvalue()

    def _table(self) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        per_depth = [f"{name}_{d}" for name in ("action", "work") for d in range(1, self.d_max + 1)]
        writer.writerow([*SITUATION, "problem", *per_depth, "label"])
        parts = zip(self.situation, self.problem, self.action, self.work, self.label, strict=True)
        writer.writerows([*map(float, row), p, *actions, *work, label] for row, p, actions, work, label in parts)
        return text.getvalue().encode()


def settled(agrees: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the smallest depth from which on all depths agree with the largest, row by row."""
    differs = ~agrees
    return np.where(differs.any(axis=1), agrees.shape[1] - np.argmax(differs[:, ::-1], axis=1) + 1, 1)


def load_samples(path: PathLike) -> Samples:
    """Read samples that ``Samples.save`` has written as ``.npz``.

    Raises:
        InputError: if the file is not one of ours, of another version, or damaged.
    """
    try:
        with np.load(io.BytesIO(read_bytes(path, 1 << 32)), allow_pickle=False) as archive:
            head = json.loads(str(archive["head"]))
            columns = {name: archive[name] for name in _COLUMNS}
    except InputError:
        raise
    except Exception:  # a damaged archive fails in any way
        raise InputError(f"{shown(path)}: is not a file of samples, or not a whole one") from None
    if not isinstance(head, dict) or head.get("kind") != KIND or head.get("version") != VERSION:
        raise InputError(f"{shown(path)}: is not a file of samples of version {VERSION}")
    if head.get("features") != list(SITUATION):
        raise InputError(f"{shown(path)}: has other features than this version of rt_gym")
    samples = Samples(**columns, about=head["about"])
    if any(len(getattr(samples, name)) != len(samples) for name in _COLUMNS):
        raise InputError(f"{shown(path)}: has columns of different lengths")
    return samples


@dataclass(frozen=True)
class Logging:
    """How to log.

    Attributes:
        d_max: the largest depth.
        history: how many steps back the features reach.
        per_problem: the most states of a problem.
        max_moves: after how many moves a trial ends.
        seed: for random ties of the walking agent.
    """

    d_max: int = 20
    history: int = HISTORY
    per_problem: int = 2000
    max_moves: int = 20_000
    seed: int = 0

    def __post_init__(self) -> None:
        whole("d_max", self.d_max, 1, 100)
        whole("history", self.history, 1, 10_000)
        whole("per_problem", self.per_problem, 1, 10**7)
        whole("max_moves", self.max_moves, 1, 10**9)


@dataclass(frozen=True)
class Job:
    """Some problems of one map; ``first`` is the number of the first of them."""

    grid: Grid
    tasks: tuple[Task, ...]
    first: int
    logging: Logging
    policy: Policy | None
    stamp: str

    @cached_property
    def key(self) -> str:
        """A hash of everything that the samples depend on."""
        walker = None if self.policy is None else [asdict(self.policy) | {"forest": _digest(self.policy)}]
        parts = [self.grid.digest, self.tasks, self.first, asdict(self.logging), walker, self.stamp]
        return sha256(json.dumps(parts, default=repr).encode()).hexdigest()[:32]


def _digest(policy: Policy) -> str:
    return sha256(b"".join(array.tobytes() for array in policy.forest)).hexdigest()


def collect(
    courses: Iterable[Course],
    logging: Logging,
    policy: Policy | None = None,
    workers: Workers | None = None,
    folder: Path | None = None,
    advance: Callable[[int], Any] | None = None,
) -> Samples:
    """Walk all problems and return the samples in the order of the problems, whichever job ends first.

    Args:
        courses: maps with problems.
        logging: how to log.
        policy: the policy that walks; the oracle if None.
        workers: all cores of this machine by default.
        folder: where finished jobs are kept, so that a stopped run can go on; nothing is kept without one.
        advance: called with how many problems are done.
    """
    report = advance or (lambda problems: None)
    jobs = list(_jobs(courses, logging, policy))
    if not jobs:
        raise InputError("there are no problems to log")
    found = {job.key: samples for job in jobs if (samples := _kept(folder, job.key)) is not None}
    report(sum(len(job.tasks) for job in jobs if job.key in found))
    sizes = {job.key: len(job.tasks) for job in jobs}
    with closing((workers or Workers()).run([job for job in jobs if job.key not in found], run_job)) as finished:
        for key, samples in finished:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                samples.save(folder / f"{key}.npz")
            found[key] = samples
            report(sizes[key])
    parts = [found[job.key] for job in jobs]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
    return Samples(**joined, about=asdict(logging) | {"maps": list(dict.fromkeys(job.grid.name for job in jobs))})


def _jobs(courses: Iterable[Course], logging: Logging, policy: Policy | None) -> Iterable[Job]:
    first, stamp = 0, source_stamp("classifier-lrta") + source_stamp("oracle-lrta")  # who drives, and who labels
    for course in courses:
        for begin in range(0, len(course.tasks), _PER_JOB):
            tasks = course.tasks[begin : begin + _PER_JOB]
            yield Job(course.grid, tasks, first, logging, policy, stamp)
            first += len(tasks)


def _kept(folder: Path | None, key: str) -> Samples | None:
    path = None if folder is None else folder / f"{key}.npz"
    try:
        return None if path is None or not path.exists() else load_samples(path)
    except InputError:  # damaged: it is logged again
        return None


def run_job(job: Job) -> Samples:
    """Walk the problems of a job and return their samples."""
    logging = job.logging
    agent: DepthControl = OracleLRTA(logging.d_max) if job.policy is None else ClassifierLRTA(job.policy)
    agent.d_max, agent.history = logging.d_max, logging.history
    parts = [_walk(agent, job, number, task) for number, task in enumerate(job.tasks, job.first)]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
    return Samples(**joined, about=asdict(logging))


def _walk(agent: DepthControl, job: Job, number: int, task: Task) -> dict[str, NDArray[Any]]:
    logging, problem = job.logging, make_problem(job.grid, task, None, ())
    distance = exact_distances(job.grid, task.goal)
    agent.record = record = make_record(logging.per_problem, logging.d_max, distance)
    agents.run(agent, problem, max_moves=logging.max_moves, seed=logging.seed, clock=False)
    rows = int(record.taken)
    return {
        "situation": record.situation[:rows],
        "label": record.label[:rows],
        "action": record.action[:rows, 1:],
        "rise": record.rise[:rows, 1:].astype(np.float32),
        "work": record.work[:rows, 1:].astype(np.int32),
        "regret": record.regret[:rows, 1:].astype(np.float32),
        "ties": record.ties[:rows, 1:],
        "problem": np.full(rows, number, np.int32),
    }
