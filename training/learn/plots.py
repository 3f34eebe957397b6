"""What a training looks like: confusion of depths, what the policy goes by, and what more samples would bring."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from training.judge.plots import STYLE
from training.learn.validate import Quality

_SHOWN = 10  # features


def draw_training(quality: Quality, weights: Mapping[str, float], curve: NDArray[np.float64], measure: str) -> Figure:
    """Draw the confusion matrix, the importances and the learning curve side by side."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(15, 4.6), layout="constrained")
        confusion, bars, lines = figure.subplots(1, 3)
        _draw_confusion(confusion, quality)
        _draw_weights(bars, weights)
        _draw_curve(lines, curve, measure)
    return figure


def _draw_confusion(axis: Any, quality: Quality) -> None:
    counts, d_max = quality.confusion, len(quality.confusion)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    image = axis.imshow(shares, origin="lower", extent=(0.5, d_max + 0.5, 0.5, d_max + 0.5), cmap="Blues", vmin=0)
    axis.plot([0.5, d_max + 0.5], [0.5, d_max + 0.5], color="#d55e00", lw=0.8)
    axis.set_title(f"Depths: accuracy {100 * quality.accuracy:.0f} %", loc="left", fontweight="bold")
    axis.set(xlabel="predicted depth", ylabel="label")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.yaxis.get_major_locator().set_params(integer=True)
    axis.grid(False)
    axis.figure.colorbar(image, ax=axis, shrink=0.8).set_label("share of the label")


def _draw_weights(axis: Any, weights: Mapping[str, float]) -> None:
    top = sorted(weights.items(), key=lambda pair: pair[1])[-_SHOWN:]
    axis.barh([name for name, _ in top], [value for _, value in top], color="#0072b2")
    axis.set_title("What it goes by", loc="left", fontweight="bold")
    axis.set(xlabel="mean cost added when shuffled, in steps")


def _draw_curve(axis: Any, curve: NDArray[np.float64], measure: str) -> None:
    axis.plot(curve[:, 0], curve[:, 1], color="#56b4e9", marker="s", label="samples it learned from")
    axis.plot(curve[:, 0], curve[:, 2], color="#0072b2", marker="o", label="problems held back")
    axis.set_title("Learning curve", loc="left", fontweight="bold")
    axis.set(xscale="log", xlabel="samples", ylabel=measure)
    axis.legend(frameon=False)
