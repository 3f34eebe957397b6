"""What an agent keeps when the world gives it another goal or another place; see ``World.set_goal`` and ``place``."""

from collections import Counter
from typing import ClassVar

from rt_gym.views import KernelView


class Carrying:
    """An agent that notices such interventions when it acts next.

    Attributes:
        restarts: how often it had to start anew since ``reset``, by the reason, ``"goal"`` or ``"place"``. What it knew
            of the map stays with the view in any case; lost are the values or the search of its algorithm.
        carries: the interventions that leave it what it has learned or found, of the class. Values belong to a goal and
            hold wherever the agent is put; a search from the agent to the goal belongs to both.
        midway: whether it is changing its goal within a problem.
    """

    carries: ClassVar[frozenset[str]] = frozenset({"place"})

    def __init__(self) -> None:
        self.restarts: Counter[str] = Counter()
        self.midway = False
        self._noticed = 0  # interventions
        self._goal, self._seed = -1, 0

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Bring the memory into the state of a new problem; seed 0 breaks ties by order of generation."""

    def begin_trial(self) -> None:
        """Go back to the start of the same problem: what was learned stays."""

    def follow(self, view: KernelView, seed: int) -> None:
        """Begin with a new problem, whose interventions are to be noticed from now on."""
        self.restarts.clear()
        self._noticed, self._goal, self._seed = view.interventions, view.goal_cell, seed
        self.clear_memory(view, seed)

    def carry_over(self, view: KernelView) -> None:
        """Take notice of all interventions since the last move, and keep what the algorithm allows."""
        reason = "place" if view.goal_cell == self._goal else "goal"
        if reason == "place":
            self.change_place()
        else:
            self.change_goal(view)
        if reason not in self.carries:
            self.restarts[reason] += 1
        self._noticed, self._goal = view.interventions, view.goal_cell

    def change_goal(self, view: KernelView) -> None:
        """Head for another goal: as in a new problem, but for what a class keeps while it is ``midway``."""
        self.midway = True
        try:
            self.clear_memory(view, self._seed)
        finally:
            self.midway = False

    def change_place(self) -> None:
        """Go on from another place: as from the start of another trial."""
        self.begin_trial()
