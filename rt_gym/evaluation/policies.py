"""Whatever can be judged, as one thing: it is told which episodes begin, and asked for actions."""

import inspect
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rt_gym.envs.path import RTPathEnv
from rt_gym.errors import InputError, quoted
from rt_gym.evaluation.chance import begin_counters, draw_actions, draw_numbers
from rt_gym.plugins import make_agent
from rt_gym.specs import parse_agent

RANDOM, GREEDY = "random", "greedy"


class Policy(Protocol):
    """What decides the actions of an evaluation, in one environment or in a batch."""

    def begin(self, begun: NDArray[np.bool_], numbers: NDArray[np.int64]) -> None:
        """Take note of the episodes that have just begun, and of the problem that every episode has."""

    def act(self, observation: Any, masks: Any) -> Any:
        """Return an action, or the actions of all episodes of a batch."""


def is_agent(policy: Any) -> bool:
    """Whether a policy is an agent: an id with settings, or an object with ``reset`` and ``act``."""
    if isinstance(policy, str):
        return policy not in (RANDOM, GREEDY)
    return not hasattr(policy, "predict") and all(callable(getattr(policy, name, None)) for name in ("reset", "act"))


def name_of(policy: Any) -> str:
    """Return what tables call a policy."""
    if isinstance(policy, str):
        return policy
    return str(getattr(policy, "__name__", None) or type(policy).__name__)


def make_policy(policy: Any, env: Any, seed: int, deterministic: bool) -> Policy:
    """Return a policy for an environment, single or batched.

    Raises:
        InputError: if it is none, or none for this environment.
    """
    if is_agent(policy):
        return AgentPolicy(policy, env, seed)
    if policy == RANDOM:
        return RandomPolicy(env, seed)
    if policy == GREEDY:
        return GreedyPolicy(env)
    if callable(getattr(policy, "predict", None)):
        return ModelPolicy(policy, deterministic)
    if callable(policy):
        return FunctionPolicy(policy)
    raise InputError(
        f'policy must be a function of observations, a model with predict, an agent, "{RANDOM}" or "{GREEDY}",'
        f" not {quoted(policy)}"
    )


class FunctionPolicy:
    """A function of observations and, if it takes a second argument, of action masks."""

    def __init__(self, function: Any) -> None:
        self._function, self._keyword = function, _takes_keyword(function, "masks")
        self._masked = self._keyword or _positions(function) > 1

    def begin(self, begun: NDArray[np.bool_], numbers: NDArray[np.int64]) -> None:
        """Do nothing: a function remembers nothing."""

    def act(self, observation: Any, masks: Any) -> Any:
        """Return what the function returns."""
        if self._keyword:
            return self._function(observation, masks=masks)
        return self._function(observation, masks) if self._masked else self._function(observation)


class ModelPolicy:
    """A model of Stable-Baselines3 or sb3-contrib, which may ask for masks and may carry a state."""

    def __init__(self, model: Any, deterministic: bool) -> None:
        self._model, self._deterministic = model, deterministic
        self._masked = _takes_keyword(model.predict, "action_masks")
        self._state: Any = None
        self._starts = np.empty(0, np.bool_)

    def begin(self, begun: NDArray[np.bool_], numbers: NDArray[np.int64]) -> None:
        """Let the state of these episodes begin anew."""
        self._starts = begun

    def act(self, observation: Any, masks: Any) -> Any:
        """Return what the model predicts."""
        more = {"action_masks": masks} if self._masked and masks is not None else {}
        action, self._state = self._model.predict(
            observation,
            state=self._state,
            episode_start=self._starts,
            deterministic=self._deterministic,
            **more,
        )
        self._starts = np.zeros_like(self._starts)
        return action


class AgentPolicy:
    """An agent that searches, in a single environment with one move per step."""

    def __init__(self, agent: Any, env: Any, seed: int) -> None:
        if not isinstance(env, RTPathEnv):
            raise InputError(
                f"the agent {quoted(agent)} needs an environment with one move per step, and num_envs=1; the words for"
                f' other policies are "{RANDOM}" and "{GREEDY}"'
            )
        if isinstance(agent, str):
            agent_id, settings = parse_agent(agent)
            agent = make_agent(agent_id, budget=env.budget, **settings)
        self._agent, self._env, self._seed = agent, env, seed

    def begin(self, begun: NDArray[np.bool_], numbers: NDArray[np.int64]) -> None:
        """Give the agent the view of its new episode."""
        self._agent.reset(self._env.view, seed=self._seed)

    def act(self, observation: Any, masks: Any) -> Any:
        """Return the agent's next move."""
        return self._agent.act()


class GreedyPolicy:
    """Walk to the neighbour that is nearest to the goal by the heuristic."""

    def __init__(self, env: Any) -> None:
        if not hasattr(env, "greedy_actions"):
            raise InputError(f'"{GREEDY}" needs an environment with one move per step')
        self._env = env

    def begin(self, begun: NDArray[np.bool_], numbers: NDArray[np.int64]) -> None:
        """Do nothing: it remembers nothing."""

    def act(self, observation: Any, masks: Any) -> Any:
        """Return the step to the nearest neighbour, the first of several."""
        return self._env.greedy_actions()


class RandomPolicy:
    """Random actions among those that lead somewhere.

    Every number is a hash of the seed, the problem and how many were drawn for it, so that an episode is the same
    alone and in a batch of any size.
    """

    def __init__(self, env: Any, seed: int) -> None:
        self._batched = hasattr(env, "num_envs")
        self._space = env.single_action_space if self._batched else env.action_space
        self._seed = np.array([seed], np.uint64)
        self._counters = np.zeros(env.num_envs if self._batched else 1, np.uint64)
        self._cuts = [0] if isinstance(self._space, spaces.Box) else _cuts(self._space)

    def begin(self, begun: NDArray[np.bool_], numbers: NDArray[np.int64]) -> None:
        """Begin with the numbers of other problems."""
        begin_counters(self._counters, begun, numbers, self._seed)

    def act(self, observation: Any, masks: Any) -> Any:
        """Return random actions."""
        actions = self._drawn(None if masks is None else np.atleast_2d(masks))
        return actions if self._batched else actions[0]

    def _drawn(self, masks: Any) -> Any:
        space, count = self._space, self._counters.size
        if isinstance(space, spaces.Box):
            numbers = np.empty((count, *space.shape))
            draw_numbers(self._counters, numbers)
            return (space.low + numbers * (space.high - space.low)).astype(space.dtype)
        actions = np.empty((len(self._cuts) - 1, count), np.int64)
        for (begin, end), out in zip(pairwise(self._cuts), actions, strict=True):
            draw_actions(self._counters, masks, begin, end, out)
        return actions[0] if isinstance(space, spaces.Discrete) else actions.T


def _cuts(space: Any) -> list[int]:
    """Return where the masks of the parts of an action begin, and the end of the last."""
    sizes = [space.n] if isinstance(space, spaces.Discrete) else space.nvec
    return np.cumsum([0, *sizes]).tolist()


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a function that is not written in Python
        return {}


def _takes_keyword(function: Any, name: str) -> bool:
    found = _parameters(function).get(name)
    return found is not None and found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY)


def _positions(function: Any) -> int:
    """Return how many arguments without a default a function takes by their position."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in kinds and one.default is one.empty for one in _parameters(function).values())
