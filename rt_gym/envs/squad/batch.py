"""A batch of squads: a loop over them in Python, in which kernels do the work of every tick."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.envs.batch import NEXT_STEP, Common, Results, close_step
from rt_gym.envs.squad.episode import SquadEpisode
from rt_gym.features.dealing import see


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
