"""Plots and pictures, as Matplotlib figures that need no display. Imported only where something is drawn.

Scores are drawn as quality over expansions per move. Where many agents share a plot there is a colour per family, and
names stand beside points wherever they have room.
"""

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import Normal, Stroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from rt_gym.files import atomic_write
from rt_gym.maps.preview import preview_image
from training.judge.scores import Score
from training.judge.stats import Estimate
from training.judge.tables import FAMILIES, OTHERS, bare_name, by_family

if TYPE_CHECKING:
    from agents import Run

MANY = 12  # agents from which on a plot is crowded

_SIZES = "sizes"
HEADINGS = {*FAMILIES, OTHERS, _SIZES}
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#5b6770")  # after Okabe and Ito
_MARKERS = "os^DvPX<>phd8H"
_DIM = 0.45  # how strong what is not on the front is drawn
_FONT = 7.5
_OFFSETS = [(dx, dy) for far in (5, 11, 18) for dx, dy in ((far, 0), (far, far), (far, -far), (0, far), (0, -far))]
_OFFSETS += [(-dx, dy) for dx, dy in _OFFSETS if dx]
_GAP = 22  # pixels between two notes at the upper edge

Style = tuple[str, str]  # a colour and a marker


def family_styles(agents: Sequence[str]) -> dict[str, Style]:
    """Return a colour by family and a marker by place in it for every agent."""
    colours = dict(zip((*FAMILIES, OTHERS), _COLOURS, strict=True))
    return {
        agent: (colours[family], _MARKERS[k % len(_MARKERS)])
        for family, members in by_family(agents).items()
        for k, agent in enumerate(members)
    }


def family_legend(styles: Mapping[str, Style], rest: Sequence[Line2D]) -> tuple[list[Line2D], int]:
    """Return the entries of a legend with a column per family and one for the rest, and how many columns it has."""
    columns = [
        [_heading(family), *(_entry(agent, *styles[agent]) for agent in members)]
        for family, members in by_family(list(styles)).items()
    ]
    columns += [[_heading(_SIZES), *rest]] if rest else []
    longest = max(map(len, columns))
    return [each for column in columns for each in column + [_heading("")] * (longest - len(column))], len(columns)


def _heading(text: str) -> Line2D:
    return Line2D([], [], ls="", label=text)


def _entry(agent: str, colour: str, marker: str) -> Line2D:
    return Line2D([], [], ls="", color=colour, marker=marker, ms=6, mec="white", label=agent)


def draw_points(axis: Axes, marks: Sequence["Mark"], styles: Mapping[str, Style], sizes: Mapping[str, float]) -> None:
    """Draw every mark as a point, faint unless it is on the front; failures stand at the upper edge."""
    edge = axis.get_xaxis_transform()
    for mark in marks:
        colour, marker = styles[mark.agent]
        look: dict[str, Any] = {"color": colour, "marker": marker, "ms": 0.8 * sizes[mark.size], "ls": ""}
        if isfinite(mark.y):
            strength: dict[str, Any] = {"alpha": 1.0 if mark.front else _DIM, "zorder": 4 if mark.front else 3}
            axis.plot(mark.x, mark.y, mec="white", mew=0.4, **look, **strength)
        else:
            axis.plot(mark.x, 1.0, transform=edge, clip_on=False, mfc="white", mec=colour, **look)


def place_notes(axis: Axes, marks: Sequence["Mark"]) -> None:
    """Write notes beside the marks at the upper edge, from left to right, where there is room for them."""
    edge, last = axis.get_xaxis_transform(), -np.inf
    for mark in sorted((mark for mark in marks if not isfinite(mark.y)), key=lambda mark: mark.x):
        here = edge.transform((mark.x, 1.0))[0]
        if here - last >= _GAP:
            axis.annotate(mark.note, (mark.x, 1.0), (3, 7), edge, "offset points", fontsize=_FONT, rotation=35)
            last = here


def place_labels(axis: Axes, marks: Sequence["Mark"], styles: Mapping[str, Style]) -> list[str]:
    """Write the name of each agent once beside one of its points, where it covers no point and no other name.

    The figure must have been laid out. Agents on the front come first, and are named at a point on it if possible; who
    finds no room is in the legend only.

    Returns:
        The agents that were named.
    """
    shown = [mark for mark in marks if isfinite(mark.y)]
    points = axis.transData.transform([(mark.x, mark.y) for mark in shown]) if shown else np.empty((0, 2))
    taken, named = list[Bbox](), list[str]()
    for agent in _by_importance(shown):
        own = sorted((k for k, mark in enumerate(shown) if mark.agent == agent), key=lambda k: not shown[k].front)
        for box, place, offset in _candidates(axis, bare_name(agent), points[own]):
            if _is_free(axis, box, taken, points):
                _write(axis, bare_name(agent), place, offset, styles[agent][0])
                taken.append(box)
                named.append(agent)
                break
    return named


def _by_importance(marks: Sequence["Mark"]) -> list[str]:
    """Return the agents: those on the front first, then by how near they come to the lower left corner."""
    least: dict[str, tuple[bool, float]] = {}
    for mark in marks:
        rank = (not mark.front, np.log(mark.x) + 3 * np.log(mark.y))
        least[mark.agent] = min(rank, least.get(mark.agent, rank))
    return sorted(least, key=lambda agent: least[agent])


def _candidates(axis: Axes, text: str, points: Any) -> Iterator[tuple[Bbox, Any, tuple[int, int]]]:
    """Yield the boxes in which a text could stand, near each of some points, with the point and the offset."""
    figure: Any = axis.figure
    scale = figure.dpi / 72
    sample = axis.text(0, 0, text, fontsize=_FONT, transform=None)
    size = sample.get_window_extent()
    sample.remove()
    for dx, dy in _OFFSETS:
        for point in points:
            x, y = point[0] + dx * scale, point[1] + dy * scale
            left = x if dx > 0 else x - size.width if dx < 0 else x - size.width / 2
            yield Bbox.from_bounds(left, y - size.height / 2, size.width, size.height), point, (dx, dy)


def _is_free(axis: Axes, box: Bbox, taken: Sequence[Bbox], points: Any) -> bool:
    inside = axis.bbox.x0 <= box.x0 and box.x1 <= axis.bbox.x1 and axis.bbox.y0 <= box.y0 and box.y1 <= axis.bbox.y1
    x, y = np.asarray(points).T
    covered = ((x > box.x0 - 3) & (x < box.x1 + 3) & (y > box.y0 - 3) & (y < box.y1 + 3)).any()
    return bool(inside and not covered and not any(box.overlaps(other) for other in taken))


def _write(axis: Axes, text: str, place: Any, offset: tuple[int, int], colour: str) -> None:
    x, y = axis.transData.inverted().transform(place)
    align = "left" if offset[0] > 0 else "right" if offset[0] < 0 else "center"
    far = max(map(abs, offset)) > 5
    note = axis.annotate(
        text,
        (x, y),
        offset,
        textcoords="offset points",
        ha=align,
        va="center",
        fontsize=_FONT,
        color=colour,
        arrowprops={"arrowstyle": "-", "lw": 0.5, "color": colour, "shrinkA": 0, "shrinkB": 2} if far else None,
        path_effects=[Stroke(linewidth=2, foreground="white"), Normal()],
        zorder=5,
    )
    note.set_in_layout(False)  # otherwise the figure would be laid out anew, and the room be another


# Colours that colour-blind readers can distinguish (after Okabe and Ito), and markers for prints in grey.
_STYLES = (("#0072b2", "o"), ("#56b4e9", "s"), ("#d55e00", "^"), ("#009e73", "D"), ("#cc79a7", "v"), ("#e69f00", "P"))
_INK, _FAINT, _NIGHT = "#33383d", "#d5d9dd", "#1f2d3a"
_HEAT = LinearSegmentedColormap.from_list("heat", ["#f9dc9c", "#f5a65b", "#e0563b", "#a61c4b", "#4a1259"])
STYLE: dict[Any, Any] = {
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
_FRONT: dict[str, Any] = {"color": "#b9c0c6", "lw": 7, "alpha": 0.6, "solid_capstyle": "round", "zorder": 1}
_WIDE, _TALL = 12.0, 8.4  # inches of a figure with many agents, however few panels it has
_LEAST_VIEW = 48  # cells along the side of a picture


def save(figure: Figure, path: Path) -> Path:
    """Write a figure in the format that the path ends in, all at once or not at all, and return the path."""
    stream, kind = io.BytesIO(), path.suffix[1:]
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
    with mpl.rc_context(STYLE):
        figure.savefig(stream, format=kind, dpi=160, metadata=metadata)
    atomic_write(path, stream.getvalue())
    return path


@dataclass(frozen=True)
class Mark:
    """A point of a trade-off: what an agent spends and what it reaches.

    Attributes:
        agent: whose line and colour it has.
        size: what its size stands for, such as a budget.
        x, y: the point; y is infinite where a run failed, and the mark then stands at the upper edge.
        x_ends, y_ends: the ends of their intervals, where there are any.
        note: what is written beside a mark at the upper edge.
        front: whether it lies on the Pareto front.
    """

    agent: str
    size: str
    x: float
    y: float
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    note: str = ""
    front: bool = False


class Panel(NamedTuple):
    """One of the plots of a figure."""

    title: str
    x_label: str
    marks: Sequence[Mark]


def draw_panels(panels: Sequence[Panel], measure: str = "suboptimality") -> Figure:
    """Draw trade-offs side by side on the same logarithmic axes, with intervals and the Pareto front of each.

    A mark that spends nothing has no logarithm; it stands to the left of all others. Where there are many agents they
    are drawn as points without lines and intervals, in the colours of their families, with their names beside them.
    """
    least = min((mark.x for panel in panels for mark in panel.marks if mark.x > 0), default=1.0) / 2
    panels = [panel._replace(marks=[_from(least, mark) for mark in panel.marks]) for panel in panels]
    everything = [mark for panel in panels for mark in panel.marks]
    agents = list(dict.fromkeys(mark.agent for mark in everything))
    many = len(agents) > MANY
    styles = family_styles(agents) if many else {agent: _style(k) for k, agent in enumerate(agents)}
    kinds = list(dict.fromkeys(mark.size for mark in everything))
    sizes = dict(zip(kinds, np.linspace(5, 11, len(kinds)) if len(kinds) > 1 else [8.0], strict=True))
    padding = 34 if any(mark.note for mark in everything) else 12
    with mpl.rc_context(STYLE):
        size = (max(_WIDE, 7.0 * len(panels)), _TALL) if many else (5.5 * len(panels), 5.2)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            axis.set_title(panel.title, loc="left", fontsize=10, fontweight="bold", pad=padding)
            _draw_front(axis, panel.marks)
            _draw_marks(axis, panel.marks, styles, sizes, many)
            _scale(axis, panel.x_label)
        if measure == "suboptimality":
            axes[0].set_ylim(bottom=0.9)
        axes[0].set_ylabel(f"{measure}, mean over problems")
        _draw_legend(figure, styles, sizes, any(mark.front for mark in everything), 3 * len(panels), many)
        if many:
            figure.draw_without_rendering()  # names find room only once everything has its place
            for axis, panel in zip(axes, panels, strict=True):
                place_labels(axis, panel.marks, styles)
                place_notes(axis, panel.marks)
    return figure


def _draw_marks(
    axis: Axes, marks: Sequence[Mark], styles: Mapping[str, Style], sizes: Mapping[str, float], many: bool
) -> None:
    if many:
        draw_points(axis, marks, styles, sizes)
        return
    for agent, style in styles.items():
        _draw_line(axis, [mark for mark in marks if mark.agent == agent], style, sizes)


def _from(least: float, mark: Mark) -> Mark:
    return mark if mark.x > 0 else replace(mark, x=least, x_ends=None)


def _style(number: int) -> tuple[str, str]:
    """Return a colour and a marker that only every 36th agent shares."""
    count = len(_STYLES)
    return _STYLES[number % count][0], _STYLES[(number + number // count) % count][1]


def _draw_front(axis: Axes, marks: Sequence[Mark]) -> None:
    points = sorted((mark.x, mark.y) for mark in marks if mark.front)
    axis.plot([x for x, _ in points], [y for _, y in points], **_FRONT)


def _draw_line(axis: Axes, marks: Sequence[Mark], style: tuple[str, str], sizes: Mapping[str, float]) -> None:
    colour, marker = style
    points = [(mark.x, mark.y) for mark in marks if isfinite(mark.y)]
    axis.plot([x for x, _ in points], [y for _, y in points], color=colour, lw=1.6, zorder=2)
    edge = axis.get_xaxis_transform()
    for mark in marks:
        look: dict[str, Any] = {"color": colour, "marker": marker, "ms": sizes[mark.size], "mec": "white"}
        if isfinite(mark.y):
            axis.plot(mark.x, mark.y, **look)
            _draw_interval(axis, mark, colour)
        else:
            axis.plot(mark.x, 1.0, transform=edge, clip_on=False, **look | {"mfc": "white", "mec": colour})
            axis.annotate(
                mark.note, (mark.x, 1.0), (3, 7), edge, "offset points", color=colour, fontsize=8, rotation=35
            )


def _draw_interval(axis: Axes, mark: Mark, colour: str) -> None:
    """Draw the intervals as thin lines through the mark; one that is not known is not drawn."""
    for xs, ys in ((mark.x_ends, (mark.y, mark.y)), ((mark.x, mark.x), mark.y_ends)):
        if xs and ys:
            axis.plot(xs, ys, color=colour, lw=1.0, alpha=0.7, zorder=1.5)


class _PowersOfTen(LogLocator):
    """Ticks at 1, 2 and 5 times the powers of ten, or at these alone where there are many."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        self.set_params(subs=(1, 2, 5) if vmax < 1e3 * vmin else (1,))
        return super().tick_values(vmin, vmax)


def _scale(axis: Axes, x_label: str) -> None:
    """Give both axes logarithms and plain numbers."""
    axis.set(xscale="log", yscale="log", xlabel=x_label)
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_locator(_PowersOfTen())
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        side.set_minor_locator(NullLocator())
        side.set_tick_params(length=0)


def _draw_legend(
    figure: Figure, styles: Mapping[str, Style], sizes: Mapping[str, float], front: bool, columns: int, many: bool
) -> None:
    """Explain colours, markers and sizes below the panels; by families where there are many agents."""
    handles = [] if many else _agent_handles(styles)
    rest = _size_handles(sizes, front)
    if many:
        handles, columns = family_legend(styles, rest)
        rest = []
    legend = figure.legend(
        handles=handles + rest,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        **({"fontsize": 8, "handletextpad": 0.2, "columnspacing": 1.2} if many else {}),
    )
    for text in legend.get_texts() if many else ():
        text.set_fontweight("bold" if text.get_text() in HEADINGS else "normal")


def _agent_handles(styles: Mapping[str, Style]) -> list[Line2D]:
    return [
        Line2D([], [], color=colour, marker=marker, ms=8, mec="white", label=agent)
        for agent, (colour, marker) in styles.items()
    ]


def _size_handles(sizes: Mapping[str, float], front: bool) -> list[Line2D]:
    budgets = [
        Line2D([], [], ls="", marker="o", color="#8b949c", ms=size, mec="white", label=text)
        for text, size in sizes.items()
    ]
    return (budgets if len(sizes) > 1 else []) + [Line2D([], [], label="Pareto front", **_FRONT)] * front


def draw_run(title: str, run: "Run", learned: NDArray[np.float64], best: NDArray[np.int32]) -> Figure:
    """Draw the part of the map where a run went, how much was learned where, its path and a shortest one."""
    grid = run.problem.grid
    with mpl.rc_context(STYLE):
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
    """Show a square around these places, with a margin."""
    low, high = places.min(axis=0), places.max(axis=0)
    side = min(max(_LEAST_VIEW, 1.15 * float((high - low).max())), max(width, height))
    x, y = (low + high) / 2
    axis.set_xlim(x - side / 2, x + side / 2)
    axis.set_ylim(y + side / 2, y - side / 2)
    axis.set_axis_off()


_PANELS = {"mean": "expansions per move, mean over problems", "pooled": "all expansions / all moves"}


def draw_scores(title: str, scores: Sequence[Score], precomputing: Collection[str] = ()) -> Figure:
    """Draw one panel for each way of averaging; scores without a mean stand at the upper edge and say why."""
    panels = [score_panel(f"{title}, {reading}", scores, reading, precomputing) for reading in _PANELS]
    return draw_panels(panels, scores[0].measure)


def score_panel(title: str, scores: Sequence[Score], reading: str, precomputing: Collection[str] = ()) -> Panel:
    """Return a panel of scores.

    Args:
        title: what stands above it.
        scores: one mark each.
        reading: the way of averaging expansions, ``"mean"`` or ``"pooled"``.
        precomputing: the ids of agents that prepare themselves beforehand, which the legend says.
    """
    return Panel(title, _PANELS[reading], [_mark(score, reading, precomputing) for score in scores])


def _mark(score: Score, reading: str, precomputing: Collection[str]) -> Mark:
    work = score.expansions_mean if reading == "mean" else score.expansions_pooled
    agent = score.entry.agent
    return Mark(
        agent=f"{agent}, prepares" if agent in precomputing else agent,
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
