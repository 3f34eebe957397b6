"""The log of a trial: what an agent did for every move, as arrays, as records to read, and as lines of JSON.

It takes 94 bytes per move, eight per expanded cell and 24 per raised value.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import to_float
from rt_gym.files import PathLike, atomic_write
from rt_gym.terrain import Position

REASONS = ("planned", "committed", "overrun", "no path")
NOWHERE = -1  # the coordinates of a target that there is not


class Rise(NamedTuple):
    """A learned value that was raised."""

    position: Position
    old: float
    new: float


class Move(NamedTuple):
    """One move, for people: costs are floats.

    Attributes:
        position: where the agent stood.
        action: the direction in which it went, or STAY.
        reason: ``"planned"``: it planned for this move; ``"committed"``: it followed an earlier plan; ``"overrun"``: it
            lost the move to its budget, or the run ended; ``"no path"``: it knew of none, and the run ended.
        committed: how many moves of the plan were still to come.
        target: the state that it was heading for; None if it does not say.
        goal: what its values are about: the goal, or the subgoal that it pursued.
        g, f: the cost of getting to the target, and that cost plus the value of the target; None if it does not say.
        h_before, h_after: the learned value of where it stood, towards what it pursued before and after it decided;
            None for an agent that learns nothing.
        expansions, scans: what was counted for the move.
        expanded: the cells that were expanded, in this order.
        raised: the values that were raised, in this order; one that was raised twice is there twice.
    """

    position: Position
    action: int
    reason: str
    committed: int
    target: Position | None
    goal: Position
    g: float | None
    f: float | None
    h_before: float | None
    h_after: float | None
    expansions: int
    scans: int
    expanded: list[Position]
    raised: list[Rise]


@dataclass(frozen=True, eq=False)
class Log:
    """What an agent did for every move of a trial, ``n`` in all; ``log[k]`` is a record of one of them.

    A run that ended without a move, out of budget or without a path, has an entry more than moves: what was spent then.

    Attributes:
        head: what the log is about: problem, agent, settings, version.
        position, target, goal: int32[n, 2]; where there is no target, NOWHERE twice.
        action, reason: int8[n] and uint8[n], the latter as a number of ``REASONS``.
        committed: int32[n].
        expansions, scans: int64[n].
        g, f, h_before, h_after: float64[n], not a number where there is none.
        expanded: int32[m, 2], the cells expanded for all moves, one after the other. Those for move ``k`` are
            ``expanded[expanded_begin[k]:expanded_begin[k + 1]]``.
        raised, raised_old, raised_new: int32[m, 2], and the exact costs (see ``rt_gym.cost``), int64[m]; in the same
            way by ``raised_begin``.
    """

    head: dict[str, Any]
    position: NDArray[np.int32]
    action: NDArray[np.int8]
    reason: NDArray[np.uint8]
    committed: NDArray[np.int32]
    target: NDArray[np.int32]
    goal: NDArray[np.int32]
    g: NDArray[np.float64]
    f: NDArray[np.float64]
    h_before: NDArray[np.float64]
    h_after: NDArray[np.float64]
    expansions: NDArray[np.int64]
    scans: NDArray[np.int64]
    expanded: NDArray[np.int32]
    expanded_begin: NDArray[np.int64]
    raised: NDArray[np.int32]
    raised_old: NDArray[np.int64]
    raised_new: NDArray[np.int64]
    raised_begin: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, k: int) -> Move:
        """Return one move; negative numbers count from the end."""
        k = range(len(self))[index(k)]
        target = _position(self.target[k])
        return Move(
            position=_position(self.position[k]),
            action=int(self.action[k]),
            reason=REASONS[self.reason[k]],
            committed=int(self.committed[k]),
            target=None if NOWHERE in target else target,
            goal=_position(self.goal[k]),
            **{name: _number(getattr(self, name)[k]) for name in ("g", "f", "h_before", "h_after")},
            expansions=int(self.expansions[k]),
            scans=int(self.scans[k]),
            expanded=[_position(place) for place in self.expanded[_part(self.expanded_begin, k)]],
            raised=self._rises(_part(self.raised_begin, k)),
        )

    def _rises(self, part: slice) -> list[Rise]:
        values = zip(self.raised[part], self.raised_old[part].tolist(), self.raised_new[part].tolist(), strict=True)
        return [Rise(_position(place), to_float(old), to_float(new)) for place, old, new in values]

    def save(self, path: PathLike) -> None:
        """Write the log as lines of JSON: what it is about, then a line per move. A cost without end is null."""
        atomic_write(path, self._lines())

    def _lines(self) -> Iterator[bytes]:
        yield _line(self.head)
        for k in range(len(self)):
            move = self[k]
            raised = [(rise.position, *map(_finite, rise[1:])) for rise in move.raised]
            costs = {name: _finite(getattr(move, name)) for name in ("g", "f", "h_before", "h_after")}
            yield _line({"move": k + 1} | move._asdict() | costs | {"raised": raised})


def _part(begin: NDArray[np.int64], k: int) -> slice:
    return slice(int(begin[k]), int(begin[k + 1]))


def _position(place: NDArray[np.int32]) -> Position:
    return int(place[0]), int(place[1])


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _finite(cost: float | None) -> float | None:
    return None if cost == math.inf else cost


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":"), allow_nan=False).encode() + b"\n"
