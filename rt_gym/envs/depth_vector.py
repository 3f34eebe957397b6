"""The batched twins of RTDepth-v0 and RTDeepen-v0: thousands of episodes in one kernel call."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.depth_batch import (
    DEPTHS,
    EXPANDED,
    FLAGS,
    SCANNED,
    DepthEpisodes,
    first_meter,
    known_truth,
    make_trips,
    start_all,
    step_range,
)
from rt_gym.envs.depth_episode import enlarged, make_mind
from rt_gym.envs.depth_settings import DeepenSettings, DepthSettings
from rt_gym.envs.move import FULL, LOST, MOVED, OVERRAN
from rt_gym.envs.stack import Results, stack_maps, tabulate_problems
from rt_gym.envs.vector import GridVectorEnv
from rt_gym.errors import InputError


class RTDepthVectorEnv(GridVectorEnv):
    """Batched depth control on known maps; the budget binds every episode."""

    make_settings = DepthSettings

    def _prepare(self) -> None:
        settings, budget = self.settings, self.budget
        if settings.fog:
            raise InputError("vision must be None in a batch, whose episodes share known maps")
        if any(problem.changes for problem in settings.pool):
            raise InputError("changes must be None in a batch, whose episodes share maps that stay as they are")
        if budget.on_overrun == "raise" or budget.seconds is not None:
            raise InputError(
                'budget of a batch may not have on_overrun="raise" or seconds: one episode cannot stop all'
            )
        self._episodes = DepthEpisodes(
            problem=np.zeros(self.num_envs, np.int64),
            random=np.zeros(self.num_envs, np.uint64),
            over=np.zeros(self.num_envs, np.bool_),
            trips=make_trips(self.num_envs),
            minds=make_mind(settings, (self.num_envs,), (self.threads,)),
            stamps=np.zeros(self.threads, np.int64),
            meter=first_meter(budget),
        )
        self._shared = stack_maps(settings.grids), tabulate_problems(settings)
        self._terms, self._truth = settings.terms(), known_truth()

    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        start_all(*self._shared, self._episodes, self._terms, chosen, results.observation)
        return {"action_mask": self._legal()}

    def _advance(self, actions: NDArray[np.int64], mode: int, results: Results) -> dict[str, Any]:
        report = np.empty((SCANNED + 1, self.num_envs), np.int64)
        self._run(step_range, *self._shared, self._episodes, self._terms, self._truth, results, report, actions, mode)
        flags = report[FLAGS]
        if (flags & FULL).any():
            minds = self._episodes.minds
            self._episodes = self._episodes._replace(minds=minds._replace(learned=enlarged(minds.learned)))
        return {
            "action_mask": self._legal(),
            "moved": flags & MOVED != 0,
            "depth": report[DEPTHS],
            "expansions": report[EXPANDED],
            "scans": report[SCANNED],
            "overrun": flags & OVERRAN != 0,
            "no_path": flags & LOST != 0,
        }

    def _legal(self) -> NDArray[np.int8]:
        return np.ones((self.num_envs, self.settings.actions), np.int8)


class RTDeepenVectorEnv(RTDepthVectorEnv):
    """The same where the search goes on layer by layer."""

    make_settings = DeepenSettings
    counts_moves = False
