"""The batched twins of RTPath-v0 and RTPathFog-v0: thousands of episodes in one kernel call."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import make_cover, make_desk, make_episodes, start_all, step_range
from rt_gym.envs.settings import PathSettings
from rt_gym.envs.stack import Results, stack_maps, tabulate_problems
from rt_gym.envs.vector import GridVectorEnv


class RTPathVectorEnv(GridVectorEnv):
    """Batched grid pathfinding for policies. There is no meter: nothing here expands a state."""

    make_settings = PathSettings

    def _prepare(self) -> None:
        cover = make_cover(self.settings)
        sheet = int(np.diff(cover.sheet).max()) if cover.unseen.size > 0 else 0
        self._episodes = make_episodes(self.num_envs, self.settings, sheet)
        self._state: tuple[Any, ...] = (
            stack_maps(self.settings.grids),
            cover,
            tabulate_problems(self.settings),
            self._episodes,
            make_desk(self.threads),
            self.settings.terms(),
        )
        self._arrays: tuple[Any, ...] = tuple(array for part in self._state for array in part)
        self._masks = self.settings.action_masks()
        self._still = self.settings.directions if self.settings.stay else -1

    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        bits = np.empty(self.num_envs, np.uint8)
        start_all(*self._state, chosen, results.observation, bits)
        return {"action_mask": self._legal(bits)}

    def _advance(self, actions: NDArray[np.int64], mode: int, results: Results) -> dict[str, Any]:
        blocked, bits = np.empty(self.num_envs, np.bool_), np.empty(self.num_envs, np.uint8)
        self._run(step_range, *self._arrays, *results, blocked, bits, actions, self._still, mode)
        return {"action_mask": self._legal(bits), "blocked": blocked}

    def _legal(self, bits: NDArray[np.uint8]) -> NDArray[np.int8]:
        """Return the action masks for move bits; four or eight of them are looked up as one number."""
        actions = self.settings.actions
        packed = {4: np.uint32, 8: np.uint64}.get(actions)
        if packed is None:
            return self._masks.take(bits, axis=0)
        return self._masks.view(packed)[:, 0].take(bits).view(np.int8).reshape(self.num_envs, actions)
