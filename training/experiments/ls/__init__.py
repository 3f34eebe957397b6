"""LS: the benchmarks and figures of the paper on LRTA*_LS(k, d).

C. Hernández, P. Meseguer, "Combining Lookahead and Propagation in Real-Time Heuristic Search", SoCS 2008.

Each of the four benchmarks has two parts, the first trial and convergence. The mazes and the random grids are new for
every problem. Wherever an experiment meets the same benchmark with the same agent and setting, its runs are those of
the other experiments.

The size ``full`` has as many problems as the paper and takes some 20 hours of one core, more than half of them mazes
until convergence; ``record`` takes a third of an hour.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from training.experiments.frame import SIZES, Entrant, Generated, Ground, Part, sweep

PAPER = "Hernández, Meseguer, Combining Lookahead and Propagation in Real-Time Heuristic Search, SoCS 2008"
SEED = 2008
FIRST, CONVERGENCE = "first trial", "convergence"
SIDE = 171

GAME_RULES = {"connectivity": 8, "cost": "unit"}
SYNTHETIC_RULES = {"connectivity": 4, "cost": "unit"}

NOTES = (
    "Every problem of Maze and Grid35 has a map of its own. Those of the games are drawn at random on every map, the"
    " goal from the cells that can be reached.",
    "A diagonal move needs both cells beside it to be free; the paper does not say what its own do.",
    "Times are of planning alone, without walking, as the paper's: on one core of the machine that ran this, in ms."
    " Only their ratios are compared. Scans count every reading of a cell's neighbours, for whatever purpose.",
    "Convergence is the sum over all trials up to and including the first that raises no value.",
    "There are fewer problems than in the paper. All settings meet the same ones, so that ratios are much more exact"
    " than means; what differs by less than the intervals are wide cannot be told apart, and stays undecided. `--size"
    " full` has the paper's numbers: 1500 mazes and grids, 2000 problems on every map of a game.",
)
TIMED = (
    "Times are of planning alone; before, walking was timed as well, which takes no longer with one agent than with"
    " another, and hid some of the difference between them."
)

KS = (10, 40, 160)
DS = (2, 4, 8, 16, 32, 64, 128)
# k -> LRTA*_LS(k, d) with every d
LRTA_LS = {k: sweep("lrta-ls-kd", k=(k,), d=DS) for k in KS}


class Printed(NamedTuple):
    """A mean cost and its milliseconds in Table 1."""

    cost: int
    ms: float


# depth of LRTS -> what Table 1 prints
TABLE_1 = {
    2: {FIRST: Printed(286_298, 384.8), CONVERGENCE: Printed(9_342_178, 12_495.8)},
    3: {FIRST: Printed(318_745, 411.0), CONVERGENCE: Printed(13_484_605, 17_103.7)},
    4: {FIRST: Printed(346_512, 439.7), CONVERGENCE: Printed(6_213_025, 7_692.1)},
    6: {FIRST: Printed(349_338, 445.0), CONVERGENCE: Printed(6_925_468, 8_431.9)},
}


@dataclass(frozen=True)
class Benchmark:
    """Maps with their rules, and how many problems each of them has: smoke, record, full.

    Attributes:
        name: what the paper calls it.
        grounds: its maps.
        rules: see ``Part``.
        first, convergence: the numbers of problems.
    """

    name: str
    grounds: tuple[Ground | Generated, ...]
    rules: Mapping[str, Any]
    first: tuple[int, int, int]
    convergence: tuple[int, int, int]

    def first_trial(self, *entrants: Entrant) -> Part:
        """Return the first trial of agents."""
        return self._part(FIRST, 1, self.first, entrants)

    def until_convergence(self, *entrants: Entrant) -> Part:
        """Return all trials of agents."""
        return self._part(CONVERGENCE, "converge", self.convergence, entrants)

    def parts(self, *entrants: Entrant) -> tuple[Part, Part]:
        """Return the first trial and the convergence of agents."""
        return self.first_trial(*entrants), self.until_convergence(*entrants)

    def _part(
        self, text: str, trials: int | str, problems: tuple[int, int, int], entrants: tuple[Entrant, ...]
    ) -> Part:
        return Part(
            grounds=self.grounds,
            problems=dict(zip(SIZES, problems, strict=True)),
            entrants=entrants,
            name=f"{self.name}, {text}",
            vision=1,
            rules=self.rules,
            trials=trials,
        )


MAZE = Benchmark(
    name="Maze",
    grounds=(Generated("maze", {"size": 181}),),
    rules=SYNTHETIC_RULES,
    first=(2, 150, 1500),
    convergence=(1, 10, 1500),
)
GRID35 = Benchmark(
    name="Grid35",
    grounds=(Generated("random", {"width": 301, "height": 301, "density": 0.35}),),
    rules=SYNTHETIC_RULES,
    first=(2, 150, 1500),
    convergence=(1, 20, 1500),
)
BALDURS_GATE = Benchmark(
    name="Baldur's Gate",
    grounds=(
        Ground("bg/AR0600SR", 192, 214),
        Ground("bg/AR0516SR", 244, 187),
        Ground("bg/AR0603SR", 236, 267),
        Ground("bg/AR0411SR", 232, 272),
        Ground("bg/AR0701SR", 204, 235),
    ),
    rules=GAME_RULES,
    first=(1, 60, 2000),
    convergence=(1, 20, 2000),
)
WARCRAFT = Benchmark(
    name="WarCraft III",
    grounds=tuple(
        Ground(f"wc3maps512/{name}", SIDE, SIDE, scaled=True)
        for name in ("battleground", "blastedlands", "plunderisle")
    ),
    rules=GAME_RULES,
    first=(1, 100, 2000),
    convergence=(1, 100, 2000),
)
