"""What a training by reinforcement looks like: its returns, and its ratios on the validation maps."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from training.plots import STYLE


def draw_looks(looks: Sequence[Sequence[float | None]]) -> Figure:
    """Draw the figures of ``Progress.looks`` over the steps."""
    steps, returns, _, mean, pooled = np.array(looks, float).T  # None becomes not a number, which leaves a gap
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(steps, returns, color="#0072b2", marker="o")
        left.set_title("Return of the training episodes", loc="left", fontweight="bold")
        left.set(xlabel="steps", ylabel="mean return")
        right.plot(steps, mean, color="#0072b2", marker="o", label="mean")
        right.plot(steps, pooled, color="#d55e00", marker="s", label="pooled")
        right.axhline(1.0, color="#33383d", lw=0.8)
        right.set_title("Expansions of fixed depths over its own", loc="left", fontweight="bold")
        right.set(xlabel="steps", ylabel="ratio on the validation maps", ylim=(0, None))
        right.legend(frameon=False)
    return figure
