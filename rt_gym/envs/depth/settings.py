"""The arguments of the environments in which the depth of the lookahead, and perhaps its goal, is controlled."""

from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rt_gym.abstraction import KINDS, MAX_LEVEL, Abstraction, abstract
from rt_gym.abstraction.routes import subgoals_towards
from rt_gym.envs.depth.episode import ControlTerms, Subgoals
from rt_gym.envs.settings import LARGEST, Settings
from rt_gym.errors import choice, whole
from rt_gym.features.decision import LAYERS, SITUATION
from rt_gym.features.history import FEATURES
from rt_gym.features.subgoal import SUBGOAL
from rt_gym.grid import Grid
from rt_gym.problem import Problem
from rt_gym.search.tables import GoalValues, Learned

MAX_DEPTH = 100

# The named parts of an observation and the feature with which each begins.
GROUPS = {
    "history": FEATURES[0],
    "learned": "surplus",
    "around": "exits",
    "decision": "last_depth",
    "trail": "since_update",
}


class DepthSettings(Settings):
    """What an environment with one decision per step is made of; an action is a depth.

    Args:
        d_max: the largest depth of a lookahead.
        features: ``"rich"``, those of ``rt_gym.features.decision``, or ``"paper"``, the four of
            ``rt_gym.features.history``.
    """

    more: tuple[tuple[str, tuple[str, ...]], ...] = ()  # the named parts of an observation beyond the situation
    table: type[Learned] | type[GoalValues] = Learned  # where the learned values are kept

    def __init__(self, d_max: int = 16, features: str = "rich", **settings: Any) -> None:
        self.d_max = whole("d_max", d_max, 1, MAX_DEPTH)
        self.rich = choice("features", features, ("rich", "paper")) == "rich"
        super().__init__(**settings)
        self.actions = self.d_max

    @property
    def inputs(self) -> int:
        """How many features say where the agent stands."""
        return len(SITUATION if self.rich else FEATURES)

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector."""
        begins = [SITUATION.index(first) for first in GROUPS.values()] + [len(SITUATION)]
        parts = dict(zip(GROUPS, map(slice, begins, begins[1:]), strict=True))
        if not self.rich:
            parts = {"history": parts["history"]}
        end = len(SITUATION if self.rich else FEATURES)
        return parts | {name: slice(end, end + len(features)) for name, features in self.more}

    @property
    def states(self) -> int:
        """How many states a lookahead can have."""
        return min((2 * self.d_max + 1) ** 2, self.cells)

    @property
    def cells(self) -> int:
        """How many cells, border included, the largest map can have."""
        return (self.side + 2) ** 2

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the least and the largest that an observation can hold."""
        high = np.full(self.size, LARGEST, np.float32)
        return -high, high

    def terms(self) -> ControlTerms:
        """Return the settings as kernels take them."""
        return ControlTerms(self.rules(), int(self.rich), self.d_max)


class DeepenSettings(DepthSettings):
    """What an environment with one layer per step is made of; an action is to act or to deepen."""

    more = (("layers", LAYERS),)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.actions = 2


class DepthGoalSettings(DepthSettings):
    """What an environment is made of in which an action is a depth and a goal: the agent's own, or a subgoal.

    The subgoal is the representative of the next region, as a pattern database of mode I has it: the region that a
    shortest path enters first, from the representative of the agent's region to that of the goal's. In fog the regions
    are those of a map without obstacles, as the agent believes it at first. They do not follow changes of the map.

    Args:
        level: how coarse the regions are.
        abstraction: their kind, ``"clique"`` or ``"tiles"``.
    """

    more = (("subgoal", SUBGOAL),)
    table = GoalValues

    def __init__(self, level: int = 4, abstraction: str = "clique", **settings: Any) -> None:
        self.level = whole("level", level, 0, MAX_LEVEL)
        self.abstraction = choice("abstraction", abstraction, KINDS)
        super().__init__(**settings)
        self.actions = 2 * self.d_max  # as kernels take them: depths towards the goal, then towards the subgoal
        self._regions: dict[tuple[Grid, bool], tuple[Grid, Abstraction, NDArray[np.int32]]] = {}
        self._subgoals: dict[tuple[Grid, bool, int], Subgoals] = {}
        for problem in self.pool:
            self._regions[problem.grid, problem.vision is not None] = self._regions_of(problem)
            self._subgoals[self._key(problem)] = self.subgoals(problem)

    @property
    def inputs(self) -> int:
        """How many features say where the agent stands, and what the next subgoal is."""
        return super().inputs + len(SUBGOAL)

    def action_space(self) -> spaces.MultiDiscrete:  # type: ignore[override]
        """Return the space of actions."""
        return spaces.MultiDiscrete([self.d_max, 2])

    def masks(self, possible: Any) -> NDArray[np.int8]:
        """Return which depths, then which goals, are possible, given whether there is a subgoal."""
        ahead = np.asarray(possible)
        masks = np.ones((*ahead.shape, self.d_max + 2), np.int8)
        masks[..., -1] = ahead
        return masks

    def subgoals(self, problem: Problem) -> Subgoals:
        """Return the subgoals on the way to a problem's goal, prepared unless the problem is not in the pool."""
        ready = self._subgoals.get(key := self._key(problem))
        if ready is not None:
            return ready
        grid, abstraction, region = self._regions_of(problem)
        return Subgoals(region, subgoals_towards(grid, abstraction, key[-1]))

    def colours(self, problem: Problem) -> NDArray[np.int32]:
        """Return a number for every cell that tells its region from those beside it, -1 outside of all."""
        _, abstraction, region = self._regions_of(problem)
        return np.append(abstraction.colours, np.int32(-1))[region]

    def _key(self, problem: Problem) -> tuple[Grid, bool, int]:
        """Return a key that is equal for problems with equal subgoals: the map, fog or none, the region of the goal."""
        return (
            problem.grid,
            problem.vision is not None,
            int(self._regions_of(problem)[2][problem.grid.cell(problem.goal)]),
        )

    def _regions_of(self, problem: Problem) -> tuple[Grid, Abstraction, NDArray[np.int32]]:
        """Return a problem's map as it is believed at first, its regions, and the region of every cell to write to."""
        grid, fog = problem.grid, problem.vision is not None
        ready = self._regions.get((grid, fog))
        if ready is not None:
            return ready
        believed = grid.replace(passable=np.ones_like(grid.passable)) if fog else grid
        abstraction = abstract(believed, self.abstraction, self.level)
        return believed, abstraction, abstraction.region.copy()
