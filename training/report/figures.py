"""A figure for every experiment, as near to the paper's as its tables allow.

One colour and marker for an algorithm within a figure (colours after Okabe and Ito, which colour-blind readers can
distinguish); what a paper printed is hollow.
"""

import re
from dataclasses import replace

from training.experiments.dc.sizes import SIZES
from training.report.drawing import PAPER_OF, Bars, Curve, Drawing, Look, Plot, Printed

_BLACK, _BLUE, _SKY, _GREEN = "#33383d", "#0072b2", "#56b4e9", "#009e73"
_ORANGE, _VERMILION, _PURPLE, _GREY = "#e69f00", "#d55e00", "#cc79a7", "#8a9299"

_OURS, _PAPER = Look(_BLUE), Look(_BLACK, "s", True, "--")
_FIXED, _TREE, _ORACLE = Look(_BLACK), Look(_BLUE, "^"), Look(_ORANGE, "v")
_MODE_I = Look(_VERMILION, "P")
_WORK, _QUALITY = "expansions per move, mean over problems", "suboptimality"
_NO_NUMBERS = "The paper prints no numbers for this figure."
_LOG = "Both axes are logarithmic here, so that all agents fit."


def _agent(label: str, look: Look, rows: str, work: str = "exp. mean") -> Curve:
    """Return suboptimality over expansions per move."""
    return Curve(label, look, "subopt. mean", work, rows)


_DEPTHS = r"lrta depth=(?:(?P<tag>1|2|4|8|12|16|20|30)|\d+) "
_FIXED_DEPTHS = _agent("LRTA*, fixed depth (label: depth)", _FIXED, _DEPTHS)
_TREES = _agent("classifier (label: d_max)", _TREE, r"classifier-lrta policy=paper-(?P<order>(?P<tag>\d+)) ")
_ORACLES = _agent("oracle (label: d_max)", _ORACLE, r"oracle-lrta d_max=(?P<tag>\d+) ")
_P_LRTA = _agent("P LRTA*", Look(_GREEN, "D"), "p-lrta queue=")
_K_LRTA = _agent("K LRTA*", Look(_PURPLE, "X"), "lss-lrta lookahead=")
_TBA = _agent("TBA* (label: R)", Look(_BLUE, "^"), r"tba R=(?:(?P<tag>10|25|50|100|1000)|\d+) ")
_PR_LRTS = replace(_agent("PR LRTS, all settings", Look(_SKY, "s", line=""), "pr-lrts "), intervals=False)


def _database(mode: str, look: Look) -> Curve:
    rows = rf"pdb-lrta level=(?P<tag>\d+) cap=\d+ mode={mode} \|"
    return _agent(f"D LRTA*, mode {mode} (label: level)", look, rows)


_TO_THE_LETTER = _agent(
    "D LRTA*, mode I, to the letter (label: level)",
    Look(_GREY, "o", line=""),
    r"pdb-lrta level=(?P<tag>\d+) cap=\d+ mode=I subgoal=first keep=False ",
)


# --- TBA* ---

_LIMITS = (10, 25, 50, 100, 200, 500, 1000)


def _by_limit(title: str, y: str, curves: tuple[Curve, ...], scale: str, *printed: Printed, table: str = "") -> Plot:
    """Return something over the resource limit R."""
    return Plot(title, table or title, curves, "resource limit R", y, scale, printed, ticks=_LIMITS)


_TB_T1 = Drawing(
    (
        _by_limit(
            "Suboptimality of acting early and late",
            _QUALITY,
            (
                Curve("late-acting A*, ours", Look(_ORANGE, "s"), "late", "R"),
                Curve("late-acting A*, paper", Look(_ORANGE, "s", True, "--"), f"{PAPER_OF}late", "R"),
                Curve("TBA*, ours", Look(_BLUE, "^"), "early", "R"),
                Curve("TBA*, paper", Look(_BLUE, "^", True, "--"), f"{PAPER_OF}early", "R"),
            ),
            "log log",
        ),
    ),
    "The paper's Table 1 as a plot: suboptimality over R, rows E (TBA*, acts early) and L (acts late).",
)
_TB_F3 = Drawing(
    (
        Plot(
            "Suboptimality over work, at most 1000 expansions for any move",
            "All settings, learning operations and scans per move",
            (_FIXED_DEPTHS, _P_LRTA, _K_LRTA, _TBA),
            _WORK,
            _QUALITY,
        ),
    ),
    f"Axes as in the paper's Figure 3, but logarithmic, so that all agents fit. {_NO_NUMBERS}",
    size=(7.6, 4.8),
)
_TB_F4 = Drawing(
    (
        Plot(
            "Suboptimality over work, at most 1000 expansions for any move",
            "All settings",
            (_PR_LRTS, _TBA, _database("I", replace(_MODE_I, line=""))),
            _WORK,
            _QUALITY,
            "linear linear",
            cut_off=1000,
            limits=(0, 35, 1, 4),
            front=True,
        ),
    ),
    "As in the paper's Figure 4 the axes are linear and end near the origin; settings outside are in the table."
    f" {_NO_NUMBERS}",
    size=(7.6, 4.8),
)
_TB_E1 = Drawing(
    (
        _by_limit(
            "Problems in which the agent is off the solution when it is found",
            "% of problems",
            (Curve("TBA*, ours", Look(_BLUE, "^"), "off the solution", "R"),),
            "log linear",
            Printed("paper: about 5 %, all R together", Look(_BLACK, "", line="--"), ((10, 5), (1000, 5))),
            table="Suboptimality without and with shortcuts",
        ),
        _by_limit(
            "Slices until the solution is found",
            "slices",
            (Curve("TBA*, ours", Look(_BLUE, "^"), "slices", "R"),),
            "log log",
            Printed("paper", _PAPER, ((10, 700), (100, 70), (1000, 7))),
            table="Suboptimality without and with shortcuts",
        ),
    ),
    "The paper has no figure for it; its numbers stand in the text. With and without shortcuts, suboptimality differs"
    " by less than a line's width and is not drawn.",
    across=2,
    size=(5.2, 3.8),
)
_TB_E2 = Drawing(
    (
        _by_limit(
            "Suboptimality with the threshold, over that without",
            "ratio",
            (Curve("ours", _OURS, "with over without", "R"), Curve("paper", _PAPER, "paper", "R")),
            "log linear",
            table="Suboptimality without and with the threshold",
        ),
    ),
    "The paper has no figure for it, only the words that paths are about 2 % shorter up to R = 100. Below 1 the"
    " threshold helps.",
)


def _weighted(weight: str, look: Look, work: str = "") -> Curve:
    """Return suboptimality over R, or over a column of work."""
    rows = (
        rf"tba R=(?P<x>(?P<tag>\d+)) r=0.9 c=10 weight={weight} " if work else rf"tba R=(?P<x>\d+) .*weight={weight} "
    )
    return Curve(f"weight {weight}", look, "subopt. mean", work, rows)


_WEIGHTS = {"1": Look(_BLUE, "^"), "1.5": Look(_GREEN, "D"), "2": Look(_ORANGE, "s"), "3": Look(_VERMILION, "P")}
_TB_WA = Drawing(
    (
        _by_limit(
            "Suboptimality over the limit R",
            _QUALITY,
            tuple(_weighted(weight, look) for weight, look in _WEIGHTS.items()),
            "log log",
            table="All settings",
        ),
        Plot(
            "Suboptimality over work (label: R)",
            "All settings",
            tuple(_weighted(weight, look, "exp. mean") for weight, look in _WEIGHTS.items()),
            _WORK,
            _QUALITY,
        ),
    ),
    "TBA* around A* with a weighted heuristic; weight 1 is TBA*. The paper has no such figure.",
    across=2,
    size=(5.4, 4.2),
)

# --- D* Lite ---

_QUEUES = (("heap, larger g", "heap-larger-g"), ("buckets", "buckets"), ("heap, smaller g", "heap-smaller-g"))


def _queues(title: str, name: str, label: str) -> Bars:
    columns = (("ours", _OURS, name), ("paper", _PAPER, f"{PAPER_OF}{name}"))
    return Bars(title, "Until the goal is reached", _QUEUES, columns, label)


_DL_T1 = Drawing(
    (
        _queues("Cells expanded until the goal is reached", "expanded cells", "cells"),
        _queues("Time until the goal is reached", "time in µs", "µs"),
    ),
    "The paper's Table 1 as bars. Machines differ, so only ratios of times are compared.",
    across=2,
    size=(5.2, 2.8),
)
_DL_F2 = Drawing(
    (
        Bars(
            "Cells per search",
            "Cells per search",
            (
                ("expanded by D* Lite", "expanded by D"),
                ("goal distance changed", "goal distance changed"),
                ("expanded by backward A*", "expanded by backward"),
                ("changed, and expanded by A*", "changed, and"),
            ),
            (("mean", _OURS, "mean"),),
            "cells",
            "log",
        ),
        Bars(
            "Of the cells that D* Lite expands, the share",
            "Of the cells that D* Lite expands, the share",
            (
                ("whose goal distance changed", "whose"),
                ("that backward A* expands", "that backward"),
                ("of both kinds", "of both"),
                ("not expanded before", "that no earlier"),
            ),
            (("mean", _OURS, "mean"),),
            "share",
        ),
    ),
    "The paper's Figures 1 and 2 are drawings of one small map; these are the same quantities, measured on mazes.",
    across=2,
    size=(5.6, 2.6),
)

# --- Subgoal trees ---


def _online(title: str, name: str, label: str) -> Bars:
    rows = (
        ("A*", "astar "),
        ("LRTA*", "lrta "),
        ("LRTA* with subgoals", r"subgoal-lrta \|"),
        ("same, first=sub (ours)", "subgoal-lrta first=sub "),
    )
    columns = (("ours", _OURS, name), ("paper", _PAPER, f"{PAPER_OF}{name}"))
    return Bars(title, "Means over problems, but medians of the first search; times in µs", rows, columns, label, "log")


_SG_F2 = Drawing(
    (
        _online("Cost of the path", "cost", "cost"),
        _online("Time of the first search (ours: median)", "first search", "µs"),
        _online("Total time of planning", "total", "µs"),
    ),
    "The paper's Figure 2, a table, as bars on logarithmic axes. Machines differ, so only ratios of times are"
    " compared.",
    across=3,
    size=(4.2, 3.2),
)
_TREES_BY_MAP = "Trees by map, without their roots"
_SG_PRE = Drawing(
    (
        Plot(
            "Nodes of a tree",
            _TREES_BY_MAP,
            (
                Curve("a map of ours", Look(_BLUE, line=""), "nodes, mean", "free cells", "(?!mean|paper)"),
                Curve("mean of our maps", Look(_VERMILION, "D"), "nodes, mean", "free cells", "mean"),
                Curve("paper, mean of its maps", _PAPER, "nodes, mean", "free cells", "paper"),
            ),
            "free cells of the map",
            "nodes, mean over trees",
        ),
        Plot(
            "Time for all trees of a map",
            _TREES_BY_MAP,
            (
                Curve("a map of ours", Look(_BLUE, line=""), "all trees, s", "free cells", "(?!mean|paper)"),
                Curve("mean of our maps", Look(_VERMILION, "D"), "all trees, s", "free cells", "mean"),
                Curve("paper, mean of its maps", _PAPER, "all trees, s", "free cells", "paper"),
            ),
            "free cells of the map",
            "seconds",
        ),
    ),
    "The paper prints means over its eight maps, and no figure. Its times are of a Pentium at 2.33 GHz.",
    across=2,
    size=(5.2, 3.8),
)
_PLANNERS = (
    ("subgoal trees", "subgoal-lrta"),
    ("kNN, 10,000 records", "knn-lrta records=10000"),
    ("kNN, 1000 records", "knn-lrta records=1000 "),
)
_SG_KNN = Drawing(
    (
        Bars(
            "Mean suboptimality",
            "Suboptimality",
            _PLANNERS,
            (("ours", _OURS, "mean of ratios"), ("paper", _PAPER, "paper")),
            _QUALITY,
            start=1,
        ),
        Bars(
            "Median suboptimality", "All measures", _PLANNERS, (("ours", _OURS, "subopt. median"),), _QUALITY, start=1
        ),
    ),
    "The paper prints the means in its text. The medians leave out the few problems without a usable record.",
    across=2,
    size=(5.2, 2.8),
)

_PATTERNS = (
    ("subgoal trees", "subgoal-lrta"),
    ("D LRTA*, level 3", "pdb-lrta level=3 "),
    ("D LRTA*, level 5", "pdb-lrta level=5 "),
)
_PREPARED = (("all subgoal trees", "all trees"), *_PATTERNS[1:])
_SG_DLRTA = Drawing(
    (
        Bars("Mean suboptimality", "Suboptimality", _PATTERNS, (("ours", _OURS, "mean of ratios"),), _QUALITY, start=1),
        Bars("Expansions per move", "All measures", _PATTERNS, (("ours", _OURS, "exp. mean"),), _WORK),
        Bars("Preparation, mean of the maps", "Seconds of precomputation", _PREPARED, (("ours", _OURS, "mean"),), "s"),
    ),
    "The paper says that quality and preparation are comparable, and that level 5 needs 19.98 more expansions. It"
    " has no figure.",
    across=3,
    size=(4.2, 2.4),
)


def _under(title: str, name: str, label: str) -> Bars:
    rows = (
        ("LRTA*", r"lrta depth=1 "),
        ("LRTA* with trees", r"subgoal-lrta \|"),
        *((f"LSS-LRTA*({n})", f"lss-lrta lookahead={n} ") for n in (10, 40)),
        *((f"LSS-LRTA*({n}) with trees", f"subgoal-lrta step=lss-lrta lookahead={n} ") for n in (10, 40)),
        *((f"LRTA*(k={k})", f"lrta-k k={k} ") for k in (10, 40)),
        *((f"LRTA*(k={k}) with trees", f"subgoal-lrta step=lrta-k k={k} ") for k in (10, 40)),
    )
    return Bars(title, "Means over problems", rows, (("ours", _OURS, name),), label, "log")


_SG_UNDER = Drawing(
    (_under("Cost of the path", "cost", "cost"), _under("Time of planning", "time of planning, µs", "µs")),
    "With and without subgoal trees, on logarithmic axes. The paper has no such figure.",
    across=2,
    size=(5.4, 3.8),
)


def _small(title: str, x: str, label: str, *curves: tuple[str, Look, str]) -> Plot:
    found = tuple(Curve(name, look, "cost over that of whole trees", x, rows) for name, look, rows in curves)
    return Plot(title, "Trees and paths", found, label, "cost over that of whole trees")


_WHOLE = ("whole trees, one for a goal", Look(_BLACK, "D"), r"subgoal-lrta \|")
_BOTH = ("both", Look(_GREEN, "s"), "subgoal-lrta least=30 share=2 ")
_SG_SMALLER = Drawing(
    (
        _small(
            "Without small branches (label: states)",
            "nodes of a tree",
            "nodes of a tree, mean",
            ("without small branches", Look(_BLUE), r"subgoal-lrta least=(?P<tag>\d+) \|"),
            _WHOLE,
            _BOTH,
        ),
        _small(
            "One tree for a region (label: level)",
            "trees, % of cells",
            "trees, % of cells",
            ("one tree for a region", Look(_VERMILION, "P"), r"subgoal-lrta share=(?P<tag>\d+) \|"),
            _WHOLE,
            _BOTH,
        ),
    ),
    "Ours: the paper names smaller trees and grouping as future work. Below and left is better.",
    across=2,
    size=(5.2, 3.9),
)

# --- Dynamic control ---

_DC_F5 = Drawing(
    (Plot("LRTA* with a fixed depth", "LRTA* with a fixed depth", (_FIXED_DEPTHS,), _WORK, _QUALITY),),
    f"The uppermost curve of the paper's Figure 5, with more depths. {_LOG} {_NO_NUMBERS}",
)


def _learned(table: str, lowest: float, highest: float) -> Plot:
    curves = (
        _FIXED_DEPTHS,
        _ORACLES,
        _TREES,
        _agent("classifier, ties by order", Look(_SKY, "<"), r"classifier-lrta policy=ordered-(?P<tag>\d+) "),
        _agent("24 features (ours)", Look(_GREEN, "D"), "classifier-lrta policy=rich-20 "),
        _agent("24 features, ties by order (ours)", Look(_PURPLE, "P"), "classifier-lrta policy=rich-ordered-20 "),
    )
    return Plot(table, table, curves, _WORK, _QUALITY, limits=(10, 2000, lowest, highest))


_DC_F5_LEARNED = Drawing(
    (
        Plot(
            "Maps with deep depressions",
            "Maps with deep depressions",
            (_FIXED_DEPTHS, _ORACLES, _TREES),
            _WORK,
            _QUALITY,
            limits=(10, 2000, 1.1, 6),
        ),
        _learned("Maps it learned on", 1, 6),
        _learned("Unseen maps", 1.2, 20),
    ),
    "Figure 5 of the paper without pattern databases: from as many samples as it has, with other trees, and on unseen"
    f" maps. {_LOG} {_NO_NUMBERS}",
    across=3,
    size=(4.6, 4.2),
)
_DATABASES = (
    _FIXED_DEPTHS,
    _TREES,
    _database("G", Look(_ORANGE, "s")),
    _database("GI", Look(_PURPLE, "D")),
    _database("I", _MODE_I),
    _TO_THE_LETTER,
)
_DC_F6 = Drawing(
    (
        Plot("Pattern databases beside fixed depths", "Pattern databases", _DATABASES, _WORK, _QUALITY),
        Plot(
            "Zoom",
            "Pattern databases",
            _DATABASES,
            _WORK,
            _QUALITY,
            "linear linear",
            limits=(0, 80, 0.98, 1.6),
        ),
    ),
    f"Figures 5 and 6 of the paper in one. The left axes are logarithmic here, so that all agents fit. {_NO_NUMBERS}",
    across=2,
    size=(5.8, 4.6),
)
_PAPER_MODE_I = Look(_VERMILION, "o", True, "--")
_DC_F7 = Drawing(
    (
        Plot(
            "512 x 512 maps: pattern databases beside fixed depths",
            "All settings",
            (
                _FIXED_DEPTHS,
                _database("G", Look(_ORANGE, "s")),
                _database("I", _MODE_I),
                _TO_THE_LETTER,
                Curve(
                    "D LRTA*, mode I, paper's Table 2 (label: level)",
                    _PAPER_MODE_I,
                    f"{PAPER_OF}subopt. of I",
                    f"{PAPER_OF}exp. of I",
                    r"(?P<tag>\d+) ",
                    table=SIZES,
                ),
            ),
            _WORK,
            _QUALITY,
        ),
    ),
    "Figure 7 of the paper without its classifier, which is DC-F7-LEARNED; both axes are logarithmic here. The hollow"
    " points are those of the paper's Table 2, of one map; ours are of three.",
    size=(7.6, 4.8),
)


def _by_size(table: str) -> Plot:
    return Plot(table, table, (_FIXED_DEPTHS, _ORACLES, _TREES), _WORK, _QUALITY, limits=(None, None, 0.9, 200))


_DC_F7_LEARNED = Drawing(
    (_by_size("Small maps"), _by_size("Large maps")),
    f"The classifier of the paper's Figure 7, with the small maps beside the large ones. {_LOG} {_NO_NUMBERS}",
    across=2,
    size=(5.4, 4.4),
)
_UNDER_1000 = "Settings whose worst move takes at most 1000 expansions"
_TABLE_2 = Printed("D LRTA*, mode I, level 4, paper's Table 2", _PAPER_MODE_I, ((16, 1.11),))
_DC_F8 = Drawing(
    (
        Plot(
            "All settings within 1000 expansions for any move",
            _UNDER_1000,
            (
                _FIXED_DEPTHS,
                _PR_LRTS,
                _P_LRTA,
                _K_LRTA,
                _database("GI", Look(_ORANGE, "v")),
                _database("I", _MODE_I),
                _TO_THE_LETTER,
            ),
            _WORK,
            _QUALITY,
            printed=(_TABLE_2,),
            front=True,
        ),
        Plot(
            "Zoom: level 4",
            _UNDER_1000,
            (
                _agent(
                    "PR LRTS, gamma 1 (label: depth)", Look(_SKY, "s"), r"pr-lrts level=4 depth=(?P<tag>[135]) gamma=1"
                ),
                _agent("D LRTA*, mode I (label: level)", _MODE_I, r"pdb-lrta level=(?P<tag>4) cap=16 mode=I \|"),
            ),
            _WORK,
            _QUALITY,
            "linear linear",
            (_TABLE_2,),
            limits=(0, 35, 1, None),
        ),
    ),
    "Figure 8 of the paper with its zoomed part. The left axes are logarithmic here, so that all agents fit. The one"
    " printed point is that of Table 2, of one map and with a cap of 30.",
    across=2,
    size=(5.8, 4.6),
)


def _accuracy(table: str) -> Plot:
    each, one = r"paper-(?P<x>\d+) ", r"one-log-(?P<x>\d+) "
    curves = (
        Curve("a log for every d_max", Look(_BLUE, "^"), "accuracy", rows=each),
        Curve("its most frequent label", Look(_BLUE, "", line=":"), "most frequent label", rows=each),
        Curve("one log of d_max 20", Look(_VERMILION, "s"), "accuracy", rows=one),
        Curve("most frequent label of one log", Look(_BLACK, "", line=":"), "most frequent label", rows=one),
    )
    printed = (Printed("paper", _PAPER, ((5, 0.72), (20, 0.44))),)
    values = (5, 10, 15, 20)
    return Plot(
        table, table, curves, "d_max", "accuracy", "linear linear", printed, limits=(None, None, 0, 1), ticks=values
    )


_DC_ACCURACY = Drawing(
    (_accuracy("Maps with deep depressions"), _accuracy("Warcraft maps"), _accuracy("Six maps")),
    "The paper prints the two accuracies of d_max 5 and 20, and no figure. A curve on its dotted line has learned"
    " nothing beyond which label is the most frequent.",
    across=3,
    size=(5.2, 3.9),
)


def _histories(y: str, title: str, label: str, scale: str) -> Plot:
    looks = {10: _BLUE, 20: _VERMILION}
    curves = tuple(
        curve
        for d_max, colour in looks.items()
        for curve in (
            Curve(f"four features, d_max {d_max}", Look(colour, "o"), y, rows=rf"d{d_max}-n(?P<x>\d+) "),
            Curve(f"24 features, d_max {d_max}", Look(colour, "*", line=""), y, rows=f"d{d_max}-features ", at=20),
        )
    )
    table = "Accuracy on maps it learned on, ratio on unseen maps"
    return Plot(title, table, curves, "length n of the history, steps", label, scale, ticks=(5, 10, 20, 40, 80))


_DC_N = Drawing(
    (
        _histories("accuracy", "Accuracy, maps it learned on", "accuracy", "log linear"),
        _histories(
            "ratio mean", "Against fixed depths, unseen maps", "expansions of fixed depths / its own", "log log"
        ),
    ),
    "The paper has n = 20 alone, and no figure. Right: above 1 the tree beats fixed depths.",
    across=2,
    size=(5.2, 3.9),
)

# --- What dynamic control leaves open ---


def _fixed_design(design: int, goal: str, look: Look) -> Curve:
    rows = rf"general-lrta depth=(?P<tag>\d+) design={design} "
    return _agent(f"{design}: fixed depth (label), {goal}", look, rows)


_DC_DESIGNS = Drawing(
    (
        Plot(
            "Suboptimality over work",
            "Designs",
            (
                _FIXED_DEPTHS,
                _fixed_design(3, "GI by database", Look(_ORANGE, "s")),
                _fixed_design(4, "I by database", _MODE_I),
                _fixed_design(5, "GI by classifier", Look(_SKY, "<")),
                _fixed_design(6, "I by classifier", Look(_BLUE, "^")),
                _agent(
                    "7, 8, 9: depth by database",
                    Look(_GREEN, "D", line=""),
                    r"general-lrta design=(?P<tag>[789]) ",
                ),
                _agent(
                    "10, 11, 12: depth by classifier",
                    Look(_PURPLE, "X", line=""),
                    r"general-lrta design=(?P<tag>1[012]) ",
                ),
            ),
            _WORK,
            _QUALITY,
        ),
    ),
    f"Below and left of the curve of fixed depths is better. {_LOG} The paper has no such figure.",
    size=(7.6, 4.8),
)


def _controlled(title: str, rows: str) -> Plot:
    """Return PR LRTS without and with dynamic control."""
    curves = (
        _agent("fixed depth (label: level, or largest depth)", Look(_SKY, "s"), rf"pr-lrts {rows} gamma=1.0 †"),
        _agent("dynamic control", _MODE_I, rf"pr-lrts {rows} gamma=1.0 control=dynamic"),
    )
    return Plot(title, "PR LRTS", curves, _WORK, _QUALITY)


_DC_PR = Drawing(
    (
        _controlled("Depth 5, by level", r"level=(?P<tag>\d) depth=5"),
        _controlled("Level 4, by largest depth", r"level=4 depth=(?P<tag>\d+)"),
    ),
    f"PR LRTS on maps of 512 x 512, gamma 1. {_LOG} The paper conjectures the gain and has no figure of it.",
    across=2,
    size=(5.4, 4.0),
)
_RTA_TICKS = (1, 2, 3, 4, 6, 8, 10, 12)


def _both_by_depth(name: str) -> Plot:
    curves = (
        Curve("LRTA*", _FIXED, "subopt. mean", rows=r"lrta depth=(?P<x>\d+) "),
        Curve("RTA*", _MODE_I, "subopt. mean", rows=r"rta depth=(?P<x>\d+) "),
    )
    return Plot(name, f"All depths, {name}", curves, "depth", _QUALITY, "linear log", ticks=_RTA_TICKS)


_DC_RTA = Drawing(
    (
        _both_by_depth("171 x 171"),
        _both_by_depth("unseen maps"),
        Plot(
            "RTA* over LRTA*",
            "RTA* over LRTA*, 171 x 171",
            tuple(
                Curve(name, look, "suboptimality of RTA* over LRTA*", "depth", table=f"RTA* over LRTA*, {name}")
                for name, look in (("171 x 171", _OURS), ("unseen maps", Look(_VERMILION, "s")))
            ),
            "depth",
            "ratio of suboptimalities",
            "linear linear",
            ticks=_RTA_TICKS,
        ),
    ),
    "Below 1 RTA* is ahead. The paper says in words that beyond depth 1 there is no difference.",
    across=3,
    size=(4.0, 3.6),
)


def _regions_of(name: str, modes: str) -> Plot:
    looks = {"I": (_MODE_I, Look(_VERMILION, "P", True, "--")), "G": (Look(_BLUE, "s"), Look(_BLUE, "s", True, "--"))}
    rows = r"pdb-lrta level=(?P<tag>\d+) cap=\d+ mode="
    curves = tuple(
        curve
        for mode in modes
        for curve in (
            _agent(f"cliques, mode {mode} (label: level)", looks[mode][0], rf"{rows}{mode} (?!.*tiles)"),
            _agent(f"tiles, mode {mode} (label: level)", looks[mode][1], rf"{rows}{mode} .*abstraction=tiles"),
        )
    )
    fixed = (_FIXED_DEPTHS,) if len(modes) > 1 else ()
    return Plot(name, f"Cliques and tiles, {name}", (*fixed, *curves), _WORK, _QUALITY)


_DC_TILES = Drawing(
    (_regions_of("171 x 171", "GI"), _regions_of("512 x 512", "I")),
    f"Tiles are hollow. {_LOG} The paper uses cliques and has no such figure.",
    across=2,
    size=(5.4, 4.4),
)
_DC_STORED = Drawing(
    (
        Plot(
            "Problems in which the goal is reached",
            "Share of problems in which the goal is reached, by what is stored",
            (
                Curve("depths (D LRTA*, mode G)", Look(_GREEN, "D"), "depths", "level"),
                Curve("values, with learning", Look(_ORANGE, "v"), "values, learning", "level"),
                Curve("values", Look(_BLUE, "s"), "values", "level"),
                Curve("actions", Look(_VERMILION, "X"), "actions", "level"),
            ),
            "level of abstraction",
            "share of problems",
            "linear linear",
            limits=(None, None, -0.03, 1.05),
        ),
    ),
    "Level 0 stores for every pair of cells. The paper's Figure 2 is a drawing of one such place.",
)

# --- Lookahead and propagation ---

_LS_LOOKS = {
    "LRTA*_LS(10)": Look(_SKY, "^"),
    "LRTA*_LS(40)": Look(_BLUE, "s"),
    "LRTA*_LS(160)": Look(_GREEN, "D"),
    "LRTA*": Look(_VERMILION, "v"),
    "RTAA*": Look(_ORANGE, "P"),
}


def _over_lookahead(*parts: str, across: int = 2) -> Drawing:
    """Return cost and time over the lookahead: two panels for every part of an experiment."""
    curves = tuple(Curve(label, look, label, "d") for label, look in _LS_LOOKS.items())
    panels = tuple(
        Plot(
            part,
            f"{part}: {measure}",
            curves,
            "lookahead d",
            measure,
            "log linear",
            ticks=(2, 4, 8, 16, 32, 64, 128),
        )
        for part in parts
        for measure in ("cost", "time in ms")
    )
    caption = (
        "Cost and time of planning over the lookahead d, on linear axes, as the paper's words describe its plots; it"
        " prints no numbers."
    )
    return Drawing(panels, caption, across=across, size=(2.9, 2.5) if across == 4 else (4.4, 3.2))


def _lrts(trials: str) -> Bars:
    rows = tuple((f"depth {depth}", rf"{depth} \| first ") for depth in (2, 3, 4, 6))
    columns = (("ours", _OURS, "cost"), ("paper", _PAPER, f"{PAPER_OF}cost"))
    return Bars(f"LRTS on mazes, {trials}", f"LRTS, {trials}", rows, columns, "cost")


_LS_T1 = Drawing(
    (_lrts("first trial"), _lrts("convergence")),
    "The costs of the paper's Table 1 as bars, with the first of equal moves; random ties are in the tables.",
    across=2,
    size=(5.2, 3.4),
)


def _versions(table: str) -> Plot:
    looks = {"single": (_BLUE, "o"), "dynamic": (_VERMILION, "D"), "several": (_GREEN, "s")}
    curves = tuple(
        Curve(
            f"{control} moves, {lookahead} lookahead",
            Look(colour, marker if lookahead == "dynamic" else "x+*"[number], line=""),
            "cost",
            "time in ms",
            rf"{lookahead} \| {control} ",
        )
        for number, (control, (colour, marker)) in enumerate(looks.items())
        for lookahead in ("dynamic", "static")
    )
    return Plot(table, table, curves, "time in ms", "cost", "linear linear", limits=(0, None, 0, None))


_LS_V6 = Drawing(
    tuple(
        _versions(f"{name}, {trials}")
        for name in ("Maze", "Baldur's Gate")
        for trials in ("first trial", "convergence")
    ),
    "Cost over time of the six versions, k = 40 and d = 16. The paper tells this in words alone.",
    across=2,
    size=(5.0, 3.2),
)

# --- Trained networks ---


def _controllers(networks: dict[str, tuple[Look, str]]) -> Drawing:
    """Return networks beside fixed depths, rules, the tree and the oracle, by both averages of expansions."""
    agents = {
        "LRTA*, fixed depth (label: depth)": (_FIXED, _DEPTHS),
        "rules": (Look(_GREY, "X", line=""), "rule-lrta "),
        "tree of 24 features": (_TREE, "classifier-lrta "),
        "oracle, d_max 20": (_ORACLE, "oracle-lrta d_max=20 "),
    }
    panels = tuple(
        Plot(
            f"Unseen maps, expansions {average}",
            "Unseen maps",
            tuple(_agent(label, look, rows, f"exp. {average}") for label, (look, rows) in (agents | networks).items()),
            says,
            _QUALITY,
            limits=(10, 2000, 1.2, 20),
        )
        for average, says in (("mean", _WORK), ("pooled", "expansions per move, all over all moves"))
    )
    caption = "Unseen maps, by both averages of expansions. Every seed is shown; below and left of the curve is better."
    return Drawing(panels, caption, across=2, size=(5.4, 4.4))


_RL_CONTROLLERS = _controllers(
    {
        "networks that deepen": (Look(_VERMILION, "P", line=""), "policy-lrta policy=deepen-"),
        "networks that choose the depth": (Look(_GREEN, "D", line=""), "policy-lrta policy=depth-"),
    }
)
_RL_PPO = _controllers({"networks trained by PPO": (Look(_PURPLE, "s", line=""), "policy-lrta policy=ppo-")})

# --- What the papers leave open ---

_FAMILIES = (
    "D* Lite",
    "repeated A*",
    "TBA*",
    "LRTA*",
    "LSS-LRTA*",
    "RTAA*",
    "LRTA*(k)",
    "LRTA*_LS(k, d)",
    "LRTA* with subgoals",
    "D LRTA*, mode G",
    "D LRTA*, mode I",
    "PR LRTS",
    "kNN LRTA*",
)


def _changed(kind: str) -> Bars:
    rows = tuple((name, rf"{re.escape(name)} \|") for name in _FAMILIES)
    columns = (
        ("known map", _OURS, f"{kind} known map"),
        ("vision 5", Look(_ORANGE, hollow=True), f"{kind} vision 5"),
    )
    return Bars(kind, "Cost over that of D* Lite", rows, columns, "cost over D* Lite's", "log")


_EX_CHANGING = Drawing(
    tuple(map(_changed, ("bridge", "door", "blockers"))),
    "Mean cost over that of D* Lite; no bar where a run failed.",
    across=3,
    size=(4.4, 5.2),
)


def _varied(title: str, rows: tuple[str, ...], name: str, start: float = 0) -> Bars:
    """Return what becomes of a headline number."""
    named = tuple((row, rf"{re.escape(row)} \|") for row in rows)
    return Bars(title, title, named, (("ours", _OURS, name),), name, start=start)


_CORNERS = ("strict", "one", "free")
_EX_ABLATIONS = Drawing(
    (
        *(
            panel
            for title, rows in (("Corner rule", _CORNERS), ("Ties", ("first", "random")))
            for panel in (
                _varied(title, rows, "SG: subgoals / A*", 1),
                _varied(title, rows, "DC: ratio, mean"),
                _varied(title, rows, "LS: LRTA*_LS / RTAA*"),
            )
        ),
        _varied("Patience of the guard", ("default", "1", "10", "50", "without end"), "DC: subopt.", 1),
        _varied("Moves for each search", ("all", "one"), "LS: LRTA*_LS / RTAA*"),
        _varied("Moves for each search", ("all", "one"), "LS: LRTA*_LS / LSS-LRTA*"),
    ),
    "What each choice does to a headline number, all else being equal; no bar where a run failed. Maps are in the"
    " tables.",
    across=3,
    size=(4.0, 2.0),
)

_ON_THE_BOARD = (
    "lrta",
    "rta",
    "rtaa",
    "p-lrta",
    "tba",
    "da-rtaa",
    "tbaa",
    "building-block-lrta, genes-0",
    "building-block-lrta, genes-1",
    "building-block-lrta, genes-2",
)


def _board(place: str) -> Bars:
    rows = tuple(
        (name.removeprefix("building-block-lrta, "), rf"{re.escape(name)}( \(learned\))? \|") for name in _ON_THE_BOARD
    )
    columns = (
        ("1 scan per move", Look(_VERMILION), "1 scan"),
        ("3", Look(_ORANGE), "3 scans"),
        ("10", Look(_BLUE), "10 scans"),
    )
    table = f"{place}: mean suboptimality under a limit per move"
    return Bars(place, table, rows, columns, "suboptimality", "log")


def _boards(place: str) -> Drawing:
    """Return the figure of a leaderboard."""
    panels = tuple(_board(f"{place}, {known}") for known in ("known map", "vision 1", "vision 5"))
    return Drawing(panels, _BOARDS, across=3, size=(4.4, 6.2))


_BOARDS = (
    "Mean suboptimality under hard limits per move, the genes evolved for each limit beside the best agents of the"
    " papers and of their successors."
)

_AT_TWO = Drawing(
    (
        Bars(
            "Over LRTA*",
            "Genes at two scans per move over LRTA*",
            tuple(
                (f"{place}, {known}", rf"{place}, {known} \|")
                for place in ("mixed-test", "game maps")
                for known in ("known map", "vision 1", "vision 5")
            ),
            tuple(
                (f"genes-{seed}", Look(colour), f"genes-{seed} over it")
                for seed, colour in enumerate((_BLUE, _ORANGE, _VERMILION))
            ),
            "ratio of mean suboptimalities",
        ),
    ),
    "The mean suboptimality of genes evolved for two scans per move over that of LRTA*, three seeds.",
    size=(7.2, 3.6),
)

_SUCCEEDING = (
    ("aLSS-LRTA*, 8", "a-lss-lrta lookahead=8 "),
    ("daLSS-LRTA*, 8", "da-lss-lrta lookahead=8 "),
    ("wLSS-LRTA*, 8, w 4", "w-lss-lrta lookahead=8 weight=4 "),
    ("aRTAA*, 8", "a-rtaa lookahead=8 "),
    ("daRTAA*, 8", "da-rtaa lookahead=8 "),
    ("daLSS-LRTA*, 64", "da-lss-lrta lookahead=64 "),
    ("wLSS-LRTA*, 64, w 4", "w-lss-lrta lookahead=64 weight=4 "),
    ("daRTAA*, 64", "da-rtaa lookahead=64 "),
    ("wLRTA*_LS(40), w 4", "w-lrta-ls-k k=40 weight=4 "),
    ("FRIT(RTAA*), 8", "frit search=rtaa lookahead=8 "),
    ("FRIT(daRTAA*), 8", "frit lookahead=8 "),
    ("TBAA*, R 10", "tbaa R=10 "),
    ("TBAA*, R 100", "tbaa R=100 "),
    ("MPGAA*, time", "mpgaa "),
    ("HCDPS / kNN", "hcdps .* knn-lrta"),
)
_EX_SUCCESSORS = Drawing(
    (
        Bars(
            "Successors over their bases",
            "Successors over their bases",
            tuple((name, rf".* of {pattern}.* \|") for name, pattern in _SUCCEEDING),
            (("mixed-test", Look(_BLUE), "mixed-test ratio"), ("game maps", Look(_ORANGE), "game maps ratio")),
            "ratio of mean costs (MPGAA*: of planning times); below 1 is a gain",
            "log",
        ),
    ),
    "What a successor costs over what its base costs, with the same lookahead, in fog seen one cell far; HCDPS on known"
    " maps.",
    size=(7.2, 6.4),
)

FIGURES = {
    "tb-t1": _TB_T1,
    "tb-f3": _TB_F3,
    "tb-f4": _TB_F4,
    "tb-e1": _TB_E1,
    "tb-e2": _TB_E2,
    "tb-wa": _TB_WA,
    "dl-t1": _DL_T1,
    "dl-f2": _DL_F2,
    "sg-f2": _SG_F2,
    "sg-pre": _SG_PRE,
    "sg-knn": _SG_KNN,
    "sg-dlrta": _SG_DLRTA,
    "sg-under": _SG_UNDER,
    "sg-smaller": _SG_SMALLER,
    "dc-f5": _DC_F5,
    "dc-f5-learned": _DC_F5_LEARNED,
    "dc-f6": _DC_F6,
    "dc-f7": _DC_F7,
    "dc-f7-learned": _DC_F7_LEARNED,
    "dc-f8": _DC_F8,
    "dc-n": _DC_N,
    "dc-accuracy": _DC_ACCURACY,
    "dc-designs": _DC_DESIGNS,
    "dc-pr": _DC_PR,
    "dc-rta": _DC_RTA,
    "dc-tiles": _DC_TILES,
    "dc-stored": _DC_STORED,
    "ls-f4": _over_lookahead("Maze, first trial", "Baldur's Gate, first trial"),
    "ls-f4-maze": _over_lookahead("Maze, convergence"),
    "ls-f4-bg": _over_lookahead("Baldur's Gate, convergence"),
    "ls-f4b": _over_lookahead(
        "Grid35, first trial", "Grid35, convergence", "WarCraft III, first trial", "WarCraft III, convergence", across=4
    ),
    "ls-t1": _LS_T1,
    "ls-v6": _LS_V6,
    "rl-controllers": _RL_CONTROLLERS,
    "rl-ppo": _RL_PPO,
    "ex-changing": _EX_CHANGING,
    "ex-ablations": _EX_ABLATIONS,
    "ex-successors": _EX_SUCCESSORS,
    "ex-limits": _boards("mixed-test"),
    "ex-limits-games": _boards("game maps"),
    "ex-limits-two": _AT_TWO,
}
