"""SG-PRE: how large subgoal trees are, and how long all trees of a map take to grow.

The bars were set before the first full run: 2.5 % for the size, and 15 % around the exponent.
"""

from collections.abc import Iterator

import numpy as np

from training.experiments.evidence import Evidence, bootstrap, ratio
from training.experiments.frame import Claim, Experiment, Part
from training.experiments.sg.f2 import MAPS, MAPS_NOTE, NEAREST, PAPER
from training.judge import Estimate
from training.judge.stats import Floats
from training.judge.tables import Table, digits
from training.runs import Allowance

# What was changed after the first full run, and why.
CHANGES: tuple[str, ...] = ()


def _exits(evidence: Evidence) -> Floats:
    """Return the nodes of every tree but its root. They are all read before the first move, and only then."""
    return evidence.numbers(NEAREST, "trace_steps") - 1


def _cells(evidence: Evidence) -> Floats:
    return np.array([evidence.grids[name].free_cells for name in _maps(evidence)], float)


def _maps(evidence: Evidence) -> list[str]:
    return [row.place.map for row in evidence.rows]


def _seconds(evidence: Evidence) -> Floats:
    """Return how long all trees of the map would take if all were like this one; 0 where an earlier one was used."""
    return evidence.numbers(NEAREST, "precompute_seconds") * _cells(evidence)


def _claims(evidence: Evidence) -> list[Claim]:
    cells, seconds = _cells(evidence), _seconds(evidence)
    grown = seconds > 0
    return [
        Claim(
            "trees are small: mean number of nodes without the root over mean number of free cells",
            "0.011 = 198 / 17,789",
            ratio(_exits(evidence), cells),
            high=0.025,
        ),
        Claim(
            "the time for all trees of a map grows with the square of its cells: exponent, fitted to logarithms",
            "one search of the map for every cell of it",
            _slope(np.log(cells[grown]), np.log(seconds[grown])),
            low=1.7,
            high=2.3,
        ),
    ]


def _slope(x: Floats, y: Floats) -> Estimate | None:
    """Return the slope of the line through the points by least squares; 0 where all have the same x."""

    def fitted(mx: Floats, my: Floats, mxx: Floats, mxy: Floats) -> Floats:
        spread = mxx - mx**2
        return np.divide(mxy - mx * my, spread, out=np.zeros_like(spread), where=spread > 1e-9)

    return bootstrap(fitted, x, y, x * x, x * y)


def _tables(evidence: Evidence) -> list[Table]:
    columns = ["map", "free cells", "trees", "nodes, mean", "largest", "smallest", "% of cells", "all trees, s"]
    return [Table("Trees by map, without their roots", columns, list(_lines(evidence)))]


def _lines(evidence: Evidence) -> Iterator[list[str]]:
    maps, exits, seconds = np.array(_maps(evidence)), _exits(evidence), _seconds(evidence)
    means = []
    for name in dict.fromkeys(maps.tolist()):
        own, cells = exits[maps == name], evidence.grids[name].free_cells
        means.append((cells, own.mean(), seconds[(maps == name) & (seconds > 0)].mean()))
        share = f"{100 * own.mean() / cells:.2f}"
        counts = [str(own.size), digits(own.mean()), f"{own.max():.0f}", f"{own.min():.0f}"]
        yield [name, f"{cells:,}", *counts, share, digits(means[-1][2])]
    cells, size, time = np.mean(means, axis=0)
    counts = [str(exits.size), digits(size), f"{exits.max():.0f}", f"{exits.min():.0f}"]
    yield ["mean of the maps", f"{cells:,.0f}", *counts, f"{100 * size / cells:.2f}", digits(time)]
    yield ["paper", "17,789", "all", "198", "255", "0", "1.11", "73.5"]


EXPERIMENT = Experiment(
    id="sg-pre",
    title="Subgoal trees: their size, and the time to grow them",
    paper=f"{PAPER}, the text on its evaluation",
    parts=(
        Part(
            grounds=MAPS,
            problems={"smoke": 10, "record": 500, "full": 500},
            entrants=(("subgoal-lrta", Allowance.of(None)),),
        ),
    ),
    seed=2011,
    claims=_claims,
    tables=_tables,
    notes=(
        MAPS_NOTE,
        "Trees are grown for the goals of SG-F2's problems, not for all cells. The time for all trees of a map is the"
        " mean time of one times the number of free cells, on one core, and without keeping them.",
        "The root is not counted: a tree without exits has no nodes, as the paper's smallest.",
        "The paper's figures are of a Pentium at 2.33 GHz: from 31.7 to 159.8 s.",
    ),
    changes=CHANGES,
)
