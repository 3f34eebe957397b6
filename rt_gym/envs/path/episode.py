"""A path episode: one move, its reward, and the observation; for single and batched environments alike.

A flat observation is one row of float32: ``PARTS`` says what stands where. Coordinates and distances are divided by the
longest side of any map of the environment, so that several maps share one space. An image is one row of uint8.

``memory``, of where the agent has been, is None where that is not observed, so that a test for it costs nothing.

At the end stands the greedy move, by which the simplest policy walks: to the neighbour nearest to the goal by the
heuristic.
"""

from typing import NamedTuple

import numpy as np

from rt_gym.envs.step import MOVED, Rules, make_move
from rt_gym.features.history import FEATURES, begin_track, follow, history_of
from rt_gym.features.image import begin_visits, frame_around, visit, write_goal, write_image, write_visits
from rt_gym.features.window import write_cells
from rt_gym.jit import kernel, write_fields
from rt_gym.meter import UNLIMITED, spent
from rt_gym.terrain import h0, locate
from rt_gym.trip import STAY


class Numbers(NamedTuple):
    """What an observation holds before the window."""

    goal_dx: float  # how many columns the goal is to the east
    goal_dy: float  # how many rows it is to the south
    x: float
    y: float
    goal_distance: float
    trip_distance: float
    revisits: float
    updates: float
    budget: float  # the share of the last move's budget that was left


HISTORY, BUDGET, WINDOW = 4, 4 + len(FEATURES), len(Numbers._fields)
PARTS = {
    "goal": slice(0, 2),
    "position": slice(2, HISTORY),
    "history": slice(HISTORY, BUDGET),
    "budget": slice(BUDGET, WINDOW),
}


class PathTerms(NamedTuple):
    """The settings of a path environment, as kernels take them.

    Attributes:
        rules: those of every environment.
        radius, planes: of the window: how far it reaches, and what it shows (blocked; blocked and unknown).
        per_side, per_step: one divided by the longest side of a map, and by the length of the history.
        still: the action that stands still, -1 if there is none.
    """

    rules: Rules
    radius: int
    planes: int
    per_side: float
    per_step: float
    still: int


@kernel(inline=True)
def write_numbers(terrain, map_begin, track, terms, s, t, left, out):
    """Write all but the window of an observation in ``s``; ``left`` is the share of the budget that a move left.

    ``map_begin`` is the cell where the map begins among several that are concatenated. All is read before anything is
    written: for all the compiler knows, any array may have changed with ``out``.

    Returns:
        Column and row of ``s``.
    """
    x, y = locate(terrain, s - map_begin)
    goal_x, goal_y = locate(terrain, t - map_begin)
    past_x, past_y = locate(terrain, track.state[0].past - map_begin)
    history = history_of(track, terrain.metric, x, y, goal_x, goal_y, past_x, past_y)
    numbers = Numbers(
        goal_dx=(goal_x - x) * terms.per_side,
        goal_dy=(goal_y - y) * terms.per_side,
        x=x * terms.per_side,
        y=y * terms.per_side,
        goal_distance=history.goal_distance * terms.per_side,
        trip_distance=history.trip_distance * terms.per_side,
        revisits=history.revisits * terms.per_step,
        updates=history.updates * terms.per_step,
        budget=left,
    )
    write_fields(numbers, out, 0)
    return x, y


@kernel(inline=True)
def step_path(truth, terrain, trip, track, terms, t, d, unit):
    """Make one move, or lose it to an overrun.

    ``unit`` is what a reward of one is worth: 1, or one divided by the optimal cost.

    Returns:
        The reward, the bits of ``make_move``, and which share of the budget was left.
    """
    meter = trip.meter[0]
    used = spent(meter)
    left = np.float32(1) if meter.limit == UNLIMITED else np.float32(max(1.0 - used / meter.limit, 0.0))
    reward, flags = make_move(truth, terrain, trip, terms.rules, t, d)
    if flags & MOVED:
        follow(track, trip.state[0].at, trip.tally[0].raises)
    return (reward - terms.rules.price * used) * unit, flags, left


@kernel(inline=True)
def write_picture(terrain, first, height, memory, terms, s, t, out):
    """Write an image of what is around ``s`` on a map of so many rows whose cells begin at ``first``."""
    x, y = locate(terrain, s - first)
    goal_x, goal_y = locate(terrain, t - first)
    write_image(terrain, first, memory, frame_around(terrain.offset[1], height, x, y, terms.radius), out)
    write_goal(goal_x - x, goal_y - y, terms.radius, out)


@kernel(inline=True)
def write_observation(terrain, trip, track, terms, memory, t, left, out):
    """Write the observation of the current state."""
    if memory is None:
        write_flat(terrain, trip, track, terms, t, left, out)
    else:
        write_remembered(terrain, trip, track, terms, memory, memory.blank, t, left, out)


@kernel(inline=True)
def write_flat(terrain, trip, track, terms, t, left, out):
    """Write numbers and window, and return where the agent is."""
    x, y = write_numbers(terrain, np.int64(0), track, terms, trip.state[0].at, t, left, out)
    write_cells(terrain, x, y, terms.radius, terms.planes, out[WINDOW:])
    return x, y


@kernel(inline=True)
def write_remembered(terrain, trip, track, terms, memory, blank, t, left, out):
    """Write an image, or a flat observation and the plane of visits."""
    height = terrain.free.size // terrain.offset[1] - 2
    if blank is None:
        x, y = write_flat(terrain, trip, track, terms, t, left, out)
        frame = frame_around(terrain.offset[1], height, x, y, terms.radius)
        write_visits(memory.visits, frame, out[out.size - frame.side * frame.side :])
    else:
        write_picture(terrain, np.int64(0), height, memory, terms, trip.state[0].at, t, out)


@kernel
def begin(episode, out):
    """Begin an episode in a world that has been set up, and write its first observation."""
    terrain, trip, track, memory = episode.terrain, episode.trip, episode.track, episode.memory
    begin_track(track, trip.state[0].at)
    begin_visits(memory, terrain.free.size, trip.state[0].at)
    write_observation(terrain, trip, track, episode.terms, memory, episode.task[0].goal, np.float32(1), out)


@kernel
def step(episode, action, out):
    """Make one step and write the next observation.

    Returns:
        The reward, the bits of ``make_move``, expansions and scans of the move, and the moves out of the new cell.
    """
    truth, terrain, trip = episode.truth, episode.terrain, episode.trip
    track, terms, task, memory = episode.track, episode.terms, episode.task[0], episode.memory
    expansions, scans, t = trip.meter[0].expansions, trip.meter[0].scans, task.goal
    d = np.int64(STAY) if action == terms.still else action
    reward, flags, left = step_path(truth, terrain, trip, track, terms, t, d, task.unit)
    if flags & MOVED:
        visit(memory, trip.state[0].at)
    write_observation(terrain, trip, track, terms, memory, t, left, out)
    return reward, flags, expansions, scans, terrain.mask[trip.state[0].at]


@kernel(inline=True)
def nearest_step(terrain, s, t):
    """Return the legal move from ``s`` to the cell nearest to ``t``, the first of several; 0 where there is none."""
    best, least = np.int64(0), np.int64(-1)
    for d in range(8):
        if terrain.mask[s] >> d & 1:
            h = h0(terrain, s + terrain.offset[d], t)
            if least < 0 or h < least:
                best, least = np.int64(d), h
    return best


@kernel
def greedy_step(episode):
    """Return the greedy move of a single environment."""
    return nearest_step(episode.terrain, episode.trip.state[0].at, episode.task[0].goal)
