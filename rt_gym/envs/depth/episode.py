"""One step of RTDepth-v0 and RTDepthGoal-v0: a decision of General LRTA* and its move.

Single and batched environments run the same kernels. What is learned stands in a hash table, so that a new episode
begins at once on a map of any size. An observation is the features of where the agent stands, written once per move, as
sign(x) log(1 + abs(x)).

``subgoals`` says which subgoal is next, from every region of the map. It is None in RTDepth-v0, where the goal is the
only one: kernels are compiled for either case.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.step import MOVED, TABLE_FULL, Rules, make_move
from rt_gym.features.decision import (
    Situation,
    begin_situation,
    make_situation,
    note_decision,
    note_step,
    squash,
    write_situation,
)
from rt_gym.features.history import write_history
from rt_gym.features.subgoal import SUBGOAL, write_subgoal
from rt_gym.jit import absent, kernel, record
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import NONE, Space
from rt_gym.search.tables import FRESH, GoalValues, Learned, forget_values, is_full, make_table
from rt_gym.search.values import value_at
from rt_gym.trip import NO_PATH, STAY, adopt, must_plan, take

if TYPE_CHECKING:
    from rt_gym.envs.depth.settings import DepthSettings

# The subgoal where the agent stands, NONE if there is none, and what the last decision headed for.
GOALS = record(subgoal=int, pursued=int)
# The expansions and scans that have been reported.
REPORTED = record(expansions=int, scans=int)


class ControlTerms(NamedTuple):
    """The settings of depth control, as kernels take them.

    Attributes:
        rules: those of every environment.
        rich: 1 for the features of ``rt_gym.features.decision``, 0 for the four of ``rt_gym.features.history``.
        d_max: the largest depth.
    """

    rules: Rules
    rich: int
    d_max: int


class Subgoals(NamedTuple):
    """Which subgoal is next on the way to the goal of a problem.

    Attributes:
        region: int32, the region of every cell, NONE where there is none.
        ahead: int32, the subgoal's cell for every region, NONE if there is none.
    """

    region: NDArray[np.int32]
    ahead: NDArray[np.int32]


class Control(NamedTuple):
    """What an episode knows beside its map.

    Attributes:
        learned: the values.
        space: the lookahead.
        situation, inputs: the episode so far, and the features of where the agent stands.
        goals: GOALS[1].
        reported: REPORTED[1].
    """

    learned: Learned | GoalValues
    space: Space
    situation: Situation
    inputs: NDArray[np.float32]
    goals: NDArray[np.record]
    reported: NDArray[np.record]


NO_CONTROL: Any = absent(Control)


def make_control(settings: "DepthSettings", space: Space, rows: tuple[int, ...] = ()) -> Control:
    """Return the memory of one episode, or of ``rows`` of them, that searches in ``space``."""
    return Control(
        learned=make_table(settings.table, FRESH, rows),
        space=space,
        situation=make_situation(settings.history, rows),
        inputs=np.zeros((*rows, settings.inputs), np.float32),
        goals=np.zeros((*rows, 1), GOALS),
        reported=np.zeros((*rows, 1), REPORTED),
    )


@kernel(inline=True)
def begin_control(terrain, trip, control, subgoals, terms, t):
    """Begin an episode in a world that has been set up, and write the features of the start."""
    goals, reported = control.goals[0], control.reported[0]
    forget_values(control.learned)
    begin_situation(control.situation, trip.state[0].at)
    reported.expansions = reported.scans = 0
    goals.subgoal = goals.pursued = NONE
    update_inputs(terrain, trip, control, subgoals, terms, t)


@kernel(inline=True)
def update_inputs(terrain, trip, control, subgoals, terms, t):
    """Write the features of where the agent stands."""
    s, inputs, goals = trip.state[0].at, control.inputs, control.goals[0]
    if terms.rich != 0:
        write_situation(control.situation, terrain, trip, control.learned, s, t, inputs)
    else:
        write_history(control.situation.track, terrain, s, t, inputs)
    if subgoals is not None:
        goals.subgoal = next_subgoal(subgoals, terrain, s)
        write_subgoal(terrain, goals.subgoal, goals.pursued, s, t, inputs[inputs.size - len(SUBGOAL) :])
    squash(inputs)


@kernel(inline=True)
def next_subgoal(subgoals, terrain, s):
    """Return the subgoal of an agent in ``s``; NONE without one, and where it is known to be blocked."""
    if subgoals.region[s] == NONE:
        return np.int64(NONE)
    goal = np.int64(subgoals.ahead[subgoals.region[s]])
    return goal if goal != NONE and terrain.free[goal] != 0 else np.int64(NONE)


@kernel(inline=True)
def write_inputs(control, out):
    """Write an observation."""
    for k in range(control.inputs.size):
        out[k] = control.inputs[k]


@kernel(inline=True)
def step_decision(truth, terrain, trip, control, subgoals, terms, t, action, unit, out):
    """Make a decision and its move, and write the next observation.

    A verdict that stands from before comes first. ``unit`` is what a reward of one is worth: 1, or one divided by the
    optimal cost.

    Returns:
        The reward, the bits of ``make_move`` and TABLE_FULL, the depth of the search, and the expansions and scans
        since the last step.
    """
    s, depth = trip.state[0].at, np.int64(0)
    if trip.state[0].verdict == 0 and s != t:
        depth = decide(terrain, trip, control, terms, s, t, action)
    reward, flags = move_on(truth, terrain, trip, control, terms, t)
    update_inputs(terrain, trip, control, subgoals, terms, t)
    write_inputs(control, out)
    cost, expansions, scans = report(trip, control, terms)
    return (reward - cost) * unit, flags, depth, expansions, scans


@kernel(inline=True)
def decide(terrain, trip, control, terms, s, t, action):
    """Plan one move by a search of the depth, and towards the goal, that are asked for; return the depth."""
    if not must_plan(terrain, trip, s):  # a plan that came too late for the last move is left for this one
        return np.int64(0)
    before, (depth, goal) = trip.meter[0].expansions, asked(control, terms, t, action)
    result, rise = search(terrain, trip, control, s, goal, depth)
    if result == NO_PATH and goal != t:  # a subgoal that cannot be reached is given up, at little more expense
        result, rise = search(terrain, trip, control, s, t, np.int64(1))
    adopt(trip, result)
    note_decision(control.situation, depth, trip.meter[0].expansions - before, rise)
    return depth


@kernel(inline=True)
def asked(control, terms, t, action):
    """Return the depth and the goal that an action asks for: the subgoal from ``d_max`` on, if there is one."""
    d_max, subgoal = terms.d_max, control.goals[0].subgoal
    if action < d_max:
        return action + 1, np.int64(t)
    return action - d_max + 1, subgoal if subgoal != NONE else np.int64(t)


@kernel(inline=True)
def search(terrain, trip, control, s, goal, depth):
    """Make General LRTA*'s decision towards a goal; return its result and by how much it raised the value of ``s``."""
    control.goals[0].pursued = goal
    value = value_at(control.learned, terrain, s, goal)
    result = general_lrta(terrain, trip, control.space, control.learned, s, goal, depth)
    return result, value_at(control.learned, terrain, s, goal) - value


@kernel(inline=True)
def move_on(truth, terrain, trip, control, terms, t):
    """Make the planned move; return its reward and the bits of ``make_move`` and TABLE_FULL."""
    s = trip.state[0].at
    reward, flags = make_move(truth, terrain, trip, terms.rules, t, max(take(trip), np.int64(STAY)))
    if flags & MOVED:
        note_step(control.situation, terrain, s, trip.state[0].at, trip.tally[0].raises)
    if is_full(control.learned):
        flags |= TABLE_FULL
    return reward, flags


@kernel(inline=True)
def report(trip, control, terms):
    """Return the price of what has been counted since the last report, and the expansions and scans."""
    meter, tally, reported = trip.meter[0], trip.tally[0], control.reported[0]
    expansions = tally.expansions + meter.expansions - reported.expansions
    scans = tally.scans + meter.scans - reported.scans
    reported.expansions += expansions
    reported.scans += scans
    return terms.rules.price * (scans if meter.by_scans != 0 else expansions), expansions, scans


@kernel
def begin(episode, out):
    """Begin an episode in a world that has been set up, and write its first observation."""
    control = episode.control
    begin_control(episode.terrain, episode.trip, control, episode.subgoals, episode.terms, episode.task[0].goal)
    write_inputs(control, out)


@kernel
def step(episode, action, out):
    """Make one step and write the next observation; see ``step_decision`` for what is returned."""
    truth, terrain, trip, control = episode.truth, episode.terrain, episode.trip, episode.control
    subgoals, terms, task = episode.subgoals, episode.terms, episode.task[0]
    return step_decision(truth, terrain, trip, control, subgoals, terms, task.goal, action, task.unit, out)
