"""The one trial loop that all agents with kernels share, bound to the plan of each.

An algorithm is a kernel ``plan(terrain, trip, memory, s, t)``: it reads the believed map, pays for its work through the
meter in ``trip``, writes its committed directions to ``trip.plan`` and returns how many there are (or NO_PATH, WAIT,
CUT, FULL). Two kernels are bound to it: one walks a whole trial, the other makes one decision for ``act``. Both walk
the same path, because they share their code.
"""

from functools import cache
from typing import Any

import numpy as np

from rt_gym.clock import start_clock, time_move, time_plan
from rt_gym.meter import IDLE, OVERRUN, after_overrun
from rt_gym.templates import bind
from rt_gym.trip import STAY, adopt, must_plan, take
from rt_gym.world import walk

GOAL, OUT_OF_MOVES = 0, 1


def plan(terrain, trip, memory, s, t):
    """Stand in for an agent's own plan in the two templates below."""
    return np.int64(0)


def trial_loop(episode, t, limit):
    """Walk until the goal, the limit, or a dead end; return GOAL, OUT_OF_MOVES, STUCK, OVERRUN or MEMORY_FULL."""
    truth, terrain, trip, memory = episode.truth, episode.terrain, episode.trip, episode.memory
    s = trip.state[0].at
    end = np.int64(GOAL)
    start_clock(trip.clock)
    while s != t:
        if trip.tally[0].moves >= limit:
            end = np.int64(OUT_OF_MOVES)
            break
        if must_plan(terrain, trip, s):
            adopt(trip, plan(terrain, trip, memory, s, t))
            time_plan(trip.clock)
        d = take(trip)
        if d < STAY:
            if d != OVERRUN or after_overrun(trip) != IDLE:
                end = d
                break
            d = np.int64(STAY)
        s = walk(truth, terrain, trip, s, d)
        time_move(trip.clock)
    trip.state[0].at = s
    return end


def decision(episode, t):
    """Return the next direction, STAY, STUCK, OVERRUN or MEMORY_FULL."""
    terrain, trip, memory = episode.terrain, episode.trip, episode.memory
    s = trip.state[0].at
    if must_plan(terrain, trip, s):
        adopt(trip, plan(terrain, trip, memory, s, t))
    return take(trip)


@cache
def bound_to(plan: Any) -> tuple[Any, Any]:
    """Return the trial loop and the decision of a plan; nothing is compiled before the first call."""
    return bind(trial_loop, plan=plan), bind(decision, plan=plan)
