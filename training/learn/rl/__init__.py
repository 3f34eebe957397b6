"""Controllers of a planner learned by reinforcement with Stable-Baselines3, and given back to agents as plain networks.

Here is what is trained, on what, and how it went: settings, problems weighted by difficulty, looks at validation maps.
The trainings are in ``train``, which is loaded when one of them is asked for. Only ``model`` imports Stable-Baselines3
and PyTorch, and only when a training begins: whatever reads the settings works without them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from math import ceil, inf
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

import agents
from agents.policies.networks import BOTH, MOVE
from rt_gym import InputError, Problem
from rt_gym.envs import level_ids
from rt_gym.errors import quoted, whole
from training.judge.policies import check_window
from training.judge.think import BY_HAND
from training.learn import problems_of
from training.learn.evolve import REGIONS
from training.runs import Course

if TYPE_CHECKING:
    from training.learn.rl.train import NetworkResult, train_network, train_rl

__all__ = [
    "ALGORITHMS",
    "ENVIRONMENTS",
    "TEACHERS",
    "NetworkResult",
    "Progress",
    "RLConfig",
    "train_network",
    "train_rl",
]

_LAZY = ("NetworkResult", "train_network", "train_rl")


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.train"), name)


ALGORITHMS = ("ppo", "a2c", "dqn", "maskable-ppo", "cma")
# What a policy decides there.
ENVIRONMENTS = {"RTDepth-v0": "depth", "RTDeepen-v0": "deepen", "RTDepthGoal-v0": BOTH, "RTThink-v0": "think"}
PATHS = ("RTPath-v0", "RTPathFog-v0")  # and all levels: there a policy decides the move itself
# What is usual there, where it is something else than for the others.
OWN: dict[str, dict[str, Any]] = {
    "RTDepthGoal-v0": {"algo": "cma", "generations": 24, "patience": 20, "d_max": 16, "history": 50},
}
WALK: dict[str, Any] = {
    "algo": "maskable-ppo", "teacher": "rule", "rate": 1e-3, "gamma": 0.99, "hidden": (64, 64), "patience": 20,
}  # fmt: skip
NOT_FOR_WALKS = ("generations", "price", "d_max", "slice", "vision", "goal_moves")
TEACHERS = ("none", "oracle", "tree", "rule", "mo-rts")
USUAL = (32,)  # hidden layers
SMALL = (2,)  # hidden layers for evolution, which has to guess every weight

_SIDES = 8  # of a map, that an episode of walking may be long while a network learns
_CLASSES = 4  # of difficulty
_DEAREST = 1e9  # that environments take
_MOST_COPIES = 8  # of an easy problem, beside a hard one


@dataclass(frozen=True)
class RLConfig:
    """How to train.

    Attributes:
        env: where: RTDepth-v0, RTDeepen-v0, RTDepthGoal-v0 or RTThink-v0; or RTPath-v0, RTPathFog-v0 or one of their
            levels, where the policy decides every move.
        algo: ``"ppo"``, ``"a2c"``, ``"dqn"``, or ``"maskable-ppo"`` where sb3-contrib is installed; ``"cma"`` evolves
            networks by whole episodes (``training.learn.evolve``) and ignores price and teacher.
        steps: of all episodes together, except for cma.
        generations: how many at most, for cma.
        price: straight steps that an expansion is worth in the reward; in RTThink-v0 time is all that counts.
        d_max, history: of the environment.
        slice, vision, goal_moves: of RTThink-v0.
        window: of a path environment.
        hidden: the widths of the network's hidden layers; the usual ones if empty.
        episodes: how many run side by side.
        max_moves: where an episode is cut, so that a few hopeless ones do not fill the batch; in a path environment
            after eight sides of the map if that is less.
        gamma: the discount; a decision pays off hundreds of moves later, so hardly any.
        rate: the learning rate; a large one forgets what was imitated.
        teacher: what the network imitates first: nothing, the oracle's labels, the ready-made tree, the hand rule, or
            in RTThink-v0 the rule in the manner of Mo'RTS; path environments have a rule of their own.
        every: steps between two looks at the validation maps, each of which leaves a checkpoint.
        patience: looks without a better network before the training ends.
        seed: of everything.
    """

    env: str = "RTDeepen-v0"
    algo: str = "ppo"
    steps: int = 1_000_000
    generations: int = 40
    price: float = 0.02
    d_max: int = 20
    history: int = 20
    slice: int = 20
    vision: int | None = None
    goal_moves: int | None = None
    window: int = 11
    hidden: tuple[int, ...] = ()
    episodes: int = 256
    max_moves: int = 1000
    gamma: float = 0.999
    rate: float = 1e-4
    teacher: str = "none"
    every: int = 100_000
    patience: int = 5
    seed: int = 0

    @classmethod
    def usual(cls, env: str, **given: Any) -> "RLConfig":
        """Return the settings that are usual in an environment, except for what is given and not None."""
        said = {name: value for name, value in given.items() if value is not None}
        if is_path(env):
            return cls(env=env, **_of_a_walk(env, said))
        if "window" in said and env in ENVIRONMENTS:
            raise InputError(f"window is for {' and '.join(PATHS)} and their levels, not {quoted(env)}")
        own = OWN.get(env, {}) | said
        imitates = env in OWN and own["algo"] != "cma"  # without a rule to imitate, subgoals are rarely discovered
        return cls(env=env, **({"teacher": "rule"} if imitates else {}) | own)

    def __post_init__(self) -> None:
        if self.env not in ENVIRONMENTS and not is_path(self.env):
            listed = ", ".join((*ENVIRONMENTS, *PATHS))
            raise InputError(f"env must be one of {listed} or a level such as {level_ids()[0]}, not {quoted(self.env)}")
        for name, known in (("algo", ALGORITHMS), ("teacher", TEACHERS)):
            if getattr(self, name) not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, not {quoted(getattr(self, name))}")
        for name in ("steps", "generations", "d_max", "history", "slice", "max_moves", "every", "patience"):
            whole(name, getattr(self, name), 1)
        check_window(whole("window", self.window, 1))
        whole("episodes", self.episodes, 1, 1_000_000)
        whole("seed", self.seed, 0, (1 << 32) - 1)  # that of Stable-Baselines3
        object.__setattr__(self, "hidden", tuple(self.hidden) or (SMALL if self.algo == "cma" else USUAL))
        for width in self.hidden:
            whole("the width of a hidden layer", width, 1, 4096)
        for name in ("gamma", "rate"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(f"{name} must be above 0 and at most 1, not {quoted(getattr(self, name))}")
        if not 0 <= self.price <= _DEAREST:
            raise InputError(f"price must be a number from 0 to {_DEAREST:g}, not {quoted(self.price)}")
        self._check_together()

    def _check_together(self) -> None:
        """Refuse what does not go with something else."""
        if self.algo == "dqn" and self.teacher != "none":
            raise InputError("a teacher shows what to do, and dqn learns what things are worth: choose another algo")
        if self.algo == "cma" and (self.decide in ("think", MOVE) or len(self.hidden) > 1 or self.teacher != "none"):
            where = "RTDepth-v0, RTDeepen-v0 or RTDepthGoal-v0"
            raise InputError(f"cma evolves one hidden layer for {where}, from a rule of its own")
        if self.algo == "dqn" and self.decide == BOTH:
            raise InputError(f"dqn chooses one number, and {self.env} asks for depth and goal: choose another algo")
        if self.decide == "think" and self.teacher not in ("none", *BY_HAND):
            raise InputError(f"in {self.env} the teacher must be none, {' or '.join(BY_HAND)}, not {self.teacher}")
        if self.decide in (BOTH, MOVE) and self.teacher not in ("none", "rule"):
            raise InputError(f"in {self.env} the teacher must be none or rule, not {self.teacher}")
        if self.decide != "think" and self.teacher == "mo-rts":
            raise InputError(f"the teacher mo-rts is for RTThink-v0, not {self.env}")
        if self.decide != "think" and self.vision is not None:
            raise InputError(f"vision is for RTThink-v0; {self.env} has known maps")
        if self.goal_moves is not None:
            whole("goal_moves", self.goal_moves, 1)
            if self.decide != "think":
                raise InputError(f"goal_moves is for RTThink-v0; in {self.env} the goal stays")

    @property
    def decide(self) -> str:
        """What a policy decides."""
        return ENVIRONMENTS.get(self.env, MOVE)

    @property
    def splits(self) -> str:
        """The family of splits whose maps are usual: those of the level, or mixed ones."""
        return level_of(self.env) or "mixed"

    @property
    def free(self) -> tuple[str, ...]:
        """The settings that may change while the training stays the same: for how long an evolution goes on."""
        return ("generations", "patience") if self.algo == "cma" else ()

    @property
    def judged_moves(self) -> int | None:
        """After how many moves a walk is a failure when it is judged; None leaves that to the level."""
        return None if level_of(self.env) else self.max_moves

    def env_settings(self, problems: list[Problem]) -> dict[str, Any]:
        """Return the arguments of the environment; a return is minus the suboptimality, work included."""
        shared: dict[str, Any] = {"problems": problems, "reward": "normalised", "max_moves": self.max_moves}
        if level_of(self.env):
            shared["split"] = None  # a level would bring its own problems
        if self.decide == "think":
            return shared | self.thinking
        if self.decide == MOVE:
            side = max(max(problem.grid.width, problem.grid.height) for problem in problems)
            return shared | self.walking | {"max_moves": min(self.max_moves, _SIDES * side), "shaping": self.gamma}
        regions = REGIONS if self.decide == BOTH else {}
        return shared | regions | {"history": self.history, "d_max": self.d_max, "price": self.price, "budget": None}

    @property
    def thinking(self) -> dict[str, Any]:
        """The settings of RTThink-v0 that training and judging share."""
        own = {"slice": self.slice, "vision": self.vision, "goal_moves": self.goal_moves}
        return own | {"history": self.history}

    @property
    def walking(self) -> dict[str, Any]:
        """The settings of a path environment that training and judging share: what a policy sees."""
        return {"window": self.window, "visits": True, "history": self.history}


def is_path(env: Any) -> bool:
    """Whether an id is that of a path environment, level or not."""
    return env in PATHS or env in level_ids()


def level_of(env: str) -> str:
    """Return the name of the level that an id stands for, which its splits are named after; empty if there is none."""
    return str(gym.spec(env).kwargs["split"]).removesuffix("-train") if env in level_ids() else ""


def _of_a_walk(env: str, said: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a training in a path environment, except for what is said."""
    for name in NOT_FOR_WALKS:
        if name in said:
            raise InputError(f"{name} is for policies that control a search; in {env} they decide the move")
    if said.get("algo", WALK["algo"]) == "dqn":
        said = {"teacher": "none"} | said
    return WALK | said


def problems_to_learn(config: RLConfig, courses: Iterable[Course]) -> list[Problem]:
    """Return the problems of a training: all of them once where moves are decided, else balanced."""
    return problems_of(courses) if config.decide == MOVE else balanced(courses)


def balanced(courses: Iterable[Course]) -> list[Problem]:
    """Return the problems, the easy ones several times: every class of difficulty then supplies as many moves.

    How hard a problem is, is how many moves LRTA* with a lookahead of three takes.
    """
    problems = problems_of(courses)
    moves = np.array([agents.run("lrta", one, depth=3, max_moves=100_000, clock=False).moves for one in problems])
    ranks = np.argsort(np.argsort(moves, kind="stable"), kind="stable") * _CLASSES // len(problems)
    typical = np.array([np.median(moves[ranks == rank]) if (ranks == rank).any() else 1.0 for rank in range(_CLASSES)])
    copies = np.minimum(_MOST_COPIES, np.maximum(1.0, typical.max() / np.maximum(typical, 1.0)))
    return [one for one, rank in zip(problems, ranks, strict=True) for _ in range(ceil(copies[rank]))]


@dataclass
class Progress:
    """How a training went.

    Attributes:
        names: what the figures of a look at the validation maps are called.
        level: what opponents that decide nothing reach.
        looks: of every look the steps so far (for cma, the generations), the mean return of the last hundred episodes
            to end (None for cma; at first only short ones have ended), and the figures, None where a run failed.
        merit: of the best network.
        idle: looks since it was found.
    """

    names: tuple[str, ...] = ()
    level: float = 1.0
    looks: list[list[float | None]] = field(default_factory=list)
    merit: float = -inf
    idle: int = 0

    def table(self) -> list[list[str]]:
        """Return the looks as rows of a table."""
        return [[f"{look[0]:,.0f}", *("-" if x is None else f"{x:.2f}" for x in look[1:])] for look in self.looks]
