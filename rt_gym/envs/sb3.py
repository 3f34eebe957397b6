"""Our batched environments as Stable-Baselines3 takes them: it has a batch interface of its own.

Importing this module imports Stable-Baselines3 and PyTorch where they are installed; nothing else in the package does.
"""

import time
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from rt_gym.envs import own_id
from rt_gym.errors import InputError, MissingLibrary, quoted

_MISSING: ImportError | None = None
try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    _MISSING = error
    Monitor = VecEnv = object  # type: ignore[assignment, misc]

_MASKS = "action_masks"  # what sb3-contrib's masked learners ask every episode for


class SB3VecEnv(VecEnv):
    """A batch of episodes for Stable-Baselines3, all stepped in one kernel call.

    The infos of a step are empty, except where an episode has just ended. There they hold its last observation as
    ``terminal_observation``, whether it was cut (``TimeLimit.truncated``), whether the goal was reached
    (``is_success``), and ``episode`` with its return, length and end in seconds (``r``, ``l``, ``t``), so that neither
    ``Monitor`` nor ``VecMonitor`` is needed.

    Args:
        env: the id of an environment, or a batched environment with ``autoreset_mode=AutoresetMode.SAME_STEP``.
        num_envs: how many episodes run side by side, 1 if nothing is said; only with an id.
        settings: of the environment; only with an id.

    Example::

        from stable_baselines3 import PPO
        from rt_gym.envs.sb3 import SB3VecEnv

        env = SB3VecEnv("RTPath-v0", num_envs=64, map="open-16", max_moves=100, shaping=0.95)
        PPO("MlpPolicy", env, n_steps=32, gamma=0.95).learn(100_000)

    Raises:
        InputError: if Stable-Baselines3 is not installed, or the environment is none that it could step.
    """

    def __init__(self, env: str | VectorEnv[Any, Any, Any], num_envs: int | None = None, **settings: Any) -> None:
        if _MISSING is not None:
            raise MissingLibrary("SB3VecEnv needs Stable-Baselines3: pip install 'rt_gym[rl]'") from _MISSING
        self.batch = _made(env, num_envs, settings) if isinstance(env, str) else _fitting(env, num_envs, settings)
        super().__init__(self.batch.num_envs, self.batch.single_observation_space, self.batch.single_action_space)
        self._masks: NDArray[np.int8] | None = None
        self._began = time.perf_counter()

    def reset(self) -> Any:
        """Begin all episodes anew, with the seeds last given to ``seed``, and return their first observations."""
        observation, info = self.batch.reset(seed=self._seeds)  # type: ignore[arg-type]
        self._reset_seeds()
        self._masks = info.get("action_mask")
        self._returns, self._lengths = np.zeros(self.num_envs), np.zeros(self.num_envs, np.int64)
        return observation

    def set_options(self, options: Any = None) -> None:
        """Refuse options: the episodes of a batch choose their problems from its pool."""
        if options and (isinstance(options, dict) or any(options)):
            raise InputError(f"the episodes of a batch take no options at reset, but were given {quoted(options)}")

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Make one step of every episode; one that ends is followed by its next at once."""
        observation, reward, terminated, truncated, info = self.batch.step(self._actions)
        self._masks = info.get("action_mask")
        self._returns += reward
        self._lengths += 1
        over = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in over.nonzero()[0].tolist():
            infos[i] = self._ending(i, bool(terminated[i]), info["final_obs"][i])
            self._returns[i] = self._lengths[i] = 0
        return observation, reward.astype(np.float32), over, infos

    def _ending(self, i: int, reached: bool, last: Any) -> dict[str, Any]:
        seconds = round(time.perf_counter() - self._began, 6)
        return {
            "terminal_observation": last,
            "TimeLimit.truncated": not reached,
            "is_success": reached,
            "episode": {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": seconds},
        }

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions lead somewhere, one row per episode."""
        if self._masks is None:
            raise gym.error.ResetNeeded("there are no action masks before reset, nor where actions are not counted")
        return self._masks.astype(np.bool_)

    def close(self) -> None:
        """Close the batch."""
        self.batch.close()

    # What learners ask single environments for

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the batch once per episode asked for, or the way to each one's action mask."""
        chosen = list(self._get_indices(indices))
        if attr_name == _MASKS:
            return [lambda i=i: self.action_masks()[i] for i in chosen]
        return [getattr(self.batch, attr_name)] * len(chosen)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the batch, for all episodes."""
        if set(self._get_indices(indices)) != set(range(self.num_envs)):
            raise InputError(f"all episodes of a batch share their attributes: set {attr_name} for all of them at once")
        setattr(self.batch, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Return the action masks of episodes; they have no other method of their own."""
        if method_name != _MASKS or method_args or method_kwargs:
            raise InputError(f"the episodes of a batch have the method {_MASKS}() only, not {method_name} as called")
        masks = self.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return True for ``Monitor``, whose statistics are kept here, and False for every other wrapper."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]


def _made(env_id: str, num_envs: int | None, settings: dict[str, Any]) -> VectorEnv[Any, Any, Any]:
    return gym.make_vec(
        own_id(env_id),
        1 if num_envs is None else num_envs,
        vectorization_mode="vector_entry_point",
        autoreset_mode=AutoresetMode.SAME_STEP,
        **settings,
    )


def _fitting(batch: Any, num_envs: int | None, settings: dict[str, Any]) -> VectorEnv[Any, Any, Any]:
    if not isinstance(batch, VectorEnv) or not hasattr(batch.unwrapped, "settings"):
        raise InputError(f"env must be an id or a batched environment of this package, not {quoted(batch)}")
    if num_envs is not None or settings:
        raise InputError("num_envs and settings go with an id; the batched environment that was given has its own")
    mode = batch.metadata.get("autoreset_mode")
    if mode is not AutoresetMode.SAME_STEP:
        raise InputError(f"Stable-Baselines3 needs autoreset_mode SAME_STEP, but the batched environment has {mode}")
    return batch
