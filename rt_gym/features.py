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
from rt_gym.grid import h0
from rt_gym.jit import kernel

FEATURES = ("goal_distance", "trip_distance", "revisits", "updates")

# Entries of Track.state: steps made, repeated states in the window, steps with an update, raises before the last step.
STEPS, REVISITS, UPDATES, RAISED = range(4)


class Track(NamedTuple):
    """The last n steps of an episode.

    Attributes:
        cells: int32[n + 1], a ring of the last states; entry t % (n + 1) is the state at time t.
        raised: uint8[n + 1], whether the step to that state had raised a value.
        state: int64[4], running counts, so that a feature costs no more than one pass over the window.
    """

    cells: NDArray[np.int32]
    raised: NDArray[np.uint8]
    state: NDArray[np.int64]


def make_track(history: int) -> Track:
    """Return an empty record of so many steps."""
    return Track(np.empty(history + 1, np.int32), np.empty(history + 1, np.uint8), np.zeros(4, np.int64))


@kernel(inline=True)
def begin_track(track, s):
    """Begin an episode in ``s``."""
    track.state[:] = 0
    track.cells[0] = s
    track.raised[0] = 0


@kernel(inline=True)
def follow(track, s, raises):
    """Take note of a step to ``s``, after which ``raises`` values have been raised in the whole trial."""
    cells, state = track.cells, track.state
    ring = cells.size
    t = state[STEPS] + 1
    full = t >= ring - 1
    past = (t + 1) % ring  # the place of the state n steps ago, which now leaves the window
    leaving = np.int64(cells[past]) if full else np.int64(-1)
    again = np.int64(0)
    kept = np.int64(0)
    for k in range(max(t - ring + 2, np.int64(0)), t):
        again |= cells[k % ring] == s
        kept |= cells[k % ring] == leaving
    state[REVISITS] += again
    if full:
        state[REVISITS] -= kept
        state[UPDATES] -= track.raised[past]
    raised = np.uint8(raises > state[RAISED])
    state[UPDATES] += raised
    state[RAISED] = raises
    state[STEPS] = t
    cells[t % ring] = s
    track.raised[t % ring] = raised


@kernel(inline=True)
def write_features(track, terrain, s, t, out):
    """Write the four features, distances in steps, into ``out[0:4]``."""
    ring = track.cells.size
    steps = track.state[STEPS]
    past = track.cells[(steps + 1) % ring] if steps >= ring - 1 else track.cells[0]
    out[0] = h0(terrain, s, t) / STRAIGHT
    out[1] = h0(terrain, s, np.int64(past)) / STRAIGHT
    out[2] = track.state[REVISITS]
    out[3] = track.state[UPDATES]
