"""What an agent may know: its task, its position, the believed map, the meter.

An agent written in Python is handed a ``View``. It can be read and spent through, never written to: the arrays that it
returns are copies, the meter only goes up, and where the agent stands is for the world to say. An agent whose algorithm
is a kernel works on the arrays themselves, which ``kernel_view`` finds behind a view.

Reading the whole map is search as well: whoever has it can find a path and expand nothing. It counts as an expansion
of every cell, each time. Under a limit that leaves no room for it, it is refused.

Costs are floats, for people, or exact (``expand_exact``), for an agent that must break ties as the kernels do: sums of
floats that are equal on paper need not be equal.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import to_float
from rt_gym.errors import InputError
from rt_gym.grid import Grid, frozen
from rt_gym.meter import Meter
from rt_gym.problem import Problem
from rt_gym.terrain import DIRECTIONS, STEPS, Position, Terrain, h0
from rt_gym.trip import Trip

Painter = Callable[[], dict[str, NDArray[Any]]]


class KernelView:
    """The arrays behind a view, as kernels take them. Agents write to no other than ``trip.plan``.

    Attributes:
        start, goal, vision, width, height, connectivity, cost, corner: see ``View``.
        stride: cells of a row, the border included.
        terrain, trip: the believed map and the record of the trial.
        goal_cell: the flat index of the goal.
        interventions: how often the world gave the agent another goal, or another place without a move.
        painter: a function that returns the layers of the agent's thoughts, set by the agent.
    """

    def __init__(self, problem: Problem, terrain: Terrain, trip: Trip) -> None:
        grid = problem.grid
        self.start, self.goal, self.vision = problem.start, problem.goal, problem.vision
        self.width, self.height, self.stride = grid.width, grid.height, grid.stride
        self.connectivity, self.cost, self.corner = grid.connectivity, grid.cost, grid.corner
        self.terrain, self.trip = terrain, trip
        self.goal_cell, self.interventions = grid.cell(problem.goal), 0
        self.painter: Painter | None = None
        self._known_grid = grid if terrain is grid.terrain else None

    def as_grid(self) -> Grid:
        """Return the map as it is believed now, for an agent that wants to prepare itself for it.

        On a known map that was never edited that is the grid itself, whose digest need not be computed again.
        """
        grid = self._known_grid
        if grid is not None and self.terrain is grid.terrain:
            return grid
        return Grid(self.passable, self.connectivity, self.cost, self.corner)

    @property
    def passable(self) -> NDArray[np.bool_]:
        """H x W read-only array, true where a cell is believed to be free now."""
        return frozen(self.inner(self.terrain.free).view(bool))

    @property
    def known(self) -> NDArray[np.bool_]:
        """H x W read-only array, true where a cell has been seen by now."""
        return frozen(self.inner(self.terrain.known).view(bool))

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

    def list_expanded(self, position: Position) -> None:
        """List a cell that was expanded outside of kernels, where the world keeps a log."""
        meter, log = self.trip.meter[0], self.trip.log
        if meter.logged < log.size:
            log[meter.logged] = self.cell(position)
            meter.logged += 1

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


class View:
    """What an agent may know: its task, its position, the believed map, the meter. Never the truth or the future.

    Attributes:
        meter: spend through it, once per expansion.

    Args:
        inside: the arrays behind it.
        free_reads: whether the whole map is read without charge.
    """

    __slots__ = ("_free_reads", "_inside", "meter")
    _free_reads: bool
    _inside: KernelView
    meter: Meter

    def __init__(self, inside: KernelView, free_reads: bool = False) -> None:
        set_slot = object.__setattr__
        set_slot(self, "_inside", inside)
        set_slot(self, "_free_reads", free_reads)
        set_slot(self, "meter", Meter(inside.trip))

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "painter":
            raise InputError(f"view.{name} cannot be set: an agent reads its view, and moves by what act returns")
        self._inside.painter = value

    def __reduce__(self) -> tuple[Any, ...]:
        return View, (self._inside, self._free_reads)

    @property
    def start(self) -> Position:
        """Where the trial began, as ``(x, y)``."""
        return self._inside.start

    @property
    def goal(self) -> Position:
        """Where to go. It may change on the way; ``interventions`` says so."""
        return self._inside.goal

    @property
    def interventions(self) -> int:
        """How often the world gave the agent another goal, or another place without a move."""
        return self._inside.interventions

    @property
    def vision(self) -> int | None:
        """The radius within which cells are seen, None when the map is known."""
        return self._inside.vision

    @property
    def width(self) -> int:
        """How many columns the map has."""
        return self._inside.width

    @property
    def height(self) -> int:
        """How many rows the map has."""
        return self._inside.height

    @property
    def connectivity(self) -> int:
        """In how many directions one can move: 8, or 4."""
        return self._inside.connectivity

    @property
    def cost(self) -> str:
        """The cost model, ``"octile"`` or ``"unit"``."""
        return self._inside.cost

    @property
    def corner(self) -> str:
        """What a diagonal step needs: ``"strict"``, ``"one"`` or ``"free"``."""
        return self._inside.corner

    @property
    def position(self) -> Position:
        """Where the agent stands."""
        return self._inside.position

    @property
    def moves(self) -> int:
        """How many moves have been made."""
        return self._inside.moves

    @property
    def painter(self) -> Painter | None:
        """What draws the agent's thoughts, set by the agent: a function that returns its layers."""
        return self._inside.painter

    @property
    def passable(self) -> NDArray[np.bool_]:
        """H x W read-only copy, true where a cell is believed to be free. An expansion of every cell."""
        self._pay_for_map()
        return self._inside.passable

    @property
    def known(self) -> NDArray[np.bool_]:
        """H x W read-only copy, true where a cell has been seen. An expansion of every cell."""
        self._pay_for_map()
        return self._inside.known

    def as_grid(self) -> Grid:
        """Return the map as it is believed now, for an agent that prepares itself. An expansion of every cell."""
        self._pay_for_map()
        return self._inside.as_grid().replace(name="")

    def _pay_for_map(self) -> None:
        cells = self.width * self.height
        if not self._free_reads and not self.meter.charge(cells):
            raise InputError(
                f"reading the whole map counts as an expansion of each of its {cells} cells, for which a limit of "
                f"{self.meter.limit} per move leaves no room; expand what is needed, or allow Budget(free_reads=True)"
            )

    def take_changes(self) -> list[Position]:
        """Return the cells whose believed state has changed since this was last called."""
        return self._inside.take_changes()

    def neighbours(self, position: Position) -> list[tuple[int, Position, float]]:
        """Return the moves believed legal, each with its action, where it leads and its cost. One scan."""
        return [(action, near, to_float(cost)) for action, near, cost in self.neighbours_exact(position)]

    def neighbours_exact(self, position: Position) -> list[tuple[int, Position, int]]:
        """Return the same with exact costs, see ``rt_gym.cost``. One scan."""
        self.meter.scan()
        return self._moves(position)

    def expand(self, position: Position) -> list[tuple[int, Position, float]] | None:
        """Return what ``neighbours`` does, as an expansion; None if the budget of this move is used up."""
        moves = self.expand_exact(position)
        return None if moves is None else [(action, near, to_float(cost)) for action, near, cost in moves]

    def expand_exact(self, position: Position) -> list[tuple[int, Position, int]] | None:
        """Return the same with exact costs, see ``rt_gym.cost``."""
        if not self.meter.charge():
            return None
        moves = self._moves(position)
        self._inside.list_expanded(position)
        return moves

    def heuristic(self, position: Position, goal: Position | None = None) -> float:
        """Return the distance to the goal (or another cell) on a map without obstacles."""
        return to_float(self.heuristic_exact(position, goal))

    def heuristic_exact(self, position: Position, goal: Position | None = None) -> int:
        """Return the same as an exact cost, see ``rt_gym.cost``."""
        inside = self._inside
        target = inside.goal_cell if goal is None else inside.cell(self._on_map(goal))
        return int(h0(inside.terrain, inside.cell(self._on_map(position)), target))

    def _moves(self, position: Position) -> list[tuple[int, Position, int]]:
        inside, (x, y) = self._inside, self._on_map(position)
        bits, cost = int(inside.terrain.mask[inside.cell((x, y))]), inside.terrain.cost
        return [(d, (x + STEPS[d][0], y + STEPS[d][1]), int(cost[d])) for d in range(len(DIRECTIONS)) if bits >> d & 1]

    def _on_map(self, position: Position) -> Position:
        x, y = position
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise InputError(f"position {(x, y)} lies outside the map of {self.width} x {self.height}")
        return x, y


def kernel_view(view: View | KernelView) -> KernelView:
    """Return the arrays behind a view, for an agent whose algorithm is a kernel."""
    return view if isinstance(view, KernelView) else view._inside
