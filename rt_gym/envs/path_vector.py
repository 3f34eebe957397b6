"""The batched twins of RTPath-v0 and RTPathFog-v0: thousands of episodes in one kernel call."""

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import make_cover, make_desk, make_episodes, start_all, step_range
from rt_gym.envs.own_maps import make_ground, make_own_maps
from rt_gym.envs.settings import PathSettings
from rt_gym.envs.stack import Results, stack_maps, tabulate_problems
from rt_gym.envs.vector import GridVectorEnv
from rt_gym.errors import InputError
from rt_gym.features.history import CELL


class RTPathVectorEnv(GridVectorEnv):
    """Batched grid pathfinding for policies. There is no meter: nothing here expands a state."""

    make_settings = PathSettings

    def _prepare(self) -> None:
        settings = self.settings
        maps, cover, problems = stack_maps(settings.grids), make_cover(settings), tabulate_problems(settings)
        if not settings.private:
            if maps.begin[-1] > CELL:
                raise InputError(f"map: those of a batch may have {CELL:,} cells together, not {maps.begin[-1]:,}")
            home = maps.begin[problems.map]
            problems = problems._replace(start=problems.start + home, goal=problems.goal + home)
        sheet = int(np.diff(cover.sheet).max()) if cover.unseen.size > 0 else 0
        self._episodes = make_episodes(self.num_envs, settings.history, sheet)
        self._own = make_own_maps(self.num_envs, settings.grids) if settings.private else None
        self._world = maps, make_ground(settings.grids, settings.private and settings.fog), cover, problems
        self._others = self._episodes, make_desk(self.threads), settings.terms()
        self._arrays = *chain(*self._world), self._own, *chain(*self._others)
        self._masks = settings.action_masks()
        self._still = settings.directions if settings.stay else -1

    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        bits = np.empty(self.num_envs, np.intp)
        start_all(*self._world, self._own, *self._others, chosen, results.observation, bits)
        return {"action_mask": self._masks.take(bits, axis=0)}

    def _advance(self, actions: NDArray[np.int64], mode: int, results: Results) -> dict[str, Any]:
        blocked, bits = np.empty(self.num_envs, np.bool_), np.empty(self.num_envs, np.intp)
        self._run(step_range, *self._arrays, *results, blocked, bits, actions, self._still, mode)
        return {"action_mask": self._masks.take(bits, axis=0), "blocked": blocked}
