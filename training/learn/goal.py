"""Train a goal policy: log where agents stand, label the region that a shortest path enters next, learn, judge.

LRTA* walks first. Then, in a given number of rounds, the design that always heads for a candidate walks with what has
been learned, so that the states are those to which the policy leads (as ``training.learn.log`` does for depths).

By default there is no such round. On mixed-validation one made designs 5 and 11 worse (suboptimality 24 and 22 instead
of 7.8 and 8.0): most of its states lie in pockets that a better policy does not enter.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.policies.candidates import CANDIDATE
from agents.policies.goals import GoalPolicy
from agents.policies.trees import Forest, add_scores
from rt_gym import InputError
from rt_gym.jit import kernel
from training.judge import Findings
from training.learn import OnProgress, Parts, Reporting, silent
from training.learn.fit import classify
from training.learn.goal_log import GoalConfig, GoalSamples, joined, log_goals
from training.learn.merit import compare
from training.learn.targets import Recipe
from training.learn.validate import group_folds
from training.runs import Allowance, Contender, Course, Workers, enlist

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
