"""DC-STORED: storing actions or values instead of depths, what the paper rules out, as agents that can be compared.

V. Bulitko, Y. Björnsson, M. Luštrek, J. Schaeffer, S. Sigmundarson, "Dynamic Control in Path-Planning with Real-Time
Heuristic Search", ICAPS 2007, Figure 2 and the text beside it: one optimal action, or one optimal value, for all cells
of a region leads agents into walls, or leaves them without direction, so that they need not arrive.

``rt-gym compare`` takes them by their dotted names: ``-a training.experiments.dc.stored.StoredActions:level=4``.

Readings:
- What is stored for a region is that of its representative, towards the representative of the goal's region. Only the
  entries towards the goal's region are computed, at reset, on the map as it is believed then; these are what a database
  of all pairs would hold. That is preparation: it is not charged, and timed as that of agents with a pattern database.
- Of several optimal actions the first is stored.
- In the goal's region nothing is stored, nor for a cell that was blocked at reset. There both go by the heuristic.

The bars of the experiment were set before the first run of every size.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.knowledge.regions import prepare
from rt_gym import STAY, View
from rt_gym.abstraction import KINDS, MAX_LEVEL
from rt_gym.cost import INF
from rt_gym.errors import choice, flag, whole
from rt_gym.grid import Grid
from rt_gym.search.distance import exact_distances
from rt_gym.terrain import Position
from rt_gym.views import kernel_view
from training.experiments import dc
from training.experiments.evidence import Evidence, Strata
from training.experiments.frame import Claim, Entrant, Experiment, Part, entrant
from training.experiments.quantities import Column, Mean, Numbers, Parts, Ratio
from training.judge.stats import Floats
from training.judge.tables import Table, score_table, with_interval


class Stored(ABC):
    """What both agents have: the regions, and for every region what is stored of its representative.

    Args:
        level: how coarse the regions are; 0 for the cells themselves.
        abstraction: ``"clique"`` or ``"tiles"``.

    Attributes:
        precompute_seconds: how long the last reset took to prepare.
    """

    precomputes = True

    def __init__(self, level: int = 4, abstraction: str = "clique") -> None:
        self.level = whole("level", level, 0, MAX_LEVEL)
        self.abstraction = choice("abstraction", abstraction, KINDS)
        self.precompute_seconds = 0.0

    def reset(self, view: View, seed: int | None = None) -> None:
        """Begin a new problem: find out what is stored, and forget what was learned."""
        began = time.perf_counter()
        self.view, self._cell_of = view, kernel_view(view).cell
        self._stored: dict[int, int] = {}
        self._learned: dict[Position, int] = {}
        grid = kernel_view(view).as_grid()
        self._region = prepare(grid, self.abstraction, self.level).abstraction.region
        self._store(grid)
        self.precompute_seconds = time.perf_counter() - began

    def _store(self, grid: Grid) -> None:
        """Store something of every region from whose representative a way leads to that of the goal's region."""
        representatives = prepare(grid, self.abstraction, self.level).abstraction.representatives
        goal = int(self._region[grid.cell(self.view.goal)])
        if goal < 0:
            return
        distance = exact_distances(grid, grid.position(int(representatives[goal])))
        for region, cell in enumerate(representatives):
            if region != goal and distance[cell] < INF:
                self._stored[region] = self._entry(grid, distance, int(cell))

    @abstractmethod
    def _entry(self, grid: Grid, distance: Any, cell: int) -> int:
        """Return what is stored of a representative, given the distances to that of the goal's region."""

    def stored_for(self, position: Position) -> int | None:
        """Return what is stored for the region of a position, None for nothing."""
        return self._stored.get(int(self._region[self._cell_of(position)]))

    def value(self, position: Position) -> int:
        """Return the learned value of a position, the heuristic before that."""
        return self._learned.get(position, self.view.heuristic_exact(position))

    def step(self, learn: bool) -> int:
        """Return the action of LRTA* with a lookahead of one; of equal ones the longer step, then the first."""
        here = self.view.position
        moves = self.view.expand_exact(here)
        if not moves:
            return STAY
        action, near, cost = min(moves, key=lambda move: (move[2] + self.value(move[1]), -move[2]))
        if learn:
            self._learned[here] = max(self.value(here), cost + self.value(near))
        return action


class StoredActions(Stored):
    """Takes in every region the action that is optimal for its representative.

    It has no memory: from a place where it was before it does the same again, and may go in circles. Where the action
    is blocked it stands still, for good. In the goal's region it is LRTA*. To see whether the action is blocked counts
    as an expansion, as every move of LRTA* does: the paper calls a state expanded if its successors are considered.
    """

    def _entry(self, grid: Grid, distance: Any, cell: int) -> int:
        terrain = grid.terrain
        return next(
            d
            for d in range(8)
            if terrain.mask[cell] >> d & 1 and terrain.cost[d] + distance[cell + terrain.offset[d]] == distance[cell]
        )

    def act(self) -> int:
        """Return the next move."""
        here = self.view.position
        action = self.stored_for(here)
        if action is None:
            return self.step(learn=True)
        return action if any(action == free for free, _, _ in self.view.expand(here) or ()) else STAY


class StoredValues(Stored):
    """Moves to the neighbour of the smallest cost plus value: the distance between representatives.

    All cells of a region have the same value, but for those of the goal's.

    Args:
        level: how coarse the regions are; 0 for the cells themselves.
        abstraction: ``"clique"`` or ``"tiles"``.
        learn: whether it raises the value of the cell that it leaves, as LRTA* does; the paper's remark is about agents
            that go by what is stored alone.
    """

    def __init__(self, level: int = 4, abstraction: str = "clique", learn: bool = False) -> None:
        super().__init__(level, abstraction)
        self.learn = flag("learn", learn)

    def _entry(self, grid: Grid, distance: Any, cell: int) -> int:
        return int(distance[cell])

    def value(self, position: Position) -> int:
        """Return the learned value of a position, before that what is stored, else the heuristic."""
        stored = self.stored_for(position)
        return super().value(position) if stored is None else self._learned.get(position, stored)

    def act(self) -> int:
        """Return the next move."""
        return self.step(self.learn)


CAP = 20
LRTA = entrant("lrta", depth=1)
LEVELS = range(6)
LEVEL = 4  # that of most claims


def _stored(what: str, level: int) -> Entrant:
    """Return what goes by stored actions, stored values, the same with learning, or stored depths."""
    if what == DEPTHS:
        return dc.d_lrta("G", level, CAP)
    return entrant(
        f"{__name__}.{(StoredActions if what == ACTIONS else StoredValues).__name__}",
        level=level,
        **LEARN.get(what, {}),
    )


ACTIONS, VALUES, LEARNING, DEPTHS = "actions", "values", "values, learning", "depths"
LEARN = {LEARNING: {"learn": True}}
WHAT = (ACTIONS, VALUES, LEARNING, DEPTHS)


@dataclass(frozen=True)
class Arrived(Numbers):
    """Whether an agent reached the goal: 1 for every problem in which it did, else 0."""

    agent: Entrant

    def values(self, parts: Parts) -> Floats:
        """Return it for every run."""
        (batch,) = (one for one in parts[0].rows.batches if one.entry == self.agent.entry)
        return batch.solved.astype(float)

    def strata(self, parts: Parts) -> Strata:
        """Return the map of every run."""
        return parts[0].strata


def _stored_claims() -> Iterator[Claim]:
    for what in (ACTIONS, VALUES):
        text = f"stored {what} without abstraction: suboptimality"
        yield Claim(text, "1", Mean(Column(_stored(what, 0), "suboptimality")), low=1, high=1, check=True)
        for level in LEVELS[1:]:
            text = f"stored {what}, level {level}: share of problems in which the goal is reached"
            share = Mean(Arrived(_stored(what, level)))
            yield Claim(text, "not guaranteed", share, high=0.99, headline=level == LEVEL)
    for level in LEVELS[1:]:
        text = f"stored depths, level {level}: share of problems in which the goal is reached"
        share = Mean(Arrived(_stored(DEPTHS, level)))
        yield Claim(text, "safe at any level", share, low=1, headline=level == LEVEL)
    for level in LEVELS[1:]:
        text = f"stored values with learning, level {level}: suboptimality over that of LRTA* with depth 1"
        ratio = Ratio(*(Column(agent, "suboptimality") for agent in (_stored(LEARNING, level), LRTA)))
        yield Claim(text, "not tested; below 1 expected", ratio, high=1)


def _stored_tables(evidence: Evidence) -> list[Table]:
    columns = ["\nlevel", *(cell for what in WHAT for cell in (f"\n{what}", "95 %\ninterval"))]
    lines = []
    for level in LEVELS:
        shares = [Mean(Arrived(_stored(what, level))).estimate([evidence]) for what in WHAT]
        lines.append([str(level), *(cell for share in shares for cell in with_interval(share))])
    title = "Share of problems in which the goal is reached, by what is stored"
    return [Table(title, columns, lines), score_table("All agents", evidence.rows)]


STORED_INSTEAD = Experiment(
    id="dc-stored",
    title="Storing actions or values instead of depths",
    paper=f"{dc.PAPER}, Figure 2",
    parts=(
        Part(
            grounds=dc.MAPS,
            problems={"smoke": 1, "record": 30, "full": 100},
            entrants=(LRTA, *(_stored(what, level) for what in WHAT for level in LEVELS)),
            optimal=dc.RANGE,
            max_moves=10_000,
        ),
    ),
    seed=dc.SEED,
    claims=tuple(_stored_claims()),
    tables=_stored_tables,
    notes=(
        "Maps and problems are those of DC-F5. What is stored for a region is that of its representative, towards the"
        " representative of the goal's region; in that region all go by the heuristic.",
        "The paper argues and does not measure. That less than 99 of 100 problems are solved is our bar for its words;"
        " a run is given up after 10,000 moves, a hundred times a shortest path.",
        "Power: 90 problems tell any share from 0.99 that is below 0.94.",
        "Values that are learned are ours: LRTA* of depth 1 that begins with the stored values instead of the"
        " heuristic.",
    ),
)
