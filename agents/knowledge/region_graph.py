"""The lookahead of LRTS on a graph of regions, whose edges have prices of their own.

Readings, beside those of ``rt_gym.search.layers``:
- A closed edge is ignored.
- A layer that the limit does not allow as a whole is not begun. Where a limit of scans does not allow to read regions
  again whose cost has become lower, the first layer alone counts: its costs are exact.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.meter import charge, scan, spent
from rt_gym.search.space import NONE, forget, give_slot, seat_of
from rt_gym.trip import CUT


class Graph(NamedTuple):
    """Regions and the ways between them.

    Attributes:
        begin, near: int32, the neighbours of region ``r`` are ``near[begin[r]:begin[r + 1]]``.
        prices: int64, what it costs to get to each of them; INF where the edge is closed.
        cells: int32, the cell that stands for each region in the log of expansions.
    """

    begin: NDArray[np.int32]
    near: NDArray[np.int32]
    prices: NDArray[np.int64]
    cells: NDArray[np.int32]


@kernel(inline=True)
def set_edge(space, u, k, w, g):
    """Store that the cheapest path to slot ``w`` comes from ``u`` by edge ``k`` at cost ``g``; ``item`` keeps k."""
    space.g[w] = g
    space.parent[w] = u
    space.item[w] = k


@kernel
def search_regions(graph, trip, space, layers, h, s, a, b, depth):
    """Search up to ``depth`` layers of regions around ``a``, none beyond the layer of ``b``; the agent is on ``s``.

    ``layers``, int64[depth + 2], is filled from entry 1 on: the first slot of every layer, then the end of the last.
    ``h`` is int64 per region.

    Returns:
        The number of layers; NONE if one is empty, as no way leads to ``b``; CUT where not even one is allowed.
    """
    base = forget(space)
    give_slot(space, base, np.int64(0), a)
    set_edge(space, np.int64(NONE), 0, np.int64(0), np.int64(0))
    count, begin, end, late = np.int64(0), np.int64(0), np.int64(1), False
    result, meter = np.int64(CUT), trip.meter[0]
    while count < depth and (b == NONE or seat_of(space, base, b) < 0) and spent(meter) + end - begin <= meter.limit:
        size = end
        for u in range(begin, end):
            r = np.int64(space.cell[u])
            charge(trip, s if u == 0 else np.int64(graph.cells[r]))
            for k in range(graph.begin[r], graph.begin[r + 1]):
                v, g = np.int64(graph.near[k]), space.g[u] + graph.prices[k]
                w = seat_of(space, base, v)
                if graph.prices[k] == INF:
                    continue
                if w < 0:
                    give_slot(space, base, size, v)
                    space.h[size] = h[v]
                    set_edge(space, u, k, size, g)
                    size += 1
                elif g < space.g[w]:
                    set_edge(space, u, k, w, g)
                    late = late or w < u
        result = np.int64(NONE)
        if size == end:
            break
        begin, end = end, size
        count += 1
        result = count
        layers[count], layers[count + 1] = begin, end
    space.state[0].slots = end
    if late and not correct(graph, trip, space, base, begin) and result > 0:
        result = keep_first_layer(graph, space, base, layers)
    return result


@kernel
def correct(graph, trip, space, base, inside):
    """Lower g to the cheapest cost over the first ``inside`` slots, read in order until nothing changes.

    The parent of a state is, among the cheapest, the one generated first.

    Returns:
        Whether the limit of scans, if there is one, allowed all of it.
    """
    meter, news = trip.meter[0], True
    while news:
        news = False
        for u in range(inside):
            if meter.by_scans != 0 and meter.scans >= meter.limit:
                return False
            scan(trip)
            r = np.int64(space.cell[u])
            for k in range(graph.begin[r], graph.begin[r + 1]):
                if graph.prices[k] == INF:
                    continue
                w, g = seat_of(space, base, graph.near[k]), space.g[u] + graph.prices[k]
                if g < space.g[w] or (g == space.g[w] and u < space.parent[w]):
                    news = news or (g < space.g[w] and w < u)
                    set_edge(space, u, k, w, g)
    return True


@kernel
def keep_first_layer(graph, space, base, layers):
    """Make the lookahead one of a single layer, whose costs are the prices of its edges; return that count."""
    r = np.int64(space.cell[0])
    for k in range(graph.begin[r], graph.begin[r + 1]):
        if graph.prices[k] < INF:
            set_edge(space, np.int64(0), k, seat_of(space, base, graph.near[k]), graph.prices[k])
    space.state[0].slots = layers[2]
    return np.int64(1)
