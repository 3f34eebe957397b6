"""The single environments of depth control."""

import operator
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import to_floats
from rt_gym.envs.depth import deepen, episode
from rt_gym.envs.depth.deepen import Deepening, make_deepening
from rt_gym.envs.depth.episode import Control, Subgoals, make_control
from rt_gym.envs.depth.settings import DeepenSettings, DepthGoalSettings, DepthSettings
from rt_gym.envs.single import GridEnv
from rt_gym.envs.step import MOVED, TABLE_FULL
from rt_gym.errors import InputError, quoted
from rt_gym.grid import Grid
from rt_gym.search.space import NONE, make_space
from rt_gym.search.tables import enlarged, learned_towards
from rt_gym.terrain import fill_h0, positions
from rt_gym.world import World

S = TypeVar("S", bound=DepthSettings)


class DepthControlEnv(GridEnv[S], Generic[S]):
    """What the single environments of depth control share."""

    settings_type: ClassVar[type[DepthSettings]] = DepthSettings
    _begin_kernel: Any
    _step_kernel: Any

    def _prepare(self) -> None:
        self._control, self._terms = self._make_control(), self.settings.terms()

    def _make_control(self) -> Any:
        return make_control(self.settings, make_space(self.settings.cells, self.settings.states))

    @property
    def control(self) -> Control:
        """What the episode knows beside its map."""
        return self._control

    def _subgoals(self, world: World) -> Subgoals | None:
        return None

    def _handle(self, world: World) -> Any:
        world.kernel_view.painter = self._layers
        subgoals = self._subgoals(world)
        return world.handle(control=self._control, subgoals=subgoals, terms=self._terms, task=self._task)

    def _begin(self, out: NDArray[np.float32]) -> None:
        self._begin_kernel(self._episode, out)

    def _advance(self, action: int, out: NDArray[np.float32]) -> tuple[float, int, dict[str, Any]]:
        reward, flags, depth, expansions, scans = self._step_kernel(self._episode, action, out)
        if flags & TABLE_FULL:
            self._enlarge()
        info = {
            "action_mask": self.action_masks(),
            "moved": flags & MOVED != 0,
            "depth": depth,
            "expansions": expansions,
            "scans": scans,
        }
        return reward, flags, info

    def _enlarge(self) -> None:
        self._control = with_larger_table(self._control)
        assert self._world is not None
        self._episode = self._handle(self._world)

    def action_masks(self) -> NDArray[np.int8]:
        """Return that every action is possible, as sb3-contrib's masked learners ask for it."""
        return np.ones(self.settings.actions, np.int8)

    def _layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: how much was learned, and the expansions of the last search."""
        view, pursued = self.kernel_view, int(self.control.goals[0].pursued)
        cells, values = learned_towards(self.control.learned, pursued)
        first = np.empty(view.terrain.free.size, np.int64)
        fill_h0(view.terrain, pursued if pursued != NONE else view.goal_cell, first)
        risen = np.zeros(first.size)
        risen[cells] = to_floats(values) - to_floats(first[cells])
        return {"expanded": positions(view.terrain, view.expanded), "h": view.inner(risen)}


def with_larger_table(control: Any) -> Any:
    """Return a Control or a Deepening with twice the capacity for learned values."""
    if isinstance(control, Deepening):
        return control._replace(control=with_larger_table(control.control))
    return control._replace(learned=enlarged(control.learned))


class RTDepthEnv(DepthControlEnv[DepthSettings]):
    """Depth control: one step is one decision of General LRTA* and its move.

    ## Description
    The agent is General LRTA* (V. Bulitko et al., ICAPS 2007). Before each move it looks ahead as deep as the action
    says, learns a value for where it stands, and makes the move that looks best. Deep searches cost expansions, shallow
    ones get lost in dead ends.

    ## Action Space
    ``Discrete(d_max)``: action k is a lookahead of depth k + 1.

    ## Observation Space
    One flat ``Box``, or with ``observation="dict"`` its parts by name: the features of ``rt_gym.features.decision``, as
    sign(x) log(1 + abs(x)).

    ## Rewards
    Minus the cost of the move, and ``price`` for every expansion (or scan, if the budget counts scans).

    ## Starting State
    A problem of the pool, chosen by the seed of ``reset`` or by its ``options``; nothing is learned yet.

    ## Episode End
    It terminates at the goal. It is truncated after ``max_moves`` moves, where an overrun ends it, and where there is
    no way to the goal.
    """

    settings_type = DepthSettings
    _begin_kernel, _step_kernel = staticmethod(episode.begin), staticmethod(episode.step)


class RTDeepenEnv(DepthControlEnv[DeepenSettings]):
    """Stop-or-go control: one step is one more layer of the lookahead, or the move that the layers so far decide.

    ## Description
    The agent is that of RTDepth-v0, but it is asked after every layer of its lookahead whether to go on: it pays only
    for the layers that it has opened. The first layer is opened on arrival.

    ## Action Space
    ``Discrete(2)``: 0 acts, 1 deepens. With ``d_max`` layers open, to deepen is to act.

    ## Observation Space
    That of RTDepth-v0, and what the search has found so far: the part ``layers``.

    ## Rewards
    For a move as in RTDepth-v0; for a layer, minus ``price`` for every expansion (or scan).

    ## Starting State
    That of RTDepth-v0, with one layer open.

    ## Episode End
    That of RTDepth-v0.
    """

    settings_type = DeepenSettings
    _begin_kernel, _step_kernel = staticmethod(deepen.begin), staticmethod(deepen.step)

    def _make_control(self) -> Any:
        return make_deepening(self.settings, make_space(self.settings.cells, self.settings.states))

    @property
    def control(self) -> Control:
        """What the episode knows beside its map and the layers."""
        control: Control = self._control.control
        return control

    def _handle(self, world: World) -> Any:
        world.kernel_view.painter = self._layers
        return world.handle(control=self._control, terms=self._terms, task=self._task)


class RTDepthGoalEnv(DepthControlEnv[DepthGoalSettings]):
    """Depth and goal control: one step is one decision of General LRTA* and its move.

    ## Description
    The agent is that of RTDepth-v0, but the action also says where to look: to the goal, or to the next region on the
    way there (see ``DepthGoalSettings``). Values are learned for every goal apart.

    ## Action Space
    ``MultiDiscrete([d_max, 2])``: the depth less one, and 0 for the goal or 1 for the next subgoal. Without a subgoal,
    1 means the goal as well.

    ## Observation Space
    That of RTDepth-v0, and the part ``subgoal``: see ``rt_gym.features.subgoal``.

    ## Rewards
    That of RTDepth-v0.

    ## Starting State
    That of RTDepth-v0.

    ## Episode End
    That of RTDepth-v0.
    """

    settings_type = DepthGoalSettings
    _begin_kernel, _step_kernel = staticmethod(episode.begin), staticmethod(episode.step)

    def _prepare(self) -> None:
        super()._prepare()
        self._ahead = np.empty(0, np.int32)
        self._kept: dict[Grid, Subgoals] = {}

    def _subgoals(self, world: World) -> Subgoals:
        """Return the subgoals of a problem, in the same arrays as long as the map stays: so does the handle then."""
        grid, found = world.problem.grid, self.settings.subgoals(world.problem)
        if found.ahead.size > self._ahead.size:
            self._ahead = np.empty_like(found.ahead)
        self._ahead[: found.ahead.size] = found.ahead
        kept = self._kept.get(grid)
        if kept is None or kept.region is not found.region or kept.ahead is not self._ahead:
            kept = Subgoals(found.region, self._ahead)
            if grid in self.settings.grids:
                self._kept[grid] = kept
        return kept

    def _checked(self, action: Any) -> int:
        d_max = self.settings.d_max
        try:
            depth, which = (operator.index(part) for part in action)
        except (TypeError, ValueError):
            depth = which = -1
        if not (0 <= depth < d_max and 0 <= which < 2):
            raise InputError(f"action must be two whole numbers below {d_max} and 2, not {quoted(action)}")
        return depth + d_max * which

    def action_masks(self) -> NDArray[np.int8]:
        """Return which depths, then which goals, are possible: the second where there is a subgoal."""
        return self.settings.masks(self.control.goals["subgoal"][0] != NONE)

    def _layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: the regions and the subgoal beside the rest."""
        view, subgoal = self.kernel_view, int(self.control.goals[0].subgoal)
        subgoals = [] if subgoal == NONE else [view.position_of(subgoal)]
        regions = view.inner(self.settings.colours(self._world.problem))  # type: ignore[union-attr]
        return super()._layers() | {"regions": regions, "subgoals": np.array(subgoals, np.int64).reshape(-1, 2)}
