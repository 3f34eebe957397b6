"""The batched twins of RTDepth-v0, RTDeepen-v0 and RTDepthGoal-v0: thousands of episodes in one kernel call."""

from typing import Any, ClassVar

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
from rt_gym.envs.depth_settings import DeepenSettings, DepthGoalSettings, DepthSettings
from rt_gym.envs.guide import AHEAD, stack_guides
from rt_gym.envs.move import FULL, LOST, MOVED, OVERRAN
from rt_gym.envs.settings import Settings
from rt_gym.envs.stack import Results, stack_maps, tabulate_problems
from rt_gym.envs.vector import GridVectorEnv
from rt_gym.errors import InputError, quoted
from rt_gym.search.space import NONE


class RTDepthVectorEnv(GridVectorEnv):
    """Batched depth control on known maps; the budget binds every episode."""

    make_settings: ClassVar[type[Settings]] = DepthSettings

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
            guides=stack_guides([settings.guide(problem) for problem in settings.pool]),
            stamps=np.zeros(self.threads, np.int64),
            meter=first_meter(budget),
        )
        self._shared = stack_maps(settings.grids), tabulate_problems(settings)
        self._terms, self._truth = settings.terms(), known_truth()
        self._all = np.ones((self.num_envs, settings.actions), np.int8)

    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        start_all(*self._shared, self._episodes, self._terms, chosen, results.observation)
        return {"action_mask": self._legal()}

    def _advance(self, actions: NDArray[np.int64], mode: int, results: Results) -> dict[str, Any]:
        report = np.empty((SCANNED + 1, self.num_envs), np.int64)
        self._run(step_range, *self._shared, self._episodes, self._terms, self._truth, results, report, actions, mode)
        flags = report[FLAGS]
        if np.bitwise_or.reduce(flags) & FULL:
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
        return self._all.copy()


class RTDeepenVectorEnv(RTDepthVectorEnv):
    """The same where the search goes on layer by layer."""

    make_settings = DeepenSettings
    counts_moves = False


class RTDepthGoalVectorEnv(RTDepthVectorEnv):
    """The same where an action is a depth and a goal."""

    make_settings = DepthGoalSettings

    def _whole(self, actions: Any) -> NDArray[np.int64]:
        try:
            array = np.asarray(actions)
        except ValueError:
            array = np.empty(0)
        if array.shape != (self.num_envs, 2) or array.dtype.kind not in "iu":
            raise InputError(f"actions must be {self.num_envs} pairs of whole numbers, not {quoted(actions)}")
        d_max = self.settings.d_max
        wrong = np.flatnonzero(((array < 0) | (array >= [d_max, 2])).any(axis=1))
        if wrong.size:
            pair, i = tuple(array[wrong[0]].tolist()), wrong[0]
            raise InputError(f"actions must be below ({d_max}, 2), not {quoted(pair)} as for episode {i}")
        return array[:, 0].astype(np.int64) + d_max * array[:, 1].astype(np.int64)

    def _legal(self) -> NDArray[np.int8]:
        masks: NDArray[np.int8] = self.settings.masks(self._episodes.minds.aim[:, AHEAD] != NONE)
        return masks
