"""What the agents that choose their lookahead's depth have in common: General LRTA* with a choice before each search.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007, Figure 1. This base stands with the policies because it keeps what they choose from: the
``Situation`` of the trial and its features. A plan calls ``observe``, chooses a depth and calls ``search``; or it opens
the layers of one search one by one and stops when it has seen enough.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from agents.policies.record_depths import Record, has_room, label_state, make_record
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
from rt_gym.handles import with_parts
from rt_gym.jit import kernel, record
from rt_gym.search.deepening import DepthResults, add_layer, begin_layered, learn_and_move, make_depth_results
from rt_gym.search.lookahead import general_lrta, largest_depth
from rt_gym.search.paged_values import PagedValues, make_values, reset_values
from rt_gym.search.space import Space, begin_problem, make_space
from rt_gym.search.tables import GoalValues
from rt_gym.search.values import value_at
from rt_gym.trip import Trip, make_trip
from rt_gym.views import KernelView

MAX_DEPTH = 100
HISTORY = 20  # the paper's n
NOT_YET = -1

# Which features a controller needs: none, the paper's four, or all, which take a look at the neighbours.
NO_FEATURES, PAPER_FEATURES, ALL_FEATURES = range(3)

PLANNED = record(moves=int)  # the number of moves at the last plan, NOT_YET before the first


class Control(NamedTuple):
    """The memory that they share.

    Attributes:
        h: learned values: of one goal, or of many where an agent's goal changes.
        space, by_depth: the lookahead and what its layers decide.
        situation, inputs: the trial so far, and its features, those of the layers last.
        uncharged: a second trip, whose meter takes the work that only labels states.
        record: samples for training.
        d_max: the largest depth.
        features: which features the controller needs.
        state: PLANNED[1].
    """

    h: NDArray[np.int64] | GoalValues
    space: Space
    by_depth: DepthResults
    situation: Situation
    inputs: NDArray[np.float32]
    uncharged: Trip
    record: Record
    d_max: int
    features: int
    state: NDArray[np.record]


@kernel(inline=True)
def note_move(terrain, trip, control, s):
    """Take note of the step since the last plan."""
    situation, state, moves = control.situation, control.state[0], trip.tally[0].moves
    if state.moves == NOT_YET or moves == 0:
        begin_situation(situation, s)
        situation.track.state[0].raised = trip.tally[0].raises
    elif moves != state.moves:
        track = situation.track
        note_step(situation, terrain, np.int64(track.cells[track.state[0].now] & CELL), s, trip.tally[0].raises)
    state.moves = moves


@kernel(inline=True)
def write_features(terrain, trip, control, s, t):
    """Write the features that the controller needs; all of them while samples are recorded."""
    if control.features == ALL_FEATURES or has_room(control.record):
        write_situation(control.situation, terrain, trip, control.h, s, t, control.inputs)
    elif control.features == PAPER_FEATURES:
        write_history(control.situation.track, terrain, s, t, control.inputs)


@kernel(inline=True)
def observe(terrain, trip, control, s, t):
    """Take note of where the agent stands and write its features."""
    note_move(terrain, trip, control, s)
    write_features(terrain, trip, control, s, t)
    if has_room(control.record):
        label_state(terrain, trip, control, s, t)


@kernel(inline=True)
def search(terrain, trip, control, s, t, depth):
    """Make General LRTA*'s decision at this depth (lines 4 to 7) and take note of it; returns what a plan returns."""
    before, value = trip.meter[0].expansions, value_at(control.h, terrain, s, t)
    result = general_lrta(terrain, trip, control.space, control.h, s, t, depth)
    rise = value_at(control.h, terrain, s, t) - value
    note_decision(control.situation, depth, trip.meter[0].expansions - before, rise)
    return result


@kernel(inline=True)
def begin_layers(terrain, control, s, t):
    """Begin a search that goes on layer by layer."""
    begin_layered(control.space, control.by_depth, s, value_at(control.h, terrain, s, t))


@kernel(inline=True)
def open_layer(terrain, trip, control, t):
    """Search one layer deeper and write what is known of the layers; returns LAYER_ADDED, NO_PATH or CUT."""
    result = add_layer(terrain, trip, control.space, control.by_depth, control.h, t)
    write_layers(control.by_depth, control.inputs[len(SITUATION) :])
    return result


@kernel(inline=True)
def end_layers(terrain, trip, control, s, t):
    """Make the decision of the depth that has been reached and take note of it; returns what a plan returns."""
    by_depth = control.by_depth
    depth, value = by_depth.state[0].depth, value_at(control.h, terrain, s, t)
    result = learn_and_move(terrain, trip, by_depth, control.h, s, t)
    note_decision(control.situation, depth, by_depth.work[depth], value_at(control.h, terrain, s, t) - value)
    return result


def control_of(memory: Any) -> Control:
    """Return the shared part of a controller's memory, which may be all of it."""
    return memory if isinstance(memory, Control) else memory.control


def with_control(memory: Any, **changes: Any) -> Any:
    """Return the memory of a controller with some of the shared part replaced."""
    control = with_parts(control_of(memory), **changes)
    return control if isinstance(memory, Control) else with_parts(memory, control=control)


class DepthControl(KernelAgent):
    """An agent that chooses the depth of its lookahead for every move.

    Args:
        d_max: the largest depth.
        history: how many steps back the features reach.
        tie: ``"first"`` or ``"random"``.

    Attributes:
        features: which features its plan needs, of the class or of an instance.
        record: where the states of the next problem are labelled, see ``record_states``.
    """

    features: int = NO_FEATURES
    record: Record | None = None

    def __init__(self, d_max: int, history: int, tie: str) -> None:
        super().__init__(tie)
        self.d_max = whole("d_max", d_max, 1, MAX_DEPTH)
        self.history = whole("history", history, 1, 10_000)
        self._no_record = make_record(0, self.d_max)

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return (2 * self.d_max - 1) ** 2

    @property
    def control(self) -> Control:
        """The shared part of the memory."""
        return control_of(self.memory)

    @property
    def space(self) -> Space:
        """The states of the lookahead."""
        return self.control.space

    @property
    def values(self) -> Any:
        """What holds the learned values."""
        h = None if self.memory is None else self.control.h
        return h if isinstance(h, (np.ndarray, PagedValues)) else None

    def record_states(self, record: Record, history: int) -> None:
        """Have the states of the next problem labelled in a record.

        Args:
            record: what ``make_record`` returns; its largest depth becomes that of the agent.
            history: how many steps back the features reach from now on.
        """
        d_max = record.action.shape[1] - 1
        if (d_max, history) != (self.d_max, self.history):
            self._made_for = None  # the arrays of the memory are of other sizes
        self.d_max, self.history = whole("d_max", d_max, 1, MAX_DEPTH), whole("history", history, 1, 10_000)
        self.record = record

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return the largest depth whose bound fits; of scans half are kept for other readings than expansions."""
        return {"d_max": min(MAX_DEPTH, largest_depth(limit, count))}

    def make_memory(self, view: KernelView) -> Any:
        """Return the memory for maps of this size and kind."""
        cells = view.terrain.mask.size
        return Control(
            h=make_values(cells),
            space=make_space(cells),
            by_depth=make_depth_results(self.d_max),
            situation=make_situation(self.history),
            inputs=np.zeros(len(SITUATION) + len(LAYERS), np.float32),
            uncharged=make_trip(0),
            record=self._no_record,
            d_max=self.d_max,
            features=self.features,
            state=np.zeros(1, PLANNED),
        )

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Let the values start at the heuristic and the history with where the agent stands."""
        record = self._no_record if self.record is None else self.record
        if record.action.shape[1] != self.d_max + 1 or record.distance.size not in (0, view.terrain.mask.size):
            raise InputError(f"the record must be made for d_max {self.d_max} and distances of this map")
        self.memory = with_control(self.memory, record=record)
        reset_values(self.control.h, view.terrain, view.goal_cell)
        begin_problem(self.control.space, seed)
        self.begin_trial()

    def begin_trial(self) -> None:
        """Begin the history with where the agent stands."""
        self.control.state[0].moves = NOT_YET
