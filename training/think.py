"""Judge policies that think or act, by the time until the goal is reached, on problems that each is given once.

A policy is a function from a batch of observations of RTThink-v0 to actions. Those to beat think for a fixed number of
slices before every commitment: the best of them is what a real-time agent with a fixed lookahead can do.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from rt_gym import InputError, Problem
from rt_gym.envs.single import pick, seeded
from rt_gym.envs.think_episode import ACT, THINK
from rt_gym.envs.thoughts import THOUGHTS
from rt_gym.errors import whole

SIDE_BY_SIDE = 64  # episodes of the judge: more would idle while the last ones end
SLICES, COMMITTED = THOUGHTS.index("slices"), THOUGHTS.index("committed")

Policy = Callable[[NDArray[np.float32]], NDArray[np.int64]]


class FixedSlices:
    """Think so many slices whenever nothing is committed, then walk the committed path to its end.

    A search that finds the goal earlier ends there. In fog this walks as ``lss-lrta`` with as large a lookahead does.

    Args:
        slices: at least one.
    """

    def __init__(self, slices: int) -> None:
        self.slices = whole("slices", slices, 1)
        self._enough = np.log(np.float32(self.slices + 0.5))  # features are logarithms of one more than the number

    def __call__(self, observations: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return what to do in every episode."""
        acts = (observations[:, COMMITTED] > 0) | (observations[:, SLICES] > self._enough)
        return np.where(acts, ACT, THINK)


@dataclass(frozen=True)
class Times:
    """How policies did on some problems, one entry per problem.

    Attributes:
        time: until the goal was reached or the episode was cut, in straight steps: the moves' costs and the slices.
        thought: slices of it.
        expansions: states expanded.
        solved: whether the goal was reached.
        optimal: the cost of a shortest path on the true map.
    """

    time: NDArray[np.float64]
    thought: NDArray[np.int64]
    expansions: NDArray[np.int64]
    solved: NDArray[np.bool_]
    optimal: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """The mean time."""
        return float(self.time.mean())

    @property
    def ratio(self) -> float:
        """The mean of the times divided by the optimal costs: what the normalised reward adds up to."""
        return float((self.time / self.optimal).mean())


def evaluate(policy: Policy, problems: Sequence[Problem], **settings: Any) -> Times:
    """Let a policy solve every problem once, many of them side by side.

    Args:
        policy: from an array of observations, one row per episode, to an array of actions.
        problems: what to solve; start and goal differ, and the map does not change.
        settings: of RTThink-v0, such as ``vision=3`` or ``slice=20``; rewards are minus the time.
    """
    if refused := sorted({"problems", "observation", "reward", "price", "shaping", "autoreset_mode"} & set(settings)):
        raise InputError(f"{refused[0]} is not the judge's to choose: observations are flat and rewards the time")
    if any(not problem.optimal or not np.isfinite(problem.optimal) for problem in problems):
        raise InputError("problems must have a goal that can be reached and is not the start, on maps that stay")
    size = len(problems)
    batch: Any = gym.make_vec(
        "RTThink-v0", min(size, SIDE_BY_SIDE), vectorization_mode="vector_entry_point", problems=list(problems),
        autoreset_mode=AutoresetMode.DISABLED, **settings,
    )  # fmt: skip
    time, thought, expansions = np.zeros(size + 1), np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    solved, seeds = np.zeros(size + 1, np.bool_), np.array(_seeds(size))
    solving = np.arange(batch.num_envs)  # after the last problem, one that does not count
    begun = batch.num_envs
    observations, _ = batch.reset(seed=seeds[solving])
    while (solving < size).any():
        observations, rewards, terminated, truncated, info = batch.step(policy(observations))
        time[solving] -= rewards
        thought[solving] += info["thought"]
        expansions[solving] += info["expansions"]
        solved[solving] = terminated
        over = terminated | truncated
        if over.any():
            solving[over] = np.minimum(np.arange(begun, begun + over.sum()), size)
            begun += int(over.sum())
            observations, _ = batch.reset(seed=seeds[solving % size], options={"reset_mask": over})
    optimal = np.array([problem.optimal for problem in problems])
    return Times(time[:-1], thought[:-1], expansions[:-1], solved[:-1], optimal)


@cache
def _seeds(problems: int) -> list[int]:
    """Return, for every problem of a pool, the first seed that chooses it."""
    found: dict[int, int] = {}
    for seed in count():
        found.setdefault(int(pick(seeded(seed), problems)), seed)
        if len(found) == problems:
            return [found[k] for k in range(problems)]
    raise AssertionError("there is always another seed")


def fixed_times(slices: Iterable[int], problems: Sequence[Problem], **settings: Any) -> dict[int, Times]:
    """Return how the fixed numbers of slices do."""
    return {number: evaluate(FixedSlices(number), problems, **settings) for number in slices}
