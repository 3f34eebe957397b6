"""The batched twins of RTPath-v0 and RTPathFog-v0: thousands of episodes in one kernel call."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rt_gym.budget import Budget
from rt_gym.envs.batch import (
    DISABLED,
    NEXT_STEP,
    SAME_STEP,
    first_wrong,
    make_desk,
    make_episodes,
    make_results,
    stack_maps,
    start_all,
    step_range,
    tabulate_problems,
)
from rt_gym.envs.path import seeded
from rt_gym.envs.settings import PathSettings
from rt_gym.errors import InputError, checked_seed, quoted, whole

_MODES = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}


class RTPathVectorEnv(VectorEnv[Any, Any, Any]):
    """Batched grid pathfinding for policies. There is no meter: nothing here expands a state.

    Args:
        num_envs: how many episodes run side by side.
        autoreset_mode: when an ended episode is followed by the next.
        render_mode: accepted as None only; draw single environments instead.
        max_episode_steps: another name for ``max_moves``, the one that Gymnasium knows.
        threads: how many processor cores a step may use; more than one pays from about a thousand episodes on.
        settings: the same as the single environment's (``rt_gym.envs.settings.PathSettings``).
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        threads: int = 1,
        **settings: Any,
    ) -> None:
        if render_mode is not None:
            raise InputError("a batched environment does not render; make a single one for that")
        Budget.of(settings.pop("budget", None))
        if max_episode_steps is not None:
            settings["max_moves"] = whole("max_episode_steps", max_episode_steps, 1)
        self.num_envs = whole("num_envs", num_envs, 1, 1_000_000)
        self.threads = whole("threads", threads, 1, 1024)
        self.settings = PathSettings(**settings)
        self.render_mode = None
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self._actions = self.settings.directions + self.settings.stay
        self.single_action_space = self.settings.action_space()
        self.single_observation_space = self.settings.observation_space()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        maps = stack_maps(self.settings)
        sheet = int(np.diff(maps.sheet).max()) if maps.unseen.size > 0 else 0
        self._episodes = make_episodes(self.num_envs, self.settings, sheet)
        self._state: tuple[Any, ...] = (
            maps,
            tabulate_problems(self.settings),
            self._episodes,
            make_desk(self.threads),
            self.settings.terms(),
        )
        self._arrays: tuple[Any, ...] = tuple(array for part in self._state for array in part)
        self._masks = self.settings.action_masks()
        self._still = self.settings.directions if self.settings.stay else -1
        self._begun = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes: all of them, or those of ``options["reset_mask"]``."""
        chosen = self._chosen({} if options is None else options)
        for i, one in enumerate(self._seeds(seed)):
            if chosen[i] and (one is not None or not self._begun):
                self._episodes.random[i] = seeded(checked_seed(one))[0]
        results = make_results(self.num_envs, self.settings, last=False)
        start_all(*self._state, chosen, results)
        self._begun = True
        return self.settings.named(results.observation), {"action_mask": self._legal(results.bits)}

    def _chosen(self, options: dict[str, Any]) -> NDArray[np.bool_]:
        if not isinstance(options, dict) or not set(options) <= {"reset_mask"}:
            raise InputError(f"options of a batched environment may hold reset_mask, not {quoted(options)}")
        chosen = options.get("reset_mask", np.ones(self.num_envs, np.bool_))
        if not isinstance(chosen, np.ndarray) or chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
            raise InputError(
                f"options['reset_mask'] must be an array of {self.num_envs} booleans, not {quoted(chosen)}"
            )
        if not self._begun and not chosen.all():
            raise gym.error.ResetNeeded("the first reset must begin all episodes")
        return chosen

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (list, tuple)) or (isinstance(seed, np.ndarray) and seed.ndim == 1):
            if len(seed) != self.num_envs:
                raise InputError(f"there must be one seed per episode, {self.num_envs}, not {len(seed)}")
            return list(seed)
        first = whole("seed", seed, 0)
        return [first + i for i in range(self.num_envs)]

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Make one step of every episode."""
        if not self._begun:
            raise gym.error.ResetNeeded("step was called before reset")
        mode = _MODES[self.autoreset_mode]
        if mode == DISABLED and self._episodes.over.any():
            raise gym.error.ResetNeeded("an episode has ended; reset it with options={'reset_mask': ...} first")
        results = make_results(self.num_envs, self.settings, last=mode == SAME_STEP)
        self._run(step_range, *results, self._whole(actions), self._still, mode)
        info: dict[str, Any] = {
            "action_mask": self._legal(results.bits),
            "blocked": results.blocked,
        }
        if mode == SAME_STEP and (over := results.terminated | results.truncated).any():
            info |= self._final(results.last, over)
        return self.settings.named(results.observation), results.reward, results.terminated, results.truncated, info

    def _run(self, work: Any, *arguments: Any) -> None:
        """Run a kernel over all episodes, cut into as many ranges as there are threads."""
        cuts = [self.num_envs * k // self.threads for k in range(self.threads + 1)]
        ranges = [(lane, *cut) for lane, cut in enumerate(pairwise(cuts))]
        others = [_helpers().submit(work, *self._arrays, *arguments, *part) for part in ranges[1:]]
        work(*self._arrays, *arguments, *ranges[0])
        for other in others:
            other.result()

    def _legal(self, bits: NDArray[np.uint8]) -> NDArray[np.int8]:
        """Return the action masks for move bits; four or eight of them are looked up as one number."""
        packed = {4: np.uint32, 8: np.uint64}.get(self._actions)
        if packed is None:
            return self._masks.take(bits, axis=0)
        return self._masks.view(packed)[:, 0].take(bits).view(np.int8).reshape(self.num_envs, self._actions)

    def _whole(self, actions: Any) -> NDArray[np.int64]:
        try:
            array = np.asarray(actions)
        except ValueError:
            array = np.empty(0)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise InputError(f"actions must be {self.num_envs} whole numbers, not {quoted(actions)}")
        chosen = array.astype(np.int64, copy=False)
        wrong = first_wrong(chosen, self._actions)
        if wrong >= 0:
            raise InputError(
                f"actions must lie from 0 to {self._actions - 1}, not {quoted(actions[wrong])} as for episode {wrong}"
            )
        return chosen

    def _final(self, last: NDArray[np.float32], over: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the last observations of the episodes that have just ended, as Gymnasium's own batches do."""
        final = np.empty(self.num_envs, object)
        for i in np.flatnonzero(over):
            final[i] = self.settings.named(last[i].copy())
        return {"final_obs": final, "_final_obs": over}


@cache
def _helpers() -> ThreadPoolExecutor:
    """Return the threads that all batches of this process share."""
    return ThreadPoolExecutor(thread_name_prefix="rt_gym")


if hasattr(os, "register_at_fork"):  # a forked process has the pool but not its threads
    os.register_at_fork(after_in_child=_helpers.cache_clear)


def _mode(value: Any) -> AutoresetMode:
    try:
        return AutoresetMode(value)
    except ValueError:
        known = ", ".join(mode.value for mode in AutoresetMode)
        raise InputError(f"autoreset_mode must be one of {known}, not {quoted(value)}") from None
