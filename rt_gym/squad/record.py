"""What a run of a squad leaves behind."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rt_gym.cost import to_float
from rt_gym.problem import Problem


@dataclass(frozen=True, eq=False)
class SquadRun:
    """The record of a squad. Arrays have one entry per unit, ``work`` and ``seconds`` one per tick.

    Attributes:
        problems: the task of every unit.
        ticks: how many ticks there were.
        arrived: whether the unit stands on its goal.
        arrival: the tick in which it came there for the last time, -1 if it is not there.
        moves: ticks in which it was under way, moving or standing.
        cost: what that took: the costs of its moves, where standing still costs a straight step.
        first_move: how many ticks passed before its first step; all of them if it made none.
        stays: ticks in which it stood still although it was under way.
        waits: those of them in which it had to plan and was given nothing.
        overruns: ticks in which it needed more than it was given.
        work: what all units together spent in a tick, of what the allowance counts.
        seconds: how long a tick took, everything included.
        memory_bytes: what agents, beliefs and records hold.
        precompute_seconds: what agents took to prepare themselves.
    """

    problems: tuple[Problem, ...]
    ticks: int
    arrived: NDArray[np.bool_]
    arrival: NDArray[np.int64]
    moves: NDArray[np.int64]
    cost: NDArray[np.float64]
    first_move: NDArray[np.int64]
    stays: NDArray[np.int64]
    waits: NDArray[np.int64]
    overruns: NDArray[np.int64]
    work: NDArray[np.int64]
    seconds: NDArray[np.float64]
    memory_bytes: int
    precompute_seconds: float

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.problems)

    @property
    def arrivals(self) -> int:
        """How many units stand on their goals."""
        return int(self.arrived.sum())

    @property
    def sum_of_costs(self) -> float:
        """What all units took together, those that did not arrive included."""
        return float(self.cost.sum())

    @cached_property
    def optimal(self) -> NDArray[np.float64]:
        """The cost of every unit's shortest path on the map as it was at the start, without the others."""
        return np.array([to_float(problem.optimal_cost) for problem in self.problems])

    @cached_property
    def suboptimality(self) -> NDArray[np.float64]:
        """Cost divided by the optimum, of the units that arrived; 1 where there was nowhere to go."""
        cost, optimal = self.cost[self.arrived], self.optimal[self.arrived]
        return np.divide(cost, optimal, out=np.ones_like(cost), where=optimal > 0)

    @property
    def spread(self) -> float:
        """The standard deviation of the suboptimality over the units; not a number if none arrived."""
        return float(self.suboptimality.std()) if self.suboptimality.size else float("nan")

    @property
    def work_p99(self) -> float:
        """The work below which 99 of 100 ticks lie."""
        return _quantile(self.work)

    @property
    def work_worst(self) -> int:
        """The most work of a tick."""
        return int(self.work.max(initial=0))

    @property
    def seconds_p99(self) -> float:
        """The time below which 99 of 100 ticks lie."""
        return _quantile(self.seconds)

    @property
    def seconds_worst(self) -> float:
        """The time of the slowest tick."""
        return float(self.seconds.max(initial=0.0))

    def late(self, seconds: float) -> float:
        """Return the share of ticks that took longer than this."""
        return float((self.seconds > seconds).mean()) if self.ticks else 0.0


def _quantile(values: NDArray[np.int64] | NDArray[np.float64]) -> float:
    return float(np.quantile(values, 0.99)) if values.size else 0.0
