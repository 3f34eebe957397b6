"""What can be asked of an agent with a kernel: what it knows, how much it holds, and why it moved as it did."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.record import Decision
from rt_gym.cost import to_float, to_floats
from rt_gym.pages import Holding
from rt_gym.search.paged_values import PagedValues, count_raised, dense_values, value_in_pages
from rt_gym.search.space import NONE, Space
from rt_gym.terrain import fill_h0, positions
from rt_gym.trip import STAY
from rt_gym.views import KernelView


class Thoughts:
    """What every agent with a kernel answers, from its memory and its view.

    Attributes:
        memory: the NamedTuple that the kernel works on.
        view: what the agent knows.
    """

    memory: Any
    view: KernelView
    _holding: Holding | None = None
    _last: tuple[int, int, int, int | None]  # of the last act: where, which move, how many plans before, the value

    @property
    def space(self) -> Space:
        """The states of the agent's last search."""
        space: Space = self.memory.space
        return space

    @property
    def values(self) -> Any:
        """What holds the learned values: an array, or pages on a large map; None for an agent without any."""
        return getattr(self.memory, "h", None)

    @property
    def learned(self) -> NDArray[np.int64] | None:
        """The learned heuristic of every cell, a copy on a large map; None for an agent without one."""
        return None if self.values is None else dense_values(self.values, self.view.terrain)

    def value_of(self, cell: int) -> int | None:
        """Return the learned value of a cell, None for an agent without any."""
        values = self.values
        if isinstance(values, PagedValues):
            return value_in_pages(values, self.view.terrain, cell)
        return None if values is None else int(values[cell])

    def count_learned(self) -> int:
        """Return how many values differ from the heuristic."""
        view = self.view
        return 0 if self.values is None else count_raised(self.values, view.terrain, view.goal_cell, view.trip.marks)

    def count_states(self) -> int:
        """Return how many states it holds: its learned values."""
        return self.count_learned()

    def count_bytes(self) -> int:
        """Return how many bytes its memory really takes."""
        if self._holding is None or self._holding.parts is not self.memory:
            self._holding = Holding(self.memory)
        return self._holding.bytes

    def explain(self) -> Decision:
        """Say why the last action of ``act`` was chosen; to be asked before the next one."""
        at, action, plans, before = self._last
        state = self.view.trip.state[0]
        target, g, f = self._target(at, action)
        return Decision(
            position=self.view.position_of(at),
            action=action,
            planned=int(self.view.trip.tally["plans"][0]) > plans,
            committed=int(state.planned - state.next),
            target=None if target is None else self.view.position_of(target),
            g=g,
            f=f,
            h_before=None if before is None else to_float(before),
            h_after=None if (after := self.value_of(at)) is None else to_float(after),
        )

    def _target(self, at: int, action: int) -> tuple[int | None, float | None, float | None]:
        """Return the cell chosen by the last search, its g and f; without a search, those of the next cell."""
        space, best = self.space, int(self.space.state[0].best)
        if space.state[0].slots > 0 and best != NONE:
            g = int(space.g[best])
            return int(space.cell[best]), to_float(g), to_float(g + int(space.h[best]))
        cell, cost = at + int(self.view.terrain.offset[action]), int(self.view.terrain.cost[action])
        if action == STAY or (value := self.value_of(cell)) is None:
            return None, None, None
        return cell, to_float(cost), to_float(cost + value)

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: ``h``, H x W, how much was learned; ``expanded``, n x 2, the last move's work."""
        view = self.view
        layers: dict[str, NDArray[Any]] = {"expanded": positions(view.terrain, view.expanded)}
        if (learned := self.learned) is not None:
            first = np.empty_like(learned)
            fill_h0(view.terrain, view.goal_cell, first)
            layers["h"] = to_floats(view.inner(learned)) - to_floats(view.inner(first))
        return layers
