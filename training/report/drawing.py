"""Figures as data: which columns and rows of a document's tables make which curve or bar, and how they are drawn.

A figure is drawn from the tables of a document alone, never from its runs. The claims of a document are one more table,
called ``Claims``.
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log10, nan
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from PIL import Image

from rt_gym import InputError
from rt_gym.files import atomic_write
from training.judge.plots import STYLE
from training.judge.tables import Table

PAPER_OF = "paper of "
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?")
_DPI, _SMALL = 110, 7.5
_COLOURS = 256  # of a picture's palette, which makes its file small
# Up to how many decades a logarithmic axis has which ticks in each.
_STEPS = ((0.6, (1, 1.2, 1.5, 2, 3, 5, 7)), (1, (1, 1.5, 2, 3, 5, 7)), (2.2, (1, 2, 5)), (inf, (1,)))


@dataclass(frozen=True)
class Look:
    """How a curve or a bar is drawn.

    Attributes:
        colour: its colour.
        marker: its marker.
        hollow: whether it is not filled, as all that a paper printed.
        line: what joins its points, ``""`` for nothing.
    """

    colour: str
    marker: str = "o"
    hollow: bool = False
    line: str = "-"


@dataclass(frozen=True)
class Curve:
    """Some rows of a table as points.

    Attributes:
        label: what the legend calls it.
        look: how it is drawn.
        y: the column of the second coordinate; ``paper of X`` is the first column called paper after X.
        x: the column of the first coordinate; by default what the group ``x`` of ``rows`` found.
        rows: which rows, a pattern for the beginning of their cells joined by `` | ``. What its group ``tag`` found is
            written beside the point; points are in the order of its group ``order``, or else of the rows.
        at: the first coordinate of all its points, where no column has it.
        table: the title of the table, where it is not that of the panel.
        intervals: whether the intervals of the second coordinate are shown.
    """

    label: str
    look: Look
    y: str
    x: str = ""
    rows: str = ""
    at: float = nan
    table: str = ""
    intervals: bool = True


@dataclass(frozen=True)
class Printed:
    """Points that a paper printed and no table of the document has."""

    label: str
    look: Look
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Plot:
    """A panel of curves.

    Attributes:
        title: what is seen.
        table: the title of the table.
        curves: what is drawn from it, the first one lowest.
        x, y: the labels of the axes.
        scale: of both axes, ``"log"`` or ``"linear"``, as in ``"log linear"``.
        printed: what else a paper printed.
        cut_off: rows whose worst move takes more expansions are left out; 0 for none.
        limits: the ends of both axes, as far as they are given.
        ticks: what is written at the first axis; by default what fits its scale.
        front: whether the Pareto front of all drawn points is shown.
    """

    title: str
    table: str
    curves: tuple[Curve, ...]
    x: str
    y: str
    scale: str = "log log"
    printed: tuple[Printed, ...] = ()
    cut_off: int = 0
    limits: tuple[float | None, float | None, float | None, float | None] = (None, None, None, None)
    ticks: tuple[float, ...] = ()
    front: bool = False


@dataclass(frozen=True)
class Bars:
    """A panel of bars, a group for every row and in it a bar for every column.

    Attributes:
        title: what is seen.
        table: the title of the table.
        rows: what a group is called, and the pattern of its row.
        columns: what the legend calls a column, how it is drawn, and its name.
        x: the label of the axis of numbers.
        scale: of that axis.
        start: where a linear axis begins.
    """

    title: str
    table: str
    rows: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, Look, str], ...]
    x: str
    scale: str = "linear"
    start: float = 0


@dataclass(frozen=True)
class Drawing:
    """A figure: panels from left to right and from top to bottom.

    Attributes:
        panels: what is drawn.
        caption: what the figure shows, and how it differs from the paper's.
        across: how many panels stand side by side.
        size: width and height of a panel, in inches.
    """

    panels: tuple[Plot | Bars, ...]
    caption: str
    across: int = 1
    size: tuple[float, float] = (6.4, 3.9)


class Point(NamedTuple):
    """A point with the interval of its second coordinate, and what is written beside it."""

    x: float
    y: float
    low: float
    high: float
    tag: str


def number(cell: str) -> float:
    """Return the first number of a cell, nan if it has none.

    Example:
        >>> number("about 6,300"), number("23.3%"), number("-")
        (6300.0, 23.3, nan)
    """
    found = _NUMBER.search(cell)
    return float(found[0].replace(",", "")) if found else nan


def ends(cell: str) -> tuple[float, float]:
    """Return the ends of an interval, such as ``[1,234, 2,345]``."""
    low, high = cell.strip("[]").split(", ")
    return number(low), number(high)


def column(table: Table, name: str) -> int:
    """Return the place of a column; ``paper of X`` is the first one called paper after X.

    Raises:
        LookupError: if there is none.
    """
    names = [" ".join(each.split()) for each in table.columns]
    word, after = name, -1
    if name.startswith(PAPER_OF):
        word, after = "paper", column(table, name.removeprefix(PAPER_OF))
    if word not in names[after + 1 :]:
        raise LookupError(f"column {name}")
    return names.index(word, after + 1)


def matching(table: Table, pattern: str) -> list[tuple[list[str], re.Match[str]]]:
    """Return the rows that a pattern fits, each with its match."""
    found = [(row, re.match(pattern, " | ".join(row))) for row in table.rows]
    return [(row, match) for row, match in found if match]


def curve_points(table: Table, curve: Curve, cut_off: int = 0) -> list[Point]:
    """Return the points of a curve.

    Raises:
        LookupError: if a column is missing or no row fits.
    """
    rows = matching(table, curve.rows)
    if not rows:
        raise LookupError(f"rows {curve.rows}")
    if cut_off:
        worst = column(table, "worst move")
        rows = [(row, match) for row, match in rows if number(row[worst]) <= cut_off]
    if "order" in rows[0][1].groupdict():
        rows.sort(key=lambda found: number(found[1]["order"]))
    points = [_point(table, curve, row, match) for row, match in rows]
    return [point for point in points if isfinite(point.x + point.y)]


def _point(table: Table, curve: Curve, row: Sequence[str], match: re.Match[str]) -> Point:
    groups = match.groupdict()
    x = number(row[column(table, curve.x)]) if curve.x else number(groups["x"]) if "x" in groups else curve.at
    place = column(table, curve.y)
    y = number(row[place])
    low, high = _interval(table, place, row, y) if curve.intervals else (y, y)
    return Point(x, y, low, high, groups.get("tag") or "")


def _interval(table: Table, place: int, row: Sequence[str], value: float) -> tuple[float, float]:
    """Return the interval in the next column, if that is one."""
    following = place + 1
    if following < len(table.columns) and table.columns[following].endswith("interval") and "," in row[following]:
        return ends(row[following])
    return value, value


def draw(drawing: Drawing, tables: Iterable[Table]) -> Figure:
    """Draw a figure from the tables of a document.

    Raises:
        InputError: if a table, a column or a row is missing.
    """
    known = {table.title: table for table in tables}
    panels = drawing.panels
    across, down = drawing.across, -(-len(panels) // drawing.across)
    with mpl.rc_context(STYLE):
        figure = Figure((drawing.size[0] * across, drawing.size[1] * down), layout="constrained")
        for place, panel in enumerate(panels):
            axes = figure.add_subplot(down, across, place + 1)
            try:
                _draw_panel(axes, panel, known)
            except LookupError as error:
                raise InputError(f"the panel {panel.title!r} finds no such row, column or table: {error}") from None
        _legend(figure)
    return figure


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as PNG, all at once or not at all, and return the path."""
    stream = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(stream, format="png", dpi=_DPI)
    packed = io.BytesIO()
    palette = Image.Quantize.MAXCOVERAGE  # others lose the colour of a single marker
    Image.open(stream).convert("RGB").quantize(_COLOURS, palette).save(packed, "PNG", optimize=True)
    atomic_write(path, packed.getvalue())
    return path


def _draw_panel(axes: Axes, panel: Plot | Bars, tables: Mapping[str, Table]) -> None:
    if isinstance(panel, Plot):
        _draw_plot(axes, panel, tables)
    else:
        _draw_bars(axes, panel, tables[panel.table])
    axes.set_title(panel.title, fontsize=10, loc="left")


def _draw_plot(axes: Axes, plot: Plot, tables: Mapping[str, Table]) -> None:
    drawn = [(curve, curve_points(tables[curve.table or plot.table], curve, plot.cut_off)) for curve in plot.curves]
    for place, (curve, points) in enumerate(drawn):
        _draw_curve(axes, curve.label, curve.look, points)
        _draw_tags(axes, curve.look, points, above=place % 2 == 0)
    for printed in plot.printed:
        _draw_curve(axes, printed.label, printed.look, [Point(x, y, y, y, "") for x, y in printed.points])
    if plot.front:
        _draw_front(axes, [(one.x, one.y) for curve, points in drawn if not curve.look.hollow for one in points])
    _set_axes(axes, plot)


def _set_axes(axes: Axes, plot: Plot) -> None:
    x_scale, y_scale = plot.scale.split()
    axes.set(xscale=x_scale, yscale=y_scale, xlabel=plot.x, ylabel=plot.y)
    for set_limits, limits in ((axes.set_xlim, plot.limits[:2]), (axes.set_ylim, plot.limits[2:])):
        if limits != (None, None):
            set_limits(*limits)
    _set_ticks(axes.xaxis, x_scale)
    _set_ticks(axes.yaxis, y_scale)
    if plot.ticks:
        axes.xaxis.set_major_locator(FixedLocator(plot.ticks))
        axes.xaxis.set_minor_locator(NullLocator())


def _draw_curve(axes: Axes, label: str, look: Look, points: Sequence[Point]) -> None:
    for one in points:
        if one.low < one.high:
            axes.plot([one.x, one.x], [one.low, one.high], color=look.colour, lw=1, alpha=0.35, zorder=2)
    axes.plot(
        [one.x for one in points],
        [one.y for one in points],
        label=label,
        color=look.colour,
        marker=look.marker,
        ls=look.line or "none",
        lw=1.2,
        ms=5.5,
        mfc="white" if look.hollow else look.colour,
        zorder=4 if look.hollow else 3,
    )


def _draw_tags(axes: Axes, look: Look, points: Sequence[Point], above: bool) -> None:
    """Write beside points, on alternating sides of the curves of a panel."""
    shift, side = ((4, 4), "left") if above else ((-4, -10), "right")
    for one in points:
        text = axes.annotate(one.tag, (one.x, one.y), shift, textcoords="offset points", ha=side, clip_on=True)
        text.set(fontsize=_SMALL, color=look.colour)


def _draw_front(axes: Axes, points: Iterable[tuple[float, float]]) -> None:
    front: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if not front or y < front[-1][1]:
            front.append((x, y))
    xs, ys = [x for x, _ in front], [y for _, y in front]
    axes.plot(xs, ys, color="#b9c0c6", lw=7, alpha=0.6, solid_capstyle="round", zorder=1, label="Pareto front (ours)")


def _set_ticks(axis: Axis, scale: str) -> None:
    """Write plain numbers, the more between the powers of ten the shorter a logarithmic axis is."""
    axis.set_major_formatter(FuncFormatter(_plain))
    low, high = axis.get_view_interval()
    if scale == "linear" or low <= 0:  # of runs that all failed nothing is drawn
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        return
    decades = log10(high / low)
    steps = next(steps for length, steps in _STEPS if decades < length)
    axis.set_major_locator(LogLocator(subs=steps, numticks=6))
    axis.set_minor_locator(NullLocator())


def _plain(value: float, _: Any) -> str:
    if abs(value) >= 1_000_000:
        return f"{value / 1_000_000:g} M"
    return f"{value / 1000:g} k" if abs(value) >= 10_000 else f"{value:,.10g}"


def _draw_bars(axes: Axes, bars: Bars, table: Table) -> None:
    thick = 0.8 / len(bars.columns)
    rows = [_row(table, pattern) for _, pattern in bars.rows]
    for order, (label, look, name) in enumerate(bars.columns):
        heights = [group + order * thick for group in range(len(rows))]
        place = column(table, name)
        fill = "white" if look.hollow else look.colour
        values = [number(row[place]) for row in rows]
        axes.barh(heights, values, 0.9 * thick, label=label, color=fill, edgecolor=look.colour, zorder=2)
        for height, row in zip(heights, rows, strict=True):
            _write_bar(axes, height, table, row, place)
    centre = 0.4 - thick / 2
    axes.set_yticks([group + centre for group in range(len(rows))], [name for name, _ in bars.rows])
    axes.set(xscale=bars.scale, xlabel=bars.x)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.2)
    if bars.scale == "linear":
        axes.set_xlim(left=bars.start)
    _set_ticks(axes.xaxis, bars.scale)


def _row(table: Table, pattern: str) -> list[str]:
    return matching(table, pattern)[0][0]


def _write_bar(axes: Axes, height: float, table: Table, row: Sequence[str], place: int) -> None:
    """Draw the interval of a bar and write its number behind it, if it has one."""
    value = number(row[place])
    if isfinite(value):
        low, high = _interval(table, place, row, value)
        axes.plot([low, high], [height, height], color="#33383d", lw=1, zorder=3)
        says = row[place].partition(" ±")[0]
        axes.annotate(says, (high, height), (4, 0), textcoords="offset points", fontsize=_SMALL, va="center")


def _legend(figure: Figure) -> None:
    """Name every curve once, below all panels."""
    named: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if len(named) > 1:
        wide = max(1, int(figure.get_figwidth() / (0.6 + 0.075 * max(map(len, named)))))
        figure.legend(
            named.values(), named.keys(), loc="outside lower center", ncols=min(wide, len(named)), frameon=False
        )
