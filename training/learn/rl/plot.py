"""What a training looks like: its figures on the validation maps."""

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from training.judge.plots import STYLE
from training.learn.rl.progress import Progress

_COLOURS = ("#0072b2", "#d55e00")


def draw_looks(progress: Progress) -> Figure:
    """Draw the figures over the steps, or over the generations."""
    steps, _, *figures = np.array(progress.looks, float).T  # None becomes not a number, which leaves a gap
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.subplots()
        for name, values, colour in zip(progress.names, figures, _COLOURS, strict=False):
            axes.plot(steps, values, color=colour, marker="o", label=name)
        axes.axhline(progress.level, color="#33383d", lw=0.8, label="best without a policy")
        axes.set_title("On the validation maps", loc="left", fontweight="bold")
        axes.set(xlabel="steps" if progress.looks[-1][1] is not None else "generations", ylim=(0, None))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.legend(frameon=False)
    return figure
