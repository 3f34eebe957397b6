"""Logs what lookaheads of every depth decide where agents really stand: the samples that depth policies learn from.

By default the oracle walks, so a state is one that the best choice of depths leads to. With a policy that policy walks
and its states are labelled (S. Ross, G. Gordon, D. Bagnell, "A Reduction of Imitation Learning and Structured
Prediction to No-Regret Online Learning", AISTATS 2011, known as DAgger).
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
from rt_gym.archive import Shapes, load_archive, save_archive
from rt_gym.errors import MissingLibrary, whole
from rt_gym.features.decision import SITUATION
from rt_gym.files import PathLike, atomic_write, shown
from rt_gym.search.distance import exact_distances
from training.runs import Course, Task, Workers
from training.runs.courses import make_problem
from training.runs.execution import Store, run_all
from training.runs.jobs import Series, Work
from training.runs.rows import Arrays

KIND, VERSION = "file of samples", 4
_LOGGED = ("situation", "label", "action", "rise", "work", "regret", "ties")
_COLUMNS = (*_LOGGED, "problem")
_LAYOUT = {
    "situation": (np.float32, 2),
    "label": (np.int64, 1),
    "action": (np.uint8, 2),
    "rise": (np.float32, 2),
    "work": (np.int32, 2),
    "regret": (np.float32, 2),
    "ties": (np.uint8, 2),
    "problem": (np.int32, 1),
}
_BY_DEPTH = ("action", "rise", "work", "regret", "ties")
_COUNTS = "counts"  # how many rows each problem has


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
        cut = {name: getattr(self, name)[:, :d_max] for name in _BY_DEPTH}
        return replace(self, label=label, **cut, about=self.about | {"d_max": d_max})

    def save(self, path: PathLike) -> None:
        """Write the samples as ``.npz``, or as a table with every column if the name ends in ``.csv``."""
        if str(path).endswith(".csv"):
            atomic_write(path, table_bytes(self.columns()))
            return
        columns = {name: np.ascontiguousarray(getattr(self, name), kind) for name, (kind, _) in _LAYOUT.items()}
        save_archive(path, KIND, VERSION, {"features": list(SITUATION), "about": self.about}, columns)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return every column by its name: features, the problem, what each depth does and takes, and the label.

        Columns of a depth end in its number, such as ``work_3``. Features are in steps and counts, see
        ``rt_gym.features.scaling`` for their other form.
        """
        features = dict(zip(SITUATION, self.situation.T, strict=True))
        by_depth = {f"{name}_{d + 1}": getattr(self, name)[:, d] for name in _BY_DEPTH for d in range(self.d_max)}
        return features | {"problem": self.problem} | by_depth | {"label": self.label}

    def frame(self) -> Any:
        """Return the samples as a DataFrame, with every column of ``columns``.

        Raises:
            MissingLibrary: if pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise MissingLibrary("a DataFrame needs pandas: pip install 'rt_gym[offline]'") from None
        return pandas.DataFrame(self.columns())


def table_bytes(columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Return columns as a table with a line per row, in which every number can be read back as it was."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
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
    file = shown(path)

    def accept(head: dict[str, Any], shapes: Shapes) -> None:
        """Refuse other features, and columns that do not fit together, before they are unpacked."""
        if head.get("features") != list(SITUATION):
            raise InputError(f"{file}: has other features than this version of rt_gym")
        if not isinstance(head.get("about"), dict) or "history" not in head["about"]:
            raise InputError(f"{file}: does not say how it was logged")
        (rows, depths), wide = shapes["action"], {"situation": (len(SITUATION),), "label": (), "problem": ()}
        if any(shape != (rows, *wide.get(name, (depths,))) for name, shape in shapes.items()) or not depths:
            raise InputError(f"{file}: has columns of different lengths")

    head, columns = load_archive(path, KIND, VERSION, _LAYOUT, accept)
    samples = Samples(**columns, about=head["about"])
    if len(samples) and not (samples.label.min() >= 1 and samples.label.max() <= samples.d_max):
        raise InputError(f"{file}: has a label that is none of the depths 1 to {samples.d_max}")
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
class DepthLogging(Work[Task, Arrays]):
    """Walk problems of one map and label the states on the way.

    Attributes:
        logging: how to log.
        policy: the policy that walks; the oracle if None.
    """

    logging: Logging
    policy: Policy | None

    @property
    def agents(self) -> tuple[str, ...]:
        """Who walks, and who labels."""
        return "classifier-lrta", "oracle-lrta"

    def do(self, grid: Grid | None, items: Sequence[Task]) -> Arrays:
        """Return the columns of all tasks, and how many rows each task has."""
        assert grid is not None, "problems have a map"
        agent = OracleLRTA(self.logging.d_max) if self.policy is None else ClassifierLRTA(self.policy)
        parts = [self._walk(agent, grid, task) for task in items]
        counts = np.array([len(part["label"]) for part in parts])
        return {name: np.concatenate([part[name] for part in parts]) for name in _LOGGED} | {_COUNTS: counts}

    def _walk(self, agent: DepthControl, grid: Grid, task: Task) -> Arrays:
        logging = self.logging
        record = make_record(logging.per_problem, logging.d_max, exact_distances(grid, task.goal))
        agent.record_states(record, logging.history)
        problem = make_problem(grid, task, None, ())
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
        }

    def pack(self, result: Arrays) -> Arrays:
        """Return the columns, which are arrays already."""
        return result

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
        """Return the columns; a missing one raises."""
        return {name: arrays[name] for name in (*_LOGGED, _COUNTS)}


def log_samples(
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

    Raises:
        InputError: if there are no problems.
    """
    work = DepthLogging(logging, policy)
    series = [Series(work, course.grid, course.tasks) for course in courses if course.tasks]
    if not series:
        raise InputError("there are no problems to log")
    parts = [part for parts in run_all(series, Store(folder), workers, advance) for part in parts]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in (*_LOGGED, _COUNTS)}
    counts = joined.pop(_COUNTS)
    problem = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
    maps = list(dict.fromkeys(one.grid.name for one in series if one.grid is not None))
    return Samples(**joined, problem=problem, about=asdict(logging) | {"maps": maps})
