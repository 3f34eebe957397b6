"""Whole episodes of an environment, step by step: who decides in them, and their log, as a table or for Minari.

Agents, rules, networks or chance decide. Agents move in RTPath-v0, RTPathFog-v0 and on levels. In RTDepth-v0 and
RTDeepen-v0 those that choose a depth (``rule-lrta``, ``oracle-lrta``, ``classifier-lrta``, ``policy-lrta``) act in a
world of their own beside the environment, which is asked for the depths that they choose; both must walk the same path.

A row of the log is a step: the observation before it, the action, and what came of it. Every episode is one problem of
a split, with a seed of its own, and can be walked again: ``env.reset(seed=seed, options={"index": problem})``. The log
serves imitation and offline learning.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import rt_gym
from agents.policies.depth_control import DepthControl
from agents.policies.networks import ACT, BOTH, DEEPEN, KNOWN, Network
from agents.think_lss import MO_RTS, RULE, ThinkLSS
from rt_gym import STAY, Fault, InputError, Problem, World, view
from rt_gym.archive import save_archive
from rt_gym.envs import level_ids
from rt_gym.errors import MissingLibrary, choice, quoted, whole
from rt_gym.files import PathLike, atomic_write
from rt_gym.specs import parse_agent
from training.judge.think import BY_HAND, FixedSlices
from training.learn import Reporting, silent
from training.learn.evolve import REGIONS
from training.learn.log import table_bytes
from training.learn.rl import ENVIRONMENTS as DECIDES
from training.learn.rl import RLConfig
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


KIND, VERSION = "file of episodes", 1
_MISSING = "Minari datasets need Minari and h5py: pip install 'rt_gym[offline]'"
USUAL_SPLIT = "mixed-train"
_PAIR = ("action_depth", "action_goal")  # the columns of an action that is two numbers


@dataclass(frozen=True)
class Episodes:
    """Logged episodes; columns have a row per step, in the order of the steps.

    Attributes:
        names: what the numbers of an observation are called.
        observation: float32[n, names], before each step, as the environment shows it.
        action: int64[n], or int64[n, 2] where it is two numbers.
        reward: float64[n].
        terminated, truncated: bool[n], how an episode ended, at its last step.
        expansions, scans: int64[n], what the step took.
        x, y: int64[n], where the agent stood before it.
        episode: int64[n], which episode a step belongs to.
        last: float32[m, names], the observation after the last step of every episode.
        problem: int64[m], which problem of the split each episode is.
        seed: int64[m], what it was begun with.
        about: environment with its settings, agent, split, seed.
    """

    names: tuple[str, ...]
    observation: NDArray[np.float32]
    action: NDArray[np.int64]
    reward: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    expansions: NDArray[np.int64]
    scans: NDArray[np.int64]
    x: NDArray[np.int64]
    y: NDArray[np.int64]
    episode: NDArray[np.int64]
    last: NDArray[np.float32]
    problem: NDArray[np.int64]
    seed: NDArray[np.int64]
    about: dict[str, Any]

    def __len__(self) -> int:
        """How many episodes there are."""
        return len(self.seed)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return every column by its name; what is known of an episode stands in all of its rows."""
        own = {"episode": self.episode, "problem": self.problem[self.episode], "seed": self.seed[self.episode]}
        begin = np.searchsorted(self.episode, self.episode)
        place = {"step": np.arange(len(begin)) - begin, "x": self.x, "y": self.y}
        actions = dict(zip(_PAIR, self.action.T, strict=True)) if self.action.ndim > 1 else {"action": self.action}
        ends = {name: getattr(self, name) for name in ("reward", "terminated", "truncated", "expansions", "scans")}
        return own | place | dict(zip(self.names, self.observation.T, strict=True)) | actions | ends

    def save(self, path: PathLike) -> None:
        """Write a table with every column if the name ends in ``.csv``, or else the arrays as ``.npz``."""
        if str(path).endswith(".csv"):
            atomic_write(path, table_bytes(self.columns()))
            return
        arrays = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        save_archive(path, KIND, VERSION, {"names": list(self.names), "about": self.about}, arrays)

    def to_minari(self, name: str) -> Any:
        """Write a Minari dataset of this name, such as ``rtdepth/oracle-v0``, into the local folder, and return it.

        Raises:
            MissingLibrary: if Minari or h5py is not installed.
            InputError: if the name is not one, or is taken.
        """
        check_minari_name(name)
        import minari

        spec = deepcopy(gym.spec(self.about["env"]))  # the registry's own must stay as it is
        spec.kwargs |= self.about["settings"]
        buffers = [self._buffer(number) for number in range(len(self))]
        described = "{agent} in {env}, split {split}, seed {seed}".format(**self.about)
        with warnings.catch_warnings():  # it warns of every fact that it is not told, such as an address
            warnings.filterwarnings("ignore", module="minari")
            return minari.create_dataset_from_buffers(
                name, buffers, env=spec, algorithm_name=self.about["agent"], description=described, data_format="hdf5",
                requirements=[f"rt_gym=={rt_gym.__version__}"],
            )  # fmt: skip

    def _buffer(self, number: int) -> Any:
        """Return an episode as Minari takes it."""
        from minari.data_collector import EpisodeBuffer

        rows = slice(*np.searchsorted(self.episode, [number, number + 1]))
        return EpisodeBuffer(
            id=number,
            seed=int(self.seed[number]),
            options={"index": int(self.problem[number])},
            observations=np.concatenate([self.observation[rows], self.last[number : number + 1]]),
            actions=self.action[rows],
            rewards=self.reward[rows].tolist(),
            terminations=self.terminated[rows].tolist(),
            truncations=self.truncated[rows].tolist(),
            infos={name: _shifted(getattr(self, name)[rows]) for name in ("expansions", "scans")},
        )


def _shifted(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what steps took, after a 0 for the reset: infos have a row for each observation."""
    return np.concatenate([[0], values])


def check_minari_name(name: str) -> None:
    """Refuse a name that no Minari dataset can have, or that one has.

    Raises:
        MissingLibrary: if Minari or h5py is not installed.
    """
    try:
        import h5py  # noqa: F401  # Minari's files
        from minari.dataset.minari_dataset import parse_dataset_id
        from minari.storage.datasets_root_dir import get_dataset_path
    except ImportError:
        raise MissingLibrary(_MISSING) from None
    try:
        parse_dataset_id(name)
    except (ValueError, TypeError):
        raise InputError(f"a Minari dataset has a name such as rtdepth/oracle-v0, not {quoted(name)}") from None
    if get_dataset_path(name).exists():
        raise InputError(f"there is a Minari dataset {name} already: take another name or version")


def log_episodes(
    env_id: str,
    agent: str,
    split: str | None = None,
    per_map: int = 16,
    seed: int = 0,
    max_moves: int = 10_000,
    vision: int | None = None,
    reporting: Reporting = silent,
) -> Episodes:
    """Let an agent walk the problems of a split and return every step.

    Args:
        env_id: where, one of ``ENVIRONMENTS``, or a level.
        agent: who decides, see ``make_walker``.
        split: a name of ``rt_gym.splits``; None for that of the level, or mixed-train.
        per_map: how many problems of each map, at most.
        seed: of the first episode; the others count on.
        max_moves: after how many moves an episode is cut.
        vision: how far the agent sees; None as the environment has it.
        reporting: told of the progress.

    Raises:
        InputError: for names that do not exist or do not go together.
    """
    walker = make_walker(env_id, agent)
    split = gym.spec(env_id).kwargs.get("split", USUAL_SPLIT) if split is None else split
    settings = walker.settings | {"split": split, "max_moves": max_moves, "budget": None}
    settings |= {} if vision is None else {"vision": vision}
    about = {"env": env_id, "settings": settings, "agent": agent, "split": split, "seed": seed}
    env: Any = gym.make(env_id, **settings)
    pool = env.unwrapped.settings.pool
    chosen = list(_chosen(pool, whole("per_map", per_map, 1)))
    parts = []
    with reporting("walking", len(chosen)) as advance:
        for number, index in enumerate(chosen, whole("seed", seed, 0)):
            parts.append(_walk(env, walker, pool[index], index, number))
            advance()
    return Episodes(
        names=_names(env_id, env),
        **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]},
        episode=np.repeat(np.arange(len(parts)), [len(part["reward"]) for part in parts]),
        problem=np.array(chosen),
        seed=seed + np.arange(len(parts)),
        about=about | {"version": rt_gym.__version__},
    )


def _chosen(pool: Sequence[Problem], per_map: int) -> Iterator[int]:
    """Yield the numbers of the first problems of every map."""
    taken: dict[int, int] = {}
    for index, problem in enumerate(pool):
        taken[id(problem.grid)] = taken.get(id(problem.grid), 0) + 1
        if taken[id(problem.grid)] <= per_map:
            yield index


def _names(env_id: str, env: Any) -> tuple[str, ...]:
    """Return what the numbers of an observation are called: features, or parts with a number."""
    if env_id in DECIDES:
        return KNOWN[DECIDES[env_id]]
    return tuple(f"{name}_{k}" for name, part in env.unwrapped.settings.parts.items() for k in range(_length(part)))


def _length(part: slice) -> int:
    return part.stop - part.start


def _walk(env: Any, walker: Walker, problem: Problem, index: int, seed: int) -> dict[str, NDArray[Any]]:
    """Return the columns of one episode."""
    seen, _ = env.reset(seed=seed, options={"index": index})
    walker.begin(env, problem, seed)
    rows: list[tuple[Any, ...]] = []
    over = False
    while not over:
        at, action = env.unwrapped.kernel_view.position, walker.decide(env, seen)
        after, reward, terminated, truncated, info = env.step(action)
        rows.append((seen, action, reward, terminated, truncated, info["expansions"], info["scans"], *at))
        seen, over = after, terminated or truncated
    kinds = (np.float32, np.int64, np.float64, np.bool_, np.bool_, *[np.int64] * 4)
    names = ("observation", "action", "reward", "terminated", "truncated", "expansions", "scans", "x", "y")
    columns = zip(names, kinds, zip(*rows, strict=True), strict=True)
    return {name: np.array(values, kind) for name, kind, values in columns} | {"last": seen[None]}
