"""The arguments of an environment whose agent deals the allowance of a squad."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rt_gym.envs.pool import DEFAULTS, Source, Sources, make_fresh
from rt_gym.envs.settings import LARGEST, cost_range
from rt_gym.envs.single import seeded
from rt_gym.errors import InputError, choice, flag, quoted, whole
from rt_gym.features.dealing import DEALT
from rt_gym.maps.fresh import pick
from rt_gym.problem import Problem, listed
from rt_gym.squad import RULES, Squad
from rt_gym.squad.envs.episode import by_maps, choose_problems, make_squads_pool
from rt_gym.squad.team import check_problems

MOST_ASKED = 10**9  # of which the logarithm is within the observation space


class SquadSettings:
    """What an environment with one tick of a squad per step is made of.

    Args:
        units: how many units there are.
        agent: the id of all agents, or a list with an id per unit.
        agent_settings: those of all agents, by one id, such as ``{"commit": "one"}``.
        allowance: how much all units together may compute in a tick; None counts without a limit.
        count: what the allowance counts, ``"expansions"`` or ``"scans"``.
        share: what a unit that is served asks for; agents are fitted to it. None for the most that their settings can
            use, or an equal part of the allowance.
        blocking: whether a cell where a unit stands is an obstacle for the others.
        sight: how far units see each other, in cells; None for all.
        push: whether a unit that stands on its goal is pushed aside when it is in the way.
        shared_fog: whether units that see only a part of the map tell each other what they see.
        action: ``"rule"``, which rule deals the allowance, or ``"shares"``, in proportion to which it is dealt.
        reward: ``"time"``, minus the number of units under way, or ``"mean"``, divided by the number of all units.
        max_ticks: after how many ticks an episode is truncated.
        map: a bundled name, a path, a Grid, a generator, or a list of these (see ``rt_gym.envs.pool.make_grids``).
            A generator with ``"fresh": True``, or a function of a ``numpy.random.Generator`` that returns a Grid, makes
            a map for every episode.
        problems: a list of Problem, or the path of a scenario file for the one map; sampled from the maps when None.
        split: the name of a split of ``rt_gym.splits``, whose problems are taken instead.
        optimal: the range of optimal costs to sample problems from.
        pool: how many problems to sample, over all maps together, and at least one per unit for every map.
        pool_seed: for sampling them.
        vision: None when the map is known, otherwise the radius of sight.
        changes: scheduled edits of the map, as ``(time, (x, y), free)``.
    """

    dtype = np.float32  # of the numbers of an observation

    def __init__(
        self,
        units: int = 20,
        agent: str | Sequence[str] = "rtaa",
        agent_settings: dict[str, Any] | None = None,
        allowance: int | None = 100,
        count: str = "expansions",
        share: int | None = 100,
        blocking: bool = False,
        sight: int | None = 5,
        push: bool = False,
        shared_fog: bool = False,
        action: str = "rule",
        reward: str = "time",
        max_ticks: int = 1000,
        map: Source | Sequence[Source] = DEFAULTS.map,
        problems: str | Path | Sequence[Problem] | None = DEFAULTS.problems,
        split: str | None = DEFAULTS.split,
        optimal: tuple[float, float] = DEFAULTS.optimal,
        pool: int = DEFAULTS.pool,
        pool_seed: int = DEFAULTS.pool_seed,
        vision: int | None = None,
        changes: Any = None,
    ) -> None:
        self.units = whole("units", units, 1, 1 << 16)
        self.deals_rules = choice("action", action, ("rule", "shares")) == "rule"
        self.unit = 1.0 if choice("reward", reward, ("time", "mean")) == "time" else 1.0 / self.units
        self.max_ticks = whole("max_ticks", max_ticks, 1, 10**9)
        self.actions, self.size = len(RULES), self.units * len(DEALT)
        self._agent, self._more = _checked_ids(agent), _checked_settings(agent_settings)
        self._given: dict[str, Any] = {
            "allowance": None if allowance is None else whole("allowance", allowance, 1, MOST_ASKED),
            "count": count, "share": None if share is None else whole("share", share, 1, MOST_ASKED),
            "blocking": flag("blocking", blocking),
            "sight": sight, "push": push, "shared_fog": shared_fog,
        }  # fmt: skip
        self._blocking = blocking
        least = 2 * self.units if blocking else self.units  # some may have a common start or goal
        sources = Sources(map, problems, split, cost_range(optimal), pool, pool_seed)
        self.fresh = make_fresh(sources, vision, listed(changes))
        if self.fresh:
            self.pool = self.fresh.first(self.units, blocking)
        else:
            self.pool = make_squads_pool(sources, vision, listed(changes), least)
        numbered = [] if self.fresh else list(enumerate(self.pool))
        self.numbers = {(problem.grid, problem.start, problem.goal): k for k, problem in reversed(numbered)}
        self.maps = by_maps(self.pool, self.units, blocking)
        # What does not fit together is refused now, and not in the first episode.
        self.make_squad(choose_problems(seeded(0), self.maps[0], self.units), 0)

    def reserve(self, episodes: int) -> None:
        """Make no places for fresh problems: squads are begun from Python."""

    def draw(self, random: NDArray[np.uint64]) -> list[Problem]:
        """Return the problems of an episode with this generator, one per unit."""
        if self.fresh:
            return self.fresh.problems(random, self.pool[0], self.units, self._blocking)
        return choose_problems(random, self.maps[int(pick(random, len(self.maps)))], self.units)

    def problems_of(self, index: Any) -> list[Problem]:
        """Return the problems of an episode by their numbers in the pool, one per unit."""
        listed, last = index if isinstance(index, (list, tuple, np.ndarray)) else [], len(self.pool) - 1
        if len(listed) != self.units:
            raise InputError(f"options['index'] must hold {self.units} numbers of problems, not {quoted(index)}")
        return list(check_problems([self.pool[whole("options['index']", k, 0, last)] for k in listed]))

    def make_squad(self, problems: Sequence[Problem], seed: int, agents: list[Any] | None = None) -> Squad:
        """Return a squad at time zero; with the agents of an earlier one, which are fitted already."""
        if agents is not None:
            return Squad(problems, agents, **self._given, seed=seed)
        return Squad(problems, self._agent, **self._given, seed=seed, **self._more)

    def action_space(self) -> spaces.Space[Any]:
        """Return the space of actions: one of the rules, or a weight for every unit."""
        return spaces.Discrete(self.actions) if self.deals_rules else spaces.Box(0.0, 1.0, (self.units,), np.float32)

    def observation_space(self) -> spaces.Box:
        """Return the space of observations: a row of features for every unit."""
        return spaces.Box(0.0, LARGEST, (self.units, len(DEALT)), np.float32)

    def named(self, flat: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return flat observations with a row for every unit."""
        return flat.reshape(*flat.shape[:-1], self.units, len(DEALT))

    def check_shares(self, weights: Any, rows: tuple[int, ...] = ()) -> NDArray[np.float64]:
        """Return the weights of an action, or of ``rows`` of them."""
        try:
            given = np.asarray(weights)
        except ValueError:  # rows of different lengths
            given = np.empty(0)
        wanted = (*rows, self.units)
        if given.shape != wanted or given.dtype.kind not in "fiu" or not ((given >= 0) & (given <= 1)).all():
            raise InputError(
                f"action must be {' x '.join(map(str, wanted))} numbers from 0 to 1, not {quoted(weights)}"
            )
        return given.astype(np.float64)


def _checked_ids(agent: Any) -> Any:
    """Return an id, or a list of ids: an agent object could not serve several squads."""
    if not isinstance(agent, str) and not (
        isinstance(agent, Sequence) and agent and all(isinstance(each, str) for each in agent)
    ):
        raise InputError(f"agent must be an id, or a list with an id per unit, not {quoted(agent)}")
    return agent


def _checked_settings(settings: Any) -> dict[str, Any]:
    given = {} if settings is None else settings
    own = {"budget", "seed", "threads", "rule", "problems", "agent"}  # of the squad
    if not isinstance(given, dict) or not all(isinstance(name, str) and name not in own for name in given):
        raise InputError(f"agent_settings must hold parameters of the agent by name, not {quoted(settings)}")
    return given
