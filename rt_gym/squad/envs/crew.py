"""The units of one episode in which each is moved by its own action, and what each of them may know."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.features.history import make_track
from rt_gym.grid import frozen
from rt_gym.handles import handle, stack
from rt_gym.meter import Budget
from rt_gym.problem import Problem
from rt_gym.squad.crowd import hide_others
from rt_gym.squad.envs.moves import ACTING, GONE, STEP, begin_all, look, step_all
from rt_gym.squad.envs.settings import ParallelSettings
from rt_gym.squad.team import Unit, make_columns, make_team, make_units
from rt_gym.terrain import Terrain, positions
from rt_gym.trip import with_room
from rt_gym.views import KernelView, View

_NOBODY = -1


class Crew:
    """The units of an episode.

    Args:
        problems: one per unit.
        settings: of the environment.
        budget: the limit per unit and tick.
        seed: for where units are pushed to.

    Attributes:
        grid: the map.
        steps: STEP per unit, what the last tick was to it.
        goals: int64 per unit, its goal's cell.
        views: what each of them may know.
    """

    def __init__(self, problems: Sequence[Problem], settings: ParallelSettings, budget: Budget, seed: int) -> None:
        self.grid, number = problems[0].grid, len(problems)
        team = make_team(problems, settings.blocking, settings.sight, settings.push, settings.shared_fog, seed)
        self._units = make_units(problems, [None] * number, budget, team)
        self._columns, self.steps = make_columns(problems), np.zeros(number, STEP)
        self.goals: NDArray[np.int64] = self._columns["goal"]
        self.steps["unit"] = [settings.unit(problem) for problem in problems]
        self._bodies = stack([unit.body() for unit in self._units])
        self._team, self._state = handle(**team._asdict()), team.state
        self._truth = team.free
        track = make_track(settings.history, (number,))
        self._crew = handle(track=track, steps=self.steps, terms=settings.terms(), stays=int(settings.stays))
        self._size, self._blocking, self._most_seen = settings.size, settings.blocking, team.seen.shape[1]
        self._eyes = _NOBODY  # whose view of others is on the map that units believe in
        for i, unit in enumerate(self._units):
            unit.view = UnitView(self, i, unit)
        self.views = [View(unit.view, budget.free_reads) for unit in self._units]

    def begin(self) -> NDArray[np.float32]:
        """Let all sense at time zero and return their first observations."""
        out = np.empty((len(self._units), self._size), np.float32)
        begin_all(self._bodies, self._columns, self._team, self._crew, out)
        return out

    def step(self, actions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Let one tick pass, with one action per unit, and return the observations of those that were on the map."""
        out = np.empty((len(self._units), self._size), np.float32)
        self.close_eyes()
        step_all(self._bodies, self._columns, self._team, self._crew, actions, out)
        for i in np.flatnonzero(self._columns["displaced"]):
            self._units[i].intervene("place")
        return out

    def open_eyes(self, i: int) -> None:
        """Show unit ``i`` the others it sees, on the map it believes in, until another one looks or a tick passes.

        Units may believe in one map, which can show only one unit's view at a time.
        """
        if not self._blocking or self._eyes == i or self.steps[i].live == GONE:
            return
        self.close_eyes()
        # An agent in Python may leave its list of changes unread: then each cell is listed once, which has room.
        with_room(self._units[i].view.trip, 2 * self._most_seen)
        if look(self._bodies, self._columns, self._team, i):
            self._eyes = i

    def close_eyes(self) -> None:
        """Show nobody on the map."""
        if self._eyes != _NOBODY:
            hide_others(self._team, self._bodies, self._columns, self._eyes)
            self._eyes = _NOBODY

    def scene(self) -> Any:
        """Return what there is to draw: the true map, and the units that are on it."""
        from rt_gym.render import Scene

        here = np.flatnonzero(self.steps["live"] == ACTING) if self.steps["live"].any() else np.arange(self.steps.size)
        where = positions(self.grid.terrain, self.steps["after"][here])
        goals = positions(self.grid.terrain, self.goals[here])
        first = self._units[here[0]].problem
        return Scene(
            passable=self.grid.inner(self._truth).astype(bool),
            known=None,
            position=tuple(where[0].tolist()),
            start=first.start,
            goal=first.goal,
            trail=where[:0],
            layers={"expanded": where[1:], "subgoals": goals[1:]},
            caption=f"{self.grid.name}  tick {self._state[0].tick}  {len(here)} units",
        )


class UnitView(KernelView):
    """The arrays behind the view of a unit, whose map shows the others that are in sight while the unit plans."""

    def __init__(self, crew: Crew, number: int, unit: Unit) -> None:
        self._crew, self._number = crew, number
        super().__init__(unit.problem, unit.view.terrain, unit.view.trip)

    @property
    def terrain(self) -> Terrain:
        """What the unit believes of the map and, if it must plan, sees of others."""
        self._crew.open_eyes(self._number)
        return self._believed

    @terrain.setter
    def terrain(self, terrain: Terrain) -> None:
        self._believed = terrain

    @property
    def passable(self) -> NDArray[np.bool_]:
        """H x W read-only array, true where a cell is believed to be free, whoever stands there."""
        self._crew.close_eyes()
        return frozen(self.inner(self._believed.free).view(bool))
