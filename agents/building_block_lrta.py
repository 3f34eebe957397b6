"""LRTA* put together from building blocks, each a setting: LRTA*, daLRTA*, wLSS-LRTA* and much between them.

V. Bulitko, "Evolving Real-time Heuristic Search Algorithms", ALIFE 2016. One step learns and moves so:

    h(s) = max(h(s), w lop(w_c c(s, s') + h(s')))   s' in the beam: the best of the neighbours, the fraction b of them
    move to the neighbour with the least c + h      with da, among those whose value was raised least
    delete s                                        with E, if h(s) rose and s is expendable

A state is expendable if its neighbours are connected to each other by steps among the eight cells around it. The update
and the choice of the move follow V. Bulitko's published program uLRTA* of 2016, because the paper was not at hand. The
lookahead by A* is that of M. S. Chowdhury, V. Silva, "Evolving Real-Time Heuristics Search Algorithms with Building
Blocks", arXiv 1805.08256. The algorithm in plain Python: ``tests/reference/plain_building_block_lrta.py``.

Readings:
- With a lookahead above one the agent is wdaLSS-LRTA* (Rivera, Baier, Hernández 2015): learning works back from the
  frontier of the search, over steps that cost w w_c times as much; with da it goes to the frontier state that was
  raised least. There is no single neighbourhood then, so lop is "min" and the beam is all. With a lookahead of one,
  the wLSS-LRTA* of weight w is ``cost_weight``: ``weight`` multiplies the value of the neighbour, too.
- Learning from the frontier scans several states for every one that is expanded. ``learning="best"`` is the rule of
  RTAA*, which scans none: h(u) = h(best) + w w_c (g(best) - g(u)), where best has the smallest f of the open list; what
  is behind it, with a larger g, is not weighted.
- ``ahead`` is a block of our own, the slicing of TBA* (Björnsson, Bulitko, Sturtevant 2009) around LRTA* instead of A*.
  For every move the agent makes so many steps in thought, learning and deleting, and goes where they have led, without
  their loops, one step a move. A last step back to where it stands is not made. Where a wall blocks the way the thought
  comes back to the agent, and what was deleted since it was there last is undone; what was learned holds.
- A gene that is not given is off, so that the agent is LRTA* by default: no genes were found to suit every lookahead.
  On the split mixed-validation the paths of w 3, w_c 6.8, da and E cost a quarter of those of LRTA* with a lookahead of
  one, but with 30 about twice as much as those of LSS-LRTA*, and in fog three times.
- ``growth`` is a block of our own, too, a control by what is known of a state: where much had to be learned, more is
  learned at a time, so that w_c c becomes (w_c + growth r) c, with r the whole steps by which h(s) is above the
  heuristic that was given, and growth r at most 1000. On the known maps of mixed-validation, with ten steps ahead, it
  gained a seventh on any constant weight.
- Weights are fractions with denominators of at most 1000; products and means are rounded down. The median of an even
  number is the lower one of the two in the middle.
- Of neighbours with equal c + h the beam takes those with the larger c first, as everywhere.
- Values never become infinite where the goal can be reached. With w they grow by powers of w, so the weighted ones end
  at CAP, a million steps; from there on the agent learns as LRTA* does, h(s) = c + h(s'), by which no value gets more
  than the cost of a path to the goal above CAP. A deeper search, too, learns without weights where they could pass CAP.

What is deleted:
- The state that the agent leaves or, with a lookahead, each closed state whose value rose, in the order they were
  closed, but for those on the path that the agent takes. Deleted states are not moved to and not searched; steps past
  their corners stay.
- Neighbours that are connected without a state stay so when it is deleted, so whatever could be reached can be reached,
  but for what was deleted. Where a cell closes, deletions of the eight states around it are undone, because only they
  can have relied on it. Where a cell opens, behind dead ends perhaps, all are undone, and so at the end of a trial.
- With eight neighbours the scan of the state itself tells whether it is expendable. With four it takes up to two more,
  of the states in the east and in the west. Closed states but for the first, which the agent leaves, have to be read
  again, because others may have been deleted meanwhile. What the limit of scans does not pay for is not deleted.

So every combination is complete: a value becomes at least the least c + h. If the agent never reached the goal, the
states that it visits again and again, in thought perhaps, would all rise without end, and so would their neighbours;
and a thought comes back only as often as walls are found. Convergence to a shortest path is promised only without
weights and with "min", where values do not overestimate.
"""

from dataclasses import fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.kernels.ahead import Walk, begin_walk, cell_at, follow, forget_walk, go_ahead, make_walk
from agents.kernels.block_search import search
from agents.kernels.blocks import (
    best_move,
    can_pay,
    delete_if_joined,
    give_up_broken,
    growth_of,
    heed_changes,
    lateral,
    left,
    weighted,
)
from agents.lss_lrta import LSSLRTA
from agents.policies.genes import OPERATORS, Genes, load_genes
from rt_gym.errors import InputError
from rt_gym.files import PathLike
from rt_gym.jit import kernel, record
from rt_gym.meter import charge, spent
from rt_gym.pages import Paged, make_cells, reset_cells
from rt_gym.search.layers import direction
from rt_gym.search.local import Local
from rt_gym.search.paged_values import PagedValues
from rt_gym.search.space import NONE, Space
from rt_gym.search.values import raise_value, value_at
from rt_gym.trip import CUT, NO_PATH
from rt_gym.views import KernelView

# Which deletions hold: those made since the last time that all were undone. And the moves, as bits, out of the state
# that a search began with.
DELETIONS = record(epoch=int, moves=int)


class BlockMemory(NamedTuple):
    """Learned values, the local search space, what was deleted, and the genes.

    Attributes:
        h: int64 per cell, the values.
        space, local: the search, for a lookahead above one.
        lookahead, commit: how many states it may close, and how many moves are committed.
        walk, ahead: where it is in thought, and how many steps it makes there for every move.
        gone: int32 per cell, the epoch in which it was deleted.
        state: DELETIONS[1].
        near, dear: int64[9], room for the values of the neighbours.
        price: int64[8], the weighted cost of a step in each direction: with a lookahead w w_c c, else w_c c.
        keep: int64[9], how many of so many neighbours are in the beam.
        over, under: w as a fraction, with a lookahead w w_c.
        growth, unit: what w_c grows by for every step that the value of a state was raised, as a fraction.
        lop: the index of the operator; ``sorts``, whether it needs the neighbours in order.
        da, expendable: 1 or 0; ``adapts`` too, whether it learns from the best state of the open list alone.
    """

    h: NDArray[np.int64] | PagedValues
    space: Space
    local: Local
    lookahead: int
    commit: int
    walk: Walk
    ahead: int
    gone: NDArray[np.int32] | Paged
    state: NDArray[np.record]
    near: NDArray[np.int64]
    dear: NDArray[np.int64]
    price: NDArray[np.int64]
    keep: NDArray[np.int64]
    over: int
    under: int
    growth: int
    unit: int
    lop: int
    sorts: int
    da: int
    expendable: int
    adapts: int


@kernel(inline=True)
def step(terrain, trip, memory, s, t):
    """Learn from the neighbours, delete the state if it can be done without, and return the direction to go in.

    It is CUT where the meter refuses the expansion, NONE where there is nowhere to go.
    """
    h = memory.h
    if not charge(trip, s):
        return np.int64(CUT)
    moves = np.int64(terrain.mask[s])
    around, more = left(terrain, memory, s, moves), growth_of(terrain, memory, s, t)
    y, low, dear = best_move(terrain, memory, s, around, more, t)
    if y == NONE:
        return np.int64(NONE)
    if memory.sorts != 0:
        dear = lateral(terrain, memory, s, around, more, t)
    value, old = max(weighted(memory, dear), low), value_at(h, terrain, s, t)
    raise_value(trip, h, terrain, s, t, value)
    if memory.expendable != 0 and value > old and can_pay(terrain, trip, 0):
        delete_if_joined(terrain, trip, memory, s, moves)
    return y


@kernel(inline=True)
def walk_ahead(terrain, trip, memory, s, t):
    """Make up to ``ahead`` steps in thought, and return the direction of the agent's own next step.

    A last step back to the agent is not made: it would leave nowhere to go. Where there is no step to make, what
    ``step`` says of it is returned.
    """
    walk, meter = memory.walk, trip.meter[0]
    state = walk.state[0]
    if cell_at(walk, state.here) != s:
        begin_walk(walk, s)
        memory.state[0].epoch += 1
    for rest in range(memory.ahead, 0, -1):
        v = cell_at(walk, state.there)
        if v == t:
            break
        y = step(terrain, trip, memory, v, t)
        if y == NONE or (y == CUT and v == s):
            return y
        last = rest == 1 or spent(meter) >= meter.limit
        if y == CUT or (last and v + terrain.offset[y] == s):
            break
        go_ahead(walk, v + terrain.offset[y])
    return direction(terrain, s, follow(walk))


@kernel(inline=True)
def plan(terrain, trip, memory, s, t):
    """Take one step or, with a lookahead, the path that a search has found."""
    if memory.ahead > 1:
        give_up_broken(terrain, trip, memory)
    if memory.expendable != 0:
        heed_changes(terrain, trip, memory)
    if memory.lookahead > 1:
        return search(terrain, trip, memory, s, t)
    y = walk_ahead(terrain, trip, memory, s, t) if memory.ahead > 1 else step(terrain, trip, memory, s, t)
    if y < 0:
        return np.int64(NO_PATH) if y == NONE else y
    trip.plan[0] = y
    return np.int64(1)


class BuildingBlockLRTA(LSSLRTA):
    """LRTA* from building blocks. A gene that is not said is as in LRTA*: see ``Genes``.

    Args:
        lookahead: how many states it expands: one is a step of LRTA*, more are closed by an A*.
        weight: w, from 1 to 1000, of what is learned.
        cost_weight: w_c, from 1 to 1000, of the costs of steps in what is learned.
        growth: what is added to w_c for every step that the value of the state was raised before, from 0 to 10.
        lop: ``"min"``, ``"mean"``, ``"median"`` or ``"max"``, what is learned of the neighbours in the beam.
        beam: which fraction of the neighbours, from 0.001 to 1.
        da: whether it avoids depressions: it goes where values were raised least.
        expendable: whether it deletes states that it can do without.
        ahead: how many steps it makes in thought for every move, with a lookahead of one.
        learning: with a lookahead, from the ``"frontier"`` of the search or from the ``"best"`` state ahead alone.
        commit: ``"all"`` the moves that a search has found, or only ``"one"``.
        policy: a file that ``rt-gym train blocks`` has written, or genes, instead of all these.
        tie: ``"first"`` or ``"random"``.
    """

    plan = staticmethod(plan)
    converges = False
    overestimates = True
    pooled = False
    memory_type: ClassVar[Any] = BlockMemory

    def __init__(
        self,
        lookahead: int | None = None,
        weight: float | None = None,
        cost_weight: float | None = None,
        growth: float | None = None,
        lop: str | None = None,
        beam: float | None = None,
        da: bool | None = None,
        expendable: bool | None = None,
        ahead: int | None = None,
        learning: str | None = None,
        commit: str | None = None,
        policy: PathLike | Genes | None = None,
        tie: str = "first",
    ) -> None:
        values: Any = (lookahead, weight, cost_weight, growth, lop, beam, da, expendable, ahead, learning, commit)
        names = [part.name for part in fields(Genes)]
        given = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        if policy is not None and given:
            raise InputError(f"{', '.join(given)} must be left out with a policy, which names all genes")
        self.genes = Genes(**given) if policy is None else load_genes(policy)
        super().__init__(self.genes.lookahead, self.genes.commit, tie)

    @classmethod
    def fit(cls, limit: int, count: str) -> dict[str, Any]:
        """Return nothing: genes are found for a limit, by ``rt-gym train blocks``, and not one alone is enlarged."""
        return {}

    @property
    def bound(self) -> int | None:
        """The most expansions that a move can take."""
        return max(self.genes.lookahead, self.genes.ahead)

    def own_memory(self, space: Space, view: KernelView) -> dict[str, Any]:
        """Return what LSS-LRTA* needs, what was deleted, room for the neighbours, and the genes."""
        genes, cells = self.genes, view.terrain.mask.size
        learned, beam = genes.fraction("weight"), genes.fraction("beam")
        price = genes.fraction("cost_weight") * (learned if genes.lookahead > 1 else 1)
        weight = learned if genes.lookahead == 1 else price.limit_denominator(1000)
        return {
            **super().own_memory(space, view),
            "walk": make_walk(cells, genes.ahead > 1),
            "ahead": genes.ahead,
            "gone": make_cells(cells, np.int32),
            "state": np.zeros(1, DELETIONS),
            "near": np.zeros(9, np.int64),
            "dear": np.zeros(9, np.int64),
            "price": np.array([int(cost * price) for cost in view.terrain.cost.tolist()], np.int64),
            "keep": np.array([-(-k * beam // 1) for k in range(9)], np.int64),
            "over": weight.numerator,
            "under": weight.denominator,
            "growth": genes.fraction("growth").numerator,
            "unit": genes.fraction("growth").denominator,
            "lop": OPERATORS.index(genes.lop),
            "sorts": int(genes.lop != "min" or beam < 1),
            "da": int(genes.da),
            "expendable": int(genes.expendable),
            "adapts": int(genes.learning == "best"),
        }

    def clear_memory(self, view: KernelView, seed: int) -> None:
        """Let the values start at the heuristic, and nothing be deleted."""
        super().clear_memory(view, seed)
        reset_cells(self.memory.gone, 0)
        self.memory.state[0].epoch = 1
        forget_walk(self.memory.walk)

    def begin_trial(self) -> None:
        """Undo all deletions: the start may be behind them; and be in thought where the agent is."""
        self.memory.state[0].epoch += 1
        forget_walk(self.memory.walk)
