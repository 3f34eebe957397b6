"""The arguments that the single and the batched path environments share, checked once."""

from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rt_gym.cost import SQRT2
from rt_gym.envs.episode import PARTS, WINDOW, Terms
from rt_gym.envs.pool import Source, make_pool
from rt_gym.envs.window import FARTHEST
from rt_gym.errors import InputError, quoted, whole
from rt_gym.problem import Problem, listed


class PathSettings:
    """What a path environment is made of.

    Args:
        map: a bundled name, a path, a Grid, a generator, or a list of these (see ``rt_gym.envs.pool.make_grids``).
        problems: a list of Problem, or the path of a scenario file for the one map; sampled from the maps when None.
        optimal: the range of optimal costs to sample problems from.
        pool: how many problems to sample, over all maps together.
        pool_seed: for sampling them.
        vision: None when the map is known, otherwise the radius of sight.
        changes: scheduled edits of the map, as ``(time, (x, y), free)``.
        observation: ``"box"``, one flat vector, or ``"dict"``, the same in named parts.
        window: side of the square around the agent that is observed, odd.
        history: how many steps the history features look back.
        reward: ``"cost"``, minus the cost of the move, or ``"normalised"``, divided by the optimal cost of the problem,
            so that the return is minus the suboptimality.
        price: what an expansion (or a scan, if the budget counts scans) costs in units of a straight step.
        shaping: discount of a potential-based shaping by the heuristic; None for no shaping.
        stay: whether standing still is an action, the last one.
        max_moves: after how many moves an episode is truncated.
    """

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
        window: int = 11,
        history: int = 20,
        reward: str = "cost",
        price: float = 0.0,
        shaping: float | None = None,
        stay: bool = False,
        max_moves: int = 10_000,
    ) -> None:
        if not isinstance(observation, str) or observation not in ("box", "dict"):
            raise InputError(f'observation must be "box" or "dict", not {quoted(observation)}')
        if not isinstance(reward, str) or reward not in ("cost", "normalised"):
            raise InputError(f'reward must be "cost" or "normalised", not {quoted(reward)}')
        if whole("window", window, 1, 255) % 2 == 0:
            raise InputError(f"window must be odd, not {quoted(window)}")
        self.observation, self.window, self.history = observation, window, whole("history", history, 1, 10_000)
        self.normalised, self.stay = reward == "normalised", bool(stay)
        self.price = _number("price", price, 0.0, 1e9)
        self.discount = 0.0 if shaping is None else _number("shaping", shaping, 0.0, 1.0)
        self.max_moves = whole("max_moves", max_moves, 1, 10**9)
        self.pool = make_pool(map, problems, _range(optimal), pool, pool_seed, vision, listed(changes))
        self.vision, self.changes = self.pool[0].vision, self.pool[0].changes
        self.grids = list({id(problem.grid): problem.grid for problem in self.pool}.values())
        self.fog = any(problem.vision is not None for problem in self.pool)
        # Whether the episodes of a batch need maps of their own.
        self.private = any(problem.changes or (problem.vision or 0) > FARTHEST for problem in self.pool)
        self.directions = self.grids[0].connectivity
        self.side = max(max(grid.width, grid.height) for grid in self.grids)

    @property
    def planes(self) -> int:
        """How many planes the window has: what is blocked and, in fog, what is unknown."""
        return 2 if self.fog else 1

    @property
    def size(self) -> int:
        """The length of an observation."""
        return WINDOW + self.planes * self.window**2

    @property
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector."""
        return PARTS | {"window": slice(WINDOW, self.size)}

    def action_space(self) -> spaces.Discrete:
        """Return the directions and, where it is asked for, standing still as the last action."""
        return spaces.Discrete(self.directions + self.stay)

    def action_masks(self) -> NDArray[np.int8]:
        """Return, for every byte of move bits, which actions are legal; standing still always is."""
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int8)
        still = np.ones((256, int(self.stay)), np.int8)
        return np.concatenate([bits[:, : self.directions], still], axis=1)

    def observation_space(self) -> spaces.Box | spaces.Dict:
        """Return the space of observations, flat or in named parts."""
        low, high = np.zeros(self.size, np.float32), np.ones(self.size, np.float32)
        low[self.parts["goal"]] = -1.0
        distances = self.parts["history"].start
        high[distances : distances + 2] = 2.0  # Manhattan distance reaches twice the side
        if self.observation == "box":
            return spaces.Box(low, high)
        return spaces.Dict({name: spaces.Box(low[part], high[part]) for name, part in self.parts.items()})

    def named(self, flat: NDArray[np.float32]) -> Any:
        """Return observations as asked for: the flat array itself, or its named parts as views."""
        if self.observation == "box":
            return flat
        return {name: flat[..., part] for name, part in self.parts.items()}

    def terms(self) -> Terms:
        """Return the settings as kernels take them."""
        diagonal = 1.0 if self.grids[0].cost == "unit" else SQRT2
        return Terms(
            size=np.array([self.window // 2, self.planes, self.max_moves], np.int64),
            scale=np.array([1.0 / self.side, 1.0 / self.history]),
            reward=np.array([self.price, self.discount, 1.0, diagonal]),
        )

    def unit(self, problem: Problem) -> float:
        """Return what a reward of one is worth; without an optimal cost to divide by it stays as it is."""
        optimal = problem.optimal if self.normalised else None
        return 1.0 / optimal if optimal and np.isfinite(optimal) else 1.0


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
