"""What an agent knows of the map: fog, sensing, the free-space assumption.

An agent with a vision radius counts every cell it has not seen as free. Before its first plan and after every move it
sees all cells within the radius (Chebyshev distance with eight neighbours, Manhattan with four; walls hide nothing),
so the moves out of its own cell are always known exactly.
"""

from rt_gym.grid import Grid
from rt_gym.jit import kernel
from rt_gym.overlays import Original
from rt_gym.pages import is_large
from rt_gym.terrain import Terrain, locate, set_free


@kernel
def notice(terrain, trip, cell, free):
    """Enter the true state of a cell into the belief; list it as changed if that was news."""
    terrain.known[cell] = 1
    if terrain.free[cell] != free:
        set_free(terrain, cell, free)
        state = trip.state[0]
        if state.changed < trip.changed.size:
            trip.changed[state.changed] = cell
            state.changed += 1


@kernel
def in_sight(terrain, s, cell, vision):
    """Whether an agent in ``s`` sees a cell."""
    (x, y), (cell_x, cell_y) = locate(terrain, s), locate(terrain, cell)
    dx, dy = abs(cell_x - x), abs(cell_y - y)
    return (max(dx, dy) if terrain.rule[0].connectivity == 8 else dx + dy) <= vision


@kernel(inline=True)
def sense(real, terrain, trip, s, vision):
    """See every cell of ``real`` within the radius around ``s``."""
    stride = terrain.offset[1]
    x, _ = locate(terrain, s)
    here = s - x  # the first cell of the row
    for dy in range(-vision, vision + 1):
        begin = here + dy * stride
        if begin < stride or begin >= real.size - stride:
            continue
        reach = vision if terrain.rule[0].connectivity == 8 else vision - abs(dy)
        for cell in range(begin + max(x - reach, 0), begin + min(x + reach, stride - 3) + 1):
            if terrain.known[cell] == 0 or terrain.free[cell] != real[cell]:
                notice(terrain, trip, cell, real[cell])


def first_belief(grid: Grid, vision: int | None, changing: bool) -> Terrain:
    """Return what an agent believes before it has seen anything: the whole map, or that every cell is free.

    The grid's own arrays are handed out where nothing can ever write to them. On a large map the others take memory
    only where they are written to.
    """
    terrain, in_fog = grid.terrain, vision is not None
    if not in_fog and not changing:
        return terrain
    if is_large(terrain.free.size):
        mask, free, known = _original(grid, in_fog).copies()
    else:
        mask, free, known = (array.copy() for array in grid.believed(in_fog))
    return terrain._replace(mask=mask, free=free, known=known)


def renew_belief(terrain: Terrain | None, grid: Grid, vision: int | None, changing: bool) -> Terrain:
    """Return the first belief for another problem on the same map, in the arrays of an old one that had its own."""
    in_fog = vision is not None
    if terrain is None or not (in_fog or changing):
        return first_belief(grid, vision, changing)
    own = terrain.mask, terrain.free, terrain.known
    if is_large(terrain.free.size):
        _original(grid, in_fog).renew(own)
    else:
        for array, source in zip(own, grid.believed(in_fog), strict=True):
            array[:] = source
    return terrain


def _original(grid: Grid, in_fog: bool) -> Original:
    return grid.fog_belief if in_fog else grid.known_belief
