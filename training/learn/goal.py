"""Train a goal policy: log where agents stand, label the region that a shortest path enters next, learn, judge.

A sample is one candidate of one state; what it needs of a map is its regions and one field of distances per problem.

LRTA* walks first. Then, in a given number of rounds, the design that always heads for a candidate walks with what has
been learned, so that the states are those to which the policy leads (as ``training.learn.log`` does for depths).

By default there is no such round. On mixed-validation one made designs 5 and 11 worse (suboptimality 24 and 22 instead
of 7.8 and 8.0): most of its states lie in pockets that a better policy does not enter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import agents
from agents.knowledge.pdb_entries import make_region_arrays
from agents.policies.candidates import CANDIDATE, make_candidates, note_visit, write_candidate
from agents.policies.depth_control import HISTORY
from agents.policies.goals import GoalPolicy
from agents.policies.trees import Forest, add_scores
from rt_gym import Grid, InputError
from rt_gym.abstraction import abstract
from rt_gym.abstraction.regions import KINDS
from rt_gym.abstraction.routes import next_region
from rt_gym.cost import INF
from rt_gym.errors import quoted, whole
from rt_gym.jit import kernel
from rt_gym.search.distance import exact_distances
from rt_gym.search.space import NONE
from training.judge import Findings
from training.learn import OnProgress, Parts, Reporting, silent
from training.learn.fit import classify, group_folds
from training.learn.merit import MAX_MOVES, compare
from training.learn.targets import Recipe
from training.runs import Allowance, Contender, Course, Task, Workers, enlist
from training.runs.courses import make_problem
from training.runs.execution import Store, run_all
from training.runs.jobs import Series, Work
from training.runs.rows import Arrays

_COLUMNS = ("rows", "label", "state", "problem")
_COUNTS = "counts"  # how many rows each problem has


@dataclass(frozen=True)
class GoalConfig:
    """How to log and to learn.

    Attributes:
        level, abstraction: the regions.
        depth: the fixed depth of the agents that walk.
        history: how many steps back the visits reach.
        states: the most states of a walk, evenly spread over it.
        rounds: how many rounds of labelling its own states.
        min_leaf, confidence: of the learner J48.
        seed: for the folds.
    """

    level: int = 4
    abstraction: str = "clique"
    depth: int = 8
    history: int = HISTORY
    states: int = 100
    rounds: int = 0
    min_leaf: int = 200
    confidence: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        whole("states", self.states, 1, 10**6)
        whole("rounds", self.rounds, 0, 100)
        if self.abstraction not in KINDS:
            raise InputError(f"abstraction must be one of {', '.join(KINDS)}, not {quoted(self.abstraction)}")
        if not 0.0 < self.confidence < 1.0:
            raise InputError(f"confidence must be above 0 and below 1, not {quoted(self.confidence)}")


@dataclass(frozen=True)
class GoalSamples:
    """Labelled candidates, one row each; those of a state stand together.

    Attributes:
        rows: float32[n, 6], the features, in the order of ``agents.policies.candidates.CANDIDATE``.
        label: whether the shortest path from the state enters this candidate next.
        state: which state it is a candidate of.
        problem: which problem that is from, for folds that keep problems whole.
    """

    rows: NDArray[np.float32]
    label: NDArray[np.int64]
    state: NDArray[np.int64]
    problem: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.label)

    def take(self, rows: NDArray[Any]) -> "GoalSamples":
        """Return some of the rows."""
        return GoalSamples(**{name: getattr(self, name)[rows] for name in _COLUMNS})


def joined(parts: Sequence[GoalSamples]) -> GoalSamples:
    """Return all samples, concatenated; states are numbered through."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
    first = np.cumsum([0, *(part.state.max(initial=-1) + 1 for part in parts)])
    columns["state"] += np.repeat(first[:-1], [len(part) for part in parts])
    return GoalSamples(**columns)


@kernel
def log_walk(terrain, regions, candidates, distance, path, t, stride, rows, label, state):
    """Write the candidates of every ``stride``-th state of a walk and which of them are right; return how many.

    ``distance`` is int64 per cell, ``path`` int64, the cells of the walk. ``rows``, float32[n, 6], ``label`` and
    ``state``, int64[n], are filled.
    """
    count, states = 0, 0
    for i in range(path.size):
        s = np.int64(path[i])
        r = np.int64(regions.region[s])
        note_visit(candidates, r, i)
        if i % stride != 0 or r == NONE or r == regions.region[t] or distance[s] == INF:
            continue
        right = next_region(terrain, regions.region, distance, s)
        for k in range(regions.begin[r], regions.begin[r + 1]):
            n = np.int64(regions.near[k])
            write_candidate(candidates, terrain, n, np.int64(regions.representatives[n]), s, t)
            for c in range(rows.shape[1]):
                rows[count, c] = candidates.inputs[c]
            label[count] = n == right
            state[count] = states
            count += 1
        states += 1
    return count


@dataclass(frozen=True)
class GoalLogging(Work[Task, Arrays]):
    """Walk problems of one map and label the candidates on the way; the attributes are those of ``GoalConfig``.

    The policy walks; LRTA* if None.
    """

    level: int
    abstraction: str
    depth: int
    history: int
    states: int
    policy: GoalPolicy | None

    @property
    def agents(self) -> tuple[str, ...]:
        """Who walks."""
        return "lrta", "general-lrta"

    def do(self, grid: Grid | None, items: Sequence[Task]) -> Arrays:
        """Return the columns of all tasks but the number of the problem, and how many rows each task has."""
        assert grid is not None, "problems have a map"
        if self.policy is None:
            walker = agents.make("lrta", depth=self.depth)
        else:
            walker = agents.make("general-lrta", design=6, depth=self.depth, goal_policy=self.policy)
        regions = abstract(grid, self.abstraction, self.level)
        parts = [self._walk(walker, grid, regions, task) for task in items]
        found, counts = joined(parts), np.array([len(part) for part in parts])
        return {"rows": found.rows, "label": found.label, "state": found.state, _COUNTS: counts}

    def _walk(self, walker: Any, grid: Grid, regions: Any, task: Task) -> GoalSamples:
        run = agents.run(walker, make_problem(grid, task, None, ()), max_moves=MAX_MOVES, clock=False)
        path = np.array([grid.cell((int(x), int(y))) for x, y in run.path])
        stride = -(-path.size // self.states)
        capacity = -(-path.size // stride) * int(np.diff(regions.begin).max(initial=0))
        rows, label = np.empty((capacity, len(CANDIDATE)), np.float32), np.empty(capacity, np.int64)
        state, candidates = np.empty(capacity, np.int64), make_candidates(regions.sizes, self.history)
        count = log_walk(
            grid.terrain, make_region_arrays(regions), candidates, exact_distances(grid, task.goal), path,
            grid.cell(task.goal), stride, rows, label, state,
        )  # fmt: skip
        return GoalSamples(rows[:count], label[:count], state[:count], np.zeros(count, np.int64))

    def pack(self, result: Arrays) -> Arrays:
        """Return the columns, which are arrays already."""
        return result

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
        """Return the columns; a missing one raises."""
        return {name: arrays[name] for name in ("rows", "label", "state", _COUNTS)}


def log_goals(
    courses: Sequence[Course],
    config: GoalConfig,
    policy: GoalPolicy | None,
    workers: Workers,
    folder: Path | None = None,
) -> GoalSamples:
    """Walk all problems and return the samples in the order of the problems, whichever job ends first.

    Finished jobs are kept in a folder, if there is one.

    Raises:
        InputError: if there are no problems.
    """
    work = GoalLogging(config.level, config.abstraction, config.depth, config.history, config.states, policy)
    series = [Series(work, course.grid, course.tasks) for course in courses if course.tasks]
    if not series:
        raise InputError("there are no problems to log")
    parts = [part for parts in run_all(series, Store(folder), workers) for part in parts]
    samples = joined([GoalSamples(part["rows"], part["label"], part["state"], part["state"]) for part in parts])
    counts = np.concatenate([part[_COUNTS] for part in parts])
    return replace(samples, problem=np.repeat(np.arange(counts.size), counts))


_DIGITS = 4  # of scores, which keeps files small


def fit_goals(samples: GoalSamples, config: GoalConfig, about: dict[str, Any]) -> GoalPolicy:
    """Learn a goal policy from samples."""
    if not len(samples):
        raise InputError("there are no samples to learn from")
    recipe = Recipe(min_leaf=config.min_leaf, confidence=config.confidence, seed=config.seed)
    forest, _ = classify(samples.rows, samples.label, recipe)
    forest = forest._replace(scores=np.ascontiguousarray(forest.scores[:, 1:]).round(_DIGITS))
    about = about | {"schooling": asdict(config), "samples": len(samples)}  # a key of published files
    return GoalPolicy(CANDIDATE, config.history, config.level, config.abstraction, forest, about)


@kernel
def score_rows(forest, rows, score, out):
    """Write the score of every row, float32[n, 6], into ``out``, float64[n]; ``score``, float64[1], is a buffer."""
    for i in range(rows.shape[0]):
        add_scores(forest, rows[i], forest.feature.size, score)
        out[i] = score[0]


def scores(forest: Forest, samples: GoalSamples) -> NDArray[np.float64]:
    """Return the score of every candidate."""
    out = np.empty(len(samples))
    score_rows(forest, np.ascontiguousarray(samples.rows), np.zeros(1), out)
    return out


def top(samples: GoalSamples, score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the row of every state that an agent would head for: the best score, then the shorter way, the first."""
    way = samples.rows[:, 0].astype(np.float64) + samples.rows[:, 1]
    order = np.lexsort((way, -score, samples.state))
    return order[np.unique(samples.state[order], return_index=True)[1]]


@dataclass(frozen=True)
class GoalQuality:
    """What a policy says of samples that it has not learned from.

    Attributes:
        states, samples: how many there are.
        accuracy: the share of candidates of which it is right whether the path enters them, by a score of a half.
        majority: the accuracy of always saying no.
        top: the share of states whose best candidate is the right one.
        by_heuristic: this share for the candidate over which the goal is nearest by the heuristic.
        sure: the share of states whose best score reaches a half, so that GI heads for it.
        top_if_sure: how often the best candidate is the right one among these.
    """

    states: int
    samples: int
    accuracy: float
    majority: float
    top: float
    by_heuristic: float
    sure: float
    top_if_sure: float


def cross_validate_goals(samples: GoalSamples, config: GoalConfig, folds: int = 10) -> GoalQuality:
    """Learn on all folds of problems but one and predict that one, in turn."""
    score = np.empty(len(samples))
    for learn, test in group_folds(samples.problem, folds, config.seed, "problems"):
        policy = fit_goals(samples.take(learn), config, {})
        score[test] = scores(policy.forest, samples.take(test))
    best = top(samples, score)
    right, sure = samples.label[best], score[best] >= 0.5
    return GoalQuality(
        states=best.size,
        samples=len(samples),
        accuracy=float(((score >= 0.5) == samples.label).mean()),
        majority=float(1 - samples.label.mean()),
        top=float(right.mean()),
        by_heuristic=float(samples.label[top(samples, np.zeros(len(samples)))].mean()),
        sure=float(sure.mean()),
        top_if_sure=float(right[sure].mean()) if sure.any() else 0.0,
    )


@dataclass(frozen=True)
class GoalResult:
    """What a training of a goal policy found.

    Attributes:
        policy: the policy.
        quality: what it says of samples that it has not learned from.
        findings: the runs of the designs that it serves on the test maps, beside others.
        files: what was written.
    """

    policy: GoalPolicy
    quality: GoalQuality
    findings: Findings
    files: list[Path] = field(default_factory=list)

    @property
    def size(self) -> dict[str, int]:
        """The size of the policy."""
        return {"nodes": self.policy.forest.feature.size, "branch": self.policy.branch}

    def document(self) -> dict[str, Any]:
        """Return all of it, as JSON takes it."""
        return self.findings.document() | {
            "policy": self.policy.about | self.size,
            "cross_validation": asdict(self.quality),
            "files": [str(path) for path in self.files],
        }


def train_goal(
    config: GoalConfig,
    parts: Parts,
    folder: Path,
    workers: Workers,
    about: dict[str, Any],
    reporting: Reporting = silent,
) -> GoalResult:
    """Train, cross-validate and compare; policy and tables are written into a folder, which must exist.

    Finished jobs are kept there: the same call goes on where it was stopped. ``about`` is written into the policy.
    """
    with reporting("walking", config.rounds + 2) as advance:
        policy, samples = learn_goals(parts.train, config, workers, folder, about, lambda *told: advance(*told))
        quality = cross_validate_goals(samples, config)
        advance()
    file = folder / "goal.json"
    policy.save(file)
    findings = compare(contenders_of(file, config), parts.test, folder / "test", workers, reporting)
    files = [file, *findings.write(folder, {"training": policy.about})]
    return GoalResult(policy, quality, findings, files)


def learn_goals(
    courses: Sequence[Course],
    config: GoalConfig,
    workers: Workers,
    folder: Path | None,
    about: dict[str, Any],
    on_progress: OnProgress,
) -> tuple[GoalPolicy, GoalSamples]:
    """Learn from the states of LRTA*, then from those of the policy itself; return the policy and all samples."""
    samples = log_goals(courses, config, None, workers, folder)
    policy = fit_goals(samples, config, about)
    for _ in range(config.rounds):
        on_progress(1, "labelling its own states")
        samples = joined([samples, log_goals(courses, config, policy, workers, folder)])
        policy = fit_goals(samples, config, about)
    on_progress(1, "learned")
    return policy, samples


def contenders_of(policy: Path, config: GoalConfig) -> list[Contender]:
    """Return the designs with a goal policy, and those that they are judged by."""
    fixed, regions = {"depth": config.depth}, {"level": config.level, "abstraction": config.abstraction}
    learned = {"goal_policy": str(policy)}
    designs: list[tuple[str, dict[str, Any]]] = [
        ("lrta", fixed),
        *(("general-lrta", {"design": design} | fixed | learned) for design in (5, 6)),
        ("classifier-lrta", {}),
        *(("general-lrta", {"design": design} | learned) for design in (11, 12)),
        *(("pdb-lrta", {"mode": mode} | regions) for mode in ("GI", "I")),
    ]
    return [enlist(agent, given, Allowance.of(None)) for agent, given in designs]
