"""RTThink-v0: the agent searches in slices of time, and an action says whether to think on or to act."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rt_gym.envs.move import Terms
from rt_gym.envs.think_episode import ACT, THINK, THINKS, begin_thinking, make_mind, possible, step_thinking

from rt_gym.cost import to_floats
from rt_gym.envs.single import GridEnv
from rt_gym.envs.think_settings import ThinkSettings
from rt_gym.features.history import Track
from rt_gym.features.thinking import Mind
from rt_gym.grid import Terrain, fill_h0
from rt_gym.jit import kernel
from rt_gym.search.space import OPEN, Space
from rt_gym.trip import Trip
from rt_gym.world import Truth, World


@kernel
def step_kernel(
    real, when, where, opens, schedule,
    mask, free, known, xy, offset, cost, metric, rule,
    meter, tally, plan, path, log, changed, clock,
    values, seat, cell, g, h, f, minus_g, parent, via, role, unlooked, item, at, rank, random, counts,
    no_tie, size, first, behind, trail, raised, steps, state,
    lengths, scale, reward,
    t, action, unit, out,
):  # fmt: skip
    """Make one step. Arrays are passed one by one: as tuples the call would cost more than the step."""
    truth = Truth(real, when, where, opens, schedule)
    terrain = Terrain(mask, free, known, xy, offset, cost, metric, rule)
    trip = Trip(meter, tally, plan, path, log, changed, clock)
    mind = Mind(
        values,
        Space(seat, cell, g, h, f, minus_g, parent, via, role, unlooked, item, at, rank, random, counts),
        no_tie, size, first, behind, Track(trail, raised, steps), state,
    )  # fmt: skip
    told = step_thinking(truth, terrain, trip, mind, Terms(lengths, scale, reward), t, action, unit, out)
    return told, possible(trip, mind)


def masks(bits: Any) -> NDArray[np.int8]:
    """Return bits of actions as rows of zeros and ones."""
    return (np.asarray(bits)[..., None] >> np.array([ACT, THINK]) & 1).astype(np.int8)


class RTThinkEnv(GridEnv):
    """One step is one slice of time: of thinking where the agent stands, or a move along the path that was found."""

    make_settings = ThinkSettings

    def _prepare(self) -> None:
        self._mind = make_mind(self.settings, (self.settings.side + 2) ** 2)

    def _begin(self, world: World, out: NDArray[np.float32]) -> None:
        world.view.painter = self._layers
        mind = self._mind
        self._arrays = (
            *world._truth, *world.terrain, *world.trip,
            mind.h, *mind.space, mind.no_tie, mind.size, mind.first, mind.behind, *mind.track, mind.state,
            *self._terms,
        )  # fmt: skip
        begin_thinking(world.terrain, world.trip, mind, self._goal, out)

    def _advance(self, action: int, out: NDArray[np.float32]) -> tuple[float, int, dict[str, Any]]:
        told, bits = step_kernel(*self._arrays, self._goal, action, self._unit, out)
        reward, flags, expansions, scans = told
        info = {
            "action_mask": masks(bits),
            "thought": flags & THINKS != 0,
            "found": bool(self._mind.state[FOUND]),
            "expansions": expansions,
            "scans": scans,
        }
        return reward, flags, info

    def action_masks(self) -> NDArray[np.int8]:
        """Return which actions are not the other one under another name, as sb3-contrib's masked learners ask for."""
        return masks(possible(self.view.trip, self._mind))

    def _layers(self) -> dict[str, NDArray[Any]]:
        """Return what can be drawn: how much was learned, and all that the last search has expanded so far."""
        view, space = self.view, self._mind.space
        count = space.state[0].slots
        first = np.empty(view.terrain.free.size, np.int64)
        fill_h0(view.terrain, view.goal_cell, first)
        risen = to_floats(self._mind.h[: first.size]) - to_floats(first)
        expanded = space.cell[:count][space.role[:count] != OPEN]
        return {"expanded": view.terrain.xy.reshape(-1, 2)[expanded], "h": view.inner(risen)}
