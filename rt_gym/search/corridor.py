"""A* that does not leave a corridor of regions, from a cell to the nearest one of a region, or to one cell.

The heuristic is the distance to the box around the target: as consistent as the distance to a cell.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.budget import charge
from rt_gym.grid import span
from rt_gym.jit import kernel
from rt_gym.search.astar import EXHAUSTED, FOUND, INTERRUPTED
from rt_gym.search.heap import push
from rt_gym.search.local import Local, expand
from rt_gym.search.space import BEST, CLOSED, NONE, SIZE, STAMP, discover, forget, reach

# Entries of Corridor.state: the mark of its regions, and the region that is looked for, NONE to look for a cell.
MARK, TARGET = range(2)


class Corridor(NamedTuple):
    """A search that can be interrupted after any expansion.

    Attributes:
        local: its states and its open list.
        region: int32, the region of every cell, NONE where there is none.
        boxes: int32, n x 4, the first and the last column and row of every region.
        marks: int64, for every region the mark of the last corridor that it belonged to.
        box: int64[4], the box around the target.
        h: int64 per cell, room for the heuristic.
        state: int64[2], see above.
    """

    local: Local
    region: NDArray[np.int32]
    boxes: NDArray[np.int32]
    marks: NDArray[np.int64]
    box: NDArray[np.int64]
    h: NDArray[np.int64]
    state: NDArray[np.int64]


@kernel(inline=True)
def widen(corridor, r):
    """Let a region be part of the corridor."""
    corridor.marks[r] = corridor.state[MARK]


@kernel
def aim_at_region(corridor, r):
    """Begin a new corridor with the region whose nearest cell is looked for."""
    corridor.state[MARK] += 1
    corridor.state[TARGET] = r
    for k in range(4):
        corridor.box[k] = corridor.boxes[r, k]
    widen(corridor, r)


@kernel
def aim_at_cell(terrain, corridor, t):
    """Begin a new corridor with the region of the cell that is looked for."""
    corridor.state[MARK] += 1
    corridor.state[TARGET] = NONE
    for k in range(4):
        corridor.box[k] = terrain.xy[2 * t + (k & 1)]
    widen(corridor, corridor.region[t])


@kernel(inline=True)
def box_gap(terrain, box, cell):
    """Return the distance of a cell to the box, on open ground."""
    x, y = np.int64(terrain.xy[2 * cell]), np.int64(terrain.xy[2 * cell + 1])
    return span(terrain.metric, max(box[0] - x, x - box[2], 0), max(box[1] - y, y - box[3], 0))


@kernel(inline=True)
def moves_inside(terrain, corridor, cell):
    """Return the moves that stay in the corridor, and note the heuristic of where they lead."""
    moves, inside = np.int64(terrain.mask[cell]), np.int64(0)
    for d in range(8):
        if moves >> d & 1:
            v = cell + terrain.offset[d]
            r = corridor.region[v]
            if r != NONE and corridor.marks[r] == corridor.state[MARK]:
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
    reach(local.space, np.int64(NONE), 0, root, np.int64(0))
    push(local.open, root)
    local.space.state[SIZE] = 1


@kernel
def resume_corridor(terrain, trip, corridor, t):
    """Search on for as long as the meter allows.

    Returns:
        FOUND when a cell that is looked for comes next, EXHAUSTED when nothing is left to expand, else INTERRUPTED.
    """
    space, open_list, target = corridor.local.space, corridor.local.open, corridor.state[TARGET]
    base = space.state[STAMP] << 32
    while open_list.size[0] > 0:
        u = np.int64(open_list.item[0])
        cell = np.int64(space.cell[u])
        if cell == t if target == NONE else corridor.region[cell] == target:
            space.state[BEST] = u
            return np.int64(FOUND)
        if not charge(trip, cell):
            return np.int64(INTERRUPTED)
        inside = moves_inside(terrain, corridor, cell)
        space.state[SIZE] = expand(
            terrain, corridor.local, corridor.h, base, inside, space.state[SIZE], space.state[CLOSED]
        )
        space.state[CLOSED] += 1
    return np.int64(EXHAUSTED)
