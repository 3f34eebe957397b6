"""Samples for training: what lookaheads of every depth would have decided where an agent stood.

An agent of ``agents.policies.depth_control`` records until its ``record`` is full. A full record costs no search,
and the agent's path does not change: labels are found with a meter of their own and count as scans.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import STRAIGHT
from rt_gym.features.decision import SITUATION
from rt_gym.jit import kernel, record
from rt_gym.search.deepening import label

ROWS = record(taken=int)  # how many rows are filled


class Record(NamedTuple):
    """Samples of a trial, one row each, until all rows are filled; in matrices, column d belongs to depth d.

    Attributes:
        situation: the features.
        label: the paper's depth label.
        action: what a lookahead of each depth would do.
        rise: by how much it would raise the value of where the agent stood, in steps.
        work: its expansions.
        ties: the moves that are as good as that one, one bit per direction.
        regret: by how much its move is longer than the best, in steps; all zero without ``distance``.
        distance: the true distance of every cell to the goal, empty if unknown.
        state: ROWS[1].
    """

    situation: NDArray[np.float32]
    label: NDArray[np.int64]
    action: NDArray[np.uint8]
    rise: NDArray[np.float64]
    work: NDArray[np.int64]
    ties: NDArray[np.uint8]
    regret: NDArray[np.float64]
    distance: NDArray[np.int64]
    state: NDArray[np.record]

    @property
    def taken(self) -> int:
        """How many rows are filled."""
        return int(self.state[0].taken)


def make_record(rows: int, d_max: int, distance: NDArray[np.int64] | None = None) -> Record:
    """Return an empty record.

    Args:
        rows: how many.
        d_max: the largest depth.
        distance: the true distance of every cell to the goal, for the regrets.
    """
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
        state=np.zeros(1, ROWS),
    )


@kernel(inline=True)
def has_room(record):
    """Whether another sample fits."""
    return record.state[0].taken < record.label.size


@kernel
def label_state(terrain, trip, control, s, t):
    """Return the label of where the agent stands, 0 without a path; keep the sample unless the record is full.

    A sample needs all features in ``control.inputs``.
    """
    record, space, by_depth, uncharged = control.record, control.space, control.by_depth, control.uncharged
    row, room = record.state[0].taken, has_room(record)
    ties = record.ties[row] if room else by_depth.action[:0]
    depth = label(terrain, trip, uncharged, space, by_depth, control.h, s, t, control.d_max, ties)
    if room and depth != 0:
        record.state[0].taken += 1
        record.label[row] = depth
        keep_features(record, row, control.inputs)
        keep_decisions(terrain, record, row, by_depth, s)
    return depth


@kernel(inline=True)
def keep_features(record, row, inputs):
    """Copy the features into a row."""
    for k in range(record.situation.shape[1]):
        record.situation[row, k] = inputs[k]


@kernel(inline=True)
def keep_decisions(terrain, record, row, by_depth, s):
    """Enter what every depth would decide into a row."""
    distance = record.distance
    for d in range(1, record.action.shape[1]):
        action = by_depth.action[d]
        record.action[row, d] = action
        record.rise[row, d] = (by_depth.value[d] - by_depth.value[0]) / STRAIGHT
        record.work[row, d] = by_depth.work[d]
        if distance.size > 0:
            detour = terrain.cost[action] + distance[s + terrain.offset[action]] - distance[s]
            record.regret[row, d] = detour / STRAIGHT
