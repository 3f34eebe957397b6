"""What an agent may know: its task, its position, the believed map, the meter."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import to_float
from rt_gym.grid import Grid
from rt_gym.meter import Meter
from rt_gym.problem import Problem
from rt_gym.terrain import DIRECTIONS, STEPS, Position, Terrain, h0
from rt_gym.trip import Trip


class View:
    """What an agent may know: its task, its position, the believed map, the meter. Never the truth or the future.

    Attributes:
        start, goal: positions ``(x, y)``.
        vision: None when the map is known.
        painter: what draws the agent's thoughts, set by the agent: a function that returns its layers.
        meter: spend through it, once per expansion.
        terrain, trip: the same as kernels take them; agents read them and write only to ``trip.plan``.
    """

    def __init__(self, problem: Problem, terrain: Terrain, trip: Trip) -> None:
        grid = problem.grid
        self.start, self.goal, self.vision = problem.start, problem.goal, problem.vision
        self.width, self.height, self.stride = grid.width, grid.height, grid.stride
        self.connectivity, self.cost, self.corner = grid.connectivity, grid.cost, grid.corner
        self.terrain, self.trip = terrain, trip
        self.meter = Meter(trip)
        self.goal_cell = grid.cell(problem.goal)
        self.painter: Callable[[], dict[str, NDArray[Any]]] | None = None

    def as_grid(self) -> Grid:
        """Return the map as it is believed now, for an agent that wants to prepare itself for it."""
        return Grid(self.passable, self.connectivity, self.cost, self.corner)

    @property
    def passable(self) -> NDArray[np.bool_]:
        """H x W read-only array, true where a cell is believed to be free."""
        return self._read_only(self.terrain.free)

    @property
    def known(self) -> NDArray[np.bool_]:
        """H x W read-only array, true where a cell has been seen."""
        return self._read_only(self.terrain.known)

    def _read_only(self, flat: NDArray[np.uint8]) -> NDArray[np.bool_]:
        array = self.inner(flat).view(bool)
        array.flags.writeable = False
        return array

    @property
    def position(self) -> Position:
        """Where the agent stands."""
        return self.position_of(self.cell_now)

    @property
    def cell_now(self) -> int:
        """The flat index of where the agent stands."""
        return int(self.trip.state["at"][0])

    @property
    def moves(self) -> int:
        """How many moves have been made."""
        return int(self.trip.tally["moves"][0])

    def take_changes(self) -> list[Position]:
        """Return the cells whose believed state has changed since this was last called."""
        state = self.trip.state[0]
        begin, end = int(state.reported), int(state.changed)
        state.reported = end
        return [self.position_of(int(cell)) for cell in self.trip.changed[begin:end]]

    @property
    def expanded(self) -> NDArray[np.int32]:
        """The cells expanded for the current move or, before that begins, for the last; where the world keeps a log."""
        meter = self.trip.meter[0]
        return self.trip.log[: meter.logged or meter.shown]

    def neighbours(self, position: Position) -> list[tuple[int, Position, float]]:
        """Return the moves believed legal, each with its action, where it leads and its cost. One scan."""
        self.meter.scan()
        return self._moves(position)

    def expand(self, position: Position) -> list[tuple[int, Position, float]] | None:
        """Return the same as an expansion; None if the budget of this move is used up."""
        return self._moves(position) if self.meter.charge() else None

    def heuristic(self, position: Position, goal: Position | None = None) -> float:
        """Return the distance to the goal (or another cell) on a map without obstacles."""
        target = self.goal_cell if goal is None else self.cell(goal)
        return to_float(int(h0(self.terrain, self.cell(position), target)))

    def cell(self, position: Position) -> int:
        """Return the flat index of a position."""
        return (position[1] + 1) * self.stride + position[0] + 1

    def position_of(self, cell: int) -> Position:
        """Return the position of a flat index."""
        y, x = divmod(cell, self.stride)
        return x - 1, y - 1

    def inner(self, flat: NDArray[Any]) -> NDArray[Any]:
        """Return a flat, bordered array as an H x W view without the border."""
        return flat.reshape(self.height + 2, self.stride)[1:-1, 1:-1]

    def _moves(self, position: Position) -> list[tuple[int, Position, float]]:
        bits, (x, y) = int(self.terrain.mask[self.cell(position)]), position
        return [
            (d, (x + STEPS[d][0], y + STEPS[d][1]), to_float(int(self.terrain.cost[d])))
            for d in range(len(DIRECTIONS))
            if bits >> d & 1
        ]
