"""The lookahead of LRTS: layer by layer, with the largest of the layers' smallest values.

V. Bulitko, G. Lee, "Learning in Real-Time Search: A Unifying Framework", Journal of Artificial Intelligence Research
25, 2006.

Readings:
- Layers are counted in actions, and a layer with the goal is the last. g is the cheapest cost within these layers, at
  the prices that are handed in.
- Of a layer the smallest g + h counts; ties: larger g, then first generated. There is no path-max: the maximum over the
  layers does its work.
"""

import numpy as np

from rt_gym.jit import kernel
from rt_gym.search.lookahead import begin_lookahead, best_frontier, expand_layer, propagate_costs
from rt_gym.search.space import NONE, seat_of
from rt_gym.search.tree import trace
from rt_gym.trip import CUT


@kernel(inline=True)
def look_by_layers(terrain, trip, prices, space, layers, h, s, t, depth):
    """Search up to ``depth`` layers, and none beyond the layer of the goal.

    ``layers``, int64[depth + 2], is filled from entry 1 on: the first slot of every layer, then the end of the last.

    Returns:
        The number of layers; NONE if one is empty, as no way leads to ``t``; CUT where the meter refuses.
    """
    base = begin_lookahead(space, s)
    count, begin, end, queued = np.int64(0), np.int64(0), np.int64(1), np.int64(0)
    while count < depth and seat_of(space, base, t) < 0:
        size, queued = expand_layer(terrain, trip, prices, space, base, h, t, begin, end, queued)
        if size == CUT:
            return np.int64(CUT)
        if size == end:
            return np.int64(NONE)
        begin, end = end, size
        count += 1
        layers[count], layers[count + 1] = begin, end
    space.state[0].slots = end
    if queued > 0:
        propagate_costs(terrain, trip, prices, space, base, t, begin, queued)
    return count


@kernel(inline=True)
def max_of_min(space, layers, count):
    """Return the largest of the layers' smallest values; the state with the last layer's becomes the best one."""
    value = np.int64(0)
    for u in range(1, space.state[0].slots):
        space.f[u] = space.g[u] + space.h[u]
    for layer in range(1, count + 1):
        best = best_frontier(space, np.int64(NONE), layers[layer], layers[layer + 1])
        value = max(value, space.f[best])
        space.state[0].best = best
    return value


@kernel(inline=True)
def direction(terrain, a, b):
    """Return the direction of the step from a cell to one beside it."""
    d = np.int64(0)
    while a + terrain.offset[d] != b:
        d += 1
    return d


@kernel(inline=True)
def trace_best(terrain, space, plan):
    """Write the directions from the root to the best state into ``plan`` and return how many there are.

    A lookahead keeps the first step to every state; here each state on the way gets the last one instead.
    """
    u = space.state[0].best
    while space.parent[u] != NONE:
        v = np.int64(space.parent[u])
        space.via[u] = direction(terrain, np.int64(space.cell[v]), np.int64(space.cell[u]))
        u = v
    return trace(space, space.state[0].best, plan)
