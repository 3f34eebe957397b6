"""A larger set of features for controllers of the lookahead, each in constant time, all defined here.

The first four are the paper's (``rt_gym.features``). The others say what the agent has learned around where it stands,
what lies ahead, and how its last decisions went. Reading the neighbours for them is one scan. Distances and values are
in steps. A controller that deepens layer by layer also sees what the search has found so far: the ``LAYERS``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.budget import scan
from rt_gym.cost import STRAIGHT
from rt_gym.features import CELL, FEATURES, NOW, RAISED, Track, begin_track, follow, make_track, write_features
from rt_gym.grid import STEPS, locate, span
from rt_gym.jit import kernel
from rt_gym.search.deepening import DEPTH, FLAT, STEADY
from rt_gym.search.values import value_at

SIGHT = 8  # how many cells ahead are looked at
SHORT = 5  # a short history beside the long one
MEMORY = 0.8  # how much of the trend of rises is left after a step

SITUATION = (
    *FEATURES,
    "surplus",  # how far the learned value is above the heuristic
    "rise",  # by how much a lookahead of one would raise it
    "best_surplus",  # the surplus of the best neighbour
    "raised_neighbours",  # how many neighbours have a surplus
    "exits",  # how many neighbours there are
    "downhill",  # how many of them keep what the value promises: cost plus value no larger
    "clear_ahead",  # free cells in a straight line towards the goal, up to SIGHT or the end of the map
    "blocked_ahead",  # blocked cells in that line
    "best_gain",  # how much nearer to the goal, by the heuristic, the best neighbour is
    "last_depth",  # of the last decision
    "last_work",  # its expansions
    "last_rise",  # by how much it raised a value
    "rise_trend",  # a fading sum of rises
    "since_update",  # steps since a value was raised, up to the history
    "since_return",  # steps since a state was entered again that the history holds, up to the history
    "short_trip",  # distance to the state SHORT steps ago
    "wasted",  # cost so far beyond what has been gained on the goal
    "away",  # distance from the start
    "moves",  # steps so far
    "turn",  # by how many eighths the last step turned from the one before
)
LAYERS = (
    "layer",  # how many layers are open
    "layer_rise",  # by how much the search so far would raise the value
    "layer_gain",  # how much of that the last layer added
    "flat",  # for how many layers the value has not risen
    "steady",  # for how many layers the action has not changed
    "layer_work",  # expansions of the last layer
)

# Entries of Situation.facts, all in steps, and of Situation.marks.
LAST_DEPTH, LAST_WORK, LAST_RISE, RISE_TREND, PAID = range(5)
START, MOVES, SINCE_UPDATE, SINCE_RETURN, LAST_STEP, TURN = range(6)
NO_STEP = -1
COMPASS = np.array([0, 2, 4, 6, 1, 7, 3, 5])  # the direction of an action in eighths of a turn
STEP = np.array(STEPS)


class Situation(NamedTuple):
    """What must be remembered for the features.

    Attributes:
        track: the last steps.
        facts, marks: running figures, see above.
    """

    track: Track
    facts: NDArray[np.float64]
    marks: NDArray[np.int64]


def make_situation(history: int) -> Situation:
    """Return room for the history of so many steps."""
    return Situation(make_track(history), np.zeros(5), np.zeros(6, np.int64))


@kernel(inline=True)
def begin_situation(situation, s):
    """Begin an episode in ``s``."""
    begin_track(situation.track, s)
    situation.facts[:] = 0.0
    situation.marks[:] = 0
    situation.marks[START] = s
    situation.marks[LAST_STEP] = NO_STEP


@kernel(inline=True)
def note_decision(situation, depth, work, rise):
    """Take note of a decision: the depth of its search, its expansions, and by how much it raised a value."""
    facts = situation.facts
    facts[LAST_DEPTH] = depth
    facts[LAST_WORK] = work
    facts[LAST_RISE] = rise / STRAIGHT
    facts[RISE_TREND] = MEMORY * facts[RISE_TREND] + facts[LAST_RISE]


@kernel(inline=True)
def note_step(situation, terrain, left, s, raises):
    """Take note of a step from ``left`` to ``s``, after which ``raises`` values have been raised in the whole trial."""
    track, marks = situation.track, situation.marks
    history = track.cells.size
    marks[MOVES] += 1
    marks[SINCE_UPDATE] = 0 if raises > track.state[RAISED] else min(marks[SINCE_UPDATE] + 1, history)
    marks[SINCE_RETURN] = 0 if follow(track, s, raises) else min(marks[SINCE_RETURN] + 1, history)
    situation.facts[PAID] += 1.0
    for d in range(8):
        if left + terrain.offset[d] == s:
            situation.facts[PAID] += terrain.cost[d] / STRAIGHT - 1.0
            turn = abs(COMPASS[d] - COMPASS[marks[LAST_STEP]]) if marks[LAST_STEP] != NO_STEP else 0
            marks[TURN] = min(turn, 8 - turn)
            marks[LAST_STEP] = d


@kernel(inline=True)
def recent(situation):
    """Return the state SHORT steps ago, or the start before that, or the oldest that a shorter history holds."""
    cells = situation.track.cells
    place = situation.track.state[NOW] - min(SHORT, situation.marks[MOVES], cells.size - 1)
    return np.int64(cells[place if place >= 0 else place + cells.size] & CELL)


@kernel(inline=True)
def look_straight(terrain, x, y, dx, dy):
    """Return how many cells ahead are free before the first that is not, and how many of all are not.

    The line ends with the map: beyond it, flat indices go on in another row.
    """
    stride = terrain.offset[1]
    width, height = stride - 2, terrain.free.size // stride - 2
    clear, blocked = 0, 0
    for k in range(1, SIGHT + 1):
        column, row = x + k * dx, y + k * dy
        if column < 0 or column >= width or row < 0 or row >= height:
            break
        blocked += terrain.free[(row + 1) * stride + column + 1] == 0
        clear += blocked == 0
    return clear, blocked


@kernel
def write_situation(situation, terrain, trip, h, s, t, out):
    """Write all features of where the agent stands, in the order of ``SITUATION``. One scan.

    Cells are located by arithmetic: see ``locate``.
    """
    track, facts, marks, metric = situation.track, situation.facts, situation.marks, terrain.metric
    x, y = locate(terrain, s)
    goal_x, goal_y = locate(terrain, t)
    start_x, start_y = locate(terrain, marks[START])
    recent_x, recent_y = locate(terrain, recent(situation))
    write_features(track, terrain, x, y, goal_x, goal_y, out)
    k = len(FEATURES)
    own, first = value_at(h, terrain, s, t), span(metric, goal_x - x, goal_y - y)
    best_value, near, surplus, exits, downhill, raised = np.int64(0), first, own - first, 0, 0, 0
    scan(trip)
    moves = terrain.mask[s]
    for d in range(8):
        if moves >> d & 1:
            value = value_at(h, terrain, s + terrain.offset[d], t)
            promised = span(metric, goal_x - x - STEP[d, 0], goal_y - y - STEP[d, 1])
            exits += 1
            raised += value > promised
            downhill += terrain.cost[d] + value <= own
            if exits == 1 or terrain.cost[d] + value < best_value:
                best_value, near, surplus = terrain.cost[d] + value, promised, value - promised
    clear, blocked = look_straight(terrain, x, y, np.sign(goal_x - x), np.sign(goal_y - y))
    out[k] = (own - first) / STRAIGHT
    out[k + 1] = max(best_value - own, 0) / STRAIGHT
    out[k + 2] = surplus / STRAIGHT
    out[k + 3] = raised
    out[k + 4] = exits
    out[k + 5] = downhill
    out[k + 6] = clear
    out[k + 7] = blocked
    out[k + 8] = (first - near) / STRAIGHT
    out[k + 9] = facts[LAST_DEPTH]
    out[k + 10] = facts[LAST_WORK]
    out[k + 11] = facts[LAST_RISE]
    out[k + 12] = facts[RISE_TREND]
    out[k + 13] = marks[SINCE_UPDATE]
    out[k + 14] = marks[SINCE_RETURN]
    out[k + 15] = span(metric, recent_x - x, recent_y - y) / STRAIGHT
    out[k + 16] = facts[PAID] - span(metric, goal_x - start_x, goal_y - start_y) / STRAIGHT + first / STRAIGHT
    out[k + 17] = span(metric, start_x - x, start_y - y) / STRAIGHT
    out[k + 18] = marks[MOVES]
    out[k + 19] = marks[TURN]


@kernel(inline=True)
def write_layers(ladder, out):
    """Write what the search has found so far, in the order of ``LAYERS``."""
    depth = ladder.state[DEPTH]
    below = max(depth - 1, 0)
    out[0] = depth
    out[1] = (ladder.value[depth] - ladder.value[0]) / STRAIGHT
    out[2] = (ladder.value[depth] - ladder.value[below]) / STRAIGHT
    out[3] = ladder.state[FLAT]
    out[4] = ladder.state[STEADY]
    out[5] = ladder.work[depth] - ladder.work[below]


@kernel(inline=True)
def squash(row):
    """Replace every number by its logarithm, so that distances, counts and values have one scale."""
    for k in range(row.size):
        if row[k] != 0:
            row[k] = np.copysign(np.log(np.float32(1) + abs(row[k])), row[k])
