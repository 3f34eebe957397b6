"""How a training went, in numbers and as a plot."""

from dataclasses import dataclass, field
from math import inf

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from training.plots import STYLE

_COLOURS = ("#0072b2", "#d55e00")


@dataclass
class Progress:
    """How a training went.

    Attributes:
        names: what the figures of a look at the validation maps are called.
        level: what rivals that decide nothing reach.
        looks: of every look the steps so far (for cma, the generations), the mean return since the last, and the
            figures, None where there is none: a run failed.
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


def draw_looks(progress: Progress) -> Figure:
    """Draw the returns, where there are any, and the figures over the steps."""
    steps, returns, *figures = np.array(progress.looks, float).T  # None becomes not a number, which leaves a gap
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(steps, returns, color=_COLOURS[0], marker="o")
        left.set_title("Training episodes", loc="left", fontweight="bold")
        left.set(xlabel="steps", ylabel="mean return")
        for name, values, colour in zip(progress.names, figures, _COLOURS, strict=False):
            right.plot(steps, values, color=colour, marker="o", label=name)
        right.axhline(progress.level, color="#33383d", lw=0.8, label="best without a policy")
        right.set_title("Validation maps", loc="left", fontweight="bold")
        right.set(xlabel="steps", ylim=(0, None))
        right.legend(frameon=False)
    return figure
