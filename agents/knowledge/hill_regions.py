"""What HCDPS prepares for a map: regions that can be climbed to and from their seeds, and paths between the seeds.

R. Lawrence, V. Bulitko, "Taking Learning Out of Real-Time Heuristic Search for Video-Game Pathfinding", Australasian
Joint Conference on Artificial Intelligence, 2010; R. Lawrence, V. Bulitko, "Database-Driven Real-Time Heuristic Search
in Video-Game Pathfinding", IEEE Transactions on Computational Intelligence and AI in Games 5(3), 2013.

Readings:
- A region grows breadth-first from its seed, over cells that belong to none yet. A cell joins if it can be climbed to
  from the seed and the seed from it, see ``agents.knowledge.climb``. Seeds are drawn from the cells that are left, in
  an order that is the same for every map of as many free cells.
- Two regions are one step apart if a move leads from one into the other. Between the seeds of regions that are at most
  ``reach`` steps apart there is an optimal path, compressed to subgoals like those of kNN LRTA*.
- What leads on to regions farther away is found by dynamic programming over these paths. Of the table of all pairs only
  the column of one goal's region is made at a time, when an agent is given that goal. Like all of the table it counts
  as prepared: it is not on the meter, also where the goal changes on the way.
"""

import heapq
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.climb import climb
from agents.knowledge.knn import compress, solve
from rt_gym.cost import INF
from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.search.buckets import make_buckets
from rt_gym.search.space import NONE
from rt_gym.terrain import Terrain
from rt_gym.trip import make_trip

CUTOFF, MAX_CUTOFF = 250, 1_000_000
REACH, MAX_REACH = 2, 10

_SECONDS_PER_STEP = 1e-7  # of a climb, on one core: twice what open ground takes, to leave time for paths


@kernel
def grow_region(terrain, trip, seed, number, cutoff, region, tried, queue):
    """Give this number to all cells of the region around a seed. ``queue`` has an entry per cell of the map."""
    region[seed] = tried[seed] = number
    queue[0] = seed
    first, end = np.int64(0), np.int64(1)
    while first < end:
        cell = np.int64(queue[first])
        first += 1
        for d in range(8):
            near = cell + terrain.offset[d]
            if terrain.mask[cell] >> d & 1 == 0 or region[near] != NONE or tried[near] == number:
                continue
            tried[near] = number
            if climb(terrain, trip, near, seed, cutoff) != NONE and climb(terrain, trip, seed, near, cutoff) != NONE:
                region[near] = number
                queue[end] = near
                end += 1


@kernel
def partition(terrain, trip, order, cutoff, region, tried, queue, seeds):
    """Write the region of every free cell, and the seeds, which come in this order; return how many there are."""
    count = np.int64(0)
    for k in range(order.size):
        if region[order[k]] == NONE:
            seeds[count] = order[k]
            grow_region(terrain, trip, np.int64(order[k]), count, cutoff, region, tried, queue)
            count += 1
    return count


@kernel
def join_seeds(terrain, trip, buckets, ends, k, cutoff, route, spent, kept, begin, cells, cost):
    """Write the paths between pairs of seeds from the k-th on; return the number of the first that finds no room.

    ``route`` and ``kept``, int32, and ``spent``, int64, are buffers with an entry per cell of the map.
    """
    while k < cost.size:
        length = solve(terrain, trip, buckets, np.int64(ends[k, 0]), np.int64(ends[k, 1]), route, spent)
        count = compress(terrain, trip, route, spent, length, cutoff, kept)
        if begin[k] + count - 1 > cells.size:
            break
        for j in range(1, count):  # without the seed at which it begins
            cells[begin[k] + j - 1] = kept[j]
        begin[k + 1] = begin[k] + count - 1
        cost[k] = spent[length - 1]
        k += 1
    return k


@dataclass(frozen=True, eq=False)
class HillRegions:
    """The regions of a map, and the paths between their seeds.

    Attributes:
        digest: which map, see ``Grid.digest``.
        region: int32 per cell of the flat, bordered map, NONE where it is blocked.
        seeds: int32 per region, a cell.
        ends: int32, the two regions of every path, ordered by the first, then by the second.
        begin: int64, where in ``cells`` the subgoals of every path begin, and where those of the last one end.
        cells: int32, flat indices; the last subgoal of a path is the second seed.
        cost: int64, of every path.
    """

    digest: str
    region: NDArray[np.int32]
    seeds: NDArray[np.int32]
    ends: NDArray[np.int32]
    begin: NDArray[np.int64]
    cells: NDArray[np.int32]
    cost: NDArray[np.int64]

    def __len__(self) -> int:
        return self.seeds.size


def estimate(grid: Grid, cutoff: int) -> float:
    """Return about how many seconds of one core it takes to prepare for a map, if that is all open ground."""
    climbed = min(cutoff, max(grid.width, grid.height) / 2)
    return _SECONDS_PER_STEP * grid.free_cells * climbed


@lru_cache(maxsize=8)
def regions_of(grid: Grid, cutoff: int, reach: int) -> HillRegions:
    """Return what is prepared for a map; it is kept for other agents."""
    terrain = grid.terrain
    free = np.flatnonzero(terrain.free).astype(np.int32)
    order = np.random.default_rng(0).permutation(free)
    region = np.full(terrain.free.size, NONE, np.int32)
    seeds = np.empty_like(order)
    count = partition(terrain, make_trip(0), order, cutoff, region, region.copy(), np.empty_like(region), seeds)
    seeds = seeds[:count].copy()
    ends = _near_pairs(terrain, region, count, reach)
    return HillRegions(grid.digest, region, seeds, ends, *_joined(terrain, seeds[ends], cutoff))


def _near_pairs(terrain: Terrain, region: NDArray[np.int32], count: int, reach: int) -> NDArray[np.int32]:
    """Return the pairs of regions that are at most ``reach`` steps apart."""
    from scipy.sparse import coo_array

    here, there = _borders(terrain, region)
    beside = coo_array((np.ones(here.size, np.int64), (here, there)), shape=(count, count)).tocsr()
    beside.data[:] = 1
    near = beside
    for _ in range(reach - 1):
        near = near + near @ beside
        near.data[:] = 1
    pairs = np.stack(near.nonzero(), axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].astype(np.int32)


def _borders(terrain: Terrain, region: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the regions that are left and entered by every step that leads from one into another."""
    free, left, entered = np.flatnonzero(terrain.free), [], []
    for d in range(8):
        cells = free[terrain.mask[free] >> d & 1 != 0]
        here, there = region[cells], region[cells + terrain.offset[d]]
        left.append(here[here != there])
        entered.append(there[here != there])
    return np.concatenate(left), np.concatenate(entered)


def _joined(
    terrain: Terrain, ends: NDArray[np.int32], cutoff: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return where the subgoals of the paths between pairs of cells begin, the subgoals, and the costs."""
    buckets, trip = make_buckets(terrain), make_trip(0)
    route, spent = np.empty(terrain.free.size, np.int32), np.empty(terrain.free.size, np.int64)
    kept, begin, cost = route.copy(), np.zeros(len(ends) + 1, np.int64), np.empty(len(ends), np.int64)
    cells, done = np.empty(8 * len(ends) + 64, np.int32), 0
    while done < len(ends):
        done = join_seeds(terrain, trip, buckets, ends, done, cutoff, route, spent, kept, begin, cells, cost)
        if done < len(ends):
            cells = np.concatenate([cells, np.empty_like(cells)])
    return begin, cells[: begin[-1]].copy(), cost


@lru_cache(maxsize=64)
def onward_to(regions: HillRegions, goal: int) -> NDArray[np.int32]:
    """Return for every region the first path of a cheapest way to the seed of another one, NONE where there is none."""
    source, target, cost = regions.ends[:, 0], regions.ends[:, 1], regions.cost
    far = _distances(regions, goal)
    onward = np.full(len(regions), NONE, np.int32)
    total = np.where(far[target] < INF, cost + far[target], INF)
    order = np.lexsort((total, source))  # stable: of equal ones the first path
    first, at = np.unique(source[order], return_index=True)
    onward[first] = np.where(far[first] < INF, order[at], NONE)
    onward[goal] = NONE
    return onward


def _distances(regions: HillRegions, goal: int) -> NDArray[np.int64]:
    """Return what it costs to get from the seed of every region to that of one, over the paths (Dijkstra)."""
    target, cost = regions.ends[:, 1].tolist(), regions.cost.tolist()
    begin = np.searchsorted(regions.ends[:, 0], np.arange(len(regions) + 1)).tolist()
    far, queue = [INF] * len(regions), [(0, goal)]
    far[goal] = 0
    while queue:
        spent, r = heapq.heappop(queue)
        if spent > far[r]:
            continue
        for k in range(begin[r], begin[r + 1]):  # paths are as long in both directions
            if spent + cost[k] < far[target[k]]:
                far[target[k]] = spent + cost[k]
                heapq.heappush(queue, (spent + cost[k], target[k]))
    return np.array(far, np.int64)
