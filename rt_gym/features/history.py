"""The history features of the depth-control paper, defined once for environments, agents and training.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007. At time t, with a history of n steps:

1. ``goal_distance``: the heuristic from the current state to the goal (the initial one, not the learned);
2. ``trip_distance``: the heuristic from the current state to the state n steps ago, or to the start before that;
3. ``revisits``: the length of the window of the last n states, the current one included, minus the distinct ones in it;
4. ``updates``: how many of the last n steps raised a learned value.

Distances are in steps.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import STRAIGHT
from rt_gym.jit import kernel, record, write_fields
from rt_gym.terrain import locate, span


class History(NamedTuple):
    """The four features."""

    goal_distance: float
    trip_distance: float
    revisits: int
    updates: int


FEATURES = History._fields

# The place of the current state in the ring, the state of n steps ago (or the start), repeated states in the window,
# steps with an update, raises before the last step.
COUNTS = record(now=int, past=int, revisits=int, updates=int, raised=int)

NOWHERE = -1  # in places of the ring that no state has come to yet
RETURNS = 30  # the bit that marks a state which the window has again, later
CELL = np.int32((1 << RETURNS) - 1)


class Track(NamedTuple):
    """The last n steps of an episode.

    Attributes:
        cells: int32[n], a ring of the last states, the current one included, with their marks.
        raised: uint8[n], whether the step to that state had raised a value.
        state: COUNTS[1], running counts, so that a step costs no more than one pass over the window.
    """

    cells: NDArray[np.int32]
    raised: NDArray[np.uint8]
    state: NDArray[np.record]


def make_track(history: int, rows: tuple[int, ...] = ()) -> Track:
    """Return an empty record of the last ``history`` steps, or ``rows`` of them for a batch."""
    return Track(
        cells=np.empty((*rows, history), np.int32),
        raised=np.empty((*rows, history), np.uint8),
        state=np.zeros((*rows, 1), COUNTS),
    )


@kernel(inline=True)
def begin_track(track, s):
    """Begin an episode in ``s``."""
    track.cells[:] = NOWHERE
    track.raised[:] = 0
    state = track.state[0]
    state.now = state.revisits = state.updates = state.raised = 0
    track.cells[0] = s
    state.past = s


@kernel(inline=True)
def follow(track, s, raises):
    """Take note of a step to ``s``, after which ``raises`` values have been raised in the whole trial.

    Returns:
        Whether the window holds ``s`` once more.
    """
    cells, state = track.cells, track.state[0]
    now = state.now + 1 if state.now + 1 < cells.size else np.int64(0)  # a division would cost more
    leaving = cells[now]
    again = False
    for k in range(cells.size):  # without a branch: whether a state returns is hard to predict
        same = cells[k] & CELL == np.int32(s)
        again |= same
        cells[k] |= np.int32(same) << np.int32(RETURNS)
    if leaving != NOWHERE:
        if leaving & CELL == np.int32(s):
            again = leaving >> RETURNS != 0
        state.past = leaving & CELL
        state.revisits -= leaving >> RETURNS
        state.updates -= track.raised[now]
    state.revisits += np.int64(again)
    raised = np.uint8(raises > state.raised)
    state.updates += raised
    state.raised = raises
    state.now = now
    cells[now] = s
    track.raised[now] = raised
    return again


@kernel(inline=True)
def history_of(track, metric, x, y, goal_x, goal_y, past_x, past_y):
    """Return the four features of the state at ``(x, y)``, given where the goal and the state of n steps ago are."""
    state = track.state[0]
    return History(
        goal_distance=span(metric, goal_x - x, goal_y - y) * (1.0 / STRAIGHT),
        trip_distance=span(metric, past_x - x, past_y - y) * (1.0 / STRAIGHT),
        revisits=state.revisits,
        updates=state.updates,
    )


@kernel(inline=True)
def write_history(track, terrain, s, t, out):
    """Write the four features of the state ``s`` on the way to ``t`` into ``out[0:4]``."""
    x, y = locate(terrain, s)
    goal_x, goal_y = locate(terrain, t)
    past_x, past_y = locate(terrain, track.state[0].past)
    write_fields(history_of(track, terrain.metric, x, y, goal_x, goal_y, past_x, past_y), out, 0)
