"""The memory of an A*: one record per state, by slot, in the order in which the states were first generated.

A* comes back to states in another order than that, and then to most of what is kept of each. In arrays of their own, as
in ``rt_gym.search.space``, those would be a dozen places in memory; in a record they are one.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rt_gym.jit import kernel
from rt_gym.pages import Paged, arrays_for, make_cells, write
from rt_gym.search.space import BEHIND, NONE, OPEN, SEARCH, draw, most_slots, slot_of

# What ``Space`` keeps in arrays of these names; ``after`` and ``ahead``, the next and the previous slot in the same
# bucket of the open list.
_LONG, _SHORT, _BYTES = ("g", "h", "f"), ("cell", "parent", "at", "after", "ahead"), ("via", "role", "behind")
_LAYOUT = [*((name, "i8") for name in _LONG), *((name, "i4") for name in _SHORT), *((name, "u1") for name in _BYTES)]
NODE = np.dtype((np.record, np.dtype(_LAYOUT, align=True)))
_RANK = np.dtype(np.int32)


class Nodes(NamedTuple):
    """States of an A*, of which there are no more than cells. Python also reads a field of all of them: ``nodes.g``.

    Attributes:
        seat, random, state: see ``Space``.
        node: NODE per slot.
        rank: int32 per slot, the last tie-break where that is a random number.
    """

    seat: NDArray[np.int64] | Paged
    node: NDArray[np.record]
    rank: NDArray[np.int32]
    random: NDArray[np.uint64]
    state: NDArray[np.record]

    def __getattr__(self, name: str) -> Any:
        if name not in (NODE.names or ()):
            raise AttributeError(f"a node has no field {name}")
        return self.node[name]

    @property
    def most(self) -> int:
        """How many states the largest search had."""
        return most_slots(self.state)

    @property
    def held(self) -> int:
        """How many bytes the states of the largest search take, and the seats if they are not in pages."""
        seats = 0 if isinstance(self.seat, Paged) else self.seat.nbytes
        return (NODE.itemsize + _RANK.itemsize) * self.most + seats


def make_nodes(cells: int) -> Nodes:
    """Return the memory of an A* over a flat, bordered map of this size. What is never touched costs nothing."""
    node, rank = arrays_for(cells, cells, NODE, _RANK)
    return Nodes(make_cells(cells, np.int64), node, rank, np.zeros(1, np.uint64), np.zeros(1, SEARCH))


@kernel(inline=True)
def open_node(nodes, base, slot, cell, h):
    """Give a cell the next free slot as an open state that is in no heap yet; ``rank_of`` is its last tie-break."""
    write(nodes.seat, cell, base + slot)
    node = nodes.node[slot]
    node.cell = cell
    node.h = h
    node.role = OPEN
    node.at = NONE
    if nodes.random[0] != 0:
        nodes.rank[slot] = draw(nodes.random)


@kernel(inline=True)
def begin_path(nodes, slot):
    """Store that a search begins with a slot."""
    node = nodes.node[slot]
    node.g = 0
    node.f = node.h
    node.parent = NONE
    node.via = 0
    node.behind = 0


@kernel(inline=True)
def extend_path(nodes, u, d, w, g, moves):
    """Store that the cheapest path to slot ``w`` comes from ``u`` in direction ``d`` at cost ``g``.

    ``moves`` are the moves out of ``u``.
    """
    node = nodes.node[w]
    node.g = g
    node.f = g + node.h
    node.parent = u
    node.via = d
    node.behind = BEHIND[d, moves]


@kernel(inline=True)
def came_from(nodes, cell):
    """Return the cell from which the search reached another one."""
    return np.int64(nodes.node[nodes.node[slot_of(nodes, cell)].parent].cell)
