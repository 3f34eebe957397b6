"""A corridor that winds through every other row of a map, whose ends are further apart than exact costs can say."""

import numpy as np

from rt_gym import Grid
from rt_gym.terrain import Position


def winding_corridor() -> Grid:
    """Return the map; its corridor begins in the first cell."""
    cells = np.ones((2899, 2900), bool)
    cells[1::2] = False
    cells[1::4, -1] = cells[3::4, 0] = True
    return Grid(cells, connectivity=4, name="corridor")


def place_after(corridor: Grid, steps: int) -> Position:
    """Return the position after so many steps along the corridor: a row, and one more to the next, forth and back."""
    turn, rest = divmod(steps, corridor.width + 1)
    if rest == corridor.width:
        return (corridor.width - 1 if turn % 2 == 0 else 0), 2 * turn + 1
    return (rest if turn % 2 == 0 else corridor.width - 1 - rest), 2 * turn
