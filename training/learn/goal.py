"""Train a goal classifier: log where agents stand, label the region that a shortest path enters next, learn, judge.

LRTA* walks first. Then, in a given number of rounds, the design that always heads for a candidate walks with what has
been learned, so that the states are those to which the policy leads (as ``training.learn.log`` does for depths). A
sample is one candidate of one state; what it needs of a map is its regions and one field of distances per problem.

By default there is no such round. On mixed-validation one made designs 5 and 11 worse (suboptimality 24 and 22 instead
of 7.8 and 8.0): most of its states lie in pockets that a better policy does not enter.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import agents
from agents.knowledge.pdb_entries import make_region_arrays
from agents.policies.candidates import CANDIDATE, make_candidates, note_visit, write_candidate
from agents.policies.depth_control import HISTORY
from agents.policies.goals import GoalPolicy
from agents.policies.trees import Forest, add_scores
from rt_gym import InputError
from rt_gym.abstraction import abstract
from rt_gym.abstraction.routes import next_region
from rt_gym.cost import INF
from rt_gym.errors import whole
from rt_gym.jit import kernel
from rt_gym.search.distance import exact_distances
from rt_gym.search.space import NONE
from training.learn.fit import Recipe, classify
from training.learn.validate import group_folds
from training.runs import Allowance, Contender, Course, Workers, enlist_all

MAX_MOVES = 1_000_000
_DIGITS = 4  # of scores, which keeps files small
_COLUMNS = ("rows", "label", "state", "problem")


@dataclass(frozen=True)
class Schooling:
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
class Job:
    """The problems of one map; ``first`` is the number of the first of them. The policy walks; LRTA* if None."""

    course: Course
    first: int
    schooling: Schooling
    policy: GoalPolicy | None

    @property
    def key(self) -> str:
        """What the samples of this job are known by."""
        return str(self.first)


def run_job(job: Job) -> GoalSamples:
    """Walk the problems of a map and return their samples."""
    schooling, grid, terrain = job.schooling, job.course.grid, job.course.grid.terrain
    if job.policy is None:
        walker = agents.make("lrta", depth=schooling.depth)
    else:
        walker = agents.make("general-lrta", design=6, depth=schooling.depth, goal_policy=job.policy)
    regions = abstract(grid, schooling.abstraction, schooling.level)
    flat, widest, parts = make_region_arrays(regions), int(np.diff(regions.begin).max(initial=0)), []
    for number, task in enumerate(job.course.tasks, job.first):
        run = agents.run(walker, job.course.problem(task), max_moves=MAX_MOVES, clock=False)
        path = np.array([grid.cell((int(x), int(y))) for x, y in run.path])
        stride = -(-path.size // schooling.states)
        capacity = -(-path.size // stride) * widest
        rows, label = np.empty((capacity, len(CANDIDATE)), np.float32), np.empty(capacity, np.int64)
        state, candidates = np.empty(capacity, np.int64), make_candidates(regions.sizes, schooling.history)
        distance, goal = exact_distances(grid, task.goal), grid.cell(task.goal)
        count = log_walk(terrain, flat, candidates, distance, path, goal, stride, rows, label, state)
        parts.append(GoalSamples(rows[:count], label[:count], state[:count], np.full(count, number)))
    return joined(parts)


def collect(
    courses: Sequence[Course], schooling: Schooling, policy: GoalPolicy | None, workers: Workers
) -> GoalSamples:
    """Walk all problems and return the samples in the order of the problems, whichever job ends first."""
    first = np.cumsum([0, *(len(course.tasks) for course in courses)]).tolist()
    jobs = [Job(course, number, schooling, policy) for course, number in zip(courses, first[:-1], strict=True)]
    if not first[-1]:
        raise InputError("there are no problems to log")
    found = dict(workers.run(jobs, run_job))
    return joined([found[job.key] for job in jobs])


def fit_goals(samples: GoalSamples, schooling: Schooling, about: dict[str, Any]) -> GoalPolicy:
    """Learn a goal policy from samples."""
    if not len(samples):
        raise InputError("there are no samples to learn from")
    recipe = Recipe(min_leaf=schooling.min_leaf, confidence=schooling.confidence, seed=schooling.seed)
    forest, _ = classify(samples.rows, samples.label, recipe)
    forest = forest._replace(scores=np.ascontiguousarray(forest.scores[:, 1:]).round(_DIGITS))
    about = about | {"schooling": asdict(schooling), "samples": len(samples)}
    return GoalPolicy(CANDIDATE, schooling.history, schooling.level, schooling.abstraction, forest, about)


def train(
    courses: Sequence[Course],
    schooling: Schooling,
    workers: Workers,
    about: dict[str, Any],
    on_progress: Callable[[float, str], Any],
) -> tuple[GoalPolicy, GoalSamples]:
    """Learn from the states of LRTA*, then from those of the policy itself; return the policy and all samples."""
    samples = collect(courses, schooling, None, workers)
    policy = fit_goals(samples, schooling, about)
    for _ in range(schooling.rounds):
        on_progress(1, "labelling its own states")
        samples = joined([samples, collect(courses, schooling, policy, workers)])
        policy = fit_goals(samples, schooling, about)
    on_progress(1, "learned")
    return policy, samples


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
class Quality:
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


def cross_validate(samples: GoalSamples, schooling: Schooling, folds: int = 10) -> Quality:
    """Learn on all folds of problems but one and predict that one, in turn."""
    score = np.empty(len(samples))
    for learn, test in group_folds(samples.problem, folds, schooling.seed, "problems"):
        policy = fit_goals(samples.take(learn), schooling, {})
        score[test] = scores(policy.forest, samples.take(test))
    best = top(samples, score)
    right, sure = samples.label[best], score[best] >= 0.5
    return Quality(
        states=best.size,
        samples=len(samples),
        accuracy=float(((score >= 0.5) == samples.label).mean()),
        majority=float(1 - samples.label.mean()),
        top=float(right.mean()),
        by_heuristic=float(samples.label[top(samples, np.zeros(len(samples)))].mean()),
        sure=float(sure.mean()),
        top_if_sure=float(right[sure].mean()) if sure.any() else 0.0,
    )


def rivals(policy: Any, depth: int, level: int, abstraction: str) -> list[Contender]:
    """Return the designs with a goal classifier, and those that they are judged by."""
    regions = f"level={level}:abstraction={abstraction}"
    specs = [
        f"lrta:depth={depth}",
        f"general-lrta:design=5,6:depth={depth}:goal_policy={policy}",
        "classifier-lrta",
        f"general-lrta:design=11,12:goal_policy={policy}",
        f"pdb-lrta:mode=GI,I:{regions}",
    ]
    return enlist_all(specs, [Allowance.of(None)])
