"""What a goal classifier knows of the regions that an agent could head for next, each in constant time.

The future work of V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in
Path-Planning with Real-Time Heuristic Search", ICAPS 2007: the candidates are the regions next to the agent's own.
Distances are heuristic ones, in steps. The last n steps are those to the last n states, the current one included.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import STRAIGHT
from rt_gym.jit import kernel, record, write_fields
from rt_gym.search.space import NONE
from rt_gym.terrain import h0


class Candidate(NamedTuple):
    """The features of one region."""

    candidate_distance: float  # to its representative
    candidate_to_goal: float  # from there to the goal
    goal_distance: float  # from the agent to the goal
    candidate_size: int  # its cells
    candidate_visits: int  # how many of the last n states were in it
    candidate_detour: float  # how much farther the goal is over it: a tree cannot add up the first three


CANDIDATE = Candidate._fields

NOT_YET = -1

VISITS = record(now=int, moves=int)  # the place of the current state in the ring, and how many moves led to it


class Candidates(NamedTuple):
    """What must be remembered for the features.

    Attributes:
        sizes: the cells of every region.
        counts: int32, how many of the last n states were in every region.
        ring: int32[n], the regions of those states, NONE where there is none.
        inputs: float32, the features of one candidate.
        state: VISITS[1].
    """

    sizes: NDArray[np.int64]
    counts: NDArray[np.int32]
    ring: NDArray[np.int32]
    inputs: NDArray[np.float32]
    state: NDArray[np.record]


def make_candidates(sizes: NDArray[np.int64], history: int) -> Candidates:
    """Return the memory at the start of a trial on a map with regions of these sizes."""
    candidates = Candidates(
        sizes=sizes,
        counts=np.empty(sizes.size, np.int32),
        ring=np.empty(history, np.int32),
        inputs=np.zeros(len(CANDIDATE), np.float32),
        state=np.zeros(1, VISITS),
    )
    begin_visits(candidates)
    return candidates


def begin_visits(candidates: Candidates) -> None:
    """Forget where the agent has been."""
    candidates.counts[:] = 0
    candidates.ring[:] = NONE
    candidates.state[0] = 0, NOT_YET


@kernel(inline=True)
def note_visit(candidates, r, moves):
    """Take note, once, that the agent is in region ``r`` after this number of moves."""
    ring, counts, state = candidates.ring, candidates.counts, candidates.state[0]
    if state.moves == moves:
        return
    state.moves = moves
    now = state.now + 1 if state.now + 1 < ring.size else np.int64(0)
    state.now = now
    if ring[now] != NONE:
        counts[ring[now]] -= 1
    ring[now] = r
    if r != NONE:
        counts[r] += 1


@kernel(inline=True)
def write_candidate(candidates, terrain, n, representative, s, t):
    """Write the features of region ``n``, in the order of ``CANDIDATE``; return how far the goal is over it, a cost."""
    to, onwards, straight = h0(terrain, s, representative), h0(terrain, representative, t), h0(terrain, s, t)
    features = Candidate(
        candidate_distance=to / STRAIGHT,
        candidate_to_goal=onwards / STRAIGHT,
        goal_distance=straight / STRAIGHT,
        candidate_size=candidates.sizes[n],
        candidate_visits=candidates.counts[n],
        candidate_detour=(to + onwards - straight) / STRAIGHT,
    )
    write_fields(features, candidates.inputs, 0)
    return to + onwards
