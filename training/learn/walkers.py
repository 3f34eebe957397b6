"""Who decides in an environment while episodes are logged: agents, rules, networks, or chance.

Agents move in RTPath-v0, RTPathFog-v0 and on levels. In RTDepth-v0 and RTDeepen-v0 those that choose a depth
(``rule-lrta``, ``oracle-lrta``, ``classifier-lrta``, ``policy-lrta``) act in a world of their own beside the
environment, which is asked for the depths that they choose; both must walk the same path.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agents.policies.depth_control import DepthControl
from agents.policies.networks import ACT, BOTH, DEEPEN, Network
from agents.think_lss import MO_RTS, RULE, ThinkLSS
from rt_gym import STAY, Fault, InputError, Problem, World, view
from rt_gym.envs import level_ids
from rt_gym.errors import choice
from rt_gym.specs import parse_agent
from training.judge.think import BY_HAND, FixedSlices
from training.learn.evolve import REGIONS
from training.learn.rl.course import ENVIRONMENTS as DECIDES
from training.learn.rl.course import RLConfig
from training.learn.rl.model import rule_of
from training.runs.contenders import make_agent

RANDOM, HAND_RULE = "random", "rule"
ENVIRONMENTS = ("RTPath-v0", "RTPathFog-v0", *DECIDES)


class Walker(Protocol):
    """Who decides.

    Attributes:
        settings: what the environment must be made with.
    """

    settings: dict[str, Any]

    def begin(self, env: Any, problem: Problem, seed: int) -> None:
        """Take note that an episode begins."""

    def decide(self, env: Any, observation: NDArray[np.float32]) -> Any:
        """Return the next action."""


def make_walker(env_id: str, text: str) -> Walker:
    """Return who decides in an environment.

    Args:
        env_id: one of ``ENVIRONMENTS``, or that of a level (see ``rt_gym.levels``), where agents move.
        text: ``random``; an agent written as on the command line, one that the environment asks for; or, in
            RTDepthGoal-v0, ``rule``.

    Raises:
        InputError: if there is no such agent, or the environment asks for another.
    """
    if env_id not in level_ids():
        choice("env", env_id, ENVIRONMENTS)
    if text == RANDOM:
        return Chance()
    if env_id == "RTDepthGoal-v0" and text == HAND_RULE:
        return _for_both(rule_of(RLConfig.usual(env_id)))
    agent = make_agent(*parse_agent(text))
    if env_id in ("RTDepth-v0", "RTDeepen-v0"):
        return DepthWalker(agent, env_id == "RTDeepen-v0", text)
    if env_id == "RTThink-v0":
        return _thinker(agent, text)
    if env_id == "RTDepthGoal-v0":
        network = getattr(agent, "network", None)
        if not isinstance(network, Network) or network.decide != BOTH:
            raise InputError(f"{env_id} is for random, rule or general-lrta:policy=FILE with a network, not {text}")
        return _for_both(network)
    return AgentWalker(agent)


def _for_both(network: Network) -> "Reader":
    regions = {name: getattr(network, name) for name in REGIONS}
    return Reader(network.choose, {"d_max": network.d_max, "history": network.history} | regions)


def _thinker(agent: Any, text: str) -> "Reader":
    """Return what think-lss does by its rule or network, read from observations."""
    if not isinstance(agent, ThinkLSS):
        raise InputError(f"RTThink-v0 is for random or think-lss:policy=rule, mo-rts, N or FILE, not {text}")
    if agent.network is not None:
        return Reader(agent.network.choose, {"slice": agent.slice, "history": agent.network.history})
    by_hand = {RULE: BY_HAND["rule"], MO_RTS: BY_HAND["mo-rts"]}
    rule = by_hand[agent.decider] if agent.decider in by_hand else FixedSlices(agent.slices)
    return Reader(rule, {"slice": agent.slice})


class Chance:
    """Takes every possible action as often as any other."""

    settings: dict[str, Any] = {}  # noqa: RUF012

    def begin(self, env: Any, problem: Problem, seed: int) -> None:
        """Seed the draws."""
        self.random = np.random.default_rng(seed)

    def decide(self, env: Any, observation: NDArray[np.float32]) -> Any:
        """Draw an action, or one of each kind."""
        masks, kinds = env.unwrapped.action_masks(), getattr(env.action_space, "nvec", None)
        if kinds is None:
            return int(self.random.choice(np.flatnonzero(masks)))
        parts = np.split(masks, np.cumsum(kinds)[:-1])
        return np.array([self.random.choice(np.flatnonzero(part)) for part in parts])


class Reader:
    """Decides by the observation alone.

    Args:
        rule: from rows of observations to actions.
        settings: of the environment.
    """

    def __init__(self, rule: Callable[[NDArray[np.float32]], NDArray[Any]], settings: dict[str, Any]) -> None:
        self.rule, self.settings = rule, settings

    def begin(self, env: Any, problem: Problem, seed: int) -> None:
        """Nothing has to be remembered."""

    def decide(self, env: Any, observation: NDArray[np.float32]) -> Any:
        """Return what the rule says."""
        return self.rule(observation[None])[0]


class AgentWalker:
    """An agent that moves through its view; to stand still is the last action."""

    settings: dict[str, Any] = {"stay": True}  # noqa: RUF012

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    def begin(self, env: Any, problem: Problem, seed: int) -> None:
        """Show the agent the problem."""
        self.agent.reset(view(env), seed=seed)

    def decide(self, env: Any, observation: NDArray[np.float32]) -> int:
        """Return its move."""
        move = int(self.agent.act())
        return env.action_space.n - 1 if move == STAY else move


class DepthWalker:
    """An agent that chooses depths, in a world of its own.

    Args:
        agent: the agent.
        by_layers: whether an action is a layer instead of a depth.
        text: how it was written, for a refusal.
    """

    def __init__(self, agent: Any, by_layers: bool, text: str) -> None:
        if not isinstance(agent, DepthControl) or agent.tie != "first":
            known = "random, rule-lrta, oracle-lrta, classifier-lrta or policy-lrta, without random ties"
            raise InputError(f"the environment asks for an agent that chooses depths: {known}, not {text}")
        self.agent, self.by_layers = agent, by_layers
        self.settings = {"d_max": agent.d_max, "history": agent.history}

    def begin(self, env: Any, problem: Problem, seed: int) -> None:
        """Show the agent the problem in a world of its own."""
        self.world = World(problem)
        self.agent.reset(self.world.view, seed=seed)
        self.actions = self._decisions(env)

    def decide(self, env: Any, observation: NDArray[np.float32]) -> int:
        """Return the depth that the agent chooses, or whether it would open one more layer."""
        return next(self.actions)

    def _decisions(self, env: Any) -> Iterator[int]:
        while True:
            if self.world.kernel_view.cell_now != env.unwrapped.kernel_view.cell_now:
                raise Fault("the agent stands elsewhere than the environment that follows its depths")
            self.world.step(self.agent.act())
            depth = int(self.agent.control.situation.notes[0].last_depth)
            if self.by_layers:
                yield from [DEEPEN] * (depth - 1)
            yield ACT if self.by_layers else depth - 1
