"""A* that does not leave a corridor of regions, from a cell to the nearest one of a region, or to one cell.

The heuristic is the distance to the box around the target: as consistent as the distance to a cell.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel, record
from rt_gym.meter import charge
from rt_gym.search.astar import EXHAUSTED, FOUND, INTERRUPTED
from rt_gym.search.heap import push
from rt_gym.search.local import Local, expand, make_local
from rt_gym.search.space import NONE, discover, forget, make_space, no_detour_pays, set_root
from rt_gym.terrain import column_and_row, span

# The mark of its regions, and the region that is looked for, NONE to look for a cell.
TARGET = record(mark=int, target=int)


class Corridor(NamedTuple):
    """A search that can be interrupted after any expansion.

    Attributes:
        local: its states and its open list.
        region: int32, the region of every cell, NONE where there is none.
        boxes: int32, n x 4, the first and the last column and row of every region.
        marks: int64, for every region the mark of the last corridor that it belonged to.
        box: int64[4], the box around the target.
        h: int64 per cell, a buffer for the heuristic.
        state: TARGET[1].
    """

    local: Local
    region: NDArray[np.int32]
    boxes: NDArray[np.int32]
    marks: NDArray[np.int64]
    box: NDArray[np.int64]
    h: NDArray[np.int64]
    state: NDArray[np.record]


def make_corridor(cells: int) -> Corridor:
    """Return the memory of searches on a map of this size, without any regions."""
    return Corridor(
        local=make_local(make_space(cells)),
        region=np.empty(0, np.int32),
        boxes=np.empty((0, 4), np.int32),
        marks=np.empty(0, np.int64),
        box=np.zeros(4, np.int64),
        h=np.empty(cells, np.int64),
        state=np.zeros(1, TARGET),
    )


@kernel(inline=True)
def widen(corridor, r):
    """Let a region be part of the corridor."""
    corridor.marks[r] = corridor.state[0].mark


@kernel
def lead_to_region(corridor, r):
    """Begin a new corridor with the region whose nearest cell is looked for."""
    corridor.state[0].mark += 1
    corridor.state[0].target = r
    for k in range(4):
        corridor.box[k] = corridor.boxes[r, k]
    widen(corridor, r)


@kernel
def lead_to_cell(terrain, corridor, t):
    """Begin a new corridor with the region of the cell that is looked for."""
    corridor.state[0].mark += 1
    corridor.state[0].target = NONE
    x, y = column_and_row(terrain, t)
    corridor.box[0] = corridor.box[2] = x
    corridor.box[1] = corridor.box[3] = y
    widen(corridor, corridor.region[t])


@kernel
def lead_along(memory, length):
    """Begin a new corridor through the first ``length`` regions of the way to the best one, and the agent's own."""
    space, corridor, state = memory.space, memory.corridor, memory.state[0]
    u, steps = space.state[0].best, np.int64(0)
    while space.parent[u] != NONE:
        u = np.int64(space.parent[u])
        steps += 1
    state.length = min(steps, length)
    u = space.state[0].best
    for k in range(steps, -1, -1):
        r = np.int64(space.cell[u])
        if k == state.length:
            lead_to_region(corridor, r)
        elif k < state.length:
            widen(corridor, r)
        if k == 1:
            state.edge = space.item[u]
        u = np.int64(space.parent[u])


@kernel(inline=True)
def box_gap(terrain, box, cell):
    """Return the distance of a cell to the box if nothing were blocked."""
    x, y = column_and_row(terrain, cell)
    return span(terrain.metric, max(box[0] - x, x - box[2], 0), max(box[1] - y, y - box[3], 0))


@kernel(inline=True)
def moves_inside(terrain, corridor, cell):
    """Return the moves that stay in the corridor, and note the heuristic of where they lead."""
    moves, inside = np.int64(terrain.mask[cell]), np.int64(0)
    for d in range(8):
        if moves >> d & 1:
            v = cell + terrain.offset[d]
            r = corridor.region[v]
            if r != NONE and corridor.marks[r] == corridor.state[0].mark:
                inside |= 1 << d
                corridor.h[v] = box_gap(terrain, corridor.box, v)
    return inside


@kernel
def begin_corridor(terrain, corridor, s):
    """Start a new search from ``s``."""
    local, root = corridor.local, np.int64(0)
    base = forget(local.space)
    local.open.size[0] = 0
    discover(local.space, base, root, s, box_gap(terrain, corridor.box, s))
    set_root(local.space, root, np.int64(0))
    push(local.open, root)
    local.space.state[0].slots = 1
    local.space.state[0].skip = 255 if no_detour_pays(terrain.cost) else 0


@kernel
def resume_corridor(terrain, trip, corridor, t):
    """Search on for as long as the meter allows.

    Returns:
        FOUND when a cell that is looked for comes next, EXHAUSTED when nothing is left to expand, else INTERRUPTED.
    """
    space, open_list, target = corridor.local.space, corridor.local.open, corridor.state[0].target
    base = space.state[0].stamp << 32
    while open_list.size[0] > 0:
        u = np.int64(open_list.item[0])
        cell = np.int64(space.cell[u])
        if cell == t if target == NONE else corridor.region[cell] == target:
            space.state[0].best = u
            return np.int64(FOUND)
        if not charge(trip, cell):
            return np.int64(INTERRUPTED)
        inside = moves_inside(terrain, corridor, cell)
        space.state[0].slots = expand(
            terrain, corridor.local, corridor.h, base, inside, space.state[0].slots, space.state[0].closed
        )
        space.state[0].closed += 1
    return np.int64(EXHAUSTED)
