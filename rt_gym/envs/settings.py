"""The arguments that single and batched environments share, checked once."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from inspect import Parameter, Signature, cleandoc, signature
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rt_gym.cost import SQRT2
from rt_gym.envs.pool import DEFAULTS, Source, Sources, make_fresh, make_pool
from rt_gym.envs.step import Rules
from rt_gym.errors import InputError, choice, flag, quoted, whole
from rt_gym.grid import Grid
from rt_gym.maps.fresh import places_for
from rt_gym.problem import Problem, listed

LARGEST = 22.0  # bound of observations that are logarithms: that of what a billion moves can cost is below it


class Settings(ABC):
    """What every environment is made of; subclasses add what is observed and how many actions there are.

    Args:
        map: a bundled name, a path, a Grid, a generator, or a list of these (see ``rt_gym.envs.pool.make_grids``); a
            generator with ``"fresh": True``, or a function of a ``numpy.random.Generator`` that returns a Grid or a
            Problem, makes a map for every episode.
        problems: a list of Problem, or the path of a scenario file for the one map; sampled from the maps when None.
        split: the name of a split of ``rt_gym.splits``, whose problems are taken instead.
        optimal: the range of optimal costs to sample problems from.
        pool: how many problems to sample, over all maps together.
        pool_seed: for sampling them.
        vision: None when the map is known, otherwise the radius of sight.
        changes: scheduled edits of the map, as ``(time, (x, y), free)``.
        observation: ``"box"``, one flat vector, or ``"dict"``, its parts by name.
        history: how many steps the history features look back.
        reward: ``"cost"``, minus the cost of the move, or ``"normalised"``, divided by the optimal cost of the problem,
            so that the return is minus the suboptimality.
        price: what an expansion (or a scan, if the budget counts scans) costs in units of a straight step.
        shaping: discount of a potential-based shaping by the heuristic; None for no shaping.
        max_moves: after how many moves an episode is truncated.
        reveal_optimal: whether ``reset`` tells the cost of a shortest path on the true map; None tells it where the map
            is known, because in fog it says something of what is unseen.
    """

    actions: int
    forms: ClassVar[tuple[str, ...]] = ("box", "dict")  # of observations

    def __init__(
        self,
        map: Source | Sequence[Source] = DEFAULTS.map,
        problems: str | Path | Sequence[Problem] | None = DEFAULTS.problems,
        split: str | None = DEFAULTS.split,
        optimal: tuple[float, float] = DEFAULTS.optimal,
        pool: int = DEFAULTS.pool,
        pool_seed: int = DEFAULTS.pool_seed,
        vision: int | None = None,
        changes: Any = None,
        observation: str = "box",
        history: int = 20,
        reward: str = "cost",
        price: float = 0.0,
        shaping: float | None = None,
        max_moves: int = 10_000,
        reveal_optimal: bool | None = None,
    ) -> None:
        self.observation = choice("observation", observation, self.forms)
        self.normalised = choice("reward", reward, ("cost", "normalised")) == "normalised"
        self.history = whole("history", history, 1, 10_000)
        self.price = _number("price", price, 0.0, 1e9)
        self.discount = 0.0 if shaping is None else _number("shaping", shaping, 0.0, 1.0)
        self.max_moves = whole("max_moves", max_moves, 1, 10**9)
        self.reveal_optimal = None if reveal_optimal is None else flag("reveal_optimal", reveal_optimal)
        sources = Sources(map, problems, split, cost_range(optimal), pool, pool_seed)
        self.fresh = make_fresh(sources, vision, listed(changes))
        self.pool = self.fresh.first() if self.fresh else make_pool(sources, vision, listed(changes))
        self.vision, self.changes = self.pool[0].vision, self.pool[0].changes
        self.grids = grids_of(self.pool)
        self.fog = any(problem.vision is not None for problem in self.pool)
        self.side = max(max(grid.width, grid.height) for grid in self.grids)

    def reserve(self, episodes: int) -> None:
        """Make the places for fresh problems of so many episodes side by side, two for each."""
        if self.fresh:
            self.pool = places_for(self.pool[0], 2 * episodes)
            self.grids = grids_of(self.pool)

    @property
    @abstractmethod
    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation stand in the flat vector."""

    @cached_property
    def size(self) -> int:
        """The length of an observation."""
        return max(part.stop for part in self.parts.values())

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers of an observation."""
        return np.dtype(np.float32)

    @abstractmethod
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the least and the largest that an observation can hold."""

    def action_space(self) -> spaces.Discrete:
        """Return the space of actions."""
        return spaces.Discrete(self.actions)

    def observation_space(self) -> spaces.Box | spaces.Dict:
        """Return the space of observations, flat or in named parts."""
        low, high = self.bounds()
        if self.observation == "box":
            return spaces.Box(low, high)
        return spaces.Dict({name: spaces.Box(low[part], high[part]) for name, part in self.parts.items()})

    def named(self, flat: NDArray[Any]) -> Any:
        """Return observations as asked for: the flat array itself, or its named parts as views."""
        if self.observation == "box":
            return flat
        return {name: flat[..., part] for name, part in self.parts.items()}

    def rules(self) -> Rules:
        """Return what all environments share, as kernels take it."""
        diagonal = 1.0 if self.grids[0].cost == "unit" else SQRT2
        return Rules(self.max_moves, self.price, self.discount, 1.0, diagonal)

    def shown_optimal(self, problem: Problem) -> float | None:
        """Return what ``reset`` tells of the optimal cost of a problem."""
        known = problem.vision is None if self.reveal_optimal is None else self.reveal_optimal
        return problem.optimal if known else None

    def unit(self, problem: Problem) -> float:
        """Return what a reward of one is worth; without an optimal cost to divide by it stays as it is."""
        optimal = problem.optimal if self.normalised else None
        return 1.0 / optimal if optimal and np.isfinite(optimal) else 1.0


def _number(name: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= value <= high:  # type: ignore[operator]
        raise InputError(f"{name} must be a number from {low:g} to {high:g}, not {quoted(value)}")
    return float(value)


def grids_of(pool: Sequence[Problem]) -> list[Grid]:
    """Return the maps of problems, each once."""
    return list({id(problem.grid): problem.grid for problem in pool}.values())


def cost_range(optimal: Any) -> tuple[float, float]:
    """Return the range of optimal costs that an environment was given."""
    try:
        low, high = (float(bound) for bound in optimal)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"optimal must be a pair of numbers, not {quoted(optimal)}") from None
    return low, high


def index_of(name: str, value: Any, count: int) -> int:
    """Return an option of ``reset`` that must be a number below ``count``."""
    return whole(f"options[{name!r}]", value, 0, count - 1)


def frame_size(render_size: Any) -> tuple[int, int]:
    """Return width and height of a frame in pixels."""
    try:
        width, height = render_size
    except (TypeError, ValueError):
        raise InputError(f"render_size must be a pair of numbers of pixels, not {quoted(render_size)}") from None
    return whole("render_size", width, 16, 4096), whole("render_size", height, 16, 4096)


def describe(env: type[Any], settings: type[Any], refused: Sequence[str] = ()) -> None:
    """Complete the signature and the docstring of an environment by the arguments of its settings.

    An environment hands most of its keywords on to its settings, which may hand some on to theirs; people who ask for
    help should see all of them.
    """
    owners = [owner for owner in (*settings.__mro__, *env.__mro__) if "__init__" in vars(owner) and _arguments(owner)]
    parameters = {
        name: parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for owner in owners
        for name, parameter in signature(vars(owner)["__init__"]).parameters.items()
        if name != "self" and parameter.kind is not Parameter.VAR_KEYWORD
    }
    for name in refused:
        del parameters[name]
    env.__signature__ = Signature(list(parameters.values()))
    lines = [line for owner in owners for line in _arguments(owner) if line.split(":")[0].strip() not in refused]
    env.__doc__ = "\n".join([cleandoc(env.__doc__ or ""), "", "## Arguments", *lines])


def refuse_unknown(env: type[Any], settings: dict[str, Any]) -> None:
    """Refuse keywords that neither an environment nor its settings know."""
    owners = (*env.settings_type.__mro__, *env.__mro__)
    known = [name for owner in owners if "__init__" in vars(owner) for name in _keywords(owner)]
    for name in settings:
        if name not in known:
            listed = ", ".join(sorted(set(known)))
            raise InputError(f"{env.__name__} has no argument {quoted(name)}; its arguments are {listed}")


def _keywords(owner: type[Any]) -> list[str]:
    """Return the names of the arguments that a class itself declares."""
    declared = list(signature(vars(owner)["__init__"]).parameters.values())[1:]
    return [one.name for one in declared if one.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]


def _arguments(owner: type[Any]) -> list[str]:
    """Return the lines of a docstring about the arguments."""
    _, _, rest = cleandoc(vars(owner).get("__doc__") or "").partition("Args:\n")
    return rest.split("\n\n")[0].splitlines() if rest else []
