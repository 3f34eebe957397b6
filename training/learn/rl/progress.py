"""How a training went, in numbers."""

from dataclasses import dataclass, field
from math import inf


@dataclass
class Progress:
    """How a training went.

    Attributes:
        names: what the figures of a look at the validation maps are called.
        level: what rivals that decide nothing reach.
        looks: of every look the steps so far (for cma, the generations), the mean return of the last hundred episodes
            to end (None for cma; at first only short ones have ended), and the figures, None where a run failed.
        merit: of the best network.
        idle: looks since it was found.
    """

    names: tuple[str, ...] = ()
    level: float = 1.0
    looks: list[list[float | None]] = field(default_factory=list)
    merit: float = -inf
    idle: int = 0

    def table(self) -> list[list[str]]:
        """Return the looks as rows of a table."""
        return [[f"{look[0]:,.0f}", *("-" if x is None else f"{x:.2f}" for x in look[1:])] for look in self.looks]
