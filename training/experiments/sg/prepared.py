"""SG-PRE and SG-KNN: what is prepared for a map, subgoal trees and databases of records.

SG-PRE: how large subgoal trees are, and how long all trees of a map take to grow. SG-KNN: kNN LRTA* with two sizes of
its database, beside LRTA* with subgoals.

The bars were set before the first full run; in SG-PRE 2.5 % for the size, and 15 % around the exponent.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np

from training.experiments import sg
from training.experiments.evidence import Evidence, Strata, bootstrap, mean, ratio, score_table, with_interval
from training.experiments.frame import Claim, Entrant, Experiment, Part
from training.experiments.quantities import Column, Largest, Numbers, Parts, Quantity, Ratio
from training.experiments.sg import DATABASES, NEAREST
from training.judge import Estimate
from training.judge.stats import Floats
from training.judge.tables import Table, digits

# what claims call an agent
NAMES = {
    NEAREST: "LRTA* with subgoals",
    DATABASES[0]: "kNN LRTA* with 10,000 records",
    DATABASES[1]: "kNN LRTA* with 1000 records",
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


@dataclass(frozen=True)
class Exponent(Quantity):
    """The slope of a line through the logarithms of two columns by least squares; 0 where all have the same x.

    Problems with y = 0 are left out.
    """

    x: Numbers
    y: Numbers

    def estimate(self, parts: Parts) -> Estimate | None:
        """Return the slope."""
        x, y = self.x.values(parts), self.y.values(parts)
        used = y > 0
        x, y = np.log(x[used]), np.log(y[used])
        return bootstrap(_slope, x, y, x * x, x * y)


def _slope(mx: Floats, my: Floats, mxx: Floats, mxy: Floats) -> Floats:
    spread = mxx - mx**2
    return np.divide(mxy - mx * my, spread, out=np.zeros_like(spread), where=spread > 1e-9)


def _map_of_each_run(evidence: Evidence, agent: Entrant) -> list[str]:
    return [row.place.map for row in evidence.rows if row.entry == agent.entry]


CELLS = FreeCells(NEAREST)
EXITS = Column(NEAREST, "trace_steps") - 1  # a tree without its root; all of it is read before the first move
# for all trees of the map, if all were like this one; 0 where an earlier one was used
TREE_SECONDS = Column(NEAREST, "precompute_seconds") * CELLS

TREE_CLAIMS = (
    Claim(
        "trees are small: mean number of nodes without the root over mean number of free cells",
        f"{sg.NODES / sg.FREE_CELLS:.3f} = {sg.NODES} / {sg.FREE_CELLS:,}",
        Ratio(EXITS, CELLS),
        high=0.025,
        headline=True,
    ),
    Claim(
        "the time for all trees of a map grows with the square of its cells: exponent, fitted to logarithms",
        "one search of the map for every cell of it",
        Exponent(CELLS, TREE_SECONDS),
        low=1.7,
        high=2.3,
        direction=(1, inf),
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


KNN_CLAIMS = (
    *(_cheaper(better, worse) for better, worse in pairwise(sg.EXCESS)),
    *(
        Claim(
            f"{NAMES[agent]} expands one state per move: the most of any move",
            "1",
            Largest((Column(agent, "max_expansions"),)),
            low=1,
            high=1,
        )
        for agent in sg.EXCESS
    ),
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
        means.append((cells, own.mean(), seconds[(maps == name) & (seconds > 0)].mean()))
        yield _tree_line(name, own, *means[-1])
    yield _tree_line("mean of the maps", exits, *np.mean(means, axis=0))
    yield ["paper", *sg.TREES]


def _tree_line(name: str, exits: Floats, cells: float, size: float, seconds: float) -> list[str]:
    counts = [str(exits.size), digits(size), f"{exits.max():.0f}", f"{exits.min():.0f}"]
    return [name, f"{cells:,.0f}", *counts, f"{100 * size / cells:.2f}", digits(seconds)]


def _knn_tables(evidence: Evidence) -> list[Table]:
    columns = ["agent", "mean of ratios", "95 % interval", "ratio of means", "95 % interval", "paper"]
    quality = Table("Suboptimality", columns, [_quality(evidence, agent) for agent in sg.EXCESS])
    columns = ["agent", *dict.fromkeys(row.place.map for row in evidence.rows), "paper, mean"]
    times = Table("Seconds of precomputation", columns, [_times(evidence, agent) for agent in DATABASES])
    columns = ["agent", "scans of the dearest move", "95 % interval", "longest move, µs", "95 % interval"]
    lag = Table("The first choice, means over problems", columns, [_lag(evidence, agent) for agent in sg.EXCESS])
    return [quality, times, lag, score_table("All measures", evidence.rows)]


def _quality(evidence: Evidence, agent: Entrant) -> list[str]:
    ratios, costs = evidence.numbers(agent, "suboptimality"), evidence.numbers(agent, "cost")
    both = mean(ratios), ratio(costs, evidence.numbers(agent, "optimal"))
    cells = (cell for ours in both for cell in with_interval(ours))
    return [agent.entry.label, *cells, f"{1 + sg.EXCESS[agent] / 100:.4f}"]


def _times(evidence: Evidence, agent: Entrant) -> list[str]:
    seconds, maps = evidence.numbers(agent, "precompute_seconds"), np.array(_map_of_each_run(evidence, agent))
    longest = (float(seconds[maps == name].max()) for name in dict.fromkeys(maps.tolist()))
    return [agent.entry.label, *map(digits, longest), sg.SECONDS[agent]]


def _lag(evidence: Evidence, agent: Entrant) -> list[str]:
    columns = evidence.numbers(agent, "max_scans"), 1e6 * evidence.numbers(agent, "max")
    return [agent.entry.label, *(cell for column in columns for cell in with_interval(mean(column)))]


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
        " mean time of one times the number of free cells, on one core, and without keeping them.",
        "The root is not counted: a tree without exits has no nodes, as the paper's smallest.",
        "The paper's figures are of a Pentium at 2.33 GHz: from 31.7 to 159.8 s.",
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
        "A database is built once per process and map; its time is the longest that a run of the map has waited for it,"
        " on one core of the machine that ran this. With 1000 records the paper says that it is comparable to 51.6"
        " seconds. That of LRTA* with subgoals, which here grows the tree of its goal alone, is left to SG-PRE.",
        "Of the means much is due to the few problems for which no record can be climbed to and from: on these it is"
        " LRTA* alone, hundreds of times above optimal. The medians leave them out.",
        "The dearest move is the first of a trial: it chooses the record, and every step of its climbs is a scan; or it"
        " reads the tree of subgoals, which is none.",
    ),
    changes=(
        "The order of the two databases is judged by the mean suboptimality. Before, it was judged by the mean cost, of"
        " which a single problem without a record makes up about half, and was undecided.",
        "LRTA* with subgoals has joined, judged in the same way.",
    ),
)
