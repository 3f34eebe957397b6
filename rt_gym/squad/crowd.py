"""Units move, one after the other, and may be in each other's way.

Where units block each other, a cell with a unit on it is an obstacle for the others that see it, while they plan and
when they move. Each moves into a cell that is free at that moment, so that no two ever share a cell or swap.

D. Sigurdson, V. Bulitko, W. Yeoh, C. Hernández, S. Koenig, "Multi-Agent Pathfinding with Real-Time Heuristic Search",
CIG 2018: units as moving obstacles within their sight, and the remedy for jams, to push a unit that stands on its goal.
"""

import numpy as np

from rt_gym.belief import in_sight
from rt_gym.jit import kernel
from rt_gym.search.space import draw
from rt_gym.squad.units import NEVER, NOBODY, NOWHERE, list_change
from rt_gym.terrain import locate, set_free
from rt_gym.trip import STAY
from rt_gym.world import make_move


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
def leave_map(team, i):
    """Take a unit off the map: its cell is free for others, and nobody sees it any more."""
    if team.state[0].blocking != 0:
        team.owner[team.at[i]] = NOBODY
    team.at[i] = NOWHERE
