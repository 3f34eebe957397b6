"""To walk ahead in thought: where the walk has led, without its loops, and what must be undone if it is given up.

What it is for is said in ``agents.building_block_lrta``. The walk is a list of cells from where the agent stands to
where it is in thought. A step to a cell on the list cuts off what follows: that was a loop. Positions in the list only
grow; both lists are rings, as long as the map has cells.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel, record
from rt_gym.pages import Paged, arrays_for, make_cells, read, write
from rt_gym.search.layers import direction

# Where in the list the agent and its thought are; how many steps were made in thought; and which of the deletions can
# still be undone, from the first to before the last.
WALK = record(here=int, there=int, time=int, first=int, last=int)


class Walk(NamedTuple):
    """A walk ahead.

    Attributes:
        cell: int32, the cells of the walk.
        since: int64, for each of them the time when the thought came there last.
        place: int64 per cell, where in the list it stood last.
        deleted: int32, the cells that were deleted on the way.
        when: int64, the time when each of them was.
        state: WALK[1].
    """

    cell: NDArray[np.int32]
    since: NDArray[np.int64]
    place: NDArray[np.int64] | Paged
    deleted: NDArray[np.int32]
    when: NDArray[np.int64]
    state: NDArray[np.record]

    @property
    def held(self) -> int:
        """How many bytes the entries in use take; those of the cells say so themselves where they are pages."""
        state = self.state[0]
        walked, undone = int(state.there - state.here) + 1, int(state.last - state.first)
        own = 0 if isinstance(self.place, Paged) else self.place.nbytes
        return own + walked * (self.cell.itemsize + self.since.itemsize) + undone * (4 + 8)


def make_walk(cells: int, walks: bool) -> Walk:
    """Return the lists for a map with this many cells; none if the agent does not walk ahead."""
    room = cells if walks else 1
    cell, since, deleted, when = arrays_for(cells, room, np.int32, np.int64, np.int32, np.int64)
    place: Any = make_cells(cells, np.int64) if walks else np.zeros(1, np.int64)
    return Walk(cell, since, place, deleted, when, np.zeros(1, WALK))


def forget_walk(walk: Walk) -> None:
    """Let the walk begin anew with the next plan: no agent stands in cell 0, which belongs to the border."""
    walk.state[0].here = walk.state[0].there
    walk.cell[int(walk.state[0].here) % walk.cell.size] = 0


@kernel(inline=True)
def cell_at(walk, k):
    """Return the k-th cell of the list."""
    return np.int64(walk.cell[k % walk.cell.size])


@kernel(inline=True)
def enter(walk, k, cell):
    """Let the thought be in a cell, the k-th of the list."""
    walk.cell[k % walk.cell.size] = cell
    walk.since[k % walk.cell.size] = walk.state[0].time
    write(walk.place, cell, k)
    walk.state[0].there = k


@kernel
def begin_walk(walk, s):
    """Let agent and thought be in ``s``, with nothing that could be undone."""
    state = walk.state[0]
    state.here = state.there + 1
    state.first = state.last
    enter(walk, state.here, s)


@kernel(inline=True)
def place_of(walk, cell):
    """Return where in the list a cell stands, -1 if it does not."""
    k = read(walk.place, cell)
    return k if walk.state[0].here <= k <= walk.state[0].there and cell_at(walk, k) == cell else np.int64(-1)


@kernel(inline=True)
def go_ahead(walk, cell):
    """Make a step in thought, and cut off the loop that it closes, if any."""
    walk.state[0].time += 1
    k = place_of(walk, cell)
    enter(walk, k if k >= 0 else walk.state[0].there + 1, cell)


@kernel
def is_blocked(terrain, here, there):
    """Whether a step that was legal is not any more: its end has closed, or too many of the cells beside a diagonal."""
    d = direction(terrain, here, there)
    if d < 4:
        return terrain.free[there] == 0
    along = terrain.offset[0 if d < 6 else 2]
    beside = np.int64(terrain.free[here + along]) + np.int64(terrain.free[there - along])
    return terrain.free[there] == 0 or beside < 2 - terrain.rule[0].corner


@kernel
def is_broken(terrain, walk, closed):
    """Whether a step of the walk is illegal because a cell has closed: it leads there or past its corner."""
    for d in range(9):
        k = place_of(walk, closed + (terrain.offset[d] if d < 8 else 0))
        for j in (k - 1, k):
            if k >= 0 and walk.state[0].here <= j < walk.state[0].there:
                if is_blocked(terrain, cell_at(walk, j), cell_at(walk, j + 1)):
                    return True
    return False


@kernel(inline=True)
def note_deletion(walk, cell):
    """Take note of a deletion; return whether there was room."""
    state = walk.state[0]
    if state.last - state.first >= walk.deleted.size:
        return False
    walk.deleted[state.last % walk.deleted.size] = cell
    walk.when[state.last % walk.deleted.size] = state.time
    state.last += 1
    return True


@kernel(inline=True)
def follow(walk):
    """Return the cell that the agent goes to next; what was deleted before the thought came there stays so."""
    state = walk.state[0]
    state.here += 1
    begin = walk.since[state.here % walk.cell.size]
    while state.first < state.last and walk.when[state.first % walk.deleted.size] < begin:
        state.first += 1
    return cell_at(walk, state.here)


@kernel
def give_up(walk, gone):
    """Let the thought come back to the agent, and undo what was deleted since it was there last."""
    state = walk.state[0]
    for k in range(state.first, state.last):
        write(gone, np.int64(walk.deleted[k % walk.deleted.size]), 0)
    state.last = state.first
    state.there = state.here
