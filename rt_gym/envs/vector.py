"""What the batched environments share: seeds, autoreset, threads, and checks of what is handed in."""

import os
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Generic

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rt_gym.envs.batch import Results, first_wrong, make_results
from rt_gym.envs.pool import Assignment
from rt_gym.envs.settings import describe, refuse_unknown
from rt_gym.envs.single import S, seeded
from rt_gym.envs.step import DISABLED, NEXT_STEP, SAME_STEP
from rt_gym.errors import InputError, checked_seed, quoted, whole
from rt_gym.features.frames import Frames
from rt_gym.meter import Budget
from rt_gym.problem import Problem
from rt_gym.turns import Turn

_MODES = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}


class GridVectorEnv(VectorEnv[Any, Any, Any], ABC, Generic[S]):
    """Batched episodes for policies.

    Args:
        num_envs: how many episodes run side by side.
        autoreset_mode: when an ended episode is followed by the next.
        render_mode: must be None; there is no picture of a thousand episodes.
        max_episode_steps: another name for ``max_moves``, or ``max_ticks`` of a squad, which Gymnasium uses.
        threads: how many processor cores a step may use.
        budget: the limit per move, a number of expansions or a Budget; None counts without a limit.

    All other arguments are those of ``settings_type``.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012
    settings_type: ClassVar[type[Any]]
    counts_moves: ClassVar[bool] = True  # whether a step is a move
    longest: ClassVar[str] = "max_moves"  # the setting that says how long an episode may last
    metered: ClassVar[bool] = True  # whether anything is expanded; otherwise there is no budget
    _episodes: Any  # whatever else they are, they have ``common``
    _handles: list[Any]  # what the kernels of a step work on, one per thread
    _frames: Frames | None = None  # the last observations, where several are shown as one

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        describe(cls, cls.settings_type, () if cls.metered else ("budget",))

    def __new__(cls, *arguments: Any, **more: Any) -> "GridVectorEnv[S]":
        """Refuse a budget where nothing is metered, which ``__init__`` could not tell from the default."""
        if not cls.metered and "budget" in more:
            Budget.of(more["budget"])
            raise InputError("budget must be left out: nothing is metered in a batch of this environment")
        return super().__new__(cls)

    def __init__(
        self,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        threads: int = 1,
        budget: Budget | int | None = 1000,
        **settings: Any,
    ) -> None:
        if render_mode is not None:
            raise InputError("a batched environment does not render; make a single one for that")
        self.budget = self._checked_budget(budget)
        if max_episode_steps is not None:
            if not self.counts_moves:
                raise InputError(
                    "max_episode_steps must be None where a step need not be a move; give max_moves instead"
                )
            settings[self.longest] = whole("max_episode_steps", max_episode_steps, 1)
        self.num_envs = whole("num_envs", num_envs, 1, 1_000_000)
        self.threads = min(whole("threads", threads, 1, 1024), self.num_envs)
        refuse_unknown(type(self), settings)
        self.settings: S = self.settings_type(**settings)
        self.settings.reserve(self.num_envs)
        self._turn = Turn("environment")
        self.render_mode = None
        self.autoreset_mode = _mode(autoreset_mode)
        self._mode = _MODES[self.autoreset_mode]
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_action_space = self.settings.action_space()
        self.single_observation_space = self.settings.observation_space()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._prepare()
        self._assignment = self._assign()
        self._begun = False

    # What the environments differ in

    @abstractmethod
    def _prepare(self) -> None:
        """Make the episodes and what they share."""

    @abstractmethod
    def _begin(self, chosen: NDArray[np.bool_], results: Results) -> dict[str, Any]:
        """Begin the chosen episodes, write all observations, and return the information."""

    @abstractmethod
    def _advance(self, actions: NDArray[np.int64], results: Results) -> dict[str, Any]:
        """Make one step of every episode, write what it returns, and return the information."""

    def _assign(self) -> Any:
        """Return what gives the episodes their problems."""
        return Assignment(self.settings, self._episodes.common, self._replace_problem)

    def _replace_problem(self, k: int, problem: Problem) -> None:
        """Put a fresh problem and its map into place ``k``; a batch that cannot do that refuses fresh maps."""
        raise InputError("map: batches of this environment take no maps that are made for every episode")

    # Episodes

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes.

        Args:
            seed: that of the first episode, whose successors have the next ones; or a list with one for every episode.
            options: ``reset_mask``, which episodes to begin, all of them if nothing is said; and ``index``, an array
                that says which problem of the pool each of them is given.
        """
        chosen, index = self._chosen({} if options is None else options)
        seeds = [checked_seed(one) for one in self._seeds(seed)]
        results = make_results(self.num_envs, self.settings, last=False)
        with self._turn:
            self._assignment.make_next(self._reseed(seeds, chosen))
            if index is not None:
                self._assignment.queue(index, chosen)
            info = self._begin(chosen, results) | self._assignment.tell(chosen)
            self._assignment.make_next(chosen)
            observation = results.observation
            if self._frames is not None:
                observation = self._frames.begin(chosen, observation)
        self._begun = True
        return self.settings.named(observation), info

    def _reseed(self, seeds: list[int | None], chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Seed the generators of the chosen episodes that have a seed, or none yet; return which."""
        reseeded = chosen & np.array([one is not None or not self._begun for one in seeds])
        for i in np.flatnonzero(reseeded):
            self._episodes.common.random[i] = seeded(seeds[i])[0]
        return reseeded

    def _chosen(self, options: dict[str, Any]) -> tuple[NDArray[np.bool_], NDArray[np.int64] | None]:
        """Return which episodes to begin, and the problems that they are given, None for random ones."""
        if not isinstance(options, dict) or not set(options) <= {"reset_mask", "index"}:
            raise InputError(f"options of a batched environment may hold reset_mask and index, not {quoted(options)}")
        chosen = options.get("reset_mask", np.ones(self.num_envs, np.bool_))
        if not isinstance(chosen, np.ndarray) or chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
            raise InputError(
                f"options['reset_mask'] must be an array of {self.num_envs} booleans, not {quoted(chosen)}"
            )
        if not self._begun and not chosen.all():
            raise gym.error.ResetNeeded("the first reset must begin all episodes")
        return chosen.copy(), self._assignment.checked(options["index"]) if "index" in options else None

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
        mode = self._mode
        if mode == DISABLED and self._episodes.common.over.any():
            raise gym.error.ResetNeeded("an episode has ended; reset it with options={'reset_mask': ...} first")
        results = make_results(self.num_envs, self.settings, last=mode == SAME_STEP)
        checked, over = self._checked(actions), self._episodes.common.over
        # Bytes are searched in a tenth of the time that any() takes, which a step of a small batch would feel.
        begun = over.copy() if mode == NEXT_STEP and b"\1" in over.tobytes() else None
        if not self._turn.acquire(False):
            raise self._turn.refusal()
        try:
            info = self._advance(checked, results)
            observation, last = results.observation, results.last
            if mode == SAME_STEP and (over := results.terminated | results.truncated).any():
                begun = over
            if self._frames is not None:
                observation, last = self._frames.follow(observation, last, begun)
            if begun is not None:
                info |= self._final(last, begun) if mode == SAME_STEP else {}
                info |= self._assignment.tell(begun)
                self._assignment.make_next(begun)
        finally:
            self._turn.release()
        return self.settings.named(observation), results.reward, results.terminated, results.truncated, info

    def _run(self, work: Any, *arguments: Any) -> None:
        """Run a kernel over all episodes, cut into as many ranges as there are threads, each with its own handle."""
        if self.threads == 1:
            work(self._handles[0], *arguments, 0, self.num_envs)
            return
        cuts = [self.num_envs * k // self.threads for k in range(self.threads + 1)]
        ranges = list(zip(self._handles, pairwise(cuts), strict=True))
        others = [_helpers().submit(work, handle, *arguments, *part) for handle, part in ranges[1:]]
        work(self._handles[0], *arguments, *ranges[0][1])
        for other in others:
            other.result()

    def _checked_budget(self, budget: Budget | int | None) -> Budget:
        budget = Budget.of(budget)
        if budget.on_overrun == "raise" or budget.seconds is not None:
            raise InputError(
                'budget of a batch may not have on_overrun="raise" or seconds: one episode cannot stop all'
            )
        return budget

    def _checked(self, actions: Any) -> NDArray[np.int64]:
        try:
            array = np.asarray(actions)
        except ValueError:
            array = np.empty(0)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise InputError(f"actions must be {self.num_envs} whole numbers, not {quoted(actions)}")
        chosen, count = array.astype(np.int64, copy=False), self.settings.actions
        wrong = first_wrong(chosen, count)
        if wrong >= 0:
            raise InputError(
                f"actions must lie from 0 to {count - 1}, not {quoted(array[wrong].item())} as for episode {wrong}"
            )
        return chosen

    def _final(self, last: NDArray[Any], over: NDArray[np.bool_]) -> dict[str, Any]:
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
    known = {mode.value: mode for mode in AutoresetMode}
    word = value.value if isinstance(value, AutoresetMode) else value
    if not isinstance(word, str) or word not in known:
        raise InputError(f"autoreset_mode must be one of {', '.join(known)}, not {quoted(value)}")
    return known[word]
