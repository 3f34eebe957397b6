"""What a case is: all that is random in it follows from the seed and its number, so that it can be run again alone."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzz.watch import Watch

GIGABYTE = 1 << 30


@dataclass
class Case:
    """One case of a part.

    Attributes:
        seed, number: what makes it.
        folder: an empty folder of its worker, for files.
        counts: how many checks of each kind were made in it.
        story: what was drawn, in words, for the report of a failure.
        kept: files that show the failure.
        watch: begins with the case; a check begins it anew when all that others share is prepared.
    """

    seed: int
    number: int
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    story: dict[str, Any] = field(default_factory=dict)
    kept: list[Path] = field(default_factory=list)
    watch: Watch = field(default_factory=Watch)

    @cached_property
    def rng(self) -> np.random.Generator:
        """The random numbers of this case."""
        return np.random.default_rng([self.seed, self.number])

    def pick(self, *choices: Any) -> Any:
        """Return one of these, all with the same probability."""
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        """Whether something happens that has this probability."""
        return bool(self.rng.random() < probability)

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return int(self.rng.integers(low, high + 1))


class Part(NamedTuple):
    """One thing that is promised, and how it is tried.

    Attributes:
        promise: what holds, in one sentence.
        check: tries one case, counts what it checked, and raises whatever goes wrong.
        cases: how many make the figures on record.
        sample: how many ``make test`` takes, with the seed 0.
        weight: its share of the time, where that is short.
        seconds: the most processor time for a case; None where it is not the point.
        megabytes: the most that a case may add to the memory of its worker.
        address: the limit of the worker's address space in bytes.
        patience: after how many seconds without an answer a case has failed.
        workers: how many processes may try cases at the same time; None for as many as are asked for.
    """

    promise: str
    check: Callable[[Case], None]
    cases: int
    sample: int
    weight: float = 1.0
    seconds: float | None = None
    megabytes: int | None = None
    address: int | None = None
    patience: float = 60.0
    workers: int | None = None
