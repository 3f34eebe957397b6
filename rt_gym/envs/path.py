"""RTPath-v0 and RTPathFog-v0: one step is one move on the grid."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.episode import PLANES, RADIUS, WINDOW, step_episode, write_numbers
from rt_gym.envs.move import BLOCKED, Terms
from rt_gym.envs.settings import PathSettings
from rt_gym.envs.single import GridEnv
from rt_gym.envs.window import write_cells
from rt_gym.features.history import Track, begin_track, make_track
from rt_gym.grid import Terrain
from rt_gym.jit import kernel
from rt_gym.trip import STAY, Trip
from rt_gym.world import Truth, World


@kernel(inline=True)
def write_observation(terrain, trip, track, terms, t, left, out):
    """Write the observation of the current state."""
    s = trip.state[0].at
    x, y = write_numbers(terrain, np.int64(0), track, terms, s, t, left, out)
    write_cells(terrain, x, y, terms.size[RADIUS], terms.size[PLANES], out[WINDOW:])


@kernel
def reset_kernel(terrain, trip, track, terms, t, out):
    """Begin an episode in a world that has been set up."""
    begin_track(track, trip.state[0].at)
    write_observation(terrain, trip, track, terms, t, np.float32(1), out)


@kernel
def step_kernel(
    real, when, where, opens, state,
    mask, free, known, xy, offset, cost, metric, rule,
    meter, tally, plan, path, log, changed, clock,
    cells, raised, steps, size, scale, reward,
    t, d, unit, out,
):  # fmt: skip
    """Make one step. Arrays are passed one by one: as tuples the call would cost more than the step."""
    truth = Truth(real, when, where, opens, state)
    terrain = Terrain(mask, free, known, xy, offset, cost, metric, rule)
    trip = Trip(meter, tally, plan, path, log, changed, clock)
    track, terms = Track(cells, raised, steps), Terms(size, scale, reward)
    expansions, scans = meter[EXPANSIONS], meter[SCANS]
    value, flags, left = step_episode(truth, terrain, trip, track, terms, t, d, unit)
    write_observation(terrain, trip, track, terms, t, left, out)
    return value, flags, expansions, scans, mask[meter[AT]]


class RTPathEnv(GridEnv):
    """Grid pathfinding, move by move. STAY is accepted whether or not it is in the action space."""

    make_settings = PathSettings
    first_action = STAY
    actions_also = " or STAY"

    def _prepare(self) -> None:
        self._masks = self.settings.action_masks()
        self._track = make_track(self.settings.history)

    def _begin(self, world: World, out: NDArray[np.float32]) -> None:
        self._arrays = (*world._truth, *world.terrain, *world.trip, *self._track, *self._terms)
        reset_kernel(world.terrain, world.trip, self._track, self._terms, self._goal, out)

    def _advance(self, action: int, out: NDArray[np.float32]) -> tuple[float, int, dict[str, Any]]:
        direction = STAY if action == self.settings.directions else action
        reward, flags, expansions, scans, bits = step_kernel(*self._arrays, self._goal, direction, self._unit, out)
        info = {
            "action_mask": self._masks[bits].copy(),
            "blocked": flags & BLOCKED != 0,
            "expansions": expansions,
            "scans": scans,
        }
        return reward, flags, info

    def action_masks(self) -> NDArray[np.int8]:
        """Return which actions lead somewhere, as sb3-contrib's masked learners ask for it."""
        view = self.view
        masks: NDArray[np.int8] = self._masks[view.terrain.mask[view.trip.state[0].at]]
        return masks.copy()
