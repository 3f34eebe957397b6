"""Plots and pictures, as Matplotlib figures that need no display. Imported only where something is drawn."""

import io
from collections.abc import Mapping, Sequence
from itertools import cycle
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from numpy.typing import NDArray

from rt_gym.files import atomic_write
from rt_gym.maps.preview import preview_image

if TYPE_CHECKING:
    from agents import Run
    from training.bench import Summary

# Colours that the colour-blind can tell apart (after Okabe and Ito), with markers for those who print in grey.
_STYLES = (("#0072b2", "o"), ("#56b4e9", "s"), ("#d55e00", "^"), ("#009e73", "D"), ("#cc79a7", "v"), ("#e69f00", "P"))
_INK, _FAINT, _NIGHT = "#33383d", "#d5d9dd", "#1f2d3a"
_HEAT = LinearSegmentedColormap.from_list("heat", ["#f9dc9c", "#f5a65b", "#e0563b", "#a61c4b", "#4a1259"])
_SETTINGS: dict[Any, Any] = {
    "font.size": 10,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _FAINT,
    "grid.linewidth": 0.6,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "svg.hashsalt": "rt_gym",  # the same figure gives the same bytes
}
_LEAST_VIEW = 48  # cells along the side of a picture


def save(figure: Figure, path: Path) -> Path:
    """Write a figure in the format that the path ends in, all at once or not at all, and return the path."""
    stream, kind = io.BytesIO(), path.suffix[1:]
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
    with mpl.rc_context(_SETTINGS):
        figure.savefig(stream, format=kind, dpi=160, metadata=metadata)
    atomic_write(path, stream.getvalue())
    return path


def draw_tradeoff(panels: "Mapping[str, Sequence[Summary]]") -> Figure:
    """Draw suboptimality over expansions per move: one panel per title, one line per agent along its budgets.

    Settings with failures have no mean; they stand at the upper edge with the number of failures.
    """
    everything = [summary for summaries in panels.values() for summary in summaries]
    styles = dict(zip(dict.fromkeys(summary.agent for summary in everything), cycle(_STYLES), strict=False))
    sizes = {budget: 5.0 + 3.0 * k for k, budget in enumerate(sorted({summary.budget or 0 for summary in everything}))}
    room = 34 if any(summary.failed for summary in everything) else 12
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(5.5 * len(panels), 5.2), layout="constrained")
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axis, (title, summaries) in zip(axes, panels.items(), strict=True):
            axis.set_title(title, loc="left", fontsize=10, fontweight="bold", pad=room)
            for agent, style in styles.items():
                _draw_line(axis, [summary for summary in summaries if summary.agent == agent], style, sizes)
            _scale(axis)
        axes[0].set_ylim(bottom=0.9)
        axes[0].set_ylabel("suboptimality, mean over problems")
        figure.legend(handles=_legend(styles, sizes), loc="outside lower center", ncols=8, frameon=False)
    return figure


def _draw_line(axis: Axes, summaries: "Sequence[Summary]", style: tuple[str, str], sizes: Mapping[int, float]) -> None:
    colour, marker = style
    points = [(summary.expansions_mean, summary.suboptimality_mean) for summary in summaries]
    axis.plot(*zip(*(point for point in points if isfinite(point[1])), strict=True), color=colour, lw=1.6, zorder=2)
    edge = axis.get_xaxis_transform()
    for summary, (x, y) in zip(summaries, points, strict=True):
        look: dict[str, Any] = {"color": colour, "marker": marker, "ms": sizes[summary.budget or 0], "mec": "white"}
        if summary.failed:
            axis.plot(x, 1.0, transform=edge, clip_on=False, **look | {"mfc": "white", "mec": colour})
            text = f"{summary.failed} failed"
            axis.annotate(text, (x, 1.0), (3, 7), edge, "offset points", color=colour, fontsize=8, rotation=35)
        else:
            axis.plot(x, y, **look)


def _scale(axis: Axes) -> None:
    """Give both axes logarithms and plain numbers."""
    axis.set(xscale="log", yscale="log", xlabel="expansions per move, mean over problems")
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_locator(LogLocator(subs=(1, 2, 5)))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        side.set_minor_locator(NullLocator())
        side.set_tick_params(length=0)


def _legend(styles: Mapping[str, tuple[str, str]], sizes: Mapping[int, float]) -> list[Line2D]:
    agents = [
        Line2D([], [], color=colour, marker=marker, ms=8, mec="white", label=agent)
        for agent, (colour, marker) in styles.items()
    ]
    budgets = [
        Line2D([], [], ls="", marker="o", color="#8b949c", ms=size, mec="white", label=f"budget {budget:,}")
        for budget, size in sizes.items()
    ]
    return agents + budgets


def draw_run(title: str, run: "Run", learned: NDArray[np.float64], best: NDArray[np.int32]) -> Figure:
    """Draw the part of the map where a run went, how much was learned where, its path and a shortest one."""
    grid = run.problem.grid
    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(9, 9.6), layout="constrained")
        axis = figure.subplots()
        extent = (-0.5, grid.width - 0.5, grid.height - 0.5, -0.5)
        axis.imshow(preview_image(grid, scale=1), extent=extent, interpolation="nearest")
        heat = np.ma.masked_where((learned <= 0) | ~grid.passable, learned)
        image = axis.imshow(heat, extent=extent, cmap=_HEAT, interpolation="nearest")
        _draw_paths(axis, run, best)
        _look_at(axis, np.concatenate([run.path, best]), grid.width, grid.height)
        axis.set_title(title, loc="left", fontweight="bold", fontsize=12)
        axis.legend(loc="upper right", framealpha=0.9, edgecolor="none", labelspacing=0.9, borderpad=0.9)
        bar = figure.colorbar(image, ax=axis, orientation="horizontal", shrink=0.5, aspect=40, pad=0.02)
        bar.set_label("how much the heuristic was raised by learning")
        bar.outline.set_visible(False)
    return figure


def _draw_paths(axis: Axes, run: "Run", best: NDArray[np.int32]) -> None:
    outline = [Stroke(linewidth=2.6, foreground=_NIGHT), Normal()]
    axis.plot(*run.path.T, color="white", lw=1.3, path_effects=outline, label=f"walked, cost {run.cost:.0f}")
    axis.plot(*best.T, color="#1f7fd1", lw=2.4, ls=(0, (3, 1.4)), label=f"shortest, cost {run.optimal:.0f}")
    for name, marker, colour, (x, y) in (
        ("start", "o", "#2ecc71", run.problem.start),
        ("goal", "*", "#ffd23f", run.problem.goal),
    ):
        axis.plot(x, y, ls="", marker=marker, ms=13 if marker == "o" else 22, color=colour, mec=_NIGHT, label=name)


def _look_at(axis: Axes, places: NDArray[np.int32], width: int, height: int) -> None:
    """Show a square around these places with some ground about them."""
    low, high = places.min(axis=0), places.max(axis=0)
    side = min(max(_LEAST_VIEW, 1.15 * float((high - low).max())), max(width, height))
    x, y = (low + high) / 2
    axis.set_xlim(x - side / 2, x + side / 2)
    axis.set_ylim(y + side / 2, y - side / 2)
    axis.set_axis_off()
