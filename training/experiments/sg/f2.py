"""SG-F2: A*, LRTA* with a lookahead of one, and LRTA* with subgoals.

The bars were set before the first full run.
"""

from math import inf

from training.experiments import sg
from training.experiments.evidence import Evidence, mean, score_table, with_interval
from training.experiments.frame import Claim, Entrant, Experiment, Part, entrant
from training.experiments.quantities import Column, Largest, Ratio
from training.experiments.sg import ASTAR, LRTA, NEAREST
from training.judge.tables import Table

SUB = entrant("subgoal-lrta", first="sub")
# agent -> which search of a run is its first: A* makes one, those of LRTA* are all of the same size, and with subgoals
# the first one, which reads the tree, is the longest
FIRST_SEARCH = {ASTAR: "max", LRTA: "p50", NEAREST: "max", SUB: "max"}
LARGER = (1, inf)


def _first_search(agent: Entrant) -> Column:
    return Column(agent, FIRST_SEARCH[agent])


def _over(above: Entrant, below: Entrant, name: str) -> Ratio:
    return Ratio(Column(above, name), Column(below, name))


def _costs(above: Entrant, below: Entrant) -> str:
    """Return the ratio of two printed costs, and both."""
    a, b = sg.PRINTED[above].cost, sg.PRINTED[below].cost
    return f"{_rounded(a / b)} = {a:,} / {b:,}"


def _times(a: int, b: int) -> str:
    """Return the ratio of two printed times, and both in ms."""
    return f"{_rounded(a / b)} = {a / 1000:.3f} / {b / 1000:.3f}"


def _totals(above: Entrant, below: Entrant) -> str:
    return _times(sg.PRINTED[above].total, sg.PRINTED[below].total)


def _rounded(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _one_expansion(text: str, agent: Entrant) -> Claim:
    worst = Largest((Column(agent, "max_expansions"),))
    return Claim(f"{text} expands one state per move: the most of any move", "1", worst, low=1, high=1)


CLAIMS = (
    Claim(
        "LRTA* costs many times what A* costs: mean cost over mean cost",
        _costs(LRTA, ASTAR),
        _over(LRTA, ASTAR, "cost"),
        low=50,
        headline=True,
        direction=LARGER,
    ),
    Claim(
        "the first search of LRTA* is many times shorter: A*'s mean time over LRTA*'s",
        _times(sg.PRINTED[ASTAR].first, sg.PRINTED[LRTA].first),
        Ratio(_first_search(ASTAR), _first_search(LRTA)),
        low=100,
        direction=LARGER,
    ),
    Claim(
        "LRTA* takes longer in total: its mean time over A*'s",
        _totals(LRTA, ASTAR),
        _over(LRTA, ASTAR, "seconds"),
        low=1,
    ),
    _one_expansion("LRTA*", LRTA),
    Claim(
        "with subgoals LRTA* is near the optimum: mean cost over A*'s",
        _costs(NEAREST, ASTAR),
        _over(NEAREST, ASTAR, "cost"),
        high=1.2,
        headline=True,
    ),
    Claim(
        "with Sub of the start as the first goal it is nearer still: mean cost over A*'s",
        "not in the paper",
        _over(SUB, ASTAR, "cost"),
        high=1.02,
    ),
    Claim(
        "LRTA* costs many times what it costs with subgoals: mean cost over mean cost",
        _costs(LRTA, NEAREST),
        _over(LRTA, NEAREST, "cost"),
        low=50,
        headline=True,
        direction=LARGER,
    ),
    _one_expansion("with subgoals it", NEAREST),
    _one_expansion("with Sub of the start it", SUB),
    Claim(
        "with subgoals it takes less time in total than A*: A*'s mean time over its",
        _totals(ASTAR, NEAREST),
        _over(ASTAR, NEAREST, "seconds"),
        low=4,
        headline=True,
        direction=LARGER,
    ),
    Claim(
        "with subgoals it takes less time in total than LRTA*: LRTA*'s mean time over its",
        _totals(LRTA, NEAREST),
        _over(LRTA, NEAREST, "seconds"),
        low=40,
        headline=True,
        direction=LARGER,
    ),
)


def _tables(evidence: Evidence) -> list[Table]:
    columns = ["agent", "cost", "95 % interval", "paper", "first search", "95 % interval", "paper"]
    columns += ["total", "95 % interval", "paper"]
    lines = [_line(evidence, agent) for agent in FIRST_SEARCH]
    title = "Means over problems, times in µs"
    return [Table(title, columns, lines), score_table("All measures", evidence.rows)]


def _line(evidence: Evidence, agent: Entrant) -> list[str]:
    times = (evidence.numbers(agent, name) for name in (FIRST_SEARCH[agent], "seconds"))
    ours = evidence.numbers(agent, "cost"), *(1e6 * seconds for seconds in times)
    printed = [f"{number:,}" for number in sg.PRINTED[agent]] if agent in sg.PRINTED else ["-"] * len(ours)
    pairs = zip(ours, printed, strict=True)
    return [agent.entry.label, *(cell for column, paper in pairs for cell in (*with_interval(mean(column)), paper))]


EXPERIMENT = Experiment(
    id="sg-f2",
    title="A*, LRTA* and LRTA* with subgoals: cost, first search and total time",
    paper=f"{sg.PAPER}, Figure 2",
    parts=(Part(grounds=sg.MAPS, problems=sg.PROBLEMS, entrants=tuple(FIRST_SEARCH)),),
    seed=sg.SEED,
    claims=CLAIMS,
    tables=_tables,
    notes=(
        sg.MAPS_NOTE,
        sg.PROBLEMS_NOTE,
        "Times are of one core of the machine that ran this; only their ratios are compared. The total is planning and"
        " walking; filling LRTA*'s table with the heuristic before the first move is not part of it, nor is growing the"
        " goal's tree of subgoals, which the paper does beforehand for all goals. The first search of A* is its longest"
        " move, and so is that of LRTA* with subgoals, which reads the tree; that of LRTA* is the median of its"
        " searches.",
    ),
    changes=(
        "LRTA* with subgoals has joined, with claims and bars of its own; those of the other two are as they were.",
    ),
)
