"""What agents have in common that pursue changing goals: values for every goal, in one table.

Their goals come from what was prepared or learned beforehand, so this base stands with the knowledge. The plan of such
an agent writes into ``memory.state[0].pursued`` which cell it is heading for, learns through ``raise_value`` with that
cell as the goal, and begins with ``if is_full(memory.values): return np.int64(FULL)``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import KernelAgent
from rt_gym.cost import to_floats
from rt_gym.jit import record
from rt_gym.search.space import begin_problem
from rt_gym.search.tables import enlarged, forget_values, learned_towards
from rt_gym.search.values import value_at
from rt_gym.terrain import fill_h0
from rt_gym.views import KernelView

# The cell that the agent heads for; agents that remember more have a record of their own with this field in it.
PURSUIT = record(pursued=int)


class GoalSeeker(KernelAgent):
    """An agent with a memory that has ``values``, a GoalValues, and ``state``, a record with the field ``pursued``."""

    carries = frozenset({"goal", "place"})

    @property
    def pursued(self) -> int:
        """The cell that the agent heads for."""
        return int(self.memory.state[0].pursued)

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Forget all values, unless the goal changes on the way, head for the goal, and seed the ties."""
        if not self.midway:
            forget_values(self.memory.values)
        self.memory.state[0].pursued = view.goal_cell
        begin_problem(self.space, seed)

    def enlarge_memory(self) -> None:
        """Double the capacity for values."""
        self.memory = self.memory._replace(values=enlarged(self.memory.values))

    def value_of(self, cell: int) -> int | None:
        """Return the value of a cell towards the goal that is pursued."""
        return int(value_at(self.memory.values, self.view.terrain, cell, self.pursued))

    def count_learned(self) -> int:
        """Return how many values have been learned, for all goals together."""
        return int(self.memory.values.state["taken"].item())

    def layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn; ``h`` is what was learned about the goal that is pursued."""
        view, pursued = self.view, self.pursued
        cells, values = learned_towards(self.memory.values, pursued)
        first, risen = np.empty(view.terrain.free.size, np.int64), np.zeros(view.terrain.free.size)
        fill_h0(view.terrain, pursued, first)
        risen[cells] = to_floats(values) - to_floats(first[cells])
        subgoals = [] if pursued == view.goal_cell else [view.position_of(pursued)]
        return super().layers() | {"h": view.inner(risen), "subgoals": np.array(subgoals, np.int64).reshape(-1, 2)}
