"""What the agents that choose their lookahead's depth have in common: General LRTA* with a choice before each search.

An agent keeps the ``Situation`` of its trial, from which it chooses, and may keep a ``Record`` of what lookaheads of
every depth would have decided where it stood. The record is for training; without room in it nothing is searched for
it.
"""

from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from rt_gym.cost import STRAIGHT
from rt_gym.errors import InputError, whole
from rt_gym.features.decision import (
    LAYERS,
    SITUATION,
    Situation,
    begin_situation,
    make_situation,
    note_decision,
    note_step,
    write_layers,
    write_situation,
)
from rt_gym.features.history import CELL, write_history
from rt_gym.grid import fill_h0
from rt_gym.jit import kernel
from rt_gym.search.deepening import Ladder, begin_climb, climb, commit, label, make_ladder
from rt_gym.search.lookahead import general_lrta
from rt_gym.search.space import Space, make_space
from rt_gym.search.values import GoalValues, value_at
from rt_gym.trip import Trip, make_trip
from rt_gym.world import View

MAX_DEPTH = 100
HISTORY = 20  # the paper's n
NOT_YET = -1


class Record(NamedTuple):
    """Samples of a trial, one row each, as long as there is room; columns 1.. of matrices belong to the depths.

    Attributes:
        situation: the features.
        label: the paper's depth label.
        action: what a lookahead of each depth would do.
        rise: by how much it would raise the value of where the agent stood, in steps.
        work: its expansions.
        ties: the moves that it might as well make, a bit for each direction.
        regret: by how much its move is longer than the best, in steps; all zero without ``distance``.
        distance: the true distance of every cell to the goal, empty if unknown.
        taken: int64[1], how many rows are filled.
    """

    situation: NDArray[np.float32]
    label: NDArray[np.int64]
    action: NDArray[np.uint8]
    rise: NDArray[np.float64]
    work: NDArray[np.int64]
    ties: NDArray[np.uint8]
    regret: NDArray[np.float64]
    distance: NDArray[np.int64]
    taken: NDArray[np.int64]


def make_record(rows: int, d_max: int, distance: NDArray[np.int64] | None = None) -> Record:
    """Return room for so many samples."""
    columns = (rows, d_max + 1)
    return Record(
        situation=np.zeros((rows, len(SITUATION)), np.float32),
        label=np.zeros(rows, np.int64),
        action=np.zeros(columns, np.uint8),
        rise=np.zeros(columns),
        work=np.zeros(columns, np.int64),
        ties=np.zeros(columns, np.uint8),
        regret=np.zeros(columns),
        distance=np.empty(0, np.int64) if distance is None else distance,
        taken=np.zeros(1, np.int64),
    )


class Control(NamedTuple):
    """The memory that they share.

    Attributes:
        h: learned values: of one goal, or of many where an agent's goal changes.
        space, ladder: the lookahead and what its layers decide.
        situation, inputs: the trial so far, and its features, those of the layers last.
        shadow: a meter for work that only labels states.
        record: samples for training.
        state: int64[2], the largest depth, and the number of moves at the last plan.
    """

    h: NDArray[np.int64] | GoalValues
    space: Space
    ladder: Ladder
    situation: Situation
    inputs: NDArray[np.float32]
    shadow: Trip
    record: Record
    state: NDArray[np.int64]


D_MAX, SEEN = range(2)


@kernel(inline=True)
def attend(terrain, trip, control, s):
    """Take note of the step since the last plan."""
    situation, moves = control.situation, trip.tally[0].moves
    if control.state[SEEN] == NOT_YET or moves == 0:
        begin_situation(situation, s)
        situation.track.state[0].raised = trip.tally[0].raises
    elif moves != control.state[SEEN]:
        track = situation.track
        note_step(situation, terrain, np.int64(track.cells[track.state[0].now] & CELL), s, trip.tally[0].raises)
    control.state[SEEN] = moves


@kernel(inline=True)
def recording(control):
    """Whether there is room for another sample."""
    return control.record.taken[0] < control.record.label.size


@kernel
def remember(terrain, trip, control, s, t):
    """Label where the agent stands, keep the sample, and return the label. The features must have been written."""
    record, ladder = control.record, control.ladder
    row, d_max = record.taken[0], control.state[D_MAX]
    depth = label(terrain, trip, control.shadow, control.space, ladder, control.h, s, t, d_max, record.ties[row])
    if depth == 0:
        return depth
    record.taken[0] += 1
    record.label[row] = depth
    for k in range(record.situation.shape[1]):
        record.situation[row, k] = control.inputs[k]
    for d in range(1, d_max + 1):
        action = ladder.action[d]
        record.action[row, d] = action
        record.rise[row, d] = (ladder.value[d] - ladder.value[0]) / STRAIGHT
        record.work[row, d] = ladder.work[d]
        if record.distance.size > 0:
            detour = terrain.cost[action] + record.distance[s + terrain.offset[action]] - record.distance[s]
            record.regret[row, d] = detour / STRAIGHT
    return depth


@kernel(inline=True)
def observe(terrain, trip, control, s, t):
    """Take note of where the agent stands, write its features, and keep a sample if there is room."""
    attend(terrain, trip, control, s)
    write_situation(control.situation, terrain, trip, control.h, s, t, control.inputs)
    if recording(control):
        remember(terrain, trip, control, s, t)


@kernel(inline=True)
def look(terrain, trip, control, rich, s, t):
    """Write the features that a policy needs; the paper's four, without ``rich``, take no look at the neighbours."""
    if rich != 0 or recording(control):
        observe(terrain, trip, control, s, t)
        return
    attend(terrain, trip, control, s)
    write_history(control.situation.track, terrain, s, t, control.inputs)


@kernel(inline=True)
def search(terrain, trip, control, s, t, depth):
    """Make General LRTA*'s decision at this depth and take note of it; returns what a plan returns."""
    before, value = trip.meter[0].expansions, value_at(control.h, terrain, s, t)
    result = general_lrta(terrain, trip, control.space, control.h, s, t, depth)
    rise = value_at(control.h, terrain, s, t) - value
    note_decision(control.situation, depth, trip.meter[0].expansions - before, rise)
    return result


@kernel(inline=True)
def begin_layers(terrain, control, s, t):
    """Begin a search that goes on layer by layer."""
    begin_climb(control.space, control.ladder, s, value_at(control.h, terrain, s, t))


@kernel(inline=True)
def open_layer(terrain, trip, control, t):
    """Search one layer deeper and write what is known of the layers; returns CLIMBED, NO_PATH or CUT."""
    result = climb(terrain, trip, control.space, control.ladder, control.h, t)
    write_layers(control.ladder, control.inputs[len(SITUATION) :])
    return result


@kernel(inline=True)
def end_layers(terrain, trip, control, s, t):
    """Make the decision of the depth that has been reached and take note of it; returns what a plan returns."""
    ladder = control.ladder
    depth, value = ladder.state[0].depth, value_at(control.h, terrain, s, t)
    result = commit(terrain, trip, ladder, control.h, s, t)
    note_decision(control.situation, depth, ladder.work[depth], value_at(control.h, terrain, s, t) - value)
    return result


class DepthControl(KernelAgent):
    """An agent that chooses the depth of its lookahead for every move.

    Args:
        d_max: the largest depth.
        history: how many steps back the features reach.
        tie: ``"first"`` or ``"random"``.
    """

    def __init__(self, d_max: int, history: int, tie: str) -> None:
        super().__init__(tie)
        self.d_max = whole("d_max", d_max, 1, MAX_DEPTH)
        self.history = whole("history", history, 1, 10_000)
        self.record: Record | None = None  # set it to have the next problem's states labelled

    @property
    def bound(self) -> int:
        """The most expansions that a move can take."""
        return (2 * self.d_max - 1) ** 2

    @property
    def space(self) -> Space:
        """The states of the lookahead."""
        return self.control.space

    @property
    def learned(self) -> NDArray[np.int64] | None:
        """The learned heuristic of every cell."""
        h = None if self.memory is None else self.control.h
        return h if isinstance(h, np.ndarray) else None

    @property
    def control(self) -> Control:
        """The shared part of the memory, which may be all of it."""
        return self.memory if isinstance(self.memory, Control) else self.memory.control

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest depth whose bound fits; of scans half are kept for other readings than expansions."""
        room = limit if count == "expansions" else max(1, limit // 2)
        return {"d_max": min(MAX_DEPTH, (1 + isqrt(room)) // 2)}

    def make_memory(self, view: View) -> Any:
        """Return the memory for maps of this size and kind."""
        cells = view.terrain.mask.size
        return Control(
            h=np.empty(cells, np.int64),
            space=make_space(cells),
            ladder=make_ladder(self.d_max),
            situation=make_situation(self.history),
            inputs=np.zeros(len(SITUATION) + len(LAYERS), np.float32),
            shadow=make_trip(0),
            record=make_record(0, self.d_max),
            state=np.array([self.d_max, NOT_YET]),
        )

    def clear_memory(self, view: View, seed: int) -> None:
        """Let the values start at the heuristic and the history with where the agent stands."""
        record = make_record(0, self.d_max) if self.record is None else self.record
        if record.action.shape[1] != self.d_max + 1 or record.distance.size not in (0, view.terrain.mask.size):
            raise InputError(f"the record must be made for d_max {self.d_max} and distances of this map")
        control = self.control._replace(record=record)
        self.memory = control if isinstance(self.memory, Control) else self.memory._replace(control=control)
        fill_h0(view.terrain, view.goal_cell, self.control.h)
        self.control.space.random[0] = seed
        self.control.state[SEEN] = NOT_YET
