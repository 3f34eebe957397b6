"""A path episode: one move, its reward, and the numbers of an observation; for single and batched environments alike.

An observation is one row of float32: ``PARTS`` says what stands where. Coordinates and distances are divided by the
longest side of any map of the environment, so that several maps share one space.
"""

import numpy as np

from rt_gym.envs.move import MOVED, PRICE, make_move
from rt_gym.features.history import FEATURES, features_of, follow
from rt_gym.grid import locate
from rt_gym.jit import kernel
from rt_gym.meter import UNLIMITED

# Where the parts of an observation begin; the window fills the rest.
GOAL, POSITION, HISTORY, BUDGET, WINDOW = 0, 2, 4, 4 + len(FEATURES), 5 + len(FEATURES)
PARTS = {
    "goal": slice(GOAL, POSITION),
    "position": slice(POSITION, HISTORY),
    "history": slice(HISTORY, BUDGET),
    "budget": slice(BUDGET, WINDOW),
}

# Entries of Terms.size after MAX_MOVES: radius of the window, number of its planes; and of Terms.scale.
RADIUS, PLANES = 1, 2
PER_SIDE, PER_STEP = range(2)


@kernel(inline=True)
def write_numbers(terrain, home, track, terms, s, t, left, out):
    """Write all but the window of an observation in ``s``; ``left`` is the share of the budget that a move left.

    ``home`` is the cell where the map begins, in a row of several. All is read before anything is written: for all the
    compiler knows, any array may have changed with ``out``.

    Returns:
        Column and row of ``s``.
    """
    x, y = locate(terrain, s - home)
    goal_x, goal_y = locate(terrain, t - home)
    past_x, past_y = locate(terrain, track.state[0].past - home)
    scale, per_step = terms.scale[PER_SIDE], terms.scale[PER_STEP]
    goal_distance, trip_distance, revisits, updates = features_of(
        track, terrain.metric, x, y, goal_x, goal_y, past_x, past_y
    )
    out[GOAL] = (goal_x - x) * scale
    out[GOAL + 1] = (goal_y - y) * scale
    out[POSITION] = x * scale
    out[POSITION + 1] = y * scale
    out[HISTORY] = goal_distance * scale
    out[HISTORY + 1] = trip_distance * scale
    out[HISTORY + 2] = revisits * per_step
    out[HISTORY + 3] = updates * per_step
    out[BUDGET] = left
    return x, y


@kernel(inline=True)
def step_episode(truth, terrain, trip, track, terms, t, d, unit):
    """Make one move, or lose it to an overrun.

    ``unit`` is what a reward of one is worth: 1, or one divided by the optimal cost.

    Returns:
        The reward, the bits of ``make_move``, and which share of the budget was left.
    """
    meter = trip.meter
    used = meter[meter[COUNT]]
    left = np.float32(1) if meter[LIMIT] == UNLIMITED else np.float32(max(1.0 - used / meter[LIMIT], 0.0))
    reward, flags = make_move(truth, terrain, trip, terms, t, d)
    if flags & MOVED:
        follow(track, meter[AT], trip.tally[0].raises)
    return (reward - terms.reward[PRICE] * used) * unit, flags, left
