"""Episodes of a dealer: the problems they choose from, and one squad after the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.pool import NOT_IN_POOL, Sources, make_grids, make_pool
from rt_gym.envs.step import TERMINATED, TRUNCATED
from rt_gym.errors import InputError
from rt_gym.features.dealing import see
from rt_gym.maps.fresh import pick
from rt_gym.problem import Problem
from rt_gym.sample import distinct_problems
from rt_gym.squad import RULES, Squad
from rt_gym.squad.team import check_problems

Random = NDArray[np.uint64]

# What a step tells beside its results: how much was spent, how many units stand on their goals, how many ticks there
# were, and how many units had to plan and were given nothing.
COUNTS = ("work", "arrived", "ticks", "late")


def make_squads_pool(sources: Sources, vision: Any, changes: Any, least: int) -> list[Problem]:
    """Return the problems that units are given, at least so many for every map where they are sampled."""
    if sources.problems is None and sources.split is None and isinstance(sources.pool, int):
        grids = make_grids(sources.map)
        sources = sources._replace(map=grids, pool=max(sources.pool, least * len(grids)))
    return make_pool(sources, vision, changes)


def by_maps(pool: Sequence[Problem], units: int, blocking: bool) -> list[tuple[Problem, ...]]:
    """Return the problems of every map; where units block each other, no two with a common start or goal.

    Raises:
        InputError: if problems on a map differ in vision or changes, or are too few for units that block each other.
    """
    groups: dict[int, list[Problem]] = {}
    for problem in pool:
        groups.setdefault(id(problem.grid), []).append(problem)
    parts = [check_problems(distinct_problems(group) if blocking else group) for group in groups.values()]
    for part in parts:
        if blocking and len(part) < units:
            raise InputError(
                f"{units} units that block each other need as many problems on every map without a common start or"
                f" goal, and map {part[0].grid.name or 'without a name'} has {len(part)}: give a larger pool"
            )
    return parts


def choose_problems(random: Random, problems: Sequence[Problem], units: int) -> list[Problem]:
    """Return random problems, one per unit; none of them twice unless there are fewer than units."""
    order = list(range(len(problems)))
    for k in range(min(units, len(order))):
        j = k + int(pick(random, len(order) - k))
        order[k], order[j] = order[j], order[k]
    return [problems[order[k % len(order)]] for k in range(units)]


class SquadEpisode:
    """One squad after the other, whose agents are used again: to make them takes longer than a tick.

    Args:
        settings: those of the environment, a ``rt_gym.squad.envs.dealer.SquadSettings``.
    """

    squad: Squad

    def __init__(self, settings: Any) -> None:
        self._settings = settings
        self.queued: Sequence[Problem] | None = None  # the next problems, random ones if None
        self._agents: list[Any] | None = None

    def begin(self, random: Random, out: NDArray[np.float32], problems: Sequence[Problem] | None = None) -> None:
        """Begin an episode, with these problems or random ones, and write the first observation, units x features."""
        settings = self._settings
        problems = problems or self.queued or settings.draw(random)
        self.queued = None
        self.squad = settings.make_squad(problems, int(pick(random, 1 << 31)), self._agents)
        self._agents = [unit.agent for unit in self.squad.units]
        out[:] = see(self.squad.situation)

    def step(self, action: Any, out: NDArray[np.float32]) -> tuple[float, int]:
        """Let one tick pass and write the next observation; return the reward and TERMINATED or TRUNCATED."""
        squad, settings, before = self.squad, self._settings, self.squad.situation
        done = squad.tick(rule=RULES[action]) if settings.deals_rules else squad.tick(weights=action)
        cut = TRUNCATED if squad.ticks >= settings.max_ticks else 0
        after = squad.situation
        self.late = int(after.waited.sum() - before.waited.sum())
        out[:] = see(after)
        return -float(before.under_way.sum()) * settings.unit, TERMINATED if done else cut

    @property
    def index(self) -> list[int]:
        """The numbers in the pool of the units' problems."""
        numbers: dict[Any, int] = self._settings.numbers
        return [numbers.get((each.grid, each.start, each.goal), NOT_IN_POOL) for each in self.squad.problems]

    def counts(self) -> tuple[int, int, int, int]:
        """Return the numbers that COUNTS names, of the last step."""
        return self.squad.work, int(self.squad.arrived.sum()), self.squad.ticks, self.late
