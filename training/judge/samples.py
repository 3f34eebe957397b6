"""The rows of one contender as arrays, problem by problem, the problems in the same order for all contenders."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from training.runs.rows import Entry, Place, Row


@dataclass(frozen=True)
class Sample:
    """All runs of one contender.

    Attributes:
        entry: which contender.
        rows: its runs.
    """

    entry: Entry
    rows: tuple[Row, ...]

    @property
    def places(self) -> list[Place]:
        """The problems."""
        return [row.place for row in self.rows]

    @cached_property
    def failures(self) -> dict[str, int]:
        """Outcomes other than the goal, and how often."""
        return dict(Counter(row.result.outcome for row in self.rows if not row.solved))

    @cached_property
    def worst_move(self) -> int:
        """The most that one move took, of what the budget counts."""
        name = f"max_{self.entry.counted}"
        return max(getattr(row.result, name) for row in self.rows)

    @property
    def disqualified(self) -> bool:
        """Whether a move exceeded the budget, or could not be made within it."""
        limit = self.entry.limit
        return "overrun" in self.failures or (limit is not None and self.worst_move > limit)

    @property
    def comparable(self) -> bool:
        """Whether its numbers may be set against those of others: no run failed, no move exceeded the budget."""
        return not self.failures and not self.disqualified

    @property
    def measure(self) -> str:
        """How good a run is: its ``"suboptimality"`` or, where the map changes, its ``"cost"``; less is better."""
        return "cost" if any(row.place.optimal is None for row in self.rows) else "suboptimality"

    @cached_property
    def quality(self) -> NDArray[np.float64]:
        """The measure of every run, infinite where it failed."""
        return np.array([_quality(row, self.measure) for row in self.rows])

    def column(self, name: str) -> NDArray[np.float64]:
        """Return one number of every run's result."""
        return np.array([getattr(row.result, name) for row in self.rows], np.float64)

    @cached_property
    def expansions(self) -> NDArray[np.float64]:
        """Expansions of every run."""
        return self.column("expansions")

    @cached_property
    def moves(self) -> NDArray[np.float64]:
        """Moves of every run."""
        return self.column("moves")

    @cached_property
    def expansions_per_move(self) -> NDArray[np.float64]:
        """Expansions per move of every run, those that failed included."""
        return self.expansions / np.maximum(self.moves, 1)


def _quality(row: Row, measure: str) -> float:
    if not row.solved:
        return inf
    return row.result.cost / row.result.trials_run if measure == "cost" else row.suboptimality or inf


def collect(rows: Iterable[Row]) -> list[Sample]:
    """Return a sample of every contender, in the order of their first rows."""
    grouped: dict[Entry, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row.entry, []).append(row)
    return [Sample(entry, tuple(found)) for entry, found in grouped.items()]
