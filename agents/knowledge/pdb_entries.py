"""The entries of a pattern database, one column at a time: see ``agents.knowledge.pdb``.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007, Figures 3 and 4. The distances that an optimal depth needs come from one field per goal
region, or, between neighbours, from one that ends where they are.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.abstraction import Abstraction
from rt_gym.abstraction.routes import next_cell, next_region
from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.search.deepening import LAYER_ADDED, DepthResults, add_layer, begin_layered, make_depth_results
from rt_gym.search.distance import fill_distances, fill_distances_to
from rt_gym.search.space import Space, make_space
from rt_gym.terrain import fill_h0
from rt_gym.trip import Trip, make_trip

MODES = ("G", "GI", "I")
G, GI = 0, 1
SUBGOALS = ("first", "nearer")
NEARER = 1
FAR = -(1 << 16)  # from here on downwards a column holds regions that are no neighbours


class RegionArrays(NamedTuple):
    """An abstraction as kernels take it; ``members[first[r]:first[r + 1]]`` are the cells of region ``r``."""

    region: NDArray[np.int32]
    representatives: NDArray[np.int32]
    begin: NDArray[np.int32]
    near: NDArray[np.int32]
    first: NDArray[np.int64]
    members: NDArray[np.int64]


class EntryBuffers(NamedTuple):
    """The arrays of one thread that builds: a lookahead, values that are never learned, and distances."""

    space: Space
    by_depth: DepthResults
    trip: Trip
    h: NDArray[np.int64]
    distance: NDArray[np.int64]
    lists: NDArray[np.int32]
    wanted: NDArray[np.int64]


@kernel
def optimal_depth(terrain, buffers, a, b, cap):
    """Return the smallest depth that moves from ``a`` towards ``b`` on a shortest path, ``cap + 1`` if it is larger.

    ``buffers.h`` and ``buffers.distance`` must be those of ``b``.
    """
    by_depth, distance = buffers.by_depth, buffers.distance
    begin_layered(buffers.space, by_depth, a, buffers.h[a])
    for depth in range(1, cap + 1):
        if add_layer(terrain, buffers.trip, buffers.space, by_depth, buffers.h, b) != LAYER_ADDED:
            break
        d = np.int64(by_depth.action[depth])
        if terrain.cost[d] + distance[a + terrain.offset[d]] == distance[a]:
            return np.int64(depth)
    return cap + 1


@kernel
def depth_between(terrain, buffers, a, b, cap):
    """Return the optimal depth from ``a`` to ``b``, capped."""
    buffers.wanted[0] = a
    fill_distances_to(terrain, b, buffers.distance, buffers.lists, buffers.wanted, np.int64(1))
    fill_h0(terrain, b, buffers.h)
    return min(optimal_depth(terrain, buffers, a, b, cap), cap)


@kernel
def nearer_region(terrain, regions, distance, r):
    """Return the first region on the shortest path from a representative whose own one is nearer to where it ends.

    ``distance`` is as in ``next_region``. The region in which the path ends is one: its representative is that end.
    """
    a = np.int64(regions.representatives[r])
    u = a
    while distance[regions.representatives[regions.region[u]]] >= distance[a]:
        u = next_cell(terrain, distance, u)
    return np.int64(regions.region[u])


@kernel(inline=True)
def link_to(regions, a, n):
    """Return region ``n`` as a column holds it: -1 less the number of the neighbour, or FAR less the region."""
    k, end = regions.begin[a], regions.begin[a + 1]
    while k < end and regions.near[k] != n:
        k += 1
    return FAR - n if k == end else np.int64(regions.begin[a] - 1 - k)


@kernel
def fill_column(terrain, regions, buffers, goal, mode, subgoal, cap, starts, column):
    """Write the entries of regions towards region ``goal``: a depth, or what ``link_to`` says of the subgoal.

    ``starts``, int32, are the regions; ``column`` is int32 per region of the map. ``mode`` and ``subgoal`` are numbers
    of MODES and SUBGOALS.

    Lines 2 to 7 of Figure 3, for one goal; with GI and I, lines 5 to 6a of Figure 4, the depth of 5b being a hop.
    """
    b, distance = np.int64(regions.representatives[goal]), buffers.distance  # Figure 3, line 4
    fill_distances(terrain, b, distance, buffers.lists)
    if mode <= GI:
        fill_h0(terrain, b, buffers.h)
    for k in range(starts.size):
        r = np.int64(starts[k])
        a = np.int64(regions.representatives[r])  # line 3
        depth = cap + 1
        if r == goal or distance[a] == INF:
            depth = cap
        elif mode <= GI:
            depth = optimal_depth(terrain, buffers, a, b, cap)  # line 5
            if mode == G:
                depth = min(depth, cap)
        if depth > cap:  # Figure 4, lines 5a to 5c
            if subgoal == NEARER:
                n = nearer_region(terrain, regions, distance, r)
            else:
                n = next_region(terrain, regions.region, distance, a)
            column[r] = link_to(regions, r, n)
        else:  # Figure 3, line 6; Figure 4, line 6a
            column[r] = depth


@kernel
def depth_within(terrain, regions, buffers, r, cap):
    """Return the depth from the representative of a region to the member farthest from it, the first of equals."""
    a = np.int64(regions.representatives[r])
    far, inside = a, regions.members[regions.first[r] : regions.first[r + 1]]
    fill_distances_to(terrain, a, buffers.distance, buffers.lists, inside, inside.size)
    for k in range(inside.size):
        if buffers.distance[inside[k]] > buffers.distance[far]:
            far = inside[k]
    return np.int64(1) if far == a else depth_between(terrain, buffers, a, far, cap)


@kernel
def fill_hops(terrain, regions, buffers, n, cap, hops):
    """Write the depths from the representatives of all neighbours of region ``n`` to that of ``n``.

    ``hops`` is uint16 per entry of ``regions.near``.
    """
    b, begin, near = np.int64(regions.representatives[n]), regions.begin, regions.near
    for k in range(begin[n], begin[n + 1]):
        buffers.wanted[k - begin[n]] = regions.representatives[near[k]]
    fill_distances_to(terrain, b, buffers.distance, buffers.lists, buffers.wanted, np.int64(begin[n + 1] - begin[n]))
    fill_h0(terrain, b, buffers.h)
    for k in range(begin[n], begin[n + 1]):
        r = np.int64(near[k])
        a = np.int64(regions.representatives[r])
        # Figure 4, line 5b
        hops[begin[r] - 1 - link_to(regions, r, n)] = min(optimal_depth(terrain, buffers, a, b, cap), cap)


def make_region_arrays(abstraction: Abstraction) -> RegionArrays:
    """Return an abstraction as kernels take it."""
    cells = np.flatnonzero(abstraction.region >= 0)
    return RegionArrays(
        region=abstraction.region,
        representatives=abstraction.representatives,
        begin=abstraction.begin,
        near=abstraction.near,
        first=np.concatenate([[0], np.cumsum(abstraction.sizes)]),
        members=cells[np.argsort(abstraction.region[cells], kind="stable")],
    )


def make_buffers(cells: int, cap: int) -> EntryBuffers:
    """Return the buffers of a builder; ``cells`` is the size of the flat, bordered map."""
    return EntryBuffers(
        space=make_space(cells),
        by_depth=make_depth_results(cap),
        trip=make_trip(0),
        h=np.empty(cells, np.int64),
        distance=np.empty(cells, np.int64),
        lists=np.empty((3, cells), np.int32),
        wanted=np.empty(cells, np.int64),
    )
