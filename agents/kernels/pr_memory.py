"""What PR LRTS works on: the regions, LRTS among them, A* among the cells, and what it is doing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.kernels.pr_corridor import Corridor, make_corridor
from agents.knowledge.region_graph import Graph
from agents.knowledge.regions import Regions
from agents.lrts import Trail, make_trail
from rt_gym.jit import record
from rt_gym.search.space import Space, make_space

# What the agent is doing; how many regions the corridor leads through; the edge of its first step; how many edges are
# closed; how often something has changed among the regions (a value rose, an edge was closed); whether the agent has
# gone in circles since.
DOING = record(doing=int, length=int, edge=int, closed_edges=int, changes=int, circling=int)
CHOOSING, REFINING, ON_CELLS = range(3)

# How often the guards have begun to act since reset, and the expansions of all moves while one did.
GUARDED = record(times=int, expansions=int)


class PRMemory(NamedTuple):
    """What the plan works on.

    Attributes:
        graph, space, layers, values: the regions, and LRTS among them; ``values`` has one entry per region.
        depths: int64, how deep a lookahead from each region is; 0 for one without neighbours.
        planned: int64, what ``changes`` was when the agent last planned in each region, -1 if it never did.
        visits: int32, how often the agent has planned in each region since an edge was closed.
        corridor: A* among the cells.
        cell_values: int64 per cell, the values of LRTA*; filled when it begins.
        whole_way: 1 if the whole way is refined, not only its first step.
        trail: the way back, as in LRTS.
        state: DOING[1].
        guarded: GUARDED[1].
    """

    graph: Graph
    space: Space
    layers: NDArray[np.int64]
    values: NDArray[np.int64]
    depths: NDArray[np.int64]
    planned: NDArray[np.int64]
    visits: NDArray[np.int32]
    corridor: Corridor
    cell_values: NDArray[np.int64]
    whole_way: int
    trail: Trail
    state: NDArray[np.record]
    guarded: NDArray[np.record]


def make_pr_memory(cells: int, quota: float | None, whole_way: bool) -> PRMemory:
    """Return the memory of searches among the cells, without any regions."""
    nothing, no_numbers = np.empty(0, np.int32), np.empty(0, np.int64)
    return PRMemory(
        graph=Graph(nothing, nothing, no_numbers, nothing),
        space=make_space(0),
        layers=no_numbers,
        values=no_numbers,
        depths=no_numbers,
        planned=no_numbers,
        visits=nothing,
        corridor=make_corridor(cells),
        cell_values=np.empty(cells, np.int64),
        whole_way=int(whole_way),
        trail=make_trail(cells, quota),
        state=np.zeros(1, DOING),
        guarded=np.zeros(1, GUARDED),
    )


def with_regions(memory: PRMemory, regions: Regions, depth: int) -> PRMemory:
    """Return the memory for a map with these regions, of which values, depths and prices are not filled in yet."""
    count, graph = regions.abstraction.regions, regions.graph
    if memory.corridor.region is regions.abstraction.region:
        return memory
    return memory._replace(
        graph=graph._replace(prices=np.empty_like(graph.prices)),
        space=make_space(count),
        layers=np.zeros(max(count, depth) + 2, np.int64),
        values=np.empty(count, np.int64),
        depths=np.empty(count, np.int64),
        planned=np.empty(count, np.int64),
        visits=np.empty(count, np.int32),
        corridor=memory.corridor._replace(
            region=regions.abstraction.region, boxes=regions.boxes, marks=np.empty(count, np.int64)
        ),
    )
