"""The arguments that single and batched environments share, checked once."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rt_gym.cost import SQRT2
from rt_gym.envs.episode import PARTS, WINDOW
from rt_gym.envs.move import Terms
from rt_gym.envs.pool import Source, make_pool
from rt_gym.envs.window import FARTHEST
from rt_gym.errors import InputError, quoted, whole
from rt_gym.problem import Problem, listed


class Settings(ABC):
    """What every environment is made of; subclasses add what is observed and how many actions there are.

    Args:
        map: a bundled name, a path, a Grid, a generator, or a list of these (see ``rt_gym.envs.pool.make_grids``).
        problems: a list of Problem, or the path of a scenario file for the one map; sampled from the maps when None.
        optimal: the range of optimal costs to sample problems from.
        pool: how many problems to sample, over all maps together.
        pool_seed: for sampling them.
        vision: None when the map is known, otherwise the radius of sight.
        changes: scheduled edits of the map, as ``(time, (x, y), free)``.
        observation: ``"box"``, one flat vector, or ``"dict"``, the same in named parts.
        history: how many steps the history features look back.
        reward: ``"cost"``, minus the cost of the move, or ``"normalised"``, divided by the optimal cost of the problem,
            so that the return is minus the suboptimality.
        price: what an expansion (or a scan, if the budget counts scans) costs in units of a straight step.
        shaping: discount of a potential-based shaping by the heuristic; None for no shaping.
        max_moves: after how many moves an episode is truncated.
    """

    actions: int

    def __init__(
        self,
        map: Source | Sequence[Source] = "rooms-64",
        problems: str | Path | Sequence[Problem] | None = None,
        optimal: tuple[float, float] = (1.0, float("inf")),
        pool: int = 128,
        pool_seed: int = 0,
        vision: int | None = None,
        changes: Any = None,
        observation: str = "box",
        history: int = 20,
        reward: str = "cost",
        price: float = 0.0,
        shaping: float | None = None,
        max_moves: int = 10_000,
    ) -> None:
        self.observation = one_of("observation", observation, "box", "dict")
        self.normalised = one_of("reward", reward, "cost", "normalised") == "normalised"
        self.history = whole("history", history, 1, 10_000)
        self.price = _number("price", price, 0.0, 1e9)
        self.discount = 0.0 if shaping is None else _number("shaping", shaping, 0.0, 1.0)
        self.max_moves = whole("max_moves", max_moves, 1, 10**9)
        self.pool = make_pool(map, problems, _range(optimal), pool, pool_seed, vision, listed(changes))
        self.vision, self.changes = self.pool[0].vision, self.pool[0].changes
        self.grids = list({id(problem.grid): problem.grid for problem in self.pool}.values())
        self.fog = any(problem.vision is not None for problem in self.pool)
        self.side = max(max(grid.width, grid.height) for grid in self.grids)

    @property
    @abstractmethod
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector."""

    @cached_property
    def size(self) -> int:
        """The length of an observation."""
        return max(part.stop for part in self.parts.values())

    @abstractmethod
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the least and the largest that an observation can hold."""

    @abstractmethod
    def terms(self) -> Terms:
        """Return the settings as kernels take them."""

    def action_space(self) -> spaces.Discrete:
        """Return the space of actions."""
        return spaces.Discrete(self.actions)

    def observation_space(self) -> spaces.Box | spaces.Dict:
        """Return the space of observations, flat or in named parts."""
        low, high = self.bounds()
        if self.observation == "box":
            return spaces.Box(low, high)
        return spaces.Dict({name: spaces.Box(low[part], high[part]) for name, part in self.parts.items()})

    def named(self, flat: NDArray[np.float32]) -> Any:
        """Return observations as asked for: the flat array itself, or its named parts as views."""
        if self.observation == "box":
            return flat
        return {name: flat[..., part] for name, part in self.parts.items()}

    def prices(self) -> NDArray[np.float64]:
        """Return what rewards are made of, as ``Terms`` takes it."""
        diagonal = 1.0 if self.grids[0].cost == "unit" else SQRT2
        return np.array([self.price, self.discount, 1.0, diagonal])

    def unit(self, problem: Problem) -> float:
        """Return what a reward of one is worth; without an optimal cost to divide by it stays as it is."""
        optimal = problem.optimal if self.normalised else None
        return 1.0 / optimal if optimal and np.isfinite(optimal) else 1.0


class PathSettings(Settings):
    """What a path environment is made of.

    Args:
        window: side of the square around the agent that is observed, odd.
        stay: whether standing still is an action, the last one.
        settings: those of every environment.
    """

    def __init__(self, window: int = 11, stay: bool = False, **settings: Any) -> None:
        if whole("window", window, 1, 255) % 2 == 0:
            raise InputError(f"window must be odd, not {quoted(window)}")
        super().__init__(**settings)
        self.window, self.stay = window, bool(stay)
        self.directions = self.grids[0].connectivity
        self.actions = self.directions + self.stay  # standing still is the last
        # Whether the episodes of a batch need maps of their own.
        self.private = any(problem.changes or (problem.vision or 0) > FARTHEST for problem in self.pool)

    @property
    def planes(self) -> int:
        """How many planes the window has: what is blocked and, in fog, what is unknown."""
        return 2 if self.fog else 1

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector."""
        return PARTS | {"window": slice(WINDOW, WINDOW + self.planes * self.window**2)}

    def action_masks(self) -> NDArray[np.int8]:
        """Return, for every byte of move bits, which actions are legal; standing still always is."""
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int8)
        still = np.ones((256, int(self.stay)), np.int8)
        return np.concatenate([bits[:, : self.directions], still], axis=1)

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the least and the largest that an observation can hold."""
        low, high = np.zeros(self.size, np.float32), np.ones(self.size, np.float32)
        low[self.parts["goal"]] = -1.0
        distances = self.parts["history"].start
        high[distances : distances + 2] = 2.0  # Manhattan distance reaches twice the side
        return low, high

    def terms(self) -> Terms:
        """Return the settings as kernels take them."""
        return Terms(
            size=np.array([self.max_moves, self.window // 2, self.planes], np.int64),
            scale=np.array([1.0 / self.side, 1.0 / self.history]),
            reward=self.prices(),
        )


def one_of(name: str, value: Any, *known: str) -> str:
    """Return an argument that must be one of some words."""
    if not isinstance(value, str) or value not in known:
        words = " or ".join(f'"{word}"' for word in known)
        raise InputError(f"{name} must be {words}, not {quoted(value)}")
    return value


def _number(name: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= value <= high:  # type: ignore[operator]
        raise InputError(f"{name} must be a number from {low:g} to {high:g}, not {quoted(value)}")
    return float(value)


def _range(optimal: Any) -> tuple[float, float]:
    try:
        low, high = (float(bound) for bound in optimal)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"optimal must be a pair of numbers, not {quoted(optimal)}") from None
    return low, high
