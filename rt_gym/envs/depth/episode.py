"""One step of an episode of depth control: a decision of General LRTA*, or one more layer of its lookahead.

Single and batched environments run the same kernels. What is learned stands in a hash table, so that a new episode
begins at once on a map of any size. An observation is the features of where the agent stands, written once per move,
and where the search goes on layer by layer those of the layers; all as sign(x) log(1 + abs(x)).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rt_gym.envs.guide import AHEAD, PURSUED, SUBGOAL, subgoal_at, write_subgoal
from rt_gym.envs.move import FULL, MOVED, PRICE, gained, make_move

from rt_gym.envs.depth_settings import DepthSettings
from rt_gym.features.decision import (
    Situation,
    begin_situation,
    note_decision,
    note_step,
    squash,
    write_layers,
    write_situation,
)
from rt_gym.features.history import Track, write_features
from rt_gym.grid import locate
from rt_gym.jit import kernel
from rt_gym.search.deepening import CLIMBED, Ladder, begin_climb, climb, commit
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import NONE, Space
from rt_gym.search.values import FRESH, GoalValues, Learned, forget_values, value_at
from rt_gym.trip import CUT, NO_PATH, STAY, adopt, must_plan, take

# Entries of Terms.size after MAX_MOVES.
RICH, LAYERED, D_MAX = 1, 2, 3

ACT, DEEPEN = range(2)  # the actions where the search goes on layer by layer


class Mind(NamedTuple):
    """What an episode knows beside its map; in a batch every array has one row more per episode or thread.

    Attributes:
        learned: the values.
        space, ladder: the lookahead, and what its layers decide.
        situation, inputs: the episode so far, and the features of where the agent stands.
        bill: int64[2], the expansions and scans that have been reported.
        aim: int64[2], the subgoal and what was pursued last; see ``rt_gym.envs.guide``.
    """

    learned: Learned | GoalValues
    space: Space
    ladder: Ladder
    situation: Situation
    inputs: NDArray[np.float32]
    bill: NDArray[np.int64]
    aim: NDArray[np.int64]


@kernel
def begin_control(terrain, trip, mind, guide, terms, t, out):
    """Begin an episode in a world that has been set up, and write its first observation."""
    forget_values(mind.learned)
    begin_situation(mind.situation, trip.state[0].at)
    mind.bill[:] = 0
    mind.aim[:] = NONE
    arrive(terrain, trip, mind, guide, terms, t, out)


@kernel(inline=True)
def step_control(truth, terrain, trip, mind, guide, terms, t, action, unit, out):
    """Make a decision and its move, or open a layer; write the next observation.

    A verdict of the meter that stands from before, as on a first layer that could not be opened, comes first.
    ``unit`` is what a reward of one is worth: 1, or one divided by the optimal cost.

    Returns:
        The reward, the bits of ``make_move`` and FULL (the table of learned values has no room left), the depth of the
        search, and the expansions and scans since the last step.
    """
    meter, ladder, depth = trip.meter, mind.ladder, np.int64(0)
    s = meter[AT]
    free = meter[VERDICT] == 0 and s != t
    deepens = free and terms.size[LAYERED] != 0 and action == DEEPEN and ladder.state[0].depth < terms.size[D_MAX]
    if deepens:
        open_layer(terrain, trip, mind, t)
        depth = ladder.state[0].depth
    elif free:
        depth = decide(terrain, trip, mind, terms, s, t, action)
    if deepens and meter[VERDICT] == 0:
        reward, flags = gained(terrain, terms, s, s, t), np.int64(0)
        write_row(mind, terms, out)
    else:
        reward, flags = make_move(truth, terrain, trip, terms, t, max(take(trip), np.int64(STAY)))
        if flags & MOVED:
            note_step(mind.situation, terrain, s, meter[AT], trip.tally[0].raises)
        arrive(terrain, trip, mind, guide, terms, t, out)
    if 2 * mind.learned.state[0].taken >= mind.learned.cells.size:
        flags |= FULL
    expansions, scans = reported(trip, mind.bill, EXPANSIONS), reported(trip, mind.bill, SCANS)
    count = expansions if meter[COUNT] == EXPANSIONS else scans
    return (reward - terms.reward[PRICE] * count) * unit, flags, depth, expansions, scans


@kernel(inline=True)
def decide(terrain, trip, mind, terms, s, t, action):
    """Plan one move, by a search of the depth that is asked for or by the layers that are open; return the depth."""
    situation, ladder = mind.situation, mind.ladder
    if terms.size[LAYERED] != 0:
        depth = ladder.state[0].depth
        adopt(trip, commit(terrain, trip, ladder, mind.learned, s, t))
        note_decision(situation, depth, ladder.work[depth], ladder.value[depth] - ladder.value[0])
        return depth
    if not must_plan(terrain, trip, s):  # a plan that came too late for the last move is left for this one
        return np.int64(0)
    before, (depth, goal) = trip.meter[0].expansions, asked(mind, terms, t, action)
    result, rise = search(terrain, trip, mind, s, goal, depth)
    if result == NO_PATH and goal != t:  # a subgoal that cannot be reached is given up, at little more expense
        result, rise = search(terrain, trip, mind, s, t, np.int64(1))
    adopt(trip, result)
    note_decision(situation, depth, trip.meter[0].expansions - before, rise)
    return depth


@kernel(inline=True)
def asked(mind, terms, t, action):
    """Return the depth and the goal that an action asks for: the subgoal from D_MAX on, if there is one."""
    d_max, subgoal = terms.size[D_MAX], mind.aim[AHEAD]
    if action < d_max:
        return action + 1, np.int64(t)
    return action - d_max + 1, subgoal if subgoal != NONE else np.int64(t)


@kernel(inline=True)
def search(terrain, trip, mind, s, goal, depth):
    """Make General LRTA*'s decision towards a goal; return its result and by how much it raised the value of ``s``."""
    mind.aim[PURSUED] = goal
    value = value_at(mind.learned, terrain, s, goal)
    result = general_lrta(terrain, trip, mind.space, mind.learned, s, goal, depth)
    return result, value_at(mind.learned, terrain, s, goal) - value


@kernel
def open_layer(terrain, trip, mind, t):
    """Search one layer deeper; where there is none, or no budget for it, the meter has a verdict afterwards."""
    meter = trip.meter
    result = climb(terrain, trip, mind.space, mind.ladder, mind.learned, t)
    if result == CLIMBED and meter[meter[COUNT]] > meter[LIMIT]:
        result = np.int64(CUT)
    if result != CLIMBED:
        adopt(trip, result)


@kernel(inline=True)
def arrive(terrain, trip, mind, guide, terms, t, out):
    """Look around where the agent stands now, open the first layer if there are layers, and write the observation."""
    s, inputs = trip.state[0].at, mind.inputs
    if terms.size[RICH] != 0:
        write_situation(mind.situation, terrain, trip, mind.learned, s, t, inputs)
    else:
        x, y = locate(terrain, s)
        goal_x, goal_y = locate(terrain, t)
        write_features(mind.situation.track, terrain, x, y, goal_x, goal_y, inputs)
    if guide.region.size > 0:
        mind.aim[AHEAD] = subgoal_at(guide, terrain, s)
        write_subgoal(terrain, mind.aim, s, t, inputs[inputs.size - len(SUBGOAL) :])
    squash(inputs)
    if terms.size[LAYERED] != 0:
        begin_climb(mind.space, mind.ladder, s, value_at(mind.learned, terrain, s, t))
        if s != t:
            open_layer(terrain, trip, mind, t)
    write_row(mind, terms, out)


@kernel(inline=True)
def write_row(mind, terms, out):
    """Write an observation."""
    inputs = mind.inputs
    for k in range(inputs.size):
        out[k] = inputs[k]
    if terms.size[LAYERED] != 0:
        layers = out[inputs.size :]
        write_layers(mind.ladder, layers)
        squash(layers)


@kernel(inline=True)
def reported(trip, bill, k):
    """Return what has been counted of entry ``k`` of the meter since the last report."""
    total = trip.tally[k] + trip.meter[k]
    fresh = total - bill[k]
    bill[k] = total
    return fresh


def make_mind(settings: DepthSettings, rows: tuple[int, ...] = (), lanes: tuple[int, ...] = ()) -> Mind:
    """Return room for one episode, or for ``rows`` of them in ``lanes`` threads, with tables for few values."""
    history, depths = (*rows, settings.history), (*rows, settings.d_max + 1)
    return Mind(
        learned=make_learned(GoalValues if settings.guided else Learned, FRESH, rows, lanes),
        space=_make_space(settings, rows, lanes),
        ladder=Ladder(
            action=np.empty(depths, np.uint8),
            value=np.empty(depths, np.int64),
            work=np.empty(depths, np.int64),
            state=np.zeros((*rows, STEADY + 1), np.int64),
        ),
        situation=Situation(
            track=Track(
                cells=np.empty(history, np.int32),
                raised=np.empty(history, np.uint8),
                state=np.zeros((*rows, RAISED + 1), np.int64),
            ),
            facts=np.zeros((*rows, PAID + 1)),
            marks=np.zeros((*rows, TURN + 1), np.int64),
        ),
        inputs=np.zeros((*rows, settings.inputs), np.float32),
        bill=np.zeros((*rows, 2), np.int64),
        aim=np.zeros((*rows, 2), np.int64),
    )


def _make_space(settings: DepthSettings, rows: tuple[int, ...], lanes: tuple[int, ...]) -> Space:
    """Return room for searches: every episode keeps its own where it goes on over several steps."""
    states = (*(rows if settings.layered else lanes), settings.room)
    none: Any = np.empty(0, np.int64)  # what a lookahead does not use
    return Space(
        seat=np.zeros((*lanes, settings.cells), np.int64),
        cell=np.empty(states, np.int32),
        g=np.empty(states, np.int64),
        h=np.empty(states, np.int64),
        f=np.empty(states, np.int64),
        minus_g=none,
        parent=np.empty(states, np.int32),
        via=np.empty(states, np.uint8),
        role=np.empty(states, np.uint8),
        behind=np.empty(states, np.uint8),
        item=np.empty((*lanes, settings.room), np.int32),
        at=none,
        rank=none,
        random=np.zeros(1, np.uint64),  # ties go to the first generated
        state=np.zeros((*states[:-1], BEST + 1), np.int64),
    )


def make_learned(kind: Any, places: int, rows: tuple[int, ...], lanes: tuple[int, ...]) -> Any:
    """Return tables of a kind, Learned or GoalValues, of up to so many places each."""
    entry = np.int64 if kind is GoalValues else np.int32
    return kind(
        cells=np.empty((*rows, places), entry),
        values=np.empty((*rows, places), np.int64),
        old_cells=np.empty((*lanes, places // 2), entry),
        old_values=np.empty((*lanes, places // 2), np.int64),
        state=np.zeros((*rows, TAKEN + 1), np.int64),
    )


def enlarged(learned: Learned | GoalValues) -> Any:
    """Return the same tables with twice the room each."""
    rows, places = learned.cells.shape[:-1], learned.cells.shape[-1]
    larger = make_learned(type(learned), 2 * places, rows, learned.old_cells.shape[:-1])._replace(state=learned.state)
    move_tables(
        learned.state.reshape(-1, TAKEN + 1),
        learned.cells.reshape(-1, places),
        learned.values.reshape(-1, places),
        larger.cells.reshape(-1, 2 * places),
        larger.values.reshape(-1, 2 * places),
    )
    return larger


@kernel
def move_tables(state, old_cells, old_values, cells, values):
    """Copy of every row what is in use: the rest of it need not even be in memory."""
    for i in range(state.shape[0]):
        for k in range(state[i, PLACES]):
            cells[i, k] = old_cells[i, k]
            values[i, k] = old_values[i, k]
