"""What a run leaves behind, and what a decision does."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.log import Log
from rt_gym.cost import SQRT2, encode
from rt_gym.errors import Fault
from rt_gym.problem import Problem
from rt_gym.terrain import Position


class MoveSeconds(NamedTuple):
    """How long the moves of a trial took: median, 99th percentile (both to about 6 %), and the longest."""

    p50: float
    p99: float
    max: float


@dataclass(frozen=True)
class Run:
    """The record of one trial, or the totals over several.

    Of several trials, counts and costs are sums, maxima are maxima, ``path`` is the last one, and ``trials`` holds a
    record of each. Once these hold four million positions, the paths of all further ones but the last are left empty.
    Standing still and walking into a wall cost as much as a straight step.

    Attributes:
        outcome: ``"goal"``, ``"out of moves"``, ``"no path"`` or ``"overrun"``.
        straights, diagonals: the exact cost, as the number of steps of each kind.
        moves: how long it took, moves that stood still included.
        path: n x 2 array of ``(x, y)``, the start first, one entry per move.
        expansions, scans: the two counts of the meter; max_expansions, max_scans: the most for one move.
        learning_ops, trace_steps: operations of the learning phase, and steps back along a search tree.
        first_move_expansions: what was expanded before the first move.
        seconds: wall-clock time of planning and walking inside the kernel.
        planning_seconds: processor time of planning alone; None when the clock was off.
        move_seconds: this time per move; None when the clock was off.
        precompute_seconds: time spent before the first trial on knowledge that outlives it.
        memory: how many states the agent holds: values beyond the heuristic or, of an agent that learns none, states of
            its search. 0 for an agent of one's own.
        memory_bytes: how many bytes it takes for what it holds, the map not counted.
        h_updates: how often a learned value was raised.
        guarded: how often a guard of the agent's own had to act, so that it did not go back and forth between subgoals.
        guarded_expansions: what was expanded while it acted.
        overrun: whether a move went past the budget.
        log: what the agent did for every move, if that was asked for; of several trials, that of the last one.
        converged: whether the last trial raised no value and reached the goal.
    """

    problem: Problem = field(repr=False)
    outcome: str
    straights: int
    diagonals: int
    moves: int
    stays: int
    path: NDArray[np.int32] = field(repr=False)
    expansions: int
    max_expansions: int
    scans: int
    max_scans: int
    learning_ops: int
    trace_steps: int
    first_move_expansions: int
    plans: int
    seconds: float
    planning_seconds: float | None
    move_seconds: MoveSeconds | None
    precompute_seconds: float
    memory: int
    memory_bytes: int
    h_updates: int
    guarded: int
    guarded_expansions: int
    overrun: bool
    trials: tuple["Run", ...] = field(default=(), repr=False)
    log: Log | None = field(default=None, repr=False)

    @property
    def solved(self) -> bool:
        """Whether the goal was reached, in every trial."""
        return self.outcome == "goal"

    @property
    def cost(self) -> float:
        """The cost of all moves made."""
        diagonal = 1.0 if self.problem.grid.cost == "unit" else SQRT2
        return self.straights + diagonal * self.diagonals

    @property
    def expansions_per_move(self) -> float:
        """Expansions per move, over the whole run; 0 without moves."""
        return self.expansions / self.moves if self.moves else 0.0

    @property
    def optimal(self) -> float | None:
        """The cost of a shortest path on the true map; None when the map changes."""
        return self.problem.optimal

    @property
    def suboptimality(self) -> float | None:
        """The cost of a trial, on average, divided by the optimal cost; None where there is no such cost.

        A problem that starts on its goal has a suboptimality of one.
        """
        optimal = self.optimal
        if optimal is None or np.isinf(optimal):
            return None
        self.check_cost()
        return self.cost / (optimal * max(1, len(self.trials))) if optimal else 1.0

    def check_cost(self) -> None:
        """Refuse a path to the goal that is shorter than the shortest one: such a run was not made by the rules.

        Raises:
            Fault: if there is one, on a map that does not change.
        """
        if not self.problem.changes and any(t.solved and t.exact_cost < self.problem.optimal_cost for t in self.each):
            raise Fault(f"a path of cost {self.cost:g} is shorter than the shortest one, of cost {self.optimal:g}")

    @property
    def each(self) -> tuple["Run", ...]:
        """The records of the trials, of which there may be one."""
        return self.trials or (self,)

    @property
    def exact_cost(self) -> int:
        """The cost of a trial as ``rt_gym.cost`` encodes it."""
        if self.problem.grid.cost == "unit":
            return encode(self.straights + self.diagonals)
        return encode(self.straights, self.diagonals)

    @cached_property
    def scrubbing(self) -> float:
        """How often a visited cell was visited, on average; 1 means that no cell was seen twice."""
        x, y = self.path[:, 0].astype(np.int64), self.path[:, 1].astype(np.int64)
        return len(self.path) / len(np.unique(y * self.problem.grid.width + x))

    def without_path(self) -> "Run":
        """Return the same record with an empty path; what is known only from the path stays known."""
        lean = replace(self, path=self.path[:0].copy())
        vars(lean)["scrubbing"] = self.scrubbing
        return lean

    @property
    def converged(self) -> bool:
        """Whether the last trial reached the goal and raised no value."""
        last = self.trials[-1] if self.trials else self
        return last.solved and last.h_updates == 0


@dataclass(frozen=True)
class Decision:
    """Why an agent made its last move.

    Attributes:
        position: where it stood.
        action: the direction it chose, or STAY.
        planned: whether it planned for this move, or followed an earlier plan.
        committed: how many moves of the plan are still to come.
        target: the state that it is heading for.
        g, f: the cost of getting there from where the search began, and that cost plus the value of the target.
        h_before, h_after: the learned value of where it stood; None for an agent that learns nothing.
        raised: for an agent of one's own to say which values it has raised for this move: where, and the exact costs
            before and after. Kernels list theirs by themselves.
    """

    position: Position
    action: int
    planned: bool
    committed: int = 0
    target: Position | None = None
    g: float | None = None
    f: float | None = None
    h_before: float | None = None
    h_after: float | None = None
    raised: Sequence[tuple[Position, int, int]] = ()


def total(trials: list[Run]) -> Run:
    """Return one trial as it is, or the totals of several."""
    first, last = trials[0], trials[-1]
    if len(trials) == 1:
        return first

    def add(name: str) -> Any:
        return sum(getattr(trial, name) for trial in trials)

    timed = [trial.move_seconds for trial in trials if trial.move_seconds]
    slowest = max(timed, key=lambda times: times.max) if timed else None
    sums = ["straights", "diagonals", "moves", "stays", "expansions", "scans", "learning_ops", "trace_steps", "plans"]
    sums += ["seconds", "h_updates", "guarded", "guarded_expansions"]
    return Run(
        problem=first.problem,
        outcome=last.outcome,
        path=last.path,
        log=last.log,
        max_expansions=max(trial.max_expansions for trial in trials),
        max_scans=max(trial.max_scans for trial in trials),
        first_move_expansions=first.first_move_expansions,
        planning_seconds=None if first.planning_seconds is None else add("planning_seconds"),
        move_seconds=slowest,
        precompute_seconds=first.precompute_seconds,
        memory=last.memory,
        memory_bytes=last.memory_bytes,
        overrun=any(trial.overrun for trial in trials),
        trials=tuple(trials),
        **{name: add(name) for name in sums},
    )
