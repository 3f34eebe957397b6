"""The Gymnasium environments, registered from one table when ``rt_gym`` is imported."""

from typing import Any

import gymnasium as gym

from rt_gym import levels
from rt_gym.errors import InputError, quoted
from rt_gym.views import View

# id -> (class, batched class, arguments); classes by their places in rt_gym
_KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "RTPath-v0": ("envs.path:RTPathEnv", "envs.path:RTPathVectorEnv", {}),
    "RTPathFog-v0": ("envs.path:RTPathEnv", "envs.path:RTPathVectorEnv", {"vision": 1}),
    "RTDepth-v0": ("envs.depth:RTDepthEnv", "envs.depth:RTDepthVectorEnv", {}),
    "RTDeepen-v0": ("envs.depth:RTDeepenEnv", "envs.depth:RTDeepenVectorEnv", {}),
    "RTDepthGoal-v0": ("envs.depth:RTDepthGoalEnv", "envs.depth:RTDepthGoalVectorEnv", {}),
    "RTThink-v0": ("envs.think:RTThinkEnv", "envs.think:RTThinkVectorEnv", {}),
    "RTSquad-v0": ("squad.envs.env:RTSquadEnv", "squad.envs.env:RTSquadVectorEnv", {}),
}
_PATH_CLASSES = _KINDS["RTPath-v0"][:2]
_LEVELS = {env_id: (*_PATH_CLASSES, arguments) for env_id, arguments in levels.registrations()}


def ids() -> list[str]:
    """Return the id of every kind of environment."""
    return list(_KINDS)


def level_ids() -> list[str]:
    """Return the ids of all levels (see ``rt_gym.levels``), which are path environments with problems of their own."""
    return list(_LEVELS)


def own_id(env_id: Any) -> str:
    """Return an id of this package without the package before it; others are refused."""
    name = str(env_id).removeprefix("rt_gym:")
    if not isinstance(env_id, str) or name not in (*_KINDS, *_LEVELS):
        raise InputError(
            f"{quoted(env_id)} is none of this package's environments, which are {', '.join(_KINDS)},"
            f" nor one of its levels, such as {next(iter(_LEVELS))}"
        )
    return name


def register() -> None:
    """Tell Gymnasium about the environments; doing so twice does no harm."""
    for env_id, (single, batched, arguments) in (_KINDS | _LEVELS).items():
        if env_id not in gym.registry:
            gym.register(
                env_id,
                entry_point=f"rt_gym.{single}",
                vector_entry_point=f"rt_gym.{batched}",
                kwargs=arguments,
            )


def view(env: gym.Env[Any, Any]) -> View:
    """Return what an agent may know of an environment's current episode, through any wrappers."""
    inner = env.unwrapped
    if callable(getattr(inner, "view", None)):
        raise InputError("every unit of this environment has a view of its own, such as env.view('unit_0')")
    if not hasattr(inner, "view"):
        raise InputError(f"{env} is none of this package's environments: it has no view for an agent")
    seen: View = inner.view
    return seen


def __getattr__(name: str) -> Any:
    """Import what needs PettingZoo when it is asked for, and not before."""
    if name != "RTSquadParallel":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rt_gym.squad.envs.parallel import RTSquadParallel

    return RTSquadParallel
