"""The batched environments of depth control: thousands of episodes in one kernel call."""

from typing import Any, ClassVar, Generic

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import Results, concatenate_maps, known_truth, replace_problem, tabulate_problems
from rt_gym.envs.depth.batch import (
    DepthBatch,
    DepthStepInfo,
    concatenate_subgoals,
    make_depth_episodes,
    replace_subgoals,
    room_for_subgoals,
    start_all_decisions,
    start_all_layers,
    step_decisions,
    step_layers,
)
from rt_gym.envs.depth.deepen import Deepening, make_deepening
from rt_gym.envs.depth.env import S, with_larger_table
from rt_gym.envs.depth.episode import NO_CONTROL, make_control
from rt_gym.envs.depth.settings import DeepenSettings, DepthGoalSettings, DepthSettings
from rt_gym.envs.step import LOST, MOVED, OVERRAN, TABLE_FULL, make_step_info
from rt_gym.envs.vector import GridVectorEnv
from rt_gym.errors import InputError, quoted
from rt_gym.handles import handle
from rt_gym.jit import absent
from rt_gym.problem import Problem
from rt_gym.search.space import NO_SPACE, NONE, make_space


class DepthControlVectorEnv(GridVectorEnv[S], Generic[S]):
    """What the batched environments of depth control share: known maps, and a budget for every episode."""

    settings_type: ClassVar[type[DepthSettings]] = DepthSettings
    _start_kernel: Any = staticmethod(start_all_decisions)
    _step_kernel: Any = staticmethod(step_decisions)

    def _prepare(self) -> None:
        settings = self.settings
        if settings.fog:
            raise InputError("vision must be None in a batch, whose episodes share known maps")
        if any(problem.changes for problem in settings.pool):
            raise InputError("changes must be None in a batch, whose episodes share maps that stay as they are")
        self._episodes = make_depth_episodes(self.num_envs, self._episode_part())
        self._maps, self._problems = concatenate_maps(settings.grids), tabulate_problems(settings)
        shared = self._maps, self._problems, known_truth(), self.budget.meter()
        self._batches = [
            DepthBatch(
                *shared, self._episodes, self._thread_part(), np.zeros(1, np.int64), settings.terms(), self._mode
            )
            for _ in range(self.threads)
        ]
        self._tables = self._subgoal_tables()
        self._all = np.ones((self.num_envs, settings.actions), np.int8)
        self._make_handles()

    def _replace_problem(self, k: int, problem: Problem) -> None:
        replace_problem(self._maps, self._problems, k, problem, self.settings.unit(problem), 0)

    def count_moves(
        self, actions: Any, info: dict[str, Any], moves: NDArray[np.int64], diagonals: NDArray[np.int64]
    ) -> None:
        """Bring the numbers of moves, and of diagonal ones among them, up to date after a step."""
        tally = self._episodes.trip.tally[:, 0]
        moves[:], diagonals[:] = tally["moves"], tally["diagonals"]

    def _episode_part(self) -> Any:
        return make_control(self.settings, NO_SPACE, (self.num_envs,))

    def _thread_part(self) -> Any:
        return NO_CONTROL._replace(space=make_space(self.settings.cells, self.settings.states, paged=False))

    def _subgoal_tables(self) -> Any:
        return None

    def _make_handles(self) -> None:
        batches = [batch._replace(episodes=self._episodes) for batch in self._batches]
        self._handles = [handle(batch=batch, extra=self._tables) for batch in batches]

    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        self._start_kernel(self._handles[0], chosen, results.observation, make_step_info(DepthStepInfo, self.num_envs))
        return {"action_mask": self._legal()}

    def _advance(self, actions: NDArray[np.int64], results: Results) -> dict[str, Any]:
        info = make_step_info(DepthStepInfo, self.num_envs)
        self._run(self._step_kernel, actions, results, info)
        flags = info.flags
        if np.bitwise_or.reduce(flags) & TABLE_FULL:
            self._episodes = self._episodes._replace(control=with_larger_table(self._episodes.control))
            self._make_handles()
        return {
            "action_mask": self._legal(),
            "moved": flags & MOVED != 0,
            "depth": info.depth,
            "expansions": info.expansions,
            "scans": info.scans,
            "overrun": flags & OVERRAN != 0,
            "no_path": flags & LOST != 0,
        }

    def _legal(self) -> NDArray[np.int8]:
        return self._all.copy()


class RTDepthVectorEnv(DepthControlVectorEnv[DepthSettings]):
    """The batched twin of ``RTDepthEnv``: thousands of episodes on known maps in one kernel call."""

    settings_type = DepthSettings


class RTDeepenVectorEnv(DepthControlVectorEnv[DeepenSettings]):
    """The batched twin of ``RTDeepenEnv``: thousands of episodes on known maps in one kernel call."""

    settings_type = DeepenSettings
    counts_moves = False
    _start_kernel, _step_kernel = staticmethod(start_all_layers), staticmethod(step_layers)

    def _episode_part(self) -> Any:
        space: Any = make_space(0, self.settings.states, (self.num_envs,))
        return make_deepening(self.settings, space._replace(seat=None, item=None), (self.num_envs,))

    def _thread_part(self) -> Any:
        space = make_space(self.settings.cells, self.settings.states, paged=False)
        own: Any = NO_CONTROL._replace(space=NO_SPACE._replace(seat=space.seat, item=space.item))
        return absent(Deepening)._replace(control=own)


class RTDepthGoalVectorEnv(DepthControlVectorEnv[DepthGoalSettings]):
    """The batched twin of ``RTDepthGoalEnv``: thousands of episodes on known maps in one kernel call."""

    settings_type = DepthGoalSettings

    def _subgoal_tables(self) -> Any:
        settings = self.settings
        if settings.fresh:
            return room_for_subgoals(len(settings.pool), settings.grids[0].terrain.mask.size)
        return concatenate_subgoals([settings.subgoals(problem) for problem in settings.pool])

    def _replace_problem(self, k: int, problem: Problem) -> None:
        super()._replace_problem(k, problem)
        replace_subgoals(self._tables, k, self.settings.subgoals(problem))

    def _checked(self, actions: Any) -> NDArray[np.int64]:
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
        return self.settings.masks(self._episodes.control.goals["subgoal"][:, 0] != NONE)
