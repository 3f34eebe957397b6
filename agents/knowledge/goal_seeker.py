"""What agents have in common that pursue changing goals: values for every goal, in one table.

The plan of such an agent writes into ``memory.pursued`` which cell it is heading for, learns through ``raise_value``
with that cell as the goal, and begins with ``if is_full(memory.values): return np.int64(FULL)``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from rt_gym.cost import to_floats
from rt_gym.grid import fill_h0
from rt_gym.search.values import enlarged, forget_values, learned_towards, value_at
from rt_gym.world import View


class Seeker(KernelAgent):
    """An agent with a memory that has ``values``, a GoalValues, and ``pursued``, int64[1]."""

    def clear_memory(self, view: View, seed: int) -> None:
        """Forget all values and head for the goal."""
        forget_values(self.memory.values)
        self.memory.pursued[0] = view.goal_cell

    def enlarge_memory(self) -> None:
        """Make room for twice as many values."""
        self.memory = self.memory._replace(values=enlarged(self.memory.values))

    def value_of(self, cell: int) -> int | None:
        """Return the value of a cell towards the goal that is pursued."""
        return int(value_at(self.memory.values, self.view.terrain, cell, int(self.memory.pursued[0])))

    def count_learned(self) -> int:
        """Return how many values have been learned, for all goals together."""
        return int(self.memory.values.state[0].taken)

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn; ``h`` is what was learned about the goal that is pursued."""
        view, pursued = self.view, int(self.memory.pursued[0])
        cells, values = learned_towards(self.memory.values, pursued)
        first, risen = np.empty(view.terrain.free.size, np.int64), np.zeros(view.terrain.free.size)
        fill_h0(view.terrain, pursued, first)
        risen[cells] = to_floats(values) - to_floats(first[cells])
        subgoals = [] if pursued == view.goal_cell else [view.position_of(pursued)]
        return super().layers() | {"h": view.inner(risen), "subgoals": np.array(subgoals, np.int64).reshape(-1, 2)}
