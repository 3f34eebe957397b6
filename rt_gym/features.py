"""The history features of the depth-control paper, defined once for environments, agents and training.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007. At time t, with a history of n steps:

1. ``goal_distance``: the heuristic from the current state to the goal (the initial one, not the learned);
2. ``trip_distance``: the heuristic from the current state to the state n steps ago, or to the start before that;
3. ``revisits``: the length of the window of the last n states, the current one included, minus the distinct ones in it;
4. ``updates``: how many of the last n steps raised a learned value.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import STRAIGHT
from rt_gym.grid import locate, span
from rt_gym.jit import kernel

FEATURES = ("goal_distance", "trip_distance", "revisits", "updates")

# Entries of Track.state: steps made, the place of the current state in the ring, repeated states in the window, steps
# with an update, raises before the last step.
STEPS, NOW, REVISITS, UPDATES, RAISED = range(5)


class Track(NamedTuple):
    """The last n steps of an episode.

    Attributes:
        cells: int32[n + 1], a ring of the last states, the current one and that of n steps ago included.
        raised: uint8[n + 1], whether the step to that state had raised a value.
        state: int64[5], running counts, so that a feature costs no more than one pass over the window.
    """

    cells: NDArray[np.int32]
    raised: NDArray[np.uint8]
    state: NDArray[np.int64]


def make_track(history: int) -> Track:
    """Return an empty record of so many steps."""
    return Track(np.empty(history + 1, np.int32), np.empty(history + 1, np.uint8), np.zeros(RAISED + 1, np.int64))


@kernel(inline=True)
def begin_track(track, s):
    """Begin an episode in ``s``."""
    track.state[:] = 0
    track.cells[0] = s
    track.raised[0] = 0


@kernel(inline=True)
def after(place, ring):
    """Return the next place of a ring; a division would cost more than all the rest of a step's bookkeeping."""
    return place + 1 if place + 1 < ring else np.int64(0)


@kernel(inline=True)
def follow(track, s, raises):
    """Take note of a step to ``s``, after which ``raises`` values have been raised in the whole trial."""
    cells, state = track.cells, track.state
    ring = cells.size
    t = state[STEPS] + 1
    now = after(state[NOW], ring)
    past = after(now, ring)
    full = t >= ring - 1  # then the state in place ``past``, n steps ago, leaves the window
    leaving, stale = cells[past], cells[now]
    again, kept = np.int64(0), np.int64(0)
    for k in range(min(t, ring)):
        again += cells[k] == s
        kept += cells[k] == leaving
    if t >= ring:  # what is about to be overwritten has been counted, too; to blot it out first would be slower
        again -= stale == s
        kept -= stale == leaving
    if full:
        again -= leaving == s
        state[REVISITS] -= kept > 1
        state[UPDATES] -= track.raised[past]
    state[REVISITS] += again > 0
    raised = np.uint8(raises > state[RAISED])
    state[UPDATES] += raised
    state[RAISED] = raises
    state[STEPS] = t
    state[NOW] = now
    cells[now] = s
    track.raised[now] = raised


@kernel(inline=True)
def write_features(track, terrain, x, y, goal_x, goal_y, out):
    """Write the four features of the state at ``(x, y)``, distances in steps, into ``out[0:4]``."""
    ring = track.cells.size
    steps = track.state[STEPS]
    past = track.cells[after(track.state[NOW], ring)] if steps >= ring - 1 else track.cells[0]
    past_x, past_y = locate(terrain, np.int64(past))
    out[0] = span(terrain.metric, goal_x - x, goal_y - y) / STRAIGHT
    out[1] = span(terrain.metric, past_x - x, past_y - y) / STRAIGHT
    out[2] = track.state[REVISITS]
    out[3] = track.state[UPDATES]
