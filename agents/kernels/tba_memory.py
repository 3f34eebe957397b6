"""The memory of TBA*: the variables of its algorithm, what a slice may do, and what the plan works on."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.kernels.tba_paths import Paths
from agents.kernels.tba_shortcut import Shortcut
from rt_gym.jit import record
from rt_gym.search.buckets import Buckets
from rt_gym.search.nodes import Nodes

# The variables of Algorithm 1; ``begun`` is 0 before the first slice, ``follow`` says which of the two paths is
# pathFollow, ``start`` is where the search began and ``last`` the cell that the agent left, or NONE.
VARIABLES = record(
    begun=int, solution_found=int, solution_found_and_traced=int, done_trace=int, follow=int, start=int, last=int
)


class Limits(NamedTuple):
    """What a slice may do.

    Attributes:
        n_e, n_t: expansions and trace steps, N_E and N_T.
        all: expansions, R, of a search for a shortcut.
        n_t_solved: trace steps once the solution is found.
        threshold, shortcut: 1 or 0, the two enhancements.
        by_length: 1 if the first slice is limited by the length of its paths.
    """

    n_e: int
    n_t: int
    all: int
    n_t_solved: int
    threshold: int
    shortcut: int
    by_length: int


class TBAMemory(NamedTuple):
    """What the plan works on.

    Attributes:
        space, buckets: the states of the A* and its open list, the paper's ``lists``.
        state: VARIABLES[1].
        depth: int32 per state, how many steps away those of the first slice are.
        paths: pathNew and pathFollow.
        shortcut: the search for a shortcut.
        limits: what a slice may do.
    """

    space: Nodes
    buckets: Buckets
    state: NDArray[np.record]
    depth: NDArray[np.int32]
    paths: Paths
    shortcut: Shortcut
    limits: Limits
