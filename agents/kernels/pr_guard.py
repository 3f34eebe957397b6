"""What keeps PR LRTS from going in circles, and from trusting regions where the map has changed."""

import numpy as np

from agents.kernels.pr_corridor import lead_along
from agents.kernels.pr_memory import CHOOSING, ON_CELLS
from rt_gym.cost import INF
from rt_gym.jit import kernel
from rt_gym.terrain import fill_h0


@kernel(inline=True)
def notice_circles(memory, a, change):
    """Take note of a plan in a region: without any change since the last one there, the agent goes in circles."""
    state = memory.state[0]
    if change > 0:
        state.changes += 1
        state.circling = 0
    elif memory.planned[a] == state.changes:
        memory.guarded[0].times += 1 - state.circling
        state.circling = 1
    memory.planned[a] = state.changes


@kernel
def retry_or_close(memory):
    """After a corridor without a way: try the first step alone, else close it; False if there is nothing to try."""
    state = memory.state[0]
    if state.length == 0:
        return False
    if state.length > 1:
        lead_along(memory, np.int64(1))
        return True
    memory.graph.prices[state.edge] = INF
    state.closed_edges += 1
    state.changes += 1
    state.doing = CHOOSING
    return True


@kernel
def go_on_among_cells(terrain, memory, t):
    """Go on as LRTA* on the cells."""
    if memory.cell_values[t] != 0:
        fill_h0(terrain, t, memory.cell_values)
    memory.state[0].doing = ON_CELLS
    memory.guarded[0].times += 1


@kernel(inline=True)
def count_guarded(trip, memory, before):
    """Count the expansions of a move while a guard acts; ``before`` is what the meter said when it began."""
    if memory.state[0].circling != 0 or memory.state[0].doing == ON_CELLS:
        memory.guarded[0].expansions += trip.meter[0].expansions - before
