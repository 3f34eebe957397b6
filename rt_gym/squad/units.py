"""The units of a squad as kernels see them: who must plan, who stands where, what all of them hear of the map.

A tick has three parts. ``survey`` finds out who must plan; between it and the second part the allowance is dealt. Then
all units act, one after the other (``rt_gym.squad.acting``). At last ``end_tick`` lets the map change and all sense.

Units that block each other are obstacles: a cell where another unit stands is blocked for a unit that sees it, while it
plans and when it moves. One moves after the other into cells that are free then, so that no two can swap.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.belief import in_sight, notice, sense
from rt_gym.jit import kernel, record
from rt_gym.search.space import draw
from rt_gym.terrain import h0, locate, set_free
from rt_gym.trip import STAY, must_plan
from rt_gym.world import make_move

NOBODY = 0
NEVER = -1

# Where the unit is to go; whether it must plan, what it may spend on that, what it has spent in this tick, and how many
# ticks it had to plan and was given nothing; whether it knows no way; whether it is not where it wanted to be, because it
# was pushed or had to stop; when it was last moved, made its first step and arrived, NEVER if it did not; how many units
# it saw when it planned last, and how many values it had raised by then. What rules want to know: how many values its last
# plan raised, how many moves are left of it, and how far away the goal is by the heuristic.
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

# The number of the tick; how far units see the map (0: it is known), and each other; whether they block each other, push
# each other and share what they see; how many cells are in the news; which change comes next; and the stamp of marks.
TEAM = record(tick=int, vision=int, sight=int, blocking=int, push=int, shared=int, news=int, due=int, stamp=int)


class Team(NamedTuple):
    """What the units of a squad have in common.

    Attributes:
        free: uint8, 1 where a cell is truly free now.
        at: int32 per unit, where it stands.
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


@kernel
def survey(bodies, units, team):
    """Let all units hear what has changed, and find out who must plan."""
    news = team.state[0].news
    for i in range(units.size):
        unit, body = units[i], bodies[i]
        terrain, trip = body.terrain, body.trip
        for k in range(news):
            if team.author[k] != i:
                list_change(trip, team.news[k])
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


@kernel(inline=True)
def look_at(team, terrain, trip, count, i, cell):
    """List another unit's cell if unit ``i`` sees it, as a change if it did not before; return how many are listed."""
    state = team.state[0]
    if terrain.free[cell] == 0 or not in_sight(terrain, np.int64(team.at[i]), cell, state.sight):
        return count
    if team.mark[cell] != state.stamp:
        list_change(trip, cell)
    team.mark[cell] = state.stamp + 1
    team.seen[i, count] = cell
    return count + 1


@kernel
def show_others(team, bodies, units, i):
    """Block the cells of all units that unit ``i`` sees in what it believes, and list what has changed by that."""
    unit, body, s = units[i], bodies[i], np.int64(team.at[i])
    terrain, trip, state = body.terrain, body.trip, team.state[0]
    state.stamp += 2
    before = unit.obstacles
    for k in range(before):
        team.mark[team.seen[i, k]] = state.stamp
        list_change(trip, team.seen[i, k])
    old = trip.state[0].changed - before
    count = np.int64(0)
    reach = state.sight
    side = 2 * reach + 1
    if side * side < units.size:
        stride = terrain.offset[1]
        x, _ = locate(terrain, s)
        for dy in range(-reach, reach + 1):
            begin = s - x + dy * stride
            if begin < stride or begin >= team.owner.size - stride:
                continue
            for cell in range(begin + max(x - reach, 0), begin + min(x + reach, stride - 3) + 1):
                if team.owner[cell] != NOBODY and cell != s:
                    count = look_at(team, terrain, trip, count, i, cell)
    else:
        for j in range(units.size):
            if j != i:
                count = look_at(team, terrain, trip, count, i, np.int64(team.at[j]))
    drop_unchanged(team, trip, old, before)
    unit.obstacles = count
    for k in range(count):
        set_free(terrain, np.int64(team.seen[i, k]), np.uint8(0))


@kernel(inline=True)
def drop_unchanged(team, trip, begin, count):
    """Of the ``count`` cells listed from ``begin`` on, keep those that are no longer blocked by a unit."""
    state, stamp = trip.state[0], team.state[0].stamp
    kept = begin
    for k in range(begin, state.changed):
        cell = trip.changed[k]
        if k >= begin + count or team.mark[cell] == stamp:
            trip.changed[kept] = cell
            kept += 1
    state.changed = kept


@kernel
def hide_others(team, bodies, units, i):
    """Free the cells again that ``show_others`` has blocked."""
    terrain = bodies[i].terrain
    for k in range(units[i].obstacles):
        set_free(terrain, np.int64(team.seen[i, k]), np.uint8(1))


@kernel(inline=True)
def may_enter(team, terrain, s, d):
    """Whether nobody stands where direction ``d`` leads, nor where the corner rule needs a free cell beside it."""
    u = s + terrain.offset[d]
    if team.owner[u] != NOBODY:
        return False
    if d < 4:
        return True
    stride = terrain.offset[1]
    row = stride if terrain.offset[d] > 0 else -stride
    beside, ahead = s + terrain.offset[d] - row, s + row
    free = np.int64(terrain.free[beside] != 0 and team.owner[beside] == NOBODY)
    free += np.int64(terrain.free[ahead] != 0 and team.owner[ahead] == NOBODY)
    return free >= 2 - terrain.rule[0].corner


@kernel
def push_aside(team, bodies, units, i, d):
    """Push the unit that stands in the way of unit ``i`` into a random free cell; whether that was possible.

    Only one that stands on its goal, and was not moved in this tick, can be pushed.
    """
    terrain, s = bodies[i].terrain, np.int64(team.at[i])
    j = np.int64(team.owner[s + terrain.offset[d]]) - 1
    if j < 0 or team.at[j] != units[j].goal or units[j].moved == team.state[0].tick:
        return False
    u, ways, chosen = np.int64(team.at[j]), np.int64(0), np.int64(STAY)
    for e in range(8):
        if bodies[j].terrain.mask[u] >> e & 1 and may_enter(team, bodies[j].terrain, u, e):
            ways += 1
            if draw(team.random) % ways == 0:
                chosen = np.int64(e)
    if chosen == STAY:
        return False
    units[j].arrived = NEVER
    units[j].ready = units[j].displaced = 1
    move_unit(team, bodies, units, j, chosen)
    return may_enter(team, terrain, s, d)


@kernel
def move_unit(team, bodies, units, i, d):
    """Move a unit, or let it stand still, where nobody is in its way; the move counts for this tick."""
    unit, body, s = units[i], bodies[i], np.int64(team.at[i])
    u = make_move(body.terrain, body.trip, s, d)
    tick = team.state[0].tick
    unit.moved = tick
    body.trip.state[0].at = team.at[i] = u
    if u == s:
        return
    if team.state[0].blocking != 0:
        team.owner[s] = NOBODY
        team.owner[u] = i + 1
    if unit.first == NEVER:
        unit.first = tick
    if u == unit.goal:
        unit.arrived = tick + 1


@kernel
def try_move(team, bodies, units, i, d):
    """Move a unit in direction ``d``, or let it wait where another one is in its way: it plans anew then."""
    terrain, trip, state, s = bodies[i].terrain, bodies[i].trip, team.state[0], np.int64(team.at[i])
    if d != STAY and state.blocking != 0 and terrain.mask[s] >> d & 1 and not may_enter(team, terrain, s, d):
        if state.push == 0 or not push_aside(team, bodies, units, i, d):
            trip.state[0].next = trip.state[0].planned = 0
            units[i].ready = units[i].displaced = 1
            d = np.int64(STAY)
    move_unit(team, bodies, units, i, d)


@kernel
def is_taken(team, cell):
    """Whether a unit stands on a cell."""
    for i in range(team.at.size):
        if team.at[i] == cell:
            return True
    return False


@kernel
def edit_map(team, bodies, cell, free):
    """Change the true map; units that know the map hear of it at once."""
    team.free[cell] = free
    if team.state[0].vision == 0:
        set_free(bodies[0].terrain, cell, free)
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
