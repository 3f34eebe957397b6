"""Trade-offs of many agents in one plot: a colour per family, and names beside points wherever they have room."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import Normal, Stroke
from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from training.judge.plots import Mark

MANY = 12  # agents from which on a plot is crowded

# Families of ids, for colours and the legend only; who is in none, such as a class of one's own, is with the others.
FAMILIES: dict[str, tuple[str, ...]] = {
    "A*": (
        "astar",
        "weighted-astar",
        "repeated-astar",
        "expecting-astar",
        "late-astar",
        "capped-astar",
        "dstar-lite",
        "mpgaa",
        "frit",
    ),
    "time-bounded": ("tba", "tbaa"),
    "LRTA*": ("lrta", "rta", "lrta-k", "lrta-k-visited", "lrta-ls-k", "w-lrta-ls-k", "lrta-ls-kd", "lrts", "p-lrta"),
    "local search spaces": ("lss-lrta", "a-lss-lrta", "da-lss-lrta", "w-lss-lrta", "rtaa", "a-rtaa", "da-rtaa"),
    "depth control": ("classifier-lrta", "policy-lrta", "oracle-lrta", "rule-lrta", "think-lss", "building-block-lrta"),
    "prepared": ("knn-lrta", "hcdps", "subgoal-lrta", "pdb-lrta", "general-lrta", "pr-lrts"),
}
_OTHERS, _SIZES = "others", "sizes"
HEADINGS = {*FAMILIES, _OTHERS, _SIZES}
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#5b6770")  # after Okabe and Ito
_MARKERS = "os^DvPX<>phd8H"
_FAINT = 0.45  # how strong what is not on the front is drawn
_FONT = 7.5
_OFFSETS = [(dx, dy) for far in (5, 11, 18) for dx, dy in ((far, 0), (far, far), (far, -far), (0, far), (0, -far))]
_OFFSETS += [(-dx, dy) for dx, dy in _OFFSETS if dx]
_GAP = 22  # pixels between two notes at the upper edge

Style = tuple[str, str]  # a colour and a marker


def family_of(agent: str) -> str:
    """Return the family of an agent, as marks call it."""
    return next((family for family, ids in FAMILIES.items() if _name(agent) in ids), _OTHERS)


def _name(agent: str) -> str:
    """Return an agent without the remark that it prepares itself."""
    return agent.partition(",")[0]


def by_family(agents: Sequence[str]) -> dict[str, list[str]]:
    """Return agents under the names of their families, in the order of these."""
    groups = {family: [agent for agent in agents if family_of(agent) == family] for family in (*FAMILIES, _OTHERS)}
    return {family: members for family, members in groups.items() if members}


def family_styles(agents: Sequence[str]) -> dict[str, Style]:
    """Return a colour by family and a marker by place in it for every agent."""
    colours = dict(zip((*FAMILIES, _OTHERS), _COLOURS, strict=True))
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
            strength: dict[str, Any] = {"alpha": 1.0 if mark.front else _FAINT, "zorder": 4 if mark.front else 3}
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
        for box, place, offset in _candidates(axis, _name(agent), points[own]):
            if _is_free(axis, box, taken, points):
                _write(axis, _name(agent), place, offset, styles[agent][0])
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
