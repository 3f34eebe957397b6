"""What a training looks like: its returns, and its figures on the validation maps."""

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from training.plots import STYLE
from training.rl.progress import Progress

_COLOURS = ("#0072b2", "#d55e00")


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
