"""SG-PRE, SG-KNN and SG-DLRTA: what is prepared for a map, subgoal trees and databases of records or patterns.

SG-PRE: how large subgoal trees are, and how long all trees of a map take to grow. SG-KNN: kNN LRTA* with two sizes of
its database, beside LRTA* with subgoals. SG-DLRTA: D LRTA* with databases of two levels, beside the same.

Bars are bands of a factor of 1.5 around the printed figures, and around 1 where the paper says "comparable". Its times
are of another machine: of those for all trees, less is the right direction.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from math import inf
from time import thread_time

import numpy as np

from agents.knowledge.subgoal_tree import make_tree_buffers
from agents.knowledge.subgoals import grow
from rt_gym import Grid
from rt_gym.maps.generate import terrain
from training.experiments import sg
from training.experiments.evidence import Evidence, Strata, bootstrap, mean, ratio
from training.experiments.frame import Claim, Entrant, Experiment, Part, entrant, near, near_cost
from training.experiments.quantities import (
    Column,
    Counted,
    FunctionOfMeans,
    Largest,
    Mean,
    Numbers,
    Parts,
    Quantity,
    Ratio,
)
from training.experiments.sg import DATABASES, NEAREST
from training.judge import Estimate
from training.judge.stats import Floats
from training.judge.tables import Table, digits, label, score_table, with_interval
from training.precompute import Neighbours, Order, Patterns

LEVELS = (3, 5)
PATTERNS = {level: entrant("pdb-lrta", level=level) for level in LEVELS}
# how what an agent prepares is made for a map
ORDERS: dict[Entrant, Callable[[Grid], Order]] = {
    **{agent: partial(Neighbours, records=records) for records, agent in zip((10_000, 1000), DATABASES, strict=True)},
    **{agent: partial(Patterns, level=level) for level, agent in PATTERNS.items()},
}
SMALL = 32  # the side of a map for which kernels are compiled before anything is timed
# what claims call an agent
NAMES = {
    NEAREST: "LRTA* with subgoals",
    DATABASES[0]: "kNN LRTA* with 10,000 records",
    DATABASES[1]: "kNN LRTA* with 1000 records",
    **{agent: f"D LRTA*({level})" for level, agent in PATTERNS.items()},
}


@dataclass(frozen=True)
class FreeCells(Numbers):
    """The free cells of the map of every run of an agent."""

    agent: Entrant

    def values(self, parts: Parts) -> Floats:
        """Return how many there are."""
        grids = parts[0].grids
        return np.array([grids[name].free_cells for name in _map_of_each_run(parts[0], self.agent)], float)

    def strata(self, parts: Parts) -> Strata:
        """Return the map of every run."""
        return parts[0].strata


@cache
def build_seconds(order: Order) -> float:
    """Return the processor time of one core for all that is to be prepared for a map."""
    first = replace(order, grid=terrain(SMALL, SMALL, 0))
    first.build(first.work())  # compiles
    began = thread_time()
    order.build(order.work())
    return thread_time() - began


@cache
def tree_seconds(grid: Grid, goals: tuple[int, ...]) -> tuple[float, ...]:
    """Return the processor time for the tree of each of these cells."""
    buffers = make_tree_buffers(grid.terrain.mask.size)
    grow(grid.terrain, buffers, goals[0], "nearest")  # compiles
    found = []
    for goal in goals:
        began = thread_time()
        grow(grid.terrain, buffers, goal, "nearest")
        found.append(thread_time() - began)
    return tuple(found)


@dataclass(frozen=True)
class Prepared(Numbers):
    """The processor time for an agent's database of the map of every run."""

    agent: Entrant

    def values(self, parts: Parts) -> Floats:
        """Return these seconds."""
        maps, order = _map_of_each_run(parts[0], self.agent), ORDERS[self.agent]
        return np.array([build_seconds(order(parts[0].grids[name])) for name in maps])

    def strata(self, parts: Parts) -> Strata:
        """Return the map of every run."""
        return parts[0].strata


@dataclass(frozen=True)
class AllTrees(Numbers):
    """The processor time for all trees of the map of every run, if all took as long as that of its goal."""

    def values(self, parts: Parts) -> Floats:
        """Return these seconds."""
        places = [row.place for row in parts[0].rows if row.entry == NEAREST.entry]
        found = np.zeros(len(places))
        for name, grid in parts[0].grids.items():
            own = [number for number, place in enumerate(places) if place.map == name]
            goals = tuple(grid.cell((places[number].goal_x, places[number].goal_y)) for number in own)
            found[own] = np.array(tree_seconds(grid, goals)) * grid.free_cells
        return found

    def strata(self, parts: Parts) -> Strata:
        """Return the map of every run."""
        return parts[0].strata


@dataclass(frozen=True)
class Exponent(Quantity):
    """The slope of a line through the logarithms of two columns by least squares; 0 where all have the same x."""

    x: Numbers
    y: Numbers

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the slope."""
        x, y = np.log(self.x.values(parts)), np.log(self.y.values(parts))
        return bootstrap(_slope, x, y, x * x, x * y, strata=self.x.strata(parts))


def _slope(mx: Floats, my: Floats, mxx: Floats, mxy: Floats) -> Floats:
    spread = mxx - mx**2
    return np.divide(mxy - mx * my, spread, out=np.zeros_like(spread), where=spread > 1e-9)


def _map_of_each_run(evidence: Evidence, agent: Entrant) -> list[str]:
    return [row.place.map for row in evidence.rows if row.entry == agent.entry]


CELLS = FreeCells(NEAREST)
EXITS = Column(NEAREST, "trace_steps") - 1  # a tree without its root; all of it is read before the first move
TREE_SECONDS = AllTrees()


def _smallest(evidence: Evidence) -> float:
    return float(EXITS.values([evidence]).min())


def _against_trees(agent: Entrant) -> Ratio:
    """Return the time for a database over that for all trees; every map has as many problems."""
    return Ratio(Prepared(agent), TREE_SECONDS)


TREE_CLAIMS = (
    Claim(
        "trees are small: mean number of nodes without the root over mean number of free cells",
        f"{sg.NODES / sg.FREE_CELLS:.4f} = {sg.NODES} / {sg.FREE_CELLS:,}",
        Ratio(EXITS, CELLS),
        **near(sg.NODES / sg.FREE_CELLS),
        headline=True,
    ),
    Claim("nodes of a tree without the root: the mean", str(sg.NODES), Mean(EXITS), **near(sg.NODES), headline=True),
    Claim("the same: the largest", str(sg.LARGEST), Largest((EXITS,)), **near(sg.LARGEST)),
    Claim("the same: the smallest", str(sg.SMALLEST), Counted(_smallest), low=sg.SMALLEST, high=sg.SMALLEST),
    Claim(
        "seconds for all trees of a map: the mean of the maps",
        str(sg.ALL_TREES),
        Mean(TREE_SECONDS),
        **near(sg.ALL_TREES),
        headline=True,
        direction=(0, sg.ALL_TREES),
    ),
    Claim(
        "the time for all trees of a map grows with the square of its cells: exponent, fitted to logarithms",
        "one search of the map for every cell of it",
        Exponent(CELLS, TREE_SECONDS),
        low=1.7,
        high=2.3,
        check=True,
    ),
)


def _cheaper(better: Entrant, worse: Entrant) -> Claim:
    mine, theirs = (1 + sg.EXCESS[agent] / 100 for agent in (better, worse))
    return Claim(
        f"{NAMES[better]} finds shorter paths than {NAMES[worse]}: mean suboptimality over mean suboptimality",
        f"{mine / theirs:.2f} = {mine:.4f} / {theirs:.4f}",
        Ratio(Column(better, "suboptimality"), Column(worse, "suboptimality")),
        high=1,
        headline=True,
    )


def _above_optimal(agent: Entrant, text: str, quantity: Quantity, headline: bool) -> Claim:
    printed = 1 + sg.EXCESS[agent] / 100
    unit = 0.01 if agent is NEAREST else 0.0001  # of what is printed
    bar = near_cost(printed, unit=unit)
    return Claim(f"suboptimality of {NAMES[agent]}: {text}", f"{printed:.4g}", quantity, **bar, headline=headline)


def _slower(agent: Entrant) -> Claim:
    return Claim(
        f"{NAMES[agent]} plans longer than LRTA* with subgoals: its mean time over the other's",
        "above 1",
        Ratio(Column(agent, "planning_seconds"), Column(NEAREST, "planning_seconds")),
        low=1,
    )


def _mean_claim(agent: Entrant) -> Claim:
    return _above_optimal(agent, "mean of the ratios", Mean(Column(agent, "suboptimality")), headline=True)


def _sum_claim(agent: Entrant) -> Claim:
    costs = Ratio(Column(agent, "cost"), Column(agent, "optimal"))
    return _above_optimal(agent, "ratio of the means", costs, headline=False)


KNN_CLAIMS = (
    *map(_mean_claim, sg.EXCESS),
    *map(_sum_claim, sg.EXCESS),
    *(_cheaper(better, worse) for better, worse in pairwise(sg.EXCESS)),
    Claim(
        "10,000 records take longer to prepare than all trees: their time over that of the trees",
        f"{sg.SECONDS[DATABASES[0]] / sg.SAME_MAPS:.2f} = {sg.SECONDS[DATABASES[0]]} / {sg.SAME_MAPS}",
        _against_trees(DATABASES[0]),
        **near(sg.SECONDS[DATABASES[0]] / sg.SAME_MAPS),
        headline=True,
        direction=(1, inf),
    ),
    Claim(
        "1000 records take about as long as all trees: the same", "comparable", _against_trees(DATABASES[1]), **near(1)
    ),
    *map(_slower, DATABASES),
    *(
        Claim(
            f"{NAMES[agent]} expands one state per move: the most of any move",
            "1",
            Largest((Column(agent, "max_expansions"),)),
            low=1,
            high=1,
            check=True,
        )
        for agent in sg.EXCESS
    ),
)


def _more_expansions(agent: Entrant) -> dict[str, Quantity]:
    """Return how many more expansions per move an agent makes than with subgoals, by both averages."""
    own, other = (Column(each, "expansions_per_move") for each in (agent, NEAREST))
    totals = tuple(Column(each, name) for each in (agent, NEAREST) for name in ("expansions", "moves"))
    return {"mean": Mean(own - other), "pooled": FunctionOfMeans(_pooled_difference, totals)}


def _pooled_difference(expansions: Floats, moves: Floats, others: Floats, others_moves: Floats) -> Floats:
    return expansions / moves - others / others_moves


PATTERN_CLAIMS = (
    *(
        Claim(
            f"{NAMES[agent]} finds paths as good as LRTA* with subgoals: mean suboptimality over the other's",
            "comparable",
            Ratio(Column(agent, "suboptimality"), Column(NEAREST, "suboptimality")),
            **near(1),
            headline=True,
        )
        for agent in PATTERNS.values()
    ),
    *(
        Claim(
            f"{NAMES[agent]} takes as long to prepare as all trees: its time over theirs",
            "comparable",
            _against_trees(agent),
            **near(1),
            headline=True,
        )
        for agent in PATTERNS.values()
    ),
    *(
        Claim(
            f"{NAMES[PATTERNS[5]]} needs more expansions per move than LRTA* with subgoals: how many more; {meter}",
            str(sg.MORE_EXPANSIONS),
            quantity,
            **near(sg.MORE_EXPANSIONS),
            headline=True,
            direction=(0, inf),
        )
        for meter, quantity in _more_expansions(PATTERNS[5]).items()
    ),
    *(
        Claim(f"so does {NAMES[PATTERNS[3]]}: how many more; {meter}", "above 0", quantity, low=0)
        for meter, quantity in _more_expansions(PATTERNS[3]).items()
    ),
    *map(_slower, PATTERNS.values()),
)


def _tree_tables(evidence: Evidence) -> list[Table]:
    columns = ["map", "free cells", "trees", "nodes, mean", "largest", "smallest", "% of cells", "all trees, s"]
    return [Table("Trees by map, without their roots", columns, list(_tree_lines(evidence)))]


def _tree_lines(evidence: Evidence) -> Iterator[list[str]]:
    maps = np.array(_map_of_each_run(evidence, NEAREST))
    exits, seconds = (column.values([evidence]) for column in (EXITS, TREE_SECONDS))
    means = []
    for name in dict.fromkeys(maps.tolist()):
        own, cells = exits[maps == name], evidence.grids[name].free_cells
        means.append((cells, own.mean(), seconds[maps == name].mean()))
        yield _tree_line(name, own, *means[-1])
    yield _tree_line("mean of the maps", exits, *np.mean(means, axis=0))
    yield ["paper", *sg.TREES]


def _tree_line(name: str, exits: Floats, cells: float, size: float, seconds: float) -> list[str]:
    counts = [str(exits.size), digits(size), f"{exits.max():.0f}", f"{exits.min():.0f}"]
    return [name, f"{cells:,.0f}", *counts, f"{100 * size / cells:.2f}", digits(seconds)]


def _knn_tables(evidence: Evidence) -> list[Table]:
    columns = ["agent", "scans of the dearest move", "95 % interval"]
    lag = Table("The first choice, means over problems", columns, [_lag(evidence, agent) for agent in sg.EXCESS])
    seconds = {DATABASES[0]: str(sg.SECONDS[DATABASES[0]]), DATABASES[1]: f"comparable to {sg.SAME_MAPS}"}
    return [*_beside_trees(evidence, seconds), lag, score_table("All measures", evidence.rows)]


def _pattern_tables(evidence: Evidence) -> list[Table]:
    seconds = dict.fromkeys(PATTERNS.values(), f"comparable to {sg.SAME_MAPS}")
    return [*_beside_trees(evidence, seconds), score_table("All measures", evidence.rows)]


def _beside_trees(evidence: Evidence, seconds: dict[Entrant, str]) -> list[Table]:
    """Return quality and preparation of agents, and the paper's times, beside LRTA* with subgoals."""
    columns = ["agent", "mean of ratios", "95 % interval", "ratio of means", "95 % interval", "paper"]
    quality = Table("Suboptimality", columns, [_quality(evidence, agent) for agent in (NEAREST, *seconds)])
    columns = ["agent", *dict.fromkeys(_map_of_each_run(evidence, NEAREST)), "mean", "paper, mean"]
    lines = [[label(agent.entry), *_seconds(evidence, Prepared(agent)), paper] for agent, paper in seconds.items()]
    trees = ["all trees", *_seconds(evidence, TREE_SECONDS), str(sg.SAME_MAPS)]
    return [quality, Table("Seconds of precomputation", columns, [trees, *lines])]


def _quality(evidence: Evidence, agent: Entrant) -> list[str]:
    ratios, costs = evidence.numbers(agent, "suboptimality"), evidence.numbers(agent, "cost")
    strata = evidence.strata
    both = mean(ratios, strata), ratio(costs, evidence.numbers(agent, "optimal"), strata)
    cells = (cell for ours in both for cell in with_interval(ours))
    paper = f"{1 + sg.EXCESS[agent] / 100:.4f}" if agent in sg.EXCESS else "comparable"
    return [label(agent.entry), *cells, paper]


def _seconds(evidence: Evidence, seconds: Numbers) -> list[str]:
    """Return the means of a column on every map, and their mean."""
    values, maps = seconds.values([evidence]), evidence.strata
    means = [float(values[maps == k].mean()) for k in range(maps.max() + 1)]
    return [*map(digits, means), digits(float(np.mean(means)))]


def _lag(evidence: Evidence, agent: Entrant) -> list[str]:
    return [label(agent.entry), *with_interval(mean(evidence.numbers(agent, "max_scans"), evidence.strata))]


TIMES_NOTE = (
    "Databases are built once more to be timed, by the processor time of one core. That of all trees is the mean time"
    " of one, grown for the goals of the problems, times the number of free cells."
)

PRE = Experiment(
    id="sg-pre",
    title="Subgoal trees: their size, and the time to grow them",
    paper=f"{sg.PAPER}, the text on its evaluation",
    parts=(Part(grounds=sg.MAPS, problems=sg.PROBLEMS, entrants=(NEAREST,)),),
    seed=sg.SEED,
    claims=TREE_CLAIMS,
    tables=_tree_tables,
    notes=(
        sg.MAPS_NOTE,
        "Trees are grown for the goals of SG-F2's problems, not for all cells. The time for all trees of a map is the"
        " mean processor time of one times the number of free cells, without keeping them.",
        "The root is not counted: a tree without exits has no nodes, as the paper's smallest.",
        "The paper's figures are of a Pentium at 2.33 GHz: from 31.7 to 159.8 s. Less than its mean is therefore the"
        " right direction.",
        "The largest tree is that of the sampled goals: the largest of all goals can only be larger.",
    ),
    changes=(
        "The share of cells has a band around the paper's figure; before, it was at most 0.025. The numbers of nodes"
        " and the seconds have joined. The exponent follows from the algorithm and is a check.",
    ),
)
KNN = Experiment(
    id="sg-knn",
    title="kNN LRTA* and LRTA* with subgoals",
    paper=f"{sg.PAPER}, Evaluation",
    parts=(Part(grounds=sg.MAPS[:4], problems=sg.PROBLEMS, entrants=(NEAREST, *DATABASES)),),
    seed=sg.SEED,
    claims=KNN_CLAIMS,
    tables=_knn_tables,
    notes=(
        "The paper compares on four maps of an earlier one and does not name them: two of Baldur's Gate, two of"
        " Warcraft. Ours are the first four of SG-F2. Its figures for kNN LRTA* are those of that earlier paper.",
        sg.PROBLEMS_NOTE,
        TIMES_NOTE,
        "With 1000 records the paper says that its time is comparable to that of the trees.",
        sg.OUTLINE_NOTE,
        "Of the means much is due to the few problems for which no record can be climbed to and from: on these it is"
        " LRTA* alone, hundreds of times above optimal. The medians leave them out.",
        "The dearest move is the first of a trial: it chooses the record, and every step of its climbs is a scan; or it"
        " reads the tree of subgoals, which is none.",
    ),
    changes=(
        "Every figure is judged by a band around it; before, only the order was. That the trees are prepared sooner has"
        " been left out before, and is a claim now, as are the times of planning. Preparation is timed by the processor"
        " and apart from the runs.",
        "The order of the two databases is judged by the mean suboptimality. Before, it was judged by the mean cost, of"
        " which a single problem without a record makes up about half, and was undecided.",
        "LRTA* with subgoals has joined, judged in the same way.",
    ),
)
DLRTA = Experiment(
    id="sg-dlrta",
    title="D LRTA* and LRTA* with subgoals",
    paper=f"{sg.PAPER}, Evaluation",
    parts=(
        Part(
            grounds=sg.MAPS[:4],
            problems=sg.PROBLEMS,
            entrants=(NEAREST, *PATTERNS.values()),
            max_moves=1_000_000,
        ),
    ),
    seed=sg.SEED,
    claims=PATTERN_CLAIMS,
    tables=_pattern_tables,
    notes=(
        "The paper takes its figures for D LRTA*(3) and (5) from an earlier one, on the four maps of SG-KNN, and prints"
        " one of them: how many more expansions D LRTA*(5) needs on average, which is read as a difference per move."
        " The numbers in brackets are read as levels of the abstraction.",
        sg.PROBLEMS_NOTE,
        TIMES_NOTE,
    ),
)
