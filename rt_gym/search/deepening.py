"""The lookahead of General LRTA* one layer at a time: the decisions of all depths from one search.

A lookahead of depth d + 1 is that of depth d and one layer more, so whoever has climbed to a depth knows what every
smaller one would have decided. Two uses: a controller that deepens until it has seen enough pays only for the layers
it opened, and the depth-control paper's training label (V. Bulitko et al., ICAPS 2007) costs one search instead of one
per depth.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF
from rt_gym.jit import kernel, record
from rt_gym.search.lookahead import begin_lookahead, best_frontier, expand_layer, settle
from rt_gym.search.space import NONE
from rt_gym.search.ties import tied_moves
from rt_gym.search.values import raise_value, value_at
from rt_gym.trip import CUT, NO_PATH

CLIMBED = 1  # what climb returns beside NO_PATH and CUT

# The depth, and for how many layers the value has not risen and the action has not changed.
CLIMB = record(depth=int, flat_layers=int, steady_layers=int)


class Ladder(NamedTuple):
    """What the lookaheads of all depths so far decide; entry 0 of the columns is the state before any search.

    Attributes:
        action: uint8, the first move to the best frontier state.
        value: int64, its value, which the current state's is raised to.
        work: int64, the expansions up to that depth.
        state: CLIMB[1].
    """

    action: NDArray[np.uint8]
    value: NDArray[np.int64]
    work: NDArray[np.int64]
    state: NDArray[np.record]


def make_ladder(d_max: int, rows: tuple[int, ...] = ()) -> Ladder:
    """Return room for ``d_max`` layers, or ``rows`` of it for a batch."""
    columns = (*rows, d_max + 1)
    return Ladder(
        action=np.empty(columns, np.uint8),
        value=np.empty(columns, np.int64),
        work=np.empty(columns, np.int64),
        state=np.zeros((*rows, 1), CLIMB),
    )


@kernel(inline=True)
def begin_climb(space, ladder, s, value):
    """Begin a lookahead from ``s``, whose learned value is given."""
    begin_lookahead(space, s)
    space.state[0].slots = 1
    state = ladder.state[0]
    state.depth = state.flat_layers = state.steady_layers = 0
    ladder.value[0] = value
    ladder.work[0] = 0


@kernel
def climb(terrain, trip, space, ladder, h, t):
    """Open one more layer; return CLIMBED, NO_PATH (as ``general_lrta``) or CUT.

    A search that was cut cannot go on.
    """
    state = space.state[0]
    base, begin, end = state.stamp << 32, state.closed, state.slots
    size, queued = expand_layer(terrain, trip, terrain.cost, space, base, h, t, begin, end, np.int64(0))
    if size == CUT:
        return np.int64(CUT)
    state.closed, state.slots = end, size
    if queued > 0:
        settle(terrain, trip, terrain.cost, space, base, t, end, queued)
    goal = space.seat[t] - base
    best = best_frontier(space, goal if 0 <= goal < end else np.int64(NONE), end, size)
    state.best = best
    if best == NONE or space.f[best] >= INF:
        return np.int64(NO_PATH)
    expanded = end - begin - (1 if begin <= goal < end else 0)
    step_up(ladder, space.via[best], max(ladder.value[0], space.f[best]), expanded)
    return np.int64(CLIMBED)


@kernel(inline=True)
def step_up(ladder, action, value, expanded):
    """Enter what a lookahead that is one layer deeper decides."""
    state = ladder.state[0]
    depth = state.depth + 1
    state.flat_layers = state.flat_layers + 1 if value == ladder.value[depth - 1] else 0
    state.steady_layers = state.steady_layers + 1 if depth > 1 and action == ladder.action[depth - 1] else 0
    state.depth = depth
    ladder.action[depth] = action
    ladder.value[depth] = value
    ladder.work[depth] = ladder.work[depth - 1] + expanded


@kernel(inline=True)
def commit(terrain, trip, ladder, h, s, t):
    """Learn and move as a lookahead of the depth reached would: what ``general_lrta`` does after its search."""
    depth = ladder.state[0].depth
    raise_value(trip, h, terrain, s, t, ladder.value[depth])
    trip.plan[0] = ladder.action[depth]
    return np.int64(1)


@kernel
def label(terrain, trip, shadow, space, ladder, h, s, t, d_max, ties):
    """Return the smallest depth from which on all depths up to ``d_max`` decide as ``d_max`` does; 0 without a path.

    Nothing is learned and nothing charged: the work is done on the meter of ``shadow`` and counted as scans. Ties are
    broken by order even where the agent's are random, so that equal searches have equal labels. The moves that tie are
    written into ``ties``, uint8[d_max + 1], for every depth; if it is empty they are not looked for.
    """
    shadow.meter[0].scans = 0
    random = space.random[0]
    space.random[0] = 0
    begin_climb(space, ladder, s, value_at(h, terrain, s, t))
    result = np.int64(CLIMBED)
    while ladder.state[0].depth < d_max and result == CLIMBED:
        result = climb(terrain, shadow, space, ladder, h, t)
        if ties.size > 0 and result == CLIMBED:
            ties[ladder.state[0].depth] = tied_moves(terrain, space, t)
    space.random[0] = random
    trip.meter[0].scans += shadow.meter[0].scans
    if result != CLIMBED:
        return np.int64(0)
    return d_max - ladder.state[0].steady_layers
