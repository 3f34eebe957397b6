"""The units of a squad as kernels see them: who must plan, who stands where, what all of them hear of the map.

A tick has three parts. ``survey`` finds out who must plan; between it and the second part the allowance is dealt. Then
all units act, one after the other (``rt_gym.squad.acting``). At last ``end_tick`` lets the map change and all sense.

How units move and get in each other's way is ``rt_gym.squad.crowd``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.belief import sense
from rt_gym.handles import trusting
from rt_gym.jit import kernel, record
from rt_gym.terrain import h0, set_free
from rt_gym.trip import must_plan

NOBODY = 0
NEVER = -1
NOWHERE = 0  # where units stand that have left the map: a cell of the border, which nobody can enter or see

# Where the unit is to go; whether it must plan, what it may spend on that, what it has spent in this tick, and how many
# ticks it had to plan and was given nothing; whether it knows no way; whether it is not where it wanted to be, because
# it was pushed or had to stop; when it was last moved, made its first step and arrived, NEVER if it did not; how many
# units it saw when it planned last, and how many values it had raised by then. What rules want to know: how many values
# its last plan raised, how many moves are left of it, and how far away the goal is by the heuristic.
UNIT = record(
    goal=int,
    ready=int,
    share=int,
    spent=int,
    waits=int,
    lost=int,
    displaced=int,
    moved=int,
    first=int,
    arrived=int,
    obstacles=int,
    raises=int,
    raised=int,
    left=int,
    distance=int,
)

# The number of the tick; how far units see the map (0: it is known), and each other; whether they block each other,
# push each other and share what they see; how many cells are in the news; which change comes next; the stamp of marks.
TEAM = record(tick=int, vision=int, sight=int, blocking=int, push=int, shared=int, news=int, due=int, stamp=int)


@trusting
class Team(NamedTuple):
    """What the units of a squad have in common.

    Attributes:
        free: uint8, 1 where a cell is truly free now.
        at: int32 per unit, where it stands; NOWHERE if it has left the map.
        owner: int32 per cell, the number of the unit that stands there, from 1; no cells where units do not block.
        mark: int32 per cell, who has been looked at by now; no cells where units do not block.
        seen: int32[units, most], the cells that were blocked by others when a unit planned last.
        news: int32, cells that have changed in what the whole team believes.
        author: int32, which unit has seen that, NEVER for none.
        when, where, opens: the scheduled changes, ordered by time.
        held: uint8 per change, 1 while its cell closes as soon as it is left.
        random: uint64[1], where units are pushed to.
        state: TEAM[1].
    """

    free: NDArray[np.uint8]
    at: NDArray[np.int32]
    owner: NDArray[np.int32]
    mark: NDArray[np.int32]
    seen: NDArray[np.int32]
    news: NDArray[np.int32]
    author: NDArray[np.int32]
    when: NDArray[np.int64]
    where: NDArray[np.int32]
    opens: NDArray[np.uint8]
    held: NDArray[np.uint8]
    random: NDArray[np.uint64]
    state: NDArray[np.record]


@kernel(inline=True)
def list_change(trip, cell):
    """List a cell as changed since the last plan."""
    state = trip.state[0]
    if state.changed < trip.changed.size:
        trip.changed[state.changed] = cell
        state.changed += 1


@kernel(inline=True)
def publish(team, cell, author):
    """Let all units but the author hear of a cell that has changed in what the team believes."""
    state = team.state[0]
    team.news[state.news] = cell
    team.author[state.news] = author
    state.news += 1


@kernel(inline=True)
def hear(team, trip, i):
    """Let unit ``i`` hear what others have seen and what has changed."""
    for k in range(team.state[0].news):
        if team.author[k] != i:
            list_change(trip, team.news[k])


@kernel
def survey(bodies, units, team):
    """Let all units hear what has changed, and find out who must plan."""
    for i in range(units.size):
        unit, body = units[i], bodies[i]
        terrain, trip = body.terrain, body.trip
        hear(team, trip, i)
        s, state = np.int64(team.at[i]), trip.state[0]
        unit.share = unit.spent = unit.displaced = 0
        unit.raised = trip.tally[0].raises - unit.raises
        unit.left = state.planned - state.next
        unit.distance = h0(terrain, s, unit.goal)
        if s == unit.goal:
            unit.ready = 0
            continue
        if state.changed > 0:
            unit.lost = 0
        if unit.lost == 0 and unit.ready == 0:
            unit.ready = np.int64(must_plan(terrain, trip, s))
    team.state[0].news = 0


@kernel
def is_taken(team, cell):
    """Whether a unit stands on a cell."""
    taken = False
    for i in range(team.at.size):
        taken |= team.at[i] == cell
    return taken


@kernel
def edit_map(team, bodies, cell, free):
    """Change the true map; units that know the map hear of it at once."""
    team.free[cell] = free
    terrain = bodies[0].terrain
    if team.state[0].vision == 0 and terrain.free[cell] != free:
        set_free(terrain, cell, free)
        publish(team, cell, NEVER)


@kernel
def change_map(team, bodies):
    """Let the changes happen that are due. A cell that closes under a unit waits until it is left."""
    state = team.state[0]
    while state.due < team.when.size and team.when[state.due] <= state.tick:
        k = state.due
        state.due += 1
        cell = np.int64(team.where[k])
        for j in range(k):
            if team.where[j] == cell:
                team.held[j] = 0
        if is_taken(team, cell):
            team.held[k] = 1 - team.opens[k]
        else:
            edit_map(team, bodies, cell, team.opens[k])
    for k in range(state.due):
        if team.held[k] != 0 and not is_taken(team, np.int64(team.where[k])):
            team.held[k] = 0
            edit_map(team, bodies, np.int64(team.where[k]), np.uint8(0))


@kernel
def look_around_all(team, bodies):
    """Let every unit sense from where it stands."""
    state = team.state[0]
    for i in range(team.at.size):
        if team.at[i] == NOWHERE:
            continue
        terrain, trip = bodies[i].terrain, bodies[i].trip
        before = trip.state[0].changed
        sense(team.free, terrain, trip, np.int64(team.at[i]), state.vision)
        if state.shared != 0:
            for k in range(before, trip.state[0].changed):
                publish(team, trip.changed[k], np.int64(i))


@kernel
def end_tick(bodies, team):
    """Let time pass: the map changes, and all sense."""
    state = team.state[0]
    state.tick += 1
    if team.when.size > 0:
        change_map(team, bodies)
    if state.vision > 0:
        look_around_all(team, bodies)
