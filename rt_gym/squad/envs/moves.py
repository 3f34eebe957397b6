"""A tick in which every unit is moved by an action of its own: the moves, what they are worth, the observations.

Units move one after the other, by the rules of ``rt_gym.squad.crowd``. An observation is that of ``RTPath-v0`` and one
more plane of the window: where other units are.
"""

import numpy as np

from rt_gym.belief import in_sight
from rt_gym.envs.path.episode import WINDOW, write_numbers
from rt_gym.envs.step import LOST, OVERRAN, TERMINATED, TRUNCATED, judge
from rt_gym.features.history import begin_track, follow
from rt_gym.features.window import write_cells
from rt_gym.jit import kernel, record, row
from rt_gym.meter import GO, STOP, STUCK, UNLIMITED, after_overrun, spent
from rt_gym.squad.crowd import leave_map, move_unit, show_others, try_move
from rt_gym.squad.units import change_map, end_tick, hear, look_around_all
from rt_gym.terrain import locate
from rt_gym.trip import STAY, still_legal

GONE, ACTING, LEAVING = range(3)

# What a unit does in a tick. Whether it is GONE, ACTING or LEAVING with this tick; what a reward of one is worth; the
# direction it was told; where it stood before and stands after, which moves the map allows there, a bit for each; how
# many diagonal steps it had made before; what it has spent, of what its budget counts, and which share is left of that;
# the reward, and the bits of ``rt_gym.envs.step`` that say how the tick ended for it.
STEP = record(
    live=int,
    unit=float,
    wanted=int,
    before=int,
    after=int,
    moves=int,
    diagonals=int,
    expansions=int,
    scans=int,
    spent=int,
    left=float,
    reward=float,
    bits=int,
)


@kernel
def begin_all(bodies, units, team, crew, out):
    """Let all units sense at time zero, and write their first observations."""
    change_map(team, bodies)
    if team.state[0].vision > 0:
        look_around_all(team, bodies)
    for i in range(units.size):
        step = crew.steps[i]
        step.live, step.left, step.after = ACTING, 1.0, team.at[i]
        begin_track(row(crew.track, i), step.after)
    spread_news(bodies, units, team)
    show_all(bodies, units, team, crew, out)


@kernel
def step_all(bodies, units, team, crew, actions, out):
    """Move every unit by its entry in ``actions``, int64[units], and write what comes of it to ``crew.steps``.

    ``out``, float32[units, size], gets the observations of those that were on the map when the tick began.
    """
    for i in range(units.size):
        if crew.steps[i].live != GONE:
            take_order(bodies, units, team, crew.steps[i], i, actions[i])
    move_all(bodies, units, team, crew)
    end_tick(bodies, team)
    spread_news(bodies, units, team)
    judge_all(bodies, units, team, crew)
    end_all(units, team, crew)
    show_all(bodies, units, team, crew, out)
    for i in range(units.size):
        if crew.steps[i].live == LEAVING:
            crew.steps[i].live = GONE


@kernel
def take_order(bodies, units, team, step, i, d):
    """Take note of a unit's action and of what it has spent on it; whoever has overrun its budget stands still."""
    trip = bodies[i].trip
    meter, state = trip.meter[0], trip.state[0]
    step.wanted, step.before, step.diagonals = d, team.at[i], trip.tally[0].diagonals
    step.expansions, step.scans, step.spent, step.bits = meter.expansions, meter.scans, spent(meter), 0
    step.left = 1.0 if meter.limit == UNLIMITED else max(1.0 - step.spent / meter.limit, 0.0)
    units[i].displaced = 0
    if state.verdict == STUCK:
        # Others that are in the way will move; on a map of its own a unit that knows no way is lost.
        step.bits |= LOST if team.state[0].blocking != 0 else LOST | TRUNCATED
    fate = after_overrun(trip)
    state.verdict = 0
    if fate != GO:
        step.bits |= OVERRAN if fate != STOP else OVERRAN | TRUNCATED
        step.wanted = STAY


@kernel
def move_all(bodies, units, team, crew):
    """Move one unit after the other. Who rests on its goal comes last: until then others may push it aside."""
    tick = team.state[0].tick
    for i in range(units.size):
        step, unit = crew.steps[i], units[i]
        resting = step.wanted == STAY and step.before == unit.goal
        if step.live != GONE and unit.moved != tick and not resting:
            try_move(team, bodies, units, i, step.wanted)
    for i in range(units.size):
        if crew.steps[i].live != GONE and units[i].moved != tick:
            move_unit(team, bodies, units, i, np.int64(STAY))


@kernel
def look(bodies, units, team, i):
    """Block the cells where unit ``i`` sees others in what it believes, if it must plan; return whether it must.

    As in a squad, who has a plan follows it until another one is in the way.
    """
    terrain, trip = bodies[i].terrain, bodies[i].trip
    state = trip.state[0]
    if state.next < state.planned and still_legal(terrain, trip, np.int64(team.at[i])):
        return False
    show_others(team, bodies, units, i)
    return True


@kernel
def spread_news(bodies, units, team):
    """Let all units hear what has changed in what they believe together."""
    for i in range(units.size):
        hear(team, bodies[i].trip, i)
    team.state[0].news = 0


@kernel
def judge_all(bodies, units, team, crew):
    """Write what the tick was worth to each unit. To stay on the goal costs nothing."""
    rules, tick = crew.terms.rules, team.state[0].tick
    for i in range(units.size):
        step, terrain, trip = crew.steps[i], bodies[i].terrain, bodies[i].trip
        if step.live == GONE:
            continue
        s, u, t = step.before, np.int64(team.at[i]), units[i].goal
        d = step.wanted
        if u != s:  # perhaps it was pushed: then it went elsewhere than it wanted
            d = np.int64(4) if trip.tally[0].diagonals > step.diagonals else np.int64(0)
        reward, flags = judge(terrain, rules, s, u, t, d, tick)
        if s == t and u == t:
            reward = 0.0
        step.after = u
        step.reward = (reward - rules.price * step.spent) * step.unit
        step.bits |= flags
        follow(row(crew.track, i), u, trip.tally[0].raises)


@kernel
def end_all(units, team, crew):
    """Find out for whom the episode is over; they leave the map.

    Where units stay on their goals it is over when none is under way, because who is pushed aside must go back.
    """
    under_way = np.int64(0)
    if crew.stays != 0:
        for i in range(units.size):
            step = crew.steps[i]
            under_way += np.int64(step.live != GONE and step.bits & (TERMINATED | TRUNCATED) == 0)
    for i in range(units.size):
        step = crew.steps[i]
        if under_way > 0:
            step.bits &= ~TERMINATED
        if step.live != GONE and step.bits & (TERMINATED | TRUNCATED):
            step.live = LEAVING
            leave_map(team, i)


@kernel
def show_all(bodies, units, team, crew, out):
    """Write the observations of all units but those that were gone before."""
    terms = crew.terms
    others = WINDOW + terms.planes * (2 * terms.radius + 1) ** 2
    for i in range(units.size):
        step, terrain = crew.steps[i], bodies[i].terrain
        if step.live == GONE:
            continue
        s, left = step.after, np.float32(step.left)
        step.moves = np.int64(terrain.mask[s])
        x, y = write_numbers(terrain, np.int64(0), row(crew.track, i), terms, s, units[i].goal, left, out[i])
        write_cells(terrain, x, y, terms.radius, terms.planes, out[i, WINDOW:])
        write_others(terrain, team, crew.steps, i, x, y, terms.radius, out[i, others:])


@kernel
def write_others(terrain, team, steps, i, x, y, radius, out):
    """Write 1 where unit ``i``, at ``(x, y)``, sees another one in the square around it, 0 elsewhere."""
    side, sight = 2 * radius + 1, team.state[0].sight
    out[:] = np.float32(0)
    for j in range(steps.size):
        if j == i or steps[j].live != ACTING:
            continue
        other_x, other_y = locate(terrain, steps[j].after)
        column, line = other_x - x + radius, other_y - y + radius
        inside = 0 <= column < side and 0 <= line < side
        if inside and in_sight(terrain, steps[i].after, steps[j].after, sight):
            out[line * side + column] = np.float32(1)
