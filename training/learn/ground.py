"""Train a ground policy: log what lies around unknown cells, learn which are blocked, price them, choose, judge.

Repeated A* walks in fog. On the way some unknown cells near the agent are logged: the window of what is known around
each, and whether it is blocked. A decision tree learns that, from all eight symmetries of a window. A *shape* turns
what it says into prices: what unknown ground costs far from all that is known, and by how much the price rises with the
chance that a cell is blocked. Which shape walks best is decided on the validation maps; free ground, which is the
free-space assumption, and constant prices are among them, so that the tree is only used where it helps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import agents
from agents.policies.ground import MAX_RADIUS, UNKNOWN, GroundPolicy, look
from agents.policies.trees import NO_TREES, Forest, add_scores
from rt_gym import Grid, InputError
from rt_gym.belief import first_belief, sense
from rt_gym.errors import whole
from rt_gym.jit import kernel
from rt_gym.terrain import locate
from rt_gym.trip import make_trip
from training.judge import Arena, Estimate, Findings, score_all
from training.judge.tables import Table, digits, interval
from training.learn import Parts, Reporting, TrainingSetup, silent
from training.learn.convert import flatten
from training.learn.merit import compare
from training.runs import Allowance, Contender, Entry, Plan, Task, Workers, enlist, run_plan
from training.runs.courses import make_problem
from training.runs.execution import Store, run_all
from training.runs.jobs import Series, Work
from training.runs.rows import Arrays

ID = "expecting-astar"
RIVALS = ("dstar-lite", "repeated-astar", "tba", "rtaa")
MAX_MOVES = 100_000
_NEAR = 8  # how far from the agent cells are logged
_DIGITS = 3  # of prices, which keeps files small


class Shape(NamedTuple):
    """How prices follow from chances: ``far`` for a cell with nothing known around, ``rise`` for a sure obstacle."""

    far: float
    rise: float

    @property
    def label(self) -> str:
        """The shape in words."""
        return f"{self.far:g} + {self.rise:g} (p - p0)" if self.rise else f"{self.far:g}"


SHAPES = tuple(Shape(*pair) for pair in ((1, 0), (1.5, 0), (2, 0), (1.5, 1), (2, 1), (2, 3)))


@dataclass(frozen=True)
class GroundConfig:
    """How to log and to learn.

    Attributes:
        radius: how far the window reaches.
        samples: the most cells that are logged of a problem.
        leaves, min_leaf: the most leaves of the tree, and the fewest samples in each, symmetries included.
        seed: for the cells that are logged, and for the tree.
    """

    radius: int = 4
    samples: int = 200
    leaves: int = 300
    min_leaf: int = 80
    seed: int = 0

    def __post_init__(self) -> None:
        whole("radius", self.radius, 1, MAX_RADIUS)
        whole("samples", self.samples, 1, 10**6)
        whole("leaves", self.leaves, 2, 100_000)
        whole("min_leaf", self.min_leaf, 1, 10**9)


@kernel
def log_windows(real, terrain, trip, ground, path, vision, drawn, rows, label):
    """See along a path, int64[n], and log the cells that lie ``drawn``, int64[n, 2], from the agent if unknown.

    ``rows``, int8[n, cells of the window], and ``label``, int64[n], 1 where it is blocked, are filled from the front.

    Returns:
        How many were logged.
    """
    count = 0
    for i in range(path.size):
        s = np.int64(path[i])
        sense(real, terrain, trip, s, vision)
        x, y = locate(terrain, s)
        x += drawn[i, 0]
        y += drawn[i, 1]
        if look(terrain, x, y) != UNKNOWN:
            continue
        for k in range(ground.columns.size):
            rows[count, k] = look(terrain, x + ground.columns[k], y + ground.rows[k])
        label[count] = 1 - real[(y + 1) * terrain.offset[1] + x + 1]
        count += 1
    return count


@dataclass(frozen=True)
class GroundLogging(Work[Task, Arrays]):
    """Walk problems of one map in fog; the attributes are those of ``GroundConfig``, and how far the agent sees."""

    radius: int
    samples: int
    vision: int
    seed: int

    @property
    def agents(self) -> tuple[str, ...]:
        """Who walks, and whose window is logged."""
        return "repeated-astar", ID

    def do(self, grid: Grid | None, items: Sequence[Task]) -> Arrays:
        """Return the windows and labels of all tasks."""
        assert grid is not None, "problems have a map"
        parts = [self._walk(grid, task) for task in items]
        rows, label = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return {"rows": rows, "label": label}

    def _walk(self, grid: Grid, task: Task) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        run = agents.run("repeated-astar", make_problem(grid, task, self.vision, ()), max_moves=MAX_MOVES, clock=False)
        path = np.array([grid.cell((int(x), int(y))) for x, y in run.path])
        rng = np.random.default_rng((self.seed, path.size, *task.start, *task.goal))
        drawn = rng.integers(-_NEAR, _NEAR + 1, (path.size, 2))
        ground = GroundPolicy(self.radius, NO_TREES).wired()
        rows, label = np.empty((path.size, ground.columns.size), np.int8), np.empty(path.size, np.int64)
        belief, trip = first_belief(grid, self.vision, False), make_trip(0)
        count = log_windows(grid.terrain.free, belief, trip, ground, path, self.vision, drawn, rows, label)
        kept = rng.permutation(count)[: self.samples]
        return rows[kept], label[kept]

    def pack(self, result: Arrays) -> Arrays:
        """Return the columns, which are arrays already."""
        return result

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
        """Return the columns; a missing one raises."""
        return {name: arrays[name] for name in ("rows", "label")}


def log_ground(setup: TrainingSetup, config: GroundConfig) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Walk all problems of the training maps and return windows and labels."""
    series = [
        Series(GroundLogging(config.radius, config.samples, course.vision, config.seed), course.grid, course.tasks)
        for course in setup.train
        if course.vision is not None and course.tasks
    ]
    if not series:
        raise InputError("there are no problems in fog to log; give the training maps a vision")
    parts = [part for parts in run_all(series, Store(setup.folder / "windows"), setup.workers) for part in parts]
    return np.concatenate([part["rows"] for part in parts]), np.concatenate([part["label"] for part in parts])


def symmetries(rows: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return all windows, turned and mirrored in eight ways, one way after the other."""
    side = round(rows.shape[1] ** 0.5)
    square = rows.reshape(-1, side, side)
    turned = [np.rot90(square, k, (1, 2)) for k in range(4)]
    return np.concatenate([one.reshape(rows.shape) for two in turned for one in (two, two[:, :, ::-1])])


def fit_chances(rows: NDArray[np.int8], label: NDArray[np.int64], config: GroundConfig) -> Forest:
    """Return a tree with one score: the chance that a cell in the middle of a window is blocked."""
    from sklearn.tree import DecisionTreeClassifier

    if not label.size or (label == label[0]).all():
        raise InputError("the unknown cells that were logged are all free or all blocked: there is nothing to learn")
    model = DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=config.leaves, min_samples_leaf=config.min_leaf, random_state=config.seed
    )
    forest = flatten(model.fit(symmetries(rows), np.tile(label, 8)))
    return forest._replace(scores=np.ascontiguousarray(forest.scores[:, 1:]))


def accuracy(forest: Forest, rows: NDArray[np.int8], label: NDArray[np.int64]) -> float:
    """Return the share of windows whose cell is more likely to be what it is."""
    score, said = np.zeros(1), np.empty(len(rows))
    for k, row in enumerate(rows):
        add_scores(forest, row, forest.feature.size, score)
        said[k] = score[0]
    return float(((said >= 0.5) == label).mean())


def price(chances: Forest, shape: Shape, radius: int, about: dict[str, Any]) -> GroundPolicy:
    """Return the policy of a shape; a constant price is a tree of one leaf."""
    if shape.rise == 0:
        return GroundPolicy(radius, NO_TREES._replace(scores=np.full((1, 1), float(shape.far))), about)
    far = np.zeros(1)
    add_scores(chances, np.full((2 * radius + 1) ** 2, UNKNOWN, np.int8), chances.feature.size, far)
    prices = np.maximum(1.0, shape.far + shape.rise * (chances.scores - far[0]))
    return GroundPolicy(radius, chances._replace(scores=prices.round(_DIGITS)), about)


class Candidate(NamedTuple):
    """A shape, its policy, and its mean suboptimality on the validation maps."""

    shape: Shape
    policy: GroundPolicy
    quality: float


def choose_shape(setup: TrainingSetup, chances: Forest, config: GroundConfig, samples: int) -> list[Candidate]:
    """Let all shapes walk on the validation maps and return them, the best first."""
    folder = setup.folder / "validation"
    folder.mkdir(parents=True, exist_ok=True)
    about = asdict(config) | {"vision": setup.train[0].vision, "logged": samples}
    policies = [price(chances, shape, config.radius, about | shape._asdict()) for shape in SHAPES]
    contenders = [_contender(policy, folder / f"ground-{k}.json") for k, policy in enumerate(policies)]
    runs = run_plan(Plan(tuple(contenders), setup.validation, max_moves=MAX_MOVES), folder, setup.workers)
    found = [inf if score.quality is None else score.quality.value for score in score_all(runs)]
    return sorted(map(Candidate, SHAPES, policies, found), key=lambda one: one.quality)


def _contender(policy: GroundPolicy, file: Path) -> Contender:
    policy.save(file)
    return enlist(ID, {"policy": str(file)}, Allowance.of(None))


@dataclass(frozen=True)
class GroundResult:
    """What a training of a ground policy found.

    Attributes:
        candidates: all shapes, the chosen one first.
        samples, accuracy: how many windows were logged, and the share that the tree says right of the last quarter,
            having learned from the others; blocked: the share of cells that are.
        findings: the runs on the test maps.
        ratios: the suboptimality of the chosen one as a multiple of that of every rival.
        files: what was written.
    """

    candidates: list[Candidate]
    samples: int
    blocked: float
    accuracy: float
    findings: Findings
    ratios: dict[str, Estimate]
    files: list[Path]

    def table(self) -> Table:
        """Return the shapes for people."""
        rows = [[one.shape.label, digits(one.quality)] for one in self.candidates]
        return Table("Chosen on the validation maps: the first", ["price of unknown ground", "suboptimality"], rows)

    def remarks(self) -> list[str]:
        """Return how well cells are predicted, and how the agent does beside others."""
        share = f"{100 * self.accuracy:.1f} % of unknown cells near the agent are predicted right, of which "
        lines = [f"{share}{100 * self.blocked:.1f} % are blocked."]
        return lines + [
            f"{one.value:.3f} {interval(one)} times the cost of {name}." for name, one in self.ratios.items()
        ]

    def document(self) -> dict[str, Any]:
        """Return all of it, as JSON takes it."""
        return self.findings.document() | {
            "shapes": [{**one.shape._asdict(), "validation": one.quality} for one in self.candidates],
            "samples": self.samples,
            "blocked": self.blocked,
            "accuracy": self.accuracy,
            "ratios": {name: one._asdict() for name, one in self.ratios.items()},
            "files": [str(path) for path in self.files],
        }


def train_ground(
    config: GroundConfig, parts: Parts, folder: Path, workers: Workers, reporting: Reporting = silent
) -> GroundResult:
    """Log, learn, choose a shape and compare on the test maps; policy, tables and plots are written into a folder.

    The folder, which must exist, keeps finished work: the same call goes on where it was stopped.
    """
    setup = TrainingSetup(parts.train, parts.validation, workers, folder)
    with reporting("walking in fog", 3) as advance:
        rows, label = log_ground(setup, config)
        advance(1, "learning")
        learned, last = fit_chances(rows, label, config), len(rows) * 3 // 4
        right = accuracy(fit_chances(rows[:last], label[:last], config), rows[last:], label[last:])
        advance(1, "choosing on the validation maps")
        candidates = choose_shape(setup, learned, config, len(rows))
        advance()
    own = _contender(candidates[0].policy, folder / "ground.json")
    contenders = [*(enlist(name, {}, Allowance.of(None)) for name in RIVALS), own]
    findings = compare(contenders, parts.test, folder / "test", workers, reporting, MAX_MOVES)
    files = [folder / "ground.json", *findings.write(folder, {"training": candidates[0].policy.about})]
    blocked = float(label.mean())
    return GroundResult(candidates, len(rows), blocked, right, findings, _ratios(findings, own.entry), files)


def _ratios(findings: Findings, own: Entry) -> dict[str, Estimate]:
    """Return how many times the mean suboptimality of each rival that of an entry is, on the same problems."""
    arena = Arena(findings.runs, findings.plan.seed)
    sound = [score.entry for score in findings.scores if score.quality and not score.disqualified]
    if own not in sound:
        return {}
    return {one.label: arena.estimate(arena.quality[own] / arena.quality[one]) for one in sound if one != own}
