"""The lookahead of General LRTA* one layer at a time: the decisions of all depths from one search.

A lookahead of depth d + 1 is that of depth d and one layer more, so a search to some depth also knows what every
smaller one would have decided. Two uses: a controller that deepens until it has seen enough pays only for the layers
it opened, and the depth-control paper's training label (V. Bulitko et al., ICAPS 2007) costs one search instead of one
per depth.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF
from rt_gym.jit import kernel, record
from rt_gym.search.lookahead import begin_lookahead, best_frontier, expand_layer, propagate_costs
from rt_gym.search.space import NONE, seat_of
from rt_gym.search.ties import tied_moves
from rt_gym.search.values import raise_value, value_at
from rt_gym.trip import CUT, NO_PATH

LAYER_ADDED = 1  # what add_layer returns if not NO_PATH or CUT

# The depth reached, and for how many layers the value has not risen and the action has not changed.
LAYERED = record(depth=int, flat_layers=int, steady_layers=int)


class DepthResults(NamedTuple):
    """What the lookahead of each depth so far decides: entry d is for depth d, entry 0 for the state before any search.

    Attributes:
        action: uint8[d_max + 1], the first move to the best frontier state.
        value: int64[d_max + 1], the value of that state, to which the value of the current state is raised.
        work: int64[d_max + 1], the expansions up to that depth.
        state: LAYERED[1].
    """

    action: NDArray[np.uint8]
    value: NDArray[np.int64]
    work: NDArray[np.int64]
    state: NDArray[np.record]


def make_depth_results(d_max: int, rows: tuple[int, ...] = ()) -> DepthResults:
    """Return empty results for ``d_max`` layers; ``rows`` are the first axes of every array, for a batch."""
    columns = (*rows, d_max + 1)
    return DepthResults(
        action=np.empty(columns, np.uint8),
        value=np.empty(columns, np.int64),
        work=np.empty(columns, np.int64),
        state=np.zeros((*rows, 1), LAYERED),
    )


@kernel(inline=True)
def begin_layered(space, by_depth, s, value):
    """Begin a lookahead from ``s``, whose learned value is given."""
    begin_lookahead(space, s)
    space.state[0].slots = 1
    state = by_depth.state[0]
    state.depth = state.flat_layers = state.steady_layers = 0
    by_depth.value[0] = value
    by_depth.work[0] = 0


@kernel
def add_layer(terrain, trip, space, by_depth, h, t):
    """Open one more layer; return LAYER_ADDED, NO_PATH (as ``general_lrta``) or CUT.

    A search that was cut cannot go on.
    """
    state = space.state[0]
    base, begin, end = state.stamp << 32, state.closed, state.slots
    size, queued = expand_layer(terrain, trip, terrain.cost, space, base, h, t, begin, end, np.int64(0))
    if size == CUT:
        return np.int64(CUT)
    state.closed, state.slots = end, size
    if queued > 0:
        propagate_costs(terrain, trip, terrain.cost, space, base, t, end, queued)
    goal = seat_of(space, base, t)
    best = best_frontier(space, goal if 0 <= goal < end else np.int64(NONE), end, size)
    state.best = best
    if best == NONE or space.f[best] >= INF:
        return np.int64(NO_PATH)
    expanded = end - begin - (1 if begin <= goal < end else 0)
    enter_layer(by_depth, space.via[best], max(by_depth.value[0], space.f[best]), expanded)
    return np.int64(LAYER_ADDED)


@kernel(inline=True)
def enter_layer(by_depth, action, value, expanded):
    """Store what the lookahead that is one layer deeper decides."""
    state = by_depth.state[0]
    depth = state.depth + 1
    state.flat_layers = state.flat_layers + 1 if value == by_depth.value[depth - 1] else 0
    state.steady_layers = state.steady_layers + 1 if depth > 1 and action == by_depth.action[depth - 1] else 0
    state.depth = depth
    by_depth.action[depth] = action
    by_depth.value[depth] = value
    by_depth.work[depth] = by_depth.work[depth - 1] + expanded


@kernel(inline=True)
def learn_and_move(terrain, trip, by_depth, h, s, t):
    """Learn and move as a lookahead of the reached depth does: the part of ``general_lrta`` after its search."""
    depth = by_depth.state[0].depth
    raise_value(trip, h, terrain, s, t, by_depth.value[depth])
    trip.plan[0] = by_depth.action[depth]
    return np.int64(1)


@kernel
def label(terrain, trip, uncharged, space, by_depth, h, s, t, d_max, ties):
    """Return the smallest depth from which on all depths up to ``d_max`` decide as ``d_max`` does; 0 without a path.

    Nothing is learned, and no expansion is charged: the search runs on ``uncharged``, a second trip, and its scans are
    added to those of ``trip``. Ties are broken by order even if the agent breaks them at random, so that equal searches
    have equal labels. ``ties``, uint8[d_max + 1], is filled with the tied moves of every depth, one bit per direction;
    if it is empty, they are not computed.
    """
    uncharged.meter[0].scans = 0
    random = space.random[0]
    space.random[0] = 0
    begin_layered(space, by_depth, s, value_at(h, terrain, s, t))
    result = np.int64(LAYER_ADDED)
    while by_depth.state[0].depth < d_max and result == LAYER_ADDED:
        result = add_layer(terrain, uncharged, space, by_depth, h, t)
        if ties.size > 0 and result == LAYER_ADDED:
            ties[by_depth.state[0].depth] = tied_moves(terrain, space, t)
    space.random[0] = random
    trip.meter[0].scans += uncharged.meter[0].scans
    if result != LAYER_ADDED:
        return np.int64(0)
    return d_max - by_depth.state[0].steady_layers
