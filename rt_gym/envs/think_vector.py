"""The batched twin of RTThink-v0: many episodes, each with a search of its own, in one kernel call."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.depth_batch import first_meter
from rt_gym.envs.move import LOST, OVERRAN
from rt_gym.envs.own_maps import make_ground
from rt_gym.envs.stack import Results, stack_maps, tabulate_problems
from rt_gym.envs.think import masks
from rt_gym.envs.think_batch import (
    EXPANDED,
    FLAGS,
    POSSIBLE,
    REACHED,
    SCANNED,
    bytes_of,
    make_episodes,
    memory,
    start_all,
    step_range,
)
from rt_gym.envs.think_episode import THINKS
from rt_gym.envs.think_settings import ThinkSettings
from rt_gym.envs.vector import GridVectorEnv
from rt_gym.errors import InputError


class RTThinkVectorEnv(GridVectorEnv):
    """Batched thinking or acting, on known maps and in fog; the budget binds every episode."""

    make_settings = ThinkSettings

    def _prepare(self) -> None:
        settings, budget = self.settings, self.budget
        if budget.on_overrun == "raise" or budget.seconds is not None:
            raise InputError(
                'budget of a batch may not have on_overrun="raise" or seconds: one episode cannot stop all'
            )
        meter = first_meter(budget)
        each, there = bytes_of(make_episodes(1, settings, meter)), memory()
        if self.num_envs * each > there:
            raise InputError(
                f"num_envs must be at most {there // each:.0f} here: an episode on maps of this size may take"
                f" {each / 1e6:.1f} MB, and this machine has {there / 1e9:.1f} GB"
            )
        self._episodes = make_episodes(self.num_envs, settings, meter, self.threads)
        self._shared = (
            stack_maps(settings.grids),
            make_ground(settings.grids, settings.fog),
            tabulate_problems(settings),
        )
        self._terms = settings.terms()

    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        bits = np.empty(self.num_envs, np.int64)
        start_all(*self._shared, self._episodes, chosen, results.observation, bits)
        return {"action_mask": masks(bits)}

    def _advance(self, actions: NDArray[np.int64], mode: int, results: Results) -> dict[str, Any]:
        report = np.empty((SCANNED + 1, self.num_envs), np.int64)
        self._run(step_range, *self._shared, self._episodes, self._terms, results, report, actions, mode)
        flags = report[FLAGS]
        return {
            "action_mask": masks(report[POSSIBLE]),
            "thought": flags & THINKS != 0,
            "found": report[REACHED] != 0,
            "expansions": report[EXPANDED],
            "scans": report[SCANNED],
            "overrun": flags & OVERRAN != 0,
            "no_path": flags & LOST != 0,
        }
