"""The arguments of an environment in which every unit moves itself, and how starts and goals are drawn."""

from functools import cached_property
from typing import Any

import numpy as np

from rt_gym.envs.path import PathSettings
from rt_gym.envs.pool import DEFAULTS
from rt_gym.errors import InputError, choice, flag, whole
from rt_gym.grid import Grid
from rt_gym.problem import Problem
from rt_gym.squad.team import check_places, check_problems

FIXED = ("stay", "max_moves", "visits", "stack")  # arguments of a path environment that are not for choice here


class ParallelSettings(PathSettings):
    """What an environment of many units is made of.

    Args:
        units: how many there are.
        blocking: whether a cell where a unit stands is an obstacle for the others.
        sight: how far units see each other, in cells; None for all.
        on_arrival: ``"leave"``: a unit that reaches its goal leaves the map, and its episode ends. ``"stay"``: it stays
            there, and the episode of all ends when all stand on their goals.
        push: whether a unit that stands on its goal is pushed aside when it is in the way.
        shared_fog: whether units that see only a part of the map tell each other what they see.
        max_ticks: after how many ticks the episode of all units is truncated.
    """

    forms = ("box", "dict")

    def __init__(
        self,
        units: int = 8,
        blocking: bool = True,
        sight: int | None = 5,
        on_arrival: str = "leave",
        push: bool = False,
        shared_fog: bool = False,
        max_ticks: int = 1000,
        **settings: Any,
    ) -> None:
        self.units = whole("units", units, 1, 1 << 16)
        self.blocking, self.push, self.shared_fog = flag("blocking", blocking), push, shared_fog
        self.sight = sight if sight is None else whole("sight", sight, 1)
        self.stays = choice("on_arrival", on_arrival, ("leave", "stay")) == "stay"
        if flag("push", push) and not (blocking and self.stays):
            raise InputError(
                'push goes with blocking=True and on_arrival="stay": only who stands on its goal is pushed'
            )
        if settings.get("problems") is None and settings.get("split") is None:
            settings.setdefault("pool", max(DEFAULTS.pool, 4 * self.units))
        super().__init__(stay=True, max_moves=whole("max_ticks", max_ticks, 1, 10**9), **settings)
        if self.fresh:
            raise InputError("map must not be made for every episode here, where units draw their problems from a pool")
        if flag("shared_fog", shared_fog) and not self.fog:
            raise InputError("shared_fog goes with a vision")
        self._choices = [self._fitting(grid) for grid in self.grids]

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector."""
        before = super().parts
        end = before["window"].stop
        return before | {"others": slice(end, end + self.window**2)}

    def _fitting(self, grid: Grid) -> list[Problem]:
        """Return the problems of a map to draw from; where units block, all with other starts and other goals."""
        own = [problem for problem in self.pool if problem.grid is grid]
        if self.blocking:
            own = list({problem.start: problem for problem in reversed(own)}.values())
            own = list({problem.goal: problem for problem in reversed(own)}.values())
        if len(own) < self.units:
            different = " with different starts and goals" if self.blocking else ""
            name, most = grid.name or "without a name", len(own)
            raise InputError(
                f"units: map {name} has {most} problems{different} for {self.units} units: enlarge the pool"
            )
        return list(check_problems(own))

    def draw(self, random: np.random.Generator) -> list[Problem]:
        """Return the problems of an episode, one per unit, on one map."""
        own = self._choices[int(random.integers(len(self._choices)))]
        return [own[k] for k in random.choice(len(own), self.units, replace=False)]

    def admit(self, problems: Any) -> list[Problem]:
        """Return problems that were given for an episode, if this environment can show them."""
        given = list(check_problems(problems))
        if len(given) != self.units:
            raise InputError(f"options['problems'] must hold {self.units} problems, one per unit, not {len(given)}")
        if self.blocking:
            check_places(given)
        grid, first = given[0].grid, self.grids[0]
        if (grid.connectivity, grid.cost) != (first.connectivity, first.cost):
            raise InputError("options['problems'] have another connectivity or cost model than this environment")
        if max(grid.width, grid.height) > self.side or (given[0].vision is not None and not self.fog):
            raise InputError("options['problems'] do not fit the observations: a larger map, or fog in a clear world")
        return given
