"""The goal classifier at work: which of the regions next to the agent's own it heads for."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policies.candidates import Candidates, make_candidates, write_candidate
from agents.policies.goals import GoalPolicy
from agents.policies.trees import NO_TREES, Forest, add_scores
from rt_gym.abstraction import Abstraction
from rt_gym.jit import kernel
from rt_gym.search.space import NONE

HALF = 0.5  # from which score on a candidate is better than the goal


class GoalScorer(NamedTuple):
    """What a goal classifier works with.

    Attributes:
        candidates: what it knows of the regions.
        forest: its trees.
        either: 1 if it may choose the goal itself.
        score: float64[1], a buffer for the score of a candidate.
    """

    candidates: Candidates
    forest: Forest
    either: int
    score: NDArray[np.float64]


def make_scorer(policy: GoalPolicy | None, regions: Abstraction | None, either: bool) -> GoalScorer:
    """Return the scorer of a policy, or of none, on a map with these regions, or with none yet."""
    sizes = np.empty(0, np.int64)
    sizes.flags.writeable = False  # as the sizes of regions
    if policy is not None and regions is not None:
        sizes = regions.sizes
    return GoalScorer(
        candidates=make_candidates(sizes, 1 if policy is None else policy.history),
        forest=NO_TREES if policy is None else policy.wired(),
        either=int(either),
        score=np.zeros(1),
    )


@kernel
def best_candidate(terrain, guide, scorer, s, t, r):
    """Return the region next to ``r`` to head for, NONE for the goal itself.

    Ties: the region over which the goal is nearer by the heuristic, then the first.
    """
    candidates, forest, score = scorer.candidates, scorer.forest, scorer.score
    best, highest, nearest = np.int64(NONE), HALF if scorer.either != 0 else -np.inf, np.int64(0)
    for k in range(guide.begin[r], guide.begin[r + 1]):
        n = np.int64(guide.near[k])
        representative = np.int64(guide.representatives[n])
        if terrain.free[representative] == 0:
            continue
        way = write_candidate(candidates, terrain, n, representative, s, t)
        add_scores(forest, candidates.inputs, forest.feature.size, score)
        if score[0] > highest or (score[0] == highest and (best == NONE or way < nearest)):
            best, highest, nearest = n, score[0], way
    return best
