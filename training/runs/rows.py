"""One run, one row: what was run where, and what came of it.

Everything in a ``Row`` depends on the sources and the seed alone. Times are kept apart, in a ``Timing``: the table of
rows is the same, byte for byte, on any machine and however often it was interrupted.
"""

from typing import Any, NamedTuple

OUTCOMES = ("goal", "out of moves", "no path", "overrun")  # of ``agents.Run``, in columns by their number


class Entry(NamedTuple):
    """A contender as tables name it: ``limit`` is the largest count per move of what is ``counted``."""

    agent: str
    setting: str
    budget: str
    limit: int | None
    counted: str

    @property
    def label(self) -> str:
        """The agent with its settings, for people."""
        return f"{self.agent} {self.setting.replace(':', ' ')}".rstrip()


class Place(NamedTuple):
    """A problem, and what bounds every run on it.

    ``digest`` is that of the map, its rules and its changes; ``repeat`` counts the runs of a problem with other seeds.
    """

    map: str
    digest: str
    problem: int
    start_x: int
    start_y: int
    goal_x: int
    goal_y: int
    optimal: float | None
    vision: int | None
    trials: str
    max_moves: int
    repeat: int = 0

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for comparable runs, whatever the path of the map and the number of the problem."""
        return self.digest, self.start_x, self.start_y, self.goal_x, self.goal_y, *self[8:]


class Result(NamedTuple):
    """What a run left behind, see ``agents.Run``; of several trials the totals."""

    outcome: str
    trials_run: int
    converged: bool
    cost: float
    straights: int
    diagonals: int
    moves: int
    stays: int
    expansions: int
    max_expansions: int
    scans: int
    max_scans: int
    learning_ops: int
    trace_steps: int
    first_move_expansions: int
    plans: int
    h_updates: int
    memory: int


class Trial(NamedTuple):
    """What one trial of a run left behind, see ``agents.Run``."""

    outcome: str
    cost: float
    straights: int
    diagonals: int
    moves: int
    stays: int
    expansions: int
    max_expansions: int
    scans: int
    max_scans: int
    learning_ops: int
    trace_steps: int
    plans: int
    h_updates: int


class Timing(NamedTuple):
    """How long a run took, in seconds; the last three are per move."""

    seconds: float
    precompute_seconds: float
    p50: float
    p99: float
    max: float


class Row(NamedTuple):
    """One run of a contender on a problem."""

    entry: Entry
    place: Place
    result: Result

    @property
    def solved(self) -> bool:
        """Whether the goal was reached in every trial."""
        return self.result.outcome == "goal"

    @property
    def suboptimality(self) -> float | None:
        """The cost of a trial divided by the optimal cost; None for a run that failed or a map that changes.

        A run that was cut has no suboptimality: what it cost so far would look cheap.
        """
        optimal = self.place.optimal
        if not self.solved or optimal is None:
            return None
        return self.result.cost / (optimal * self.result.trials_run) if optimal else 1.0

    @property
    def expansions_per_move(self) -> float | None:
        """Expansions per move; None for a run that failed."""
        if not self.solved:
            return None
        return self.result.expansions / self.result.moves if self.result.moves else 0.0
