"""A* that can be interrupted after any expansion and resumed later.

P. Hart, N. Nilsson, B. Raphael, "A Formal Basis for the Heuristic Determination of Minimum Cost Paths", IEEE
Transactions on Systems Science and Cybernetics 4(2), 1968.

The open list is ``rt_gym.search.buckets``: smaller f, larger g, first generated.
"""

import numpy as np

from rt_gym.cost import INF, TOO_LONG
from rt_gym.errors import InputError
from rt_gym.grid import Grid
from rt_gym.intrinsics import lowest
from rt_gym.jit import kernel
from rt_gym.meter import UNLIMITED, charge
from rt_gym.search.buckets import Buckets, any_left, clear, first_slot, insert, make_buckets, pop, push, take_out
from rt_gym.search.nodes import begin_path, extend_path, open_node
from rt_gym.search.space import OPEN, forget, no_detour_pays, seat_of
from rt_gym.terrain import COLUMNS, ROWS, Position, column_and_row, gap
from rt_gym.trip import make_trip

FOUND, EXHAUSTED, INTERRUPTED = range(3)

CLOSED = 1  # the role of a closed state
_FEW = 1 << 20  # expansions of a search for a path that need not exist
_SHARE = 8  # the components of all cells take as long as the expansion of one in eight


@kernel
def begin_astar(terrain, buckets, s, t):
    """Start a new search from ``s`` to ``t``."""
    space, root = buckets.space, np.int64(0)
    base = forget(space)
    open_node(space, base, root, s, gap(terrain, buckets.metric, s, t))
    begin_path(space, root)
    space.state[0].slots = 1
    clear(buckets, space.node[root].f)
    push(buckets, root)


@kernel
def resume_astar(terrain, trip, buckets, t, limit):
    """Expand at most ``limit`` states, as long as the meter allows.

    Returns:
        FOUND when the goal comes next (it stays the first of the open list), EXHAUSTED when nothing is left to expand,
        or nothing but what is too far away for an exact cost (see ``too_long``), INTERRUPTED otherwise.
    """
    space = buckets.space
    base, size, closed = space.state[0].stamp << 32, space.state[0].slots, space.state[0].closed
    last, skip = closed + limit, 255 if no_detour_pays(terrain.cost) else 0
    to_x, to_y = column_and_row(terrain, t)
    straight, diagonal = buckets.metric[0].per_straight, buckets.metric[0].per_diagonal
    end = EXHAUSTED
    while any_left(buckets):
        u = first_slot(buckets)
        here = space.node[u]
        if here.g >= INF:
            break
        cell = np.int64(here.cell)
        if cell == t:
            end = FOUND
            space.state[0].best = u
            break
        if closed >= last or not charge(trip, cell):
            end = INTERRUPTED
            break
        pop(buckets)
        here.role = CLOSED
        closed += 1
        x, y = column_and_row(terrain, cell)
        moves = np.int64(terrain.mask[cell])
        ahead = moves & ~(here.behind & skip)
        while ahead != 0:
            d = lowest(ahead)
            ahead &= ahead - 1
            v = cell + terrain.offset[d]
            w = seat_of(space, base, v)
            g = here.g + terrain.cost[d]
            if w < 0:
                w = size
                size += 1
                dx, dy = abs(x + COLUMNS[d] - to_x), abs(y + ROWS[d] - to_y)
                low = min(dx, dy)
                open_node(space, base, w, v, (max(dx, dy) - low) * straight + low * diagonal)
                extend_path(space, u, d, w, g, moves)
                insert(buckets, w)
            elif g < space.node[w].g and space.node[w].role == OPEN:
                take_out(buckets, w)
                extend_path(space, u, d, w, g, moves)
                insert(buckets, w)
    space.state[0].slots = size
    space.state[0].closed = closed
    return end


def too_long(buckets: Buckets) -> bool:
    """Whether a search that is EXHAUSTED has left open what is too far away; a path to there may still exist."""
    return int(buckets.state[0].entries) > 0


def search_path(grid: Grid, start: Position, goal: Position, limit: int = UNLIMITED) -> tuple[int, Buckets]:
    """Search for a shortest path with at most ``limit`` expansions; return the end of the search, and its memory."""
    buckets = make_buckets(grid.terrain)
    begin_astar(grid.terrain, buckets, grid.cell(start), grid.cell(goal))
    return int(resume_astar(grid.terrain, make_trip(0), buckets, grid.cell(goal), limit)), buckets


def shortest_cost(grid: Grid, start: Position, goal: Position) -> int:
    """Return the exact cost of a shortest path, INF where there is none.

    Raises:
        InputError: if all paths are too long for an exact cost.
    """
    end, buckets = search_path(grid, start, goal)
    if end == FOUND:
        return int(buckets.space.g[buckets.space.state[0].best])
    if too_long(buckets):
        raise InputError(f"a shortest path from {start} to {goal} takes {TOO_LONG}")
    return INF


def connected(grid: Grid, start: Position, goal: Position) -> bool:
    """Whether there is a path, of any length.

    On a large map the components of all cells are only numbered when searches for paths have taken as long as that.
    """
    left = grid.terrain.mask.size // _SHARE - grid.searched
    if grid.terrain.xy is None and left > 0 and not grid.is_labelled:
        end, buckets = search_path(grid, start, goal, min(_FEW, left))
        grid.searched += int(buckets.space.state[0].closed)
        if end == FOUND or (end == EXHAUSTED and not too_long(buckets)):
            return end == FOUND
    return bool(grid.labels[grid.cell(start)] == grid.labels[grid.cell(goal)])
