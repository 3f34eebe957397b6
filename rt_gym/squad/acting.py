"""How units act in a tick: those with the same algorithm in one kernel, others by their own ``act``.

The kernel is a template that is bound to the plan of each algorithm, as the trial loop of ``agents.runner.loop`` is. A
squad of one walks the same path as that loop, move for move.
"""

from functools import cache
from typing import Any

import numpy as np

from rt_gym.jit import kernel
from rt_gym.meter import MEMORY_FULL, OVERRUN, STUCK, after_overrun, spent
from rt_gym.squad.crowd import hide_others, show_others, try_move
from rt_gym.templates import bind
from rt_gym.trip import STAY, adopt, take


def plan(terrain, trip, memory, s, t):
    """Stand in for an agent's own plan in the template below."""
    return np.int64(0)


@kernel(inline=True)
def may_act(team, unit, i):
    """Whether a unit has something to do in this tick: it is under way, knows a way, and was not pushed."""
    return team.at[i] != unit.goal and unit.lost == 0 and unit.moved != team.state[0].tick


@kernel(inline=True)
def next_move(team, unit, trip):
    """Return the direction of a unit that has a plan, or STAY with the reason noted."""
    d = take(trip)
    if d == STUCK:
        # Others that are in the way will move; on a map of its own a unit that knows no way is lost.
        unit.lost = np.int64(team.state[0].blocking == 0)
        d = np.int64(STAY)
    elif d == OVERRUN:
        after_overrun(trip)
        d = np.int64(STAY)
    return d


def act_units(episodes, numbers, bodies, units, team):
    """Let units plan and move, one after the other; return which one's memory is full, or how many there are."""
    blocking = team.state[0].blocking != 0
    for k in range(numbers.size):
        i = np.int64(numbers[k])
        unit, episode = units[i], episodes[k]
        if not may_act(team, unit, i):
            continue
        terrain, trip, memory = episode.terrain, episode.trip, episode.memory
        d = np.int64(STAY)
        if unit.ready != 0 and unit.share == 0:
            unit.waits += 1
        else:
            if unit.ready != 0:
                trip.meter[0].limit = unit.share
                if blocking:
                    show_others(team, bodies, units, i)
                unit.raises = trip.tally[0].raises
                adopt(trip, plan(terrain, trip, memory, np.int64(team.at[i]), unit.goal))
                if blocking:
                    hide_others(team, bodies, units, i)
                if trip.state[0].verdict == MEMORY_FULL:
                    return np.int64(k)
                unit.ready = 0
                unit.spent = spent(trip.meter[0])
            d = next_move(team, unit, trip)
        try_move(team, bodies, units, i, d)
    return np.int64(numbers.size)


@kernel
def finish_act(bodies, units, team, i, d):
    """Make the move that a unit without a kernel has decided on, and count what it has spent."""
    unit, trip = units[i], bodies[i].trip
    unit.spent = spent(trip.meter[0])
    if after_overrun(trip) != 0:
        d = np.int64(STAY)
    try_move(team, bodies, units, i, d)


@cache
def acting(plan: Any) -> Any:
    """Return the kernel for units with this plan; nothing is compiled before the first call."""
    return bind(act_units, plan=plan)
