"""What a pattern database would take, before it is built: see ``agents.knowledge.pdb``."""

from collections.abc import Callable
from functools import partial
from time import thread_time

import numpy as np
from numpy.typing import NDArray

from agents.knowledge.pdb import NO_FAR, SUBGOAL, entry_type
from agents.knowledge.pdb_entries import FAR, MODES, SUBGOALS, fill_column, fill_hops, make_buffers, make_region_arrays
from rt_gym.abstraction import Abstraction
from rt_gym.grid import Grid

_SAMPLE = 128  # regions that an estimate looks at
_FAR_BYTES = NO_FAR.itemsize * NO_FAR.shape[1]


def estimate(
    grid: Grid, abstraction: Abstraction, mode: str, cap: int, goals: int | None = None, subgoal: str = SUBGOAL
) -> tuple[float, int]:
    """Return how many seconds of one core a database takes, and how many bytes before it is packed.

    The work is done for a few regions and timed; ``goals`` is the number of goal regions, by default all.
    """
    count, goals = abstraction.regions, abstraction.regions if goals is None else goals
    size = goals * count * np.dtype(entry_type(abstraction, cap)).itemsize + 2 * abstraction.near.size
    if count == 0:
        return 0.0, size
    regions, buffers = make_region_arrays(abstraction), make_buffers(grid.terrain.mask.size, cap)
    column, hops = np.empty(count, np.int32), np.empty(abstraction.near.size, np.uint16)
    some = np.unique(np.linspace(0, count - 1, _SAMPLE).astype(np.int32))
    few, readings = some[:: -(-some.size // 4)], (MODES.index(mode), SUBGOALS.index(subgoal))

    def fill(starts: NDArray[np.int32]) -> int:
        far = 0
        for goal in few:
            fill_column(grid.terrain, regions, buffers, int(goal), *readings, cap, starts, column)
            far += int(np.count_nonzero(column[starts] <= FAR))
        return far

    def hop() -> None:
        for region in some:
            fill_hops(grid.terrain, regions, buffers, int(region), cap, hops)

    field, entries = (_seconds(partial(fill, starts)) / few.size for starts in (some[:0], some))
    around = 0.0 if mode == "G" else _seconds(hop) * count / some.size
    size += goals * count * fill(some) * _FAR_BYTES // (few.size * some.size)
    return around + goals * (field + max(0.0, entries - field) * count / some.size), size


def _seconds(task: Callable[[], object]) -> float:
    """Return the CPU seconds of a task that has been done before, so that nothing is compiled and no page is new."""
    task()
    began = thread_time()
    task()
    return thread_time() - began
