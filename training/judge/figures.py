"""Figures: scores as quality over expansions per move, what a learned policy is like, and how a training went."""

from collections.abc import Mapping, Sequence
from math import inf, isnan
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray

from training.judge.plots import STYLE, Mark, Panel, draw_panels
from training.judge.scores import Score
from training.judge.stats import Estimate, Floats

_PANELS = {"mean": "expansions per move, mean over problems", "pooled": "all expansions / all moves"}
_SHOWN = 10  # features
_COLOURS = ("#0072b2", "#d55e00")


def draw_scores(title: str, scores: Sequence[Score]) -> Figure:
    """Draw one panel for each way of averaging; scores without a mean stand at the upper edge and say why."""
    panels = [score_panel(f"{title}, {reading}", scores, reading) for reading in _PANELS]
    return draw_panels(panels, scores[0].measure)


def score_panel(title: str, scores: Sequence[Score], reading: str) -> Panel:
    """Return a panel of scores; ``reading`` is the way of averaging expansions, ``"mean"`` or ``"pooled"``."""
    return Panel(title, _PANELS[reading], [_mark(score, reading) for score in scores])


def _mark(score: Score, reading: str) -> Mark:
    work = score.expansions_mean if reading == "mean" else score.expansions_pooled
    return Mark(
        agent=score.entry.agent,
        size=score.entry.budget,
        x=work.value,
        y=score.quality.value if score.quality else inf,
        x_ends=_ends(work),
        y_ends=_ends(score.quality) if score.quality else None,
        note="" if score.quality else "over budget" if score.disqualified else f"{score.failed} failed",
        front=reading in score.fronts,
    )


def _ends(estimate: Estimate) -> tuple[float, float] | None:
    return None if isnan(estimate.low) else (estimate.low, estimate.high)


def draw_training(confusion: NDArray[np.int64], weights: Mapping[str, float], curve: Floats, measure: str) -> Figure:
    """Draw the confusion of depths, the importance of features and the learning curve side by side.

    Args:
        confusion: how often a label (row) was predicted as a depth (column).
        weights: what shuffling a feature costs.
        curve: rows of the number of samples and the measure on them and on samples held back.
        measure: what that is.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(15, 4.6), layout="constrained")
        depths, bars, lines = figure.subplots(1, 3)
        _draw_confusion(depths, confusion)
        _draw_weights(bars, weights)
        _draw_curve(lines, curve, measure)
    return figure


def _draw_confusion(axis: Any, counts: NDArray[np.int64]) -> None:
    d_max, accuracy = len(counts), np.trace(counts) / counts.sum()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    image = axis.imshow(shares, origin="lower", extent=(0.5, d_max + 0.5, 0.5, d_max + 0.5), cmap="Blues", vmin=0)
    axis.plot([0.5, d_max + 0.5], [0.5, d_max + 0.5], color="#d55e00", lw=0.8)
    axis.set_title(f"Depths: accuracy {100 * accuracy:.0f} %", loc="left", fontweight="bold")
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


def _draw_curve(axis: Any, curve: Floats, measure: str) -> None:
    axis.plot(curve[:, 0], curve[:, 1], color="#56b4e9", marker="s", label="samples it learned from")
    axis.plot(curve[:, 0], curve[:, 2], color="#0072b2", marker="o", label="problems held back")
    axis.set_title("Learning curve", loc="left", fontweight="bold")
    axis.set(xscale="log", xlabel="samples", ylabel=measure)
    axis.legend(frameon=False)


def draw_validation(names: Sequence[str], level: float, looks: Sequence[Sequence[float | None]]) -> Figure:
    """Draw the figures of a training on the validation maps over its steps, or over its generations.

    Args:
        names: what the figures are called.
        level: what is reached without a policy.
        looks: rows of steps, mean return (None during an evolution) and figures, None where a run failed.
    """
    steps, _, *figures = np.array(looks, float).T  # None becomes not a number, which leaves a gap
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.subplots()
        for name, values, colour in zip(names, figures, _COLOURS, strict=False):
            axes.plot(steps, values, color=colour, marker="o", label=name)
        axes.axhline(level, color="#33383d", lw=0.8, label="best without a policy")
        axes.set_title("On the validation maps", loc="left", fontweight="bold")
        axes.set(xlabel="steps" if looks[-1][1] is not None else "generations", ylim=(0, None))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.legend(frameon=False)
    return figure
