"""The truth: the map as it is, when it changes, and what of that reaches the agent."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.belief import in_sight, notice, sense
from rt_gym.grid import Grid
from rt_gym.jit import kernel, record
from rt_gym.pages import is_large
from rt_gym.problem import Problem

# The vision radius; which change comes next; whether the agent's cell closes when it is left.
SCHEDULE = record(vision=int, due=int, held=int)


class Truth(NamedTuple):
    """What only the world knows.

    Attributes:
        free: uint8, 1 where the cell is free now.
        when, where, opens: the scheduled changes, ordered by time.
        state: SCHEDULE[1], what the agent sees and how far the changes are.
    """

    free: NDArray[np.uint8]
    when: NDArray[np.int64]
    where: NDArray[np.int32]
    opens: NDArray[np.uint8]
    state: NDArray[np.record]


def make_truth(problem: Problem) -> Truth:
    """Return the true map of a problem and its schedule, as they are at time zero."""
    grid, changes = problem.grid, problem.changes or ()
    state = np.zeros(1, SCHEDULE)
    state["vision"] = sight(problem)
    return Truth(
        free=own_cells(grid) if changes else grid.terrain.free,
        when=np.array([change.time for change in changes], np.int64),
        where=np.array([grid.cell(change.position) for change in changes], np.int32),
        opens=np.array([change.free for change in changes], np.uint8),
        state=state,
    )


def own_cells(grid: Grid) -> NDArray[np.uint8]:
    """Return the true cells of a map for a world that may change them; on a large map as ``first_belief`` does."""
    if is_large(grid.terrain.free.size):
        (free,) = grid.true_cells.copies()
        return free
    return grid.terrain.free.copy()


def with_own_cells(truth: Truth, grid: Grid) -> Truth:
    """Return the truth with cells of its own; where changes are scheduled it has them already."""
    return truth if truth.when.size > 0 else truth._replace(free=own_cells(grid))


def renew_cells(free: NDArray[np.uint8], grid: Grid) -> None:
    """Undo all changes of cells that ``own_cells`` has returned."""
    if is_large(free.size):
        grid.true_cells.renew([free])
    else:
        free[:] = grid.terrain.free


def sight(problem: Problem) -> int:
    """Return the vision radius as kernels take it: -1 on a known map that changes, 0 on one that does not."""
    if problem.vision is None:
        return -1 if problem.changes else 0
    return min(problem.vision, problem.grid.width + problem.grid.height)


@kernel
def edit(truth, terrain, trip, cell, free):
    """Change the true map; with a known map the agent hears of it at once."""
    truth.free[cell] = free
    if truth.state[0].vision < 0:
        notice(terrain, trip, cell, free)


@kernel(inline=True)
def observe(truth, terrain, trip, left, s):
    """Let the changes happen that are due, then sense. The agent came from ``left`` and stands on ``s``."""
    state = truth.state[0]
    if state.held != 0 and left != s:
        state.held = 0
        edit(truth, terrain, trip, left, np.uint8(0))
    while state.due < truth.when.size and truth.when[state.due] <= trip.tally[0].moves:
        k = state.due
        state.due += 1
        if truth.where[k] == s:
            state.held = 1 - truth.opens[k]
        else:
            edit(truth, terrain, trip, np.int64(truth.where[k]), truth.opens[k])
    if state.vision > 0:
        sense(truth.free, terrain, trip, s, state.vision)


@kernel
def edit_now(world, cell, free):
    """Change the true map between two moves; an agent that looks at the cell sees it. Its own waits to be closed."""
    truth, terrain, trip = world.truth, world.terrain, world.trip
    state, s = truth.state[0], trip.state[0].at
    if cell == s:
        state.held = 1 - free
        return
    edit(truth, terrain, trip, cell, np.uint8(free))
    if state.vision > 0 and in_sight(terrain, s, cell, state.vision):
        notice(terrain, trip, cell, np.uint8(free))


@kernel
def look_around(world, start):
    """Let the agent sense before its first move; with a known map it hears of all that is not as it believes."""
    truth, terrain, trip = world.truth, world.terrain, world.trip
    if truth.state[0].vision < 0:
        for cell in range(truth.free.size):
            if terrain.free[cell] != truth.free[cell]:
                notice(terrain, trip, cell, truth.free[cell])
    observe(truth, terrain, trip, start, start)


@kernel
def place_agent(world, cell):
    """Put the agent elsewhere without a move, and let it sense there."""
    truth, state = world.truth, world.trip.state[0]
    left = state.at
    state.at = cell
    if truth.state[0].vision != 0:
        observe(truth, world.terrain, world.trip, left, cell)
