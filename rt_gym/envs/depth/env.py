"""RTDepth-v0, RTDeepen-v0, RTDepthGoal-v0: the agent is General LRTA*, and an action controls how deep it searches.

In the last it also controls where to: to the goal, or to the next region on the way there.
"""

import operator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rt_gym.envs.depth_episode import Mind, begin_control, enlarged, make_mind, step_control
from rt_gym.envs.guide import AHEAD, PURSUED, Guide
from rt_gym.envs.move import FULL, MOVED, Terms

from rt_gym.cost import to_floats
from rt_gym.envs.depth_settings import DeepenSettings, DepthGoalSettings, DepthSettings
from rt_gym.envs.settings import Settings
from rt_gym.envs.single import GridEnv
from rt_gym.errors import InputError, quoted
from rt_gym.features.decision import Situation
from rt_gym.features.history import Track
from rt_gym.grid import Terrain, fill_h0
from rt_gym.jit import kernel
from rt_gym.search.deepening import Ladder
from rt_gym.search.space import NONE, Space
from rt_gym.search.values import learned_towards, table_of
from rt_gym.trip import Trip
from rt_gym.world import Truth, World


@kernel
def step_kernel(
    real, when, where, opens, schedule,
    mask, free, known, xy, offset, cost, metric, rule,
    meter, tally, plan, path, log, changed, clock,
    cells, values, old_cells, old_values, table,
    seat, cell, g, h, f, minus_g, parent, via, role, behind, item, at, rank, random, state,
    action, value, work, climbed,
    trail, raised, steps, facts, marks, inputs, bill, aim,
    region, ahead, size, scale, reward,
    t, chosen, unit, out,
):  # fmt: skip
    """Make one step. Arrays are passed one by one: as tuples the call would cost more than the step."""
    truth = Truth(real, when, where, opens, schedule)
    terrain = Terrain(mask, free, known, xy, offset, cost, metric, rule)
    trip = Trip(meter, tally, plan, path, log, changed, clock)
    mind = Mind(
        table_of(cells, values, old_cells, old_values, table),
        Space(seat, cell, g, h, f, minus_g, parent, via, role, behind, item, at, rank, random, state),
        Ladder(action, value, work, climbed),
        Situation(Track(trail, raised, steps), facts, marks),
        inputs,
        bill,
        aim,
    )
    guide, terms = Guide(region, ahead), Terms(size, scale, reward)
    return step_control(truth, terrain, trip, mind, guide, terms, t, chosen, unit, out)


class RTDepthEnv(GridEnv):
    """One step is one decision of General LRTA* and its move; action k is a lookahead of depth k + 1."""

    make_settings: ClassVar[type[Settings]] = DepthSettings

    def _prepare(self) -> None:
        self._mind = make_mind(self.settings)

    def _begin(self, world: World, out: NDArray[np.float32]) -> None:
        world.view.painter = self._layers
        self._guide = self.settings.guide(world.problem)
        self._list_arrays(world)
        begin_control(world.terrain, world.trip, self._mind, self._guide, self._terms, self._goal, out)

    def _list_arrays(self, world: World) -> None:
        mind, situation = self._mind, self._mind.situation
        known = (*mind.learned, *mind.space, *mind.ladder)
        self._arrays = (
            *world._truth, *world.terrain, *world.trip,
            *known, *situation.track, situation.facts, situation.marks, mind.inputs, mind.bill, mind.aim,
            *self._guide, *self._terms,
        )  # fmt: skip

    def _advance(self, action: int, out: NDArray[np.float32]) -> tuple[float, int, dict[str, Any]]:
        reward, flags, depth, expansions, scans = step_kernel(*self._arrays, self._goal, action, self._unit, out)
        if flags & FULL and self._world is not None:
            self._mind = self._mind._replace(learned=enlarged(self._mind.learned))
            self._list_arrays(self._world)
        info = {
            "action_mask": self.action_masks(),
            "moved": flags & MOVED != 0,
            "depth": depth,
            "expansions": expansions,
            "scans": scans,
        }
        return reward, flags, info

    def action_masks(self) -> NDArray[np.int8]:
        """Return that every action is possible, as sb3-contrib's masked learners ask for it."""
        return np.ones(self.settings.actions, np.int8)

    def _layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: how much was learned, and the expansions of the last search."""
        view, pursued = self.view, int(self._mind.aim[PURSUED])
        cells, values = learned_towards(self._mind.learned, pursued)
        first = np.empty(view.terrain.free.size, np.int64)
        fill_h0(view.terrain, pursued if pursued != NONE else view.goal_cell, first)
        risen = np.zeros(first.size)
        risen[cells] = to_floats(values) - to_floats(first[cells])
        return {"expanded": view.terrain.xy.reshape(-1, 2)[view.expanded], "h": view.inner(risen)}


class RTDeepenEnv(RTDepthEnv):
    """One step is one more layer of the lookahead, or the move that the layers so far decide."""

    make_settings = DeepenSettings


class RTDepthGoalEnv(RTDepthEnv):
    """One step is one decision of General LRTA* and its move; an action is a depth and a goal."""

    make_settings = DepthGoalSettings

    def _whole(self, action: Any) -> int:
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
        masks: NDArray[np.int8] = self.settings.masks(self._mind.aim[AHEAD] != NONE)
        return masks

    def _layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: the regions and the subgoal beside the rest."""
        view, subgoal = self.view, int(self._mind.aim[AHEAD])
        subgoals = [] if subgoal == NONE else [view.position_of(subgoal)]
        regions = view.inner(self.settings.colours(self._world.problem))  # type: ignore[union-attr]
        return super()._layers() | {"regions": regions, "subgoals": np.array(subgoals, np.int64).reshape(-1, 2)}
