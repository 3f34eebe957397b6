"""A batch of squads: a loop over them in Python, in which kernels do the work of every tick."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import Common, Results
from rt_gym.envs.step import NEXT_STEP, close_step
from rt_gym.errors import InputError, quoted
from rt_gym.features.dealing import see
from rt_gym.problem import Problem
from rt_gym.squad.envs.episode import SquadEpisode


class SquadEpisodes(NamedTuple):
    """The state of all episodes, one entry each.

    Attributes:
        common: what every kind of episode has.
        squads: the episodes.
        settings: those of the environment.
        mode: NEXT_STEP, SAME_STEP or DISABLED.
    """

    common: Common
    squads: list[SquadEpisode]
    settings: Any
    mode: int


class SquadAssignment:
    """The problems of the squads of a batch; see ``rt_gym.envs.pool.Assignment``."""

    def __init__(self, episodes: SquadEpisodes) -> None:
        self._episodes = episodes

    def checked(self, index: Any) -> list[list[Problem]]:
        """Return the problems of every squad by their numbers in the pool, an array of squads x units."""
        count, settings = len(self._episodes.squads), self._episodes.settings
        if settings.fresh:
            raise InputError("options['index'] needs a pool, and maps that are made for every episode have none")
        if not isinstance(index, (list, tuple, np.ndarray)) or len(index) != count:
            raise InputError(f"options['index'] must be {count} rows of {settings.units} numbers, not {quoted(index)}")
        return [settings.problems_of(row) for row in index]

    def queue(self, problems: list[list[Problem]], chosen: NDArray[np.bool_]) -> None:
        """Let the next episodes of those chosen have these problems."""
        for i in np.flatnonzero(chosen):
            self._episodes.squads[i].queued = problems[i]

    def make_next(self, chosen: NDArray[np.bool_]) -> None:
        """Make nothing: a squad draws its problems when it begins."""

    def tell(self, begun: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the problems' numbers and the map of all squads; and which of them have just begun."""
        squads = self._episodes.squads
        names = np.array([each.squad.grid.name for each in squads], object)
        told = {"index": np.array([each.index for each in squads]), "map": names}
        return told | {f"_{name}": begun for name in told}


def start(episodes: SquadEpisodes, i: int, observation: NDArray[np.float32]) -> None:
    """Begin a new episode ``i`` and write its first observation."""
    episodes.squads[i].begin(episodes.common.random[i : i + 1], episodes.settings.named(observation[i]))
    episodes.common.over[i] = False


def start_all(
    episodes: SquadEpisodes, chosen: NDArray[np.bool_], observation: NDArray[np.float32], begin: int, end: int
) -> None:
    """Begin new episodes where ``chosen`` is true; write the observations of all from ``begin`` to ``end - 1``."""
    for i in range(begin, end):
        if chosen[i]:
            start(episodes, i, observation)
        else:
            episodes.settings.named(observation[i])[:] = see(episodes.squads[i].squad.situation)


def step_range(
    episodes: SquadEpisodes, actions: NDArray[Any], results: Results, counts: NDArray[np.int64], begin: int, end: int
) -> None:
    """Make one step of the episodes from ``begin`` to ``end - 1``; see ``COUNTS`` for the rows of ``counts``."""
    over, mode, out = episodes.common.over, episodes.mode, results.observation
    for i in range(begin, end):
        reward, flags = 0.0, 0
        if mode == NEXT_STEP and over[i]:
            start(episodes, i, out)
        else:
            reward, flags = episodes.squads[i].step(actions[i], episodes.settings.named(out[i]))
            counts[:, i] = episodes.squads[i].counts()
        if close_step(results, over, mode, i, reward, flags):
            start(episodes, i, out)
