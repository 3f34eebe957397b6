"""A problem: where to go, on which map, with what knowledge, and how the map will change. A value, without state."""

from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import INF, to_float
from rt_gym.errors import InputError, flag, quoted, whole
from rt_gym.grid import Grid
from rt_gym.terrain import Position

if TYPE_CHECKING:
    from rt_gym.meter import Budget
    from rt_gym.views import View


class Change(NamedTuple):
    """A scheduled edit of the map: after ``time`` moves the cell becomes free or blocked.

    A cell that closes under the agent waits until the agent has left it.
    """

    time: int
    position: Position
    free: bool


def listed(changes: Any) -> tuple[Any, ...]:
    """Return the entries of a schedule as a tuple, empty for None."""
    try:
        return () if changes is None else tuple(changes)
    except TypeError:
        raise InputError(f"changes must be a list of (time, (x, y), free), not {quoted(changes)}") from None


def position_on(grid: Grid, role: str, value: Any) -> Position:
    """Return a position that must lie on the map; ``role`` is what messages call it."""
    try:
        x, y = (int(part) for part in value)
        exact = (x, y) == tuple(value)
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise InputError(f"{role} must be a pair of whole numbers (x, y), not {quoted(value)}")
    if not grid.contains((x, y)):
        raise InputError(f"{role} {(x, y)} lies outside the map of {grid.width} x {grid.height}")
    return x, y


def free_position(grid: Grid, free: NDArray[np.uint8], role: str, value: Any) -> Position:
    """Return a position that must be free by ``free``, the flat, bordered cells of the map at some time."""
    position = position_on(grid, role, value)
    if not free[grid.cell(position)]:
        raise InputError(f"{role} {position} is a blocked cell")
    return position


@dataclass(frozen=True)
class Problem:
    """A start and a goal on a grid.

    Args:
        grid: the true map.
        start: ``(x, y)`` of the agent.
        goal: ``(x, y)`` to reach.
        vision: None when the map is known; otherwise the radius within which cells are seen.
        changes: scheduled edits, as ``Change`` or ``(time, (x, y), free)``.
        allow_unsolvable: accept a goal that cannot be reached.
        nearest: take the cell nearest to ``goal``, by the heuristic, of those that can be reached from the start on the
            true map as it is at the start, in fog as well. Of several take the one with the shortest path from the
            start, then the first of the map, row by row. The goal itself may then be blocked.

    Raises:
        InputError: if start or goal lie outside, on a blocked cell, or apart from each other.
    """

    grid: Grid
    start: Position
    goal: Position
    vision: int | None = None
    changes: tuple[Change, ...] | None = None
    allow_unsolvable: bool = False
    nearest: InitVar[bool] = False

    def __post_init__(self, nearest: bool) -> None:
        if not isinstance(self.grid, Grid):
            raise InputError(f"grid must be a Grid, not {quoted(self.grid)}")
        if not self.grid.free_cells:
            raise InputError(f"map {self.grid.name or 'without a name'} has no free cell")
        free = self.grid.terrain.free
        object.__setattr__(self, "start", free_position(self.grid, free, "start", self.start))
        goal = self._nearest_goal() if flag("nearest", nearest) else free_position(self.grid, free, "goal", self.goal)
        object.__setattr__(self, "goal", goal)
        vision = self.vision
        if vision is not None:
            object.__setattr__(self, "vision", whole("vision", vision, 1))
        object.__setattr__(self, "changes", self._schedule(self.changes))
        may_be_apart = self.allow_unsolvable or any(change.free for change in self.changes or ())
        if not may_be_apart and not self.connected:
            raise InputError(f"goal {self.goal} cannot be reached from start {self.start}")

    def _nearest_goal(self) -> Position:
        from rt_gym.search.reach import nearest_cell

        grid, wished = self.grid, position_on(self.grid, "goal", self.goal)
        return grid.position(nearest_cell(grid.terrain, grid.cell(self.start), grid.cell(wished)))

    def _schedule(self, changes: Any) -> tuple[Change, ...]:
        schedule = []
        for entry in listed(changes):
            try:
                time, position, free = entry
                free = bool(free)
            except (TypeError, ValueError):
                raise InputError(f"a change must be (time, (x, y), free), not {quoted(entry)}") from None
            when = whole("the time of a change", time, 0)
            schedule.append(Change(when, position_on(self.grid, "change at", position), free))
        return tuple(sorted(schedule, key=lambda change: change.time))

    @property
    def connected(self) -> bool:
        """Whether the goal can be reached on the map as it is at the start."""
        from rt_gym.search.astar import connected

        return connected(self.grid, self.start, self.goal)

    @cached_property
    def optimal_cost(self) -> int:
        """The cost of a shortest path on the map as it is at the start, as an exact integer; ``cost.INF`` without one.

        It is encoded as ``rt_gym.cost`` says, for kernels; ``optimal`` is the length that it stands for.

        Raises:
            InputError: if all paths are too long for an exact cost.
        """
        from rt_gym.search.astar import shortest_cost

        return shortest_cost(self.grid, self.start, self.goal)

    @property
    def optimal(self) -> float | None:
        """The cost of a shortest path; None when the map changes, infinite when there is none."""
        return None if self.changes else to_float(min(self.optimal_cost, INF))

    def view(self, budget: "Budget | int | None" = None) -> "View":
        """Return what an agent sees at the start, without any environment around it."""
        from rt_gym.world import World

        return World(self, budget).view
