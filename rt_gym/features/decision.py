"""A larger set of features for controllers of the lookahead, each in constant time.

The first four are the paper's (``rt_gym.features.history``). The others say what the agent has learned around where it
stands, what lies ahead, and how its last decisions went. Reading the neighbours for them is one scan. Distances and
values are in steps. A controller that deepens layer by layer also sees what the search has found so far: the layers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import STRAIGHT
from rt_gym.features.history import CELL, FEATURES, Track, begin_track, follow, make_track, write_history
from rt_gym.jit import kernel, record, write_fields
from rt_gym.meter import scan
from rt_gym.search.values import value_at
from rt_gym.terrain import STEPS, locate, span

SIGHT = 8  # how many cells ahead are looked at
SHORT = 5  # a short history beside the long one
MEMORY = 0.8  # how much of the trend of rises is left after a step


class Surroundings(NamedTuple):
    """What lies around the agent, how its last decisions went, and how its trip has been."""

    surplus: float  # how far the learned value is above the heuristic
    rise: float  # by how much a lookahead of one would raise it
    best_surplus: float  # the surplus of the best neighbour
    raised_neighbours: int  # how many neighbours have a surplus
    exits: int  # how many neighbours there are
    downhill: int  # how many of them keep what the value promises: cost plus value no larger
    clear_ahead: int  # free cells in a straight line towards the goal, up to SIGHT or the end of the map
    blocked_ahead: int  # blocked cells in that line
    best_gain: float  # how much nearer to the goal, by the heuristic, the best neighbour is
    last_depth: float  # of the last decision
    last_work: float  # its expansions
    last_rise: float  # by how much it raised a value
    rise_trend: float  # a fading sum of rises
    since_update: int  # steps since a value was raised, up to the history
    since_return: int  # steps since a state was entered again that the history holds, up to the history
    short_trip: float  # distance to the state SHORT steps ago
    wasted: float  # cost so far beyond what has been gained on the goal
    away: float  # distance from the start
    moves: int  # steps so far
    turn: int  # by how many eighths the last step turned from the one before


class Layers(NamedTuple):
    """What a search that deepens layer by layer has found so far."""

    layer: int  # how many layers are open
    layer_rise: float  # by how much the search so far would raise the value
    layer_gain: float  # how much of that the last layer added
    flat: int  # for how many layers the value has not risen
    steady: int  # for how many layers the action has not changed
    layer_work: int  # expansions of the last layer


SITUATION = (*FEATURES, *Surroundings._fields)
LAYERS = Layers._fields

# What the features need to know of the past: the last decision, in steps; what the trip has cost so far; where it
# began; how long it is; and the direction and the turn of the last step.
NOTES = record(
    last_depth=float,
    last_work=float,
    last_rise=float,
    rise_trend=float,
    paid=float,
    start=int,
    moves=int,
    since_update=int,
    since_return=int,
    last_step=int,
    turn=int,
)
NO_STEP = -1
COMPASS = np.array([0, 2, 4, 6, 1, 7, 3, 5])  # the direction of an action in eighths of a turn
STEP = np.array(STEPS)


class Situation(NamedTuple):
    """What must be remembered for the features.

    Attributes:
        track: the last steps.
        notes: NOTES[1], running figures.
    """

    track: Track
    notes: NDArray[np.record]


def make_situation(history: int, rows: tuple[int, ...] = ()) -> Situation:
    """Return the memory of the last ``history`` steps, or ``rows`` of it for a batch."""
    return Situation(make_track(history, rows), np.zeros((*rows, 1), NOTES))


@kernel(inline=True)
def begin_situation(situation, s):
    """Begin an episode in ``s``."""
    begin_track(situation.track, s)
    notes = situation.notes[0]
    notes.last_depth = notes.last_work = notes.last_rise = notes.rise_trend = notes.paid = 0.0
    notes.moves = notes.since_update = notes.since_return = notes.turn = 0
    notes.start = s
    notes.last_step = NO_STEP


@kernel(inline=True)
def note_decision(situation, depth, work, rise):
    """Take note of a decision: the depth of its search, its expansions, and by how much it raised a value."""
    notes = situation.notes[0]
    notes.last_depth = depth
    notes.last_work = work
    notes.last_rise = rise / STRAIGHT
    notes.rise_trend = MEMORY * notes.rise_trend + notes.last_rise


@kernel(inline=True)
def note_step(situation, terrain, left, s, raises):
    """Take note of a step from ``left`` to ``s``, after which ``raises`` values have been raised in the whole trial."""
    track, notes = situation.track, situation.notes[0]
    history = track.cells.size
    notes.moves += 1
    notes.since_update = 0 if raises > track.state[0].raised else min(notes.since_update + 1, history)
    notes.since_return = 0 if follow(track, s, raises) else min(notes.since_return + 1, history)
    notes.paid += 1.0
    for d in range(8):
        if left + terrain.offset[d] == s:
            notes.paid += terrain.cost[d] / STRAIGHT - 1.0
            turn = abs(COMPASS[d] - COMPASS[notes.last_step]) if notes.last_step != NO_STEP else 0
            notes.turn = min(turn, 8 - turn)
            notes.last_step = d


@kernel(inline=True)
def recent(situation):
    """Return the state SHORT steps ago, or the start before that, or the oldest that a shorter history holds."""
    cells = situation.track.cells
    place = situation.track.state[0].now - min(SHORT, situation.notes[0].moves, cells.size - 1)
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
    """Write all features of where the agent stands into ``out``, in the order of ``SITUATION``. One scan.

    Cells are located by arithmetic: see ``locate``.
    """
    notes, metric = situation.notes[0], terrain.metric
    x, y = locate(terrain, s)
    goal_x, goal_y = locate(terrain, t)
    start_x, start_y = locate(terrain, notes.start)
    recent_x, recent_y = locate(terrain, recent(situation))
    write_history(situation.track, terrain, s, t, out)
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
    features = Surroundings(
        surplus=(own - first) / STRAIGHT,
        rise=max(best_value - own, 0) / STRAIGHT,
        best_surplus=surplus / STRAIGHT,
        raised_neighbours=raised,
        exits=exits,
        downhill=downhill,
        clear_ahead=clear,
        blocked_ahead=blocked,
        best_gain=(first - near) / STRAIGHT,
        last_depth=notes.last_depth,
        last_work=notes.last_work,
        last_rise=notes.last_rise,
        rise_trend=notes.rise_trend,
        since_update=notes.since_update,
        since_return=notes.since_return,
        short_trip=span(metric, recent_x - x, recent_y - y) / STRAIGHT,
        wasted=notes.paid - span(metric, goal_x - start_x, goal_y - start_y) / STRAIGHT + first / STRAIGHT,
        away=span(metric, start_x - x, start_y - y) / STRAIGHT,
        moves=notes.moves,
        turn=notes.turn,
    )
    write_fields(features, out, len(FEATURES))


@kernel(inline=True)
def write_layers(by_depth, out):
    """Write what the search has found so far, in the order of ``LAYERS``."""
    state = by_depth.state[0]
    depth, below = state.depth, max(state.depth - 1, 0)
    layers = Layers(
        layer=depth,
        layer_rise=(by_depth.value[depth] - by_depth.value[0]) / STRAIGHT,
        layer_gain=(by_depth.value[depth] - by_depth.value[below]) / STRAIGHT,
        flat=state.flat_layers,
        steady=state.steady_layers,
        layer_work=by_depth.work[depth] - by_depth.work[below],
    )
    write_fields(layers, out, 0)


@kernel(inline=True)
def squash(row):
    """Replace every number by its logarithm, so that distances, counts and values have one scale."""
    for k in range(row.size):
        if row[k] != 0:
            row[k] = np.copysign(np.log(np.float32(1) + abs(row[k])), row[k])
