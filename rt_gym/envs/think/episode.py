"""One step of an episode of thinking or acting: a slice of search while the agent stands, or a move.

``rt_gym.search.slices`` says what thinking and acting are, and has the kernels.

Readings:
- A slice lasts one move and costs as much as standing still. Acting expands nothing.
- Later acts follow the committed path while it is unblocked. Thinking on the way drops it and begins a new search.
- Where there is neither a search nor a committed path, to act is to think. Where one of them has reached the goal,
  nothing is left to think about, and to think is to act.
- On a known map a kept A* tree, with steps back where the agent has left the path, would make every early step useless:
  the goal is found after as many slices wherever the agent stands. So both kinds of maps have the same search.
- Nothing is learned from a search that has found the goal on a map that is known and stays as it is.
"""

from typing import NamedTuple

import numpy as np

from rt_gym.envs.step import MOVED, Rules, make_move
from rt_gym.features.decision import squash
from rt_gym.features.history import begin_track, follow
from rt_gym.features.thinking import write_thoughts
from rt_gym.jit import kernel
from rt_gym.meter import spent
from rt_gym.search.slices import ACT, THINK, begin_slices, commit, drop_outdated, may_act, may_think, think
from rt_gym.search.space import NONE
from rt_gym.terrain import fill_h0
from rt_gym.trip import NO_PATH, STAY, adopt, forget_changes, still_legal, take

# Bits after those of ``make_move``: the step was a slice of thinking; the search, or the committed path, has reached
# the goal.
THOUGHT, GOAL_FOUND = 128, 256


class ThinkTerms(NamedTuple):
    """The settings of a thinking environment, as kernels take them.

    Attributes:
        rules: those of every environment.
        slice: how many states are expanded in a slice of thinking.
    """

    rules: Rules
    slice: int


@kernel(inline=True)
def begin_thinking(terrain, trip, memory, t, out):
    """Begin an episode in a world that has been set up, and write its first observation."""
    fill_h0(terrain, t, memory.h[: terrain.mask.size])
    begin_track(memory.track, trip.state[0].at)
    begin_slices(memory, np.int64(0))
    memory.space.state[0].slots = 0
    forget_changes(trip)
    write_observation(terrain, trip, memory, t, out)


@kernel(inline=True)
def step_thinking(truth, terrain, trip, memory, terms, t, action, unit, out):
    """Think for a slice or make a move, and write the next observation.

    ``unit`` is what a reward of one is worth: 1, or one divided by the optimal cost.

    Returns:
        The reward, the bits of ``make_move`` with THOUGHT and GOAL_FOUND, and the expansions and scans of the step.
    """
    s, d, thinks = trip.state[0].at, np.int64(STAY), False
    if trip.state[0].verdict == 0 and s != t:
        thinks = may_think(memory) if action == THINK else not may_act(trip, memory)
        if not thinks:
            d = next_step(truth, terrain, trip, memory, t)
        elif think(terrain, trip, memory, s, t, terms.slice) == NONE:
            adopt(trip, np.int64(NO_PATH))
    meter = trip.meter[0]
    expansions, scans, used = meter.expansions, meter.scans, spent(meter)
    reward, flags = make_move(truth, terrain, trip, terms.rules, t, d)
    if flags & MOVED and d >= 0:
        follow(memory.track, trip.state[0].at, trip.tally[0].raises)
    place = trip.state[0]
    drop_outdated(terrain, trip, memory, place.changed == 0 or still_legal(terrain, trip, place.at))
    forget_changes(trip)
    write_observation(terrain, trip, memory, t, out)
    if thinks:
        flags |= THOUGHT
    if memory.state[0].found != 0:
        flags |= GOAL_FOUND
    return (reward - terms.rules.price * used) * unit, flags, expansions, scans


@kernel(inline=True)
def possible(trip, memory):
    """Return which actions are themselves and not the other one, a bit for each."""
    return np.int64(may_act(trip, memory)) << ACT | np.int64(may_think(memory)) << THINK


@kernel
def next_step(truth, terrain, trip, memory, t):
    """Commit to what an open search has found, and learn from it; return the next direction, or STAY."""
    state = memory.state[0]
    if state.searching != 0:
        adopt(trip, commit(terrain, trip, memory, t, state.found == 0 or truth.state[0].vision != 0))
    return max(take(trip), np.int64(STAY))


@kernel(inline=True)
def write_observation(terrain, trip, memory, t, out):
    """Write the observation of the current state."""
    write_thoughts(terrain, trip, memory, trip.state[0].at, t, out)
    squash(out)


@kernel
def begin(episode, out):
    """Begin an episode in a world that has been set up, and write its first observation."""
    begin_thinking(episode.terrain, episode.trip, episode.memory, episode.task[0].goal, out)


@kernel
def step(episode, action, out):
    """Make one step and write the next observation.

    Returns:
        What ``step_thinking`` returns, and which actions are possible next.
    """
    trip, memory, task = episode.trip, episode.memory, episode.task[0]
    reward, flags, expansions, scans = step_thinking(
        episode.truth, episode.terrain, trip, memory, episode.terms, task.goal, action, task.unit, out
    )
    return reward, flags, expansions, scans, possible(trip, memory)


@kernel
def possible_now(episode):
    """Return which actions are possible in the current state."""
    return possible(episode.trip, episode.memory)
